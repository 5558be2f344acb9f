// Loops whose bounds are sizes known at run time only, in the passes between tiling and the launch.
// RUN: mlir-gemm opt %s 'tile-loops{block=16,16,16}' fuse-blocks | FileCheck %s --check-prefix=FUSED
// RUN: mlir-gemm opt %s 'tile-loops{block=16,16,16}' fuse-blocks promote-operands tensorize accumulate 'cse,canonicalize' | FileCheck %s --check-prefix=CARRIED
// RUN: mlir-gemm opt %s 'tile-loops{block=16,16,16}' fuse-blocks promote-operands tensorize accumulate 'multi-buffer{stages=3}' cp-async-pipeline cse | FileCheck %s --check-prefix=STREAM
// RUN: mlir-gemm opt %s 'tile-loops{block=16,16,16}' fuse-blocks promote-operands tensorize accumulate register-prefetch cse | FileCheck %s --check-prefix=PREFETCH
// RUN: mlir-gemm opt %s 'tile-loops{block=16,16,16}' fuse-blocks promote-operands tensorize accumulate order-copies parallelize-blocks cse | FileCheck %s --check-prefix=PARALLEL
// RUN: mlir-gemm opt %s 'tile-loops{block=16,16,16}' fuse-blocks promote-operands tensorize accumulate order-copies parallelize-blocks 'lower-affine,cse' rasterize-blocks cse | FileCheck %s --check-prefix=MAPPED
// RUN: mlir-gemm opt %s 'tile-loops{block=16,16,16}' fuse-blocks promote-operands tensorize accumulate order-copies parallelize-blocks 'lower-affine,cse' rasterize-blocks 'launch-blocks{threads=32}' cse | FileCheck %s --check-prefix=LAUNCH

// Both nests have the same bounds: the same values.
// FUSED: %[[ROWS:.*]] = arith.divui %{{.*}}, %c16
// FUSED: affine.for %{{.*}} = 0 to %{{.*}} {
// FUSED: affine.for %{{.*}} = 0 to %{{.*}} {
// FUSED: affine.for %{{.*}} = 0 to %{{.*}} {
// FUSED: } {tile.loop = "k"}
// FUSED: } {tile.loop = "block"}
// FUSED-NEXT: } {tile.loop = "block"}
// FUSED-NEXT: return

// The accumulator is carried through a loop of unknown length; no dimension is known to be in bounds.
// CARRIED: affine.for %{{.*}} = 0 to %{{.*}} iter_args(%{{.*}} = %{{.*}}) -> (vector<16x16xf32>) {
// CARRIED: "tile.copy"(%{{.*}}, %arg0, %{{.*}}, %{{.*}}) {operandSegmentSizes = array<i32: 1, 1, 2>}
// CARRIED-NOT: in_bounds

// Two steps are copied ahead whether there are so many or not; a copy of a further step asks for it.
// STREAM-COUNT-4: "tile.copy_async"
// STREAM: affine.for %[[STEP:.*]] = 0 to %[[STEPS:[a-z0-9]+]] iter_args
// STREAM: %[[AHEAD:.*]] = affine.apply
// STREAM: %[[IS:.*]] = arith.cmpi ult, %[[AHEAD]], %[[STEPS]]
// STREAM: scf.if %[[IS]] {

// One step less than there are, or none: the last one is computed even where there is none, on zeros.
// PREFETCH: %[[STEPS:.*]] = arith.maxui %{{.*}}, %c1
// PREFETCH: %[[BEFORE:.*]] = arith.subi %[[STEPS]], %c1
// PREFETCH: affine.for %{{.*}} = 0 to %[[BEFORE]] iter_args

// PARALLEL: affine.parallel (%{{.*}}, %{{.*}}) = (0, 0) to (symbol(%{{.*}}), symbol(%{{.*}})) {

// The last group of rows is as high as is left; the grid is the product of the tiles.
// MAPPED: %[[GRID:.*]] = arith.muli
// MAPPED: scf.forall (%[[BLOCK:.*]]) in (%[[GRID]]) {
// MAPPED: %[[GROUP:.*]] = arith.muli %{{.*}}, %c8
// MAPPED: arith.divui %[[BLOCK]], %[[GROUP]]
// MAPPED: arith.minui

// LAUNCH: gpu.launch blocks(%{{.*}}, %{{.*}}, %{{.*}}) in (%{{.*}} = %[[GRID:.*]], %{{.*}} = %c1{{.*}}, %{{.*}} = %c1{{.*}})

func.func @product(%A: memref<?x?xf16> {tile.symbols = ["s0", "s1"]}, %B: memref<?x?xf16> {tile.symbols = ["s1", "s2"]},
                   %C: memref<?x?xf32> {tile.symbols = ["s0", "s2"]}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = memref.dim %A, %c0 : memref<?x?xf16>
  %k = memref.dim %A, %c1 : memref<?x?xf16>
  %n = memref.dim %B, %c1 : memref<?x?xf16>
  affine.for %i = 0 to %m {
    affine.for %j = 0 to %n {
      affine.store %zero, %C[%i, %j] : memref<?x?xf32>
    }
  }
  affine.for %i = 0 to %m {
    affine.for %j = 0 to %n {
      affine.for %l = 0 to %k {
        %a = affine.load %A[%i, %l] : memref<?x?xf16>
        %b = affine.load %B[%l, %j] : memref<?x?xf16>
        %c = affine.load %C[%i, %j] : memref<?x?xf32>
        %x = arith.extf %a : f16 to f32
        %y = arith.extf %b : f16 to f32
        %p = arith.mulf %x, %y : f32
        %s = arith.addf %c, %p : f32
        affine.store %s, %C[%i, %j] : memref<?x?xf32>
      }
    }
  }
  return
}
