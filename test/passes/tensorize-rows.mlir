// tensorize-rows: a kernel of rows becomes what a block does with a tile of some rows; a second run changes nothing.
// RUN: mlir-gemm opt --split-input-file %s 'tensorize-rows{tile=4,128}' cse | FileCheck %s
// RUN: mlir-gemm opt --split-input-file %s 'tensorize-rows{tile=4,128}' 'tensorize-rows{tile=4,128}' cse | FileCheck %s
// RUN: mlir-gemm opt --split-input-file %s 'tensorize-rows{tile=4,64}' cse | FileCheck %s --check-prefix=PASSES
// RUN: mlir-gemm opt --split-input-file %s 'tensorize-rows{tile=4,16 unroll=3}' cse | FileCheck %s --check-prefix=UNROLL
// RUN: mlir-gemm opt --split-input-file %s 'tensorize-rows{tile=32,16 transposed=true}' cse | FileCheck %s --check-prefix=DOWN
// RUN: mlir-gemm opt --split-input-file %s 'tensorize-rows{tile=4,32 cluster=4}' cse | FileCheck %s --check-prefix=CLUSTER

#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
#n = affine_map<(m, n) -> (n)>

// An RMS norm of rows of 100 elements. A tile that holds whole rows loads each input once; beyond the ends of rows stands
// what adding leaves as it is.
// CHECK-LABEL: func.func @norm(
//       CHECK:   scf.forall (%[[BLOCK:.*]]) in (3) {
//       CHECK:     %[[ROW:.*]] = arith.muli %[[BLOCK]], %c4
//       CHECK:     %[[A:.*]] = "tile.load"(%arg0, %[[ROW]], %c0) {{.*}} -> vector<4x128xf16>
//       CHECK:     %[[X:.*]] = arith.extf %[[A]] : vector<4x128xf16> to vector<4x128xf32>
//       CHECK:     %[[Q:.*]] = arith.mulf %[[X]], %[[X]] : vector<4x128xf32>
//       CHECK:     %[[C:.*]] = "tile.clip"(%[[Q]], %c0, %c100) {dim = 1 : i64, neutral = -0.000000e+00 : f32}
//       CHECK:     %[[S:.*]] = "tile.reduce"(%[[C]]) ({
//       CHECK:       arith.addf
//       CHECK:       "tile.yield"
//       CHECK:     {dim = 1 : i64, {{.*}} (vector<4x128xf32>) -> vector<4x1xf32>
//       CHECK:     %[[F:.*]] = math.rsqrt {{.*}} : vector<4x1xf32>
//       CHECK:     %[[B:.*]] = vector.broadcast %[[F]] : vector<4x1xf32> to vector<4x128xf32>
//       CHECK:     %[[G:.*]] = arith.mulf %[[X]], %[[B]]
//   CHECK-NOT:     "tile.load"(%arg0
//       CHECK:     "tile.store"(%{{.*}}, %arg2, %[[ROW]], %c0)
//       CHECK:   {mapping = [#gpu.block<x>]}

// A tile of fewer elements goes along the rows twice: for the sum, which it carries, and for the results. As far as tiles
// lie within the rows there are no tests.
// PASSES-LABEL: func.func @norm(
//       PASSES:   %[[W:.*]] = scf.for %[[K:.*]] = %c0 to %c64 step %c64 iter_args(%[[OLD:.*]] = %{{.*}}) -> (vector<4x64xf32>) {
//       PASSES:     "tile.load"(%arg0, %{{.*}}, %[[K]]) {{{.*}}in_bounds = array<i1: false, true>
//   PASSES-NOT:     tile.clip
//       PASSES:     %[[NEW:.*]] = arith.addf %[[OLD]], %{{.*}}
//       PASSES:     scf.yield %[[NEW]]
//       PASSES:   %[[S:.*]] = scf.for %[[K:.*]] = %c64 to %c100 step %c64 iter_args(%[[OLD:.*]] = %[[W]]) -> (vector<4x64xf32>) {
//       PASSES:     "tile.load"(%arg0, %{{.*}}, %[[K]])
//       PASSES:     %[[C:.*]] = "tile.clip"(%{{.*}}, %[[K]], %c100) {dim = 1 : i64, neutral = -0.000000e+00 : f32}
//       PASSES:     %[[NEW:.*]] = arith.addf %[[OLD]], %[[C]]
//       PASSES:     scf.yield %[[NEW]]
//       PASSES:   "tile.reduce"(%[[S]])
//       PASSES:   scf.for %[[K:.*]] = %c0 to %c64 step %c64 {
//       PASSES:     "tile.load"(%arg0, %{{.*}}, %[[K]])
//       PASSES:     "tile.store"(%{{.*}}, %arg2, %{{.*}}, %[[K]])
//       PASSES:   scf.for %[[K:.*]] = %c64 to %c100 step %c64 {

// Three tiles in an iteration, of which one is carried; in the second loop all are loaded before the first is stored.
// UNROLL-LABEL: func.func @norm(
//       UNROLL:   scf.for %[[K:.*]] = %c0 to %c96 step %c48 iter_args(%[[OLD:.*]] = %{{.*}}) -> (vector<4x16xf32>) {
// UNROLL-COUNT-3:   "tile.load"(%arg0
//       UNROLL:     %[[NEW:.*]] = arith.addf %[[OLD]]
//       UNROLL:     scf.yield %[[NEW]]
//       UNROLL:   scf.for %{{.*}} = %c96 to %c100 step %c16 iter_args
//       UNROLL:   "tile.reduce"
//       UNROLL:   scf.for %{{.*}} = %c0 to %c96 step %c48 {
// UNROLL-COUNT-3:   "tile.load"(%arg0
// UNROLL-COUNT-3:   "tile.store"(

// Four blocks share four rows: each has the part that its rank numbers, and clips it; what they have is combined.
// CLUSTER-LABEL: func.func @norm(
//       CLUSTER:   scf.forall (%[[NUMBER:.*]]) in (12) {
//       CLUSTER:     %[[BLOCK:.*]] = arith.divui %[[NUMBER]], %c4
//       CLUSTER:     %[[ROW:.*]] = arith.muli %[[BLOCK]], %c4
//       CLUSTER:     %[[RANK:.*]] = "tile.rank"()
//       CLUSTER:     %[[AT:.*]] = arith.muli %[[RANK]], %c32
//       CLUSTER:     "tile.load"(%arg0, %[[ROW]], %[[AT]]) {{.*}} -> vector<4x32xf16>
//       CLUSTER:     "tile.clip"(%{{.*}}, %[[AT]], %c100)
//       CLUSTER:     "tile.reduce"
//       CLUSTER:     {cluster = 4 : i64, dim = 1 : i64
//       CLUSTER:     "tile.store"(%{{.*}}, %arg2, %[[ROW]], %[[AT]])
//       CLUSTER:   {mapping = [#gpu.block<x>], tile.cluster = 4 : i64}

// Rows side by side, their elements down the tile.
// DOWN-LABEL: func.func @norm(
//       DOWN:   "tile.load"(%arg0, {{.*}}) {dims = array<i64: 1, 0>, {{.*}} -> vector<32x16xf16>
//       DOWN:   "tile.reduce"
//       DOWN:   {dim = 0 : i64, {{.*}} (vector<32x16xf32>) -> vector<1x16xf32>
//       DOWN:   "tile.store"({{.*}}) {dims = array<i64: 1, 0>
func.func @norm(%A: memref<10x100xf16>, %W: memref<100xf32>, %R: memref<10x100xf32>) attributes {tile.kind = "rows"} {
  %zero = arith.constant 0.0 : f32
  %s = memref.alloc() : memref<10xf32>
  linalg.fill ins(%zero : f32) outs(%s : memref<10xf32>)
  linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
      ins(%A : memref<10x100xf16>) outs(%s : memref<10xf32>) {
  ^bb0(%x: f16, %a: f32):
    %w = arith.extf %x : f16 to f32
    %q = arith.mulf %w, %w : f32
    %r = arith.addf %q, %a : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#mn, #m, #n, #mn], iterator_types = ["parallel", "parallel"]}
      ins(%A, %s, %W : memref<10x100xf16>, memref<10xf32>, memref<100xf32>) outs(%R : memref<10x100xf32>) {
  ^bb0(%x: f16, %t: f32, %v: f32, %o: f32):
    %w = arith.extf %x : f16 to f32
    %f = math.rsqrt %t : f32
    %g = arith.mulf %w, %f : f32
    %r = arith.mulf %g, %v : f32
    linalg.yield %r : f32
  }
  return
}

// -----

// A function that is no kernel of rows is left alone.
// CHECK-LABEL: func.func @unmarked(
//       CHECK:   linalg.fill
func.func @unmarked(%A: memref<10xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%A : memref<10xf32>)
  return
}
