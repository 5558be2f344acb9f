// linear_constant_weights: 3x12 float32
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1)>
module {
  func.func @main(%arg0: tensor<3x12xf32>) -> tensor<3x7xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant dense_resource<torch_tensor_7_torch.float32> : tensor<7xf32>
    %cst_1 = arith.constant dense_resource<torch_tensor_7_12_torch.float32> : tensor<7x12xf32>
    %0 = tensor.empty() : tensor<12x7xf32>
    %transposed = linalg.transpose ins(%cst_1 : tensor<7x12xf32>) outs(%0 : tensor<12x7xf32>) permutation = [1, 0] 
    %1 = tensor.empty() : tensor<3x7xf32>
    %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<3x7xf32>) -> tensor<3x7xf32>
    %3 = linalg.matmul ins(%arg0, %transposed : tensor<3x12xf32>, tensor<12x7xf32>) outs(%2 : tensor<3x7xf32>) -> tensor<3x7xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%3, %cst_0 : tensor<3x7xf32>, tensor<7xf32>) outs(%1 : tensor<3x7xf32>) {
    ^bb0(%in: f32, %in_2: f32, %out: f32):
      %5 = arith.addf %in, %in_2 : f32
      linalg.yield %5 : f32
    } -> tensor<3x7xf32>
    return %4 : tensor<3x7xf32>
  }
}

{-#
  dialect_resources: {
    builtin: {
      torch_tensor_7_torch.float32: "0x04000000000080BF000040BF000000BF000080BE000000000000803E0000003F",
      torch_tensor_7_12_torch.float32: "0x040000000000E0BF000040BF0000803E0000A03F0000B0BF0000C0BE0000203F0000D03F000080BF000000000000803F0000D0BF000020BF0000C03E0000B03F0000A0BF000080BE0000403F0000E03F000060BF0000003E0000903F0000C0BF000000BF0000003F0000C03F000090BF000000BE0000603F0000E0BF000040BF0000803E0000A03F0000B0BF0000C0BE0000203F0000D03F000080BF000000000000803F0000D0BF000020BF0000C03E0000B03F0000A0BF000080BE0000403F0000E03F000060BF0000003E0000903F0000C0BF000000BF0000003F0000C03F000090BF000000BE0000603F0000E0BF000040BF0000803E0000A03F0000B0BF0000C0BE0000203F0000D03F000080BF000000000000803F0000D0BF000020BF0000C03E0000B03F0000A0BF000080BE0000403F0000E03F000060BF0000003E0000903F0000C0BF000000BF0000003F0000C03F"
    }
  }
#-}
