// read-components: sizes known at run time only, which the elements have as the buffer had them.
// RUN: mlir-gemm opt %s read-components | FileCheck %s
// RUN: mlir-gemm opt %s read-components read-components | FileCheck %s
// RUN: mlir-gemm opt %s find-components read-components | FileCheck %s

// The elements lie as [k, n]; the buffer was [n, k], of two numbers for each.
//       CHECK: #[[B:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-LABEL: func.func @f(
//   CHECK-NOT:   memref.alloc
//   CHECK-NOT: module @f_0
//       CHECK:   func.func @f_1(%{{.*}}, %[[RAW:.*]]: memref<?x?xf64> {tile.role = "in", tile.symbols = ["s1", "2*s2"]}, %{{.*}})
//       CHECK:   %[[WHOLE:.*]] = "tile.composite"(%[[RAW]]) {{{.*}}} : (memref<?x?xf64>) -> memref<?x?xf64>
//       CHECK:   linalg.generic {indexing_maps = [#{{.*}}, #[[B]], #{{.*}}]{{.*}} ins(%{{.*}}, %[[WHOLE]] :
#map = affine_map<(d0, d1, d2, d3) -> (d2, d0)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d1)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d3)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map4 = affine_map<(d0, d1, d2) -> (d0, d2)>
#map5 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map6 = affine_map<(d0, d1, d2) -> (d0, d1)>
module attributes {tile.chip = "sm_80", tile.stage = "import"} {
  func.func @f(%arg0: memref<?x?x2xf64> {tile.name = "A", tile.role = "in", tile.symbols = ["s0", "s1", ""]}, %arg1: memref<?x?x2xf64> {tile.name = "B", tile.role = "in", tile.symbols = ["s1", "s2", ""]}, %arg2: memref<?x?x2xf64> {tile.role = "result", tile.symbols = ["s0", "s2", ""]}) {
    %c1 = arith.constant 1 : index
    %dim = memref.dim %arg1, %c1 : memref<?x?x2xf64>
    %c1_0 = arith.constant 1 : index
    %dim_1 = memref.dim %arg0, %c1_0 : memref<?x?x2xf64>
    %alloc = memref.alloc(%dim, %dim_1) {tile.symbols = ["s2", "", "s1", ""]} : memref<?x2x?x2xf64>
    %intptr = memref.extract_aligned_pointer_as_index %arg1 : memref<?x?x2xf64> -> index
    %intptr_2 = memref.extract_aligned_pointer_as_index %alloc : memref<?x2x?x2xf64> -> index
    "tile.run"(%intptr, %intptr, %intptr_2) {kernel = "f_0", operandSegmentSizes = array<i32: 3>} : (index, index, index) -> ()
    %intptr_3 = memref.extract_aligned_pointer_as_index %arg0 : memref<?x?x2xf64> -> index
    %intptr_4 = memref.extract_aligned_pointer_as_index %arg2 : memref<?x?x2xf64> -> index
    "tile.run"(%intptr_3, %intptr_2, %intptr_4) {kernel = "f_1", operandSegmentSizes = array<i32: 3>} : (index, index, index) -> ()
    return
  }
  module @f_0 attributes {tile.chip = "sm_80", tile.stage = "import"} {
    func.func @f_0(%arg0: memref<?x?xf64, strided<[?, 2]>> {tile.role = "in", tile.strides = ["2*s2", ""], tile.symbols = ["s1", "s2"]}, %arg1: memref<?x?xf64, strided<[?, 2], offset: 1>> {tile.role = "in", tile.strides = ["2*s2", ""], tile.symbols = ["s1", "s2"]}, %arg2: memref<?x2x?x2xf64> {tile.role = "out", tile.symbols = ["s2", "", "s1", ""]}) attributes {tile.kind = "elementwise"} {
      %0 = "tile.position"() {operandSegmentSizes = array<i32: 0>} : () -> memref<2xi64>
      %c0_i64 = arith.constant 0 : i64
      linalg.generic {indexing_maps = [#map, #map, #map1, #map2, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg0, %arg1, %0, %0 : memref<?x?xf64, strided<[?, 2]>>, memref<?x?xf64, strided<[?, 2], offset: 1>>, memref<2xi64>, memref<2xi64>) outs(%arg2 : memref<?x2x?x2xf64>) {
      ^bb0(%in: f64, %in_0: f64, %in_1: i64, %in_2: i64, %out: f64):
        %1 = arith.negf %in_0 : f64
        %2 = arith.cmpi eq, %in_2, %c0_i64 : i64
        %3 = arith.select %2, %in, %1 : f64
        %4 = arith.select %2, %in_0, %in : f64
        %5 = arith.cmpi eq, %in_1, %c0_i64 : i64
        %6 = arith.select %5, %3, %4 : f64
        linalg.yield %6 : f64
      }
      return
    }
  }
  module @f_1 attributes {tile.chip = "sm_80", tile.cuts = {f_0 = "many of its tiles read the same elements, which are computed once in front"}, tile.stage = "import"} {
    func.func @f_1(%arg0: memref<?x?xf64> {tile.role = "in", tile.symbols = ["s0", "2*s1"]}, %arg1: memref<?x?xf64> {tile.laid_out = "2 kn", tile.role = "in", tile.symbols = ["2*s2", "2*s1"]}, %arg2: memref<?x?xf64> {tile.role = "out", tile.symbols = ["s0", "2*s2"]}) {
      %cst = arith.constant 0.000000e+00 : f64
      linalg.fill ins(%cst : f64) outs(%arg2 : memref<?x?xf64>)
      linalg.generic {indexing_maps = [#map4, #map5, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0, %arg1 : memref<?x?xf64>, memref<?x?xf64>) outs(%arg2 : memref<?x?xf64>) {
      ^bb0(%in: f64, %in_0: f64, %out: f64):
        %0 = arith.mulf %in, %in_0 : f64
        %1 = arith.addf %out, %0 : f64
        linalg.yield %1 : f64
      }
      return
    }
  }
}
