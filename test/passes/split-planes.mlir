// split-planes: vectors of whole elements are accesses of every plane; single numbers choose theirs.
// RUN: mlir-gemm opt %s split-planes cse | FileCheck %s
// RUN: mlir-gemm opt %s split-planes split-planes cse | FileCheck %s

// CHECK-LABEL: func.func @accesses(%arg0: memref<8x32xf16>, %arg1: memref<8x32xf16>, %arg2: index, %arg3: vector<2xf16>, %arg4: f16)
//   CHECK-NOT:   tile.planes
//       CHECK:   %[[AT:.*]] = arith.divui %c8, %c2
//       CHECK:   %[[L0:.*]] = vector.load %arg0[%arg2, %[[AT]]] {alignment = 8 : i64} : memref<8x32xf16>, vector<4xf16>
//       CHECK:   %[[X0:.*]] = vector.extract %[[L0]][0]
//       CHECK:   %[[L1:.*]] = vector.load %arg1[%arg2, %[[AT]]] {alignment = 8 : i64} : memref<8x32xf16>, vector<4xf16>
//       CHECK:   %[[Y0:.*]] = vector.extract %[[L1]][0]
//       CHECK:   vector.from_elements %[[X0]], %[[Y0]],
//       CHECK:   %[[HERE:.*]] = arith.divui %arg2, %c2
//       CHECK:   %[[S0:.*]] = memref.load %arg0[%arg2, %[[HERE]]]
//       CHECK:   %[[S1:.*]] = memref.load %arg1[%arg2, %[[HERE]]]
//       CHECK:   %[[FIRST:.*]] = arith.cmpi eq
//       CHECK:   arith.select %[[FIRST]], %[[S0]], %[[S1]]
//       CHECK:   memref.store %{{.*}}, %arg0[%arg2, %[[AT]]]
//       CHECK:   memref.store %{{.*}}, %arg1[%arg2, %[[AT]]]
//       CHECK:   scf.if %[[FIRST]]
//       CHECK:     memref.store %arg4, %arg0
//       CHECK:   scf.if
//       CHECK:     memref.store %arg4, %arg1
func.func @accesses(%A0: memref<8x32xf16>, %A1: memref<8x32xf16>, %i: index, %x: vector<2xf16>, %y: f16) -> (vector<8xf16>, f16) {
  %a = "tile.planes"(%A0, %A1) : (memref<8x32xf16>, memref<8x32xf16>) -> memref<8x64xf16>
  %c8 = arith.constant 8 : index
  %wide = vector.load %a[%i, %c8] {alignment = 16 : i64} : memref<8x64xf16>, vector<8xf16>
  %one = memref.load %a[%i, %i] : memref<8x64xf16>
  vector.store %x, %a[%i, %c8] {alignment = 4 : i64} : memref<8x64xf16>, vector<2xf16>
  memref.store %y, %a[%c8, %i] : memref<8x64xf16>
  return %wide, %one : vector<8xf16>, f16
}
