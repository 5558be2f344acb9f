// fill-masked: what the mask selects is stored at the mirror of each tile; a second run changes nothing.
// RUN: mlir-gemm opt %s fill-masked cse | FileCheck %s
// RUN: mlir-gemm opt %s fill-masked cse fill-masked | FileCheck %s
// RUN: mlir-gemm opt %s 'fill-masked{half=upper}' cse | FileCheck %s --check-prefix=HALF

// Clusters have tiles on the other side of the diagonal too, here below it: those are stored nowhere.
// HALF-LABEL: func.func @causal(
//       HALF:   scf.parallel (%[[I:.*]], %[[J:.*]]) =
//       HALF:     %[[COLUMN:.*]] = arith.muli %[[J]], %{{.*}} : index
//       HALF:     %[[BELOW:.*]] = arith.cmpi ult, %[[J]], %[[I]] : index
//       HALF:     %[[OWN:.*]] = arith.select %[[BELOW]], %{{.*}}, %[[COLUMN]] : index
//       HALF:     "tile.store"(%{{.*}}, %{{.*}}, %{{.*}}, %[[OWN]]) {in_bounds = array<i1: true, false>
//       HALF:     arith.cmpi ule, %[[J]], %[[I]] : index

// CHECK-LABEL: func.func @causal(
//       CHECK:   %[[NONE:.*]] = arith.constant dense<-1.000000e+09> : vector<32x32xf32>
//       CHECK:   scf.parallel (%[[I:.*]], %[[J:.*]]) =
//       CHECK:     %[[ROW:.*]] = arith.muli %[[I]], %{{.*}} : index
//       CHECK:     %[[COLUMN:.*]] = arith.muli %[[J]], %{{.*}} : index
//       CHECK:     "tile.store"(%{{.*}}, %[[D:.*]], %[[ROW]], %[[COLUMN]])
//       CHECK:     %[[SAME:.*]] = arith.cmpi eq, %[[I]], %[[J]] : index
//       CHECK:     %[[BEYOND:.*]] = arith.select %[[SAME]], %{{.*}}, %[[COLUMN]] : index
//  CHECK-NEXT:     %[[FILL:.*]] = arith.truncf %[[NONE]] : vector<32x32xf32> to vector<32x32xf16>
//  CHECK-NEXT:     "tile.store"(%[[FILL]], %[[D]], %[[BEYOND]], %[[ROW]]) {apart, in_bounds = array<i1: false, true>
//   CHECK-NOT:     tile.store
func.func @causal(%D: memref<64x64xf16>, %v: vector<32x32xf32>, %p: vector<32x32xi64>, %q: vector<32x32xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %none = arith.constant dense<-1.0e+09> : vector<32x32xf32>
  scf.parallel (%i, %j) = (%c0, %c0) to (%c2, %c2) step (%c1, %c1) {
    %row = arith.muli %i, %c32 : index
    %column = arith.muli %j, %c32 : index
    %in = arith.cmpi sle, %q, %p : vector<32x32xi64>
    %x = arith.select %in, %v, %none : vector<32x32xi1>, vector<32x32xf32>
    %y = arith.truncf %x : vector<32x32xf32> to vector<32x32xf16>
    "tile.store"(%y, %D, %row, %column) {operandSegmentSizes = array<i32: 1, 1, 2>, in_bounds = array<i1: true, true>} : (vector<32x32xf16>, memref<64x64xf16>, index, index) -> ()
    scf.reduce
  }
  return
}
