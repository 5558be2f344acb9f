func.func @softmax(%A: memref<6x20xf32>, %C: memref<6x20xf32>) {
  %z = arith.constant 0.0 : f32
  %l = arith.constant 0xFF800000 : f32
  affine.for %i = 0 to 6 {
    %m = affine.for %j = 0 to 20 iter_args(%a = %l) -> (f32) {
      %x = affine.load %A[%i, %j] : memref<6x20xf32>
      %n = arith.maximumf %a, %x : f32
      affine.yield %n : f32 }
    %s = affine.for %j = 0 to 20 iter_args(%a = %z) -> (f32) {
      %x = affine.load %A[%i, %j] : memref<6x20xf32>
      %d = arith.subf %x, %m : f32
      %e = math.exp %d : f32
      affine.store %e, %C[%i, %j] : memref<6x20xf32>
      %n = arith.addf %a, %e : f32
      affine.yield %n : f32 }
    affine.for %j = 0 to 20 {
      %x = affine.load %C[%i, %j] : memref<6x20xf32>
      %d = arith.divf %x, %s : f32
      affine.store %d, %C[%i, %j] : memref<6x20xf32> }
  } return }
