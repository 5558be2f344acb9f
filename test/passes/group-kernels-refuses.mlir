// group-kernels names what it does not understand.
// RUN: not mlir-gemm opt --split-input-file %s group-kernels 2>&1 | FileCheck %s
// RUN: not mlir-gemm opt --split-input-file %s 'group-kernels{most=2}' 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: error: pass 'group-kernels' has no option 'most' (options: none)

// CHECK: 10:8: error: 'tensor.pad' is not understood here; expected linalg.generic, linalg.fill, reshapes, slices and constants of tensors
func.func @pad(%A: tensor<4x6xf32>) -> tensor<5x6xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %A low[0, 0] high[1, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<4x6xf32> to tensor<5x6xf32>
  return %p : tensor<5x6xf32>
}

// -----

// CHECK: error: 'linalg.fill' works on tensor<?xf32>; sizes must be static
func.func @sizes(%A: tensor<?xf32>, %x: f32) -> tensor<?xf32> {
  %f = linalg.fill ins(%x : f32) outs(%A : tensor<?xf32>) -> tensor<?xf32>
  return %f : tensor<?xf32>
}

// -----

// CHECK: error: 'linalg.index' inside a linalg.generic; only arith and math operations can be compiled
func.func @index(%A: tensor<4xi32>) -> tensor<4xi32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%A : tensor<4xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %s = arith.index_cast %i : index to i32
    linalg.yield %s : i32
  } -> tensor<4xi32>
  return %r : tensor<4xi32>
}

// -----

// CHECK: error: an elementwise linalg.generic that reads what its result starts from; take it as an input
func.func @start(%A: tensor<4xi32>) -> tensor<4xi32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%A : tensor<4xi32>) {
  ^bb0(%o: i32):
    %s = arith.addi %o, %o : i32
    linalg.yield %s : i32
  } -> tensor<4xi32>
  return %r : tensor<4xi32>
}

// -----

// CHECK: error: 'linalg.generic' on memrefs; expected tensors
func.func @memory(%A: memref<4xi32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%A : memref<4xi32>) {
  ^bb0(%o: i32):
    linalg.yield %o : i32
  }
  return
}

// -----

// CHECK: error: 'arith.addf' uses a value from outside its linalg.generic
func.func @outside(%A: tensor<4xf32>, %x: f32) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%A : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %x : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
