// materialize-operand: an operand that is computed from what is in memory is computed once, by a kernel of its own in
// front of the product; a second run changes nothing, and nor does one that names a plain operand.
// RUN: mlir-gemm opt --split-input-file %s 'materialize-operand{b=true}' | FileCheck %s
// RUN: mlir-gemm opt --split-input-file %s 'materialize-operand{a=true b=true}' 'materialize-operand{b=true}' | FileCheck %s
// RUN: mlir-gemm opt --split-input-file %s 'materialize-operand{a=true}' | FileCheck %s --check-prefix=PLAIN

// Bytes times a scale for each row: both are arguments of the new kernel, and none of the product's any more.
// CHECK-DAG: #[[ALL:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0, d1) -> (d0)>
//      CHECK: func.func @scaled(%[[X:.*]]: memref<64x32xf16> {{{.*}}}, %[[W:.*]]: memref<48x32xi8> {{{.*}}}, %[[S:.*]]: memref<48xf16> {{{.*}}}, %[[D:.*]]: memref<64x48xf32>
//      CHECK:   %[[ROOM:.*]] = memref.alloc() : memref<48x32xf16>
//      CHECK:   %[[PW:.*]] = memref.extract_aligned_pointer_as_index %[[W]]
//      CHECK:   %[[PS:.*]] = memref.extract_aligned_pointer_as_index %[[S]]
//      CHECK:   %[[PR:.*]] = memref.extract_aligned_pointer_as_index %[[ROOM]]
//      CHECK:   "tile.run"(%[[PW]], %[[PS]], %[[PR]]) {kernel = "scaled_0_b"
//      CHECK:   %[[PX:.*]] = memref.extract_aligned_pointer_as_index %[[X]]
//      CHECK:   %[[PR:.*]] = memref.extract_aligned_pointer_as_index %[[ROOM]]
//      CHECK:   %[[PD:.*]] = memref.extract_aligned_pointer_as_index %[[D]]
//      CHECK:   "tile.run"(%[[PX]], %[[PR]], %[[PD]]) {kernel = "scaled_0"
//      CHECK: module @scaled_0_b attributes {tile.chip = "sm_90a", tile.note = "operand B of a product is computed here, from i8 and f16 to f16, once: each tile of the product would compute its part again"
//      CHECK:   func.func @scaled_0_b(%[[W:.*]]: memref<48x32xi8> {tile.role = "in"}, %[[S:.*]]: memref<48xf16> {tile.role = "in"}, %[[O:.*]]: memref<48x32xf16> {tile.role = "out"}) attributes {tile.kind = "elementwise"}
//      CHECK:     linalg.generic {indexing_maps = [#[[ALL]], #[[ROW]], #[[ALL]]], iterator_types = ["parallel", "parallel"]} ins(%[[W]], %[[S]]
//      CHECK:       %[[F:.*]] = arith.sitofp
//      CHECK:       %[[M:.*]] = arith.mulf %[[F]]
//      CHECK:       linalg.yield %[[M]] : f16
//      CHECK: module @scaled_0 attributes
//      CHECK:   func.func @scaled_0(%[[X:.*]]: memref<64x32xf16> {tile.role = "in"}, %[[B:.*]]: memref<48x32xf16> {tile.role = "in"}, %[[D:.*]]: memref<64x48xf32> {tile.role = "out"})
//      CHECK:     linalg.generic {{.*}} ins(%[[X]], %[[B]] : memref<64x32xf16>, memref<48x32xf16>)
//      CHECK:       arith.extf
//  CHECK-NOT:       sitofp
//      CHECK:       linalg.yield

// PLAIN-NOT: tile.run
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @scaled(%x: memref<64x32xf16> {tile.role = "in"}, %w: memref<48x32xi8> {tile.role = "in"}, %s: memref<48xf16> {tile.role = "in"}, %d: memref<64x48xf32> {tile.role = "result"}) {
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%d : memref<64x48xf32>)
    linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w, %s : memref<64x32xf16>, memref<48x32xi8>, memref<48xf16>) outs(%d : memref<64x48xf32>) {
    ^bb0(%a: f16, %b: i8, %c: f16, %sum: f32):
      %f = arith.sitofp %b : i8 to f16
      %g = arith.mulf %f, %c : f16
      %l = arith.extf %a : f16 to f32
      %r = arith.extf %g : f16 to f32
      %p = arith.mulf %l, %r : f32
      %t = arith.addf %sum, %p : f32
      linalg.yield %t : f32
    }
    return
  }
}

// -----

// What lies densely is one row of elements for the new kernel. X is read twice: it stays an argument of the product,
// and the buffer is the last one.
//      CHECK: func.func @twice(
//      CHECK:   "tile.run"({{.*}}) {kernel = "twice_0_b", operandSegmentSizes = array<i32: 2>}
//      CHECK:   "tile.run"({{.*}}) {kernel = "twice_0", operandSegmentSizes = array<i32: 3>}
//      CHECK:   func.func @twice_0_b(%{{.*}}: memref<2048xf16> {tile.role = "in"}, %{{.*}}: memref<2048xf16> {tile.role = "out"})
//      CHECK:       arith.negf
//      CHECK:   func.func @twice_0(%[[X:.*]]: memref<64x32xf16> {tile.role = "in"}, %{{.*}}: memref<64x64xf32> {tile.role = "out"}, %[[B:.*]]: memref<64x32xf16> {tile.role = "in"})
//      CHECK:     linalg.generic {{.*}} ins(%[[X]], %[[B]] :
//  CHECK-NOT:       arith.negf
//      CHECK:       linalg.yield
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @twice(%x: memref<64x32xf16> {tile.role = "in"}, %d: memref<64x64xf32> {tile.role = "result"}) {
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%d : memref<64x64xf32>)
    linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %x : memref<64x32xf16>, memref<64x32xf16>) outs(%d : memref<64x64xf32>) {
    ^bb0(%a: f16, %b: f16, %sum: f32):
      %n = arith.negf %b : f16
      %l = arith.extf %a : f16 to f32
      %r = arith.extf %n : f16 to f32
      %p = arith.mulf %l, %r : f32
      %t = arith.addf %sum, %p : f32
      linalg.yield %t : f32
    }
    return
  }
}
