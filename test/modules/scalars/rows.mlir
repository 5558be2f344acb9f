#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
func.func @rows(%x: tensor<5x40xf32>, %eps: f64, %keep: i1, %last: i32) -> (tensor<5xf32>, tensor<5x40xf32>) {
  %zero = arith.constant dense<0.0> : tensor<5xf32>
  %e = tensor.empty() : tensor<5x40xf32>
  %sums = linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<5x40xf32>) outs(%zero : tensor<5xf32>) {
  ^bb0(%v: f32, %a: f32):
    %s = arith.addf %a, %v : f32
    linalg.yield %s : f32
  } -> tensor<5xf32>
  %small = arith.truncf %eps : f64 to f32
  %y = linalg.generic {indexing_maps = [#mn, #m, #mn], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sums : tensor<5x40xf32>, tensor<5xf32>) outs(%e : tensor<5x40xf32>) {
  ^bb0(%v: f32, %s: f32, %o: f32):
    %j = linalg.index 1 : index
    %n = arith.index_cast %j : index to i32
    %in = arith.cmpi slt, %n, %last : i32
    %b = arith.andi %in, %keep : i1
    %t = arith.addf %s, %small : f32
    %d = arith.divf %v, %t : f32
    %r = arith.select %b, %d, %v : f32
    linalg.yield %r : f32
  } -> tensor<5x40xf32>
  return %sums, %y : tensor<5xf32>, tensor<5x40xf32>
}
