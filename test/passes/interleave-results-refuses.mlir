// interleave-results: left alone where something else reads the second matrix too, and where numbers are wider.
// RUN: mlir-gemm opt %s interleave-results --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @f(
// CHECK-COUNT-4: tile.run
//       CHECK: module @f_2
#ab = affine_map<(m, n, k) -> (m, k)>
#bb = affine_map<(m, n, k) -> (k, n)>
#cb = affine_map<(m, n, k) -> (m, n)>
#x = affine_map<(i, p) -> (i)>
#p = affine_map<(i, p) -> (p)>
#xp = affine_map<(i, p) -> (i, p)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @f(%arg0: memref<64x16xf32> {tile.role = "in"}, %arg1: memref<16x32xf32> {tile.role = "in"}, %arg2: memref<64x32x2xf16> {tile.role = "result"}, %arg3: memref<64x32xf16> {tile.role = "result"}) {
    %x_ = memref.alloc() : memref<64x32xf16>
    %a = memref.extract_aligned_pointer_as_index %arg0 : memref<64x16xf32> -> index
    %b = memref.extract_aligned_pointer_as_index %arg1 : memref<16x32xf32> -> index
    %x = memref.extract_aligned_pointer_as_index %x_ : memref<64x32xf16> -> index
    "tile.run"(%a, %b, %x) {kernel = "f_0", operandSegmentSizes = array<i32: 3>} : (index, index, index) -> ()
    %y_ = memref.alloc() : memref<64x32xf16>
    %y = memref.extract_aligned_pointer_as_index %y_ : memref<64x32xf16> -> index
    "tile.run"(%a, %b, %y) {kernel = "f_1", operandSegmentSizes = array<i32: 3>} : (index, index, index) -> ()
    %d = memref.extract_aligned_pointer_as_index %arg2 : memref<64x32x2xf16> -> index
    "tile.run"(%x, %y, %d) {kernel = "f_2", operandSegmentSizes = array<i32: 3>} : (index, index, index) -> ()
    %t = memref.extract_aligned_pointer_as_index %arg3 : memref<64x32xf16> -> index
    "tile.run"(%y, %t) {kernel = "f_3", operandSegmentSizes = array<i32: 2>} : (index, index) -> ()
    return
  }
  module @f_0 attributes {tile.chip = "sm_90a", tile.stage = "import"} {
    func.func @f_0(%arg0: memref<64x16xf32> {tile.role = "in"}, %arg1: memref<16x32xf32> {tile.role = "in"}, %arg2: memref<64x32xf16> {tile.role = "out"}) {
      %alloc = memref.alloc() : memref<64x32xf32>
      %cst = arith.constant 0.000000e+00 : f32
      linalg.fill ins(%cst : f32) outs(%alloc : memref<64x32xf32>)
      linalg.generic {indexing_maps = [#ab, #bb, #cb], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0, %arg1 : memref<64x16xf32>, memref<16x32xf32>) outs(%alloc : memref<64x32xf32>) {
      ^bb0(%in: f32, %in_0: f32, %out: f32):
        %0 = arith.mulf %in, %in_0 : f32
        %1 = arith.addf %out, %0 : f32
        linalg.yield %1 : f32
      }
      linalg.generic {indexing_maps = [#xp, #xp], iterator_types = ["parallel", "parallel"]} ins(%alloc : memref<64x32xf32>) outs(%arg2 : memref<64x32xf16>) {
      ^bb0(%in: f32, %out: f16):
        %0 = arith.truncf %in : f32 to f16
        linalg.yield %0 : f16
      }
      return
    }
  }
  module @f_1 attributes {tile.chip = "sm_90a", tile.stage = "import"} {
    func.func @f_1(%arg0: memref<64x16xf32> {tile.role = "in"}, %arg1: memref<16x32xf32> {tile.role = "in"}, %arg2: memref<64x32xf16> {tile.role = "out"}) {
      %alloc = memref.alloc() : memref<64x32xf32>
      %cst = arith.constant 0.000000e+00 : f32
      linalg.fill ins(%cst : f32) outs(%alloc : memref<64x32xf32>)
      linalg.generic {indexing_maps = [#ab, #bb, #cb], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0, %arg1 : memref<64x16xf32>, memref<16x32xf32>) outs(%alloc : memref<64x32xf32>) {
      ^bb0(%in: f32, %in_0: f32, %out: f32):
        %0 = arith.mulf %in, %in_0 : f32
        %1 = arith.addf %out, %0 : f32
        linalg.yield %1 : f32
      }
      linalg.generic {indexing_maps = [#xp, #xp], iterator_types = ["parallel", "parallel"]} ins(%alloc : memref<64x32xf32>) outs(%arg2 : memref<64x32xf16>) {
      ^bb0(%in: f32, %out: f16):
        %0 = arith.truncf %in : f32 to f16
        linalg.yield %0 : f16
      }
      return
    }
  }
  module @f_2 attributes {tile.chip = "sm_90a", tile.cuts = {f_0 = "it does not take each element of the product's result once"}, tile.stage = "import"} {
    func.func @f_2(%arg0: memref<2048xf16> {tile.role = "in"}, %arg1: memref<2048xf16> {tile.role = "in"}, %arg2: memref<2048x2xf16> {tile.role = "out"}) attributes {tile.kind = "elementwise"} {
      %0 = "tile.position"() {operandSegmentSizes = array<i32: 0>} : () -> memref<2xi64>
      %c0_i64 = arith.constant 0 : i64
      linalg.generic {indexing_maps = [#x, #x, #p, #xp], iterator_types = ["parallel", "parallel"]} ins(%arg0, %arg1, %0 : memref<2048xf16>, memref<2048xf16>, memref<2xi64>) outs(%arg2 : memref<2048x2xf16>) {
      ^bb0(%in: f16, %in_0: f16, %in_1: i64, %out: f16):
        %1 = arith.cmpi eq, %in_1, %c0_i64 : i64
        %2 = arith.select %1, %in, %in_0 : f16
        linalg.yield %2 : f16
      }
      return
    }
  }
  module @f_3 attributes {tile.chip = "sm_90a", tile.stage = "import"} {
    func.func @f_3(%arg0: memref<2048xf16> {tile.role = "in"}, %arg1: memref<2048xf16> {tile.role = "out"}) attributes {tile.kind = "elementwise"} {
      linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%arg0 : memref<2048xf16>) outs(%arg1 : memref<2048xf16>) {
      ^bb0(%in: f16, %out: f16):
        %0 = arith.negf %in : f16
        linalg.yield %0 : f16
      }
      return
    }
  }
}

// -----

// CHECK-LABEL: func.func @f(
// CHECK-COUNT-3: tile.run
//       CHECK: module @f_2
#ab = affine_map<(m, n, k) -> (m, k)>
#bb = affine_map<(m, n, k) -> (k, n)>
#cb = affine_map<(m, n, k) -> (m, n)>
#x = affine_map<(i, p) -> (i)>
#p = affine_map<(i, p) -> (p)>
#xp = affine_map<(i, p) -> (i, p)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @f(%arg0: memref<64x16xf32> {tile.role = "in"}, %arg1: memref<16x32xf32> {tile.role = "in"}, %arg2: memref<64x32x2xf64> {tile.role = "result"}) {
    %x_ = memref.alloc() : memref<64x32xf64>
    %a = memref.extract_aligned_pointer_as_index %arg0 : memref<64x16xf32> -> index
    %b = memref.extract_aligned_pointer_as_index %arg1 : memref<16x32xf32> -> index
    %x = memref.extract_aligned_pointer_as_index %x_ : memref<64x32xf64> -> index
    "tile.run"(%a, %b, %x) {kernel = "f_0", operandSegmentSizes = array<i32: 3>} : (index, index, index) -> ()
    %y_ = memref.alloc() : memref<64x32xf64>
    %y = memref.extract_aligned_pointer_as_index %y_ : memref<64x32xf64> -> index
    "tile.run"(%a, %b, %y) {kernel = "f_1", operandSegmentSizes = array<i32: 3>} : (index, index, index) -> ()
    %d = memref.extract_aligned_pointer_as_index %arg2 : memref<64x32x2xf64> -> index
    "tile.run"(%x, %y, %d) {kernel = "f_2", operandSegmentSizes = array<i32: 3>} : (index, index, index) -> ()
    return
  }
  module @f_0 attributes {tile.chip = "sm_90a", tile.stage = "import"} {
    func.func @f_0(%arg0: memref<64x16xf32> {tile.role = "in"}, %arg1: memref<16x32xf32> {tile.role = "in"}, %arg2: memref<64x32xf64> {tile.role = "out"}) {
      %alloc = memref.alloc() : memref<64x32xf32>
      %cst = arith.constant 0.000000e+00 : f32
      linalg.fill ins(%cst : f32) outs(%alloc : memref<64x32xf32>)
      linalg.generic {indexing_maps = [#ab, #bb, #cb], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0, %arg1 : memref<64x16xf32>, memref<16x32xf32>) outs(%alloc : memref<64x32xf32>) {
      ^bb0(%in: f32, %in_0: f32, %out: f32):
        %0 = arith.mulf %in, %in_0 : f32
        %1 = arith.addf %out, %0 : f32
        linalg.yield %1 : f32
      }
      linalg.generic {indexing_maps = [#xp, #xp], iterator_types = ["parallel", "parallel"]} ins(%alloc : memref<64x32xf32>) outs(%arg2 : memref<64x32xf64>) {
      ^bb0(%in: f32, %out: f64):
        %0 = arith.extf %in : f32 to f64
        linalg.yield %0 : f64
      }
      return
    }
  }
  module @f_1 attributes {tile.chip = "sm_90a", tile.stage = "import"} {
    func.func @f_1(%arg0: memref<64x16xf32> {tile.role = "in"}, %arg1: memref<16x32xf32> {tile.role = "in"}, %arg2: memref<64x32xf64> {tile.role = "out"}) {
      %alloc = memref.alloc() : memref<64x32xf32>
      %cst = arith.constant 0.000000e+00 : f32
      linalg.fill ins(%cst : f32) outs(%alloc : memref<64x32xf32>)
      linalg.generic {indexing_maps = [#ab, #bb, #cb], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0, %arg1 : memref<64x16xf32>, memref<16x32xf32>) outs(%alloc : memref<64x32xf32>) {
      ^bb0(%in: f32, %in_0: f32, %out: f32):
        %0 = arith.mulf %in, %in_0 : f32
        %1 = arith.addf %out, %0 : f32
        linalg.yield %1 : f32
      }
      linalg.generic {indexing_maps = [#xp, #xp], iterator_types = ["parallel", "parallel"]} ins(%alloc : memref<64x32xf32>) outs(%arg2 : memref<64x32xf64>) {
      ^bb0(%in: f32, %out: f64):
        %0 = arith.extf %in : f32 to f64
        linalg.yield %0 : f64
      }
      return
    }
  }
  module @f_2 attributes {tile.chip = "sm_90a", tile.cuts = {f_0 = "it does not take each element of the product's result once"}, tile.stage = "import"} {
    func.func @f_2(%arg0: memref<2048xf64> {tile.role = "in"}, %arg1: memref<2048xf64> {tile.role = "in"}, %arg2: memref<2048x2xf64> {tile.role = "out"}) attributes {tile.kind = "elementwise"} {
      %0 = "tile.position"() {operandSegmentSizes = array<i32: 0>} : () -> memref<2xi64>
      %c0_i64 = arith.constant 0 : i64
      linalg.generic {indexing_maps = [#x, #x, #p, #xp], iterator_types = ["parallel", "parallel"]} ins(%arg0, %arg1, %0 : memref<2048xf64>, memref<2048xf64>, memref<2xi64>) outs(%arg2 : memref<2048x2xf64>) {
      ^bb0(%in: f64, %in_0: f64, %in_1: i64, %out: f64):
        %1 = arith.cmpi eq, %in_1, %c0_i64 : i64
        %2 = arith.select %1, %in, %in_0 : f64
        linalg.yield %2 : f64
      }
      return
    }
  }
}
