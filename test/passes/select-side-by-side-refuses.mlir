// select-side-by-side leaves products apart that are faster so, that wait for one another, that multiply other matrices
// A, whose schedules are fixed in different ways, were found by measuring, or are batch_invariant, of sizes known at run
// time only, and those for other back ends.
// RUN: mlir-gemm opt --split-input-file %s select-side-by-side | FileCheck %s
// RUN: mlir-gemm opt --split-input-file %s select-side-by-side select-side-by-side | FileCheck %s
// RUN: not mlir-gemm opt --split-input-file %s 'select-side-by-side{least=2}' 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: error: pass 'select-side-by-side' has no option 'least' (options: most)

// Large ones: either way the tensor cores are busy throughout.
// CHECK-LABEL: func.func @large(
// CHECK: module @large_0 attributes {{.*}}tile.note = "not launched at once with large_1, which would take {{[0-9.]+ [a-z]+}}, one after another {{[0-9.]+ [a-z]+}}"
// CHECK-NOT: tile.launch_with
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @large(%x0: memref<8192x4096xf16> {tile.role = "in"}, %w0: memref<8192x4096xf16> {tile.role = "in"}, %w1: memref<4096x4096xf16> {tile.role = "in"}, %r0: memref<8192x8192xf32> {tile.role = "result"}, %r1: memref<8192x4096xf32> {tile.role = "result"}) {
    %a0 = memref.extract_aligned_pointer_as_index %x0 : memref<8192x4096xf16> -> index
    %b0 = memref.extract_aligned_pointer_as_index %w0 : memref<8192x4096xf16> -> index
    %c0 = memref.extract_aligned_pointer_as_index %r0 : memref<8192x8192xf32> -> index
    "tile.run"(%a0, %b0, %c0) {kernel = "large_0", operandSegmentSizes = array<i32: 3>} : (index, index, index) -> ()
    %a1 = memref.extract_aligned_pointer_as_index %x0 : memref<8192x4096xf16> -> index
    %b1 = memref.extract_aligned_pointer_as_index %w1 : memref<4096x4096xf16> -> index
    %c1 = memref.extract_aligned_pointer_as_index %r1 : memref<8192x4096xf32> -> index
    "tile.run"(%a1, %b1, %c1) {kernel = "large_1", operandSegmentSizes = array<i32: 3>} : (index, index, index) -> ()
    return
  }
  module @large_0 attributes {tile.chip = "sm_90a", tile.stage = "import"} {
    func.func @large_0(%x: memref<8192x4096xf16> {tile.role = "in"}, %w: memref<8192x4096xf16> {tile.role = "in"}, %r: memref<8192x8192xf32> {tile.role = "out"}) {
      %zero = arith.constant 0.0 : f32
      linalg.fill ins(%zero : f32) outs(%r : memref<8192x8192xf32>)
      linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : memref<8192x4096xf16>, memref<8192x4096xf16>) outs(%r : memref<8192x8192xf32>) {
      ^bb0(%a: f16, %b: f16, %o: f32):
        %1 = arith.extf %a : f16 to f32
        %2 = arith.extf %b : f16 to f32
        %3 = arith.mulf %1, %2 : f32
        %4 = arith.addf %o, %3 : f32
        linalg.yield %4 : f32
      }
      return
    }
  }
  module @large_1 attributes {tile.chip = "sm_90a", tile.stage = "import"} {
    func.func @large_1(%x: memref<8192x4096xf16> {tile.role = "in"}, %w: memref<4096x4096xf16> {tile.role = "in"}, %r: memref<8192x4096xf32> {tile.role = "out"}) {
      %zero = arith.constant 0.0 : f32
      linalg.fill ins(%zero : f32) outs(%r : memref<8192x4096xf32>)
      linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : memref<8192x4096xf16>, memref<4096x4096xf16>) outs(%r : memref<8192x4096xf32>) {
      ^bb0(%a: f16, %b: f16, %o: f32):
        %1 = arith.extf %a : f16 to f32
        %2 = arith.extf %b : f16 to f32
        %3 = arith.mulf %1, %2 : f32
        %4 = arith.addf %o, %3 : f32
        linalg.yield %4 : f32
      }
      return
    }
  }
}

// -----

// The second one multiplies by what the first one writes.
// CHECK-LABEL: func.func @chain(
// CHECK-NOT: tile.launch_with
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#e = affine_map<(m, n) -> (m, n)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @chain(%x0: memref<512x1024xf16> {tile.role = "in"}, %w0: memref<1024x1024xf16> {tile.role = "in"}, %w1: memref<512x1024xf16> {tile.role = "in"}, %r0: memref<512x1024xf16> {tile.role = "result"}, %r1: memref<512x512xf16> {tile.role = "result"}) {
    %a0 = memref.extract_aligned_pointer_as_index %x0 : memref<512x1024xf16> -> index
    %b0 = memref.extract_aligned_pointer_as_index %w0 : memref<1024x1024xf16> -> index
    %c0 = memref.extract_aligned_pointer_as_index %r0 : memref<512x1024xf16> -> index
    "tile.run"(%a0, %b0, %c0) {kernel = "chain_0", operandSegmentSizes = array<i32: 3>} : (index, index, index) -> ()
    %a1 = memref.extract_aligned_pointer_as_index %x0 : memref<512x1024xf16> -> index
    %b1 = memref.extract_aligned_pointer_as_index %r0 : memref<512x1024xf16> -> index
    %c1 = memref.extract_aligned_pointer_as_index %r1 : memref<512x512xf16> -> index
    "tile.run"(%a1, %b1, %c1) {kernel = "chain_1", operandSegmentSizes = array<i32: 3>} : (index, index, index) -> ()
    return
  }
  module @chain_0 attributes {tile.chip = "sm_90a", tile.stage = "import"} {
    func.func @chain_0(%x: memref<512x1024xf16> {tile.role = "in"}, %w: memref<1024x1024xf16> {tile.role = "in"}, %r: memref<512x1024xf16> {tile.role = "out"}) {
      %acc = memref.alloc() : memref<512x1024xf32>
      %zero = arith.constant 0.0 : f32
      linalg.fill ins(%zero : f32) outs(%acc : memref<512x1024xf32>)
      linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : memref<512x1024xf16>, memref<1024x1024xf16>) outs(%acc : memref<512x1024xf32>) {
      ^bb0(%a: f16, %b: f16, %o: f32):
        %1 = arith.extf %a : f16 to f32
        %2 = arith.extf %b : f16 to f32
        %3 = arith.mulf %1, %2 : f32
        %4 = arith.addf %o, %3 : f32
        linalg.yield %4 : f32
      }
      linalg.generic {indexing_maps = [#e, #e], iterator_types = ["parallel", "parallel"]} ins(%acc : memref<512x1024xf32>) outs(%r : memref<512x1024xf16>) {
      ^bb0(%a: f32, %o: f16):
        %1 = arith.truncf %a : f32 to f16
        linalg.yield %1 : f16
      }
      return
    }
  }
  module @chain_1 attributes {tile.chip = "sm_90a", tile.stage = "import"} {
    func.func @chain_1(%x: memref<512x1024xf16> {tile.role = "in"}, %w: memref<512x1024xf16> {tile.role = "in"}, %r: memref<512x512xf16> {tile.role = "out"}) {
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

// Each multiplies a matrix of its own.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: tile.launch_with
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @others(%x0: memref<512x1024xf16> {tile.role = "in"}, %x1: memref<512x1024xf16> {tile.role = "in"}, %w0: memref<2048x1024xf16> {tile.role = "in"}, %w1: memref<512x1024xf16> {tile.role = "in"}, %r0: memref<512x2048xf32> {tile.role = "result"}, %r1: memref<512x512xf32> {tile.role = "result"}) {
    %a0 = memref.extract_aligned_pointer_as_index %x0 : memref<512x1024xf16> -> index
    %b0 = memref.extract_aligned_pointer_as_index %w0 : memref<2048x1024xf16> -> index
    %c0 = memref.extract_aligned_pointer_as_index %r0 : memref<512x2048xf32> -> index
    "tile.run"(%a0, %b0, %c0) {kernel = "others_0", operandSegmentSizes = array<i32: 3>} : (index, index, index) -> ()
    %a1 = memref.extract_aligned_pointer_as_index %x1 : memref<512x1024xf16> -> index
    %b1 = memref.extract_aligned_pointer_as_index %w1 : memref<512x1024xf16> -> index
    %c1 = memref.extract_aligned_pointer_as_index %r1 : memref<512x512xf32> -> index
    "tile.run"(%a1, %b1, %c1) {kernel = "others_1", operandSegmentSizes = array<i32: 3>} : (index, index, index) -> ()
    return
  }
  module @others_0 attributes {tile.chip = "sm_90a", tile.stage = "import"} {
    func.func @others_0(%x: memref<512x1024xf16> {tile.role = "in"}, %w: memref<2048x1024xf16> {tile.role = "in"}, %r: memref<512x2048xf32> {tile.role = "out"}) {
      %zero = arith.constant 0.0 : f32
      linalg.fill ins(%zero : f32) outs(%r : memref<512x2048xf32>)
      linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : memref<512x1024xf16>, memref<2048x1024xf16>) outs(%r : memref<512x2048xf32>) {
      ^bb0(%a: f16, %b: f16, %o: f32):
        %1 = arith.extf %a : f16 to f32
        %2 = arith.extf %b : f16 to f32
        %3 = arith.mulf %1, %2 : f32
        %4 = arith.addf %o, %3 : f32
        linalg.yield %4 : f32
      }
      return
    }
  }
  module @others_1 attributes {tile.chip = "sm_90a", tile.stage = "import"} {
    func.func @others_1(%x: memref<512x1024xf16> {tile.role = "in"}, %w: memref<512x1024xf16> {tile.role = "in"}, %r: memref<512x512xf32> {tile.role = "out"}) {
      %zero = arith.constant 0.0 : f32
      linalg.fill ins(%zero : f32) outs(%r : memref<512x512xf32>)
      linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : memref<512x1024xf16>, memref<512x1024xf16>) outs(%r : memref<512x512xf32>) {
      ^bb0(%a: f16, %b: f16, %o: f32):
        %1 = arith.extf %a : f16 to f32
        %2 = arith.extf %b : f16 to f32
        %3 = arith.mulf %1, %2 : f32
        %4 = arith.addf %o, %3 : f32
        linalg.yield %4 : f32
      }
      return
    }
  }
}

// -----

// Fixed in different ways.
// CHECK-LABEL: func.func @fixed(
// CHECK-NOT: tile.launch_with
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @fixed(%x0: memref<512x1024xf16> {tile.role = "in"}, %w0: memref<2048x1024xf16> {tile.role = "in"}, %w1: memref<512x1024xf16> {tile.role = "in"}, %r0: memref<512x2048xf32> {tile.role = "result"}, %r1: memref<512x512xf32> {tile.role = "result"}) {
    %a0 = memref.extract_aligned_pointer_as_index %x0 : memref<512x1024xf16> -> index
    %b0 = memref.extract_aligned_pointer_as_index %w0 : memref<2048x1024xf16> -> index
    %c0 = memref.extract_aligned_pointer_as_index %r0 : memref<512x2048xf32> -> index
    "tile.run"(%a0, %b0, %c0) {kernel = "fixed_0", operandSegmentSizes = array<i32: 3>} : (index, index, index) -> ()
    %a1 = memref.extract_aligned_pointer_as_index %x0 : memref<512x1024xf16> -> index
    %b1 = memref.extract_aligned_pointer_as_index %w1 : memref<512x1024xf16> -> index
    %c1 = memref.extract_aligned_pointer_as_index %r1 : memref<512x512xf32> -> index
    "tile.run"(%a1, %b1, %c1) {kernel = "fixed_1", operandSegmentSizes = array<i32: 3>} : (index, index, index) -> ()
    return
  }
  module @fixed_0 attributes {tile.chip = "sm_90a", tile.stage = "import"} {
    func.func @fixed_0(%x: memref<512x1024xf16> {tile.role = "in"}, %w: memref<2048x1024xf16> {tile.role = "in"}, %r: memref<512x2048xf32> {tile.role = "out"}) attributes {tile.schedule = {stages = 4 : i64}} {
      %zero = arith.constant 0.0 : f32
      linalg.fill ins(%zero : f32) outs(%r : memref<512x2048xf32>)
      linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : memref<512x1024xf16>, memref<2048x1024xf16>) outs(%r : memref<512x2048xf32>) {
      ^bb0(%a: f16, %b: f16, %o: f32):
        %1 = arith.extf %a : f16 to f32
        %2 = arith.extf %b : f16 to f32
        %3 = arith.mulf %1, %2 : f32
        %4 = arith.addf %o, %3 : f32
        linalg.yield %4 : f32
      }
      return
    }
  }
  module @fixed_1 attributes {tile.chip = "sm_90a", tile.stage = "import"} {
    func.func @fixed_1(%x: memref<512x1024xf16> {tile.role = "in"}, %w: memref<512x1024xf16> {tile.role = "in"}, %r: memref<512x512xf32> {tile.role = "out"}) {
      %zero = arith.constant 0.0 : f32
      linalg.fill ins(%zero : f32) outs(%r : memref<512x512xf32>)
      linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : memref<512x1024xf16>, memref<512x1024xf16>) outs(%r : memref<512x512xf32>) {
      ^bb0(%a: f16, %b: f16, %o: f32):
        %1 = arith.extf %a : f16 to f32
        %2 = arith.extf %b : f16 to f32
        %3 = arith.mulf %1, %2 : f32
        %4 = arith.addf %o, %3 : f32
        linalg.yield %4 : f32
      }
      return
    }
  }
}

// -----

// A row's bits must not follow from how many there are.
// CHECK-LABEL: func.func @invariant(
// CHECK-NOT: tile.launch_with
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @invariant(%x0: memref<512x1024xf16> {tile.role = "in"}, %w0: memref<2048x1024xf16> {tile.role = "in"}, %w1: memref<512x1024xf16> {tile.role = "in"}, %r0: memref<512x2048xf32> {tile.role = "result"}, %r1: memref<512x512xf32> {tile.role = "result"}) {
    %a0 = memref.extract_aligned_pointer_as_index %x0 : memref<512x1024xf16> -> index
    %b0 = memref.extract_aligned_pointer_as_index %w0 : memref<2048x1024xf16> -> index
    %c0 = memref.extract_aligned_pointer_as_index %r0 : memref<512x2048xf32> -> index
    "tile.run"(%a0, %b0, %c0) {kernel = "invariant_0", operandSegmentSizes = array<i32: 3>} : (index, index, index) -> ()
    %a1 = memref.extract_aligned_pointer_as_index %x0 : memref<512x1024xf16> -> index
    %b1 = memref.extract_aligned_pointer_as_index %w1 : memref<512x1024xf16> -> index
    %c1 = memref.extract_aligned_pointer_as_index %r1 : memref<512x512xf32> -> index
    "tile.run"(%a1, %b1, %c1) {kernel = "invariant_1", operandSegmentSizes = array<i32: 3>} : (index, index, index) -> ()
    return
  }
  module @invariant_0 attributes {tile.chip = "sm_90a", tile.stage = "import"} {
    func.func @invariant_0(%x: memref<512x1024xf16> {tile.role = "in"}, %w: memref<2048x1024xf16> {tile.role = "in"}, %r: memref<512x2048xf32> {tile.role = "out"}) attributes {tile.schedule = {batch_invariant = true}} {
      %zero = arith.constant 0.0 : f32
      linalg.fill ins(%zero : f32) outs(%r : memref<512x2048xf32>)
      linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : memref<512x1024xf16>, memref<2048x1024xf16>) outs(%r : memref<512x2048xf32>) {
      ^bb0(%a: f16, %b: f16, %o: f32):
        %1 = arith.extf %a : f16 to f32
        %2 = arith.extf %b : f16 to f32
        %3 = arith.mulf %1, %2 : f32
        %4 = arith.addf %o, %3 : f32
        linalg.yield %4 : f32
      }
      return
    }
  }
  module @invariant_1 attributes {tile.chip = "sm_90a", tile.stage = "import"} {
    func.func @invariant_1(%x: memref<512x1024xf16> {tile.role = "in"}, %w: memref<512x1024xf16> {tile.role = "in"}, %r: memref<512x512xf32> {tile.role = "out"}) attributes {tile.schedule = {batch_invariant = true}} {
      %zero = arith.constant 0.0 : f32
      linalg.fill ins(%zero : f32) outs(%r : memref<512x512xf32>)
      linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : memref<512x1024xf16>, memref<512x1024xf16>) outs(%r : memref<512x512xf32>) {
      ^bb0(%a: f16, %b: f16, %o: f32):
        %1 = arith.extf %a : f16 to f32
        %2 = arith.extf %b : f16 to f32
        %3 = arith.mulf %1, %2 : f32
        %4 = arith.addf %o, %3 : f32
        linalg.yield %4 : f32
      }
      return
    }
  }
}

// -----

// Found by measuring.
// CHECK-LABEL: func.func @tuned(
// CHECK-NOT: tile.launch_with
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @tuned(%x0: memref<512x1024xf16> {tile.role = "in"}, %w0: memref<2048x1024xf16> {tile.role = "in"}, %w1: memref<512x1024xf16> {tile.role = "in"}, %r0: memref<512x2048xf32> {tile.role = "result"}, %r1: memref<512x512xf32> {tile.role = "result"}) {
    %a0 = memref.extract_aligned_pointer_as_index %x0 : memref<512x1024xf16> -> index
    %b0 = memref.extract_aligned_pointer_as_index %w0 : memref<2048x1024xf16> -> index
    %c0 = memref.extract_aligned_pointer_as_index %r0 : memref<512x2048xf32> -> index
    "tile.run"(%a0, %b0, %c0) {kernel = "tuned_0", operandSegmentSizes = array<i32: 3>} : (index, index, index) -> ()
    %a1 = memref.extract_aligned_pointer_as_index %x0 : memref<512x1024xf16> -> index
    %b1 = memref.extract_aligned_pointer_as_index %w1 : memref<512x1024xf16> -> index
    %c1 = memref.extract_aligned_pointer_as_index %r1 : memref<512x512xf32> -> index
    "tile.run"(%a1, %b1, %c1) {kernel = "tuned_1", operandSegmentSizes = array<i32: 3>} : (index, index, index) -> ()
    return
  }
  module @tuned_0 attributes {tile.chip = "sm_90a", tile.note = "tuned for NVIDIA H200 (measured, 31.20 us a run)", tile.stage = "import"} {
    func.func @tuned_0(%x: memref<512x1024xf16> {tile.role = "in"}, %w: memref<2048x1024xf16> {tile.role = "in"}, %r: memref<512x2048xf32> {tile.role = "out"}) {
      %zero = arith.constant 0.0 : f32
      linalg.fill ins(%zero : f32) outs(%r : memref<512x2048xf32>)
      linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : memref<512x1024xf16>, memref<2048x1024xf16>) outs(%r : memref<512x2048xf32>) {
      ^bb0(%a: f16, %b: f16, %o: f32):
        %1 = arith.extf %a : f16 to f32
        %2 = arith.extf %b : f16 to f32
        %3 = arith.mulf %1, %2 : f32
        %4 = arith.addf %o, %3 : f32
        linalg.yield %4 : f32
      }
      return
    }
  }
  module @tuned_1 attributes {tile.chip = "sm_90a", tile.stage = "import"} {
    func.func @tuned_1(%x: memref<512x1024xf16> {tile.role = "in"}, %w: memref<512x1024xf16> {tile.role = "in"}, %r: memref<512x512xf32> {tile.role = "out"}) {
      %zero = arith.constant 0.0 : f32
      linalg.fill ins(%zero : f32) outs(%r : memref<512x512xf32>)
      linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : memref<512x1024xf16>, memref<512x1024xf16>) outs(%r : memref<512x512xf32>) {
      ^bb0(%a: f16, %b: f16, %o: f32):
        %1 = arith.extf %a : f16 to f32
        %2 = arith.extf %b : f16 to f32
        %3 = arith.mulf %1, %2 : f32
        %4 = arith.addf %o, %3 : f32
        linalg.yield %4 : f32
      }
      return
    }
  }
}

// -----

// Another back end.
// CHECK-LABEL: func.func @amd(
// CHECK-NOT: tile.launch_with
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {tile.chip = "gfx942", tile.stage = "import"} {
  func.func @amd(%x0: memref<512x1024xf16> {tile.role = "in"}, %w0: memref<2048x1024xf16> {tile.role = "in"}, %w1: memref<512x1024xf16> {tile.role = "in"}, %r0: memref<512x2048xf32> {tile.role = "result"}, %r1: memref<512x512xf32> {tile.role = "result"}) {
    %a0 = memref.extract_aligned_pointer_as_index %x0 : memref<512x1024xf16> -> index
    %b0 = memref.extract_aligned_pointer_as_index %w0 : memref<2048x1024xf16> -> index
    %c0 = memref.extract_aligned_pointer_as_index %r0 : memref<512x2048xf32> -> index
    "tile.run"(%a0, %b0, %c0) {kernel = "amd_0", operandSegmentSizes = array<i32: 3>} : (index, index, index) -> ()
    %a1 = memref.extract_aligned_pointer_as_index %x0 : memref<512x1024xf16> -> index
    %b1 = memref.extract_aligned_pointer_as_index %w1 : memref<512x1024xf16> -> index
    %c1 = memref.extract_aligned_pointer_as_index %r1 : memref<512x512xf32> -> index
    "tile.run"(%a1, %b1, %c1) {kernel = "amd_1", operandSegmentSizes = array<i32: 3>} : (index, index, index) -> ()
    return
  }
  module @amd_0 attributes {tile.chip = "gfx942", tile.stage = "import"} {
    func.func @amd_0(%x: memref<512x1024xf16> {tile.role = "in"}, %w: memref<2048x1024xf16> {tile.role = "in"}, %r: memref<512x2048xf32> {tile.role = "out"}) {
      %zero = arith.constant 0.0 : f32
      linalg.fill ins(%zero : f32) outs(%r : memref<512x2048xf32>)
      linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : memref<512x1024xf16>, memref<2048x1024xf16>) outs(%r : memref<512x2048xf32>) {
      ^bb0(%a: f16, %b: f16, %o: f32):
        %1 = arith.extf %a : f16 to f32
        %2 = arith.extf %b : f16 to f32
        %3 = arith.mulf %1, %2 : f32
        %4 = arith.addf %o, %3 : f32
        linalg.yield %4 : f32
      }
      return
    }
  }
  module @amd_1 attributes {tile.chip = "gfx942", tile.stage = "import"} {
    func.func @amd_1(%x: memref<512x1024xf16> {tile.role = "in"}, %w: memref<512x1024xf16> {tile.role = "in"}, %r: memref<512x512xf32> {tile.role = "out"}) {
      %zero = arith.constant 0.0 : f32
      linalg.fill ins(%zero : f32) outs(%r : memref<512x512xf32>)
      linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : memref<512x1024xf16>, memref<512x1024xf16>) outs(%r : memref<512x512xf32>) {
      ^bb0(%a: f16, %b: f16, %o: f32):
        %1 = arith.extf %a : f16 to f32
        %2 = arith.extf %b : f16 to f32
        %3 = arith.mulf %1, %2 : f32
        %4 = arith.addf %o, %3 : f32
        linalg.yield %4 : f32
      }
      return
    }
  }
}
