// promote-operands: factors are staged in shared memory; a second run changes nothing.
// RUN: mlir-gemm opt %s promote-operands promote-operands --reading | FileCheck %s
// RUN: mlir-gemm opt %s 'promote-operands{layout=pad0}' --reading | FileCheck %s --check-prefix=PAD
// RUN: mlir-gemm opt %s 'promote-operands{layout=pad0 layout_b=pad24}' --reading | FileCheck %s --check-prefix=APART
// RUN: mlir-gemm opt %s 'promote-operands{operands=b}' 'promote-operands{operands=b}' --reading | FileCheck %s --check-prefix=ONE

// One alone is staged, the other read where it lies.
// ONE-LABEL: func.func @product(
//       ONE:   memref.alloc() : shared 16x8xf16 pad8
//   ONE-NOT:   memref.alloc
//       ONE:   tile.copy %arg1[
//   ONE-NOT:   tile.copy
//       ONE:   affine.load %arg0[%arg3 * 16 + %arg6, %arg5 * 16 + %arg8] : memref<32x32xf16>
//       ONE: return

// Each operand may have a pad of its own.
// APART: memref.alloc() : shared 16x16xf16 pad0
// APART: memref.alloc() : shared 16x8xf16 pad24

// RUN: mlir-gemm opt %s 'promote-operands{layout=pad4 turn=ab}' --reading | FileCheck %s --check-prefix=MN

// Rows of both buffers run along m and n: A, which lies along k, is transposed by its copy.
// MN: %[[A:.*]] = memref.alloc() : shared 16x16xf16 pad4
// MN: %[[B:.*]] = memref.alloc() : shared 16x8xf16 pad4
// MN: tile.copy %arg0[{{.*}}] -> %[[A]] : 16x16xf16 {dims = [1, 0], in_bounds}
// MN: tile.copy %arg1[{{.*}}] -> %[[B]] : 16x8xf16 {in_bounds}
// MN: affine.for %[[M:.*]] = 0 to 16
// MN: affine.for %[[N:.*]] = 0 to 8
// MN: affine.for %[[K:.*]] = 0 to 16
// MN: affine.load %[[A]][%[[K]], %[[M]]]
// MN: affine.load %[[B]][%[[K]], %[[N]]]

// RUN: mlir-gemm opt %s 'promote-operands{layout=xor layout_b=pad4 turn=b}' --reading | FileCheck %s --check-prefix=OTHER

// B alone lies in another way: its rows are padded, and would run along n in either order.
// OTHER: %[[A:.*]] = memref.alloc() : shared 16x16xf16 xor
// OTHER: %[[B:.*]] = memref.alloc() : shared 16x8xf16 pad4
// OTHER: tile.copy %arg0[{{.*}}] -> %[[A]] : 16x16xf16 {in_bounds}
// OTHER: tile.copy %arg1[{{.*}}] -> %[[B]] : 16x8xf16 {in_bounds}

// PAD-COUNT-4: memref.alloc() : shared {{.*}} pad0
//     PAD-NOT: memref.alloc
//         PAD: return

// The copies stand in the order of the loads. The accumulator, which does not move with k, is not staged.
// CHECK-LABEL: func.func @product(
//  CHECK-NEXT:   affine.for %arg3 = 0 to 2 {  // block
//  CHECK-NEXT:     affine.for %arg4 = 0 to 6 {  // block
//  CHECK-NEXT:       %[[BUFFER:.*]] = memref.alloc() : shared 16x16xf16 pad8
//  CHECK-NEXT:       %[[BUFFER2:.*]] = memref.alloc() : shared 16x8xf16 pad8
//  CHECK-NEXT:       affine.for %arg5 = 0 to 2 {  // k
//  CHECK-NEXT:         %[[AT:.*]] = %arg3 * 16
//  CHECK-NEXT:         %[[AT2:.*]] = %arg5 * 16
//  CHECK-NEXT:         tile.copy %arg0[%[[AT]], %[[AT2]]] -> %[[BUFFER]] : 16x16xf16 {in_bounds}
//  CHECK-NEXT:         %[[AT3:.*]] = %arg5 * 16
//  CHECK-NEXT:         %[[AT4:.*]] = %arg4 * 8
//  CHECK-NEXT:         tile.copy %arg1[%[[AT3]], %[[AT4]]] -> %[[BUFFER2]] : 16x8xf16 {in_bounds}
//  CHECK-NEXT:         affine.for %arg6 = 0 to 16 {  // point
//  CHECK-NEXT:           affine.for %arg7 = 0 to 8 {  // point
//  CHECK-NEXT:             affine.for %arg8 = 0 to 16 {  // point
//  CHECK-NEXT:               %[[V:.*]] = affine.load %arg2[%arg3 * 16 + %arg6, %arg4 * 8 + %arg7] : memref<32x48xf32>
//  CHECK-NEXT:               %[[V2:.*]] = affine.load %[[BUFFER]][%arg6, %arg8] : memref<16x16xf16, 3>
//  CHECK-NEXT:               %[[V3:.*]] = arith.extf %[[V2]] : f16 to f32
//  CHECK-NEXT:               %[[V4:.*]] = affine.load %[[BUFFER2]][%arg8, %arg7] : memref<16x8xf16, 3>
//  CHECK-NEXT:               %[[V5:.*]] = arith.extf %[[V4]] : f16 to f32
//  CHECK-NEXT:               %[[V6:.*]] = arith.mulf %[[V3]], %[[V5]] : f32
//  CHECK-NEXT:               %[[V7:.*]] = arith.addf %[[V]], %[[V6]] : f32
//  CHECK-NEXT:               affine.store %[[V7]], %arg2[%arg3 * 16 + %arg6, %arg4 * 8 + %arg7] : memref<32x48xf32>
//  CHECK-NEXT:             }
//  CHECK-NEXT:           }
//  CHECK-NEXT:         }
//  CHECK-NEXT:       }
//  CHECK-NEXT:     }
//  CHECK-NEXT:   }
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
// RUN: mlir-gemm opt %s 'promote-operands{layout=xor}' --reading | FileCheck %s --check-prefix=COMPUTED
// COMPUTED-LABEL: func.func @computed(
//  COMPUTED-NEXT:   affine.for %arg4 = 0 to 3 {  // block
//  COMPUTED-NEXT:     affine.for %arg5 = 0 to 2 {  // block
//  COMPUTED-NEXT:       affine.for %arg6 = 0 to 5 {  // block
//  COMPUTED-NEXT:         %[[BUFFER:.*]] = memref.alloc() : shared 16x16xf16 xor
//  COMPUTED-NEXT:         %[[BUFFER2:.*]] = memref.alloc() : shared 16x8xf16 xor
//  COMPUTED-NEXT:         affine.for %arg7 = 0 to 2 {  // k
//  COMPUTED-NEXT:           %[[AT:.*]] = %arg7 * 16
//  COMPUTED-NEXT:           %[[AT2:.*]] = %arg5 * 16
//  COMPUTED-NEXT:           tile.copy %arg0[%arg4, %[[AT]], %[[AT2]]] -> %[[BUFFER]] : 16x16xf16 {in_bounds = [true, false, false]}
//  COMPUTED-NEXT:           %[[AT3:.*]] = %arg7 * 16
//  COMPUTED-NEXT:           %[[AT4:.*]] = %arg6 * 8
//  COMPUTED-NEXT:           %[[LOADED:.*]] = tile.load %arg1[%[[AT3]], %[[AT4]]] : 16x8xi8 {in_bounds = [false, true]}
//  COMPUTED-NEXT:           %[[AT5:.*]] = %arg6 * 8
//  COMPUTED-NEXT:           %[[LOADED2:.*]] = tile.load %arg2[%[[AT5]]] : 16x8xf16 {in_bounds}
//  COMPUTED-NEXT:           %[[V:.*]] = arith.sitofp %[[LOADED]] : vector<16x8xi8> to vector<16x8xf16>
//  COMPUTED-NEXT:           %[[V2:.*]] = arith.mulf %[[V]], %[[LOADED2]] : vector<16x8xf16>
//  COMPUTED-NEXT:           %[[AT6:.*]] = %arg7 * 16
//  COMPUTED-NEXT:           %[[CLIPPED:.*]] = tile.clip %[[V2]], %[[AT6]], 20 {dim = 0}
//  COMPUTED-NEXT:           tile.store %[[CLIPPED]] -> %[[BUFFER2]][0, 0] : 16x8xf16 {in_bounds}
//  COMPUTED-NEXT:           affine.for %arg8 = 0 to 16 {  // point
//  COMPUTED-NEXT:             affine.for %arg9 = 0 to 8 {  // point
//  COMPUTED-NEXT:               affine.for %arg10 = 0 to 16 {  // point
//  COMPUTED-NEXT:                 %[[V3:.*]] = affine.load %arg3[%arg4, %arg5 * 16 + %arg8, %arg6 * 8 + %arg9] : memref<3x30x40xf32>
//  COMPUTED-NEXT:                 %[[V4:.*]] = affine.load %[[BUFFER]][%arg10, %arg8] : memref<16x16xf16, 3>
//  COMPUTED-NEXT:                 %[[V5:.*]] = arith.extf %[[V4]] : f16 to f32
//  COMPUTED-NEXT:                 %[[V6:.*]] = affine.load %[[BUFFER2]][%arg10, %arg9] : memref<16x8xf16, 3>
//  COMPUTED-NEXT:                 %[[V7:.*]] = arith.extf %[[V6]] : f16 to f32
//  COMPUTED-NEXT:                 %[[V8:.*]] = arith.mulf %[[V5]], %[[V7]] : f32
//  COMPUTED-NEXT:                 %[[V9:.*]] = arith.addf %[[V3]], %[[V8]] : f32
//  COMPUTED-NEXT:                 affine.store %[[V9]], %arg3[%arg4, %arg5 * 16 + %arg8, %arg6 * 8 + %arg9] : memref<3x30x40xf32>
//  COMPUTED-NEXT:               }
//  COMPUTED-NEXT:             }
//  COMPUTED-NEXT:           }
//  COMPUTED-NEXT:         }
//  COMPUTED-NEXT:       }
//  COMPUTED-NEXT:     }
//  COMPUTED-NEXT:   }
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
// CHECK-LABEL: func.func @minimum_of_sums(
//  CHECK-NEXT:   affine.for %arg3 = 0 to 1 {  // block
//  CHECK-NEXT:     affine.for %arg4 = 0 to 2 {  // block
//  CHECK-NEXT:       %[[BUFFER:.*]] = memref.alloc() : shared 16x16xf32 pad8
//  CHECK-NEXT:       %[[BUFFER2:.*]] = memref.alloc() : shared 16x8xf32 pad8
//  CHECK-NEXT:       affine.for %arg5 = 0 to 2 {  // k
//  CHECK-NEXT:         %[[AT:.*]] = %arg3 * 16
//  CHECK-NEXT:         %[[AT2:.*]] = %arg5 * 16
//  CHECK-NEXT:         tile.copy %arg0[%[[AT]], %[[AT2]]] -> %[[BUFFER]] : 16x16xf32 {in_bounds = [true, false]}
//  CHECK-NEXT:         %[[AT3:.*]] = %arg5 * 16
//  CHECK-NEXT:         %[[AT4:.*]] = %arg4 * 8
//  CHECK-NEXT:         %[[LOADED:.*]] = tile.load %arg1[%[[AT3]], %[[AT4]]] : 16x8xf32 {in_bounds = [false, true]}
//  CHECK-NEXT:         %[[AT5:.*]] = %arg5 * 16
//  CHECK-NEXT:         %[[CLIPPED:.*]] = tile.clip %[[LOADED]], %[[AT5]], 20 {dim = 0, neutral = 0x7F800000 : f32}
//  CHECK-NEXT:         tile.store %[[CLIPPED]] -> %[[BUFFER2]][0, 0] : 16x8xf32 {in_bounds}
//  CHECK-NEXT:         affine.for %arg6 = 0 to 16 {  // point
//  CHECK-NEXT:           affine.for %arg7 = 0 to 8 {  // point
//  CHECK-NEXT:             affine.for %arg8 = 0 to 16 {  // point
//  CHECK-NEXT:               %[[V:.*]] = affine.load %arg2[%arg3 * 16 + %arg6, %arg4 * 8 + %arg7] : memref<16x16xf32>
//  CHECK-NEXT:               %[[V2:.*]] = affine.load %[[BUFFER]][%arg6, %arg8] : memref<16x16xf32, 3>
//  CHECK-NEXT:               %[[V3:.*]] = affine.load %[[BUFFER2]][%arg8, %arg7] : memref<16x8xf32, 3>
//  CHECK-NEXT:               %[[V4:.*]] = arith.addf %[[V2]], %[[V3]] : f32
//  CHECK-NEXT:               %[[V5:.*]] = arith.minimumf %[[V]], %[[V4]] : f32
//  CHECK-NEXT:               affine.store %[[V5]], %arg2[%arg3 * 16 + %arg6, %arg4 * 8 + %arg7] : memref<16x16xf32>
//  CHECK-NEXT:             }
//  CHECK-NEXT:           }
//  CHECK-NEXT:         }
//  CHECK-NEXT:       }
//  CHECK-NEXT:     }
//  CHECK-NEXT:   }
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
