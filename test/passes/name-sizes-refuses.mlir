// name-sizes refuses sizes that cannot be told from the arguments' sizes, and what `expand-open-parts` has left.
// RUN: not mlir-gemm opt --split-input-file %s name-sizes 2>&1 | FileCheck %s

func.func @power(%A: tensor<?x24xf16>) -> tensor<?x24xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %A, %c0 : tensor<?x24xf16>
  %more = arith.shli %m, %c1 : index
  // CHECK: error: 'tensor.empty' takes a size that is no sum, product or quotient of the arguments' sizes and numbers
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

func.func @unequal(%A: tensor<?x?xf16>, %B: tensor<?x?xf16>) -> tensor<?xf16> {
  %a = tensor.collapse_shape %A [[0, 1]] : tensor<?x?xf16> into tensor<?xf16>
  %b = tensor.collapse_shape %B [[0, 1]] : tensor<?x?xf16> into tensor<?xf16>
  // CHECK: error: 'linalg.generic' needs t0*t1 and t2*t3 to be equal, which the arguments' sizes do not say
  %r = linalg.exp ins(%a : tensor<?xf16>) outs(%b : tensor<?xf16>) -> tensor<?xf16>
  return %r : tensor<?xf16>
}

// -----

func.func @mean(%A: memref<?xf32>, %B: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %A, %c0 : memref<?xf32>
  %i = arith.index_cast %n : index to i64
  %x = arith.sitofp %i : i64 to f32
  // CHECK: error: 'linalg.generic' on memrefs computes with a size that is open; expected it on tensors
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%A : memref<?xf32>) outs(%B : memref<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %d = arith.divf %a, %x : f32
    linalg.yield %d : f32
  }
  return
}

// -----

func.func @concat(%A: tensor<?xf32>, %B: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK: error: 'tensor.concat' of a part of a size known at run time only; expected that 'expand-open-parts' has
  %r = tensor.concat dim(0) %A, %B : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}
