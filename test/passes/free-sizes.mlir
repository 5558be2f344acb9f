// free-sizes makes dynamic again what name-sizes put numbers for.
// RUN: mlir-gemm opt --split-input-file %s free-sizes | FileCheck %s
// RUN: mlir-gemm opt --split-input-file %s free-sizes free-sizes | FileCheck %s

// CHECK-NOT: tile.stand_ins
// CHECK: func.func @product(%[[A:.*]]: memref<?x24xf16> {tile.symbols = ["5*s0", ""]}, %{{.*}}: memref<24x40xf16>, %{{.*}}: memref<?x40xf32> {tile.symbols = ["5*s0", ""]})
// CHECK: %[[M:.*]] = memref.dim %[[A]], %c0
// CHECK: memref.alloc(%[[M]]) {tile.symbols = ["5*s0", ""]} : memref<?x40xf32>
module attributes {tile.stand_ins = {s0 = 1009 : i64}} {
  func.func @product(%A: memref<5045x24xf16>, %B: memref<24x40xf16>, %C: memref<5045x40xf32>) {
    %t = memref.alloc() : memref<5045x40xf32>
    linalg.copy ins(%t : memref<5045x40xf32>) outs(%C : memref<5045x40xf32>)
    return
  }
}

// -----

// Strides that are not those of dense memory are told too.
// CHECK: func.func @turned(%{{.*}}: memref<?x24xf16, strided<[1, ?], offset: 3>> {tile.strides = ["", "s0"], tile.symbols = ["s0", ""]}
module attributes {tile.stand_ins = {s0 = 1009 : i64}} {
  func.func @turned(%A: memref<1009x24xf16, strided<[1, 1009], offset: 3>>, %B: memref<1009x24xf16>) {
    linalg.copy ins(%A : memref<1009x24xf16, strided<[1, 1009], offset: 3>>) outs(%B : memref<1009x24xf16>)
    return
  }
}

// -----

// A size that no argument has alone is told from one that it is a part of.
// CHECK: func.func @parts(%[[A:.*]]: memref<?xf16> {tile.symbols = ["24*s0"]})
// CHECK: %[[WHOLE:.*]] = memref.dim %[[A]], %c0
// CHECK: %[[S0:.*]] = arith.divui %[[WHOLE]], %c24
// CHECK: memref.alloc(%[[S0]]) {tile.symbols = ["s0"]} : memref<?xf16>
module attributes {tile.stand_ins = {s0 = 1009 : i64}} {
  func.func @parts(%A: memref<24216xf16>) {
    %t = memref.alloc() : memref<1009xf16>
    memref.dealloc %t : memref<1009xf16>
    return
  }
}

// -----

// Windows of as many images as there are.
// CHECK: func.func @windows(%[[X:.*]]: memref<?x4x8xf16> {tile.symbols = ["s0", "", ""]}
// CHECK: %[[M:.*]] = memref.dim
// CHECK: "tile.windows"(%[[X]], %[[M]]) {{.*}}shape = array<i64: -9223372036854775808, 4, 8>, sizes = [array<i64: -9223372036854775808, 4>, array<i64: 8>], {{.*}}tile.symbols = ["4*s0", ""]} : (memref<?x4x8xf16>, index) -> memref<?x8xf16>
module attributes {tile.stand_ins = {s0 = 1009 : i64}} {
  func.func @windows(%x: memref<1009x4x8xf16>, %y: memref<4036x8xf16>) {
    %v = "tile.windows"(%x) {high = array<i64: 0, 0, 0>, low = array<i64: 0, 0, 0>, offset = 0 : i64, shape = array<i64: 1009, 4, 8>,
      sizes = [array<i64: 1009, 4>, array<i64: 8>], strides = [array<i64: 32, 8>, array<i64: 1>]} : (memref<1009x4x8xf16>) -> memref<4036x8xf16>
    linalg.copy ins(%v : memref<4036x8xf16>) outs(%y : memref<4036x8xf16>)
    return
  }
}

// -----

// A size that elements are computed with, and that no argument of the kernel tells, is one that the call knows.
// CHECK: func.func @untold(%[[X:.*]]: memref<8xf32>)
// CHECK: %[[N:.*]] = "tile.size"() {size = "(s0-1)"} : () -> index
// CHECK: "tile.position"(%[[N]]) {{.*}}size = "(s0-1)"} : (index) -> memref<i64>
module attributes {tile.stand_ins = {s0 = 1009 : i64}} {
  func.func @untold(%x: memref<8xf32>) {
    %n = "tile.position"() {size = "(s0-1)"} : () -> memref<i64>
    linalg.generic {indexing_maps = [affine_map<(i) -> ()>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        ins(%n : memref<i64>) outs(%x : memref<8xf32>) {
    ^bb0(%a: i64, %b: f32):
      %f = arith.sitofp %a : i64 to f32
      linalg.yield %f : f32
    }
    return
  }
}

// -----

// A view that starts at an aligned address that sizes say.
// CHECK: func.func @last(%{{.*}}: memref<?x8xf16, strided<[?, 1], offset: ?>> {tile.offset = "8*(s1-1)", tile.strides = ["8*s1", ""], tile.symbols = ["s0", ""]}
module attributes {tile.stand_ins = {"(s1-1)" = 1009 : i64, s0 = 1013 : i64, s1 = 1019 : i64}} {
  func.func @last(%x: memref<1013x8xf16, strided<[8152, 1], offset: 8072>>, %y: memref<1013x8xf16>) {
    linalg.copy ins(%x : memref<1013x8xf16, strided<[8152, 1], offset: 8072>>) outs(%y : memref<1013x8xf16>)
    return
  }
}
