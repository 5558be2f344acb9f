// elementwise-loops: memory of sizes known at run time only is walked in its order, in vectors where its rows are whole ones.
// RUN: mlir-gemm opt %s share-sizes elementwise-loops | FileCheck %s

// Dense memory of any batch and length, a row later: its rows are whole vectors, and a thread's neighbours are along them.
// CHECK-LABEL: func.func @later(
//       CHECK:   scf.forall (%[[B:.*]], %[[T:.*]], %{{.*}}) in (%{{.*}}, %{{.*}}, 8) {
//       CHECK:     scf.if
//       CHECK:       vector.load %arg0[%{{.*}}, %{{.*}}, %{{.*}}] {alignment = 16 : i64} : memref<?x?x64xf16>, vector<8xf16>
//       CHECK:     vector.store %{{.*}}, %arg1[%[[B]], %[[T]], %{{.*}}] {alignment = 16 : i64} : memref<?x?x64xf16>, vector<8xf16>
func.func @later(%x: memref<?x?x64xf16> {tile.symbols = ["s0", "s1", ""]}, %o: memref<?x?x64xf16> {tile.symbols = ["s0", "s1", ""]}) attributes {tile.kind = "elementwise"} {
  linalg.generic {indexing_maps = [affine_map<(b, t, j) -> (b, t, j)>],
      iterator_types = ["parallel", "parallel", "parallel"]} outs(%o : memref<?x?x64xf16>) {
  ^bb0(%old: f16):
    %one = arith.constant 1 : index
    %b = linalg.index 0 : index
    %t = linalg.index 1 : index
    %j = linalg.index 2 : index
    %at = arith.addi %t, %one : index
    %v = memref.load %x[%b, %at, %j] : memref<?x?x64xf16>
    linalg.yield %v : f16
  }
  return
}
