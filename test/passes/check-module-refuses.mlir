// check-module names the place and what would be understood. Each case is run alone, with the declarations above it.
// RUN: sed -e '/^func.func @branches(/,/^}/!{/DECLARED/!s/.*//' -e '}' %s | not mlir-gemm opt - check-module 2>&1 | FileCheck %s --check-prefix=BRANCHES
// RUN: sed -e '/^func.func @loop(/,/^}/!{/DECLARED/!s/.*//' -e '}' %s | not mlir-gemm opt - check-module 2>&1 | FileCheck %s --check-prefix=LOOP
// RUN: sed -e '/^func.func @call(/,/^}/!{/DECLARED/!s/.*//' -e '}' %s | not mlir-gemm opt - check-module 2>&1 | FileCheck %s --check-prefix=CALL
// RUN: sed -e '/^func.func @gather(/,/^}/!{/DECLARED/!s/.*//' -e '}' %s | not mlir-gemm opt - check-module 2>&1 | FileCheck %s --check-prefix=GATHER
// RUN: sed -e '/^func.func @window(/,/^}/!{/DECLARED/!s/.*//' -e '}' %s | not mlir-gemm opt - check-module 2>&1 | FileCheck %s --check-prefix=WINDOW
// RUN: sed -e '/^func.func @pooling(/,/^}/!{/DECLARED/!s/.*//' -e '}' %s | not mlir-gemm opt - check-module 2>&1 | FileCheck %s --check-prefix=POOLING
// RUN: sed -e '/^func.func @complex(/,/^}/!{/DECLARED/!s/.*//' -e '}' %s | not mlir-gemm opt - check-module 2>&1 | FileCheck %s --check-prefix=COMPLEX
// RUN: sed -e '/^func.func @index(/,/^}/!{/DECLARED/!s/.*//' -e '}' %s | not mlir-gemm opt - check-module 2>&1 | FileCheck %s --check-prefix=INDEX
// RUN: sed -e '/^func.func @scalar(/,/^}/!{/DECLARED/!s/.*//' -e '}' %s | not mlir-gemm opt - check-module 2>&1 | FileCheck %s --check-prefix=SCALAR
// RUN: sed -e '/^func.func @dynamic(/,/^}/!{/DECLARED/!s/.*//' -e '}' %s | not mlir-gemm opt - check-module 2>&1 | FileCheck %s --check-prefix=DYNAMIC
// RUN: sed -e '/^func.func @shared(/,/^}/!{/DECLARED/!s/.*//' -e '}' %s | not mlir-gemm opt - check-module 2>&1 | FileCheck %s --check-prefix=SHARED
// RUN: sed -e '/^func.func @strides(/,/^}/!{/DECLARED/!s/.*//' -e '}' %s | not mlir-gemm opt - check-module 2>&1 | FileCheck %s --check-prefix=STRIDES
// RUN: sed -e '/^func.func @arithmetic(/,/^}/!{/DECLARED/!s/.*//' -e '}' %s | not mlir-gemm opt - check-module 2>&1 | FileCheck %s --check-prefix=ARITHMETIC
// RUN: sed -e '/^func.func @diagonal(/,/^}/!{/DECLARED/!s/.*//' -e '}' %s | not mlir-gemm opt - check-module 2>&1 | FileCheck %s --check-prefix=DIAGONAL
// RUN: sed -e '/^func.func @position(/,/^}/!{/DECLARED/!s/.*//' -e '}' %s | not mlir-gemm opt - check-module 2>&1 | FileCheck %s --check-prefix=POSITION
// RUN: sed -e '/^func.func @changing(/,/^}/!{/DECLARED/!s/.*//' -e '}' %s | not mlir-gemm opt - check-module 2>&1 | FileCheck %s --check-prefix=CHANGING
// RUN: sed -e '/^func.func @number(/,/^}/!{/DECLARED/!s/.*//' -e '}' %s | not mlir-gemm opt - check-module 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: sed -e '/^func.func @unfilled(/,/^}/!{/DECLARED/!s/.*//' -e '}' %s | not mlir-gemm opt - check-module 2>&1 | FileCheck %s --check-prefix=UNFILLED
// RUN: sed -e '/^func.func @overwritten(/,/^}/!{/DECLARED/!s/.*//' -e '}' %s | not mlir-gemm opt - check-module 2>&1 | FileCheck %s --check-prefix=OVERWRITTEN
// RUN: sed -e '/^func.func @own(/,/^}/!{/DECLARED/!s/.*//' -e '}' %s | not mlir-gemm opt - check-module 2>&1 | FileCheck %s --check-prefix=OWN
// RUN: sed -e '/^func.func @huge(/,/^}/!{/DECLARED/!s/.*//' -e '}' %s | not mlir-gemm opt - check-module 2>&1 | FileCheck %s --check-prefix=HUGE
// RUN: sed -e '/^func.func @"a.name"(/,/^}/!{/DECLARED/!s/.*//' -e '}' %s | not mlir-gemm opt - check-module 2>&1 | FileCheck %s --check-prefix=NAMED
// RUN: not mlir-gemm opt %s check-module 2>&1 | FileCheck %s --check-prefix=FUNCTIONS
// RUN: echo | not mlir-gemm opt - check-module 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: echo 'module { module { } }' | not mlir-gemm opt - check-module 2>&1 | FileCheck %s --check-prefix=NESTED

// EMPTY: error: the module has no function with a body; expected one func.func that computes
// NESTED: -:1:10: error: 'builtin.module' in the module; expected one func.func, and memref.global constants

func.func private @other()  // DECLARED
memref.global "private" @changing_data : memref<4xi32> = dense<1>  // DECLARED

// BRANCHES: -:[[# @LINE + 1]]:1: error: the function branches between blocks; expected straight-line code
func.func @branches(%A: tensor<4x4xf32>) {
  cf.br ^bb1
^bb1:
  return
}

// FUNCTIONS: error: the module has more than one function with a body; expected one, compile each on its own
func.func @loop(%A: memref<4x4xf32>) {
  %c0 = arith.constant 0 : i32
  // LOOP: -:[[# @LINE + 1]]:3: error: 'scf.for' is not understood; expected straight-line linalg operations, loops over elements of memrefs, loops with constant bounds and branches whose condition follows from them
  scf.for %i = %c0 to %c0 step %c0 : i32 {
  }
  return
}

func.func @call(%A: memref<4x4xf32>) {
  // CALL: -:[[# @LINE + 1]]:3: error: 'func.call' is not understood; expected one function without calls
  func.call @other() : () -> ()
  return
}

func.func @gather(%A: tensor<4x4xf32>, %i: tensor<2x1xi32>) -> tensor<2x1x4xf32> {
  // GATHER: -:[[# @LINE + 1]]:8: error: 'tensor.gather' is not understood; beside linalg operations there may be arith.constant
  %0 = tensor.gather %A[%i] gather_dims([0]) : (tensor<4x4xf32>, tensor<2x1xi32>) -> tensor<2x1x4xf32>
  return %0 : tensor<2x1x4xf32>
}

func.func @window(%x: tensor<2x6x6x5xf32>, %y: tensor<6x6x1x1x2x5xf32>) -> tensor<6x6x1x1x2x5xf32> {
  // WINDOW: -:[[# @LINE + 1]]:8: error: 'linalg.winograd_input_transform' is not understood; of linalg: matmul, batch_matmul,
  %0 = linalg.winograd_input_transform fmr(F_4_3) ins(%x : tensor<2x6x6x5xf32>) outs(%y : tensor<6x6x1x1x2x5xf32>) -> tensor<6x6x1x1x2x5xf32>
  return %0 : tensor<6x6x1x1x2x5xf32>
}

func.func @pooling(%x: tensor<2x8x5x5xf32>, %y: tensor<2x8x5x5xf32>) -> tensor<2x8x5x5xf32> {
  // POOLING: -:[[# @LINE + 1]]:8: error: 'linalg.softmax' is not understood; of linalg: matmul, batch_matmul,
  %0 = linalg.softmax dimension(3) ins(%x : tensor<2x8x5x5xf32>) outs(%y : tensor<2x8x5x5xf32>) -> tensor<2x8x5x5xf32>
  return %0 : tensor<2x8x5x5xf32>
}

// COMPLEX: -:[[# @LINE + 1]]:1: error: argument 0 has element type complex<i32>; expected one of f16, bf16, f32
func.func @complex(%A: tensor<4x4xcomplex<i32>>) {
  return
}

// INDEX: -:[[# @LINE + 1]]:1: error: argument 0 has element type index; expected one of f16, bf16, f32
func.func @index(%A: tensor<4x4xindex>) {
  return
}

// SCALAR: -:[[# @LINE + 1]]:1: error: argument 0 has type f32; expected tensors, memrefs, or numbers
func.func @scalar(%A: f32) {
  return
}

// DYNAMIC: -:[[# @LINE + 1]]:1: error: argument 0 has dynamic sizes (tensor<?x4xf32>); sizes must be static
func.func @dynamic(%A: tensor<?x4xf32>) {
  return
}

// SHARED: -:[[# @LINE + 1]]:1: error: argument 0 is in memory space 3 : i64; expected the default one (global memory)
func.func @shared(%A: memref<4x4xf32, 3>) {
  return
}

// STRIDES: -:[[# @LINE + 1]]:1: error: argument 0 has dynamic strides or offset (memref<4x4xf32, strided<[?, 1]>>); they must be static
func.func @strides(%A: memref<4x4xf32, strided<[?, 1]>>) {
  return
}

func.func @arithmetic(%A: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // ARITHMETIC: -:[[# @LINE + 1]]:8: error: 'arith.addf' is not understood; arithmetic stands in the body of a linalg.generic
  %0 = arith.addf %A, %A : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

func.func @diagonal(%A: tensor<4x4xf32>, %B: tensor<4xf32>) -> tensor<4x4xf32> {
  // DIAGONAL: -:[[# @LINE + 1]]:8: error: 'linalg.generic' with indexing map (d0) -> (d0, d0) of a result; expected each loop at most once, and nothing else but 0
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i, i)>], iterator_types = ["parallel"]}
      ins(%B : tensor<4xf32>) outs(%A : tensor<4x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

func.func @position(%B: tensor<4xi32>) -> tensor<4xi32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%B : tensor<4xi32>) {
  ^bb0(%b: i32):
    // POSITION: -:[[# @LINE + 1]]:10: error: 'affine.apply' in the body of 'linalg.generic'; expected arith and math operations, linalg.index and tensor.extract
    %i = affine.apply affine_map<() -> (3)>()
    %j = arith.index_cast %i : index to i32
    linalg.yield %j : i32
  } -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

func.func @changing(%B: memref<4xi32>) {
  // CHANGING: -:[[# @LINE + 1]]:8: error: @changing_data may change; expected a memref.global marked constant
  %0 = memref.get_global @changing_data : memref<4xi32>
  memref.copy %0, %B : memref<4xi32> to memref<4xi32>
  return
}

func.func @number() -> f32 {
  %0 = arith.constant 1.0 : f32
  // NUMBER: -:[[# @LINE + 1]]:3: error: result 0 has type f32; expected tensors
  return %0 : f32
}

func.func @unfilled(%A: tensor<4x8xf32>, %B: tensor<8x6xf32>) -> tensor<4x6xf32> {
  %e = tensor.empty() : tensor<4x6xf32>
  // UNFILLED: -:[[# @LINE + 1]]:8: error: 'linalg.matmul' reads operand 2, a tensor.empty, which has no values yet; fill it first (linalg.fill)
  %0 = linalg.matmul ins(%A, %B : tensor<4x8xf32>, tensor<8x6xf32>) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

func.func @overwritten(%A: tensor<4x8xf32>, %B: tensor<4xf32>) -> tensor<4xf32> {
  // OVERWRITTEN: -:[[# @LINE + 1]]:8: error: 'linalg.generic' writes an element for each step of loop d1, which is parallel but not in the map (d0, d1) -> (d0) of its result; expected it there, or a reduction
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>],
                       iterator_types = ["parallel", "parallel"]} ins(%A : tensor<4x8xf32>) outs(%B : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// OWN: -:[[# @LINE + 1]]:1: error: 'tile.kind' on 'func.func': the compiler writes such attributes itself; a source may have tile.schedule and tile.rows on its function, tile.symmetric, tile.triangular, tile.banded, tile.block_diagonal, tile.blocks or tile.sparse on its arguments, tile.chip on its module and tile.algebra on a linalg.generic
func.func @own(%A: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {tile.kind = "elementwise"} {
  return %A : tensor<4x8xf32>
}

// HUGE: -:[[# @LINE + 1]]:1: error: argument 0 takes 4398046511104000 bytes (tensor<1099511627776x1000xf32>); at most 2^48 can be addressed
func.func @huge(%A: tensor<1099511627776x1000xf32>) -> tensor<1099511627776x1000xf32> {
  return %A : tensor<1099511627776x1000xf32>
}

// NAMED: -:[[# @LINE + 1]]:1: error: the function's name 'a.name' cannot name a kernel in PTX; expected letters, digits, _ and $, and no digit in front
func.func @"a.name"(%A: tensor<4x8xf32>) -> tensor<4x8xf32> {
  return %A : tensor<4x8xf32>
}
