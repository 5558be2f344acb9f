// expand-algebras: elements with components, in each of the ways; a second run changes nothing.
// RUN: mlir-gemm opt %s expand-algebras{only=laid} | FileCheck %s --check-prefixes=CHECK,LAID
// RUN: mlir-gemm opt %s expand-algebras{only=laid} expand-algebras | FileCheck %s --check-prefixes=CHECK,LAID
// RUN: mlir-gemm opt %s expand-algebras{only=groups} | FileCheck %s --check-prefixes=CHECK,GROUPS
// RUN: mlir-gemm opt %s expand-algebras{only=outer} | FileCheck %s --check-prefixes=CHECK,OUTER
// RUN: mlir-gemm opt %s expand-algebras{only=steps} | FileCheck %s --check-prefixes=CHECK,STEPS
// RUN: mlir-gemm opt %s 'expand-algebras{rates=f16:0.00001,f32:0.00001 unasked=f32}' | FileCheck %s --check-prefix=AUTO

#a = affine_map<(m, n, k, p) -> (m, k, p)>
#b = affine_map<(m, n, k, p) -> (k, n, p)>
#d = affine_map<(m, n, k, p) -> (m, n, p)>

// CHECK-LABEL: func.func @dual(
//  CHECK-SAME:   %[[A:[^:]*]]: tensor<4x8x2xf32>, %[[B:[^:]*]]: tensor<8x6x2xf32>)
//   CHECK-NOT:   tile.algebra

// One operand as it lies, the other one with a column for each component of the result.
//        LAID:   %[[START:.*]] = linalg.fill
//        LAID:   %[[B0:.*]] = tensor.extract_slice %[[B]][0, 0, 0] [8, 6, 1] [1, 1, 1]
//        LAID:   %[[B1:.*]] = tensor.extract_slice %[[B]][0, 0, 1] [8, 6, 1] [1, 1, 1]
//        LAID:   %[[WIDE:.*]] = linalg.generic {{.*}} ins(%[[B0]], %[[B1]] : {{.*}}) outs({{.*}} : tensor<6x2x8x2xf32>)
//        LAID:   linalg.generic {{.*}} ins(%[[A]], %[[WIDE]] : {{.*}}) outs(%[[START]] : tensor<4x6x2xf32>)

// The first component needs nothing of the second one of A: three units of work. Components lie apart, so that it reads
// parts of what the second one reads.
//      GROUPS:   %[[APART:.*]] = linalg.generic {{.*}} outs({{.*}} : tensor<4x2x8xf32>)
//      GROUPS:   %[[WIDE:.*]] = linalg.generic {{.*}} outs({{.*}} : tensor<6x1x2x8xf32>)
//      GROUPS:   %[[SECOND:.*]] = linalg.generic {{.*}} ins(%[[APART]], %[[WIDE]] : {{.*}}) outs({{.*}} : tensor<4x6x1xf32>)
//      GROUPS:   %[[RE:.*]] = tensor.extract_slice %[[APART]][0, 0, 0] [4, 1, 8]
//      GROUPS:   %[[LAST:.*]] = tensor.extract_slice %[[WIDE]][0, 0, 1, 0] [6, 1, 1, 8]
//      GROUPS:   %[[FIRST:.*]] = linalg.generic {{.*}} ins(%[[RE]], %[[LAST]] : {{.*}}) outs({{.*}} : tensor<4x6x1xf32>)
//  GROUPS-DAG:   tensor.extract_slice %[[FIRST]]
//  GROUPS-DAG:   tensor.extract_slice %[[SECOND]]
//      GROUPS:   arith.select

// All components of A, beside its rows, with all of B, as it lies.
//       OUTER:   %[[ROWS:.*]] = linalg.generic {{.*}} outs({{.*}} : tensor<4x2x8xf32>)
//       OUTER:   %[[ALL:.*]] = linalg.generic {{.*}} ins(%[[ROWS]], %[[B]] : {{.*}}) outs({{.*}} : tensor<4x2x6x2xf32>)
// OUTER-COUNT-3: tensor.extract_slice %[[ALL]]
//   OUTER-NOT:   tensor.extract_slice %[[ALL]]
func.func @dual(%A: tensor<4x8x2xf32>, %B: tensor<8x6x2xf32>) -> tensor<4x6x2xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x6x2xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x6x2xf32>) -> tensor<4x6x2xf32>
  %p = linalg.generic {indexing_maps = [#a, #b, #d], iterator_types = ["parallel", "parallel", "reduction", "parallel"],
                       tile.algebra = "dual"}
      ins(%A, %B : tensor<4x8x2xf32>, tensor<8x6x2xf32>) outs(%f : tensor<4x6x2xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<4x6x2xf32>
  return %p : tensor<4x6x2xf32>
}

// Constants of one's own, here Gauss's integers, with an algorithm of three multiplications.
// CHECK-LABEL: func.func @constants(
//   CHECK-NOT:   tile.algebra
//       STEPS:   linalg.generic {{.*}} outs({{.*}} : tensor<3x4x8xf32>)
//       STEPS:     arith.addf
//       STEPS:   linalg.generic {{.*}} outs({{.*}} : tensor<3x6x8xf32>)
//       STEPS:   %[[THREE:.*]] = linalg.generic {{.*}} outs({{.*}} : tensor<3x4x6xf32>)
// STEPS-COUNT-3: tensor.extract_slice %[[THREE]]
func.func @constants(%A: tensor<4x8x2xf32>, %B: tensor<8x6x2xf32>, %C: tensor<4x6x2xf32>) -> tensor<4x6x2xf32> {
  %p = linalg.generic {indexing_maps = [#a, #b, #d], iterator_types = ["parallel", "parallel", "reduction", "parallel"],
      tile.algebra = {constants = dense<[[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [-1.0, 0.0]]]> : tensor<2x2x2xf64>,
                      left = dense<[[1.0, 1.0], [1.0, 0.0], [0.0, 1.0]]> : tensor<3x2xf64>,
                      right = dense<[[1.0, 0.0], [-1.0, 1.0], [1.0, 1.0]]> : tensor<3x2xf64>,
                      result = dense<[[1.0, 0.0, -1.0], [1.0, 1.0, 0.0]]> : tensor<2x3xf64>}}
      ins(%A, %B : tensor<4x8x2xf32>, tensor<8x6x2xf32>) outs(%C : tensor<4x6x2xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<4x6x2xf32>
  return %p : tensor<4x6x2xf32>
}

// Three multiplications where they are faster, in a type whose errors grow little; not where they are not wanted, nor in
// f16 where they are not asked for.
// AUTO: module attributes {tile.note = "{{.*}}errors are relative to whole elements, their bound 2 times
// AUTO-LABEL: func.func @named(
//       AUTO:   linalg.generic {{.*}} outs({{.*}} : tensor<3x4x6xf32>)
// AUTO-LABEL: func.func @schoolbook(
//   AUTO-NOT:   tensor<3x
// AUTO-LABEL: func.func @narrow(
//   AUTO-NOT:   tensor<3x
// AUTO: return
func.func @named(%A: tensor<4x8x2xf32>, %B: tensor<8x6x2xf32>) -> tensor<4x6x2xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x6x2xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x6x2xf32>) -> tensor<4x6x2xf32>
  %p = linalg.generic {indexing_maps = [#a, #b, #d], iterator_types = ["parallel", "parallel", "reduction", "parallel"],
                       tile.algebra = "complex"}
      ins(%A, %B : tensor<4x8x2xf32>, tensor<8x6x2xf32>) outs(%f : tensor<4x6x2xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<4x6x2xf32>
  return %p : tensor<4x6x2xf32>
}

func.func @schoolbook(%A: tensor<4x8x2xf32>, %B: tensor<8x6x2xf32>) -> tensor<4x6x2xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x6x2xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x6x2xf32>) -> tensor<4x6x2xf32>
  %p = linalg.generic {indexing_maps = [#a, #b, #d], iterator_types = ["parallel", "parallel", "reduction", "parallel"],
                       tile.algebra = {name = "complex", algorithm = "schoolbook"}}
      ins(%A, %B : tensor<4x8x2xf32>, tensor<8x6x2xf32>) outs(%f : tensor<4x6x2xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<4x6x2xf32>
  return %p : tensor<4x6x2xf32>
}

func.func @narrow(%A: tensor<4x8x2xf16>, %B: tensor<8x6x2xf16>) -> tensor<4x6x2xf16> {
  %z = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<4x6x2xf16>
  %f = linalg.fill ins(%z : f16) outs(%e : tensor<4x6x2xf16>) -> tensor<4x6x2xf16>
  %p = linalg.generic {indexing_maps = [#a, #b, #d], iterator_types = ["parallel", "parallel", "reduction", "parallel"],
                       tile.algebra = "complex"}
      ins(%A, %B : tensor<4x8x2xf16>, tensor<8x6x2xf16>) outs(%f : tensor<4x6x2xf16>) {
  ^bb0(%a: f16, %b: f16, %c: f16):
    %m = arith.mulf %a, %b : f16
    %s = arith.addf %c, %m : f16
    linalg.yield %s : f16
  } -> tensor<4x6x2xf16>
  return %p : tensor<4x6x2xf16>
}
