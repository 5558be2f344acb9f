// tensorize-rows, where blocks that share a row exchange at once what two reductions find, of which the second is around
// the first's result: each takes a pivot of its own part. A second run changes nothing.
// RUN: mlir-gemm opt %s 'tensorize-rows{tile=1,32 grid=4 paired=true}' cse | FileCheck %s
// RUN: mlir-gemm opt %s 'tensorize-rows{tile=1,32 grid=4 paired=true}' 'tensorize-rows{tile=1,32 grid=4 paired=true}' cse | FileCheck %s
// RUN: mlir-gemm opt %s 'tensorize-rows{tile=1,32 cluster=4 paired=true}' cse | FileCheck %s --check-prefix=CLUSTER

#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>

// The maximum of a block's part, or 0 where that is -inf, is what its exponentials are less by; both are combined at once,
// and what a block holds of its exponentials is scaled.
// CHECK-LABEL: func.func @softmax(
//       CHECK:   memref.alloc() {tile.scratch = "words"} : memref<10x4x2xi64>
//   CHECK-NOT:   tile.scratch
//       CHECK:   %[[X:.*]] = "tile.load"(%arg0
//       CHECK:   %[[OWN:.*]] = "tile.reduce"
//       CHECK:     arith.maximumf
//       CHECK:   %[[NONE:.*]] = arith.cmpf oeq, %[[OWN]]
//       CHECK:   %[[PIVOT:.*]] = arith.select %[[NONE]], %{{.*}}, %[[OWN]]
//       CHECK:   %[[WIDE:.*]] = vector.broadcast %[[PIVOT]]
//       CHECK:   %[[D:.*]] = arith.subf %[[X]], %[[WIDE]]
//       CHECK:   %[[E:.*]] = math.exp %[[D]]
//       CHECK:   %[[SUM:.*]] = "tile.reduce"
//       CHECK:     arith.addf
//       CHECK:   %[[ALL:.*]]:2 = "tile.grid_reduce"(%{{.*}}, %{{.*}}, %{{.*}}, %[[OWN]], %[[SUM]]) ({
//       CHECK:     arith.maximumf
//       CHECK:     math.exp
//       CHECK:   %[[NAN:.*]] = arith.subf %[[ALL]]#0, %[[ALL]]#0
//       CHECK:   %[[S:.*]] = arith.addf %[[ALL]]#1, %[[NAN]]
//       CHECK:   %[[LESS:.*]] = arith.subf %[[OWN]], %[[ALL]]#0
//       CHECK:   %[[FACTOR:.*]] = math.exp %[[LESS]]
//       CHECK:   %[[F:.*]] = vector.broadcast %[[FACTOR]]
//       CHECK:   %[[SCALED:.*]] = arith.mulf %[[E]], %[[F]]
//   CHECK-NOT:   math.exp
//       CHECK:   arith.divf %[[SCALED]]

// Squares around the mean of a block's part: its sum as if the whole row was like it, divided by the row's length.
// CHECK-LABEL: func.func @norm(
//       CHECK:   memref.alloc() {tile.scratch = "words"} : memref<10x4x3xi64>
//   CHECK-NOT:   tile.scratch
//       CHECK:   %[[X:.*]] = "tile.load"(%arg0
//       CHECK:   %[[OWN:.*]] = "tile.reduce"
//       CHECK:   arith.maxui
//       CHECK:   arith.minui
//       CHECK:   %[[SHARE:.*]] = vector.broadcast
//       CHECK:   %[[BOUND:.*]] = arith.maxnumf %[[SHARE]]
//       CHECK:   %[[TOTAL:.*]] = arith.divf %[[OWN]], %[[BOUND]] fastmath<afn>
//       CHECK:   %[[MEAN:.*]] = arith.divf %[[TOTAL]], %[[N:.*]] : vector<1x1xf32>
//       CHECK:   %[[P:.*]] = vector.broadcast %[[MEAN]]
//       CHECK:   %[[D:.*]] = arith.subf %[[X]], %[[P]]
//       CHECK:   arith.mulf %[[D]], %[[D]]
//       CHECK:   %[[SQUARES:.*]] = "tile.reduce"
//       CHECK:   %[[ALL:.*]]:3 = "tile.grid_reduce"(%{{.*}}, %{{.*}}, %{{.*}}, %[[SHARE]], %[[OWN]], %[[SQUARES]]) ({
//       CHECK:     arith.divf %{{.*}}, %{{.*}} fastmath<afn> : f32
//       CHECK:   %[[SUM:.*]] = arith.addf %{{.*}}, %[[ALL]]#1
//       CHECK:   %[[VAR:.*]] = arith.addf %{{.*}}, %[[ALL]]#2
//       CHECK:   %[[M:.*]] = arith.divf %[[SUM]], %[[N]]
//       CHECK:   %[[C:.*]] = vector.broadcast %[[M]]
//       CHECK:   arith.subf %[[X]], %[[C]]
//       CHECK:   math.rsqrt %[[VAR]]

// A cluster's blocks combine what each has found by a tile.reduce of that alone.
// CLUSTER-LABEL: func.func @norm(
//       CLUSTER:   "tile.reduce"(%{{.*}}, %{{.*}}, %{{.*}}) ({
//       CLUSTER:   {cluster = 4 : i64, dim = 1 : i64, {{.*}}} : (vector<1x1xf32>, vector<1x1xf32>, vector<1x1xf32>)
//   CLUSTER-NOT:   cluster = 4 : i64, dim
func.func @softmax(%A: memref<10x100xf32>, %R: memref<10x100xf32>) attributes {tile.kind = "rows"} {
  %least = arith.constant 0xFF800000 : f32
  %most = memref.alloc() : memref<10xf32>
  linalg.fill ins(%least : f32) outs(%most : memref<10xf32>)
  linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
      ins(%A : memref<10x100xf32>) outs(%most : memref<10xf32>) {
  ^bb0(%x: f32, %a: f32):
    %r = arith.maximumf %x, %a : f32
    linalg.yield %r : f32
  }
  %e = memref.alloc() : memref<10x100xf32>
  linalg.generic {indexing_maps = [#mn, #m, #mn], iterator_types = ["parallel", "parallel"]}
      ins(%A, %most : memref<10x100xf32>, memref<10xf32>) outs(%e : memref<10x100xf32>) {
  ^bb0(%x: f32, %t: f32, %o: f32):
    %d = arith.subf %x, %t : f32
    %r = math.exp %d : f32
    linalg.yield %r : f32
  }
  %zero = arith.constant 0.0 : f32
  %s = memref.alloc() : memref<10xf32>
  linalg.fill ins(%zero : f32) outs(%s : memref<10xf32>)
  linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
      ins(%e : memref<10x100xf32>) outs(%s : memref<10xf32>) {
  ^bb0(%x: f32, %a: f32):
    %r = arith.addf %x, %a : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#mn, #m, #mn], iterator_types = ["parallel", "parallel"]}
      ins(%e, %s : memref<10x100xf32>, memref<10xf32>) outs(%R : memref<10x100xf32>) {
  ^bb0(%x: f32, %t: f32, %o: f32):
    %g = arith.divf %x, %t : f32
    linalg.yield %g : f32
  }
  return
}

func.func @norm(%A: memref<10x100xf32>, %R: memref<10x100xf32>) attributes {tile.kind = "rows"} {
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloc() : memref<10xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<10xf32>)
  linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
      ins(%A : memref<10x100xf32>) outs(%sum : memref<10xf32>) {
  ^bb0(%x: f32, %a: f32):
    %r = arith.addf %x, %a : f32
    linalg.yield %r : f32
  }
  %d = memref.alloc() : memref<10x100xf32>
  linalg.generic {indexing_maps = [#mn, #m, #mn], iterator_types = ["parallel", "parallel"]}
      ins(%A, %sum : memref<10x100xf32>, memref<10xf32>) outs(%d : memref<10x100xf32>) {
  ^bb0(%x: f32, %t: f32, %o: f32):
    %c = arith.constant 100.0 : f32
    %mean = arith.divf %t, %c : f32
    %r = arith.subf %x, %mean : f32
    linalg.yield %r : f32
  }
  %squares = memref.alloc() : memref<10xf32>
  linalg.fill ins(%zero : f32) outs(%squares : memref<10xf32>)
  linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
      ins(%d : memref<10x100xf32>) outs(%squares : memref<10xf32>) {
  ^bb0(%x: f32, %a: f32):
    %q = arith.mulf %x, %x : f32
    %r = arith.addf %q, %a : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#mn, #m, #mn], iterator_types = ["parallel", "parallel"]}
      ins(%d, %squares : memref<10x100xf32>, memref<10xf32>) outs(%R : memref<10x100xf32>) {
  ^bb0(%x: f32, %t: f32, %o: f32):
    %f = math.rsqrt %t : f32
    %g = arith.mulf %x, %f : f32
    linalg.yield %g : f32
  }
  return
}
