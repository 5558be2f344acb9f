// D = A B, returned as a tensor, f16 in, f32 out.
func.func @matmul(%A: tensor<256x128xf16>, %B: tensor<128x384xf16>) -> tensor<256x384xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<256x384xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<256x384xf32>) -> tensor<256x384xf32>
  %D = linalg.matmul ins(%A, %B : tensor<256x128xf16>, tensor<128x384xf16>)
                     outs(%init : tensor<256x384xf32>) -> tensor<256x384xf32>
  return %D : tensor<256x384xf32>
}
