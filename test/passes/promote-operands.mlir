// promote-operands: factors are staged in shared memory; a second run changes nothing.
// RUN: mlir-gemm opt %s promote-operands promote-operands | FileCheck %s
// RUN: mlir-gemm opt %s 'promote-operands{layout=pad0}' | FileCheck %s --check-prefix=PAD

// PAD-COUNT-4: memref.alloc() {tile.layout = "pad0"}
//     PAD-NOT: memref.alloc
//         PAD: return

// The copies stand in the order of the loads. The accumulator, which does not move with k, is not staged.
// CHECK-LABEL: func.func @product(
//  CHECK-SAME: %[[A:.*]]: memref<32x32xf16>, %[[B:.*]]: memref<32x48xf16>, %[[C:.*]]: memref<32x48xf32>
//       CHECK:     affine.for %[[J:.*]] = 0 to 6 {
//  CHECK-NEXT:       %[[SA:.*]] = memref.alloc() {tile.layout = "pad8"} : memref<16x16xf16, 3>
//  CHECK-NEXT:       %[[SB:.*]] = memref.alloc() {tile.layout = "pad8"} : memref<16x8xf16, 3>
//  CHECK-NEXT:       affine.for %[[L:.*]] = 0 to 2 {
//  CHECK-NEXT:         %[[M0:.*]] = affine.apply #{{.*}}(%{{.*}})
//  CHECK-NEXT:         %[[K0:.*]] = affine.apply #{{.*}}(%[[L]])
//  CHECK-NEXT:         "tile.copy"(%[[SA]], %[[A]], %[[M0]], %[[K0]]) {in_bounds = array<i1: true, true>
//  CHECK-NEXT:         %[[K1:.*]] = affine.apply #{{.*}}(%[[L]])
//  CHECK-NEXT:         %[[N1:.*]] = affine.apply #{{.*}}(%[[J]])
//  CHECK-NEXT:         "tile.copy"(%[[SB]], %[[B]], %[[K1]], %[[N1]]) {in_bounds = array<i1: true, true>
//  CHECK-NEXT:         affine.for %[[M:.*]] = 0 to 16 {
//  CHECK-NEXT:           affine.for %[[N:.*]] = 0 to 8 {
//  CHECK-NEXT:             affine.for %[[K:.*]] = 0 to 16 {
//  CHECK-NEXT:               affine.load %[[C]]
//  CHECK-NEXT:               %[[X:.*]] = affine.load %[[SA]][%[[M]], %[[K]]] : memref<16x16xf16, 3>
//  CHECK-NEXT:               arith.extf %[[X]]
//  CHECK-NEXT:               %[[Y:.*]] = affine.load %[[SB]][%[[K]], %[[N]]] : memref<16x8xf16, 3>
//  CHECK-NEXT:               arith.extf %[[Y]]
//   CHECK-NOT:   memref.alloc
//       CHECK:   return
func.func @product(%A: memref<32x32xf16>, %B: memref<32x48xf16>, %C: memref<32x48xf32>) {
  affine.for %i = 0 to 2 {
    affine.for %j = 0 to 6 {
      affine.for %l = 0 to 2 {
        affine.for %m = 0 to 16 {
          affine.for %n = 0 to 8 {
            affine.for %k = 0 to 16 {
              %a = affine.load %A[%i * 16 + %m, %l * 16 + %k] : memref<32x32xf16>
              %b = affine.load %B[%l * 16 + %k, %j * 8 + %n] : memref<32x48xf16>
              %c = affine.load %C[%i * 16 + %m, %j * 8 + %n] : memref<32x48xf32>
              %x = arith.extf %a : f16 to f32
              %y = arith.extf %b : f16 to f32
              %p = arith.mulf %x, %y : f32
              %s = arith.addf %c, %p : f32
              affine.store %s, %C[%i * 16 + %m, %j * 8 + %n] : memref<32x48xf32>
            } {tile.loop = "point"}
          } {tile.loop = "point"}
        } {tile.loop = "point"}
      } {tile.loop = "k"}
    } {tile.loop = "block"}
  } {tile.loop = "block"}
  return
}

// One batch at a time; A lies column by column, so its buffer does; rows and columns end inside the last tiles. B is
// computed from integers and a scale for each column, and cut off at the end of k.
// RUN: mlir-gemm opt %s 'promote-operands{layout=xor}' | FileCheck %s --check-prefix=COMPUTED
// COMPUTED-LABEL: func.func @computed(
//  COMPUTED-SAME: %[[A:.*]]: memref<3x20x30xf16>, %[[B:.*]]: memref<20x40xi8>, %[[S:.*]]: memref<40xf16>
//       COMPUTED:       %[[SA:.*]] = memref.alloc() {tile.layout = "xor"} : memref<16x16xf16, 3>
//       COMPUTED:       %[[SB:.*]] = memref.alloc() {tile.layout = "xor"} : memref<16x8xf16, 3>
//       COMPUTED:         "tile.copy"(%[[SA]], %[[A]], %[[H:.*]], %{{.*}}, %{{.*}}) {in_bounds = array<i1: true, false, false>
//       COMPUTED:         %[[Q:.*]] = "tile.load"(%[[B]], %{{.*}}, %{{.*}}) {in_bounds = array<i1: false, true>
//       COMPUTED:         %[[T:.*]] = "tile.load"(%[[S]], %{{.*}}) {in_bounds = array<i1: true>
//       COMPUTED:         %[[F:.*]] = arith.sitofp %[[Q]] : vector<16x8xi8> to vector<16x8xf16>
//       COMPUTED:         %[[P:.*]] = arith.mulf %[[F]], %[[T]] : vector<16x8xf16>
//       COMPUTED:         %[[C20:.*]] = arith.constant 20 : index
//       COMPUTED:         %[[Z:.*]] = "tile.clip"(%[[P]], %{{.*}}, %[[C20]]) {dim = 0 : i64}
//       COMPUTED:         "tile.store"(%[[Z]], %[[SB]],
//       COMPUTED:               affine.load %[[SA]][%[[K:.*]], %[[M:.*]]]
//       COMPUTED:               affine.load %[[SB]][%[[K]], %[[N:.*]]]
//       COMPUTED:   return
func.func @computed(%A: memref<3x20x30xf16>, %B: memref<20x40xi8>, %S: memref<40xf16>, %C: memref<3x30x40xf32>) {
  affine.for %h = 0 to 3 {
    affine.for %i = 0 to 2 {
      affine.for %j = 0 to 5 {
        affine.for %l = 0 to 2 {
          affine.for %m = 0 to 16 {
            affine.for %n = 0 to 8 {
              affine.for %k = 0 to 16 {
                %a = affine.load %A[%h, %l * 16 + %k, %i * 16 + %m] : memref<3x20x30xf16>
                %q = affine.load %B[%l * 16 + %k, %j * 8 + %n] : memref<20x40xi8>
                %s = affine.load %S[%j * 8 + %n] : memref<40xf16>
                %f = arith.sitofp %q : i8 to f16
                %b = arith.mulf %f, %s : f16
                %c = affine.load %C[%h, %i * 16 + %m, %j * 8 + %n] : memref<3x30x40xf32>
                %x = arith.extf %a : f16 to f32
                %y = arith.extf %b : f16 to f32
                %p = arith.mulf %x, %y : f32
                %d = arith.addf %c, %p : f32
                affine.store %d, %C[%h, %i * 16 + %m, %j * 8 + %n] : memref<3x30x40xf32>
              } {tile.loop = "point"}
            } {tile.loop = "point"}
          } {tile.loop = "point"}
        } {tile.loop = "k"}
      } {tile.loop = "block"}
    } {tile.loop = "block"}
  } {tile.loop = "block"}
  return
}

// A minimum of sums: beyond the end of k an operand goes on with zeros and the other with infinities, which change no
// minimum. Where tiles end with k, both are copied.
// CHECK-LABEL: @minimum_of_sums
//       CHECK:       "tile.copy"(%{{.*}}, %[[A:.*]], %{{.*}}, %{{.*}})
//       CHECK:       %[[B:.*]] = "tile.load"(%{{.*}}) {{.*}} : (memref<20x16xf32>, index, index) -> vector<16x8xf32>
//       CHECK:       %[[CLIPPED:.*]] = "tile.clip"(%[[B]], %{{.*}}, %c20) {dim = 0 : i64, neutral = 0x7F800000 : f32}
//       CHECK:       "tile.store"(%[[CLIPPED]], %{{.*}})
func.func @minimum_of_sums(%A: memref<16x20xf32>, %B: memref<20x16xf32>, %C: memref<16x16xf32>) {
  affine.for %i = 0 to 1 {
    affine.for %j = 0 to 2 {
      affine.for %l = 0 to 2 {
        affine.for %m = 0 to 16 {
          affine.for %n = 0 to 8 {
            affine.for %k = 0 to 16 {
              %a = affine.load %A[%i * 16 + %m, %l * 16 + %k] : memref<16x20xf32>
              %b = affine.load %B[%l * 16 + %k, %j * 8 + %n] : memref<20x16xf32>
              %c = affine.load %C[%i * 16 + %m, %j * 8 + %n] : memref<16x16xf32>
              %s = arith.addf %a, %b : f32
              %d = arith.minimumf %c, %s : f32
              affine.store %d, %C[%i * 16 + %m, %j * 8 + %n] : memref<16x16xf32>
            } {tile.loop = "point"}
          } {tile.loop = "point"}
        } {tile.loop = "point"}
      } {tile.loop = "k"}
    } {tile.loop = "block"}
  } {tile.loop = "block"}
  return
}
