// tensorize-rows, where the greatest element of each row is taken with its place.
// RUN: mlir-gemm opt %s 'tensorize-rows{tile=4,64}' cse | FileCheck %s
// RUN: mlir-gemm opt %s 'tensorize-rows{tile=4,8 unroll=2}' cse | FileCheck %s --check-prefix=PASSES

#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
#n = affine_map<(m, n) -> (n)>

// Beyond the ends of rows stands the least value, at a place after all others. Of two elements the greater is taken, NaN
// before numbers, and of equal ones the first. Places of rows this short are counted in 32 bits. Of the result only what
// the kernel stores is stored.
// CHECK-LABEL: func.func @argmax(
//       CHECK:   %[[X:.*]] = "tile.clip"({{.*}}) {dim = 1 : i64, neutral = 0xFF800000 : f32}
//       CHECK:   %[[P:.*]] = "tile.clip"({{.*}}) {dim = 1 : i64, neutral = 2147483647 : i32}
//       CHECK:   %[[R:.*]]:2 = "tile.reduce"(%[[X]], %[[P]]) ({
//       CHECK:   ^bb0(%[[A:.*]]: f32, %[[PA:.*]]: i32, %[[B:.*]]: f32, %[[PB:.*]]: i32):
//       CHECK:     arith.cmpi slt, %[[PA]], %[[PB]] : i32
//       CHECK:     arith.cmpf uno, %[[A]], %[[A]] : f32
//       CHECK:     arith.cmpf ogt, %[[A]], %[[B]] : f32
//       CHECK:     arith.cmpf oeq, %[[A]], %[[B]] : f32
//       CHECK:     arith.select %{{.*}}, %[[PA]], %[[PB]] : i32
//       CHECK:   {dim = 1 : i64, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}
//       CHECK:   arith.extsi %[[R]]#1 : vector<4x1xi32> to vector<4x1xi64>
// CHECK-COUNT-1: "tile.store"
//   CHECK-NOT:   "tile.store"

// A pass meets elements in the order of their places: it takes another only if that is greater, or the first NaN. It
// starts at the first places, and takes two tiles in an iteration, the last ones alone.
// PASSES-LABEL: func.func @argmax(
//       PASSES:   %[[P:.*]] = "tile.clip"(%{{.*}}, %c0, %c40) {dim = 1 : i64, neutral = 2147483647 : i32}
//       PASSES:   %[[W:.*]]:2 = scf.for %{{.*}} = %c0 to %c32 step %c16 iter_args(%[[M:.*]] = %{{.*}}, %[[N:.*]] = %[[P]]) -> (vector<4x8xf32>, vector<4x8xi32>) {
//   PASSES-NOT:     tile.clip
//       PASSES:     %[[G:.*]] = arith.cmpf ugt, %[[X:.*]], %[[M]] : vector<4x8xf32>
//       PASSES:     %[[O:.*]] = arith.cmpf ord, %[[M]], %[[M]] : vector<4x8xf32>
//       PASSES:     %[[B:.*]] = arith.andi %[[G]], %[[O]]
//       PASSES:     arith.select %[[B]], %[[X]], %[[M]]
//       PASSES:     arith.cmpf ugt
//       PASSES:     scf.yield
//       PASSES:   scf.for %{{.*}} = %c32 to %c40 step %c8 iter_args(%{{.*}} = %[[W]]#0, %{{.*}} = %[[W]]#1)
//       PASSES:     tile.clip
//       PASSES:   "tile.reduce"
func.func @argmax(%A: memref<6x40xf32>, %R: memref<6xi64>) attributes {tile.kind = "rows"} {
  %value = memref.alloc() : memref<6xf32>
  %place = "tile.position"() {operandSegmentSizes = array<i32: 0>} : () -> memref<40xi64>
  %least = arith.constant 0xFF800000 : f32
  linalg.fill ins(%least : f32) outs(%value : memref<6xf32>)
  %first = arith.constant 0 : i64
  linalg.fill ins(%first : i64) outs(%R : memref<6xi64>)
  linalg.generic {indexing_maps = [#mn, #n, #m, #m], iterator_types = ["parallel", "reduction"]}
      ins(%A, %place : memref<6x40xf32>, memref<40xi64>) outs(%value, %R : memref<6xf32>, memref<6xi64>) {
  ^bb0(%x: f32, %p: i64, %v: f32, %q: i64):
    %best = arith.maximumf %x, %v : f32
    %better = arith.cmpf ogt, %x, %v : f32
    %chosen = arith.select %better, %p, %q : i64
    linalg.yield %best, %chosen : f32, i64
  }
  return
}
