func.func @cache(%c: tensor<9x16xf16>, %r: tensor<1x16xf16>, %at: index) -> tensor<9x16xf16> {
  %0 = tensor.insert_slice %r into %c[%at, 0] [1, 16] [1, 1] : tensor<1x16xf16> into tensor<9x16xf16>
  return %0 : tensor<9x16xf16>
}
