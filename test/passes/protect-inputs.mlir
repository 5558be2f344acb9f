// protect-inputs: bufferisation must not write into the buffers of tensor arguments; a second run changes nothing.
// RUN: mlir-gemm opt %s protect-inputs | FileCheck %s
// RUN: mlir-gemm opt %s protect-inputs protect-inputs | FileCheck %s

// CHECK-LABEL: func.func @tensors(
//  CHECK-SAME: %{{.*}}: tensor<32x32xf16> {bufferization.writable = false, tile.name = "A"}
//  CHECK-SAME: %{{.*}}: tensor<32x32xf16> {bufferization.writable = false}
func.func @tensors(%A: tensor<32x32xf16> {tile.name = "A"}, %B: tensor<32x32xf16>) {
  return
}

// What the user said of an argument gives way: a tensor is a value.
// CHECK-LABEL: func.func @writable(
//  CHECK-SAME: %{{.*}}: tensor<32x32xf16> {bufferization.writable = false})
func.func @writable(%A: tensor<32x32xf16> {bufferization.writable = true}) {
  return
}
