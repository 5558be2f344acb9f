// move-slices leaves slices along sums, of results that are read otherwise too, in the middle of a product's rows,
// and of most of a product; it has no options.
// RUN: mlir-gemm opt --split-input-file %s move-slices | FileCheck %s
// RUN: not mlir-gemm opt --split-input-file %s 'move-slices{most=2}' 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: error: pass 'move-slices' has no option 'most' (options: none)

#e = affine_map<(i, j) -> (i, j)>
#r = affine_map<(i, j) -> (i)>

// Each row is read whole for its sum, and once: a part of the row would be read again.
// CHECK-LABEL: func.func @along_a_sum(
//       CHECK:   %[[Y:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<9x8xf32>)
//       CHECK:     arith.divf
//       CHECK:   tensor.extract_slice %[[Y]][0, 0] [9, 2] [1, 1]
func.func @along_a_sum(%x: tensor<9x8xf32>) -> tensor<9x2xf32> {
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<9xf32>
  %f = linalg.fill ins(%zero : f32) outs(%se : tensor<9xf32>) -> tensor<9xf32>
  %s = linalg.generic {indexing_maps = [#e, #r], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<9x8xf32>) outs(%f : tensor<9xf32>) {
  ^bb0(%v: f32, %o: f32):
    %a = arith.addf %o, %v : f32
    linalg.yield %a : f32
  } -> tensor<9xf32>
  %e = tensor.empty() : tensor<9x8xf32>
  %y = linalg.generic {indexing_maps = [#e, #r, #e], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<9x8xf32>, tensor<9xf32>) outs(%e : tensor<9x8xf32>) {
  ^bb0(%v: f32, %u: f32, %o: f32):
    %q = arith.divf %v, %u : f32
    linalg.yield %q : f32
  } -> tensor<9x8xf32>
  %part = tensor.extract_slice %y[0, 0] [9, 2] [1, 1] : tensor<9x8xf32> to tensor<9x2xf32>
  return %part : tensor<9x2xf32>
}

// -----

#e = affine_map<(i, j) -> (i, j)>

// Two parts, which together are all.
// CHECK-LABEL: func.func @halves(
//       CHECK:   %[[Y:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<9x8xf32>)
//       CHECK:   tensor.extract_slice %[[Y]][0, 0] [9, 4]
//       CHECK:   tensor.extract_slice %[[Y]][0, 4] [9, 4]
func.func @halves(%x: tensor<9x8xf32>) -> (tensor<9x4xf32>, tensor<9x4xf32>) {
  %e = tensor.empty() : tensor<9x8xf32>
  %y = linalg.generic {indexing_maps = [#e, #e], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<9x8xf32>) outs(%e : tensor<9x8xf32>) {
  ^bb0(%v: f32, %o: f32):
    %q = math.exp %v : f32
    linalg.yield %q : f32
  } -> tensor<9x8xf32>
  %a = tensor.extract_slice %y[0, 0] [9, 4] [1, 1] : tensor<9x8xf32> to tensor<9x4xf32>
  %b = tensor.extract_slice %y[0, 4] [9, 4] [1, 1] : tensor<9x8xf32> to tensor<9x4xf32>
  return %a, %b : tensor<9x4xf32>, tensor<9x4xf32>
}

// -----

#e = affine_map<(i, j) -> (i, j)>

// CHECK-LABEL: func.func @returned(
//       CHECK:   %[[Y:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<9x8xf32>)
//       CHECK:   %[[PART:.*]] = tensor.extract_slice %[[Y]]
//       CHECK:   return %[[Y]], %[[PART]]
func.func @returned(%x: tensor<9x8xf32>) -> (tensor<9x8xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<9x8xf32>
  %y = linalg.generic {indexing_maps = [#e, #e], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<9x8xf32>) outs(%e : tensor<9x8xf32>) {
  ^bb0(%v: f32, %o: f32):
    %q = math.exp %v : f32
    linalg.yield %q : f32
  } -> tensor<9x8xf32>
  %a = tensor.extract_slice %y[8, 0] [1, 8] [1, 1] : tensor<9x8xf32> to tensor<8xf32>
  return %y, %a : tensor<9x8xf32>, tensor<8xf32>
}

// -----

#e = affine_map<(i, j) -> (i, j)>
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Rows of the part would not be aligned where those of w are.
// CHECK-LABEL: func.func @middle_of_rows(
//       CHECK:   linalg.generic {{.*}} outs(%{{.*}} : tensor<16x64xf16>)
//       CHECK:   tensor.extract_slice %{{.*}}[0, 3] [16, 32]
func.func @middle_of_rows(%x: tensor<16x8xf16>, %w: tensor<8x64xf16>, %c: tensor<16x64xf16>) -> tensor<16x32xf16> {
  %p = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<16x8xf16>, tensor<8x64xf16>) outs(%c : tensor<16x64xf16>) {
  ^bb0(%v: f16, %u: f16, %o: f16):
    %q = arith.mulf %v, %u : f16
    %s = arith.addf %o, %q : f16
    linalg.yield %s : f16
  } -> tensor<16x64xf16>
  %a = tensor.extract_slice %p[0, 3] [16, 32] [1, 1] : tensor<16x64xf16> to tensor<16x32xf16>
  return %a : tensor<16x32xf16>
}

// -----

#e = affine_map<(i, j) -> (i, j)>

// Of y two parts are wanted: y is computed once, and read twice.
// CHECK-LABEL: func.func @two_parts(
//       CHECK:   %[[Y:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<9x8xf32>)
//       CHECK:     math.exp
//   CHECK-NOT:     math.exp
//       CHECK:   tensor.extract_slice %[[Y]]
//       CHECK:   tensor.extract_slice %[[Y]]
//       CHECK:   linalg.generic {{.*}} outs(%{{.*}} : tensor<1x8xf32>)
func.func @two_parts(%x: tensor<9x8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<9x8xf32>
  %y = linalg.generic {indexing_maps = [#e, #e], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<9x8xf32>) outs(%e : tensor<9x8xf32>) {
  ^bb0(%v: f32, %o: f32):
    %q = math.exp %v : f32
    linalg.yield %q : f32
  } -> tensor<9x8xf32>
  %head = tensor.extract_slice %y[0, 0] [8, 8] [1, 1] : tensor<9x8xf32> to tensor<8x8xf32>
  %tail = tensor.extract_slice %y[1, 0] [8, 8] [1, 1] : tensor<9x8xf32> to tensor<8x8xf32>
  %de = tensor.empty() : tensor<8x8xf32>
  %d = linalg.generic {indexing_maps = [#e, #e, #e], iterator_types = ["parallel", "parallel"]}
      ins(%head, %tail : tensor<8x8xf32>, tensor<8x8xf32>) outs(%de : tensor<8x8xf32>) {
  ^bb0(%v: f32, %u: f32, %o: f32):
    %q = arith.subf %v, %u : f32
    linalg.yield %q : f32
  } -> tensor<8x8xf32>
  %a = tensor.extract_slice %d[7, 0] [1, 8] [1, 1] : tensor<8x8xf32> to tensor<8xf32>
  return %a : tensor<8xf32>
}

// -----

#e = affine_map<(b, t, c) -> (b, t, c)>
#btk = affine_map<(b, t, n, k) -> (b, t, k)>
#kn = affine_map<(b, t, n, k) -> (k, n)>
#btn = affine_map<(b, t, n, k) -> (b, t, n)>

// All but one row of each batch: 36 rows that follow one another fill tiles better than 4 times 8, and what comes after
// the product is its epilogue.
// CHECK-LABEL: func.func @most_of_a_product(
//       CHECK:   linalg.generic {{.*}} outs(%{{.*}} : tensor<4x9x16xf32>)
//       CHECK:   %[[Y:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<4x9x16xf32>)
//       CHECK:     math.exp
//       CHECK:   tensor.extract_slice %[[Y]][0, 1, 0] [4, 8, 16]
func.func @most_of_a_product(%x: tensor<4x9x8xf32>, %w: tensor<8x16xf32>, %c: tensor<4x9x16xf32>) -> tensor<4x8x16xf32> {
  %p = linalg.generic {indexing_maps = [#btk, #kn, #btn], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4x9x8xf32>, tensor<8x16xf32>) outs(%c : tensor<4x9x16xf32>) {
  ^bb0(%v: f32, %u: f32, %o: f32):
    %q = arith.mulf %v, %u : f32
    %s = arith.addf %o, %q : f32
    linalg.yield %s : f32
  } -> tensor<4x9x16xf32>
  %e = tensor.empty() : tensor<4x9x16xf32>
  %y = linalg.generic {indexing_maps = [#e, #e], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p : tensor<4x9x16xf32>) outs(%e : tensor<4x9x16xf32>) {
  ^bb0(%v: f32, %o: f32):
    %q = math.exp %v : f32
    linalg.yield %q : f32
  } -> tensor<4x9x16xf32>
  %a = tensor.extract_slice %y[0, 1, 0] [4, 8, 16] [1, 1, 1] : tensor<4x9x16xf32> to tensor<4x8x16xf32>
  return %a : tensor<4x8x16xf32>
}
