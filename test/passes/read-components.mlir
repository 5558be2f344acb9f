// read-components: a product reads dual numbers as they lie; the kernel that laid them out goes, and its buffer.
// RUN: mlir-gemm opt %s read-components | FileCheck %s
// RUN: mlir-gemm opt %s read-components read-components | FileCheck %s

// The buffer had n along its rows, the elements have k: the map is turned. Nothing is multiplied where both e are.
//       CHECK: #[[B:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-LABEL: func.func @f(
//   CHECK-NOT:   memref.alloc
//       CHECK:   %[[B0:.*]] = memref.extract_aligned_pointer_as_index %arg1
//       CHECK:   "tile.run"(%{{.*}}, %{{.*}}, %[[B0]], %{{.*}}) {kernel = "f_1"
//   CHECK-NOT:   tile.run
//   CHECK-NOT: module @f_0
//       CHECK: module @f_1 attributes {tile.chip = "sm_80", tile.stage = "import"}
//       CHECK:   func.func @f_1({{.*}}, %[[RAW:.*]]: memref<32x128xf32> {tile.role = "in"}, %{{.*}}: memref<64x128xf32> {tile.role = "out"})
//       CHECK:   %[[WHOLE:.*]] = "tile.composite"(%[[RAW]]) {constants = dense<{{\[}}{{\[}}[1.000000e+00, 0.000000e+00], [0.000000e+00, 1.000000e+00]], {{\[}}[0.000000e+00, 1.000000e+00], [0.000000e+00, 0.000000e+00]]]> : tensor<2x2x2xf64>} : (memref<32x128xf32>) -> memref<64x128xf32>
//       CHECK:   linalg.generic {indexing_maps = [#{{.*}}, #[[B]], #{{.*}}]{{.*}} ins(%{{.*}}, %[[WHOLE]] :
#map = affine_map<(d0, d1, d2, d3) -> (d2, d0)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d1)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d3)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map4 = affine_map<(d0, d1, d2) -> (d0, d2)>
#map5 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map6 = affine_map<(d0, d1, d2) -> (d0, d1)>
module attributes {tile.chip = "sm_80", tile.stage = "import"} {
  func.func @f(%arg0: memref<64x32x2xf32> {tile.name = "a", tile.role = "in"}, %arg1: memref<32x64x2xf32> {tile.name = "b", tile.role = "in"}, %arg2: memref<64x64x2xf32> {tile.name = "c", tile.role = "in"}, %arg3: memref<64x64x2xf32> {tile.role = "result"}) {
    %alloc = memref.alloc() : memref<64x2x32x2xf32>
    %intptr = memref.extract_aligned_pointer_as_index %arg1 : memref<32x64x2xf32> -> index
    %intptr_0 = memref.extract_aligned_pointer_as_index %alloc : memref<64x2x32x2xf32> -> index
    "tile.run"(%intptr, %intptr, %intptr_0) {kernel = "f_0", operandSegmentSizes = array<i32: 3>} : (index, index, index) -> ()
    %intptr_1 = memref.extract_aligned_pointer_as_index %arg2 : memref<64x64x2xf32> -> index
    %intptr_2 = memref.extract_aligned_pointer_as_index %arg0 : memref<64x32x2xf32> -> index
    %intptr_3 = memref.extract_aligned_pointer_as_index %arg3 : memref<64x64x2xf32> -> index
    "tile.run"(%intptr_1, %intptr_2, %intptr_0, %intptr_3) {kernel = "f_1", operandSegmentSizes = array<i32: 4>} : (index, index, index, index) -> ()
    return
  }
  module @f_0 attributes {tile.chip = "sm_80", tile.stage = "import"} {
    func.func @f_0(%arg0: memref<32x64xf32, strided<[128, 2]>> {tile.role = "in"}, %arg1: memref<32x64xf32, strided<[128, 2], offset: 1>> {tile.role = "in"}, %arg2: memref<64x2x32x2xf32> {tile.role = "out"}) attributes {tile.kind = "elementwise"} {
      %0 = "tile.position"() {operandSegmentSizes = array<i32: 0>} : () -> memref<2xi64>
      %c0_i64 = arith.constant 0 : i64
      %cst = arith.constant 0.000000e+00 : f32
      linalg.generic {indexing_maps = [#map, #map, #map1, #map2, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg0, %arg1, %0, %0 : memref<32x64xf32, strided<[128, 2]>>, memref<32x64xf32, strided<[128, 2], offset: 1>>, memref<2xi64>, memref<2xi64>) outs(%arg2 : memref<64x2x32x2xf32>) {
      ^bb0(%in: f32, %in_0: f32, %in_1: i64, %in_2: i64, %out: f32):
        %1 = arith.cmpi eq, %in_2, %c0_i64 : i64
        %2 = arith.select %1, %in, %cst : f32
        %3 = arith.select %1, %in_0, %in : f32
        %4 = arith.cmpi eq, %in_1, %c0_i64 : i64
        %5 = arith.select %4, %2, %3 : f32
        linalg.yield %5 : f32
      }
      return
    }
  }
  module @f_1 attributes {tile.chip = "sm_80", tile.cuts = {f_0 = "many of its tiles read the same elements, which are computed once in front"}, tile.stage = "import"} {
    func.func @f_1(%arg0: memref<64x128xf32> {tile.role = "in"}, %arg1: memref<64x64xf32> {tile.role = "in"}, %arg2: memref<128x64xf32> {tile.laid_out = "2 kn", tile.role = "in"}, %arg3: memref<64x128xf32> {tile.role = "out"}) {
      linalg.copy ins(%arg0 : memref<64x128xf32>) outs(%arg3 : memref<64x128xf32>)
      linalg.generic {indexing_maps = [#map4, #map5, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg1, %arg2 : memref<64x64xf32>, memref<128x64xf32>) outs(%arg3 : memref<64x128xf32>) {
      ^bb0(%in: f32, %in_0: f32, %out: f32):
        %0 = arith.mulf %in, %in_0 : f32
        %1 = arith.addf %out, %0 : f32
        linalg.yield %1 : f32
      }
      return
    }
  }
}
