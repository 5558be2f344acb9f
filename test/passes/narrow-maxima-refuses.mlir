// What narrow-maxima leaves as it is.
// RUN: mlir-gemm opt %s narrow-maxima | FileCheck %s

// Sums, whose clipped tiles are added up in f32.
// CHECK-LABEL: func.func @sum(
//       CHECK:   "tile.clip"{{.*}}neutral = -0.000000e+00 : f32
//       CHECK:   arith.addf %{{.*}} : vector<1x8xf32>
func.func @sum(%a: vector<1x8xf16>, %b: vector<1x8xf32>) -> vector<1x8xf32> {
  %c0 = arith.constant 0 : index
  %c9 = arith.constant 9 : index
  %wa = arith.extf %a : vector<1x8xf16> to vector<1x8xf32>
  %clipped = "tile.clip"(%wa, %c0, %c9) {dim = 1 : i64, neutral = -0.0 : f32} : (vector<1x8xf32>, index, index) -> vector<1x8xf32>
  %0 = arith.addf %clipped, %b : vector<1x8xf32>
  return %0 : vector<1x8xf32>
}

// A number beyond rows that f16 does not have.
// CHECK-LABEL: func.func @bound(
//       CHECK:   "tile.clip"{{.*}} : f32}
//       CHECK:   arith.maximumf %{{.*}} : vector<1x8xf32>
func.func @bound(%a: vector<1x8xf16>, %b: vector<1x8xf16>) -> vector<1x8xf32> {
  %c0 = arith.constant 0 : index
  %c9 = arith.constant 9 : index
  %wa = arith.extf %a : vector<1x8xf16> to vector<1x8xf32>
  %wb = arith.extf %b : vector<1x8xf16> to vector<1x8xf32>
  %clipped = "tile.clip"(%wa, %c0, %c9) {dim = 1 : i64, neutral = -1.0e+30 : f32} : (vector<1x8xf32>, index, index) -> vector<1x8xf32>
  %0 = arith.maximumf %clipped, %wb : vector<1x8xf32>
  return %0 : vector<1x8xf32>
}

// Two narrow types, and numbers that are no tiles.
// CHECK-LABEL: func.func @others(
// CHECK-COUNT-2: arith.maximumf %{{.*}} : vector<1x8xf32>
//         CHECK: arith.maximumf %{{.*}} : f32
func.func @others(%a: vector<1x8xf16>, %b: vector<1x8xbf16>, %c: f16, %d: f16) -> (vector<1x8xf32>, vector<1x8xf32>, f32) {
  %wa = arith.extf %a : vector<1x8xf16> to vector<1x8xf32>
  %wb = arith.extf %b : vector<1x8xbf16> to vector<1x8xf32>
  %wc = arith.extf %c : f16 to f32
  %wd = arith.extf %d : f16 to f32
  %0 = arith.maximumf %wa, %wb : vector<1x8xf32>
  %1 = arith.maximumf %0, %wb : vector<1x8xf32>
  %2 = arith.maximumf %wc, %wd : f32
  return %0, %1, %2 : vector<1x8xf32>, vector<1x8xf32>, f32
}
