// select-rewrite: operands whose rows start between vectors are copied to aligned ones where the model finds it pays.
// RUN: mlir-gemm opt --split-input-file %s 'select-rewrite{rewrite=relayout}' | FileCheck %s

// Rows of 4095 f16 are no whole 16 bytes: both operands get rows of 4096. The copy engine reads
// zeros beyond the last row.
// CHECK-LABEL: func.func @odd(
// CHECK: "tile.run"({{.*}}) {kernel = "odd_0_a"
// CHECK: "tile.run"({{.*}}) {kernel = "odd_0_b"
// CHECK: module @odd_0 attributes
// CHECK-SAME: "operand A of a product is re-laid out for it: its rows are 8190 bytes apart, those of the copy 8192, with zeros at their ends"
// CHECK: memref<4095x4095xf16, strided<[4096, 1]>> {tile.padded = array<i64: 4095, 4096>
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @odd(%A: memref<4095x4095xf16> {tile.role = "in"}, %B: memref<4095x4095xf16> {tile.role = "in"}, %D: memref<4095x4095xf32> {tile.role = "out"}) {
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%D : memref<4095x4095xf32>)
    linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%A, %B : memref<4095x4095xf16>, memref<4095x4095xf16>) outs(%D : memref<4095x4095xf32>) {
    ^bb0(%a: f16, %b: f16, %d: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %b : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %d, %2 : f32
      linalg.yield %3 : f32
    }
    return
  }
}

// -----

// Without the copy engine the copies hold whole tiles.
// CHECK-LABEL: func.func @without(
// CHECK: module @without_0 attributes
// CHECK: memref<4095x4095xf16, strided<[4096, 1]>> {tile.padded = array<i64: 4096, 4096>
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {tile.chip = "sm_90", tile.stage = "import"} {
  func.func @without(%A: memref<4095x4095xf16> {tile.role = "in"}, %B: memref<4095x4095xf16> {tile.role = "in"}, %D: memref<4095x4095xf32> {tile.role = "out"}) {
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%D : memref<4095x4095xf32>)
    linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%A, %B : memref<4095x4095xf16>, memref<4095x4095xf16>) outs(%D : memref<4095x4095xf32>) {
    ^bb0(%a: f16, %b: f16, %d: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %b : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %d, %2 : f32
      linalg.yield %3 : f32
    }
    return
  }
}

// -----

// A and B of bytes that both run across k: one is transposed, in whole vectors, since nothing is added to its rows.
// CHECK-LABEL: func.func @bytes(
// CHECK: "tile.run"({{.*}}) {kernel = "bytes_0_[[WHICH:a|b]]"
// CHECK-NOT: kernel = "bytes_0_
// CHECK: module @bytes_0_[[WHICH]] attributes
// CHECK: tile.note = "operand {{A|B}} of a product is re-laid out for it, in the order {{mk|nk}}: its rows are 2560 bytes apart, those of the copy 2560"
// CHECK: memref<2560x2560xi8> {tile.padded = array<i64: 2560, 2560>
#kn = affine_map<(m, n, k) -> (k, n)>
#km = affine_map<(m, n, k) -> (k, m)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @bytes(%A: memref<2560x2560xi8> {tile.role = "in"}, %B: memref<2560x2560xi8> {tile.role = "in"}, %D: memref<2560x2560xi32> {tile.role = "out"}) {
    %zero = arith.constant 0 : i32
    linalg.fill ins(%zero : i32) outs(%D : memref<2560x2560xi32>)
    linalg.generic {indexing_maps = [#km, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%A, %B : memref<2560x2560xi8>, memref<2560x2560xi8>) outs(%D : memref<2560x2560xi32>) {
    ^bb0(%a: i8, %b: i8, %d: i32):
      %0 = arith.extsi %a : i8 to i32
      %1 = arith.extsi %b : i8 to i32
      %2 = arith.muli %0, %1 : i32
      %3 = arith.addi %d, %2 : i32
      linalg.yield %3 : i32
    }
    return
  }
}

// -----

// What lies well stays where it is.
// CHECK-LABEL: func.func @even(
// CHECK-NOT: tile.run
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @even(%A: memref<4096x4096xf16> {tile.role = "in"}, %B: memref<4096x4096xf16> {tile.role = "in"}, %D: memref<4096x4096xf32> {tile.role = "out"}) {
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%D : memref<4096x4096xf32>)
    linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%A, %B : memref<4096x4096xf16>, memref<4096x4096xf16>) outs(%D : memref<4096x4096xf32>) {
    ^bb0(%a: f16, %b: f16, %d: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %b : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %d, %2 : f32
      linalg.yield %3 : f32
    }
    return
  }
}

// -----

// A kernel that is past `select` has been decided.
// CHECK-LABEL: func.func @decided(
// CHECK-NOT: tile.run
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {tile.chip = "sm_90a", tile.stage = "select"} {
  func.func @decided(%A: memref<4095x4095xf16> {tile.role = "in"}, %B: memref<4095x4095xf16> {tile.role = "in"}, %D: memref<4095x4095xf32> {tile.role = "out"}) {
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%D : memref<4095x4095xf32>)
    linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%A, %B : memref<4095x4095xf16>, memref<4095x4095xf16>) outs(%D : memref<4095x4095xf32>) {
    ^bb0(%a: f16, %b: f16, %d: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %b : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %d, %2 : f32
      linalg.yield %3 : f32
    }
    return
  }
}
