// name-sizes refuses sizes that are no products of the arguments' sizes, and what would need them as numbers.
// RUN: not mlir-gemm opt --split-input-file %s name-sizes 2>&1 | FileCheck %s

func.func @sum(%A: tensor<?x24xf16>) -> tensor<?x24xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %A, %c0 : tensor<?x24xf16>
  %more = arith.addi %m, %c1 : index
  // CHECK: error: 'tensor.empty' takes a size that is no product of the arguments' sizes and numbers
  %e = tensor.empty(%more) : tensor<?x24xf16>
  return %e : tensor<?x24xf16>
}

// -----

// CHECK: error: argument 0 has dynamic sizes and a layout (memref<?x24xf16, strided<[32, 1]>>); expected dense memory
func.func @strided(%A: memref<?x24xf16, strided<[32, 1]>>, %B: memref<?x24xf16>) {
  linalg.copy ins(%A : memref<?x24xf16, strided<[32, 1]>>) outs(%B : memref<?x24xf16>)
  return
}

// -----

func.func @part(%A: memref<?x24xf16>, %B: memref<8x24xf16>) {
  // CHECK: error: 'memref.subview' takes 8 of a dimension of t0; expected all of it
  %s = memref.subview %A[0, 0] [8, 24] [1, 1] : memref<?x24xf16> to memref<8x24xf16, strided<[24, 1]>>
  linalg.copy ins(%s : memref<8x24xf16, strided<[24, 1]>>) outs(%B : memref<8x24xf16>)
  return
}

// -----

func.func @unequal(%A: memref<?x24xf16>, %B: memref<?xf16>) {
  // CHECK: error: 'linalg.generic' needs 24*t0 and t1 to be equal, which the arguments' sizes do not say
  %flat = memref.collapse_shape %A [[0, 1]] : memref<?x24xf16> into memref<?xf16>
  linalg.copy ins(%flat : memref<?xf16>) outs(%B : memref<?xf16>)
  return
}

// -----

func.func @mean(%A: tensor<?xf32>, %B: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %A, %c0 : tensor<?xf32>
  %i = arith.index_cast %n : index to i64
  // CHECK: error: 'arith.sitofp' computes with the size s0; expected numbers
  %x = arith.sitofp %i : i64 to f32
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%A : tensor<?xf32>) outs(%B : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %d = arith.divf %a, %x : f32
    linalg.yield %d : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

func.func @check(%A: tensor<?xf32>, %B: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %n = tensor.dim %A, %c0 : tensor<?xf32>
  %small = arith.cmpi ult, %n, %c8 : index
  // CHECK: error: a check at run time of something other than equal sizes (at most 8); expected none
  cf.assert %small, "at most 8"
  %r = linalg.copy ins(%A : tensor<?xf32>) outs(%B : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

// CHECK: error: 'tile.stand_ins' on a module: this pass writes that attribute itself
module attributes {tile.stand_ins = {s0 = 7 : i64}} {
  func.func @forged(%A: memref<7xf16>, %B: memref<7xf16>) {
    linalg.copy ins(%A : memref<7xf16>) outs(%B : memref<7xf16>)
    return
  }
}

// -----

func.func @windows(%x: tensor<?x8xf32>, %w: tensor<3xf32>, %o: tensor<?x6xf32>) -> tensor<?x6xf32> {
  // CHECK: error: 'linalg.generic' reads operand 0 along d0 + d2, by windows, where its size is known at run time only; expected a constant size there. How many images there are may be open
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0 + d2, d1)>, affine_map<(d0, d1, d2) -> (d2)>,
                                        affine_map<(d0, d1, d2) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<?x8xf32>, tensor<3xf32>) outs(%o : tensor<?x6xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x6xf32>
  return %0 : tensor<?x6xf32>
}
