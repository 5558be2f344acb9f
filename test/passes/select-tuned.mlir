// select-tuned: a product whose schedule was found by measuring gets all its fields; others are left to the model.
// RUN: echo '{"format": 1, "entries": [{"problem": {"m": 256, "n": 256, "k": 256, "out": "f32", "reads_c": false}, "chip": "sm_80", "gpu": "NVIDIA A100", "version": "0.1.0", "schedule": "block=64x64x32,stages=4", "seconds": 5e-06, "model_seconds": 6e-06}]}' > %t.json
// RUN: mlir-gemm opt --split-input-file %s 'select-tuned{database=%t.json gpu=NVIDIA_A100}' | FileCheck %s
// RUN: mlir-gemm opt --split-input-file %s 'select-tuned{database=%t.json gpu=NVIDIA_A10}' | FileCheck %s --check-prefix=OTHER
// OTHER-NOT: stages = 4

// CHECK: tile.note = "tuned for NVIDIA A100 (measured, 5.00 us a run, the model's choice 6.00 us)"
// CHECK: func.func @known({{.*}}tile.schedule = {block = [64, 64, 32], stages = 4 : i64}
module attributes {tile.chip = "sm_80", tile.stage = "import"} {
  func.func @known(%A: memref<256x256xf16> {tile.role = "in"}, %B: memref<256x256xf16> {tile.role = "in"}, %D: memref<256x256xf32> {tile.role = "out"}) {
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%D : memref<256x256xf32>)
    linalg.matmul ins(%A, %B : memref<256x256xf16>, memref<256x256xf16>) outs(%D : memref<256x256xf32>)
    return
  }
}

// -----

// Of another size nothing was found.
// CHECK-NOT: tile.note
// CHECK: func.func @unknown
// CHECK-NOT: tile.schedule
// CHECK: return
module attributes {tile.chip = "sm_80", tile.stage = "import"} {
  func.func @unknown(%A: memref<256x256xf16> {tile.role = "in"}, %B: memref<256x128xf16> {tile.role = "in"}, %D: memref<256x128xf32> {tile.role = "out"}) {
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%D : memref<256x128xf32>)
    linalg.matmul ins(%A, %B : memref<256x256xf16>, memref<256x128xf16>) outs(%D : memref<256x128xf32>)
    return
  }
}

// -----

// What is fixed stays, and nothing is added to it.
// CHECK-NOT: tile.note
// CHECK: func.func @pinned({{.*}}tile.schedule = {batch_invariant = true}
module attributes {tile.chip = "sm_80", tile.stage = "import"} {
  func.func @pinned(%A: memref<256x256xf16> {tile.role = "in"}, %B: memref<256x256xf16> {tile.role = "in"}, %D: memref<256x256xf32> {tile.role = "out"}) attributes {tile.schedule = {batch_invariant = true}} {
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%D : memref<256x256xf32>)
    linalg.matmul ins(%A, %B : memref<256x256xf16>, memref<256x256xf16>) outs(%D : memref<256x256xf32>)
    return
  }
}
