// check-module lets through what docs/inputs.md lists, and changes nothing.
// RUN: sed '/^func.func @named(/,/^}/!s/.*//' %s | mlir-gemm opt - check-module | FileCheck %s --check-prefix=NAMED
// RUN: sed -e '/^func.func @on_memrefs(/,/^}/!{/memref.global/!s/.*//' -e '}' %s | mlir-gemm opt - check-module | FileCheck %s --check-prefix=MEMREFS
// RUN: sed '/^func.func @convolution(/,/^}/!s/.*//' %s | mlir-gemm opt - check-module | FileCheck %s --check-prefix=CONVOLUTION
// RUN: sed '/^func.func @unused_position(/,/^}/!s/.*//' %s | mlir-gemm opt - check-module | FileCheck %s --check-prefix=UNUSED

// NAMED-LABEL: func.func @named(
//       NAMED:   linalg.batch_matmul
//       NAMED:   linalg.matmul indexing_maps =
//       NAMED:   linalg.matmul {cast = #linalg.type_fn<cast_unsigned>}
//       NAMED:   linalg.matvec
//       NAMED:   linalg.contract
//       NAMED:   linalg.exp
//       NAMED:   return
func.func @named(%a: tensor<2x4x8xf16>, %b: tensor<2x8x6xf16>, %c: tensor<2x4x6xf16>, %d: tensor<6x8xbf16>,
                 %e: tensor<4x8xbf16>, %f: tensor<4x6xbf16>, %i: tensor<4x8xi8>, %j: tensor<8x6xi8>, %k: tensor<4x6xi32>,
                 %x: tensor<8xbf16>, %y: tensor<4xbf16>, %empty: tensor<0x8xf64>, %none: tensor<0x6xf64>,
                 %g: tensor<8x6xf64>)
    -> (tensor<2x4x6xf16>, tensor<4x6xbf16>, tensor<4x6xi32>, tensor<4xbf16>, tensor<0x6xf64>) {
  %0 = linalg.batch_matmul ins(%a, %b : tensor<2x4x8xf16>, tensor<2x8x6xf16>)
                           outs(%c : tensor<2x4x6xf16>) -> tensor<2x4x6xf16>
  %1 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
                                      affine_map<(m, n, k) -> (m, n)>]
                     ins(%e, %d : tensor<4x8xbf16>, tensor<6x8xbf16>) outs(%f : tensor<4x6xbf16>) -> tensor<4x6xbf16>
  %2 = linalg.matmul {cast = #linalg.type_fn<cast_unsigned>} ins(%i, %j : tensor<4x8xi8>, tensor<8x6xi8>)
                     outs(%k : tensor<4x6xi32>) -> tensor<4x6xi32>
  %3 = linalg.matvec ins(%e, %x : tensor<4x8xbf16>, tensor<8xbf16>) outs(%y : tensor<4xbf16>) -> tensor<4xbf16>
  %4 = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                                        affine_map<(m, n, k) -> (m, n)>]
                       ins(%empty, %g : tensor<0x8xf64>, tensor<8x6xf64>) outs(%none : tensor<0x6xf64>) -> tensor<0x6xf64>
  %5 = linalg.exp ins(%0 : tensor<2x4x6xf16>) outs(%c : tensor<2x4x6xf16>) -> tensor<2x4x6xf16>
  return %5, %1, %2, %3, %4 : tensor<2x4x6xf16>, tensor<4x6xbf16>, tensor<4x6xi32>, tensor<4xbf16>, tensor<0x6xf64>
}

memref.global "private" constant @weights : memref<8x4xf32> = dense<2.0>

// MEMREFS-LABEL: func.func @on_memrefs(
//       MEMREFS:   memref.get_global
//       MEMREFS:   memref.subview
//       MEMREFS:   linalg.matmul
//       MEMREFS:   memref.copy
func.func @on_memrefs(%A: memref<4x8xf32, strided<[16, 1], offset: 3>>, %C: memref<8x4xf32>) {
  %w = memref.get_global @weights : memref<8x4xf32>
  %t = memref.alloc() : memref<4x4xf32>
  %top = memref.subview %C[0, 0] [4, 4] [1, 1] : memref<8x4xf32> to memref<4x4xf32, strided<[4, 1]>>
  linalg.copy ins(%top : memref<4x4xf32, strided<[4, 1]>>) outs(%t : memref<4x4xf32>)
  linalg.matmul ins(%A, %w : memref<4x8xf32, strided<[16, 1], offset: 3>>, memref<8x4xf32>) outs(%t : memref<4x4xf32>)
  memref.copy %t, %top : memref<4x4xf32> to memref<4x4xf32, strided<[4, 1]>>
  memref.dealloc %t : memref<4x4xf32>
  return
}

// CONVOLUTION-LABEL: func.func @convolution(
//       CONVOLUTION:   linalg.conv_2d_nhwc_hwcf
func.func @convolution(%x: tensor<2x5x5x8xf16>, %w: tensor<1x1x8x6xf16>, %y: tensor<2x5x5x6xf32>) -> tensor<2x5x5x6xf32> {
  %0 = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<2x5x5x8xf16>, tensor<1x1x8x6xf16>)
                                outs(%y : tensor<2x5x5x6xf32>) -> tensor<2x5x5x6xf32>
  return %0 : tensor<2x5x5x6xf32>
}

// Frameworks write a maximum with its position; the position is computed for a result that nobody uses.
// UNUSED-LABEL: func.func @unused_position(
//       UNUSED:   linalg.index
func.func @unused_position(%x: tensor<4x8xf32>, %m: tensor<4xf32>, %p: tensor<4xi64>) -> tensor<4xf32> {
  %0:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
                         iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf32>) outs(%m, %p : tensor<4xf32>, tensor<4xi64>) {
  ^bb0(%in: f32, %max: f32, %at: i64):
    %j = linalg.index 1 : index
    %position = arith.index_cast %j : index to i64
    %more = arith.cmpf ogt, %in, %max : f32
    %where = arith.select %more, %position, %at : i64
    %larger = arith.maximumf %in, %max : f32
    linalg.yield %larger, %where : f32, i64
  } -> (tensor<4xf32>, tensor<4xi64>)
  return %0#0 : tensor<4xf32>
}
