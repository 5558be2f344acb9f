// split-planes: planes that something else reads.
// RUN: not mlir-gemm opt %s split-planes 2>&1 | FileCheck %s

// CHECK: 'memref.copy' of a tile.planes; expected loads and stores of numbers or vectors
func.func @copied(%A0: memref<8x32xf16>, %A1: memref<8x32xf16>, %D: memref<8x64xf16>) {
  %a = "tile.planes"(%A0, %A1) : (memref<8x32xf16>, memref<8x32xf16>) -> memref<8x64xf16>
  memref.copy %a, %D : memref<8x64xf16> to memref<8x64xf16>
  return
}
