// elementwise-loops: linalg.generics become one parallel loop over elements.
// RUN: mlir-gemm opt %s 'func.func(linalg-generalize-named-ops)' elementwise-loops --split-input-file | FileCheck %s
// RUN: mlir-gemm opt %s 'func.func(linalg-generalize-named-ops)' elementwise-loops elementwise-loops --split-input-file | FileCheck %s
// RUN: mlir-gemm opt %s 'func.func(linalg-generalize-named-ops)' 'elementwise-loops{bits=0}' --split-input-file | FileCheck %s --check-prefix=SINGLE

// The fill and the sum go into one iteration; the accumulator is a register, and is written once.
// CHECK-LABEL: func.func @sum(
// CHECK: scf.forall (%[[ROW:.*]]) in (6) {
// CHECK-NOT: memref.store
// CHECK: %[[SUM:.*]] = scf.for %[[K:.*]] = %{{.*}} iter_args(%[[ACC:.*]] = %{{.*}}) -> (f32) {
// CHECK: %[[X:.*]] = memref.load %arg0[%[[ROW]], %[[K]]]
// CHECK: %[[NEXT:.*]] = arith.addf %[[X]], %[[ACC]] : f32
// CHECK: scf.yield %[[NEXT]] : f32
// CHECK: memref.store %[[SUM]], %arg1[%[[ROW]]]
// CHECK-NOT: linalg
func.func @sum(%x: memref<6x10xf32>, %y: memref<6xf32>) attributes {tile.kind = "elementwise"} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<6xf32>)
  linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<6x10xf32>) outs(%y : memref<6xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %out : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// Four f32, which are 128 bits, to an iteration; a bias along the rows is one number for all four. The temporary buffer
// vanishes: its value stays in a register.
// CHECK-LABEL: func.func @chain(
// CHECK: scf.forall (%[[I:.*]], %[[J:.*]]) in (6, 8) {
// CHECK: %[[AT:.*]] = arith.muli %[[J]], %{{.*}} overflow<nsw, nuw> : index
// CHECK: %[[X:.*]] = vector.load %arg0[%[[I]], %[[AT]]] {alignment = 8 : i64} : memref<6x32xf16>, vector<4xf16>
// CHECK: %[[WIDE:.*]] = arith.extf %[[X]] : vector<4xf16> to vector<4xf32>
// CHECK: %[[B:.*]] = memref.load %arg1[%[[I]]] : memref<6xf32>
// CHECK: %[[BIAS:.*]] = vector.broadcast %[[B]] : f32 to vector<4xf32>
// CHECK: %[[SUM:.*]] = arith.addf %[[WIDE]], %[[BIAS]] : vector<4xf32>
// CHECK: vector.store %[[SUM]], %arg2[%[[I]], %[[AT]]] {alignment = 16 : i64}
// CHECK-NOT: memref.alloc
// SINGLE-LABEL: func.func @chain(
// SINGLE: scf.forall (%{{.*}}, %{{.*}}) in (6, 32) {
// SINGLE: memref.load %arg0
func.func @chain(%x: memref<6x32xf16>, %bias: memref<6xf32>, %y: memref<6x32xf32>) attributes {tile.kind = "elementwise"} {
  %t = memref.alloc() : memref<6x32xf32>
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : memref<6x32xf16>) outs(%t : memref<6x32xf32>) {
  ^bb0(%in: f16, %out: f32):
    %e = arith.extf %in : f16 to f32
    linalg.yield %e : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%t, %bias : memref<6x32xf32>, memref<6xf32>) outs(%y : memref<6x32xf32>) {
  ^bb0(%in: f32, %b: f32, %out: f32):
    %s = arith.addf %in, %b : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// The loops go in the order of the output's memory, whatever their order in the operation.
// CHECK-LABEL: func.func @transpose(
// CHECK: scf.forall (%[[J:.*]], %[[I:.*]]) in (8, 3) {
// CHECK: %[[X:.*]] = memref.load %arg0[%[[I]], %[[J]]]
// CHECK: memref.store %[[X]], %arg1[%[[J]], %[[I]]]
func.func @transpose(%x: memref<3x8xf32>, %y: memref<8x3xf32>) attributes {tile.kind = "elementwise"} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j, i)>], iterator_types = ["parallel", "parallel"]} ins(%x : memref<3x8xf32>) outs(%y : memref<8x3xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  return
}

// -----

// A copy into longer rows, zeros after the source's end. Loads one by one, because rows may start anywhere; guarded one
// by one only where the end is near. There are as many rows as in the source: they need no guard.
// CHECK-LABEL: func.func @pad(
// CHECK: scf.forall (%[[I:.*]], %[[J:.*]]) in (9, 3) {
// CHECK: %[[WHOLE:.*]] = arith.cmpi ult, %[[LAST:.*]], %{{.*}} : index
// CHECK: %[[V:.*]] = scf.if %[[WHOLE]] -> (vector<8xf16>) {
// CHECK-COUNT-8: memref.load
// CHECK: } else {
// CHECK-COUNT-8: scf.if
// CHECK: vector.store %[[V]], %arg1[%[[I]], %{{.*}}] {alignment = 16 : i64} : memref<9x24xf16>, vector<8xf16>
func.func @pad(%x: memref<9x21xf16>, %y: memref<9x24xf16>) attributes {tile.kind = "elementwise"} {
  %zero = arith.constant 0 : index
  "tile.copy"(%y, %x, %zero, %zero) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<9x24xf16>, memref<9x21xf16>, index, index) -> ()
  return
}

// -----

// A copy that transposes takes patches: 8 vectors of 4 are loaded along the source's rows, and 4 of 8 stored.
// CHECK-LABEL: func.func @turn(
// CHECK: scf.forall (%[[K:.*]], %[[N:.*]], %[[KLANE:.*]], %[[NLANE:.*]]) in (1, 1, 2, 2) {
// CHECK-COUNT-8: vector.load %arg0[%{{.*}}, %{{.*}}] {alignment = 8 : i64} : memref<16x8xf16>, vector<4xf16>
// CHECK-COUNT-4: vector.store %{{.*}}, %arg1[%{{.*}}, %{{.*}}] {alignment = 16 : i64} : memref<8x16xf16>, vector<8xf16>
func.func @turn(%x: memref<16x8xf16>, %y: memref<8x16xf16>) attributes {tile.kind = "elementwise"} {
  %zero = arith.constant 0 : index
  "tile.copy"(%y, %x, %zero, %zero) {dims = array<i64: 1, 0>, operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<8x16xf16>, memref<16x8xf16>, index, index) -> ()
  return
}

// -----

// So does arithmetic on an input that lies the other way; what lies as the output does is loaded row by row.
// CHECK-LABEL: func.func @turned_sum(
// CHECK: scf.forall (%[[B:.*]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) in (3, 1, 1, 4, 2) {
// CHECK: %[[FIRST:.*]] = vector.load %arg0[%[[B]], %[[J:.*]], %[[I:.*]]] {alignment = 16 : i64} : memref<3x16x8xf32>, vector<4xf32>
// CHECK: vector.extract %[[FIRST]][0]
// CHECK-COUNT-3: vector.load %arg0
// CHECK: %[[TURNED:.*]] = vector.from_elements
// CHECK: %[[OTHER:.*]] = vector.load %arg1[%[[B]], %[[I]], %[[J]]] {alignment = 16 : i64} : memref<3x8x16xf32>, vector<4xf32>
// CHECK: %[[SUM:.*]] = arith.addf %[[TURNED]], %[[OTHER]] : vector<4xf32>
// CHECK: vector.store %[[SUM]], %arg2[%[[B]], %[[I]], %[[J]]]
// CHECK-COUNT-3: arith.addf
func.func @turned_sum(%x: memref<3x16x8xf32>, %y: memref<3x8x16xf32>, %z: memref<3x8x16xf32>) attributes {tile.kind = "elementwise"} {
  linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (b, j, i)>, affine_map<(b, i, j) -> (b, i, j)>, affine_map<(b, i, j) -> (b, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %y : memref<3x16x8xf32>, memref<3x8x16xf32>) outs(%z : memref<3x8x16xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// A copy that transposes rows that vectors do not divide: neighbouring iterations read neighbours of the source, and
// each stores a vector.
// CHECK-LABEL: func.func @turn_odd(
// CHECK: scf.forall (%[[K:.*]], %[[N:.*]]) in (2, 7) {
// CHECK: %[[FIRST:.*]] = arith.muli %[[K]], %{{.*}}
// CHECK: memref.load %arg0[%{{.*}}, %[[N]]]
// CHECK: vector.store %{{.*}}, %arg1[%[[N]], %{{.*}}] {alignment = 16 : i64} : memref<7x16xf16>, vector<8xf16>
func.func @turn_odd(%x: memref<16x7xf16>, %y: memref<7x16xf16>) attributes {tile.kind = "elementwise"} {
  %zero = arith.constant 0 : index
  "tile.copy"(%y, %x, %zero, %zero) {dims = array<i64: 1, 0>, operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<7x16xf16>, memref<16x7xf16>, index, index) -> ()
  return
}

// -----

// Only elementwise kernels.
// CHECK-LABEL: func.func @other(
// CHECK: linalg.generic
func.func @other(%x: memref<4xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%x : memref<4xf32>) {
  ^bb0(%out: f32):
    linalg.yield %out : f32
  }
  return
}
