// relayout-groups refuses nothing: what it does not know it leaves alone; it has no options.
// RUN: mlir-gemm opt %s relayout-groups | FileCheck %s
// RUN: not mlir-gemm opt %s 'relayout-groups{k=1}' 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: error: pass 'relayout-groups' has no option 'k' (options: none)

// CHECK-NOT: tile.note

// Too small for a copy to pay: it would take longer to launch.
// CHECK-LABEL: func.func @small(
func.func @small(%A: tensor<38x38x38xf32>, %B: tensor<24x38xf32>) -> tensor<24x38x38xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<24x38x38xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<24x38x38xf32>) -> tensor<24x38x38xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(j, b, a, k) -> (a, k, b)>, affine_map<(j, b, a, k) -> (j, k)>,
                                        affine_map<(j, b, a, k) -> (j, b, a)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%A, %B : tensor<38x38x38xf32>, tensor<24x38xf32>) outs(%f : tensor<24x38x38xf32>) {
  ^bb0(%x: f32, %y: f32, %c: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<24x38x38xf32>
  return %r : tensor<24x38x38xf32>
}

// A has its rows along k: tiles read them.
// CHECK-LABEL: func.func @along_k(
func.func @along_k(%A: tensor<384x384x384xf32>, %B: tensor<24x384xf32>) -> tensor<24x384x384xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<24x384x384xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<24x384x384xf32>) -> tensor<24x384x384xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(j, b, a, k) -> (a, b, k)>, affine_map<(j, b, a, k) -> (j, k)>,
                                        affine_map<(j, b, a, k) -> (j, b, a)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%A, %B : tensor<384x384x384xf32>, tensor<24x384xf32>) outs(%f : tensor<24x384x384xf32>) {
  ^bb0(%x: f32, %y: f32, %c: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<24x384x384xf32>
  return %r : tensor<24x384x384xf32>
}

// CHECK-LABEL: func.func @memory(
//  CHECK-NEXT:   linalg.matmul
func.func @memory(%A: memref<4x6xf32>, %B: memref<6x5xf32>, %C: memref<4x5xf32>) {
  linalg.matmul ins(%A, %B : memref<4x6xf32>, memref<6x5xf32>) outs(%C : memref<4x5xf32>)
  return
}
