// narrow-maxima: maxima of extended tiles become those of the tiles.
// RUN: mlir-gemm opt %s narrow-maxima cse canonicalize | FileCheck %s
// RUN: mlir-gemm opt %s narrow-maxima narrow-maxima cse canonicalize | FileCheck %s

// The tree of four tiles, of which the first and the last may begin before a row or end after it, is one of f16; what
// comes of it is extended.
// CHECK-LABEL: func.func @tree(
//       CHECK:   %[[FIRST:.*]] = "tile.clip"(%arg0, %c0, %c9) {dim = 1 : i64, neutral = 0xFC00 : f16} : (vector<1x8xf16>
//       CHECK:   %[[LAST:.*]] = "tile.clip"(%arg3, {{.*}}neutral = 0xFC00 : f16}
//       CHECK:   %[[ONE:.*]] = arith.maximumf %[[FIRST]], %arg1 : vector<1x8xf16>
//       CHECK:   %[[OTHER:.*]] = arith.maximumf %arg2, %[[LAST]] : vector<1x8xf16>
//       CHECK:   %[[ALL:.*]] = arith.maximumf %[[ONE]], %[[OTHER]] : vector<1x8xf16>
//       CHECK:   %[[WIDE:.*]] = arith.extf %[[ALL]] : vector<1x8xf16> to vector<1x8xf32>
//       CHECK:   arith.maximumf %[[WIDE]], %arg4 : vector<1x8xf32>
func.func @tree(%a: vector<1x8xf16>, %b: vector<1x8xf16>, %c: vector<1x8xf16>, %d: vector<1x8xf16>, %before: vector<1x8xf32>) -> vector<1x8xf32> {
  %c0 = arith.constant 0 : index
  %c9 = arith.constant 9 : index
  %wa = arith.extf %a : vector<1x8xf16> to vector<1x8xf32>
  %wb = arith.extf %b : vector<1x8xf16> to vector<1x8xf32>
  %wc = arith.extf %c : vector<1x8xf16> to vector<1x8xf32>
  %wd = arith.extf %d : vector<1x8xf16> to vector<1x8xf32>
  %first = "tile.clip"(%wa, %c0, %c9) {dim = 1 : i64, neutral = 0xFF800000 : f32} : (vector<1x8xf32>, index, index) -> vector<1x8xf32>
  %last = "tile.clip"(%wd, %c0, %c9) {dim = 1 : i64, neutral = 0xFF800000 : f32} : (vector<1x8xf32>, index, index) -> vector<1x8xf32>
  %0 = arith.maximumf %first, %wb : vector<1x8xf32>
  %1 = arith.maximumf %wc, %last : vector<1x8xf32>
  %2 = arith.maximumf %0, %1 : vector<1x8xf32>
  %3 = arith.maximumf %2, %before : vector<1x8xf32>
  return %3 : vector<1x8xf32>
}

// The least of bf16.
// CHECK-LABEL: func.func @least(
//       CHECK:   %[[LEAST:.*]] = arith.minimumf %arg0, %arg1 : vector<1x8xbf16>
//       CHECK:   arith.extf %[[LEAST]]
func.func @least(%a: vector<1x8xbf16>, %b: vector<1x8xbf16>) -> vector<1x8xf32> {
  %wa = arith.extf %a : vector<1x8xbf16> to vector<1x8xf32>
  %wb = arith.extf %b : vector<1x8xbf16> to vector<1x8xf32>
  %0 = arith.minimumf %wa, %wb : vector<1x8xf32>
  return %0 : vector<1x8xf32>
}
