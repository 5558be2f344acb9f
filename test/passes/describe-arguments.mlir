// describe-arguments: the role of each argument; a second run changes nothing.
// RUN: mlir-gemm opt %s describe-arguments | FileCheck %s
// RUN: mlir-gemm opt %s describe-arguments describe-arguments | FileCheck %s

// CHECK-LABEL: func.func @product(
//  CHECK-SAME: %[[A:.*]]: memref<32x32xf16> {tile.name = "A", tile.role = "in"},
//  CHECK-SAME: %[[B:.*]]: memref<32x48xf16> {tile.role = "in"},
//  CHECK-SAME: %[[C:.*]]: memref<32x48xf32> {tile.role = "inout"})
//  CHECK-NEXT:   linalg.matmul
func.func @product(%A: memref<32x32xf16> {bufferization.writable = false, tile.name = "A"}, %B: memref<32x48xf16>,
                   %C: memref<32x48xf32>) {
  linalg.matmul ins(%A, %B : memref<32x32xf16>, memref<32x48xf16>) outs(%C : memref<32x48xf32>)
  return
}

// An argument that is filled, or copied to, before it is read is `out`. Copies become linalg's; deallocations go.
// CHECK-LABEL: func.func @overwritten(
//  CHECK-SAME: memref<32x32xf16> {tile.role = "in"}, %{{[^:]*}}: memref<32x48xf16> {tile.role = "in"},
//  CHECK-SAME: %[[C:.*]]: memref<32x48xf32> {tile.role = "out"}, %[[D:.*]]: memref<32x48xf32> {tile.role = "in"},
//  CHECK-SAME: %[[E:.*]]: memref<32x48xf32> {tile.role = "out"})
//       CHECK:   linalg.fill ins({{.*}}) outs(%[[E]] :
//  CHECK-NEXT:   linalg.copy ins(%[[D]] : memref<32x48xf32>) outs(%[[C]] : memref<32x48xf32>)
//  CHECK-NEXT:   memref.alloc
//   CHECK-NOT:   memref.dealloc
func.func @overwritten(%A: memref<32x32xf16>, %B: memref<32x48xf16>, %C: memref<32x48xf32>, %D: memref<32x48xf32>,
                       %E: memref<32x48xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%E : memref<32x48xf32>)
  memref.copy %D, %C : memref<32x48xf32> to memref<32x48xf32>
  %buffer = memref.alloc() : memref<32x48xf32>
  linalg.matmul ins(%A, %B : memref<32x32xf16>, memref<32x48xf16>) outs(%C : memref<32x48xf32>)
  memref.dealloc %buffer : memref<32x48xf32>
  return
}

// A tensor result that bufferisation made an argument; and roles are kept once they are there.
// CHECK-LABEL: func.func @result(
//  CHECK-SAME: memref<32x48xf32> {tile.role = "result"}, %{{[^:]*}}: memref<32x48xf32> {tile.role = "inout"})
func.func @result(%R: memref<32x48xf32> {bufferize.result}, %C: memref<32x48xf32> {tile.role = "inout"}) {
  return
}

// With several outputs each is judged by its own old value: the first one here is read, the second one is not.
// CHECK-LABEL: func.func @two_outputs(
//  CHECK-SAME: tile.role = "in"}, {{[^,]*}}tile.role = "inout"}, {{[^,]*}}tile.role = "out"})
func.func @two_outputs(%A: memref<32x48xf32>, %B: memref<32x48xf32>, %C: memref<32x48xf32>) {
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>,
                                   affine_map<(m, n) -> (m, n)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%A : memref<32x48xf32>) outs(%B, %C : memref<32x48xf32>, memref<32x48xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %sum = arith.addf %a, %b : f32
    linalg.yield %sum, %a : f32, f32
  }
  return
}
