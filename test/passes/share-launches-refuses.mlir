// share-launches leaves kernels apart that wait for one another, that check something, or that other chips run.
// RUN: mlir-gemm opt --split-input-file %s share-launches | FileCheck %s

// The second kernel reads what the first one writes.
// CHECK-LABEL: func.func @chain(
//   CHECK-NOT: tile.launch_with
#id = affine_map<(i) -> (i)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @chain(%x: memref<64xf32> {tile.role = "in"}, %y: memref<64xf32> {tile.role = "result"}, %z: memref<64xf32> {tile.role = "result"}) {
    %px = memref.extract_aligned_pointer_as_index %x : memref<64xf32> -> index
    %py = memref.extract_aligned_pointer_as_index %y : memref<64xf32> -> index
    %pz = memref.extract_aligned_pointer_as_index %z : memref<64xf32> -> index
    "tile.run"(%px, %py) {kernel = "chain_0", operandSegmentSizes = array<i32: 2>} : (index, index) -> ()
    "tile.run"(%py, %pz) {kernel = "chain_1", operandSegmentSizes = array<i32: 2>} : (index, index) -> ()
    return
  }
  module @chain_0 attributes {tile.chip = "sm_90a", tile.stage = "import"} {
    func.func @chain_0(%a: memref<64xf32> {tile.role = "in"}, %b: memref<64xf32> {tile.role = "out"}) attributes {tile.kind = "elementwise"} {
      linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : memref<64xf32>) outs(%b : memref<64xf32>) {
      ^bb0(%x: f32, %o: f32):
        %s = math.absf %x : f32
        linalg.yield %s : f32
      }
      return
    }
  }
  module @chain_1 attributes {tile.chip = "sm_90a", tile.stage = "import"} {
    func.func @chain_1(%a: memref<64xf32> {tile.role = "in"}, %b: memref<64xf32> {tile.role = "out"}) attributes {tile.kind = "elementwise"} {
      linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : memref<64xf32>) outs(%b : memref<64xf32>) {
      ^bb0(%x: f32, %o: f32):
        %s = math.absf %x : f32
        linalg.yield %s : f32
      }
      return
    }
  }
}

// -----

// A kernel that checks something says so by itself.
// CHECK-LABEL: func.func @checked(
//   CHECK-NOT: tile.launch_with
#id = affine_map<(i) -> (i)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @checked(%x: memref<64xf32> {tile.role = "in"}, %y: memref<64xf32> {tile.role = "result"}, %z: memref<64xf32> {tile.role = "result"}) {
    %px = memref.extract_aligned_pointer_as_index %x : memref<64xf32> -> index
    %py = memref.extract_aligned_pointer_as_index %y : memref<64xf32> -> index
    %pz = memref.extract_aligned_pointer_as_index %z : memref<64xf32> -> index
    "tile.run"(%px, %py) {kernel = "checked_0", operandSegmentSizes = array<i32: 2>} : (index, index) -> ()
    "tile.run"(%px, %pz) {kernel = "checked_1", operandSegmentSizes = array<i32: 2>} : (index, index) -> ()
    return
  }
  module @checked_0 attributes {tile.chip = "sm_90a", tile.stage = "import"} {
    func.func @checked_0(%a: memref<64xf32> {tile.role = "in"}, %b: memref<64xf32> {tile.role = "out"}) attributes {tile.kind = "elementwise"} {
      linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : memref<64xf32>) outs(%b : memref<64xf32>) {
      ^bb0(%x: f32, %o: f32):
        %s = math.absf %x : f32
        linalg.yield %s : f32
      }
      return
    }
  }
  module @checked_1 attributes {tile.chip = "sm_90a", tile.stage = "import"} {
    func.func @checked_1(%a: memref<64xf32> {tile.role = "in"}, %b: memref<64xf32> {tile.role = "out"}) attributes {tile.kind = "elementwise"} {
      linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : memref<64xf32>) outs(%b : memref<64xf32>) {
      ^bb0(%x: f32, %o: f32):
        %zero = arith.constant 0.0 : f32
        %ok = arith.cmpf oge, %x, %zero : f32
        cf.assert %ok, "negative"
        %s = math.absf %x : f32
        linalg.yield %s : f32
      }
      return
    }
  }
}

// -----

// A launch costs other vendors something else.
// CHECK-LABEL: func.func @other(
//   CHECK-NOT: tile.launch_with
#id = affine_map<(i) -> (i)>
module attributes {tile.chip = "vulkan", tile.stage = "import"} {
  func.func @other(%x: memref<64xf32> {tile.role = "in"}, %y: memref<64xf32> {tile.role = "result"}, %z: memref<64xf32> {tile.role = "result"}) {
    %px = memref.extract_aligned_pointer_as_index %x : memref<64xf32> -> index
    %py = memref.extract_aligned_pointer_as_index %y : memref<64xf32> -> index
    %pz = memref.extract_aligned_pointer_as_index %z : memref<64xf32> -> index
    "tile.run"(%px, %py) {kernel = "other_0", operandSegmentSizes = array<i32: 2>} : (index, index) -> ()
    "tile.run"(%px, %pz) {kernel = "other_1", operandSegmentSizes = array<i32: 2>} : (index, index) -> ()
    return
  }
  module @other_0 attributes {tile.chip = "vulkan", tile.stage = "import"} {
    func.func @other_0(%a: memref<64xf32> {tile.role = "in"}, %b: memref<64xf32> {tile.role = "out"}) attributes {tile.kind = "elementwise"} {
      linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : memref<64xf32>) outs(%b : memref<64xf32>) {
      ^bb0(%x: f32, %o: f32):
        %s = math.absf %x : f32
        linalg.yield %s : f32
      }
      return
    }
  }
  module @other_1 attributes {tile.chip = "vulkan", tile.stage = "import"} {
    func.func @other_1(%a: memref<64xf32> {tile.role = "in"}, %b: memref<64xf32> {tile.role = "out"}) attributes {tile.kind = "elementwise"} {
      linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : memref<64xf32>) outs(%b : memref<64xf32>) {
      ^bb0(%x: f32, %o: f32):
        %s = math.absf %x : f32
        linalg.yield %s : f32
      }
      return
    }
  }
}
