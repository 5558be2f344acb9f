// What combine-in-reader leaves alone: what has more parts than `most`, and results that others read too.
// RUN: mlir-gemm opt --split-input-file %s 'combine-in-reader{most=3}' | FileCheck %s
// RUN: not mlir-gemm opt --split-input-file %s 'combine-in-reader{parts=3}' 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: error: pass 'combine-in-reader' has no option 'parts'

// CHECK-LABEL: func.func @many(
//       CHECK:   {kernel = "many_sum"
//       CHECK:   {kernel = "many_1"
//       CHECK: module @many_sum
#turned = affine_map<(d0, d1) -> (d1, d0)>
#row = affine_map<(d0, d1) -> (d0)>
#whole = affine_map<(d0, d1) -> (d0, d1)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @many(%P: memref<4x2xf32> {tile.role = "in"}, %R: memref<2x9xf32> {tile.role = "inout"}) {
    %sums = memref.alloc() : memref<2xf32>
    %p = memref.extract_aligned_pointer_as_index %P : memref<4x2xf32> -> index
    %s = memref.extract_aligned_pointer_as_index %sums : memref<2xf32> -> index
    %r = memref.extract_aligned_pointer_as_index %R : memref<2x9xf32> -> index
    "tile.run"(%p, %s) {kernel = "many_sum", operandSegmentSizes = array<i32: 2>} : (index, index) -> ()
    "tile.run"(%s, %r) {kernel = "many_1", operandSegmentSizes = array<i32: 2>} : (index, index) -> ()
    return
  }
  module @many_sum {
    func.func @many_sum(%P: memref<4x2xf32> {tile.role = "in"}, %S: memref<2xf32> {tile.role = "out"}) attributes {tile.kind = "rows", tile.split_k_workspace = 4 : i64} {
      %zero = arith.constant 0.0 : f32
      linalg.fill ins(%zero : f32) outs(%S : memref<2xf32>)
      linalg.generic {indexing_maps = [#turned, #row], iterator_types = ["parallel", "reduction"]}
          ins(%P : memref<4x2xf32>) outs(%S : memref<2xf32>) {
      ^bb0(%x: f32, %a: f32):
        %s = arith.addf %a, %x : f32
        linalg.yield %s : f32
      }
      return
    }
  }
  module @many_1 {
    func.func @many_1(%S: memref<2xf32> {tile.role = "in"}, %R: memref<2x9xf32> {tile.role = "inout"}) attributes {tile.kind = "elementwise"} {
      linalg.generic {indexing_maps = [#row, #whole], iterator_types = ["parallel", "parallel"]}
          ins(%S : memref<2xf32>) outs(%R : memref<2x9xf32>) {
      ^bb0(%s: f32, %o: f32):
        %q = arith.mulf %o, %s : f32
        linalg.yield %q : f32
      }
      return
    }
  }
}

// -----

// CHECK-LABEL: func.func @twice(
//       CHECK:   {kernel = "twice_sum"
//       CHECK:   {kernel = "twice_1"
//       CHECK:   {kernel = "twice_1"
//       CHECK: module @twice_sum
#turned = affine_map<(d0, d1) -> (d1, d0)>
#row = affine_map<(d0, d1) -> (d0)>
#whole = affine_map<(d0, d1) -> (d0, d1)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @twice(%P: memref<3x2xf32> {tile.role = "in"}, %R: memref<2x9xf32> {tile.role = "inout"}, %Q: memref<2x9xf32> {tile.role = "inout"}) {
    %sums = memref.alloc() : memref<2xf32>
    %p = memref.extract_aligned_pointer_as_index %P : memref<3x2xf32> -> index
    %s = memref.extract_aligned_pointer_as_index %sums : memref<2xf32> -> index
    %r = memref.extract_aligned_pointer_as_index %R : memref<2x9xf32> -> index
    %q = memref.extract_aligned_pointer_as_index %Q : memref<2x9xf32> -> index
    "tile.run"(%p, %s) {kernel = "twice_sum", operandSegmentSizes = array<i32: 2>} : (index, index) -> ()
    "tile.run"(%s, %r) {kernel = "twice_1", operandSegmentSizes = array<i32: 2>} : (index, index) -> ()
    "tile.run"(%s, %q) {kernel = "twice_1", operandSegmentSizes = array<i32: 2>} : (index, index) -> ()
    return
  }
  module @twice_sum {
    func.func @twice_sum(%P: memref<3x2xf32> {tile.role = "in"}, %S: memref<2xf32> {tile.role = "out"}) attributes {tile.kind = "rows", tile.split_k_workspace = 3 : i64} {
      %zero = arith.constant 0.0 : f32
      linalg.fill ins(%zero : f32) outs(%S : memref<2xf32>)
      linalg.generic {indexing_maps = [#turned, #row], iterator_types = ["parallel", "reduction"]}
          ins(%P : memref<3x2xf32>) outs(%S : memref<2xf32>) {
      ^bb0(%x: f32, %a: f32):
        %s = arith.addf %a, %x : f32
        linalg.yield %s : f32
      }
      return
    }
  }
  module @twice_1 {
    func.func @twice_1(%S: memref<2xf32> {tile.role = "in"}, %R: memref<2x9xf32> {tile.role = "inout"}) attributes {tile.kind = "elementwise"} {
      linalg.generic {indexing_maps = [#row, #whole], iterator_types = ["parallel", "parallel"]}
          ins(%S : memref<2xf32>) outs(%R : memref<2x9xf32>) {
      ^bb0(%s: f32, %o: f32):
        %q = arith.mulf %o, %s : f32
        linalg.yield %q : f32
      }
      return
    }
  }
}
