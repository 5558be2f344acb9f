// select-joins: the model says which products of the same A are one kernel; a second run changes nothing.
// RUN: mlir-gemm opt --split-input-file %s select-joins | FileCheck %s
// RUN: mlir-gemm opt --split-input-file %s select-joins select-joins | FileCheck %s

// Keys and values of few rows: tiles of both are enough for more SMs.
// CHECK-LABEL: func.func @kv(
//       CHECK:   "tile.run"({{.*}}) {kernel = "kv_0", operandSegmentSizes = array<i32: 5>}
//   CHECK-NOT:   tile.run
//       CHECK: module @kv_0 attributes {{.*}}tile.note = "one kernel multiplies its A by 2 matrices: kv_0, kv_1; it is predicted to take {{.*}} us, a kernel for each {{.*}} us"
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#e = affine_map<(m, n) -> (m, n)>
#t = affine_map<(m, n) -> (n, m)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @kv(%x: memref<512x1024xf16> {tile.role = "in"}, %g: memref<1024x1024xf16> {tile.role = "in"}, %u: memref<1024x1024xf16> {tile.role = "in"}, %p: memref<512x1024xf16> {tile.role = "result"}, %r: memref<512x1024xf16> {tile.role = "result"}) {
    %ax = memref.extract_aligned_pointer_as_index %x : memref<512x1024xf16> -> index
    %ag = memref.extract_aligned_pointer_as_index %g : memref<1024x1024xf16> -> index
    %au = memref.extract_aligned_pointer_as_index %u : memref<1024x1024xf16> -> index
    %ap = memref.extract_aligned_pointer_as_index %p : memref<512x1024xf16> -> index
    %ar = memref.extract_aligned_pointer_as_index %r : memref<512x1024xf16> -> index
    "tile.run"(%ax, %ag, %ap) {kernel = "kv_0", operandSegmentSizes = array<i32: 3>} : (index, index, index) -> ()
    "tile.run"(%ax, %au, %ar) {kernel = "kv_1", operandSegmentSizes = array<i32: 3>} : (index, index, index) -> ()
    return
  }
  module @kv_0 attributes {tile.chip = "sm_90a", tile.stage = "import"} {
    func.func @kv_0(%x: memref<512x1024xf16> {tile.role = "in"}, %w: memref<1024x1024xf16> {tile.role = "in"}, %p: memref<512x1024xf16> {tile.role = "out"}) {
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
  module @kv_1 attributes {tile.chip = "sm_90a", tile.stage = "import"} {
    func.func @kv_1(%x: memref<512x1024xf16> {tile.role = "in"}, %w: memref<1024x1024xf16> {tile.role = "in"}, %r: memref<512x1024xf16> {tile.role = "out"}) {
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
