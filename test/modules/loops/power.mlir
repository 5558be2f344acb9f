func.func @power(%A: tensor<16x16xf32>, %x: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %z = arith.constant dense<0.0> : tensor<16x8xf32>
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%v = %x) -> (tensor<16x8xf32>) {
    %p = linalg.matmul ins(%A, %v : tensor<16x16xf32>, tensor<16x8xf32>) outs(%z : tensor<16x8xf32>) -> tensor<16x8xf32>
    %first = arith.cmpi eq, %i, %c0 : index
    %q = scf.if %first -> (tensor<16x8xf32>) {
      %t = linalg.tanh ins(%p : tensor<16x8xf32>) outs(%z : tensor<16x8xf32>) -> tensor<16x8xf32>
      scf.yield %t : tensor<16x8xf32>
    } else { scf.yield %p : tensor<16x8xf32> }
    scf.yield %q : tensor<16x8xf32>
  }
  return %r : tensor<16x8xf32>
}
