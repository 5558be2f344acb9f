// RUN: mlir-gemm opt %s check-lowered | FileCheck %s

// What is not in a kernel is not looked at.
// CHECK: memref.alloc
// CHECK: "tile.unit_id"
// CHECK: gpu.func @kernel
// CHECK: memref.view
func.func @host() -> index {
  %temporary = memref.alloc() : memref<4xindex>
  %unit = "tile.unit_id"() : () -> index
  return %unit : index
}

gpu.module @kernels {
  memref.global "private" @kernel_shared : memref<128xi8, 3>
  gpu.func @kernel(%v: vector<4xf16>) kernel {
    %c0 = arith.constant 0 : index
    %bytes = memref.get_global @kernel_shared : memref<128xi8, 3>
    %a = memref.view %bytes[%c0][] : memref<128xi8, 3> to memref<64xf16, 3>
    vector.store %v, %a[%c0] : memref<64xf16, 3>, vector<4xf16>
    gpu.return
  }
}
