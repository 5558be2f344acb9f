// raise-loops: nests of loops over elements become linalg.generic; a second run changes nothing.
// RUN: mlir-gemm opt %s raise-loops | FileCheck %s
// RUN: mlir-gemm opt %s raise-loops raise-loops | FileCheck %s

// CHECK-DAG: #[[MK:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[KN:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[MN:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG: #[[WINDOW:.*]] = affine_map<(d0, d1) -> (d0 + d1)>

// Figure 2.3(b) of Khandelwal's thesis.
// CHECK-LABEL: func.func @product(
//  CHECK-SAME:   %[[A:.*]]: memref<32x48xf16>, %[[B:.*]]: memref<48x24xf16>, %[[C:.*]]: memref<32x24xf32>
//  CHECK-NEXT:   linalg.generic {indexing_maps = [#[[MK]], #[[KN]], #[[MN]]], iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[A]], %[[B]] : memref<32x48xf16>, memref<48x24xf16>) outs(%[[C]] : memref<32x24xf32>)
//       CHECK:   arith.mulf {{.*}} : f16
//       CHECK:   arith.extf
//       CHECK:   arith.addf
//   CHECK-NOT:   affine.for
func.func @product(%A: memref<32x48xf16>, %B: memref<48x24xf16>, %C: memref<32x24xf32>) {
  affine.for %i = 0 to 32 {
    affine.for %j = 0 to 24 {
      affine.for %l = 0 to 48 {
        %a = affine.load %A[%i, %l] : memref<32x48xf16>
        %b = affine.load %B[%l, %j] : memref<48x24xf16>
        %c = affine.load %C[%i, %j] : memref<32x24xf32>
        %p = arith.mulf %a, %b : f16
        %q = arith.extf %p : f16 to f32
        %co = arith.addf %c, %q : f32
        affine.store %co, %C[%i, %j] : memref<32x24xf32>
      }
    }
  }
  return
}

// Tiled loops are one loop for each dimension again; parallel ones around ordinary ones.
// CHECK-LABEL: func.func @tiled(
//       CHECK:   linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]} outs(%arg2 : memref<32x32xf32>)
//       CHECK:   linalg.generic {indexing_maps = [#[[MK]], #[[KN]], #[[MN]]], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0, %arg1 : {{.*}}) outs(%arg2 : memref<32x32xf32>)
//   CHECK-NOT:   scf.
func.func @tiled(%A: memref<32x48xf32>, %B: memref<48x32xf32>, %C: memref<32x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c48 = arith.constant 48 : index
  %z = arith.constant 0.0 : f32
  scf.parallel (%i, %j) = (%c0, %c0) to (%c32, %c32) step (%c8, %c16) {
    scf.for %ii = %c0 to %c8 step %c1 {
      scf.for %jj = %c0 to %c16 step %c1 {
        %r = arith.addi %i, %ii : index
        %c = arith.addi %j, %jj : index
        memref.store %z, %C[%r, %c] : memref<32x32xf32>
        scf.for %k = %c0 to %c48 step %c8 {
          scf.for %kk = %c0 to %c8 step %c1 {
            %q = arith.addi %k, %kk : index
            %x = memref.load %A[%r, %q] : memref<32x48xf32>
            %y = memref.load %B[%q, %c] : memref<48x32xf32>
            %o = memref.load %C[%r, %c] : memref<32x32xf32>
            %p = arith.mulf %x, %y : f32
            %n = arith.addf %o, %p : f32
            memref.store %n, %C[%r, %c] : memref<32x32xf32>
          }
        }
      }
    }
    scf.reduce
  }
  return
}

// What a loop carries is kept in memory, an element for each iteration of the loops around it.
// CHECK-LABEL: func.func @carried(
//       CHECK:   %[[SUMS:.*]] = memref.alloc() : memref<20xf32>
//       CHECK:   linalg.generic {{.*}} iterator_types = ["parallel"]} outs(%[[SUMS]] : memref<20xf32>)
//       CHECK:   linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%arg0 : memref<20x48xf32>) outs(%[[SUMS]] : memref<20xf32>)
//       CHECK:     arith.addf
//       CHECK:   linalg.generic {{.*}} ins(%[[SUMS]] : memref<20xf32>) outs(%arg1 : memref<20xf32>)
//       CHECK:     math.sqrt
func.func @carried(%A: memref<20x48xf32>, %C: memref<20xf32>) {
  %z = arith.constant 0.0 : f32
  affine.for %i = 0 to 20 {
    %s = affine.for %k = 0 to 48 iter_args(%acc = %z) -> (f32) {
      %x = affine.load %A[%i, %k] : memref<20x48xf32>
      %n = arith.addf %acc, %x : f32
      affine.yield %n : f32
    }
    %r = math.sqrt %s : f32
    affine.store %r, %C[%i] : memref<20xf32>
  }
  return
}

// Parts in steps are views; a window is a sum of loops; a filler has the size of the loop that no other operand tells.
// CHECK-LABEL: func.func @parts(
//       CHECK:   %[[EVEN:.*]] = memref.subview %arg0[0] [9] [2] : memref<20xf32> to memref<9xf32, strided<[2]>>
//       CHECK:   %[[INNER:.*]] = memref.subview %arg1[1] [9] [1] : memref<10xf32> to memref<9xf32, strided<[1], offset: 1>>
//       CHECK:   linalg.generic {{.*}} ins(%[[EVEN]] : {{.*}}) outs(%[[INNER]] : {{.*}})
//       CHECK:     linalg.index 0
//       CHECK:   memref.subview %arg0[0] [12] [1]
//       CHECK:   %[[FILLER:.*]] = memref.alloc() : memref<3xi8>
//       CHECK:   linalg.generic {indexing_maps = [#[[WINDOW]], {{.*}} iterator_types = ["parallel", "reduction"]} ins({{.*}}, %[[FILLER]] : {{.*}}) outs(%arg1 : memref<10xf32>)
//       CHECK:     arith.maximumf
func.func @parts(%A: memref<20xf32>, %C: memref<10xf32>) {
  affine.for %i = 0 to 9 {
    %x = affine.load %A[%i * 2] : memref<20xf32>
    %p = arith.index_cast %i : index to i32
    %v = arith.sitofp %p : i32 to f32
    %t = arith.mulf %x, %v : f32
    affine.store %t, %C[%i + 1] : memref<10xf32>
  }
  affine.for %i = 0 to 10 {
    affine.for %u = 0 to 3 {
      %x = affine.load %A[%i + %u] : memref<20xf32>
      %c = affine.load %C[%i] : memref<10xf32>
      %n = arith.maximumf %c, %x : f32
      affine.store %n, %C[%i] : memref<10xf32>
    }
  }
  return
}

// Sizes known at run time only.
// CHECK-LABEL: func.func @open(
//       CHECK:   linalg.generic {{.*}} ins(%arg0 : memref<?x8xf32>) outs(%arg1 : memref<?xf32>)
func.func @open(%A: memref<?x8xf32>, %C: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %m = memref.dim %A, %c0 : memref<?x8xf32>
  affine.for %i = 0 to %m {
    affine.for %k = 0 to 8 {
      %x = affine.load %A[%i, %k] : memref<?x8xf32>
      %c = affine.load %C[%i] : memref<?xf32>
      %s = arith.addf %c, %x : f32
      affine.store %s, %C[%i] : memref<?xf32>
    }
  }
  return
}

// A loop around operations on whole memrefs is none over elements.
// CHECK-LABEL: func.func @other(
//       CHECK:   affine.for
//  CHECK-NEXT:     linalg.fill
func.func @other(%A: memref<8xf32>) {
  %z = arith.constant 0.0 : f32
  affine.for %i = 0 to 4 {
    linalg.fill ins(%z : f32) outs(%A : memref<8xf32>)
  }
  return
}

// Both sides of a branch between elements are computed, and one of the values is selected.
// CHECK-LABEL: func.func @branch(
//   CHECK-NOT:   scf.if
//       CHECK:   linalg.generic
//       CHECK:     %[[P:.*]] = arith.cmpf ogt
//       CHECK:     %[[S:.*]] = arith.select %[[P]]
//       CHECK:     linalg.yield %[[S]]
func.func @branch(%A: memref<8x16xf32>, %C: memref<8x16xf32>) {
  %z = arith.constant 0.0 : f32
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 16 {
      %x = affine.load %A[%i, %j] : memref<8x16xf32>
      %p = arith.cmpf ogt, %x, %z : f32
      %y = scf.if %p -> (f32) {
        %e = math.exp %x : f32
        scf.yield %e : f32
      } else {
        %n = arith.negf %x : f32
        scf.yield %n : f32
      }
      affine.store %y, %C[%i, %j] : memref<8x16xf32>
    }
  }
  return
}

// An accumulator by math.fma.
// CHECK-LABEL: func.func @fused(
//       CHECK:   linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]
//       CHECK:     %[[P:.*]] = arith.mulf
//  CHECK-NEXT:     arith.addf %[[P]], %{{.*}} : f32
func.func @fused(%A: memref<7x9xf32>, %B: memref<9x5xf32>, %C: memref<7x5xf32>) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 7 {
    affine.for %j = 0 to 5 {
      %s = affine.for %k = 0 to 9 iter_args(%sum = %zero) -> (f32) {
        %a = affine.load %A[%i, %k] : memref<7x9xf32>
        %b = affine.load %B[%k, %j] : memref<9x5xf32>
        %t = math.fma %a, %b, %sum : f32
        affine.yield %t : f32
      }
      affine.store %s, %C[%i, %j] : memref<7x5xf32>
    }
  }
  return
}
