// What select-tuned refuses: a file that is not there, is damaged, or of a later format.
// RUN: not mlir-gemm opt %s select-tuned 2>&1 | FileCheck %s --check-prefix=OPTIONS
// RUN: not mlir-gemm opt %s 'select-tuned{database=%t.none gpu=NVIDIA_A100}' 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: echo '{"format": 1, "entries": [' > %t.json
// RUN: not mlir-gemm opt %s 'select-tuned{database=%t.json gpu=NVIDIA_A100}' 2>&1 | FileCheck %s --check-prefix=DAMAGED
// RUN: echo '{"format": 7, "entries": []}' > %t.json
// RUN: not mlir-gemm opt %s 'select-tuned{database=%t.json gpu=NVIDIA_A100}' 2>&1 | FileCheck %s --check-prefix=LATER

// OPTIONS: expected database=FILE gpu=NAME, a file that mlir-gemm tune has written
// NONE: error: cannot read the tuned schedules '{{.*}}': No such file or directory; name another file by --tuned
// DAMAGED: is no file of tuned schedules, or a damaged one; name another file by --tuned
// LATER: holds tuned schedules in format 7; this mlir-gemm ({{.*}}) reads format 1: name another file by --tuned
module attributes {tile.chip = "sm_80", tile.stage = "import"} {
  func.func @product(%A: memref<256x256xf16> {tile.role = "in"}, %B: memref<256x256xf16> {tile.role = "in"}, %D: memref<256x256xf32> {tile.role = "out"}) {
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%D : memref<256x256xf32>)
    linalg.matmul ins(%A, %B : memref<256x256xf16>, memref<256x256xf16>) outs(%D : memref<256x256xf32>)
    return
  }
}
