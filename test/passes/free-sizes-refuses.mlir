// free-sizes refuses operations that hold the number of a symbol in another way than by their operands' types.
// RUN: not mlir-gemm opt --split-input-file %s free-sizes 2>&1 | FileCheck %s

module attributes {tile.stand_ins = {s0 = 1009 : i64}} {
  func.func @number(%A: memref<1009x24xf16>) {
    // CHECK: :[[# @LINE + 1]]:10: error: 'arith.constant' computes with the size 2*s0, which is known at run time only
    %c = arith.constant 2018 : index
    return
  }
}

// -----

module attributes {tile.stand_ins = {s0 = 1009 : i64}} {
  func.func @view(%A: memref<1009x24xf16>) {
    // CHECK: :[[# @LINE + 1]]:10: error: 'memref.collapse_shape' of memref<?x24xf16> with sizes known at run time only
    %c = memref.collapse_shape %A [[0, 1]] : memref<1009x24xf16> into memref<24216xf16>
    return
  }
}

// -----

module attributes {tile.stand_ins = {s0 = 1009 : i64}} {
  // CHECK: :[[# @LINE + 1]]:3: error: memref<1009xf16, strided<[1], offset: 1009>> starts at an offset that depends on sizes known at run time only
  func.func @offset(%A: memref<1009xf16, strided<[1], offset: 1009>>) {
    return
  }
}

// -----

// CHECK: windows of sizes that are known at run time only; expected that of the images alone
module attributes {tile.stand_ins = {s0 = 1009 : i64}} {
  func.func @channels(%x: memref<4x4x1009xf16>, %y: memref<16x1009xf16>) {
    %v = "tile.windows"(%x) {high = array<i64: 0, 0, 0>, low = array<i64: 0, 0, 0>, offset = 0 : i64, shape = array<i64: 4, 4, 1009>,
      sizes = [array<i64: 16>, array<i64: 1009>], strides = [array<i64: 1009>, array<i64: 1>]} : (memref<4x4x1009xf16>) -> memref<16x1009xf16>
    linalg.copy ins(%v : memref<16x1009xf16>) outs(%y : memref<16x1009xf16>)
    return
  }
}
