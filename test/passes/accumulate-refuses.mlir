// accumulate leaves alone what it cannot move: every k loop here stays as it is. A wrong option is refused.
// RUN: mlir-gemm opt %s accumulate | FileCheck %s
// RUN: not mlir-gemm opt %s 'accumulate{registers=maybe}' 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: error: pass 'accumulate': option 'registers=maybe' is not a value like true

// CHECK-NOT: iter_args

// The tile moves with k.
// CHECK-LABEL: func.func @moving(
// CHECK:         affine.for %{{.*}} = 0 to 4 {
func.func @moving(%A: memref<16x16xf16, 3>, %C: memref<16x64xf32>) {
  %z = arith.constant 0 : index
  affine.for %k = 0 to 4 {
    %n = affine.apply affine_map<(k) -> (k * 16)>(%k)
    %c = "tile.load"(%C, %z, %n) {operandSegmentSizes = array<i32: 1, 2>} : (memref<16x64xf32>, index, index) -> vector<16x16xf32>
    %d = "tile.mma"(%A, %A, %c) {a = "mk", b = "kn"} : (memref<16x16xf16, 3>, memref<16x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    "tile.store"(%d, %C, %z, %n) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<16x16xf32>, memref<16x64xf32>, index, index) -> ()
  } {tile.loop = "k"}
  return
}

// The accumulator's memref is also a factor, through a view.
// CHECK-LABEL: func.func @also_a_factor(
// CHECK:         affine.for %{{.*}} = 0 to 4 {
func.func @also_a_factor(%C: memref<16x32xf32>) {
  %z = arith.constant 0 : index
  %A = memref.subview %C[0, 0] [16, 16] [1, 1] : memref<16x32xf32> to memref<16x16xf32, strided<[32, 1]>>
  affine.for %k = 0 to 4 {
    %c = "tile.load"(%C, %z, %z) {operandSegmentSizes = array<i32: 1, 2>} : (memref<16x32xf32>, index, index) -> vector<16x16xf32>
    %d = "tile.mma"(%A, %A, %c) {a = "mk", b = "kn"} : (memref<16x16xf32, strided<[32, 1]>>, memref<16x16xf32, strided<[32, 1]>>, vector<16x16xf32>) -> vector<16x16xf32>
    "tile.store"(%d, %C, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<16x16xf32>, memref<16x32xf32>, index, index) -> ()
  } {tile.loop = "k"}
  return
}

// The store comes first: the load reads what this step stored.
// CHECK-LABEL: func.func @store_first(
// CHECK:         affine.for %{{.*}} = 0 to 4 {
func.func @store_first(%C: memref<16x16xf32>, %v: vector<16x16xf32>) {
  %z = arith.constant 0 : index
  affine.for %k = 0 to 4 {
    "tile.store"(%v, %C, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<16x16xf32>, memref<16x16xf32>, index, index) -> ()
    %c = "tile.load"(%C, %z, %z) {operandSegmentSizes = array<i32: 1, 2>} : (memref<16x16xf32>, index, index) -> vector<16x16xf32>
  } {tile.loop = "k"}
  return
}

// The number of steps is not known.
// CHECK-LABEL: func.func @dynamic(
// CHECK:         affine.for %{{.*}} = 0 to %{{.*}} {
func.func @dynamic(%A: memref<16x16xf16, 3>, %C: memref<16x16xf32>, %steps: index) {
  %z = arith.constant 0 : index
  affine.for %k = 0 to %steps {
    %c = "tile.load"(%C, %z, %z) {operandSegmentSizes = array<i32: 1, 2>} : (memref<16x16xf32>, index, index) -> vector<16x16xf32>
    %d = "tile.mma"(%A, %A, %c) {a = "mk", b = "kn"} : (memref<16x16xf16, 3>, memref<16x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    "tile.store"(%d, %C, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<16x16xf32>, memref<16x16xf32>, index, index) -> ()
  } {tile.loop = "k"}
  return
}

// A view between two stores may be read: both stay. A temporary that is read stays.
// CHECK-LABEL: func.func @read_through_a_view(
// CHECK:         memref.alloc
// CHECK:         "tile.store"
// CHECK:         "tile.mma"
// CHECK:         "tile.store"
func.func @read_through_a_view(%v: vector<16x16xf32>, %C: memref<16x16xf32>) {
  %z = arith.constant 0 : index
  %T = memref.alloc() : memref<16x16xf32>
  %A = memref.subview %T[0, 0] [16, 16] [1, 1] : memref<16x16xf32> to memref<16x16xf32, strided<[16, 1]>>
  affine.for %i = 0 to 1 {
    "tile.store"(%v, %T, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<16x16xf32>, memref<16x16xf32>, index, index) -> ()
    %d = "tile.mma"(%A, %A, %v) {a = "mk", b = "kn"} : (memref<16x16xf32, strided<[16, 1]>>, memref<16x16xf32, strided<[16, 1]>>, vector<16x16xf32>) -> vector<16x16xf32>
    "tile.store"(%d, %T, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<16x16xf32>, memref<16x16xf32>, index, index) -> ()
  } {tile.loop = "block"}
  return
}
