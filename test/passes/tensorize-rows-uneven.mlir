// tensorize-rows, where blocks of a cluster have a tile less than others: they compute nothing in its place.
// RUN: mlir-gemm opt %s 'tensorize-rows{tile=1,32 shift=8 staged=true unroll=3 cluster=2}' cse | FileCheck %s
// RUN: mlir-gemm opt %s 'tensorize-rows{tile=1,32 shift=8 staged=true unroll=2 cluster=2}' cse | FileCheck %s --check-prefix=EVEN

#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>

// Two blocks share rows of 149 elements, in three tiles of 32 each: the second one's last tile begins at 160, less up to
// 7. All three are loaded, as loads beyond a row touch no memory; the last is used where it begins in the row.
// CHECK-LABEL: func.func @norm(
//       CHECK:   scf.for
// CHECK-COUNT-3:   "tile.load"(%arg0
// CHECK-COUNT-3:   "tile.store"({{.*}}memref<1x96xf16, 3>
//       CHECK:     %[[FIRST:.*]] = "tile.clip"
//       CHECK:     %[[SECOND:.*]] = "tile.clip"
//       CHECK:     %[[BOTH:.*]] = arith.addf %[[FIRST]], %[[SECOND]]
//       CHECK:     %[[WITHIN:.*]] = arith.cmpi slt, %{{.*}}, %c149
//       CHECK:     %[[LAST:.*]] = scf.if %[[WITHIN]] -> (vector<1x32xf32>) {
//       CHECK:       "tile.clip"
//       CHECK:     } else {
//       CHECK:       scf.yield %cst
//       CHECK:     }
//       CHECK:     arith.addf %[[BOTH]], %[[LAST]]
//       CHECK:   "tile.reduce"
//       CHECK:   scf.for
// CHECK-COUNT-2:   "tile.store"({{.*}}memref<9x149xf16>
//       CHECK:     arith.cmpi slt, %{{.*}}, %c149
//       CHECK:     scf.if
//       CHECK:       "tile.load"({{.*}}memref<1x96xf16, 3>
//       CHECK:       "tile.store"({{.*}}memref<9x149xf16>

// A row takes two iterations of two tiles: which tiles end it is not the same in both.
// EVEN-LABEL: func.func @norm(
//   EVEN-NOT:   scf.if
//       EVEN:   return
func.func @norm(%A: memref<9x149xf16>, %R: memref<9x149xf16>) attributes {tile.kind = "rows"} {
  %zero = arith.constant 0.0 : f32
  %s = memref.alloc() : memref<9xf32>
  linalg.fill ins(%zero : f32) outs(%s : memref<9xf32>)
  linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
      ins(%A : memref<9x149xf16>) outs(%s : memref<9xf32>) {
  ^bb0(%x: f16, %a: f32):
    %w = arith.extf %x : f16 to f32
    %r = arith.addf %w, %a : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#mn, #m, #mn], iterator_types = ["parallel", "parallel"]}
      ins(%A, %s : memref<9x149xf16>, memref<9xf32>) outs(%R : memref<9x149xf16>) {
  ^bb0(%x: f16, %v: f32, %o: f16):
    %w = arith.extf %x : f16 to f32
    %g = arith.mulf %w, %v : f32
    %h = arith.truncf %g : f32 to f16
    linalg.yield %h : f16
  }
  return
}
