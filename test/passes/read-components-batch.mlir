// read-components: of a batch whose matrices lie beside each other, each is a view of the elements.
// RUN: mlir-gemm opt %s read-components | FileCheck %s
// RUN: mlir-gemm opt %s read-components read-components | FileCheck %s

// The elements lie as [k, batch, n]; the buffer was [batch, n, k].
//       CHECK: #[[B:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>
// CHECK-LABEL: func.func @f(
//   CHECK-NOT:   memref.alloc
//   CHECK-NOT: module @f_0
//       CHECK:   func.func @f_1(%{{.*}}, %[[RAW:.*]]: memref<3x48x64xf32, strided<[64, 192, 1]>> {tile.role = "in"}, %{{.*}})
//       CHECK:   %[[WHOLE:.*]] = "tile.composite"(%[[RAW]]) {{{.*}}} : (memref<3x48x64xf32, strided<[64, 192, 1]>>) -> memref<3x96x64xf32>
//       CHECK:   linalg.generic {indexing_maps = [#{{.*}}, #[[B]], #{{.*}}]{{.*}} ins(%{{.*}}, %[[WHOLE]] :
#map = affine_map<(d0, d1, d2, d3) -> (d2, d0)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d1)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d3)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
#map5 = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>
#map6 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
module attributes {tile.chip = "sm_80", tile.stage = "import"} {
  func.func @f(%arg0: memref<3x64x48x2xf32> {tile.name = "A", tile.role = "in"}, %arg1: memref<48x3x32x2xf32> {tile.name = "B", tile.role = "in"}, %arg2: memref<3x64x32x2xf32> {tile.role = "result"}) {
    %alloc = memref.alloc() : memref<3x32x2x48x2xf32>
    %intptr = memref.extract_aligned_pointer_as_index %arg1 : memref<48x3x32x2xf32> -> index
    %intptr_0 = memref.extract_aligned_pointer_as_index %alloc : memref<3x32x2x48x2xf32> -> index
    "tile.run"(%intptr, %intptr, %intptr_0) {kernel = "f_0", operandSegmentSizes = array<i32: 3>} : (index, index, index) -> ()
    %intptr_1 = memref.extract_aligned_pointer_as_index %arg0 : memref<3x64x48x2xf32> -> index
    %intptr_2 = memref.extract_aligned_pointer_as_index %arg2 : memref<3x64x32x2xf32> -> index
    "tile.run"(%intptr_1, %intptr_0, %intptr_2) {kernel = "f_1", operandSegmentSizes = array<i32: 3>} : (index, index, index) -> ()
    return
  }
  module @f_0 attributes {tile.chip = "sm_80", tile.stage = "import"} {
    func.func @f_0(%arg0: memref<48x96xf32, strided<[192, 2]>> {tile.role = "in"}, %arg1: memref<48x96xf32, strided<[192, 2], offset: 1>> {tile.role = "in"}, %arg2: memref<96x2x48x2xf32> {tile.role = "out"}) attributes {tile.kind = "elementwise"} {
      %0 = "tile.position"() {operandSegmentSizes = array<i32: 0>} : () -> memref<2xi64>
      %c0_i64 = arith.constant 0 : i64
      %cst = arith.constant 0.000000e+00 : f32
      linalg.generic {indexing_maps = [#map, #map, #map1, #map2, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg0, %arg1, %0, %0 : memref<48x96xf32, strided<[192, 2]>>, memref<48x96xf32, strided<[192, 2], offset: 1>>, memref<2xi64>, memref<2xi64>) outs(%arg2 : memref<96x2x48x2xf32>) {
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
    func.func @f_1(%arg0: memref<3x64x96xf32> {tile.role = "in"}, %arg1: memref<3x64x96xf32> {tile.laid_out = "2 kn", tile.role = "in"}, %arg2: memref<3x64x64xf32> {tile.role = "out"}) {
      %cst = arith.constant 0.000000e+00 : f32
      linalg.fill ins(%cst : f32) outs(%arg2 : memref<3x64x64xf32>)
      linalg.generic {indexing_maps = [#map4, #map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%arg0, %arg1 : memref<3x64x96xf32>, memref<3x64x96xf32>) outs(%arg2 : memref<3x64x64xf32>) {
      ^bb0(%in: f32, %in_0: f32, %out: f32):
        %0 = arith.mulf %in, %in_0 : f32
        %1 = arith.addf %out, %0 : f32
        linalg.yield %1 : f32
      }
      return
    }
  }
}
