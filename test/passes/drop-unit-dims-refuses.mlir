// drop-unit-dims leaves tensors without elements, windows of several elements and memrefs alone. No options.
// RUN: mlir-gemm opt %s 'func.func(linalg-generalize-named-ops)' drop-unit-dims | FileCheck %s
// RUN: not mlir-gemm opt %s 'drop-unit-dims{keep=true}' 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: error: pass 'drop-unit-dims' has no option 'keep' (options: none)
// CHECK-NOT: tensor.collapse_shape

// CHECK-LABEL: func.func @empty(
//       CHECK:   linalg.generic {{.*}} ins(%arg0, %arg1 : tensor<1x0x8xf16>, tensor<1x8x6xf16>)
func.func @empty(%A: tensor<1x0x8xf16>, %B: tensor<1x8x6xf16>, %C: tensor<1x0x6xf32>) -> tensor<1x0x6xf32> {
  %0 = linalg.batch_matmul ins(%A, %B : tensor<1x0x8xf16>, tensor<1x8x6xf16>)
                           outs(%C : tensor<1x0x6xf32>) -> tensor<1x0x6xf32>
  return %0 : tensor<1x0x6xf32>
}

// CHECK-LABEL: func.func @window(
//       CHECK:   linalg.generic {{.*}} ins(%arg0, %arg1 : tensor<1x8x5x5xf16>, tensor<6x8x3x3xf16>)
func.func @window(%x: tensor<1x8x5x5xf16>, %w: tensor<6x8x3x3xf16>, %y: tensor<1x6x3x3xf32>) -> tensor<1x6x3x3xf32> {
  %0 = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x8x5x5xf16>, tensor<6x8x3x3xf16>)
                                outs(%y : tensor<1x6x3x3xf32>) -> tensor<1x6x3x3xf32>
  return %0 : tensor<1x6x3x3xf32>
}

// CHECK-LABEL: func.func @memrefs(
//       CHECK:   linalg.generic {{.*}} ins(%arg0, %arg1 : memref<1x8xf16>, memref<8x6xf16>)
func.func @memrefs(%A: memref<1x8xf16>, %B: memref<8x6xf16>, %C: memref<1x6xf32>) {
  linalg.matmul ins(%A, %B : memref<1x8xf16>, memref<8x6xf16>) outs(%C : memref<1x6xf32>)
  return
}
