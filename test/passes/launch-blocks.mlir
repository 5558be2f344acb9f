// launch-blocks: the parallel loop over blocks becomes a gpu.launch.
// RUN: mlir-gemm opt %s launch-blocks | FileCheck %s
// RUN: mlir-gemm opt %s 'launch-blocks{threads=64}' gpu-kernel-outlining launch-blocks | FileCheck %s --check-prefix=OUTLINED

// CHECK: %[[SIX:.*]] = arith.constant 6 : index
// CHECK: %[[THREADS:.*]] = arith.constant 128 : index
// CHECK: gpu.launch blocks(%[[BLOCK:.*]], %{{.*}}, %{{.*}}) in (%{{.*}} = %[[SIX]], {{.*}}) threads({{.*}}) in (%{{.*}} = %[[THREADS]], {{.*}}) {
// CHECK-NEXT: memref.store %[[BLOCK]], %{{.*}}[%{{.*}}]
// CHECK-NEXT: gpu.terminator
// CHECK: %[[SEVEN:.*]] = arith.constant 7 : index
// CHECK: gpu.launch blocks(%[[BLOCK2:.*]], %{{.*}}, %{{.*}}) in (%{{.*}} = %[[SEVEN]],
// CHECK-NEXT: memref.store %[[BLOCK2]], %{{.*}}[%[[BLOCK2]]]
// CHECK-NOT: scf.forall

// OUTLINED: gpu.launch_func @two_kernel::@two_kernel blocks in
// OUTLINED: gpu.launch_func @two_kernel_0::@two_kernel blocks in
// OUTLINED: gpu.func @two_kernel({{.*}} kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 6, 1, 1>}
// OUTLINED: gpu.func @two_kernel({{.*}} kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 7, 1, 1>}
func.func @two(%A: memref<8xindex>) {
  %c0 = arith.constant 0 : index
  scf.forall (%block) in (6) {
    memref.store %block, %A[%c0] : memref<8xindex>
  } {mapping = [#gpu.block<x>]}
  scf.forall (%block) in (7) {
    memref.store %block, %A[%block] : memref<8xindex>
  } {mapping = [#gpu.block<x>]}
  return
}
