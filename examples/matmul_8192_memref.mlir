// C = A B + C on 8192 x 8192 matrices, f16 in, f32 out: the problem of Katel, Khandelwal and Bondhugula,
// "MLIR-based code generation for GPU tensor cores" (CC 2022).
func.func @matmul(%A: memref<8192x8192xf16>, %B: memref<8192x8192xf16>, %C: memref<8192x8192xf32>) {
  linalg.matmul ins(%A, %B : memref<8192x8192xf16>, memref<8192x8192xf16>) outs(%C : memref<8192x8192xf32>)
  return
}
