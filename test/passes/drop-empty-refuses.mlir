// drop-empty leaves alone what it cannot judge: sizes that are not known, memrefs; it has no options.
// RUN: mlir-gemm opt %s drop-empty | FileCheck %s
// RUN: not mlir-gemm opt %s 'drop-empty{k=0}' 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: error: pass 'drop-empty' has no option 'k' (options: none)

// CHECK-LABEL: func.func @dynamic(
//       CHECK:   linalg.fill
func.func @dynamic(%A: tensor<?x0xf32>, %x: f32) -> tensor<?x0xf32> {
  %f = linalg.fill ins(%x : f32) outs(%A : tensor<?x0xf32>) -> tensor<?x0xf32>
  return %f : tensor<?x0xf32>
}

// CHECK-LABEL: func.func @memory(
//       CHECK:   linalg.fill
func.func @memory(%A: memref<0x4xf32>, %x: f32) {
  linalg.fill ins(%x : f32) outs(%A : memref<0x4xf32>)
  return
}
