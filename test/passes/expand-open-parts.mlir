// expand-open-parts reads parts of open sizes at computed positions.
// RUN: mlir-gemm opt --split-input-file %s expand-open-parts | FileCheck %s
// RUN: mlir-gemm opt --split-input-file %s expand-open-parts expand-open-parts | FileCheck %s

// CHECK-LABEL: func.func @concat
// CHECK-SAME: (%[[A:.*]]: tensor<?x8xf32>, %[[B:.*]]: tensor<?x8xf32>)
// CHECK-NOT: tensor.concat
// CHECK: linalg.generic
// CHECK: %[[I:.*]] = linalg.index 0
// CHECK: %[[J:.*]] = linalg.index 1
// CHECK: %[[OLD:.*]] = tensor.extract %[[A]][%[[I]], %[[J]]]
// CHECK: %[[LATER:.*]] = arith.subi %[[I]], %[[N:.*]] : index
// CHECK: %[[NEW:.*]] = tensor.extract %[[B]][%[[LATER]], %[[J]]]
// CHECK: %[[IS_NEW:.*]] = arith.cmpi sge, %[[I]], %{{.*}} : index
// CHECK: arith.select %[[IS_NEW]], %[[NEW]], %[[OLD]]
func.func @concat(%A: tensor<?x8xf32>, %B: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %r = tensor.concat dim(0) %A, %B : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}

// -----

// Windows of a padded image are copied once.
// CHECK-LABEL: func.func @windows
// CHECK-NOT: tensor.pad
// CHECK-NOT: outs(%{{.*}} : tensor<?xf32>)
// CHECK: %[[COPY:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]} outs(%{{.*}} : tensor<?x3xf32>)
// CHECK: tensor.extract %{{.*}} : tensor<?xf32>
// CHECK: linalg.generic {indexing_maps = [#[[BOTH:.*]], #{{.*}}, #{{.*}}], iterator_types = ["parallel", "reduction"]} ins(%[[COPY]], %{{.*}} : tensor<?x3xf32>, tensor<3xf32>)
func.func @windows(%x: tensor<?xf32>, %w: tensor<3xf32>, %o: tensor<?xf32>) -> tensor<?xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<?xf32> to tensor<?xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i + j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%p, %w : tensor<?xf32>, tensor<3xf32>) outs(%o : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// A slice of a part, and one that is written into.
// CHECK-LABEL: func.func @slices
// CHECK-SAME: (%[[X:.*]]: tensor<?xf32>, %[[Y:.*]]: tensor<?xf32>)
// CHECK-NOT: tensor.extract_slice
// CHECK-NOT: tensor.insert_slice
// CHECK: %[[NEW:.*]] = tensor.extract %[[X]]
// CHECK: %[[OLD:.*]] = tensor.extract %[[Y]]
// CHECK: arith.select %{{.*}}, %[[NEW]], %[[OLD]]
func.func @slices(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %m = arith.subi %n, %c1 : index
  %s = tensor.extract_slice %x[1] [%m] [1] : tensor<?xf32> to tensor<?xf32>
  %r = tensor.insert_slice %s into %y[0] [%m] [1] : tensor<?xf32> into tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

// All of a dimension is no part of it.
// CHECK-LABEL: func.func @whole
// CHECK: tensor.extract_slice
func.func @whole(%x: tensor<?x8xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %s = tensor.extract_slice %x[0, 2] [%n, 4] [1, 1] : tensor<?x8xf32> to tensor<?x4xf32>
  return %s : tensor<?x4xf32>
}

// -----

// A part that starts at a constant place, with constant steps, is a view of memory: it stays a slice.
// CHECK-LABEL: func.func @views
// CHECK-NOT: tensor.extract %
// CHECK: tensor.extract_slice %{{.*}}[0, 1, 0] [3, %{{.*}}, 16] [1, 2, 1]
// CHECK-NOT: tensor.extract %
// CHECK: return
func.func @views(%x: tensor<3x?x16xf32>) -> tensor<3x?x16xf32> {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c1 : tensor<3x?x16xf32>
  %m = arith.floordivsi %n, %c2 : index
  %s = tensor.extract_slice %x[0, 1, 0] [3, %m, 16] [1, 2, 1] : tensor<3x?x16xf32> to tensor<3x?x16xf32>
  %e = tensor.empty(%m) : tensor<3x?x16xf32>
  %r = linalg.exp ins(%s : tensor<3x?x16xf32>) outs(%e : tensor<3x?x16xf32>) -> tensor<3x?x16xf32>
  return %r : tensor<3x?x16xf32>
}

// -----

// One that starts where a size says is no view: `x[1:]` of rows of an open length starts after one of them. Nor is a
// part of constant sizes, which has an open stride here.
// CHECK-LABEL: func.func @no_views
// CHECK-NOT: tensor.extract_slice
// CHECK-COUNT-2: tensor.extract %
func.func @no_views(%x: tensor<4x?xf32>) -> (tensor<3x?xf32>, tensor<4x2xf32>) {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c1 : tensor<4x?xf32>
  %m = arith.subi %n, %c1 : index
  %s = tensor.extract_slice %x[1, 0] [3, %m] [1, 1] : tensor<4x?xf32> to tensor<3x?xf32>
  %t = tensor.extract_slice %x[0, 5] [4, 2] [1, 1] : tensor<4x?xf32> to tensor<4x2xf32>
  return %s, %t : tensor<3x?xf32>, tensor<4x2xf32>
}
