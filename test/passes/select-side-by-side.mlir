// select-side-by-side: the model says which products of the same A are launched at once; a second run changes nothing.
// RUN: mlir-gemm opt --split-input-file %s select-side-by-side | FileCheck %s
// RUN: mlir-gemm opt --split-input-file %s select-side-by-side select-side-by-side | FileCheck %s

// Queries and keys of grouped heads, of other widths: all have the tiles of the first, and are launched with it.
// CHECK-LABEL: func.func @heads(
// CHECK-COUNT-2: "tile.run"
//       CHECK: module @heads_0 attributes {{.*}}tile.note = "launched at once with heads_1: predicted to take {{.*}} us, one after another {{.*}} us", tile.stage
//       CHECK:   func.func @heads_0({{.*}}tile.launch_with = {kernel = "heads_0", threads = 0 : i64}, tile.schedule = {block = [[BLOCK:[^a-z]*]], cluster_m{{.*}}swap_ab = false
//       CHECK: module @heads_1
//   CHECK-NOT: tile.note
//       CHECK:   func.func @heads_1({{.*}}tile.launch_with = {kernel = "heads_0", threads = 0 : i64}, tile.schedule = {block = [[BLOCK]], cluster_m
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#e = affine_map<(m, n) -> (m, n)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @heads(%x0: memref<512x1024xf16> {tile.role = "in"}, %w0: memref<2048x1024xf16> {tile.role = "in"}, %w1: memref<512x1024xf16> {tile.role = "in"}, %r0: memref<512x2048xf16> {tile.role = "result"}, %r1: memref<512x512xf16> {tile.role = "result"}) {
    %a0 = memref.extract_aligned_pointer_as_index %x0 : memref<512x1024xf16> -> index
    %b0 = memref.extract_aligned_pointer_as_index %w0 : memref<2048x1024xf16> -> index
    %c0 = memref.extract_aligned_pointer_as_index %r0 : memref<512x2048xf16> -> index
    "tile.run"(%a0, %b0, %c0) {kernel = "heads_0", operandSegmentSizes = array<i32: 3>} : (index, index, index) -> ()
    %a1 = memref.extract_aligned_pointer_as_index %x0 : memref<512x1024xf16> -> index
    %b1 = memref.extract_aligned_pointer_as_index %w1 : memref<512x1024xf16> -> index
    %c1 = memref.extract_aligned_pointer_as_index %r1 : memref<512x512xf16> -> index
    "tile.run"(%a1, %b1, %c1) {kernel = "heads_1", operandSegmentSizes = array<i32: 3>} : (index, index, index) -> ()
    return
  }
  module @heads_0 attributes {tile.chip = "sm_90a", tile.stage = "import"} {
    func.func @heads_0(%x: memref<512x1024xf16> {tile.role = "in"}, %w: memref<2048x1024xf16> {tile.role = "in"}, %r: memref<512x2048xf16> {tile.role = "out"}) {
      %acc = memref.alloc() : memref<512x2048xf32>
      %zero = arith.constant 0.0 : f32
      linalg.fill ins(%zero : f32) outs(%acc : memref<512x2048xf32>)
      linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : memref<512x1024xf16>, memref<2048x1024xf16>) outs(%acc : memref<512x2048xf32>) {
      ^bb0(%a: f16, %b: f16, %o: f32):
        %1 = arith.extf %a : f16 to f32
        %2 = arith.extf %b : f16 to f32
        %3 = arith.mulf %1, %2 : f32
        %4 = arith.addf %o, %3 : f32
        linalg.yield %4 : f32
      }
      linalg.generic {indexing_maps = [#e, #e], iterator_types = ["parallel", "parallel"]} ins(%acc : memref<512x2048xf32>) outs(%r : memref<512x2048xf16>) {
      ^bb0(%a: f32, %o: f16):
        %1 = arith.truncf %a : f32 to f16
        linalg.yield %1 : f16
      }
      return
    }
  }
  module @heads_1 attributes {tile.chip = "sm_90a", tile.stage = "import"} {
    func.func @heads_1(%x: memref<512x1024xf16> {tile.role = "in"}, %w: memref<512x1024xf16> {tile.role = "in"}, %r: memref<512x512xf16> {tile.role = "out"}) {
      %acc = memref.alloc() : memref<512x512xf32>
      %zero = arith.constant 0.0 : f32
      linalg.fill ins(%zero : f32) outs(%acc : memref<512x512xf32>)
      linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : memref<512x1024xf16>, memref<512x1024xf16>) outs(%acc : memref<512x512xf32>) {
      ^bb0(%a: f16, %b: f16, %o: f32):
        %1 = arith.extf %a : f16 to f32
        %2 = arith.extf %b : f16 to f32
        %3 = arith.mulf %1, %2 : f32
        %4 = arith.addf %o, %3 : f32
        linalg.yield %4 : f32
      }
      linalg.generic {indexing_maps = [#e, #e], iterator_types = ["parallel", "parallel"]} ins(%acc : memref<512x512xf32>) outs(%r : memref<512x512xf16>) {
      ^bb0(%a: f32, %o: f16):
        %1 = arith.truncf %a : f32 to f16
        linalg.yield %1 : f16
      }
      return
    }
  }
}

// -----

// Few rows, as their transposes: all change places.
// CHECK-LABEL: func.func @few(
//       CHECK: module @few_0 attributes {{.*}}tile.note = "launched at once with few_1, few_2: predicted
//       CHECK:   func.func @few_0({{.*}}tile.launch_with = {kernel = "few_0", threads = 0 : i64}, tile.schedule = {{{.*}}swap_ab = true
//       CHECK:   func.func @few_1({{.*}}tile.launch_with = {kernel = "few_0", threads = 0 : i64}, tile.schedule = {{{.*}}swap_ab = true
//       CHECK:   func.func @few_2({{.*}}tile.launch_with = {kernel = "few_0", threads = 0 : i64}, tile.schedule = {{{.*}}swap_ab = true
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#e = affine_map<(m, n) -> (m, n)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @few(%x0: memref<16x4096xf16> {tile.role = "in"}, %w0: memref<4096x4096xf16> {tile.role = "in"}, %w1: memref<1024x4096xf16> {tile.role = "in"}, %w2: memref<512x4096xf16> {tile.role = "in"}, %r0: memref<16x4096xf16> {tile.role = "result"}, %r1: memref<16x1024xf16> {tile.role = "result"}, %r2: memref<16x512xf16> {tile.role = "result"}) {
    %a0 = memref.extract_aligned_pointer_as_index %x0 : memref<16x4096xf16> -> index
    %b0 = memref.extract_aligned_pointer_as_index %w0 : memref<4096x4096xf16> -> index
    %c0 = memref.extract_aligned_pointer_as_index %r0 : memref<16x4096xf16> -> index
    "tile.run"(%a0, %b0, %c0) {kernel = "few_0", operandSegmentSizes = array<i32: 3>} : (index, index, index) -> ()
    %a1 = memref.extract_aligned_pointer_as_index %x0 : memref<16x4096xf16> -> index
    %b1 = memref.extract_aligned_pointer_as_index %w1 : memref<1024x4096xf16> -> index
    %c1 = memref.extract_aligned_pointer_as_index %r1 : memref<16x1024xf16> -> index
    "tile.run"(%a1, %b1, %c1) {kernel = "few_1", operandSegmentSizes = array<i32: 3>} : (index, index, index) -> ()
    %a2 = memref.extract_aligned_pointer_as_index %x0 : memref<16x4096xf16> -> index
    %b2 = memref.extract_aligned_pointer_as_index %w2 : memref<512x4096xf16> -> index
    %c2 = memref.extract_aligned_pointer_as_index %r2 : memref<16x512xf16> -> index
    "tile.run"(%a2, %b2, %c2) {kernel = "few_2", operandSegmentSizes = array<i32: 3>} : (index, index, index) -> ()
    return
  }
  module @few_0 attributes {tile.chip = "sm_90a", tile.stage = "import"} {
    func.func @few_0(%x: memref<16x4096xf16> {tile.role = "in"}, %w: memref<4096x4096xf16> {tile.role = "in"}, %r: memref<16x4096xf16> {tile.role = "out"}) {
      %acc = memref.alloc() : memref<16x4096xf32>
      %zero = arith.constant 0.0 : f32
      linalg.fill ins(%zero : f32) outs(%acc : memref<16x4096xf32>)
      linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : memref<16x4096xf16>, memref<4096x4096xf16>) outs(%acc : memref<16x4096xf32>) {
      ^bb0(%a: f16, %b: f16, %o: f32):
        %1 = arith.extf %a : f16 to f32
        %2 = arith.extf %b : f16 to f32
        %3 = arith.mulf %1, %2 : f32
        %4 = arith.addf %o, %3 : f32
        linalg.yield %4 : f32
      }
      linalg.generic {indexing_maps = [#e, #e], iterator_types = ["parallel", "parallel"]} ins(%acc : memref<16x4096xf32>) outs(%r : memref<16x4096xf16>) {
      ^bb0(%a: f32, %o: f16):
        %1 = arith.truncf %a : f32 to f16
        linalg.yield %1 : f16
      }
      return
    }
  }
  module @few_1 attributes {tile.chip = "sm_90a", tile.stage = "import"} {
    func.func @few_1(%x: memref<16x4096xf16> {tile.role = "in"}, %w: memref<1024x4096xf16> {tile.role = "in"}, %r: memref<16x1024xf16> {tile.role = "out"}) {
      %acc = memref.alloc() : memref<16x1024xf32>
      %zero = arith.constant 0.0 : f32
      linalg.fill ins(%zero : f32) outs(%acc : memref<16x1024xf32>)
      linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : memref<16x4096xf16>, memref<1024x4096xf16>) outs(%acc : memref<16x1024xf32>) {
      ^bb0(%a: f16, %b: f16, %o: f32):
        %1 = arith.extf %a : f16 to f32
        %2 = arith.extf %b : f16 to f32
        %3 = arith.mulf %1, %2 : f32
        %4 = arith.addf %o, %3 : f32
        linalg.yield %4 : f32
      }
      linalg.generic {indexing_maps = [#e, #e], iterator_types = ["parallel", "parallel"]} ins(%acc : memref<16x1024xf32>) outs(%r : memref<16x1024xf16>) {
      ^bb0(%a: f32, %o: f16):
        %1 = arith.truncf %a : f32 to f16
        linalg.yield %1 : f16
      }
      return
    }
  }
  module @few_2 attributes {tile.chip = "sm_90a", tile.stage = "import"} {
    func.func @few_2(%x: memref<16x4096xf16> {tile.role = "in"}, %w: memref<512x4096xf16> {tile.role = "in"}, %r: memref<16x512xf16> {tile.role = "out"}) {
      %acc = memref.alloc() : memref<16x512xf32>
      %zero = arith.constant 0.0 : f32
      linalg.fill ins(%zero : f32) outs(%acc : memref<16x512xf32>)
      linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : memref<16x4096xf16>, memref<512x4096xf16>) outs(%acc : memref<16x512xf32>) {
      ^bb0(%a: f16, %b: f16, %o: f32):
        %1 = arith.extf %a : f16 to f32
        %2 = arith.extf %b : f16 to f32
        %3 = arith.mulf %1, %2 : f32
        %4 = arith.addf %o, %3 : f32
        linalg.yield %4 : f32
      }
      linalg.generic {indexing_maps = [#e, #e], iterator_types = ["parallel", "parallel"]} ins(%acc : memref<16x512xf32>) outs(%r : memref<16x512xf16>) {
      ^bb0(%a: f32, %o: f16):
        %1 = arith.truncf %a : f32 to f16
        linalg.yield %1 : f16
      }
      return
    }
  }
}
