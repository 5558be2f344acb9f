// find-symmetry: a kernel whose product is of a matrix and its own transpose says that its result equals its transpose;
// a second run changes nothing.
// RUN: mlir-gemm opt --split-input-file %s find-symmetry | FileCheck %s
// RUN: mlir-gemm opt --split-input-file %s find-symmetry find-symmetry | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#d = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
#turned = affine_map<(m, n) -> (n, m)>
#row = affine_map<(m, n) -> (m)>

// What follows scales by a number and adds a matrix that equals its transpose, however it is read.
// CHECK-LABEL: func.func @epilogue(
//  CHECK-SAME:   attributes {tile.symmetric}
func.func @epilogue(%A: memref<64x32xf16>, %C: memref<64x64xf32> {tile.symmetric}, %beta: memref<f32>, %D: memref<64x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloc() : memref<64x64xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<64x64xf32>)
  linalg.generic {indexing_maps = [#a, #b, #d], iterator_types = ["parallel", "parallel", "reduction"]} ins(%A, %A : memref<64x32xf16>, memref<64x32xf16>) outs(%sum : memref<64x64xf32>) {
  ^bb0(%a: f16, %b: f16, %c: f32):
    %x = arith.extf %a : f16 to f32
    %y = arith.extf %b : f16 to f32
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#id, #turned, affine_map<(m, n) -> ()>, #id], iterator_types = ["parallel", "parallel"]} ins(%sum, %C, %beta : memref<64x64xf32>, memref<64x64xf32>, memref<f32>) outs(%D : memref<64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %t: f32, %c: f32):
    %p = arith.mulf %b, %t : f32
    %s = arith.addf %a, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// A bias of columns, a sum that goes on from what is in memory, two matrices: none of these.
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#d = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (n)>
// CHECK-LABEL: func.func @bias(
//   CHECK-NOT:   tile.symmetric
func.func @bias(%A: memref<64x32xf32>, %C: memref<64xf32>, %D: memref<64x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloc() : memref<64x64xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<64x64xf32>)
  linalg.generic {indexing_maps = [#a, #b, #d], iterator_types = ["parallel", "parallel", "reduction"]} ins(%A, %A : memref<64x32xf32>, memref<64x32xf32>) outs(%sum : memref<64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%sum, %C : memref<64x64xf32>, memref<64xf32>) outs(%D : memref<64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }
  return
}
// CHECK-LABEL: func.func @goes_on(
//   CHECK-NOT:   tile.symmetric
func.func @goes_on(%A: memref<64x32xf32>, %D: memref<64x64xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #d], iterator_types = ["parallel", "parallel", "reduction"]} ins(%A, %A : memref<64x32xf32>, memref<64x32xf32>) outs(%D : memref<64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}
// CHECK-LABEL: func.func @two(
//   CHECK-NOT:   tile.symmetric
func.func @two(%A: memref<64x32xf32>, %B: memref<64x32xf32>, %D: memref<64x64xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%D : memref<64x64xf32>)
  linalg.generic {indexing_maps = [#a, #b, #d], iterator_types = ["parallel", "parallel", "reduction"]} ins(%A, %B : memref<64x32xf32>, memref<64x32xf32>) outs(%D : memref<64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// Whoever marks a result promises that it is so.
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#d = affine_map<(m, n, k) -> (m, n)>
// CHECK-LABEL: func.func @promised(
//  CHECK-SAME:   attributes {tile.symmetric}
func.func @promised(%A: memref<64x64xf32>, %B: memref<64x64xf32>, %D: memref<64x64xf32> {tile.symmetric}) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%D : memref<64x64xf32>)
  linalg.generic {indexing_maps = [#a, #b, #d], iterator_types = ["parallel", "parallel", "reduction"]} ins(%A, %B : memref<64x64xf32>, memref<64x64xf32>) outs(%D : memref<64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}
