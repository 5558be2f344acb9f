// share-launches marks kernels that do not wait for one another, to be launched together; a second run changes nothing.
// RUN: mlir-gemm opt %s share-launches | FileCheck %s
// RUN: mlir-gemm opt %s share-launches share-launches | FileCheck %s

// The squares and the sums of rows read nothing of each other: blocks of as many threads as the rows take. What reads
// both results comes after them.
// CHECK: func.func @f_0({{.*}}) attributes {tile.kind = "elementwise", tile.launch_with = {kernel = "f_1", threads = 128 : i64}}
// CHECK: func.func @f_1({{.*}}) attributes {tile.kind = "rows", tile.launch_with = {kernel = "f_1", threads = 128 : i64}, tile.rows =
// CHECK: func.func @f_2({{.*}}) attributes {tile.kind = "elementwise"}
#id = affine_map<(i) -> (i)>
#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @f(%x: memref<64xf32> {tile.role = "in"}, %y: memref<64x256xf32> {tile.role = "in"}, %r: memref<64xf32> {tile.role = "result"}) {
    %squares = memref.alloc() : memref<64xf32>
    %sums = memref.alloc() : memref<64xf32>
    %px = memref.extract_aligned_pointer_as_index %x : memref<64xf32> -> index
    %py = memref.extract_aligned_pointer_as_index %y : memref<64x256xf32> -> index
    %pr = memref.extract_aligned_pointer_as_index %r : memref<64xf32> -> index
    %ps = memref.extract_aligned_pointer_as_index %squares : memref<64xf32> -> index
    %pt = memref.extract_aligned_pointer_as_index %sums : memref<64xf32> -> index
    "tile.run"(%px, %ps) {kernel = "f_0", operandSegmentSizes = array<i32: 2>} : (index, index) -> ()
    "tile.run"(%py, %pt) {kernel = "f_1", operandSegmentSizes = array<i32: 2>} : (index, index) -> ()
    "tile.run"(%ps, %pt, %pr) {kernel = "f_2", operandSegmentSizes = array<i32: 3>} : (index, index, index) -> ()
    return
  }
  module @f_0 attributes {tile.chip = "sm_90a", tile.stage = "import"} {
    func.func @f_0(%a: memref<64xf32> {tile.role = "in"}, %b: memref<64xf32> {tile.role = "out"}) attributes {tile.kind = "elementwise"} {
      linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : memref<64xf32>) outs(%b : memref<64xf32>) {
      ^bb0(%x: f32, %o: f32):
        %s = arith.mulf %x, %x : f32
        linalg.yield %s : f32
      }
      return
    }
  }
  module @f_1 attributes {tile.chip = "sm_90a", tile.stage = "import"} {
    func.func @f_1(%a: memref<64x256xf32> {tile.role = "in"}, %b: memref<64xf32> {tile.role = "out"}) attributes {tile.kind = "rows", tile.rows = {threads = 128, across = 32, vector = 4, tile = [4, 256]}} {
      %zero = arith.constant 0.0 : f32
      linalg.fill ins(%zero : f32) outs(%b : memref<64xf32>)
      linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]} ins(%a : memref<64x256xf32>) outs(%b : memref<64xf32>) {
      ^bb0(%x: f32, %o: f32):
        %s = arith.addf %x, %o : f32
        linalg.yield %s : f32
      }
      return
    }
  }
  module @f_2 attributes {tile.chip = "sm_90a", tile.stage = "import"} {
    func.func @f_2(%a: memref<64xf32> {tile.role = "in"}, %b: memref<64xf32> {tile.role = "in"}, %c: memref<64xf32> {tile.role = "out"}) attributes {tile.kind = "elementwise"} {
      linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%a, %b : memref<64xf32>, memref<64xf32>) outs(%c : memref<64xf32>) {
      ^bb0(%x: f32, %y: f32, %o: f32):
        %s = arith.addf %x, %y : f32
        linalg.yield %s : f32
      }
      return
    }
  }
}
