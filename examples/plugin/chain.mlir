func.func @chain(%A: tensor<64x48xf32>, %B: tensor<48x64xf32>, %C: tensor<64x2xf32>) -> tensor<64x2xf32> {
  %square = arith.constant dense<0.0> : tensor<64x64xf32>
  %narrow = arith.constant dense<0.0> : tensor<64x2xf32>
  %AB = linalg.matmul ins(%A, %B : tensor<64x48xf32>, tensor<48x64xf32>) outs(%square : tensor<64x64xf32>) -> tensor<64x64xf32>
  %ABC = linalg.matmul ins(%AB, %C : tensor<64x64xf32>, tensor<64x2xf32>) outs(%narrow : tensor<64x2xf32>) -> tensor<64x2xf32>
  return %ABC : tensor<64x2xf32>
}
