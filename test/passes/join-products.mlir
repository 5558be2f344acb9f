// join-products: products of the same A become one kernel, which keeps for itself what only it reads.
// RUN: mlir-gemm opt --split-input-file %s 'join-products{kernels=f_0,f_1}' | FileCheck %s

// A gated product: the first result is the kernel's own memory.
// CHECK-LABEL: func.func @f(
//   CHECK-NOT:   memref.alloc
//       CHECK:   "tile.run"({{.*}}) {kernel = "f_0", operandSegmentSizes = array<i32: 4>}
//   CHECK-NOT:   tile.run
//       CHECK: module @f_0 attributes {{.*}}tile.note = "one kernel multiplies its A by 2 matrices: f_0, f_1"
//   CHECK-NOT: tile.cuts
//       CHECK:   func.func @f_0(%[[X:.*]]: memref<64x32xf16> {tile.role = "in"}, %[[G:.*]]: memref<48x32xf16> {tile.role = "in"}, %[[U:.*]]: memref<48x32xf16> {tile.role = "in"}, %[[R:.*]]: memref<64x48xf16> {tile.role = "out"})
//       CHECK:     %[[P:.*]] = memref.alloc() : memref<64x48xf32>
//       CHECK:     linalg.fill {{.*}} outs(%[[P]] :
//       CHECK:     %[[Q:.*]] = memref.alloc() : memref<64x48xf32>
//       CHECK:     linalg.fill {{.*}} outs(%[[Q]] :
//       CHECK:     linalg.generic {{.*}} ins(%[[X]], %[[G]] : {{.*}}) outs(%[[P]] :
//       CHECK:     linalg.generic {{.*}} ins(%[[X]], %[[U]] : {{.*}}) outs(%[[Q]] :
//       CHECK:     linalg.generic {{.*}} ins(%[[P]], %[[Q]] : {{.*}}) outs(%[[R]] :
//   CHECK-NOT: module @f_1
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#e = affine_map<(m, n) -> (m, n)>
#t = affine_map<(m, n) -> (n, m)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @f(%x: memref<64x32xf16> {tile.role = "in"}, %g: memref<48x32xf16> {tile.role = "in"}, %u: memref<48x32xf16> {tile.role = "in"}, %r: memref<64x48xf16> {tile.role = "result"}) {
    %p = memref.alloc() : memref<64x48xf32>
    %ax = memref.extract_aligned_pointer_as_index %x : memref<64x32xf16> -> index
    %ag = memref.extract_aligned_pointer_as_index %g : memref<48x32xf16> -> index
    %au = memref.extract_aligned_pointer_as_index %u : memref<48x32xf16> -> index
    %ap = memref.extract_aligned_pointer_as_index %p : memref<64x48xf32> -> index
    %ar = memref.extract_aligned_pointer_as_index %r : memref<64x48xf16> -> index
    "tile.run"(%ax, %ag, %ap) {kernel = "f_0", operandSegmentSizes = array<i32: 3>} : (index, index, index) -> ()
    "tile.run"(%ax, %au, %ap, %ar) {kernel = "f_1", operandSegmentSizes = array<i32: 4>} : (index, index, index, index) -> ()
    return
  }
  module @f_0 attributes {tile.chip = "sm_90a", tile.stage = "import"} {
    func.func @f_0(%x: memref<64x32xf16> {tile.role = "in"}, %w: memref<48x32xf16> {tile.role = "in"}, %p: memref<64x48xf32> {tile.role = "out"}) {
      %zero = arith.constant 0.0 : f32
      linalg.fill ins(%zero : f32) outs(%p : memref<64x48xf32>)
      linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : memref<64x32xf16>, memref<48x32xf16>) outs(%p : memref<64x48xf32>) {
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
  module @f_1 attributes {tile.chip = "sm_90a", tile.cuts = {f_0 = "it is read after the product, with the elements of the result"}, tile.stage = "import"} {
    func.func @f_1(%x: memref<64x32xf16> {tile.role = "in"}, %w: memref<48x32xf16> {tile.role = "in"}, %p: memref<64x48xf32> {tile.role = "in"}, %r: memref<64x48xf16> {tile.role = "out"}) {
      %acc = memref.alloc() : memref<64x48xf32>
      %zero = arith.constant 0.0 : f32
      linalg.fill ins(%zero : f32) outs(%acc : memref<64x48xf32>)
      linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : memref<64x32xf16>, memref<48x32xf16>) outs(%acc : memref<64x48xf32>) {
      ^bb0(%a: f16, %b: f16, %o: f32):
        %1 = arith.extf %a : f16 to f32
        %2 = arith.extf %b : f16 to f32
        %3 = arith.mulf %1, %2 : f32
        %4 = arith.addf %o, %3 : f32
        linalg.yield %4 : f32
      }
      linalg.generic {indexing_maps = [#e, #e, #e], iterator_types = ["parallel", "parallel"]} ins(%p, %acc : memref<64x48xf32>, memref<64x48xf32>) outs(%r : memref<64x48xf16>) {
      ^bb0(%a: f32, %b: f32, %o: f16):
        %1 = arith.mulf %a, %b : f32
        %2 = arith.truncf %1 : f32 to f16
        linalg.yield %2 : f16
      }
      return
    }
  }
}

// -----

// Keys and values: both are results.
// CHECK-LABEL: func.func @f(
//       CHECK:   "tile.run"({{.*}}) {kernel = "f_0", operandSegmentSizes = array<i32: 5>}
//   CHECK-NOT:   tile.run
//       CHECK:   func.func @f_0({{.*}}, %[[K:.*]]: memref<64x48xf16> {tile.role = "out"}, %[[V:.*]]: memref<64x48xf16> {tile.role = "out"})
//       CHECK:     linalg.generic {{.*}} outs(%[[K]] :
//       CHECK:     linalg.generic {{.*}} outs(%[[V]] :
//   CHECK-NOT: module @f_1
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#e = affine_map<(m, n) -> (m, n)>
#t = affine_map<(m, n) -> (n, m)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @f(%x: memref<64x32xf16> {tile.role = "in"}, %g: memref<48x32xf16> {tile.role = "in"}, %u: memref<48x32xf16> {tile.role = "in"}, %p: memref<64x48xf16> {tile.role = "result"}, %r: memref<64x48xf16> {tile.role = "result"}) {
    %ax = memref.extract_aligned_pointer_as_index %x : memref<64x32xf16> -> index
    %ag = memref.extract_aligned_pointer_as_index %g : memref<48x32xf16> -> index
    %au = memref.extract_aligned_pointer_as_index %u : memref<48x32xf16> -> index
    %ap = memref.extract_aligned_pointer_as_index %p : memref<64x48xf16> -> index
    %ar = memref.extract_aligned_pointer_as_index %r : memref<64x48xf16> -> index
    "tile.run"(%ax, %ag, %ap) {kernel = "f_0", operandSegmentSizes = array<i32: 3>} : (index, index, index) -> ()
    "tile.run"(%ax, %au, %ar) {kernel = "f_1", operandSegmentSizes = array<i32: 3>} : (index, index, index) -> ()
    return
  }
  module @f_0 attributes {tile.chip = "sm_90a", tile.stage = "import"} {
    func.func @f_0(%x: memref<64x32xf16> {tile.role = "in"}, %w: memref<48x32xf16> {tile.role = "in"}, %p: memref<64x48xf16> {tile.role = "out"}) {
      %acc = memref.alloc() : memref<64x48xf32>
      %zero = arith.constant 0.0 : f32
      linalg.fill ins(%zero : f32) outs(%acc : memref<64x48xf32>)
      linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : memref<64x32xf16>, memref<48x32xf16>) outs(%acc : memref<64x48xf32>) {
      ^bb0(%a: f16, %b: f16, %o: f32):
        %1 = arith.extf %a : f16 to f32
        %2 = arith.extf %b : f16 to f32
        %3 = arith.mulf %1, %2 : f32
        %4 = arith.addf %o, %3 : f32
        linalg.yield %4 : f32
      }
      linalg.generic {indexing_maps = [#e, #e], iterator_types = ["parallel", "parallel"]} ins(%acc : memref<64x48xf32>) outs(%p : memref<64x48xf16>) {
      ^bb0(%a: f32, %o: f16):
        %1 = arith.truncf %a : f32 to f16
        linalg.yield %1 : f16
      }
      return
    }
  }
  module @f_1 attributes {tile.chip = "sm_90a", tile.stage = "import"} {
    func.func @f_1(%x: memref<64x32xf16> {tile.role = "in"}, %w: memref<48x32xf16> {tile.role = "in"}, %r: memref<64x48xf16> {tile.role = "out"}) {
      %acc = memref.alloc() : memref<64x48xf32>
      %zero = arith.constant 0.0 : f32
      linalg.fill ins(%zero : f32) outs(%acc : memref<64x48xf32>)
      linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : memref<64x32xf16>, memref<48x32xf16>) outs(%acc : memref<64x48xf32>) {
      ^bb0(%a: f16, %b: f16, %o: f32):
        %1 = arith.extf %a : f16 to f32
        %2 = arith.extf %b : f16 to f32
        %3 = arith.mulf %1, %2 : f32
        %4 = arith.addf %o, %3 : f32
        linalg.yield %4 : f32
      }
      linalg.generic {indexing_maps = [#e, #e], iterator_types = ["parallel", "parallel"]} ins(%acc : memref<64x48xf32>) outs(%r : memref<64x48xf16>) {
      ^bb0(%a: f32, %o: f16):
        %1 = arith.truncf %a : f32 to f16
        linalg.yield %1 : f16
      }
      return
    }
  }
}
