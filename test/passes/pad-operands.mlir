// pad-operands: operands of a product are copied to aligned rows first, by a kernel of their own.
// RUN: mlir-gemm opt --split-input-file %s 'pad-operands{a=mk b=kn}' | FileCheck %s
// RUN: mlir-gemm opt --split-input-file %s 'pad-operands{a=mk b=kn}' 'pad-operands{a=mk b=kn}' | FileCheck %s
// RUN: mlir-gemm opt --split-input-file %s 'pad-operands{b=nk block=16,32,64}' | FileCheck %s --check-prefix=TURNED
// RUN: mlir-gemm opt --split-input-file %s pad-operands | FileCheck %s --check-prefix=NONE

// Rows of 45 and of 29 f16 get places for 48 and 32: multiples of 16 bytes. The function becomes a program.
//      CHECK: module attributes {tile.chip = "sm_90", tile.stage = "import"} {
// CHECK-NEXT:   func.func @f(%[[A:.*]]: memref<37x45xf16> {tile.name = "A", tile.role = "in"}, %[[B:.*]]: memref<45x29xf16> {tile.role = "in"}, %[[D:.*]]: memref<37x29xf32> {tile.role = "result"}) {
//      CHECK:     %[[PA:.*]] = memref.alloc() : memref<37x48xf16>
//      CHECK:     %[[X:.*]] = memref.extract_aligned_pointer_as_index %[[A]]
//      CHECK:     %[[Y:.*]] = memref.extract_aligned_pointer_as_index %[[PA]]
//      CHECK:     "tile.run"(%[[X]], %[[Y]]) {kernel = "f_0_a"
//      CHECK:     %[[PB:.*]] = memref.alloc() : memref<45x32xf16>
//      CHECK:     "tile.run"({{.*}}) {kernel = "f_0_b"
//      CHECK:     %[[X:.*]] = memref.extract_aligned_pointer_as_index %[[PA]]
//      CHECK:     %[[Y:.*]] = memref.extract_aligned_pointer_as_index %[[PB]]
//      CHECK:     %[[Z:.*]] = memref.extract_aligned_pointer_as_index %[[D]]
//      CHECK:     "tile.run"(%[[X]], %[[Y]], %[[Z]]) {kernel = "f_0"
//  CHECK-NOT:     tile.run
//      CHECK:   module @f_0_a attributes {tile.chip = "sm_90", tile.note = "operand A of a product is re-laid out for it: its rows are 90 bytes apart, those of the copy 96, with zeros at their ends", tile.stage = "import"} {
// CHECK-NEXT:     func.func @f_0_a(%[[X:.*]]: memref<37x45xf16> {tile.role = "in"}, %[[Y:.*]]: memref<37x48xf16> {tile.role = "out"}) attributes {tile.kind = "elementwise"} {
//      CHECK:       "tile.copy"(%[[Y]], %[[X]], %{{.*}}, %{{.*}}) {operandSegmentSizes
//      CHECK:   module @f_0_b
//      CHECK:     "tile.copy"
//      CHECK:   module @f_0 attributes {tile.chip = "sm_90", tile.cuts = {f_0_a = "operand A of a product is re-laid out for it: its rows are 90 bytes apart, {{.*}}", f_0_b = "operand B {{.*}}"}, tile.stage = "import"} {
// CHECK-NEXT:     func.func @f_0(%[[A:.*]]: memref<37x45xf16, strided<[48, 1]>> {tile.padded = array<i64: 37, 48>, tile.role = "in"}, %[[B:.*]]: memref<45x29xf16, strided<[32, 1]>> {tile.padded = array<i64: 45, 32>, tile.role = "in"}, %[[D:.*]]: memref<37x29xf32> {tile.role = "out"}) attributes {tile.schedule = {stages = 1 : i64}} {
//      CHECK:       linalg.generic {{.*}} ins(%[[A]], %[[B]] :

// One operand, in another order, in whole tiles of 32 columns and 64 along k.
//      TURNED: affine_map<(d0, d1, d2) -> (d0, d2)>
//      TURNED: affine_map<(d0, d1, d2) -> (d1, d2)>
//      TURNED: %{{.*}} = memref.alloc() : memref<32x64xf16>
//  TURNED-NOT: memref.alloc
//      TURNED: module @f_0_b attributes {{.*}}re-laid out for it, in the order nk:
//      TURNED: "tile.copy"({{.*}}) {dims = array<i64: 1, 0>,
//      TURNED: func.func @f_0(%{{.*}}: memref<37x45xf16> {tile.role = "in"}, %{{.*}}: memref<29x45xf16, strided<[64, 1]>> {tile.padded = array<i64: 32, 64>, tile.role = "in"}

//  NONE-NOT: tile.padded
module attributes {tile.chip = "sm_90", tile.stage = "import"} {
  func.func @f(%A: memref<37x45xf16> {tile.name = "A", tile.role = "in"}, %B: memref<45x29xf16> {tile.role = "in"}, %D: memref<37x29xf32> {tile.role = "result"})
      attributes {tile.schedule = {stages = 1}} {
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%D : memref<37x29xf32>)
    linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%A, %B : memref<37x45xf16>, memref<45x29xf16>) outs(%D : memref<37x29xf32>) {
    ^bb0(%a: f16, %b: f16, %c: f32):
      %x = arith.extf %a : f16 to f32
      %y = arith.extf %b : f16 to f32
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %c, %p : f32
      linalg.yield %s : f32
    }
    return
  }
}

// -----

// In a program, with batches, both factors from one memory, and that as the epilogue's other operand too: it stays, and
// the kernel gets two more arguments. What runs the kernel twice copies twice.
//      CHECK: func.func @main(%[[A:.*]]: memref<2x9x9xf32>,
//      CHECK:   %[[P:.*]] = memref.alloc() : memref<2x9x12xf32>
//      CHECK:   {kernel = "main_0_a"
//      CHECK:   %[[Q:.*]] = memref.alloc() : memref<2x9x12xf32>
//      CHECK:   {kernel = "main_0_b"
//      CHECK:   "tile.run"({{.*}}) {kernel = "main_0", operandSegmentSizes = array<i32: 4>}
//      CHECK:   "tile.run"({{.*}}) {kernel = "main_0_a"
//      CHECK:   "tile.run"({{.*}}) {kernel = "main_0_b"
//      CHECK:   "tile.run"({{.*}}) {kernel = "main_0", operandSegmentSizes = array<i32: 4>}
//      CHECK: func.func @main_0(%[[A:.*]]: memref<2x9x9xf32> {tile.role = "in"}, %[[D:.*]]: memref<2x9x9xf32> {tile.role = "out"}, %[[P:.*]]: memref<2x9x9xf32, strided<[108, 12, 1]>> {tile.padded = array<i64: 2, 9, 12>, tile.role = "in"}, %[[Q:.*]]: memref<2x9x9xf32, strided<[108, 12, 1]>> {tile.padded = array<i64: 2, 9, 12>, tile.role = "in"}) {
//      CHECK:   linalg.generic {{.*}} ins(%[[P]], %[[Q]] :
//      CHECK:   linalg.generic {{.*}} ins(%[[A]] :
func.func @main(%A: memref<2x9x9xf32>, %D: memref<2x9x9xf32>, %E: memref<2x9x9xf32>) {
  %a = memref.extract_aligned_pointer_as_index %A : memref<2x9x9xf32> -> index
  %d = memref.extract_aligned_pointer_as_index %D : memref<2x9x9xf32> -> index
  %e = memref.extract_aligned_pointer_as_index %E : memref<2x9x9xf32> -> index
  "tile.run"(%a, %d) {kernel = "main_0", operandSegmentSizes = array<i32: 2>} : (index, index) -> ()
  "tile.run"(%a, %e) {kernel = "main_0", operandSegmentSizes = array<i32: 2>} : (index, index) -> ()
  return
}
module @main_0 {
  func.func @main_0(%A: memref<2x9x9xf32> {tile.role = "in"}, %D: memref<2x9x9xf32> {tile.role = "out"}) {
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%D : memref<2x9x9xf32>)
    linalg.generic {indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (b, k, n)>, affine_map<(b, m, n, k) -> (b, m, n)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%A, %A : memref<2x9x9xf32>, memref<2x9x9xf32>) outs(%D : memref<2x9x9xf32>) {
    ^bb0(%x: f32, %y: f32, %c: f32):
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %c, %p : f32
      linalg.yield %s : f32
    }
    linalg.generic {indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b, m, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%A : memref<2x9x9xf32>) outs(%D : memref<2x9x9xf32>) {
    ^bb0(%x: f32, %c: f32):
      %s = arith.addf %c, %x : f32
      linalg.yield %s : f32
    }
    return
  }
}
