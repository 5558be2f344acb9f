// tensorize-rows: rows of a length that is known at run time only, whose sizes are one value each (share-sizes).
// RUN: mlir-gemm opt %s share-sizes 'tensorize-rows{tile=4,16 unroll=3}' cse | FileCheck %s
// RUN: mlir-gemm opt %s share-sizes 'tensorize-rows{tile=4,16 unroll=3}' 'tensorize-rows{tile=4,16 unroll=3}' cse | FileCheck %s

// As many iterations as lie within a row have no tests, and the last one has.
// CHECK-LABEL: func.func @open(
//       CHECK:   %[[N:.*]] = memref.dim %arg0, %c1
//       CHECK:   %[[WHOLE:.*]] = arith.divui %[[N]], %c48
//       CHECK:   %[[LAST:.*]] = arith.muli %[[WHOLE]], %c48
//       CHECK:   %[[W:.*]] = scf.for %{{.*}} = %c0 to %[[LAST]] step %c48 iter_args
//   CHECK-NOT:     tile.clip
//       CHECK:   scf.for %{{.*}} = %[[LAST]] to %[[N]] step %c48 iter_args(%{{.*}} = %[[W]])
//       CHECK:     tile.clip
//       CHECK:   "tile.reduce"
#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
func.func @open(%A: memref<8x?xf32> {tile.symbols = ["", "s0"]}, %R: memref<8xf32>) attributes {tile.kind = "rows"} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%R : memref<8xf32>)
  linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
    ins(%A : memref<8x?xf32>) outs(%R : memref<8xf32>) {
  ^bb0(%x: f32, %r: f32):
    %s = arith.addf %x, %r : f32
    linalg.yield %s : f32
  }
  return
}
