func.func @tiled(%A: memref<32x48xf32>, %B: memref<48x32xf32>, %C: memref<32x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c48 = arith.constant 48 : index
  %z = arith.constant 0.0 : f32
  scf.parallel (%i, %j) = (%c0, %c0) to (%c32, %c32) step (%c8, %c16) {
    scf.for %ii = %c0 to %c8 step %c1 { scf.for %jj = %c0 to %c16 step %c1 {
      %r = arith.addi %i, %ii : index
      %c = arith.addi %j, %jj : index
      memref.store %z, %C[%r, %c] : memref<32x32xf32>
      scf.for %k = %c0 to %c48 step %c8 { scf.for %kk = %c0 to %c8 step %c1 {
         %q = arith.addi %k, %kk : index
         %x = memref.load %A[%r, %q] : memref<32x48xf32>
         %y = memref.load %B[%q, %c] : memref<48x32xf32>
         %o = memref.load %C[%r, %c] : memref<32x32xf32>
         %p = arith.mulf %x, %y : f32
         %n = arith.addf %o, %p : f32
         memref.store %n, %C[%r, %c] : memref<32x32xf32>
      } } } } scf.reduce }
  return }
