// order-launches puts kernels that do not wait for one another into the order in which L2 still has what they read; a second
// run changes nothing.
// RUN: mlir-gemm opt --split-input-file %s order-launches | FileCheck %s
// RUN: mlir-gemm opt --split-input-file %s order-launches order-launches | FileCheck %s

// Two branches of two kernels, one of each in turn, on buffers of 16 MB: an H100 keeps 40. The second of a branch comes
// right after the first.
// CHECK: module attributes {{.*}}tile.note = "kernels are in another order, so that L2 has what they read: two_2 after two_0 (16 MB), two_3 after two_1 (16 MB)"
// CHECK-LABEL: func.func @two(
//       CHECK: kernel = "two_0"
//  CHECK-NEXT: kernel = "two_2"
//  CHECK-NEXT: kernel = "two_1"
//  CHECK-NEXT: kernel = "two_3"
//  CHECK-NEXT: return
#id = affine_map<(m, n) -> (m, n)>
module attributes {tile.chip = "sm_90a:h100sxm", tile.stage = "import"} {
  func.func @two(%x: memref<2048x4096xf16> {tile.role = "in"}, %y: memref<2048x4096xf16> {tile.role = "in"}, %r: memref<2048x4096xf16> {tile.role = "result"}, %s: memref<2048x4096xf16> {tile.role = "result"}) {
    %a = memref.alloc() : memref<2048x4096xf16>
    %b = memref.alloc() : memref<2048x4096xf16>
    %px = memref.extract_aligned_pointer_as_index %x : memref<2048x4096xf16> -> index
    %py = memref.extract_aligned_pointer_as_index %y : memref<2048x4096xf16> -> index
    %pa = memref.extract_aligned_pointer_as_index %a : memref<2048x4096xf16> -> index
    %pb = memref.extract_aligned_pointer_as_index %b : memref<2048x4096xf16> -> index
    %pr = memref.extract_aligned_pointer_as_index %r : memref<2048x4096xf16> -> index
    %ps = memref.extract_aligned_pointer_as_index %s : memref<2048x4096xf16> -> index
    "tile.run"(%px, %pa) {kernel = "two_0", operandSegmentSizes = array<i32: 2>} : (index, index) -> ()
    "tile.run"(%py, %pb) {kernel = "two_1", operandSegmentSizes = array<i32: 2>} : (index, index) -> ()
    "tile.run"(%pa, %pr) {kernel = "two_2", operandSegmentSizes = array<i32: 2>} : (index, index) -> ()
    "tile.run"(%pb, %ps) {kernel = "two_3", operandSegmentSizes = array<i32: 2>} : (index, index) -> ()
    return
  }
  module @two_0 attributes {tile.stage = "import"} {
    func.func @two_0(%a: memref<2048x4096xf16> {tile.role = "in"}, %b: memref<2048x4096xf16> {tile.role = "out"}) attributes {tile.kind = "elementwise"} {
      linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : memref<2048x4096xf16>) outs(%b : memref<2048x4096xf16>) {
      ^bb0(%x: f16, %o: f16):
        %s = math.absf %x : f16
        linalg.yield %s : f16
      }
      return
    }
  }
  module @two_1 attributes {tile.stage = "import"} {
    func.func @two_1(%a: memref<2048x4096xf16> {tile.role = "in"}, %b: memref<2048x4096xf16> {tile.role = "out"}) attributes {tile.kind = "elementwise"} {
      linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : memref<2048x4096xf16>) outs(%b : memref<2048x4096xf16>) {
      ^bb0(%x: f16, %o: f16):
        %s = math.absf %x : f16
        linalg.yield %s : f16
      }
      return
    }
  }
  module @two_2 attributes {tile.stage = "import"} {
    func.func @two_2(%a: memref<2048x4096xf16> {tile.role = "in"}, %b: memref<2048x4096xf16> {tile.role = "out"}) attributes {tile.kind = "elementwise"} {
      linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : memref<2048x4096xf16>) outs(%b : memref<2048x4096xf16>) {
      ^bb0(%x: f16, %o: f16):
        %s = math.absf %x : f16
        linalg.yield %s : f16
      }
      return
    }
  }
  module @two_3 attributes {tile.stage = "import"} {
    func.func @two_3(%a: memref<2048x4096xf16> {tile.role = "in"}, %b: memref<2048x4096xf16> {tile.role = "out"}) attributes {tile.kind = "elementwise"} {
      linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : memref<2048x4096xf16>) outs(%b : memref<2048x4096xf16>) {
      ^bb0(%x: f16, %o: f16):
        %s = math.absf %x : f16
        linalg.yield %s : f16
      }
      return
    }
  }
}

// -----

// The kernels that share a launch stay together: what one of them writes is read next, then what the other does.
// CHECK-LABEL: func.func @pair(
//       CHECK: kernel = "pair_0"
//  CHECK-NEXT: kernel = "pair_3"
//  CHECK-NEXT: kernel = "pair_1"
//  CHECK-NEXT: kernel = "pair_2"
//  CHECK-NEXT: kernel = "pair_4"
#id = affine_map<(m, n) -> (m, n)>
module attributes {tile.chip = "sm_90a:h100sxm", tile.stage = "import"} {
  func.func @pair(%x: memref<2048x4096xf16> {tile.role = "in"}, %y: memref<2048x4096xf16> {tile.role = "in"}, %z: memref<2048x4096xf16> {tile.role = "in"}, %r: memref<2048x4096xf16> {tile.role = "result"}, %s: memref<2048x4096xf16> {tile.role = "result"}, %t: memref<2048x4096xf16> {tile.role = "result"}) {
    %a = memref.alloc() : memref<2048x4096xf16>
    %b = memref.alloc() : memref<2048x4096xf16>
    %px = memref.extract_aligned_pointer_as_index %x : memref<2048x4096xf16> -> index
    %py = memref.extract_aligned_pointer_as_index %y : memref<2048x4096xf16> -> index
    %pz = memref.extract_aligned_pointer_as_index %z : memref<2048x4096xf16> -> index
    %pa = memref.extract_aligned_pointer_as_index %a : memref<2048x4096xf16> -> index
    %pb = memref.extract_aligned_pointer_as_index %b : memref<2048x4096xf16> -> index
    %pr = memref.extract_aligned_pointer_as_index %r : memref<2048x4096xf16> -> index
    %ps = memref.extract_aligned_pointer_as_index %s : memref<2048x4096xf16> -> index
    %pt = memref.extract_aligned_pointer_as_index %t : memref<2048x4096xf16> -> index
    "tile.run"(%px, %pa) {kernel = "pair_0", operandSegmentSizes = array<i32: 2>} : (index, index) -> ()
    "tile.run"(%py, %pb) {kernel = "pair_1", operandSegmentSizes = array<i32: 2>} : (index, index) -> ()
    "tile.run"(%pz, %pt) {kernel = "pair_2", operandSegmentSizes = array<i32: 2>} : (index, index) -> ()
    "tile.run"(%pa, %pr) {kernel = "pair_3", operandSegmentSizes = array<i32: 2>} : (index, index) -> ()
    "tile.run"(%pb, %ps) {kernel = "pair_4", operandSegmentSizes = array<i32: 2>} : (index, index) -> ()
    return
  }
  module @pair_0 attributes {tile.stage = "import"} {
    func.func @pair_0(%a: memref<2048x4096xf16> {tile.role = "in"}, %b: memref<2048x4096xf16> {tile.role = "out"}) attributes {tile.kind = "elementwise"} {
      linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : memref<2048x4096xf16>) outs(%b : memref<2048x4096xf16>) {
      ^bb0(%x: f16, %o: f16):
        %s = math.absf %x : f16
        linalg.yield %s : f16
      }
      return
    }
  }
  module @pair_1 attributes {tile.stage = "import"} {
    func.func @pair_1(%a: memref<2048x4096xf16> {tile.role = "in"}, %b: memref<2048x4096xf16> {tile.role = "out"}) attributes {tile.kind = "elementwise", tile.launch_with = {kernel = "pair_1", threads = 256 : i64}} {
      linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : memref<2048x4096xf16>) outs(%b : memref<2048x4096xf16>) {
      ^bb0(%x: f16, %o: f16):
        %s = math.absf %x : f16
        linalg.yield %s : f16
      }
      return
    }
  }
  module @pair_2 attributes {tile.stage = "import"} {
    func.func @pair_2(%a: memref<2048x4096xf16> {tile.role = "in"}, %b: memref<2048x4096xf16> {tile.role = "out"}) attributes {tile.kind = "elementwise", tile.launch_with = {kernel = "pair_1", threads = 256 : i64}} {
      linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : memref<2048x4096xf16>) outs(%b : memref<2048x4096xf16>) {
      ^bb0(%x: f16, %o: f16):
        %s = math.absf %x : f16
        linalg.yield %s : f16
      }
      return
    }
  }
  module @pair_3 attributes {tile.stage = "import"} {
    func.func @pair_3(%a: memref<2048x4096xf16> {tile.role = "in"}, %b: memref<2048x4096xf16> {tile.role = "out"}) attributes {tile.kind = "elementwise"} {
      linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : memref<2048x4096xf16>) outs(%b : memref<2048x4096xf16>) {
      ^bb0(%x: f16, %o: f16):
        %s = math.absf %x : f16
        linalg.yield %s : f16
      }
      return
    }
  }
  module @pair_4 attributes {tile.stage = "import"} {
    func.func @pair_4(%a: memref<2048x4096xf16> {tile.role = "in"}, %b: memref<2048x4096xf16> {tile.role = "out"}) attributes {tile.kind = "elementwise"} {
      linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : memref<2048x4096xf16>) outs(%b : memref<2048x4096xf16>) {
      ^bb0(%x: f16, %o: f16):
        %s = math.absf %x : f16
        linalg.yield %s : f16
      }
      return
    }
  }
}

// -----

// The third kernel overwrites what the second one reads, and the fourth what the first one does: neither passes it. The
// third and the fourth change places.
// CHECK-LABEL: func.func @crossed(
//       CHECK: kernel = "crossed_0"
//  CHECK-NEXT: kernel = "crossed_1"
//  CHECK-NEXT: kernel = "crossed_3"
//  CHECK-NEXT: kernel = "crossed_2"
#id = affine_map<(m, n) -> (m, n)>
module attributes {tile.chip = "sm_90a:h100sxm", tile.stage = "import"} {
  func.func @crossed(%x: memref<2048x4096xf16> {tile.role = "inout"}, %y: memref<2048x4096xf16> {tile.role = "inout"}) {
    %a = memref.alloc() : memref<2048x4096xf16>
    %b = memref.alloc() : memref<2048x4096xf16>
    %px = memref.extract_aligned_pointer_as_index %x : memref<2048x4096xf16> -> index
    %py = memref.extract_aligned_pointer_as_index %y : memref<2048x4096xf16> -> index
    %pa = memref.extract_aligned_pointer_as_index %a : memref<2048x4096xf16> -> index
    %pb = memref.extract_aligned_pointer_as_index %b : memref<2048x4096xf16> -> index
    "tile.run"(%px, %pa) {kernel = "crossed_0", operandSegmentSizes = array<i32: 2>} : (index, index) -> ()
    "tile.run"(%py, %pb) {kernel = "crossed_1", operandSegmentSizes = array<i32: 2>} : (index, index) -> ()
    "tile.run"(%pa, %py) {kernel = "crossed_2", operandSegmentSizes = array<i32: 2>} : (index, index) -> ()
    "tile.run"(%pb, %px) {kernel = "crossed_3", operandSegmentSizes = array<i32: 2>} : (index, index) -> ()
    return
  }
  module @crossed_0 attributes {tile.stage = "import"} {
    func.func @crossed_0(%a: memref<2048x4096xf16> {tile.role = "in"}, %b: memref<2048x4096xf16> {tile.role = "out"}) attributes {tile.kind = "elementwise"} {
      linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : memref<2048x4096xf16>) outs(%b : memref<2048x4096xf16>) {
      ^bb0(%x: f16, %o: f16):
        %s = math.absf %x : f16
        linalg.yield %s : f16
      }
      return
    }
  }
  module @crossed_1 attributes {tile.stage = "import"} {
    func.func @crossed_1(%a: memref<2048x4096xf16> {tile.role = "in"}, %b: memref<2048x4096xf16> {tile.role = "out"}) attributes {tile.kind = "elementwise"} {
      linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : memref<2048x4096xf16>) outs(%b : memref<2048x4096xf16>) {
      ^bb0(%x: f16, %o: f16):
        %s = math.absf %x : f16
        linalg.yield %s : f16
      }
      return
    }
  }
  module @crossed_2 attributes {tile.stage = "import"} {
    func.func @crossed_2(%a: memref<2048x4096xf16> {tile.role = "in"}, %b: memref<2048x4096xf16> {tile.role = "out"}) attributes {tile.kind = "elementwise"} {
      linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : memref<2048x4096xf16>) outs(%b : memref<2048x4096xf16>) {
      ^bb0(%x: f16, %o: f16):
        %s = math.absf %x : f16
        linalg.yield %s : f16
      }
      return
    }
  }
  module @crossed_3 attributes {tile.stage = "import"} {
    func.func @crossed_3(%a: memref<2048x4096xf16> {tile.role = "in"}, %b: memref<2048x4096xf16> {tile.role = "out"}) attributes {tile.kind = "elementwise"} {
      linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : memref<2048x4096xf16>) outs(%b : memref<2048x4096xf16>) {
      ^bb0(%x: f16, %o: f16):
        %s = math.absf %x : f16
        linalg.yield %s : f16
      }
      return
    }
  }
}
