func.func @open(%x: tensor<?x32xf16>, %w: tensor<32x16xf16>, %scale: f16, %n: i64) -> tensor<?x16xf16> {
  %zero = arith.constant 0.0 : f16
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x32xf16>
  %e = tensor.empty(%m) : tensor<?x16xf16>
  %start = linalg.fill ins(%zero : f16) outs(%e : tensor<?x16xf16>) -> tensor<?x16xf16>
  %p = linalg.matmul ins(%x, %w : tensor<?x32xf16>, tensor<32x16xf16>) outs(%start : tensor<?x16xf16>) -> tensor<?x16xf16>
  %f = arith.sitofp %n : i64 to f16
  %s = arith.mulf %scale, %f : f16
  %r = linalg.map ins(%p : tensor<?x16xf16>) outs(%e : tensor<?x16xf16>) (%v: f16, %o: f16) {
    %t = arith.mulf %v, %s : f16
    linalg.yield %t : f16
  }
  return %r : tensor<?x16xf16>
}
