// elementwise-loops: components that lie beside each other are read and written in whole vectors, all of an element by one thread.
// RUN: mlir-gemm opt %s elementwise-loops canonicalize cse | FileCheck %s

// The first component of each element: four elements are a vector; where the last number is not the argument's, its
// neighbours are read one by one.
// CHECK-LABEL: func.func @first(
//       CHECK:   scf.forall (%{{.*}}, %{{.*}}) in (16, 8) {
//       CHECK:     %[[FLAT:.*]] = memref.reinterpret_cast %arg0 to offset: [0], sizes: [1023], strides: [1]
//       CHECK:     scf.if
//       CHECK:       vector.load %[[FLAT]][%{{.*}}] {alignment = 16 : i64} : memref<1023xf16, {{.*}}>, vector<8xf16>
//       CHECK:     } else {
//   CHECK-COUNT-4:     memref.load
//       CHECK:     vector.store %{{.*}} {alignment = 8 : i64} : memref<512xf16, {{.*}}>, vector<4xf16>
//   CHECK-NOT:     vector.store
func.func @first(%x: memref<16x32xf16, strided<[64, 2]>>, %o: memref<16x32xf16>) attributes {tile.kind = "elementwise"} {
  %c0 = arith.constant 0 : index
  "tile.copy"(%o, %x, %c0, %c0) {in_bounds = array<i1: true, true>, operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<16x32xf16>, memref<16x32xf16, strided<[64, 2]>>, index, index) -> ()
  return
}

// Numbers that go beside each other: one vector of pairs.
// CHECK-LABEL: func.func @together(
//       CHECK:   scf.forall (%{{.*}}) in (64) {
//   CHECK-COUNT-2: vector.load {{.*}} {alignment = 16 : i64} : memref<256xf32, {{.*}}>, vector<4xf32>
//       CHECK:     vector.store %{{.*}} {alignment = 16 : i64} : memref<512xf16, {{.*}}>, vector<8xf16>
//   CHECK-NOT:     memref.load
func.func @together(%a: memref<256xf32>, %b: memref<256xf32>, %o: memref<256x2xf16>) attributes {tile.kind = "elementwise"} {
  %p = "tile.position"() {operandSegmentSizes = array<i32: 0>} : () -> memref<2xi64>
  %c0 = arith.constant 0 : i64
  linalg.generic {indexing_maps = [affine_map<(i, c) -> (i)>, affine_map<(i, c) -> (i)>, affine_map<(i, c) -> (c)>, affine_map<(i, c) -> (i, c)>],
      iterator_types = ["parallel", "parallel"]} ins(%a, %b, %p : memref<256xf32>, memref<256xf32>, memref<2xi64>) outs(%o : memref<256x2xf16>) {
  ^bb0(%x: f32, %y: f32, %n: i64, %old: f16):
    %first = arith.cmpi eq, %n, %c0 : i64
    %v = arith.select %first, %x, %y : f32
    %w = arith.truncf %v : f32 to f16
    linalg.yield %w : f16
  }
  return
}

// Elements that are transposed: a thread takes two along the rows of either, with all their components.
// CHECK-LABEL: func.func @turned(
//       CHECK:   scf.forall (%{{.*}}, %{{.*}}, %{{.*}}) in (8, 16, 2) {
//   CHECK-COUNT-2: vector.load {{.*}} {alignment = 16 : i64} : memref<2048xf32, {{.*}}>, vector<4xf32>
//   CHECK-COUNT-2: vector.store {{.*}} {alignment = 16 : i64} : memref<2048xf32, {{.*}}>, vector<4xf32>
func.func @turned(%x: memref<32x32x2xf32>, %o: memref<32x32x2xf32>) attributes {tile.kind = "elementwise"} {
  linalg.generic {indexing_maps = [affine_map<(i, j, c) -> (j, i, c)>, affine_map<(i, j, c) -> (i, j, c)>],
      iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : memref<32x32x2xf32>) outs(%o : memref<32x32x2xf32>) {
  ^bb0(%v: f32, %old: f32):
    linalg.yield %v : f32
  }
  return
}

// Three components are no vector: one number at a time.
// CHECK-LABEL: func.func @three(
//   CHECK-NOT:   vector.load
func.func @three(%x: memref<32x3xf32>, %o: memref<3x32xf32>) attributes {tile.kind = "elementwise"} {
  linalg.generic {indexing_maps = [affine_map<(c, i) -> (i, c)>, affine_map<(c, i) -> (c, i)>],
      iterator_types = ["parallel", "parallel"]} ins(%x : memref<32x3xf32>) outs(%o : memref<3x32xf32>) {
  ^bb0(%v: f32, %old: f32):
    linalg.yield %v : f32
  }
  return
}
