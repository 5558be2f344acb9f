// fold-operands leaves another product's epilogue, what others also read, and what would be computed too often.
// RUN: mlir-gemm opt %s fold-operands | FileCheck %s
// RUN: not mlir-gemm opt %s 'fold-operands{all=true}' 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: error: pass 'fold-operands' has no option 'all' (options: extensions)

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>

// CHECK-LABEL: func.func @epilogue(
//       CHECK:   %[[P:.*]] = linalg.generic {{.*}} ins(%arg0, %arg1
//       CHECK:   %[[E:.*]] = linalg.generic {{.*}} ins(%[[P]] :
//       CHECK:     arith.negf
//       CHECK:   linalg.generic {{.*}} ins(%[[E]], %arg1
func.func @epilogue(%A: tensor<4x4xf32>, %B: tensor<4x4xf32>, %C: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : tensor<4x4xf32>, tensor<4x4xf32>) outs(%C : tensor<4x4xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x4xf32>
  %e = tensor.empty() : tensor<4x4xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.negf %a : f32
    linalg.yield %v : f32
  } -> tensor<4x4xf32>
  %2 = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%1, %B : tensor<4x4xf32>, tensor<4x4xf32>) outs(%C : tensor<4x4xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// CHECK-LABEL: func.func @two_readers(
//       CHECK:   %[[N:.*]] = linalg.generic {{.*}} ins(%arg0 :
//       CHECK:   %[[P:.*]] = linalg.generic {{.*}} ins(%[[N]], %arg1
//       CHECK:   return %[[N]], %[[P]]
func.func @two_readers(%A: tensor<4x8xf32>, %B: tensor<8x6xf32>, %C: tensor<4x6xf32>) -> (tensor<4x8xf32>, tensor<4x6xf32>) {
  %e = tensor.empty() : tensor<4x8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%A : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.negf %a : f32
    linalg.yield %v : f32
  } -> tensor<4x8xf32>
  %1 = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%0, %B : tensor<4x8xf32>, tensor<8x6xf32>) outs(%C : tensor<4x6xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x6xf32>
  return %0, %1 : tensor<4x8xf32>, tensor<4x6xf32>
}

// 2048 columns are 16 tiles: exp would be computed 16 times.
// CHECK-LABEL: func.func @expensive(
//       CHECK:   %[[E:.*]] = linalg.generic {{.*}} ins(%arg0 :
//       CHECK:     math.exp
//       CHECK:   linalg.generic {{.*}} ins(%[[E]], %arg1
func.func @expensive(%A: tensor<4x8xf32>, %B: tensor<8x2048xf32>, %C: tensor<4x2048xf32>) -> tensor<4x2048xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%A : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = math.exp %a : f32
    linalg.yield %v : f32
  } -> tensor<4x8xf32>
  %1 = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%0, %B : tensor<4x8xf32>, tensor<8x2048xf32>) outs(%C : tensor<4x2048xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x2048xf32>
  return %1 : tensor<4x2048xf32>
}

// Two matrices of f32 would be read 16 times instead of one.
// CHECK-LABEL: func.func @wide(
//       CHECK:   %[[E:.*]] = linalg.generic {{.*}} ins(%arg0, %arg1 :
//       CHECK:   linalg.generic {{.*}} ins(%[[E]], %arg2
func.func @wide(%A: tensor<4x8xf32>, %A2: tensor<4x8xf32>, %B: tensor<8x2048xf32>, %C: tensor<4x2048xf32>) -> tensor<4x2048xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%A, %A2 : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %v = arith.addf %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<4x8xf32>
  %1 = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%0, %B : tensor<4x8xf32>, tensor<8x2048xf32>) outs(%C : tensor<4x2048xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x2048xf32>
  return %1 : tensor<4x2048xf32>
}
