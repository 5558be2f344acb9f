// A matrix times its own transpose: the result equals its transpose, so half of its tiles are computed.
#m = affine_map<(m, n, k) -> (m, k)>
#n = affine_map<(m, n, k) -> (n, k)>
#d = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(i, j) -> (i, j)>
func.func @main(%a: tensor<256x96xbf16>) -> tensor<256x256xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x256xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %p = linalg.generic {indexing_maps = [#m, #n, #d], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %a : tensor<256x96xbf16>, tensor<256x96xbf16>) outs(%f : tensor<256x256xf32>) {
  ^bb0(%x: bf16, %y: bf16, %c: f32):
    %xe = arith.extf %x : bf16 to f32
    %ye = arith.extf %y : bf16 to f32
    %t = arith.mulf %xe, %ye : f32
    %s = arith.addf %c, %t : f32
    linalg.yield %s : f32
  } -> tensor<256x256xf32>
  %g = tensor.empty() : tensor<256x256xbf16>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<256x256xf32>) outs(%g : tensor<256x256xbf16>) {
  ^bb0(%x: f32, %y: bf16):
    %t = arith.truncf %x : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<256x256xbf16>
  return %r : tensor<256x256xbf16>
}
