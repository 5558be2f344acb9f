// select-joins leaves products apart that are faster so, or launched at once, whose schedules are fixed in different ways,
// or as batch_invariant, and those for other back ends.
// RUN: mlir-gemm opt --split-input-file %s select-joins | FileCheck %s
// RUN: mlir-gemm opt --split-input-file %s select-joins select-joins | FileCheck %s
// RUN: not mlir-gemm opt --split-input-file %s 'select-joins{least=2}' 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: error: pass 'select-joins' has no option 'least' (options: most)

// Large ones: either way the tensor cores are busy throughout.
// CHECK-LABEL: func.func @large(
// CHECK-COUNT-2: "tile.run"
// CHECK: module @large_0 attributes {{.*}}tile.note = "not one kernel with large_1, which would take {{[0-9.]+ [a-z]+}}, a kernel for each {{[0-9.]+ [a-z]+}}"
// CHECK: module @large_1
// CHECK-NOT: tile.note
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#e = affine_map<(m, n) -> (m, n)>
#t = affine_map<(m, n) -> (n, m)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @large(%x: memref<8192x4096xf16> {tile.role = "in"}, %g: memref<4096x4096xf16> {tile.role = "in"}, %u: memref<4096x4096xf16> {tile.role = "in"}, %p: memref<8192x4096xf16> {tile.role = "result"}, %r: memref<8192x4096xf16> {tile.role = "result"}) {
    %ax = memref.extract_aligned_pointer_as_index %x : memref<8192x4096xf16> -> index
    %ag = memref.extract_aligned_pointer_as_index %g : memref<4096x4096xf16> -> index
    %au = memref.extract_aligned_pointer_as_index %u : memref<4096x4096xf16> -> index
    %ap = memref.extract_aligned_pointer_as_index %p : memref<8192x4096xf16> -> index
    %ar = memref.extract_aligned_pointer_as_index %r : memref<8192x4096xf16> -> index
    "tile.run"(%ax, %ag, %ap) {kernel = "large_0", operandSegmentSizes = array<i32: 3>} : (index, index, index) -> ()
    "tile.run"(%ax, %au, %ar) {kernel = "large_1", operandSegmentSizes = array<i32: 3>} : (index, index, index) -> ()
    return
  }
  module @large_0 attributes {tile.chip = "sm_90a", tile.stage = "import"} {
    func.func @large_0(%x: memref<8192x4096xf16> {tile.role = "in"}, %w: memref<4096x4096xf16> {tile.role = "in"}, %p: memref<8192x4096xf16> {tile.role = "out"}) {
      %acc = memref.alloc() : memref<8192x4096xf32>
      %zero = arith.constant 0.0 : f32
      linalg.fill ins(%zero : f32) outs(%acc : memref<8192x4096xf32>)
      linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : memref<8192x4096xf16>, memref<4096x4096xf16>) outs(%acc : memref<8192x4096xf32>) {
      ^bb0(%a: f16, %b: f16, %o: f32):
        %1 = arith.extf %a : f16 to f32
        %2 = arith.extf %b : f16 to f32
        %3 = arith.mulf %1, %2 : f32
        %4 = arith.addf %o, %3 : f32
        linalg.yield %4 : f32
      }
      linalg.generic {indexing_maps = [#e, #e], iterator_types = ["parallel", "parallel"]} ins(%acc : memref<8192x4096xf32>) outs(%p : memref<8192x4096xf16>) {
      ^bb0(%a: f32, %o: f16):
        %1 = arith.truncf %a : f32 to f16
        linalg.yield %1 : f16
      }
      return
    }
  }
  module @large_1 attributes {tile.chip = "sm_90a", tile.stage = "import"} {
    func.func @large_1(%x: memref<8192x4096xf16> {tile.role = "in"}, %w: memref<4096x4096xf16> {tile.role = "in"}, %r: memref<8192x4096xf16> {tile.role = "out"}) {
      %acc = memref.alloc() : memref<8192x4096xf32>
      %zero = arith.constant 0.0 : f32
      linalg.fill ins(%zero : f32) outs(%acc : memref<8192x4096xf32>)
      linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : memref<8192x4096xf16>, memref<4096x4096xf16>) outs(%acc : memref<8192x4096xf32>) {
      ^bb0(%a: f16, %b: f16, %o: f32):
        %1 = arith.extf %a : f16 to f32
        %2 = arith.extf %b : f16 to f32
        %3 = arith.mulf %1, %2 : f32
        %4 = arith.addf %o, %3 : f32
        linalg.yield %4 : f32
      }
      linalg.generic {indexing_maps = [#e, #e], iterator_types = ["parallel", "parallel"]} ins(%acc : memref<8192x4096xf32>) outs(%r : memref<8192x4096xf16>) {
      ^bb0(%a: f32, %o: f16):
        %1 = arith.truncf %a : f32 to f16
        linalg.yield %1 : f16
      }
      return
    }
  }
}

// -----

// CHECK-LABEL: func.func @fixed(
// CHECK-COUNT-2: "tile.run"
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#e = affine_map<(m, n) -> (m, n)>
#t = affine_map<(m, n) -> (n, m)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @fixed(%x: memref<512x1024xf16> {tile.role = "in"}, %g: memref<1024x1024xf16> {tile.role = "in"}, %u: memref<1024x1024xf16> {tile.role = "in"}, %p: memref<512x1024xf16> {tile.role = "result"}, %r: memref<512x1024xf16> {tile.role = "result"}) {
    %ax = memref.extract_aligned_pointer_as_index %x : memref<512x1024xf16> -> index
    %ag = memref.extract_aligned_pointer_as_index %g : memref<1024x1024xf16> -> index
    %au = memref.extract_aligned_pointer_as_index %u : memref<1024x1024xf16> -> index
    %ap = memref.extract_aligned_pointer_as_index %p : memref<512x1024xf16> -> index
    %ar = memref.extract_aligned_pointer_as_index %r : memref<512x1024xf16> -> index
    "tile.run"(%ax, %ag, %ap) {kernel = "fixed_0", operandSegmentSizes = array<i32: 3>} : (index, index, index) -> ()
    "tile.run"(%ax, %au, %ar) {kernel = "fixed_1", operandSegmentSizes = array<i32: 3>} : (index, index, index) -> ()
    return
  }
  module @fixed_0 attributes {tile.chip = "sm_90a", tile.stage = "import"} {
    func.func @fixed_0(%x: memref<512x1024xf16> {tile.role = "in"}, %w: memref<1024x1024xf16> {tile.role = "in"}, %p: memref<512x1024xf16> {tile.role = "out"}) attributes {tile.schedule = {stages = 3}} {
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
      linalg.generic {indexing_maps = [#e, #e], iterator_types = ["parallel", "parallel"]} ins(%acc : memref<512x1024xf32>) outs(%p : memref<512x1024xf16>) {
      ^bb0(%a: f32, %o: f16):
        %1 = arith.truncf %a : f32 to f16
        linalg.yield %1 : f16
      }
      return
    }
  }
  module @fixed_1 attributes {tile.chip = "sm_90a", tile.stage = "import"} {
    func.func @fixed_1(%x: memref<512x1024xf16> {tile.role = "in"}, %w: memref<1024x1024xf16> {tile.role = "in"}, %r: memref<512x1024xf16> {tile.role = "out"}) {
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
}

// -----

// CHECK-LABEL: func.func @same(
// CHECK-COUNT-2: "tile.run"
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#e = affine_map<(m, n) -> (m, n)>
#t = affine_map<(m, n) -> (n, m)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @same(%x: memref<512x1024xf16> {tile.role = "in"}, %g: memref<1024x1024xf16> {tile.role = "in"}, %u: memref<1024x1024xf16> {tile.role = "in"}, %p: memref<512x1024xf16> {tile.role = "result"}, %r: memref<512x1024xf16> {tile.role = "result"}) {
    %ax = memref.extract_aligned_pointer_as_index %x : memref<512x1024xf16> -> index
    %ag = memref.extract_aligned_pointer_as_index %g : memref<1024x1024xf16> -> index
    %au = memref.extract_aligned_pointer_as_index %u : memref<1024x1024xf16> -> index
    %ap = memref.extract_aligned_pointer_as_index %p : memref<512x1024xf16> -> index
    %ar = memref.extract_aligned_pointer_as_index %r : memref<512x1024xf16> -> index
    "tile.run"(%ax, %ag, %ap) {kernel = "same_0", operandSegmentSizes = array<i32: 3>} : (index, index, index) -> ()
    "tile.run"(%ax, %au, %ar) {kernel = "same_1", operandSegmentSizes = array<i32: 3>} : (index, index, index) -> ()
    return
  }
  module @same_0 attributes {tile.chip = "sm_90a", tile.stage = "import"} {
    func.func @same_0(%x: memref<512x1024xf16> {tile.role = "in"}, %w: memref<1024x1024xf16> {tile.role = "in"}, %p: memref<512x1024xf16> {tile.role = "out"}) attributes {tile.schedule = {batch_invariant = true}} {
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
      linalg.generic {indexing_maps = [#e, #e], iterator_types = ["parallel", "parallel"]} ins(%acc : memref<512x1024xf32>) outs(%p : memref<512x1024xf16>) {
      ^bb0(%a: f32, %o: f16):
        %1 = arith.truncf %a : f32 to f16
        linalg.yield %1 : f16
      }
      return
    }
  }
  module @same_1 attributes {tile.chip = "sm_90a", tile.stage = "import"} {
    func.func @same_1(%x: memref<512x1024xf16> {tile.role = "in"}, %w: memref<1024x1024xf16> {tile.role = "in"}, %r: memref<512x1024xf16> {tile.role = "out"}) attributes {tile.schedule = {batch_invariant = true}} {
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
}

// -----

// CHECK-LABEL: func.func @amd(
// CHECK-COUNT-2: "tile.run"
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#e = affine_map<(m, n) -> (m, n)>
#t = affine_map<(m, n) -> (n, m)>
module attributes {tile.chip = "mi300x", tile.stage = "import"} {
  func.func @amd(%x: memref<512x1024xf16> {tile.role = "in"}, %g: memref<1024x1024xf16> {tile.role = "in"}, %u: memref<1024x1024xf16> {tile.role = "in"}, %p: memref<512x1024xf16> {tile.role = "result"}, %r: memref<512x1024xf16> {tile.role = "result"}) {
    %ax = memref.extract_aligned_pointer_as_index %x : memref<512x1024xf16> -> index
    %ag = memref.extract_aligned_pointer_as_index %g : memref<1024x1024xf16> -> index
    %au = memref.extract_aligned_pointer_as_index %u : memref<1024x1024xf16> -> index
    %ap = memref.extract_aligned_pointer_as_index %p : memref<512x1024xf16> -> index
    %ar = memref.extract_aligned_pointer_as_index %r : memref<512x1024xf16> -> index
    "tile.run"(%ax, %ag, %ap) {kernel = "amd_0", operandSegmentSizes = array<i32: 3>} : (index, index, index) -> ()
    "tile.run"(%ax, %au, %ar) {kernel = "amd_1", operandSegmentSizes = array<i32: 3>} : (index, index, index) -> ()
    return
  }
  module @amd_0 attributes {tile.chip = "mi300x", tile.stage = "import"} {
    func.func @amd_0(%x: memref<512x1024xf16> {tile.role = "in"}, %w: memref<1024x1024xf16> {tile.role = "in"}, %p: memref<512x1024xf16> {tile.role = "out"}) {
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
      linalg.generic {indexing_maps = [#e, #e], iterator_types = ["parallel", "parallel"]} ins(%acc : memref<512x1024xf32>) outs(%p : memref<512x1024xf16>) {
      ^bb0(%a: f32, %o: f16):
        %1 = arith.truncf %a : f32 to f16
        linalg.yield %1 : f16
      }
      return
    }
  }
  module @amd_1 attributes {tile.chip = "mi300x", tile.stage = "import"} {
    func.func @amd_1(%x: memref<512x1024xf16> {tile.role = "in"}, %w: memref<1024x1024xf16> {tile.role = "in"}, %r: memref<512x1024xf16> {tile.role = "out"}) {
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
}

// -----

// Few rows: launched at once they have the tiles of the transposed products (select-side-by-side).
// CHECK-LABEL: func.func @few(
// CHECK-COUNT-2: "tile.run"
// CHECK-NOT: tile.note
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @few(%x0: memref<16x2048xf16> {tile.role = "in"}, %w0: memref<512x2048xf16> {tile.role = "in"}, %w1: memref<512x2048xf16> {tile.role = "in"}, %r0: memref<16x512xf32> {tile.role = "result"}, %r1: memref<16x512xf32> {tile.role = "result"}) {
    %a0 = memref.extract_aligned_pointer_as_index %x0 : memref<16x2048xf16> -> index
    %b0 = memref.extract_aligned_pointer_as_index %w0 : memref<512x2048xf16> -> index
    %c0 = memref.extract_aligned_pointer_as_index %r0 : memref<16x512xf32> -> index
    "tile.run"(%a0, %b0, %c0) {kernel = "few_0", operandSegmentSizes = array<i32: 3>} : (index, index, index) -> ()
    %a1 = memref.extract_aligned_pointer_as_index %x0 : memref<16x2048xf16> -> index
    %b1 = memref.extract_aligned_pointer_as_index %w1 : memref<512x2048xf16> -> index
    %c1 = memref.extract_aligned_pointer_as_index %r1 : memref<16x512xf32> -> index
    "tile.run"(%a1, %b1, %c1) {kernel = "few_1", operandSegmentSizes = array<i32: 3>} : (index, index, index) -> ()
    return
  }
  module @few_0 attributes {tile.chip = "sm_90a", tile.stage = "import"} {
    func.func @few_0(%x: memref<16x2048xf16> {tile.role = "in"}, %w: memref<512x2048xf16> {tile.role = "in"}, %r: memref<16x512xf32> {tile.role = "out"}) {
      %zero = arith.constant 0.0 : f32
      linalg.fill ins(%zero : f32) outs(%r : memref<16x512xf32>)
      linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : memref<16x2048xf16>, memref<512x2048xf16>) outs(%r : memref<16x512xf32>) {
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
  module @few_1 attributes {tile.chip = "sm_90a", tile.stage = "import"} {
    func.func @few_1(%x: memref<16x2048xf16> {tile.role = "in"}, %w: memref<512x2048xf16> {tile.role = "in"}, %r: memref<16x512xf32> {tile.role = "out"}) {
      %zero = arith.constant 0.0 : f32
      linalg.fill ins(%zero : f32) outs(%r : memref<16x512xf32>)
      linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : memref<16x2048xf16>, memref<512x2048xf16>) outs(%r : memref<16x512xf32>) {
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
