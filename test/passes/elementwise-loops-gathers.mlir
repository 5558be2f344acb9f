// elementwise-loops: places that are computed, but are neighbours for neighbouring points, are read as vectors.
// RUN: mlir-gemm opt %s elementwise-loops | FileCheck %s

// Each number names a row, of which a thread takes 8 elements.
// CHECK-LABEL: func.func @rows(
//       CHECK:   scf.forall (%{{.*}}, %{{.*}}) in (24, 8) {
//       CHECK:     %[[N:.*]] = memref.load %arg1
//       CHECK:     %[[ROW:.*]] = arith.index_cast %[[N]] : i64 to index
//       CHECK:     %[[V:.*]] = vector.load %arg0[%[[ROW]], %{{.*}}] {alignment = 16 : i64} : memref<16x64xf16>, vector<8xf16>
//       CHECK:     vector.store %[[V]], %arg2
func.func @rows(%x: memref<16x64xf16>, %at: memref<24xi64>, %o: memref<24x64xf16>) attributes {tile.kind = "elementwise"} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%at : memref<24xi64>) outs(%o : memref<24x64xf16>) {
  ^bb0(%n: i64, %old: f16):
    %row = arith.index_cast %n : i64 to index
    %j = linalg.index 1 : index
    %v = memref.load %x[%row, %j] : memref<16x64xf16>
    linalg.yield %v : f16
  }
  return
}

// Places that lie apart, or begin anywhere, are read one by one.
// CHECK-LABEL: func.func @shifted(
//       CHECK:   scf.forall (%{{.*}}, %{{.*}}) in (24, 56) {
//       CHECK:     memref.load %arg0
//   CHECK-NOT:   vector.load
func.func @shifted(%x: memref<24x64xf16>, %o: memref<24x56xf16>) attributes {tile.kind = "elementwise"} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      outs(%o : memref<24x56xf16>) {
  ^bb0(%old: f16):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c3 = arith.constant 3 : index
    %k = arith.addi %j, %c3 : index
    %v = memref.load %x[%i, %k] : memref<24x64xf16>
    linalg.yield %v : f16
  }
  return
}
