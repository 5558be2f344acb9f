// What no pass of its own refuses, and what the parser is told of other dialects: docs/inputs-refused.md has more of each.
// RUN: not mlir-gemm opt --split-input-file %s inline-calls check-module 'func.func(linalg-generalize-named-ops)' raise-to-tensors group-kernels 2>&1 | FileCheck %s

// CHECK: error: 'func.call' of @calls_itself, which calls itself; expected no recursion
func.func @calls_itself(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @calls_itself(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// CHECK: error: the function computes nothing: it returns no tensor and writes no memref
func.func @computes_nothing(%x: memref<4xf32>) {
  return
}

// -----

// CHECK: error: 'ml_program.global' in the module: random numbers are not compiled (dropout in training, rand); export with .eval()
ml_program.global private mutable @seed(dense<0> : tensor<i64>) : tensor<i64>
func.func @random(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// CHECK: error: argument 0 has element type ui8; expected one of f16, bf16, f32
func.func @unsigned(%x: tensor<4xui8>) -> tensor<4xui8> {
  return %x : tensor<4xui8>
}

// -----

// CHECK: error: argument 0 has element type f8E8M0FNU; expected one of f16, bf16, f32
func.func @scales(%x: tensor<4xf8E8M0FNU>) -> tensor<4xf8E8M0FNU> {
  return %x : tensor<4xf8E8M0FNU>
}

// -----

// CHECK: error: memref<4xf32, strided<[-1], offset: 3>> has a negative stride; strides must be at least 0
func.func @backwards(%x: memref<4xf32, strided<[-1], offset: 3>>, %o: memref<4xf32>) {
  linalg.copy ins(%x : memref<4xf32, strided<[-1], offset: 3>>) outs(%o : memref<4xf32>)
  return
}

// -----

// CHECK: not found for custom op 'tm_tensor.sort'
// CHECK-NEXT: note: sorts (sort, topk, argsort) are not compiled; cut the program there
func.func @sorts(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tm_tensor.sort dimension(0) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// CHECK: not found for custom op 'tm_tensor.scan'
// CHECK-NEXT: note: scans (cumsum, cumprod) are not compiled; cut the program there
func.func @scans(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tm_tensor.scan dimension(0) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// CHECK: not found for custom op 'stablehlo.add'
// CHECK-NEXT: note: convert it first: stablehlo-opt --stablehlo-legalize-to-linalg
func.func @stablehlo(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// CHECK: not found for custom op 'torch.aten.relu'
// CHECK-NEXT: note: export with output_type='linalg-on-tensors'
func.func @torch(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = torch.aten.relu %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// CHECK: not found for custom op 'onnx.Relu'
// CHECK-NEXT: note: convert it first: onnx-mlir
func.func @onnx(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = onnx.Relu %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
