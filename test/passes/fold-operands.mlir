// fold-operands: what is computed for an operand is computed in the product; a second run changes nothing.
// RUN: mlir-gemm opt %s fold-operands | FileCheck %s
// RUN: mlir-gemm opt %s fold-operands fold-operands | FileCheck %s
// RUN: mlir-gemm opt %s 'fold-operands{extensions=true}' | FileCheck %s --check-prefix=EXTENSIONS

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>

// f16 operands extended to f32 are read as f16.
// CHECK-LABEL: func.func @extended(
//       CHECK:   linalg.generic {{.*}} ins(%arg0, %arg1 : tensor<4x8xf16>, tensor<8x6xf16>) outs(%arg2 : tensor<4x6xf32>)
//  CHECK-NEXT:   ^bb0(%[[A:.*]]: f16, %[[B:.*]]: f16, %[[C:.*]]: f32)
//   CHECK-DAG:     %[[X:.*]] = arith.extf %[[A]] : f16 to f32
//   CHECK-DAG:     %[[Y:.*]] = arith.extf %[[B]] : f16 to f32
//       CHECK:     %[[P:.*]] = arith.mulf %[[X]], %[[Y]]
//       CHECK:     arith.addf %[[C]], %[[P]]
// EXTENSIONS-LABEL: func.func @extended(
//       EXTENSIONS:   linalg.generic {{.*}} ins(%arg0, %arg1 : tensor<4x8xf16>, tensor<8x6xf16>)
func.func @extended(%A: tensor<4x8xf16>, %B: tensor<8x6xf16>, %C: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %ea = tensor.empty() : tensor<4x8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%A : tensor<4x8xf16>) outs(%ea : tensor<4x8xf32>) {
  ^bb0(%a: f16, %o: f32):
    %v = arith.extf %a : f16 to f32
    linalg.yield %v : f32
  } -> tensor<4x8xf32>
  %eb = tensor.empty() : tensor<8x6xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%B : tensor<8x6xf16>) outs(%eb : tensor<8x6xf32>) {
  ^bb0(%a: f16, %o: f32):
    %v = arith.extf %a : f16 to f32
    linalg.yield %v : f32
  } -> tensor<8x6xf32>
  %2 = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%0, %1 : tensor<4x8xf32>, tensor<8x6xf32>) outs(%C : tensor<4x6xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x6xf32>
  return %2 : tensor<4x6xf32>
}

// int8 weights with a scale for each column are read as they are.
// CHECK-LABEL: func.func @dequantised(
//       CHECK:   linalg.generic {{.*}} ins(%arg0, %arg1, %arg2 : tensor<4x8xf32>, tensor<8x6xi8>, tensor<6xf32>) outs(%arg3 : tensor<4x6xf32>)
//       CHECK:     %[[Q:.*]] = arith.sitofp
//       CHECK:     %[[W:.*]] = arith.mulf %[[Q]], %
//       CHECK:     arith.mulf %{{.*}}, %[[W]]
// EXTENSIONS-LABEL: func.func @dequantised(
//       EXTENSIONS:   %[[W:.*]] = linalg.generic {{.*}} ins(%arg1, %arg2
//       EXTENSIONS:   linalg.generic {{.*}} ins(%arg0, %[[W]] :
func.func @dequantised(%A: tensor<4x8xf32>, %B: tensor<8x6xi8>, %S: tensor<6xf32>, %C: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %e = tensor.empty() : tensor<8x6xf32>
  %0 = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%B, %S : tensor<8x6xi8>, tensor<6xf32>) outs(%e : tensor<8x6xf32>) {
  ^bb0(%b: i8, %s: f32, %o: f32):
    %q = arith.sitofp %b : i8 to f32
    %w = arith.mulf %q, %s : f32
    linalg.yield %w : f32
  } -> tensor<8x6xf32>
  %1 = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %0 : tensor<4x8xf32>, tensor<8x6xf32>) outs(%C : tensor<4x6xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x6xf32>
  return %1 : tensor<4x6xf32>
}

// A multiplication that is summed up is a product.
// CHECK-LABEL: func.func @matvec(
//       CHECK:   linalg.generic {{.*}}, iterator_types = ["parallel", "reduction"]} ins(%arg0, %arg1 : tensor<4x8xf32>, tensor<8xf32>) outs(%arg2 : tensor<4xf32>)
//  CHECK-NEXT:   ^bb0
//       CHECK:     %[[P:.*]] = arith.mulf
//       CHECK:     arith.addf %{{.*}}, %[[P]]
func.func @matvec(%A: tensor<4x8xf32>, %x: tensor<8xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%A, %x : tensor<4x8xf32>, tensor<8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %v = arith.mulf %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<4x8xf32>
  %1 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%0 : tensor<4x8xf32>) outs(%y : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

#rows_mn = affine_map<(m, n) -> (m, n)>
#rows_m = affine_map<(m, n) -> (m)>

// What is reached from a reduction along rows is not repeated in the next one: a kernel of rows computes it while it has
// the row.
// CHECK-LABEL: func.func @from_rows(
//       CHECK:   linalg.generic {{.*}}"reduction"]}
//       CHECK:     arith.maximumf
//       CHECK:   linalg.generic {{.*}}["parallel", "parallel"]}
//       CHECK:     arith.subf
//       CHECK:   linalg.generic {{.*}}"reduction"]}
//   CHECK-NOT:     arith.subf
//       CHECK:     arith.addf
func.func @from_rows(%A: tensor<4x6xf32>) -> tensor<4xf32> {
  %least = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %row = tensor.empty() : tensor<4xf32>
  %all = tensor.empty() : tensor<4x6xf32>
  %r0 = linalg.fill ins(%least : f32) outs(%row : tensor<4xf32>) -> tensor<4xf32>
  %most = linalg.generic {indexing_maps = [#rows_mn, #rows_m], iterator_types = ["parallel", "reduction"]}
      ins(%A : tensor<4x6xf32>) outs(%r0 : tensor<4xf32>) {
  ^bb0(%x: f32, %a: f32):
    %r = arith.maximumf %x, %a : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %d = linalg.generic {indexing_maps = [#rows_mn, #rows_m, #rows_mn], iterator_types = ["parallel", "parallel"]}
      ins(%A, %most : tensor<4x6xf32>, tensor<4xf32>) outs(%all : tensor<4x6xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %r = arith.subf %x, %y : f32
    linalg.yield %r : f32
  } -> tensor<4x6xf32>
  %r1 = linalg.fill ins(%zero : f32) outs(%row : tensor<4xf32>) -> tensor<4xf32>
  %s = linalg.generic {indexing_maps = [#rows_mn, #rows_m], iterator_types = ["parallel", "reduction"]}
      ins(%d : tensor<4x6xf32>) outs(%r1 : tensor<4xf32>) {
  ^bb0(%x: f32, %a: f32):
    %r = arith.addf %x, %a : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  return %s : tensor<4xf32>
}
