// order-launches leaves programs alone in which nothing is gained, or that must not change.
// RUN: mlir-gemm opt --split-input-file %s order-launches | FileCheck %s

// All of it stays in L2.
// CHECK-NOT: tile.note
// CHECK-LABEL: func.func @small(
//       CHECK: kernel = "small_0"
//  CHECK-NEXT: kernel = "small_1"
//  CHECK-NEXT: kernel = "small_2"
//  CHECK-NEXT: kernel = "small_3"
#id = affine_map<(m, n) -> (m, n)>
module attributes {tile.chip = "sm_90a:h100sxm", tile.stage = "import"} {
  func.func @small(%x: memref<512x4096xf16> {tile.role = "in"}, %y: memref<512x4096xf16> {tile.role = "in"}, %r: memref<512x4096xf16> {tile.role = "result"}, %s: memref<512x4096xf16> {tile.role = "result"}) {
    %a = memref.alloc() : memref<512x4096xf16>
    %b = memref.alloc() : memref<512x4096xf16>
    %px = memref.extract_aligned_pointer_as_index %x : memref<512x4096xf16> -> index
    %py = memref.extract_aligned_pointer_as_index %y : memref<512x4096xf16> -> index
    %pa = memref.extract_aligned_pointer_as_index %a : memref<512x4096xf16> -> index
    %pb = memref.extract_aligned_pointer_as_index %b : memref<512x4096xf16> -> index
    %pr = memref.extract_aligned_pointer_as_index %r : memref<512x4096xf16> -> index
    %ps = memref.extract_aligned_pointer_as_index %s : memref<512x4096xf16> -> index
    "tile.run"(%px, %pa) {kernel = "small_0", operandSegmentSizes = array<i32: 2>} : (index, index) -> ()
    "tile.run"(%py, %pb) {kernel = "small_1", operandSegmentSizes = array<i32: 2>} : (index, index) -> ()
    "tile.run"(%pa, %pr) {kernel = "small_2", operandSegmentSizes = array<i32: 2>} : (index, index) -> ()
    "tile.run"(%pb, %ps) {kernel = "small_3", operandSegmentSizes = array<i32: 2>} : (index, index) -> ()
    return
  }
  module @small_0 attributes {tile.stage = "import"} {
    func.func @small_0(%a: memref<512x4096xf16> {tile.role = "in"}, %b: memref<512x4096xf16> {tile.role = "out"}) attributes {tile.kind = "elementwise"} {
      linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : memref<512x4096xf16>) outs(%b : memref<512x4096xf16>) {
      ^bb0(%x: f16, %o: f16):
        %s = math.absf %x : f16
        linalg.yield %s : f16
      }
      return
    }
  }
  module @small_1 attributes {tile.stage = "import"} {
    func.func @small_1(%a: memref<512x4096xf16> {tile.role = "in"}, %b: memref<512x4096xf16> {tile.role = "out"}) attributes {tile.kind = "elementwise"} {
      linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : memref<512x4096xf16>) outs(%b : memref<512x4096xf16>) {
      ^bb0(%x: f16, %o: f16):
        %s = math.absf %x : f16
        linalg.yield %s : f16
      }
      return
    }
  }
  module @small_2 attributes {tile.stage = "import"} {
    func.func @small_2(%a: memref<512x4096xf16> {tile.role = "in"}, %b: memref<512x4096xf16> {tile.role = "out"}) attributes {tile.kind = "elementwise"} {
      linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : memref<512x4096xf16>) outs(%b : memref<512x4096xf16>) {
      ^bb0(%x: f16, %o: f16):
        %s = math.absf %x : f16
        linalg.yield %s : f16
      }
      return
    }
  }
  module @small_3 attributes {tile.stage = "import"} {
    func.func @small_3(%a: memref<512x4096xf16> {tile.role = "in"}, %b: memref<512x4096xf16> {tile.role = "out"}) attributes {tile.kind = "elementwise"} {
      linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : memref<512x4096xf16>) outs(%b : memref<512x4096xf16>) {
      ^bb0(%x: f16, %o: f16):
        %s = math.absf %x : f16
        linalg.yield %s : f16
      }
      return
    }
  }
}

// -----

// No order lets L2 have what is read: a buffer is larger than it.
// CHECK-NOT: tile.note
// CHECK-LABEL: func.func @large(
//       CHECK: kernel = "large_0"
//  CHECK-NEXT: kernel = "large_1"
//  CHECK-NEXT: kernel = "large_2"
//  CHECK-NEXT: kernel = "large_3"
#id = affine_map<(m, n) -> (m, n)>
module attributes {tile.chip = "sm_90a:h100sxm", tile.stage = "import"} {
  func.func @large(%x: memref<8192x4096xf16> {tile.role = "in"}, %y: memref<8192x4096xf16> {tile.role = "in"}, %r: memref<8192x4096xf16> {tile.role = "result"}, %s: memref<8192x4096xf16> {tile.role = "result"}) {
    %a = memref.alloc() : memref<8192x4096xf16>
    %b = memref.alloc() : memref<8192x4096xf16>
    %px = memref.extract_aligned_pointer_as_index %x : memref<8192x4096xf16> -> index
    %py = memref.extract_aligned_pointer_as_index %y : memref<8192x4096xf16> -> index
    %pa = memref.extract_aligned_pointer_as_index %a : memref<8192x4096xf16> -> index
    %pb = memref.extract_aligned_pointer_as_index %b : memref<8192x4096xf16> -> index
    %pr = memref.extract_aligned_pointer_as_index %r : memref<8192x4096xf16> -> index
    %ps = memref.extract_aligned_pointer_as_index %s : memref<8192x4096xf16> -> index
    "tile.run"(%px, %pa) {kernel = "large_0", operandSegmentSizes = array<i32: 2>} : (index, index) -> ()
    "tile.run"(%py, %pb) {kernel = "large_1", operandSegmentSizes = array<i32: 2>} : (index, index) -> ()
    "tile.run"(%pa, %pr) {kernel = "large_2", operandSegmentSizes = array<i32: 2>} : (index, index) -> ()
    "tile.run"(%pb, %ps) {kernel = "large_3", operandSegmentSizes = array<i32: 2>} : (index, index) -> ()
    return
  }
  module @large_0 attributes {tile.stage = "import"} {
    func.func @large_0(%a: memref<8192x4096xf16> {tile.role = "in"}, %b: memref<8192x4096xf16> {tile.role = "out"}) attributes {tile.kind = "elementwise"} {
      linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : memref<8192x4096xf16>) outs(%b : memref<8192x4096xf16>) {
      ^bb0(%x: f16, %o: f16):
        %s = math.absf %x : f16
        linalg.yield %s : f16
      }
      return
    }
  }
  module @large_1 attributes {tile.stage = "import"} {
    func.func @large_1(%a: memref<8192x4096xf16> {tile.role = "in"}, %b: memref<8192x4096xf16> {tile.role = "out"}) attributes {tile.kind = "elementwise"} {
      linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : memref<8192x4096xf16>) outs(%b : memref<8192x4096xf16>) {
      ^bb0(%x: f16, %o: f16):
        %s = math.absf %x : f16
        linalg.yield %s : f16
      }
      return
    }
  }
  module @large_2 attributes {tile.stage = "import"} {
    func.func @large_2(%a: memref<8192x4096xf16> {tile.role = "in"}, %b: memref<8192x4096xf16> {tile.role = "out"}) attributes {tile.kind = "elementwise"} {
      linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : memref<8192x4096xf16>) outs(%b : memref<8192x4096xf16>) {
      ^bb0(%x: f16, %o: f16):
        %s = math.absf %x : f16
        linalg.yield %s : f16
      }
      return
    }
  }
  module @large_3 attributes {tile.stage = "import"} {
    func.func @large_3(%a: memref<8192x4096xf16> {tile.role = "in"}, %b: memref<8192x4096xf16> {tile.role = "out"}) attributes {tile.kind = "elementwise"} {
      linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : memref<8192x4096xf16>) outs(%b : memref<8192x4096xf16>) {
      ^bb0(%x: f16, %o: f16):
        %s = math.absf %x : f16
        linalg.yield %s : f16
      }
      return
    }
  }
}

// -----

// Each kernel reads what the one before it writes.
// CHECK-NOT: tile.note
// CHECK-LABEL: func.func @chain(
//       CHECK: kernel = "chain_0"
//  CHECK-NEXT: kernel = "chain_1"
//  CHECK-NEXT: kernel = "chain_2"
//  CHECK-NEXT: kernel = "chain_3"
#id = affine_map<(m, n) -> (m, n)>
module attributes {tile.chip = "sm_90a:h100sxm", tile.stage = "import"} {
  func.func @chain(%x: memref<2048x4096xf16> {tile.role = "in"}, %y: memref<2048x4096xf16> {tile.role = "in"}, %r: memref<2048x4096xf16> {tile.role = "result"}, %s: memref<2048x4096xf16> {tile.role = "result"}) {
    %a = memref.alloc() : memref<2048x4096xf16>
    %b = memref.alloc() : memref<2048x4096xf16>
    %px = memref.extract_aligned_pointer_as_index %x : memref<2048x4096xf16> -> index
    %py = memref.extract_aligned_pointer_as_index %y : memref<2048x4096xf16> -> index
    %pa = memref.extract_aligned_pointer_as_index %a : memref<2048x4096xf16> -> index
    %pb = memref.extract_aligned_pointer_as_index %b : memref<2048x4096xf16> -> index
    %pr = memref.extract_aligned_pointer_as_index %r : memref<2048x4096xf16> -> index
    %ps = memref.extract_aligned_pointer_as_index %s : memref<2048x4096xf16> -> index
    "tile.run"(%px, %pa) {kernel = "chain_0", operandSegmentSizes = array<i32: 2>} : (index, index) -> ()
    "tile.run"(%pa, %pb) {kernel = "chain_1", operandSegmentSizes = array<i32: 2>} : (index, index) -> ()
    "tile.run"(%pb, %pr) {kernel = "chain_2", operandSegmentSizes = array<i32: 2>} : (index, index) -> ()
    "tile.run"(%pr, %ps) {kernel = "chain_3", operandSegmentSizes = array<i32: 2>} : (index, index) -> ()
    return
  }
  module @chain_0 attributes {tile.stage = "import"} {
    func.func @chain_0(%a: memref<2048x4096xf16> {tile.role = "in"}, %b: memref<2048x4096xf16> {tile.role = "out"}) attributes {tile.kind = "elementwise"} {
      linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : memref<2048x4096xf16>) outs(%b : memref<2048x4096xf16>) {
      ^bb0(%x: f16, %o: f16):
        %s = math.absf %x : f16
        linalg.yield %s : f16
      }
      return
    }
  }
  module @chain_1 attributes {tile.stage = "import"} {
    func.func @chain_1(%a: memref<2048x4096xf16> {tile.role = "in"}, %b: memref<2048x4096xf16> {tile.role = "out"}) attributes {tile.kind = "elementwise"} {
      linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : memref<2048x4096xf16>) outs(%b : memref<2048x4096xf16>) {
      ^bb0(%x: f16, %o: f16):
        %s = math.absf %x : f16
        linalg.yield %s : f16
      }
      return
    }
  }
  module @chain_2 attributes {tile.stage = "import"} {
    func.func @chain_2(%a: memref<2048x4096xf16> {tile.role = "in"}, %b: memref<2048x4096xf16> {tile.role = "out"}) attributes {tile.kind = "elementwise"} {
      linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : memref<2048x4096xf16>) outs(%b : memref<2048x4096xf16>) {
      ^bb0(%x: f16, %o: f16):
        %s = math.absf %x : f16
        linalg.yield %s : f16
      }
      return
    }
  }
  module @chain_3 attributes {tile.stage = "import"} {
    func.func @chain_3(%a: memref<2048x4096xf16> {tile.role = "in"}, %b: memref<2048x4096xf16> {tile.role = "out"}) attributes {tile.kind = "elementwise"} {
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

// The second and the third kernel check something: none passes them.
// CHECK-NOT: tile.note
// CHECK-LABEL: func.func @checked(
//       CHECK: kernel = "checked_0"
//  CHECK-NEXT: kernel = "checked_1"
//  CHECK-NEXT: kernel = "checked_2"
//  CHECK-NEXT: kernel = "checked_3"
#id = affine_map<(m, n) -> (m, n)>
module attributes {tile.chip = "sm_90a:h100sxm", tile.stage = "import"} {
  func.func @checked(%x: memref<2048x4096xf16> {tile.role = "in"}, %y: memref<2048x4096xf16> {tile.role = "in"}, %r: memref<2048x4096xf16> {tile.role = "result"}, %s: memref<2048x4096xf16> {tile.role = "result"}) {
    %a = memref.alloc() : memref<2048x4096xf16>
    %b = memref.alloc() : memref<2048x4096xf16>
    %px = memref.extract_aligned_pointer_as_index %x : memref<2048x4096xf16> -> index
    %py = memref.extract_aligned_pointer_as_index %y : memref<2048x4096xf16> -> index
    %pa = memref.extract_aligned_pointer_as_index %a : memref<2048x4096xf16> -> index
    %pb = memref.extract_aligned_pointer_as_index %b : memref<2048x4096xf16> -> index
    %pr = memref.extract_aligned_pointer_as_index %r : memref<2048x4096xf16> -> index
    %ps = memref.extract_aligned_pointer_as_index %s : memref<2048x4096xf16> -> index
    "tile.run"(%px, %pa) {kernel = "checked_0", operandSegmentSizes = array<i32: 2>} : (index, index) -> ()
    "tile.run"(%py, %pb) {kernel = "checked_1", operandSegmentSizes = array<i32: 2>} : (index, index) -> ()
    "tile.run"(%pa, %pr) {kernel = "checked_2", operandSegmentSizes = array<i32: 2>} : (index, index) -> ()
    "tile.run"(%pb, %ps) {kernel = "checked_3", operandSegmentSizes = array<i32: 2>} : (index, index) -> ()
    return
  }
  module @checked_0 attributes {tile.stage = "import"} {
    func.func @checked_0(%a: memref<2048x4096xf16> {tile.role = "in"}, %b: memref<2048x4096xf16> {tile.role = "out"}) attributes {tile.kind = "elementwise"} {
      linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : memref<2048x4096xf16>) outs(%b : memref<2048x4096xf16>) {
      ^bb0(%x: f16, %o: f16):
        %s = math.absf %x : f16
        linalg.yield %s : f16
      }
      return
    }
  }
  module @checked_1 attributes {tile.stage = "import"} {
    func.func @checked_1(%a: memref<2048x4096xf16> {tile.role = "in"}, %b: memref<2048x4096xf16> {tile.role = "out"}) attributes {tile.kind = "elementwise"} {
      linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : memref<2048x4096xf16>) outs(%b : memref<2048x4096xf16>) {
      ^bb0(%x: f16, %o: f16):
        %zero = arith.constant 0.0 : f16
        %ok = arith.cmpf oge, %x, %zero : f16
        cf.assert %ok, "negative"
        %s = math.absf %x : f16
        linalg.yield %s : f16
      }
      return
    }
  }
  module @checked_2 attributes {tile.stage = "import"} {
    func.func @checked_2(%a: memref<2048x4096xf16> {tile.role = "in"}, %b: memref<2048x4096xf16> {tile.role = "out"}) attributes {tile.kind = "elementwise"} {
      linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : memref<2048x4096xf16>) outs(%b : memref<2048x4096xf16>) {
      ^bb0(%x: f16, %o: f16):
        %zero = arith.constant 0.0 : f16
        %ok = arith.cmpf oge, %x, %zero : f16
        cf.assert %ok, "negative"
        %s = math.absf %x : f16
        linalg.yield %s : f16
      }
      return
    }
  }
  module @checked_3 attributes {tile.stage = "import"} {
    func.func @checked_3(%a: memref<2048x4096xf16> {tile.role = "in"}, %b: memref<2048x4096xf16> {tile.role = "out"}) attributes {tile.kind = "elementwise"} {
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

// The chip is not known.
// CHECK-NOT: tile.note
// CHECK-LABEL: func.func @anywhere(
//       CHECK: kernel = "anywhere_0"
//  CHECK-NEXT: kernel = "anywhere_1"
//  CHECK-NEXT: kernel = "anywhere_2"
//  CHECK-NEXT: kernel = "anywhere_3"
#id = affine_map<(m, n) -> (m, n)>
module attributes {tile.stage = "import"} {
  func.func @anywhere(%x: memref<2048x4096xf16> {tile.role = "in"}, %y: memref<2048x4096xf16> {tile.role = "in"}, %r: memref<2048x4096xf16> {tile.role = "result"}, %s: memref<2048x4096xf16> {tile.role = "result"}) {
    %a = memref.alloc() : memref<2048x4096xf16>
    %b = memref.alloc() : memref<2048x4096xf16>
    %px = memref.extract_aligned_pointer_as_index %x : memref<2048x4096xf16> -> index
    %py = memref.extract_aligned_pointer_as_index %y : memref<2048x4096xf16> -> index
    %pa = memref.extract_aligned_pointer_as_index %a : memref<2048x4096xf16> -> index
    %pb = memref.extract_aligned_pointer_as_index %b : memref<2048x4096xf16> -> index
    %pr = memref.extract_aligned_pointer_as_index %r : memref<2048x4096xf16> -> index
    %ps = memref.extract_aligned_pointer_as_index %s : memref<2048x4096xf16> -> index
    "tile.run"(%px, %pa) {kernel = "anywhere_0", operandSegmentSizes = array<i32: 2>} : (index, index) -> ()
    "tile.run"(%py, %pb) {kernel = "anywhere_1", operandSegmentSizes = array<i32: 2>} : (index, index) -> ()
    "tile.run"(%pa, %pr) {kernel = "anywhere_2", operandSegmentSizes = array<i32: 2>} : (index, index) -> ()
    "tile.run"(%pb, %ps) {kernel = "anywhere_3", operandSegmentSizes = array<i32: 2>} : (index, index) -> ()
    return
  }
  module @anywhere_0 attributes {tile.stage = "import"} {
    func.func @anywhere_0(%a: memref<2048x4096xf16> {tile.role = "in"}, %b: memref<2048x4096xf16> {tile.role = "out"}) attributes {tile.kind = "elementwise"} {
      linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : memref<2048x4096xf16>) outs(%b : memref<2048x4096xf16>) {
      ^bb0(%x: f16, %o: f16):
        %s = math.absf %x : f16
        linalg.yield %s : f16
      }
      return
    }
  }
  module @anywhere_1 attributes {tile.stage = "import"} {
    func.func @anywhere_1(%a: memref<2048x4096xf16> {tile.role = "in"}, %b: memref<2048x4096xf16> {tile.role = "out"}) attributes {tile.kind = "elementwise"} {
      linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : memref<2048x4096xf16>) outs(%b : memref<2048x4096xf16>) {
      ^bb0(%x: f16, %o: f16):
        %s = math.absf %x : f16
        linalg.yield %s : f16
      }
      return
    }
  }
  module @anywhere_2 attributes {tile.stage = "import"} {
    func.func @anywhere_2(%a: memref<2048x4096xf16> {tile.role = "in"}, %b: memref<2048x4096xf16> {tile.role = "out"}) attributes {tile.kind = "elementwise"} {
      linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : memref<2048x4096xf16>) outs(%b : memref<2048x4096xf16>) {
      ^bb0(%x: f16, %o: f16):
        %s = math.absf %x : f16
        linalg.yield %s : f16
      }
      return
    }
  }
  module @anywhere_3 attributes {tile.stage = "import"} {
    func.func @anywhere_3(%a: memref<2048x4096xf16> {tile.role = "in"}, %b: memref<2048x4096xf16> {tile.role = "out"}) attributes {tile.kind = "elementwise"} {
      linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : memref<2048x4096xf16>) outs(%b : memref<2048x4096xf16>) {
      ^bb0(%x: f16, %o: f16):
        %s = math.absf %x : f16
        linalg.yield %s : f16
      }
      return
    }
  }
}
