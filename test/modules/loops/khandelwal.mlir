func.func @khandelwal(%A: memref<32x48xf16>, %B: memref<48x24xf16>, %C: memref<32x24xf32>) {
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
