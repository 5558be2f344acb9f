// bound-steps: a tile walks the k steps in which the triangle is not zero. 8 steps of 64, tiles of 128 rows.
// RUN: sed 's/ZEROS/k>m/' %s | mlir-gemm opt - bound-steps cse | FileCheck %s
// RUN: sed 's/ZEROS/k<m/' %s | mlir-gemm opt - bound-steps cse | FileCheck %s --check-prefix=FIRST
// RUN: sed 's/ZEROS/k>m+9, k<m-70/' %s | mlir-gemm opt - bound-steps cse | FileCheck %s --check-prefix=BAND
// RUN: sed 's/ZEROS/k\/64 not in m\/128: 5 0 82 1/' %s | mlir-gemm opt - bound-steps cse | FileCheck %s --check-prefix=BLOCKS
// RUN: sed 's/zeros = "ZEROS/masked = "n<m-8/' %s | mlir-gemm opt - bound-steps cse | FileCheck %s --check-prefix=MASKED

// The last step is the one that the tile's last row reaches; the step before the second loop counts.
// CHECK-LABEL: func.func @trmm(
//       CHECK:   scf.parallel (%[[I:.*]], %{{.*}}) =
//       CHECK:     %[[NEXT:.*]] = arith.addi %[[I]], %{{.*}} : index
//       CHECK:     %[[ROWS:.*]] = arith.muli %[[NEXT]], %{{.*}} : index
//       CHECK:     %[[END:.*]] = arith.minui %{{.*}}, %{{.*}} : index
//       CHECK:     scf.for %{{.*}} = %c0 to %[[END]]
//       CHECK:       tile.tma_load
//       CHECK:     %[[AGAIN:.*]] = arith.minui
//       CHECK:     %[[LEFT:.*]] = arith.subi %[[AGAIN]], %{{.*}} : index
//       CHECK:     scf.for %{{.*}} = %c0 to %[[LEFT]]
//       CHECK:       tile.mma

// FIRST-LABEL: func.func @trmm(
//       FIRST:   %[[BEGIN:.*]] = arith.minui
//       FIRST:   scf.for %{{.*}} = %[[BEGIN]] to %c8
//       FIRST:     tile.tma_load
//       FIRST:   %[[SKIPPED:.*]] = arith.minui
//       FIRST:   %[[DONE:.*]] = arith.addi %[[SKIPPED]], %{{.*}} : index
//       FIRST:   %[[LEFT:.*]] = arith.subi %c8{{.*}}, %[[DONE]] {{.*}}: index
//       FIRST:   scf.for %{{.*}} = %c0 to %[[LEFT]]
//       FIRST:     tile.mma

// A band: the first step is at least 0, and the end at least one after it.
// BAND-LABEL: func.func @trmm(
//       BAND:   %[[BELOW:.*]] = arith.addi %{{.*}}, %c-70
//       BAND:   %[[LOW:.*]] = arith.maxsi %[[BELOW]], %c0
//       BAND:   %[[AT:.*]] = arith.divui %[[LOW]]
//       BAND:   %[[BEGIN:.*]] = arith.minui %[[AT]], %c7
//       BAND:   %[[NEXT:.*]] = arith.addi %[[BEGIN]], %c1
//       BAND:   %[[END:.*]] = arith.maxui %{{.*}}, %[[NEXT]]
//       BAND:   scf.for %{{.*}} = %[[BEGIN]] to %[[END]]
//       BAND:     tile.tma_load

// A list of blocks of 128x64: of the tile rows 2, 1 (nothing there: the first step), 2 and 1 steps, from place 5 on.
// BLOCKS: memref.global "private" constant @steps_of_trmm : memref<11xi32> = dense<[5, 7, 8, 10, 11, 0, 2, 0, 1, 7, 0]>
// BLOCKS-LABEL: func.func @trmm(
//       BLOCKS:   %[[TABLE:.*]] = memref.get_global @steps_of_trmm
//       BLOCKS:   scf.for %[[PLACE:.*]] = %{{.*}} to
//       BLOCKS:     %[[READ:.*]] = memref.load %[[TABLE]][%[[PLACE]]]
//       BLOCKS:     %[[STEP:.*]] = arith.index_cast %[[READ]]
//       BLOCKS:     tile.tma_load"({{.*}}, %[[STEP]])

// A tile that is masked as a whole walks one step.
// MASKED-LABEL: func.func @trmm(
//       MASKED:   %[[LEFT:.*]] = arith.addi %{{.*}}, %c64
//       MASKED:   %[[ALL:.*]] = arith.cmpi uge, %{{.*}}, %[[LEFT]]
//       MASKED:   %[[END:.*]] = arith.select %[[ALL]], %c1, %c8
//       MASKED:   scf.for %{{.*}} = %c0 to %[[END]]
func.func @trmm(%A: memref<512x512xf16>, %S: memref<128x64xf16, 3>, %T: memref<64x64xf16, 3>, %bars: memref<2x4xi64, 3>, %v: vector<128x64xf32>) attributes {tile.zeros = "ZEROS"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  scf.parallel (%i, %j) = (%c0, %c0) to (%c4, %c4) step (%c1, %c1) {
    "tile.warp_specialize"() ({
      scf.for %k = %c0 to %c8 step %c1 {
        "tile.tma_load"(%S, %A, %bars, %c0, %i, %k) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (memref<128x64xf16, 3>, memref<512x512xf16>, memref<2x4xi64, 3>, index, index, index) -> ()
      }
    }, {
      %first = "tile.mma"(%S, %T, %v) {a = "mk", b = "kn"} : (memref<128x64xf16, 3>, memref<64x64xf16, 3>, vector<128x64xf32>) -> vector<128x64xf32>
      %sum = scf.for %k = %c0 to %c7 step %c1 iter_args(%s = %first) -> (vector<128x64xf32>) {
        %next = "tile.mma"(%S, %T, %s) {a = "mk", b = "kn"} : (memref<128x64xf16, 3>, memref<64x64xf16, 3>, vector<128x64xf32>) -> vector<128x64xf32>
        scf.yield %next : vector<128x64xf32>
      }
    }) : () -> ()
    scf.reduce
  }
  return
}
