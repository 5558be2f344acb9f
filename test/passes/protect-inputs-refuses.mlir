// protect-inputs leaves memrefs, declarations and functions without arguments alone, and has no options.
// RUN: mlir-gemm opt %s protect-inputs | FileCheck %s
// RUN: not mlir-gemm opt %s 'protect-inputs{all=true}' 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: error: pass 'protect-inputs' has no option 'all' (options: none)

// CHECK-LABEL: func.func @memrefs(
//  CHECK-SAME: %{{.*}}: memref<32x32xf16> {tile.name = "A"}, %{{.*}}: f32)
func.func @memrefs(%A: memref<32x32xf16> {tile.name = "A"}, %x: f32) {
  return
}

// CHECK: func.func private @declaration(tensor<32x32xf16>)
func.func private @declaration(tensor<32x32xf16>)

// CHECK: func.func @nothing() {
func.func @nothing() {
  return
}
