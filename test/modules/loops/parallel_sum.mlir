func.func @parallel_sum(%A: memref<6x20xf32>, %C: memref<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %c20 = arith.constant 20 : index
  %z = arith.constant 2.0 : f32
  %s = scf.parallel (%i, %j) = (%c0, %c0) to (%c6, %c20) step (%c1, %c1) init (%z) -> f32 {
      %x = memref.load %A[%i, %j] : memref<6x20xf32>
      scf.reduce(%x : f32) { ^bb0(%a: f32, %b: f32):
        %t = arith.addf %a, %b : f32
        scf.reduce.return %t : f32 } }
  memref.store %s, %C[] : memref<f32>
  return }
