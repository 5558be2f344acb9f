// Elementwise kernels whose sizes are known at run time only: one thread for each, numbers of 64 bits.
// RUN: mlir-gemm opt %s share-sizes elementwise-loops cse | FileCheck %s
// RUN: mlir-gemm opt %s share-sizes elementwise-loops launch-elementwise cse | FileCheck %s --check-prefix=LAUNCH

// CHECK: %[[M:.*]] = memref.dim %arg0, %c0
// CHECK: %[[N:.*]] = memref.dim %arg0, %c1
// CHECK: scf.forall (%[[I:.*]]) in (%[[M]]) {
// CHECK: scf.for %[[J:.*]] = %c0{{.*}} to %[[N]] step
// CHECK: memref.load %arg0[%[[I]], %[[J]]]

// LAUNCH: %[[MORE:.*]] = arith.addi %[[M:.*]], %c255
// LAUNCH: %[[BLOCKS:.*]] = arith.divui %[[MORE]], %c256
// LAUNCH: gpu.launch blocks({{.*}}) in (%{{.*}} = %[[BLOCKS]],
// LAUNCH: %[[IS:.*]] = arith.cmpi ult, %{{.*}}, %{{.*}} : index
// LAUNCH: scf.if %[[IS]] {
func.func @sums(%X: memref<?x?xf32> {tile.symbols = ["s0", "s1"]}, %S: memref<?xf32> {tile.symbols = ["s0"]})
    attributes {tile.kind = "elementwise"} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%X : memref<?x?xf32>) outs(%S : memref<?xf32>) {
  ^bb0(%x: f32, %s: f32):
    %t = arith.maximumf %x, %s : f32
    linalg.yield %t : f32
  }
  return
}
