// RUN: not mlir-gemm opt %s select-split-rows 2>&1 | FileCheck %s
// RUN: not mlir-gemm opt %s 'select-split-rows{parts=2}' 2>&1 | FileCheck %s --check-prefix=OPTION

// CHECK: error: the module names no chip; write one, such as tile.chip = "sm_80"
// OPTION: error: pass 'select-split-rows' has no option 'parts' (options: none)
module attributes {tile.stage = "import"} {
  func.func @chip(%A: memref<10xf32>) attributes {tile.kind = "rows"} {
    return
  }
}
