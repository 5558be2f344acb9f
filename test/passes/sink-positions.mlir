// sink-positions: the addresses of a tile's results are computed after its products, not before.
// RUN: mlir-gemm opt %s sink-positions | FileCheck %s
// RUN: mlir-gemm opt %s sink-positions sink-positions | FileCheck %s

// What only the stores after the last wait need is computed there; what something in front of it needs stays.
// CHECK-LABEL: gpu.func @stores
// CHECK: %[[USED:.*]] = arith.addi
// CHECK-NEXT: nvvm.wgmma.wait.group.sync.aligned 1
// CHECK-NEXT: memref.store %{{.*}}, %{{.*}}[%[[USED]]]
// CHECK-NEXT: nvvm.wgmma.wait.group.sync.aligned 0
// CHECK-NEXT: %[[ROW:.*]] = arith.muli
// CHECK-NEXT: %[[AT:.*]] = arith.addi %[[ROW]]
// CHECK-NEXT: memref.store %{{.*}}, %{{.*}}[%[[AT]]]
gpu.module @kernels {
  gpu.func @stores(%n: index, %m: memref<4096xindex>) kernel {
    %row = arith.muli %n, %n : index
    %at = arith.addi %row, %n : index
    %used = arith.addi %n, %n : index
    nvvm.wgmma.wait.group.sync.aligned 1
    memref.store %n, %m[%used] : memref<4096xindex>
    nvvm.wgmma.wait.group.sync.aligned 0
    memref.store %n, %m[%at] : memref<4096xindex>
    gpu.return
  }
}
