func.func @blocks(%A: tensor<32x24xf32>, %B: tensor<24x8xf32>) -> tensor<32x8xf32> {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %z = arith.constant dense<0.0> : tensor<16x8xf32>
  %e = tensor.empty() : tensor<32x8xf32>
  %r = scf.for %i = %c0 to %c32 step %c16 iter_args(%v = %e) -> (tensor<32x8xf32>) {
    %a = tensor.extract_slice %A[%i, 0] [16, 24] [1, 1] : tensor<32x24xf32> to tensor<16x24xf32>
    %p = linalg.matmul ins(%a, %B : tensor<16x24xf32>, tensor<24x8xf32>) outs(%z : tensor<16x8xf32>) -> tensor<16x8xf32>
    %n = tensor.insert_slice %p into %v[%i, 0] [16, 8] [1, 1] : tensor<16x8xf32> into tensor<32x8xf32>
    scf.yield %n : tensor<32x8xf32>
  }
  return %r : tensor<32x8xf32>
}
