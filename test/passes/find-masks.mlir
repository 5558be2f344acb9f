// find-masks: a result that is one number on one side of its diagonal says so; a second run changes nothing.
// RUN: mlir-gemm opt %s find-masks | FileCheck %s
// RUN: mlir-gemm opt %s find-masks find-masks | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#d = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
#column = affine_map<(m, n) -> (n)>

// CHECK-LABEL: func.func @causal(
//  CHECK-SAME:   attributes {tile.masked = "n>m"}
func.func @causal(%A: memref<64x32xf32>, %B: memref<32x64xf32>, %D: memref<64x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant -1.0e+09 : f32
  %scale = arith.constant 0.125 : f32
  %p = "tile.position"() {operandSegmentSizes = array<i32: 0>} : () -> memref<64xi64>
  %sum = memref.alloc() : memref<64x64xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<64x64xf32>)
  linalg.generic {indexing_maps = [#a, #b, #d], iterator_types = ["parallel", "parallel", "reduction"]} ins(%A, %B : memref<64x32xf32>, memref<32x64xf32>) outs(%sum : memref<64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %t = arith.mulf %a, %b : f32
    %s = arith.addf %c, %t : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#id, #row, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%sum, %p, %p : memref<64x64xf32>, memref<64xi64>, memref<64xi64>) outs(%D : memref<64x64xf32>) {
  ^bb0(%a: f32, %i: i64, %j: i64, %c: f32):
    %in = arith.cmpi sle, %j, %i : i64
    %x = arith.select %in, %a, %none : f32
    %y = arith.mulf %x, %scale : f32
    linalg.yield %y : f32
  }
  return
}

// A window of 16 columns, as local attention has it.
// CHECK-LABEL: func.func @window(
//  CHECK-SAME:   attributes {tile.masked = "n>m, n<m-15"}
func.func @window(%A: memref<64x32xf32>, %B: memref<32x64xf32>, %D: memref<64x64xf32>) {
  %sixteen = arith.constant 16 : i64
  %zero = arith.constant 0.0 : f32
  %none = arith.constant -1.0e+09 : f32
  %scale = arith.constant 0.125 : f32
  %p = "tile.position"() {operandSegmentSizes = array<i32: 0>} : () -> memref<64xi64>
  %sum = memref.alloc() : memref<64x64xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<64x64xf32>)
  linalg.generic {indexing_maps = [#a, #b, #d], iterator_types = ["parallel", "parallel", "reduction"]} ins(%A, %B : memref<64x32xf32>, memref<32x64xf32>) outs(%sum : memref<64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %t = arith.mulf %a, %b : f32
    %s = arith.addf %c, %t : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#id, #row, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%sum, %p, %p : memref<64x64xf32>, memref<64xi64>, memref<64xi64>) outs(%D : memref<64x64xf32>) {
  ^bb0(%a: f32, %i: i64, %j: i64, %c: f32):
    %low = arith.cmpi sle, %j, %i : i64
    %from = arith.subi %i, %sixteen : i64
    %high = arith.cmpi sgt, %j, %from : i64
    %in = arith.andi %low, %high : i1
    %x = arith.select %in, %a, %none : f32
    %y = arith.mulf %x, %scale : f32
    linalg.yield %y : f32
  }
  return
}

// What is added after it differs from element to element.
// CHECK-LABEL: func.func @bias(
//   CHECK-NOT:   tile.masked
func.func @bias(%A: memref<64x32xf32>, %B: memref<32x64xf32>, %C: memref<64xf32>, %D: memref<64x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %p = "tile.position"() {operandSegmentSizes = array<i32: 0>} : () -> memref<64xi64>
  %sum = memref.alloc() : memref<64x64xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<64x64xf32>)
  linalg.generic {indexing_maps = [#a, #b, #d], iterator_types = ["parallel", "parallel", "reduction"]} ins(%A, %B : memref<64x32xf32>, memref<32x64xf32>) outs(%sum : memref<64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %t = arith.mulf %a, %b : f32
    %s = arith.addf %c, %t : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#id, #row, #column, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%sum, %p, %p, %C : memref<64x64xf32>, memref<64xi64>, memref<64xi64>, memref<64xf32>) outs(%D : memref<64x64xf32>) {
  ^bb0(%a: f32, %i: i64, %j: i64, %b: f32, %c: f32):
    %in = arith.cmpi sle, %j, %i : i64
    %x = arith.select %in, %a, %zero : f32
    %y = arith.addf %x, %b : f32
    linalg.yield %y : f32
  }
  return
}
