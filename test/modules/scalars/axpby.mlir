#mn = affine_map<(m, n) -> (m, n)>
#s = affine_map<(m, n) -> ()>
func.func @axpby(%A: tensor<64x64xf16>, %B: tensor<64x64xf16>, %C: tensor<64x64xf32>, %alpha: f32, %beta: f32) -> tensor<64x64xf32> {
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %half = arith.constant 0.5 : f32
  %p = linalg.matmul ins(%A, %B : tensor<64x64xf16>, tensor<64x64xf16>) outs(%z : tensor<64x64xf32>) -> tensor<64x64xf32>
  %hb = arith.mulf %beta, %half : f32
  %r = linalg.generic {indexing_maps = [#mn, #mn, #s, #mn], iterator_types = ["parallel", "parallel"]}
   ins(%p, %C, %alpha : tensor<64x64xf32>, tensor<64x64xf32>, f32) outs(%z : tensor<64x64xf32>) {
  ^bb0(%x: f32, %c: f32, %a: f32, %o: f32):
    %u = arith.mulf %x, %a : f32
    %v = arith.mulf %c, %hb : f32
    %w = arith.addf %u, %v : f32
    linalg.yield %w : f32
  } -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
