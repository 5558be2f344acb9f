// combine-in-reader: what combines the parts of rows is done by each block of the elementwise kernel that reads it; a
// second run changes nothing.
// RUN: mlir-gemm opt %s combine-in-reader | FileCheck %s
// RUN: mlir-gemm opt %s combine-in-reader combine-in-reader | FileCheck %s
// RUN: mlir-gemm opt %s combine-in-reader 'tensorize-rows{tile=1,128 part=256}' cse | FileCheck %s --check-prefix=TILES

// One kernel is left beside the one that reduces parts. It combines them in a buffer of its own.
// CHECK-LABEL: func.func @scaled(
//       CHECK:   %[[PARTS:.*]] = memref.alloc() : memref<4x2xf32>
//   CHECK-NOT:   memref.alloc()
//       CHECK:   "tile.run"({{.*}}) {kernel = "scaled_0"
//       CHECK:   %[[P:.*]] = memref.extract_aligned_pointer_as_index %[[PARTS]]
//       CHECK:   %[[A:.*]] = memref.extract_aligned_pointer_as_index %arg0
//       CHECK:   %[[R:.*]] = memref.extract_aligned_pointer_as_index %arg1
//       CHECK:   "tile.run"(%[[P]], %[[A]], %[[R]]) {kernel = "scaled_1"
//   CHECK-NOT: module @scaled_0_sum
//       CHECK: module @scaled_1 attributes {tile.cuts = {scaled_0 = "rows are reduced in 4 parts"}
//  CHECK-SAME:   tile.note = "each block combines the parts of its row first"
//       CHECK:   func.func @scaled_1(%[[P:.*]]: memref<4x2xf32> {tile.role = "in"}, %[[A:.*]]: memref<2x1000xf32> {tile.role = "in"}, %[[R:.*]]: memref<2x1000xf32> {tile.role = "out"})
//  CHECK-SAME:     attributes {tile.kind = "rows", tile.split_k_workspace = 4 : i64}
//       CHECK:     %[[S:.*]] = memref.alloc() : memref<2xf32>
//       CHECK:     linalg.generic {{.*}} ["parallel", "reduction"]} ins(%[[P]] : {{.*}} outs(%[[S]] :
//       CHECK:     linalg.generic {{.*}} ["parallel", "parallel"]} ins(%[[A]], %[[S]] : {{.*}} outs(%[[R]] :

// Four blocks share a row, each with 256 of its elements, which are loaded before the parts are.
// TILES-LABEL: module @scaled_1
//       TILES:   scf.forall (%[[BLOCK:.*]]) in (8) {
//       TILES:     %[[ROW:.*]] = arith.divui %[[BLOCK]], %c4
//       TILES:     %[[NUMBER:.*]] = arith.remui %[[BLOCK]], %c4
//       TILES:     %[[AT:.*]] = arith.muli %[[NUMBER]], %c256
//       TILES:     %[[A:.*]] = "tile.load"(%arg1, %[[ROW]], %[[AT]]) {{.*}} -> vector<1x256xf32>
//       TILES:     %[[P:.*]] = "tile.load"(%arg0, %c0, %[[ROW]]) {{.*}} -> vector<1x128xf32>
//       TILES:     "tile.clip"(%[[P]], %c0, %c4)
//       TILES:     %[[S:.*]] = "tile.reduce"
//       TILES:     %[[SUM:.*]] = arith.addf %{{.*}}, %[[S]] : vector<1x1xf32>
//       TILES:     %[[WIDE:.*]] = vector.broadcast %[[SUM]] : vector<1x1xf32> to vector<1x256xf32>
//       TILES:     %[[D:.*]] = arith.divf %[[A]], %[[WIDE]] : vector<1x256xf32>
//       TILES:     "tile.store"(%[[D]], %arg2, %[[ROW]], %[[AT]])
#parts = affine_map<(d0, d1, d2) -> (d1, d0, d2)>
#each = affine_map<(d0, d1, d2) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>
#row = affine_map<(d0, d1) -> (d0)>
#whole = affine_map<(d0, d1) -> (d0, d1)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @scaled(%A: memref<2x1000xf32> {tile.role = "in"}, %R: memref<2x1000xf32> {tile.role = "out"}) {
    %sums = memref.alloc() : memref<2xf32>
    %parts = memref.alloc() : memref<4x2xf32>
    %a = memref.extract_aligned_pointer_as_index %A : memref<2x1000xf32> -> index
    %p = memref.extract_aligned_pointer_as_index %parts : memref<4x2xf32> -> index
    %s = memref.extract_aligned_pointer_as_index %sums : memref<2xf32> -> index
    %r = memref.extract_aligned_pointer_as_index %R : memref<2x1000xf32> -> index
    "tile.run"(%a, %p) {kernel = "scaled_0", operandSegmentSizes = array<i32: 2>} : (index, index) -> ()
    "tile.run"(%p, %s) {kernel = "scaled_0_sum", operandSegmentSizes = array<i32: 2>} : (index, index) -> ()
    "tile.run"(%a, %s, %r) {kernel = "scaled_1", operandSegmentSizes = array<i32: 3>} : (index, index, index) -> ()
    return
  }
  module @scaled_0 {
    func.func @scaled_0(%A: memref<2x4x250xf32> {tile.role = "in"}, %P: memref<4x2xf32> {tile.role = "out"}) attributes {tile.kind = "rows", tile.split_k_workspace = 4 : i64} {
      %zero = arith.constant -0.0 : f32
      linalg.fill ins(%zero : f32) outs(%P : memref<4x2xf32>)
      linalg.generic {indexing_maps = [#parts, #each], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%A : memref<2x4x250xf32>) outs(%P : memref<4x2xf32>) {
      ^bb0(%x: f32, %a: f32):
        %s = arith.addf %x, %a : f32
        linalg.yield %s : f32
      }
      return
    }
  }
  module @scaled_0_sum attributes {tile.cuts = {scaled_0 = "rows are reduced in 4 parts"}} {
    func.func @scaled_0_sum(%P: memref<4x2xf32> {tile.role = "in"}, %S: memref<2xf32> {tile.role = "out"}) attributes {tile.kind = "rows", tile.split_k_workspace = 4 : i64} {
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
  module @scaled_1 attributes {tile.cuts = {scaled_0 = "rows are few and long"}} {
    func.func @scaled_1(%A: memref<2x1000xf32> {tile.role = "in"}, %S: memref<2xf32> {tile.role = "in"}, %R: memref<2x1000xf32> {tile.role = "out"}) attributes {tile.kind = "elementwise"} {
      linalg.generic {indexing_maps = [#whole, #row, #whole], iterator_types = ["parallel", "parallel"]}
          ins(%A, %S : memref<2x1000xf32>, memref<2xf32>) outs(%R : memref<2x1000xf32>) {
      ^bb0(%x: f32, %s: f32, %o: f32):
        %q = arith.divf %x, %s : f32
        linalg.yield %q : f32
      }
      return
    }
  }
}
