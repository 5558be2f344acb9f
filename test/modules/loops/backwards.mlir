func.func @backwards(%A: memref<40xf32>, %C: memref<20xf32>) {
  affine.for %i = 0 to 20 {
    %x = affine.load %A[%i * 2] : memref<40xf32>
    %y = affine.load %A[-%i + 39] : memref<40xf32>
    %i32 = arith.index_cast %i : index to i32
    %v = arith.sitofp %i32 : i32 to f32
    %s = arith.addf %x, %y : f32
    %t = arith.mulf %s, %v : f32
    affine.store %t, %C[-%i + 19] : memref<20xf32>
  } return }
