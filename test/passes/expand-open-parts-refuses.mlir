// expand-open-parts refuses what it cannot read by position.
// RUN: not mlir-gemm opt --split-input-file %s expand-open-parts 2>&1 | FileCheck %s

func.func @padding(%x: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK: :[[# @LINE + 1]]:8: error: 'tensor.pad' whose padding value is not one constant; expected a constant
  %p = tensor.pad %x low[1] high[0] {
  ^bb0(%i: index):
    %n = arith.index_cast %i : index to i32
    %v = arith.sitofp %n : i32 to f32
    tensor.yield %v : f32
  } : tensor<?xf32> to tensor<?xf32>
  return %p : tensor<?xf32>
}

// -----

func.func @quotients(%x: tensor<?xf32>, %o: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK: :[[# @LINE + 1]]:8: error: 'linalg.generic' with indexing map (d0) -> (d0 floordiv 2) along a size known at run time only; expected sums of loops times numbers
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i floordiv 2)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%o : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @part_of_memory(%A: memref<?x24xf16>, %B: memref<8x24xf16>) {
  // CHECK: error: 'memref.subview' takes 8 of a dimension of t0; expected all of it
  %s = memref.subview %A[0, 0] [8, 24] [1, 1] : memref<?x24xf16> to memref<8x24xf16, strided<[24, 1]>>
  linalg.copy ins(%s : memref<8x24xf16, strided<[24, 1]>>) outs(%B : memref<8x24xf16>)
  return
}
