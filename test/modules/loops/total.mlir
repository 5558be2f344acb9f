func.func @total(%A: memref<6x20xf32>, %C: memref<1xf32>) {
  %z = arith.constant 0.0 : f32
  %s = affine.for %i = 0 to 6 iter_args(%a = %z) -> (f32) {
    %t = affine.for %j = 0 to 20 iter_args(%b = %a) -> (f32) {
      %x = affine.load %A[%i, %j] : memref<6x20xf32>
      %n = arith.addf %b, %x : f32
      affine.yield %n : f32 }
    affine.yield %t : f32 }
  affine.store %s, %C[0] : memref<1xf32>
  return }
