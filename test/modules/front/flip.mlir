// flip: f32 6x9
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<(d0, d1) -> (d0, d1)>
module {
  func.func @main(%arg0: tensor<6x9xf32>) -> tensor<6x9xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %c8 = arith.constant 8 : index
    %0 = tensor.empty() : tensor<6x9xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<6x9xf32>) -> tensor<6x9xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<6x9xf32>) outs(%1 : tensor<6x9xf32>) {
    ^bb0(%in: f32, %out: f32):
      %3 = linalg.index 0 : index
      %4 = linalg.index 1 : index
      %5 = arith.subi %c8, %4 : index
      %extracted = tensor.extract %arg0[%3, %5] : tensor<6x9xf32>
      linalg.yield %extracted : f32
    } -> tensor<6x9xf32>
    return %2 : tensor<6x9xf32>
  }
}
