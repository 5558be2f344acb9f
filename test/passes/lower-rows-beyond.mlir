// lower-rows, where tiles start before their rows, at multiples of a vector.
// RUN: mlir-gemm opt %s 'lower-rows{across=32 vector=8}' cse canonicalize | FileCheck %s

// Rows of 321 elements lie one after another: as one line, of which whole vectors are read, with elements of the rows
// before and after. Vectors of the first fragment lie in the memory always. In place of those of the second one that do
// not begin in the row another is read, without a test; one that ends beyond the last row is read element by element.
// What the row does not have is chosen away without a branch, by places in 32 bits: in the first fragment those before
// the row, in the second one those after it.
// CHECK-LABEL: gpu.func @k(
//       CHECK:   %[[BACK:.*]] = arith.remui %{{.*}}, %c8
//       CHECK:   %[[START:.*]] = arith.subi %c0, %[[BACK]]
//       CHECK:   %[[ROW:.*]] = arith.muli %{{.*}}, %c321
//       CHECK:   %[[MORE:.*]] = arith.cmpi ult, %[[ROW]], %c635
//       CHECK:   %[[END:.*]] = arith.select %[[MORE]], %c321, %c314
//       CHECK:   %[[LINE:.*]] = memref.collapse_shape %arg0 {{.*}} into memref<963xf16>
//       CHECK:   %[[FIRST:.*]] = arith.addi %[[ROW]], %[[OWN:.*]] : index
//       CHECK:   vector.load %[[LINE]][%[[FIRST]]] {alignment = 16 : i64}
//       CHECK:   %[[NEXT:.*]] = arith.addi %[[OWN]], %c256 overflow<nsw> : index
//       CHECK:   %[[INSIDE:.*]] = arith.cmpi slt, %[[NEXT]], %[[END]]
//       CHECK:   %[[AT:.*]] = arith.addi %[[ROW]], %[[NEXT]]
//       CHECK:   %[[ANY:.*]] = arith.select %[[INSIDE]], %[[AT]], %c0
//       CHECK:   %[[WHOLE:.*]] = vector.load %[[LINE]][%[[ANY]]] {alignment = 16 : i64}
//       CHECK:   %[[CROSSING:.*]] = arith.andi
//       CHECK:   scf.if %[[CROSSING]]
// CHECK-COUNT-8:   memref.load %arg0[
//       CHECK:     scf.yield %[[WHOLE]]
//   CHECK-NOT:   scf.if
//       CHECK:   %[[PLACE:.*]] = arith.addi %{{.*}} : i32
//       CHECK:   arith.cmpi sge, %[[PLACE]], %c0_i32
//       CHECK:   arith.select %{{.*}}, %{{.*}}, %cst{{.*}} : f16
//       CHECK:   arith.cmpi sge, %[[PLACE]], %c-6_i32
//   CHECK-NOT:   arith.cmpi sge
//       CHECK:   arith.cmpi slt, %{{.*}}, %c321_i32
//       CHECK:   arith.cmpi slt, %{{.*}}, %c314_i32
//   CHECK-NOT:   scf.if
//       CHECK:   arith.maximumf
module attributes {gpu.container_module} {
  func.func @f(%a: memref<3x321xf16>, %r: memref<3xf16>) {
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %threads = arith.constant 32 : index
    gpu.launch_func @m::@k blocks in (%c3, %c1, %c1) threads in (%threads, %c1, %c1) args(%a : memref<3x321xf16>, %r : memref<3xf16>)
    return
  }
  gpu.module @m {
    gpu.func @k(%a: memref<3x321xf16>, %r: memref<3xf16>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      %end = arith.constant 321 : index
      %row = gpu.block_id x
      %back = arith.remui %row, %c8 : index
      %start = arith.subi %c0, %back : index
      %t = "tile.load"(%a, %row, %start) {aligned = 8 : i64, beyond, in_bounds = array<i1: true, false>, operandSegmentSizes = array<i32: 1, 2>} : (memref<3x321xf16>, index, index) -> vector<1x512xf16>
      %c = "tile.clip"(%t, %start, %end) {dim = 1 : i64, neutral = 0xFC00 : f16} : (vector<1x512xf16>, index, index) -> vector<1x512xf16>
      %s = "tile.reduce"(%c) ({
      ^bb0(%x: f16, %y: f16):
        %z = arith.maximumf %x, %y : f16
        "tile.yield"(%z) {operandSegmentSizes = array<i32: 1, 0>} : (f16) -> ()
      }) {dim = 1 : i64, operandSegmentSizes = array<i32: 1, 0>, resultSegmentSizes = array<i32: 1, 0>} : (vector<1x512xf16>) -> vector<1x1xf16>
      "tile.store"(%s, %r, %row) {dims = array<i64: 0>, operandSegmentSizes = array<i32: 1, 1, 1>} : (vector<1x1xf16>, memref<3xf16>, index) -> ()
      gpu.return
    }
  }
}
