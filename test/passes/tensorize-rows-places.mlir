// tensorize-rows, where the greatest element of each row is taken with its place.
// RUN: mlir-gemm opt %s 'tensorize-rows{tile=4,64}' cse | FileCheck %s

#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
#n = affine_map<(m, n) -> (n)>

// Beyond the ends of rows stands the least value, at a place after all others. Of two elements the greater is taken, NaN
// before numbers, and of equal ones the first; of the result only what the kernel stores is stored.
// CHECK-LABEL: func.func @argmax(
//       CHECK:   %[[X:.*]] = "tile.clip"({{.*}}) {dim = 1 : i64, neutral = 0xFF800000 : f32}
//       CHECK:   %[[P:.*]] = "tile.clip"({{.*}}) {dim = 1 : i64, neutral = 9223372036854775807 : i64}
//       CHECK:   %[[R:.*]]:2 = "tile.reduce"(%[[X]], %[[P]]) ({
//       CHECK:   ^bb0(%[[A:.*]]: f32, %[[PA:.*]]: i64, %[[B:.*]]: f32, %[[PB:.*]]: i64):
//       CHECK:     arith.cmpi slt, %[[PA]], %[[PB]] : i64
//       CHECK:     arith.cmpf uno, %[[A]], %[[A]] : f32
//       CHECK:     arith.cmpf ogt, %[[A]], %[[B]] : f32
//       CHECK:     arith.cmpf oeq, %[[A]], %[[B]] : f32
//       CHECK:     arith.select %{{.*}}, %[[PA]], %[[PB]] : i64
//       CHECK:   {dim = 1 : i64, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}
// CHECK-COUNT-1: "tile.store"
//   CHECK-NOT:   "tile.store"
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
