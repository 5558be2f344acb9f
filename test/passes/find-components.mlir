// find-components: a B that a kernel in front lays out of dual numbers says so; one with another body does not.
// RUN: mlir-gemm opt %s find-components --split-input-file | FileCheck %s
// RUN: mlir-gemm opt %s find-components find-components --split-input-file | FileCheck %s

// The elements lie as [k, n]; the kernel lays them out as [n, k].
// CHECK-LABEL: module @f_1
//       CHECK:   func.func @f_1(%arg0: memref<64x128xf32> {tile.role = "in"}, %arg1: memref<64x64xf32> {tile.role = "in"}, %arg2: memref<128x64xf32> {tile.laid_out = "2 kn", tile.role = "in"}
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
    func.func @f_1(%arg0: memref<64x128xf32> {tile.role = "in"}, %arg1: memref<64x64xf32> {tile.role = "in"}, %arg2: memref<128x64xf32> {tile.role = "in"}, %arg3: memref<64x128xf32> {tile.role = "out"}) {
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

// -----

// A product of components is no sum of them.
// CHECK-LABEL: module @f_1
//   CHECK-NOT:   tile.laid_out
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
        %9 = arith.mulf %in_0, %in : f32
        %3 = arith.select %1, %9, %in : f32
        %4 = arith.cmpi eq, %in_1, %c0_i64 : i64
        %5 = arith.select %4, %2, %3 : f32
        linalg.yield %5 : f32
      }
      return
    }
  }
  module @f_1 attributes {tile.chip = "sm_80", tile.cuts = {f_0 = "many of its tiles read the same elements, which are computed once in front"}, tile.stage = "import"} {
    func.func @f_1(%arg0: memref<64x128xf32> {tile.role = "in"}, %arg1: memref<64x64xf32> {tile.role = "in"}, %arg2: memref<128x64xf32> {tile.role = "in"}, %arg3: memref<64x128xf32> {tile.role = "out"}) {
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

// -----

// Each component has a buffer of its own.
// CHECK-LABEL: module @einsum_2
//       CHECK:   func.func @einsum_2(%arg0: memref<64x96xf16> {tile.role = "in"}, %arg1: memref<64x96xf16> {tile.laid_out = "2 kn planes", tile.role = "in"}
#map = affine_map<(d0, d1) -> (d0)>
#map1 = affine_map<(d0, d1) -> (d1)>
#map2 = affine_map<(d0, d1) -> (d0, d1)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d2, d0)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d3)>
#map5 = affine_map<(d0, d1, d2, d3) -> (d1)>
#map6 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map7 = affine_map<(d0, d1, d2) -> (d0, d2)>
#map8 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map9 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map10 = affine_map<(d0) -> (d0)>
module attributes {tile.chip = "sm_80", tile.stage = "import"} {
  func.func @einsum(%arg0: memref<64x48xf16> {tile.name = "A0", tile.role = "in"}, %arg1: memref<64x48xf16> {tile.name = "A1", tile.role = "in"}, %arg2: memref<48x32xf16> {tile.name = "B0", tile.role = "in"}, %arg3: memref<48x32xf16> {tile.name = "B1", tile.role = "in"}, %arg4: memref<64x32xf16> {tile.role = "result"}, %arg5: memref<64x32xf16> {tile.role = "result"}) {
    %alloc = memref.alloc() : memref<64x48x2xf16>
    %intptr = memref.extract_aligned_pointer_as_index %arg0 : memref<64x48xf16> -> index
    %intptr_0 = memref.extract_aligned_pointer_as_index %arg1 : memref<64x48xf16> -> index
    %intptr_1 = memref.extract_aligned_pointer_as_index %alloc : memref<64x48x2xf16> -> index
    "tile.run"(%intptr, %intptr_0, %intptr_1) {kernel = "einsum_0", operandSegmentSizes = array<i32: 3>} : (index, index, index) -> ()
    %alloc_2 = memref.alloc() : memref<32x2x48x2xf16>
    %intptr_3 = memref.extract_aligned_pointer_as_index %arg2 : memref<48x32xf16> -> index
    %intptr_4 = memref.extract_aligned_pointer_as_index %arg3 : memref<48x32xf16> -> index
    %intptr_5 = memref.extract_aligned_pointer_as_index %alloc_2 : memref<32x2x48x2xf16> -> index
    "tile.run"(%intptr_3, %intptr_4, %intptr_5) {kernel = "einsum_1", operandSegmentSizes = array<i32: 3>} : (index, index, index) -> ()
    %alloc_6 = memref.alloc() : memref<64x32x2xf16>
    %intptr_7 = memref.extract_aligned_pointer_as_index %alloc_6 : memref<64x32x2xf16> -> index
    "tile.run"(%intptr_1, %intptr_5, %intptr_7) {kernel = "einsum_2", operandSegmentSizes = array<i32: 3>} : (index, index, index) -> ()
    %intptr_8 = memref.extract_aligned_pointer_as_index %arg4 : memref<64x32xf16> -> index
    "tile.run"(%intptr_7, %intptr_8) {kernel = "einsum_3", operandSegmentSizes = array<i32: 2>} : (index, index) -> ()
    %intptr_9 = memref.extract_aligned_pointer_as_index %arg5 : memref<64x32xf16> -> index
    "tile.run"(%intptr_7, %intptr_9) {kernel = "einsum_4", operandSegmentSizes = array<i32: 2>} : (index, index) -> ()
    return
  }
  module @einsum_0 attributes {tile.chip = "sm_80", tile.note = "operand A of a product is laid out anew: its 2 dimensions that are summed over do not follow one another evenly in both operands", tile.stage = "import"} {
    func.func @einsum_0(%arg0: memref<3072xf16> {tile.role = "in"}, %arg1: memref<3072xf16> {tile.role = "in"}, %arg2: memref<3072x2xf16> {tile.role = "out"}) attributes {tile.kind = "elementwise"} {
      %0 = "tile.position"() {operandSegmentSizes = array<i32: 0>} : () -> memref<2xi64>
      %c0_i64 = arith.constant 0 : i64
      linalg.generic {indexing_maps = [#map, #map, #map1, #map2], iterator_types = ["parallel", "parallel"]} ins(%arg0, %arg1, %0 : memref<3072xf16>, memref<3072xf16>, memref<2xi64>) outs(%arg2 : memref<3072x2xf16>) {
      ^bb0(%in: f16, %in_0: f16, %in_1: i64, %out: f16):
        %1 = arith.cmpi eq, %in_1, %c0_i64 : i64
        %2 = arith.select %1, %in, %in_0 : f16
        linalg.yield %2 : f16
      }
      return
    }
  }
  module @einsum_1 attributes {tile.chip = "sm_80", tile.note = "operand B of a product is laid out anew: its 2 dimensions that are summed over do not follow one another evenly in both operands", tile.stage = "import"} {
    func.func @einsum_1(%arg0: memref<48x32xf16> {tile.role = "in"}, %arg1: memref<48x32xf16> {tile.role = "in"}, %arg2: memref<32x2x48x2xf16> {tile.role = "out"}) attributes {tile.kind = "elementwise"} {
      %0 = "tile.position"() {operandSegmentSizes = array<i32: 0>} : () -> memref<2xi64>
      %c0_i64 = arith.constant 0 : i64
      linalg.generic {indexing_maps = [#map3, #map3, #map4, #map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg0, %arg1, %0, %0 : memref<48x32xf16>, memref<48x32xf16>, memref<2xi64>, memref<2xi64>) outs(%arg2 : memref<32x2x48x2xf16>) {
      ^bb0(%in: f16, %in_0: f16, %in_1: i64, %in_2: i64, %out: f16):
        %1 = arith.cmpi eq, %in_2, %c0_i64 : i64
        %2 = arith.cmpi eq, %in_1, %c0_i64 : i64
        %3 = arith.negf %in_0 : f16
        %4 = arith.select %2, %in, %3 : f16
        %5 = arith.select %2, %in_0, %in : f16
        %6 = arith.select %1, %4, %5 : f16
        linalg.yield %6 : f16
      }
      return
    }
  }
  module @einsum_2 attributes {tile.chip = "sm_80", tile.cuts = {einsum_0 = "many of its tiles read the same elements, which are computed once in front", einsum_1 = "many of its tiles read the same elements, which are computed once in front"}, tile.stage = "import"} {
    func.func @einsum_2(%arg0: memref<64x96xf16> {tile.role = "in"}, %arg1: memref<64x96xf16> {tile.role = "in"}, %arg2: memref<64x64xf16> {tile.role = "out"}) {
      %alloc = memref.alloc() : memref<64x64xf32>
      %cst = arith.constant 0.000000e+00 : f32
      linalg.fill ins(%cst : f32) outs(%alloc : memref<64x64xf32>)
      linalg.generic {indexing_maps = [#map7, #map8, #map9], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0, %arg1 : memref<64x96xf16>, memref<64x96xf16>) outs(%alloc : memref<64x64xf32>) {
      ^bb0(%in: f16, %in_0: f16, %out: f32):
        %0 = arith.extf %in : f16 to f32
        %1 = arith.extf %in_0 : f16 to f32
        %2 = arith.mulf %0, %1 : f32
        %3 = arith.addf %out, %2 : f32
        linalg.yield %3 : f32
      }
      linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%alloc : memref<64x64xf32>) outs(%arg2 : memref<64x64xf16>) {
      ^bb0(%in: f32, %out: f16):
        %0 = arith.truncf %in : f32 to f16
        linalg.yield %0 : f16
      }
      return
    }
  }
  module @einsum_3 attributes {tile.chip = "sm_80", tile.cuts = {einsum_2 = "it cannot be fused with the product at -:5:12: it does not take each element of its result once"}, tile.note = "it cannot be fused with the product at -:5:12: it does not take each element of its result once", tile.stage = "import"} {
    func.func @einsum_3(%arg0: memref<2048xf16, strided<[2]>> {tile.role = "in"}, %arg1: memref<2048xf16> {tile.role = "out"}) attributes {tile.kind = "elementwise"} {
      linalg.generic {indexing_maps = [#map10, #map10], iterator_types = ["parallel"]} ins(%arg0 : memref<2048xf16, strided<[2]>>) outs(%arg1 : memref<2048xf16>) {
      ^bb0(%in: f16, %out: f16):
        linalg.yield %in : f16
      }
      return
    }
  }
  module @einsum_4 attributes {tile.chip = "sm_80", tile.cuts = {einsum_2 = "it cannot be fused with the product at -:5:12: it does not take each element of its result once"}, tile.note = "it cannot be fused with the product at -:5:12: it does not take each element of its result once", tile.stage = "import"} {
    func.func @einsum_4(%arg0: memref<2048xf16, strided<[2], offset: 1>> {tile.role = "in"}, %arg1: memref<2048xf16> {tile.role = "out"}) attributes {tile.kind = "elementwise"} {
      linalg.generic {indexing_maps = [#map10, #map10], iterator_types = ["parallel"]} ins(%arg0 : memref<2048xf16, strided<[2], offset: 1>>) outs(%arg1 : memref<2048xf16>) {
      ^bb0(%in: f16, %out: f16):
        linalg.yield %in : f16
      }
      return
    }
  }
}
