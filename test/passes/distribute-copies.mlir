// distribute-copies: block-wide copies, and chains of loads, arithmetic and stores, are divided among threads.
// RUN: mlir-gemm opt %s distribute-copies cse | FileCheck %s
// RUN: mlir-gemm opt %s 'distribute-copies{bits=64 unroll=false}' cse | FileCheck %s --check-prefix=LOOP

gpu.module @kernels {
  // 32x64 elements are 256 vectors of 8: two for each of 128 threads, 8 across, so that the second lies 16 rows below.
// CHECK-LABEL: @copy
// CHECK: %[[M:.*]] = arith.muli %{{.*}}, %c32
// CHECK: %[[K:.*]] = arith.muli %{{.*}}, %c64
// CHECK: %[[THREAD:.*]] = gpu.thread_id x
// CHECK: %[[C8:.*]] = arith.constant 8 : index
// CHECK: %[[ROW:.*]] = arith.divui %[[THREAD]], %[[C8]]
// CHECK: %[[VECTOR:.*]] = arith.remui %[[THREAD]], %[[C8]]
// CHECK: %[[COLUMN:.*]] = arith.muli %[[VECTOR]], %[[C8]]
// CHECK: %[[C16:.*]] = arith.constant 16 : index
// CHECK: %[[BELOW:.*]] = arith.addi %[[ROW]], %[[C16]]
// CHECK: %[[I:.*]] = arith.addi %[[M]], %[[ROW]]
// CHECK: %[[J:.*]] = arith.addi %[[K]], %[[COLUMN]]
// CHECK: %[[FIRST:.*]] = vector.load %{{.*}}[%[[I]], %[[J]]] {alignment = 16 : i64} {{.*}}, vector<8xf16>
// CHECK: %[[I2:.*]] = arith.addi %[[M]], %[[BELOW]]
// CHECK: %[[SECOND:.*]] = vector.load %{{.*}}[%[[I2]], %[[J]]] {alignment = 16 : i64}
// CHECK: vector.store %[[FIRST]], %[[BUFFER:.*]][%[[ROW]], %[[COLUMN]]] {alignment = 16 : i64}
// CHECK: vector.store %[[SECOND]], %[[BUFFER]][%[[BELOW]], %[[COLUMN]]] {alignment = 16 : i64}

// LOOP-LABEL: @copy
// LOOP: scf.for %[[ROUND:.*]] = %{{.*}} to %[[C4:.*]] step %{{.*}} {
// LOOP: %[[THREAD:.*]] = gpu.thread_id x
// LOOP: %[[C128:.*]] = arith.constant 128 : index
// LOOP: %[[BEFORE:.*]] = arith.muli %[[ROUND]], %[[C128]]
// LOOP: %[[LINEAR:.*]] = arith.addi %[[THREAD]], %[[BEFORE]]
// LOOP: arith.divui %[[LINEAR]], %[[C16:.*]] : index
// LOOP: arith.remui %[[LINEAR]], %[[C16]] : index
// LOOP: vector.load {{.*}} {alignment = 8 : i64} : memref<256x256xf16>, vector<4xf16>
// LOOP: vector.store {{.*}} {alignment = 8 : i64}
// LOOP: }
  gpu.func @copy(%A: memref<256x256xf16>, %buffer: memref<32x64xf16, strided<[72, 1]>, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %i = gpu.block_id x
    %j = gpu.block_id y
    %m = arith.muli %i, %c32 : index
    %k = arith.muli %j, %c64 : index
    "tile.copy"(%buffer, %A, %m, %k) {operandSegmentSizes = array<i32: 1, 1, 2>, in_bounds = array<i1: true, true>} : (memref<32x64xf16, strided<[72, 1]>, 3>, memref<256x256xf16>, index, index) -> ()
    gpu.return
  }

  // 32 threads are no multiple of the 5 vectors across: each round divides.
// CHECK-LABEL: @uneven
// CHECK: %[[THREAD:.*]] = gpu.thread_id x
// CHECK: %[[C5:.*]] = arith.constant 5 : index
// CHECK: arith.divui %[[THREAD]], %[[C5]]
// CHECK: %[[C32:.*]] = arith.constant 32 : index
// CHECK: %[[NEXT:.*]] = arith.addi %[[THREAD]], %[[C32]]
// CHECK: arith.divui %[[NEXT]], %[[C5]]
// CHECK: arith.remui %[[NEXT]], %[[C5]]
  gpu.func @uneven(%A: memref<256x256xf16>, %buffer: memref<32x40xf16, 3>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    "tile.copy"(%buffer, %A, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<32x40xf16, 3>, memref<256x256xf16>, index, index) -> ()
    gpu.return
  }

  // 3 vectors in a row, 51 in all, for 32 threads: only 19 of them take a second one.
// CHECK-LABEL: @last_round
// CHECK: %[[LINEAR:.*]] = arith.addi %{{.*}}, %[[C32:.*]] overflow
// CHECK: %[[C51:.*]] = arith.constant 51 : index
// CHECK: %[[IS:.*]] = arith.cmpi ult, %[[LINEAR]], %[[C51]]
// CHECK: vector.load {{.*}} vector<8xf16>
// CHECK: %[[SECOND:.*]] = scf.if %[[IS]] -> (vector<8xf16>) {
// CHECK: vector.load
// CHECK: } else {
// CHECK: dense<0.0
// CHECK: scf.if %[[IS]] {
// CHECK-NEXT: vector.store %[[SECOND]]

// LOOP-LABEL: @last_round
// LOOP: scf.for
// LOOP: %[[IS:.*]] = arith.cmpi ult
// LOOP: scf.if %[[IS]] -> (vector<4xf16>)
// LOOP: scf.if %[[IS]] {
  gpu.func @last_round(%A: memref<256x256xf16>, %buffer: memref<17x24xf16, 3>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    "tile.copy"(%buffer, %A, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<17x24xf16, 3>, memref<256x256xf16>, index, index) -> ()
    gpu.return
  }

  // Not known to be in bounds: a thread asks before it loads. Rows of 100 elements allow vectors of 4; constant offsets
  // that are known to be within need no question.
// CHECK-LABEL: @ragged
// CHECK: %[[I:.*]] = arith.addi %{{.*}}, %{{.*}} overflow
// CHECK: %[[C70:.*]] = arith.constant 70 : index
// CHECK: %[[ROW_IN:.*]] = arith.cmpi ult, %[[I]], %[[C70]]
// CHECK: %[[J:.*]] = arith.addi
// CHECK: %[[C100:.*]] = arith.constant 100 : index
// CHECK: %[[COLUMN_IN:.*]] = arith.cmpi ult, %[[J]], %[[C100]]
// CHECK: %[[IN:.*]] = arith.andi %[[ROW_IN]], %[[COLUMN_IN]]
// CHECK: scf.if %[[IN]] -> (vector<4xf16>) {
// CHECK: vector.load %{{.*}}[%[[I]], %[[J]]] {alignment = 8 : i64}
// CHECK: vector.store
// CHECK-NOT: scf.if
// CHECK: gpu.return
  gpu.func @ragged(%A: memref<70x100xf16>, %buffer: memref<16x32xf16, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %i = gpu.block_id x
    %m = arith.muli %i, %c32 : index
    "tile.copy"(%buffer, %A, %m, %m) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<16x32xf16, 3>, memref<70x100xf16>, index, index) -> ()
    "tile.copy"(%buffer, %A, %c32, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<16x32xf16, 3>, memref<70x100xf16>, index, index) -> ()
    gpu.return
  }

  // Rows an odd number of elements apart, an offset that may be odd, and a buffer whose rows run across the memory's: one
  // element at a time.
// CHECK-LABEL: @narrow
// CHECK: vector.load {{.*}} vector<1xf16>
// CHECK-NOT: vector<8xf16>
// CHECK: gpu.return
  gpu.func @narrow(%A: memref<70x101xf16>, %B: memref<64x64xf16>, %buffer: memref<8x16xf16, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %i = gpu.block_id x
    "tile.copy"(%buffer, %A, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<8x16xf16, 3>, memref<70x101xf16>, index, index) -> ()
    "tile.copy"(%buffer, %B, %c0, %i) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<8x16xf16, 3>, memref<64x64xf16>, index, index) -> ()
    "tile.copy"(%buffer, %B, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>, dims = array<i64: 1, 0>} : (memref<8x16xf16, 3>, memref<64x64xf16>, index, index) -> ()
    gpu.return
  }

  // A matrix stored column by column, and a buffer with the same order: vectors along the columns.
// CHECK-LABEL: @columns
// CHECK: %[[TURNED:.*]] = memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [64, 80], strides: [80, 1]
// CHECK: vector.load %[[TURNED]][%{{.*}}, %{{.*}}] {alignment = 16 : i64} : memref<64x80xf16, strided<[80, 1]>>, vector<8xf16>
  gpu.func @columns(%A: memref<80x64xf16, strided<[1, 80]>>, %buffer: memref<16x32xf16, 3>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    "tile.copy"(%buffer, %A, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>, dims = array<i64: 1, 0>} : (memref<16x32xf16, 3>, memref<80x64xf16, strided<[1, 80]>>, index, index) -> ()
    gpu.return
  }

  // One index of the first dimension, which is asked for too.
// CHECK-LABEL: @batch
// CHECK: %[[BATCH:.*]] = gpu.block_id z
// CHECK: %[[IN:.*]] = arith.cmpi ult, %[[BATCH]], %c5
// CHECK: scf.if %[[IN]]
// CHECK: vector.load %{{.*}}[%[[BATCH]], %{{.*}}, %{{.*}}] {alignment = 16 : i64} : memref<5x64x64xf16>, vector<8xf16>
  gpu.func @batch(%A: memref<5x64x64xf16>, %buffer: memref<16x32xf16, 3>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c5 = arith.constant 5 : index
    %b = gpu.block_id z
    "tile.copy"(%buffer, %A, %b, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 3>} : (memref<16x32xf16, 3>, memref<5x64x64xf16>, index, index, index) -> ()
    gpu.return
  }

  // A tile held in registers is loaded where it is loaded, and stored where it is stored. The warp's tile is not touched.
// CHECK-LABEL: @late
// CHECK: %[[FIRST:.*]] = vector.load
// CHECK: %[[SECOND:.*]] = vector.load
// CHECK: gpu.barrier
// CHECK: vector.store %[[FIRST]],
// CHECK: vector.store %[[SECOND]],
// CHECK: "tile.load"{{.*}}scope = "warp"

// LOOP-LABEL: @late
// LOOP-NOT: scf.for
// LOOP: gpu.barrier
  gpu.func @late(%A: memref<256x256xf32>, %buffer: memref<16x16xf32, 3>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %m = gpu.block_id x
    %tile = "tile.load"(%A, %m, %c0) {operandSegmentSizes = array<i32: 1, 2>, in_bounds = array<i1: true, true>} : (memref<256x256xf32>, index, index) -> vector<16x16xf32>
    gpu.barrier
    "tile.store"(%tile, %buffer, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<16x16xf32>, memref<16x16xf32, 3>, index, index) -> ()
    %warp = "tile.load"(%A, %m, %c0) {operandSegmentSizes = array<i32: 1, 2>, scope = "warp"} : (memref<256x256xf32>, index, index) -> vector<16x16xf32>
    gpu.return
  }

  // A computed tile: integers times a scale for each row, clipped; 8 elements at a time as f16 asks. The loads come where
  // they stood, the arithmetic and the stores after the barrier.
// CHECK-LABEL: @computed
// CHECK: %[[INT:.*]] = vector.load {{.*}} {alignment = 8 : i64} : memref<64x64xi8>, vector<8xi8>
// CHECK: %[[SCALAR:.*]] = memref.load
// CHECK: %[[SCALE:.*]] = vector.broadcast %[[SCALAR]] : f16 to vector<8xf16>
// CHECK: gpu.barrier
// CHECK: %[[F:.*]] = arith.sitofp %[[INT]] : vector<8xi8> to vector<8xf16>
// CHECK: %[[P:.*]] = arith.mulf %[[F]], %[[SCALE]] fastmath<contract> : vector<8xf16>
// CHECK: %[[ONE:.*]] = arith.constant dense<1.000000e+00> : vector<8xf16>
// CHECK: %[[Q:.*]] = arith.addf %[[P]], %[[ONE]]
// CHECK: %[[START:.*]] = arith.addi
// CHECK: %[[LEFT:.*]] = arith.subi %{{.*}}, %[[START]]
// CHECK: arith.cmpi sgt, %[[LEFT]]
// CHECK: %[[MASK:.*]] = vector.from_elements
// CHECK: %[[R:.*]] = arith.select %[[MASK]], %[[Q]], %{{.*}} : vector<8xi1>, vector<8xf16>
// CHECK: %[[IN:.*]] = arith.cmpi ult
// CHECK: %[[S:.*]] = arith.select %[[IN]], %[[R]], %{{.*}} : vector<8xf16>
// CHECK: vector.store %[[S]]
  gpu.func @computed(%A: memref<64x64xi8>, %scale: memref<64xf16>, %buffer: memref<16x16xf16, 3>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c61 = arith.constant 61 : index
    %c16 = arith.constant 16 : index
    %i = gpu.block_id x
    %m = arith.muli %i, %c16 : index
    %x = "tile.load"(%A, %m, %c0) {operandSegmentSizes = array<i32: 1, 2>, in_bounds = array<i1: true, true>} : (memref<64x64xi8>, index, index) -> vector<16x16xi8>
    %s = "tile.load"(%scale, %m) {operandSegmentSizes = array<i32: 1, 1>, dims = array<i64: 0>, in_bounds = array<i1: true>} : (memref<64xf16>, index) -> vector<16x16xf16>
    gpu.barrier
    %f = arith.sitofp %x : vector<16x16xi8> to vector<16x16xf16>
    %p = arith.mulf %f, %s fastmath<contract> : vector<16x16xf16>
    %one = arith.constant dense<1.0> : vector<16x16xf16>
    %q = arith.addf %p, %one : vector<16x16xf16>
    %r = "tile.clip"(%q, %m, %c61) {dim = 1 : i64} : (vector<16x16xf16>, index, index) -> vector<16x16xf16>
    %t = "tile.clip"(%r, %m, %c61) {dim = 0 : i64} : (vector<16x16xf16>, index, index) -> vector<16x16xf16>
    "tile.store"(%t, %buffer, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>, in_bounds = array<i1: true, true>} : (vector<16x16xf16>, memref<16x16xf16, 3>, index, index) -> ()
    gpu.return
  }

  // Asynchronous copies: 16 bytes past L1, fewer through it, zeros and no address outside of a ragged matrix; where not
  // even 4 bytes can be copied a plain copy does.
// CHECK-LABEL: @asynchronous
// CHECK: nvgpu.device_async_copy %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}}[%{{.*}}, %{{.*}}], 8 {bypassL1} : memref<64x64xf16> to memref<16x16xf16, 3>
// CHECK: %[[IN:.*]] = arith.cmpi ult
// CHECK: %[[N:.*]] = arith.select %[[IN]], %{{.*}}, %{{.*}} : index
// CHECK: %[[I:.*]] = arith.select %[[IN]], %{{.*}}, %{{.*}} : index
// CHECK: nvgpu.device_async_copy %{{.*}}[%[[I]], %{{.*}}], %{{.*}}[%{{.*}}, %{{.*}}], 4, %[[N]] : memref<61x20xf16> to memref<16x16xf16, 3>
// CHECK: vector.load
// CHECK: vector.store
// CHECK-NOT: tile.

// LOOP-LABEL: @asynchronous
// LOOP: scf.for
// LOOP: nvgpu.device_async_copy {{.*}}, 4 : memref<64x64xf16>
  gpu.func @asynchronous(%A: memref<64x64xf16>, %B: memref<61x20xf16>, %C: memref<64x17xf16>, %buffer: memref<16x16xf16, 3>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %i = gpu.block_id x
    %m = arith.muli %i, %c16 : index
    "tile.copy_async"(%buffer, %A, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<16x16xf16, 3>, memref<64x64xf16>, index, index) -> ()
    "tile.copy_async"(%buffer, %B, %m, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<16x16xf16, 3>, memref<61x20xf16>, index, index) -> ()
    "tile.copy_async"(%buffer, %C, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<16x16xf16, 3>, memref<64x17xf16>, index, index) -> ()
    gpu.return
  }

  // A copy that transposes is of single elements: a warp takes 8 neighbours of each of 4 rows.
// CHECK-LABEL: @transposed
// CHECK: %[[T:.*]] = gpu.thread_id x
// CHECK: %[[WARP:.*]] = arith.divui %[[T]], %c32
// CHECK: %[[ROWS:.*]] = arith.divui %[[T]], %c8
// CHECK: %[[ROW:.*]] = arith.remui %[[ROWS]], %c4
// CHECK: %[[NEAR:.*]] = arith.remui %[[T]], %c8
// CHECK: %[[PATCH:.*]] = arith.remui %[[WARP]], %c2
// CHECK: %[[FIRST:.*]] = arith.muli %[[PATCH]], %c8
// CHECK: arith.addi %[[NEAR]], %[[FIRST]]
// CHECK-COUNT-4: nvgpu.device_async_copy {{.*}}, 1 : memref<64x64xf32> to memref<16x32xf32, 3>
// CHECK-NOT: nvgpu.device_async_copy
  gpu.func @transposed(%A: memref<64x64xf32>, %buffer: memref<16x32xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    "tile.copy_async"(%buffer, %A, %c0, %c0) {dims = array<i64: 1, 0>, in_bounds = array<i1: true, true>, operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<16x32xf32, 3>, memref<64x64xf32>, index, index) -> ()
    gpu.return
  }
}
