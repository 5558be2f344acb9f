// cooperative-blocks writes on every kernel how many blocks of the grid wait for each other, and changes nothing else. Run
// again with another number it writes that one.
// RUN: mlir-gemm opt %s 'cooperative-blocks{blocks=4}' | FileCheck %s
// RUN: mlir-gemm opt %s 'cooperative-blocks{blocks=8}' 'cooperative-blocks{blocks=4}' | FileCheck %s

module attributes {gpu.container_module} {
// CHECK-LABEL: func.func @host() {
// CHECK:         gpu.launch_func @kernels::@first blocks in (%c8, %c1, %c1) threads in
func.func @host() {
  %one = arith.constant 1 : index
  %eight = arith.constant 8 : index
  gpu.launch_func @kernels::@first blocks in (%eight, %one, %one) threads in (%one, %one, %one)
  return
}

gpu.module @kernels {
  // CHECK: gpu.func @first() kernel attributes {nvvm.maxnreg = 128 : i32, tile.cooperative = 4 : i64}
  gpu.func @first() kernel attributes {nvvm.maxnreg = 128 : i32} {
    gpu.return
  }
}
}
