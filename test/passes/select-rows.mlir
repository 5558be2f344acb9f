// select-rows: kernels of rows get their schedules from the model; a second run changes nothing.
// RUN: mlir-gemm opt --split-input-file %s select-rows | FileCheck %s
// RUN: mlir-gemm opt --split-input-file %s select-rows select-rows | FileCheck %s

// Short rows: a few threads each, 16 bytes in an access.
// CHECK-LABEL: func.func @short(
//  CHECK-SAME: tile.rows = {across = {{[1-8]}} : i64, {{.*}}transposed = false, unroll = 1 : i64, vector = 8 : i64}
#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @short(%A: memref<100000x64xf16> {tile.role = "in"}, %R: memref<100000xf32> {tile.role = "out"}) attributes {tile.kind = "rows"} {
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%R : memref<100000xf32>)
    linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
        ins(%A : memref<100000x64xf16>) outs(%R : memref<100000xf32>) {
    ^bb0(%x: f16, %a: f32):
      %w = arith.extf %x : f16 to f32
      %r = arith.addf %w, %a : f32
      linalg.yield %r : f32
    }
    return
  }
}

// -----

// Few long rows: a block each, which takes four accesses of each thread at a time.
// CHECK-LABEL: func.func @long(
//  CHECK-SAME: tile.rows = {across = 512 : i64, {{.*}}threads = 512 : i64, tile = [1, 4096], {{.*}}unroll = 4 : i64
#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @long(%A: memref<4x100000xf16> {tile.role = "in"}, %R: memref<4xf32> {tile.role = "out"}) attributes {tile.kind = "rows"} {
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%R : memref<4xf32>)
    linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
        ins(%A : memref<4x100000xf16>) outs(%R : memref<4xf32>) {
    ^bb0(%x: f16, %a: f32):
      %w = arith.extf %x : f16 to f32
      %r = arith.addf %w, %a : f32
      linalg.yield %r : f32
    }
    return
  }
}

// -----

// Many odd rows, of which an SM's shared memory holds one: clusters, so that one reads while another computes.
// CHECK-LABEL: func.func @odd_many(
//  CHECK-SAME: tile.rows = {{{.*}}cluster = 4 : i64, {{.*}}shift = 8 : i64, staged = true, threads = 256 : i64
#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @odd_many(%A: memref<906x64483xf16> {tile.role = "in"}, %R: memref<906x64483xf16> {tile.role = "out"}) attributes {tile.kind = "rows"} {
    %lowest = arith.constant 0xFF800000 : f32
    %greatest = memref.alloc() : memref<906xf32>
    linalg.fill ins(%lowest : f32) outs(%greatest : memref<906xf32>)
    linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
        ins(%A : memref<906x64483xf16>) outs(%greatest : memref<906xf32>) {
    ^bb0(%x: f16, %a: f32):
      %w = arith.extf %x : f16 to f32
      %r = arith.maximumf %w, %a : f32
      linalg.yield %r : f32
    }
    linalg.generic {indexing_maps = [#mn, #m, #mn], iterator_types = ["parallel", "parallel"]}
        ins(%A, %greatest : memref<906x64483xf16>, memref<906xf32>) outs(%R : memref<906x64483xf16>) {
    ^bb0(%x: f16, %y: f32, %o: f16):
      %w = arith.extf %x : f16 to f32
      %d = arith.subf %w, %y : f32
      %t = arith.truncf %d : f32 to f16
      linalg.yield %t : f16
    }
    return
  }
}

// -----

// Fewer: clusters too, of as many blocks as load their part at once.
// CHECK-LABEL: func.func @odd_few(
//  CHECK-SAME: tile.rows = {{{.*}}cluster = 8 : i64, {{.*}}shift = 8 : i64, staged = true, threads = 256 : i64, {{.*}}unroll = 6 : i64
#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @odd_few(%A: memref<235x92721xf16> {tile.role = "in"}, %R: memref<235x92721xf16> {tile.role = "out"}) attributes {tile.kind = "rows"} {
    %lowest = arith.constant 0xFF800000 : f32
    %greatest = memref.alloc() : memref<235xf32>
    linalg.fill ins(%lowest : f32) outs(%greatest : memref<235xf32>)
    linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
        ins(%A : memref<235x92721xf16>) outs(%greatest : memref<235xf32>) {
    ^bb0(%x: f16, %a: f32):
      %w = arith.extf %x : f16 to f32
      %r = arith.maximumf %w, %a : f32
      linalg.yield %r : f32
    }
    linalg.generic {indexing_maps = [#mn, #m, #mn], iterator_types = ["parallel", "parallel"]}
        ins(%A, %greatest : memref<235x92721xf16>, memref<235xf32>) outs(%R : memref<235x92721xf16>) {
    ^bb0(%x: f16, %y: f32, %o: f16):
      %w = arith.extf %x : f16 to f32
      %d = arith.subf %w, %y : f32
      %t = arith.truncf %d : f32 to f16
      linalg.yield %t : f16
    }
    return
  }
}

// -----

// Odd rows that no block's shared memory holds.
// CHECK-LABEL: func.func @odd_longer(
//  CHECK-SAME: tile.rows = {{{.*}}cluster = 8 : i64, {{.*}}shift = 8 : i64, staged = true
#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @odd_longer(%A: memref<100x150001xf16> {tile.role = "in"}, %R: memref<100x150001xf16> {tile.role = "out"}) attributes {tile.kind = "rows"} {
    %lowest = arith.constant 0xFF800000 : f32
    %greatest = memref.alloc() : memref<100xf32>
    linalg.fill ins(%lowest : f32) outs(%greatest : memref<100xf32>)
    linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
        ins(%A : memref<100x150001xf16>) outs(%greatest : memref<100xf32>) {
    ^bb0(%x: f16, %a: f32):
      %w = arith.extf %x : f16 to f32
      %r = arith.maximumf %w, %a : f32
      linalg.yield %r : f32
    }
    linalg.generic {indexing_maps = [#mn, #m, #mn], iterator_types = ["parallel", "parallel"]}
        ins(%A, %greatest : memref<100x150001xf16>, memref<100xf32>) outs(%R : memref<100x150001xf16>) {
    ^bb0(%x: f16, %y: f32, %o: f16):
      %w = arith.extf %x : f16 to f32
      %d = arith.subf %w, %y : f32
      %t = arith.truncf %d : f32 to f16
      linalg.yield %t : f16
    }
    return
  }
}

// -----

// What stands there is kept, and its other fields are written out.
// CHECK-LABEL: func.func @pinned(
//  CHECK-SAME: tile.rows = {across = 32 : i64, {{.*}}threads = 64 : i64, tile = [2, 64], transposed = false, unroll = 1 : i64, vector = 2 : i64}
#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @pinned(%A: memref<100x64xf16> {tile.role = "in"}, %R: memref<100xf32> {tile.role = "out"}) attributes {tile.kind = "rows", tile.rows = {threads = 64 : i64, across = 32 : i64, vector = 2 : i64, tile = [2, 64]}} {
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%R : memref<100xf32>)
    linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
        ins(%A : memref<100x64xf16>) outs(%R : memref<100xf32>) {
    ^bb0(%x: f16, %a: f32):
      %w = arith.extf %x : f16 to f32
      %r = arith.addf %w, %a : f32
      linalg.yield %r : f32
    }
    return
  }
}

// -----

// Sums of columns: neighbours in memory belong to different rows of the kernel.
// CHECK-LABEL: func.func @columns(
//  CHECK-SAME: tile.rows = {{{.*}}transposed = true
#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @columns(%A: memref<3000x500xf16, strided<[1, 3000]>> {tile.role = "in"}, %R: memref<3000xf32> {tile.role = "out"}) attributes {tile.kind = "rows"} {
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%R : memref<3000xf32>)
    linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
        ins(%A : memref<3000x500xf16, strided<[1, 3000]>>) outs(%R : memref<3000xf32>) {
    ^bb0(%x: f16, %a: f32):
      %w = arith.extf %x : f16 to f32
      %r = arith.addf %w, %a : f32
      linalg.yield %r : f32
    }
    return
  }
}

// -----

// Other kernels are left alone.
// CHECK-LABEL: func.func @elementwise(
//   CHECK-NOT: tile.rows
#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @elementwise(%A: memref<100x64xf16> {tile.role = "in"}, %R: memref<100xf32> {tile.role = "out"}) attributes {tile.kind = "elementwise"} {
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%R : memref<100xf32>)
    linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
        ins(%A : memref<100x64xf16>) outs(%R : memref<100xf32>) {
    ^bb0(%x: f16, %a: f32):
      %w = arith.extf %x : f16 to f32
      %r = arith.addf %w, %a : f32
      linalg.yield %r : f32
    }
    return
  }
}
