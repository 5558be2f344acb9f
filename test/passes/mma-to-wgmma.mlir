// mma-to-wgmma: products of warpgroup tiles become wgmma instructions, and the epilogue becomes code of each thread.
// RUN: mlir-gemm opt %s mma-to-wgmma cse canonicalize | FileCheck %s
// RUN: mlir-gemm opt %s mma-to-wgmma mma-to-wgmma cse canonicalize | FileCheck %s

gpu.module @kernels {
// Descriptors: 128-byte swizzle, 1024 bytes from 8 rows to the next, in stages of 8192 and 2048 bytes. A product of
// K = 64 is four instructions, 32 bytes apart; the first of a fresh accumulator does not read it.
// CHECK-LABEL: @product(
//  CHECK-SAME: %[[SLOT:.*]]: index, %[[N:.*]]: index, %[[C:.*]]: memref<64x16xf16>)
//   CHECK-DAG:   %[[FIXED:.*]] = arith.constant 4611686293305294848 : i64
//   CHECK-DAG:   %[[NONE:.*]] = llvm.mlir.undef : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>
//       CHECK:   %[[A:.*]] = memref.alloc() {tile.layout = "swizzle128"} : memref<3x64x64xf16, 3>
//       CHECK:   %[[B:.*]] = memref.alloc() {tile.layout = "swizzle128"} : memref<3x16x64xf16, 3>
//       CHECK:   %[[AT:.*]] = memref.extract_aligned_pointer_as_index %[[A]]
//       CHECK:   %[[AS:.*]] = arith.muli %[[SLOT]], %c8192
//       CHECK:   %[[DA:.*]] = arith.ori %{{.*}}, %[[FIXED]] : i64
//       CHECK:   %[[BT:.*]] = memref.extract_aligned_pointer_as_index %[[B]]
//       CHECK:   %[[BS:.*]] = arith.muli %[[SLOT]], %c2048
//       CHECK:   %[[DB:.*]] = arith.ori %{{.*}}, %[[FIXED]] : i64
//  CHECK-NEXT:   nvvm.wgmma.fence.aligned
//  CHECK-NEXT:   %[[P0:.*]] = nvvm.wgmma.mma_async %[[DA]], %[[DB]], %[[NONE]], <m = 64, n = 16, k = 16>, D[<f32>, <zero>], A[<f16>, <one>, <row>], B[<f16>, <one>, <col>]
//       CHECK:   %[[DB1:.*]] = arith.addi %[[DB]], %c2_i64
//       CHECK:   %[[DA1:.*]] = arith.addi %[[DA]], %c2_i64
//       CHECK:   %[[P1:.*]] = nvvm.wgmma.mma_async %[[DA1]], %[[DB1]], %[[P0]], <m = 64, n = 16, k = 16>, D[<f32>, <one>]
//       CHECK:   nvvm.wgmma.mma_async
//       CHECK:   %[[P3:.*]] = nvvm.wgmma.mma_async
//  CHECK-NEXT:   nvvm.wgmma.commit.group.sync.aligned
//  CHECK-NEXT:   %[[LOOP:.*]] = scf.for %{{.*}} iter_args(%[[ACC:.*]] = %[[P3]])
//  CHECK-NEXT:     nvvm.wgmma.fence.aligned
//  CHECK-NEXT:     nvvm.wgmma.mma_async %[[DA]], %[[DB]], %[[ACC]], <m = 64, n = 16, k = 16>, D[<f32>, <one>]
//  CHECK-NEXT:     nvvm.wgmma.mma_async %[[DA1]], %[[DB1]],
//  CHECK-NEXT:     nvvm.wgmma.mma_async
//  CHECK-NEXT:     %[[MORE:.*]] = nvvm.wgmma.mma_async
//  CHECK-NEXT:     nvvm.wgmma.commit.group.sync.aligned
//  CHECK-NEXT:     nvvm.wgmma.wait.group.sync.aligned 1
//  CHECK-NEXT:     scf.yield %[[MORE]]
// The last wait is tied to all registers; what follows works on pairs of neighbours, rows r and r + 8.
//       CHECK:   nvvm.wgmma.wait.group.sync.aligned 0
//       CHECK:   %[[E0:.*]] = llvm.extractvalue %[[LOOP]][0]
//       CHECK:   %[[TIED:.*]] = llvm.inline_asm has_side_effects "", "=f,=f,=f,=f,=f,=f,=f,=f,0,1,2,3,4,5,6,7" %[[E0]],
//       CHECK:   %[[V0:.*]] = llvm.extractvalue %[[TIED]][0]
//       CHECK:   %[[V1:.*]] = llvm.extractvalue %[[TIED]][1]
//       CHECK:   %[[PAIR:.*]] = vector.from_elements %[[V0]], %[[V1]] : vector<2xf32>
//       CHECK:   %[[HALF:.*]] = arith.truncf %[[PAIR]] : vector<2xf32> to vector<2xf16>
//       CHECK:   vector.store %[[HALF]], %[[C]][%[[ROW:.*]], %[[COLUMN:.*]]] {alignment = 4 : i64}
//       CHECK:   vector.store %{{.*}}, %[[C]][%{{.*}}, %[[COLUMN]]]
//       CHECK:   vector.store %{{.*}}, %[[C]][%[[ROW]], %{{.*}}]
//       CHECK:   vector.store
//   CHECK-NOT:   vector.store
gpu.func @product(%slot: index, %n: index, %C: memref<64x16xf16>) kernel {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : vector<64x16xf32>
  %A = memref.alloc() {tile.layout = "swizzle128"} : memref<3x64x64xf16, 3>
  %B = memref.alloc() {tile.layout = "swizzle128"} : memref<3x16x64xf16, 3>
  %a = memref.subview %A[%slot, 0, 0] [1, 64, 64] [1, 1, 1] : memref<3x64x64xf16, 3> to memref<64x64xf16, strided<[64, 1], offset: ?>, 3>
  %b = memref.subview %B[%slot, 0, 0] [1, 16, 64] [1, 1, 1] : memref<3x16x64xf16, 3> to memref<16x64xf16, strided<[64, 1], offset: ?>, 3>
  %first = "tile.mma"(%a, %b, %zero) {a = "mk", async, b = "nk", scope = "warpgroup"} : (memref<64x64xf16, strided<[64, 1], offset: ?>, 3>, memref<16x64xf16, strided<[64, 1], offset: ?>, 3>, vector<64x16xf32>) -> vector<64x16xf32>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %first) -> (vector<64x16xf32>) {
    %more = "tile.mma"(%a, %b, %acc) {a = "mk", async, b = "nk", scope = "warpgroup"} : (memref<64x64xf16, strided<[64, 1], offset: ?>, 3>, memref<16x64xf16, strided<[64, 1], offset: ?>, 3>, vector<64x16xf32>) -> vector<64x16xf32>
    %waited = "tile.mma_wait"(%more) {pending = 1 : i64} : (vector<64x16xf32>) -> vector<64x16xf32>
    scf.yield %waited : vector<64x16xf32>
  }
  %done = "tile.mma_wait"(%sum) {pending = 0 : i64} : (vector<64x16xf32>) -> vector<64x16xf32>
  %narrow = arith.truncf %done : vector<64x16xf32> to vector<64x16xf16>
  "tile.store"(%narrow, %C, %c0, %c0) {in_bounds = array<i1: true, true>, operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warpgroup"} : (vector<64x16xf16>, memref<64x16xf16>, index, index) -> ()
  gpu.return
}

// Sums in f16: two share a register.
// CHECK-LABEL: @half_sums(
//       CHECK:   %[[NONE:.*]] = llvm.mlir.undef : !llvm.struct<(i32, i32, i32, i32)>
//       CHECK:   nvvm.wgmma.mma_async %{{.*}}, %{{.*}}, %[[NONE]], <m = 64, n = 16, k = 16>, D[<f16>, <zero>], A[<f16>, <one>, <row>], B[<f16>, <one>, <col>]
//       CHECK:   %[[TIED:.*]] = llvm.inline_asm has_side_effects "", "=r,=r,=r,=r,0,1,2,3"
//       CHECK:   %[[TWO:.*]] = llvm.extractvalue %[[TIED]][0]
//       CHECK:   %[[WORD:.*]] = vector.broadcast %[[TWO]] : i32 to vector<1xi32>
//       CHECK:   %[[PAIR:.*]] = vector.bitcast %[[WORD]] : vector<1xi32> to vector<2xf16>
//       CHECK:   vector.store %[[PAIR]],
gpu.func @half_sums(%C: memref<64x16xf16>) kernel {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : vector<64x16xf16>
  %A = memref.alloc() {tile.layout = "swizzle128"} : memref<64x64xf16, 3>
  %B = memref.alloc() {tile.layout = "swizzle128"} : memref<16x64xf16, 3>
  %sum = "tile.mma"(%A, %B, %zero) {a = "mk", async, b = "nk", scope = "warpgroup"} : (memref<64x64xf16, 3>, memref<16x64xf16, 3>, vector<64x16xf16>) -> vector<64x16xf16>
  %done = "tile.mma_wait"(%sum) {pending = 0 : i64} : (vector<64x16xf16>) -> vector<64x16xf16>
  "tile.store"(%done, %C, %c0, %c0) {in_bounds = array<i1: true, true>, scope = "warpgroup"} : (vector<64x16xf16>, memref<64x16xf16>, index, index) -> ()
  gpu.return
}

// M and N along the rows: panels of 64 rows and 128 bytes stand 8192 bytes apart, which the descriptors say; a step of K
// is 16 rows, 2048 bytes. 128 rows of the accumulator are two instructions for each step.
// CHECK-LABEL: @transposed(
//   CHECK-DAG:   arith.constant 128 : i64
//   CHECK-DAG:   %[[FIXED:.*]] = arith.constant 4611686293338849280 : i64
//       CHECK:   %[[DA:.*]] = arith.ori %{{.*}}, %[[FIXED]] : i64
//       CHECK:   %[[DB:.*]] = arith.ori %{{.*}}, %[[FIXED]] : i64
//       CHECK:   nvvm.wgmma.fence.aligned
//       CHECK:   %[[UP:.*]] = nvvm.wgmma.mma_async %[[DA]], %[[DB]], %{{.*}}, <m = 64, n = 64, k = 16>, D[<f32>, <one>], A[<bf16>, <one>, <col>], B[<bf16>, <one>, <row>]
//       CHECK:   %[[LOWER:.*]] = arith.addi %[[DA]], %c512_i64
//       CHECK:   %[[DOWN:.*]] = nvvm.wgmma.mma_async %[[LOWER]], %[[DB]],
//       CHECK:   %[[NEXT:.*]] = arith.addi %[[DB]], %c128_i64
//       CHECK:   nvvm.wgmma.mma_async %{{.*}}, %[[NEXT]], %[[UP]],
//       CHECK:   nvvm.wgmma.mma_async %{{.*}}, %[[NEXT]], %[[DOWN]],
// CHECK-COUNT-4: nvvm.wgmma.mma_async
//  CHECK-NEXT:   nvvm.wgmma.commit.group.sync.aligned
gpu.func @transposed(%C: memref<128x64xf32>) kernel {
  %c0 = arith.constant 0 : index
  %A = memref.alloc() {tile.layout = "swizzle128"} : memref<64x128xbf16, 3>
  %B = memref.alloc() {tile.layout = "swizzle128"} : memref<64x64xbf16, 3>
  %c = "tile.load"(%C, %c0, %c0) {in_bounds = array<i1: true, true>, operandSegmentSizes = array<i32: 1, 2>, scope = "warpgroup"} : (memref<128x64xf32>, index, index) -> vector<128x64xf32>
  %d = "tile.mma"(%A, %B, %c) {a = "km", async, b = "kn", scope = "warpgroup"} : (memref<64x128xbf16, 3>, memref<64x64xbf16, 3>, vector<128x64xf32>) -> vector<128x64xf32>
  %e = "tile.mma_wait"(%d) {pending = 0 : i64} : (vector<128x64xf32>) -> vector<128x64xf32>
  "tile.store"(%e, %C, %c0, %c0) {in_bounds = array<i1: true, true>, operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warpgroup"} : (vector<128x64xf32>, memref<128x64xf32>, index, index) -> ()
  gpu.return
}

// Narrower panels: three of 64 bytes (32 columns each) stand 4096 bytes apart, 8 rows of them 512, and a step of K moves 16
// rows, 1024 bytes.
// CHECK-LABEL: @three(
//   CHECK-DAG:   %[[FIXED:.*]] = arith.constant -9223371899399045120 : i64
//       CHECK:   %[[DB:.*]] = arith.ori %{{.*}}, %[[FIXED]] : i64
//       CHECK:   nvvm.wgmma.mma_async %{{.*}}, %[[DB]], %{{.*}}, <m = 64, n = 96, k = 16>, {{.*}} B[<f16>, <one>, <row>]
//       CHECK:   %[[NEXT:.*]] = arith.addi %[[DB]], %c64_i64
//       CHECK:   nvvm.wgmma.mma_async %{{.*}}, %[[NEXT]],
gpu.func @three(%C: memref<64x96xf32>) kernel {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : vector<64x96xf32>
  %A = memref.alloc() {tile.layout = "swizzle128"} : memref<64x64xf16, 3>
  %B = memref.alloc() {tile.layout = "swizzle64"} : memref<64x96xf16, 3>
  %d = "tile.mma"(%A, %B, %zero) {a = "mk", async, b = "kn", scope = "warpgroup"} : (memref<64x64xf16, 3>, memref<64x96xf16, 3>, vector<64x96xf32>) -> vector<64x96xf32>
  %e = "tile.mma_wait"(%d) {pending = 0 : i64} : (vector<64x96xf32>) -> vector<64x96xf32>
  "tile.store"(%e, %C, %c0, %c0) {in_bounds = array<i1: true, true>, operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warpgroup"} : (vector<64x96xf32>, memref<64x96xf32>, index, index) -> ()
  gpu.return
}

// Of 32 bytes: one panel of 16 columns; 8 rows are 256 bytes, a step of K 512. With K along the rows a step of K is a whole
// panel of 16 rows, 512 bytes too.
// CHECK-LABEL: @sixteen(
//   CHECK-DAG:   %[[ALONG_N:.*]] = arith.constant -4611685949699522560 : i64
//   CHECK-DAG:   %[[ALONG_K:.*]] = arith.constant -4611685949707911168 : i64
//       CHECK:   %[[DB:.*]] = arith.ori %{{.*}}, %[[ALONG_N]] : i64
//       CHECK:   nvvm.wgmma.mma_async %{{.*}}, %[[DB]], %{{.*}}, <m = 64, n = 16, k = 16>, {{.*}} B[<f16>, <one>, <row>]
//       CHECK:   %[[NEXT:.*]] = arith.addi %[[DB]], %c32_i64
//       CHECK:   nvvm.wgmma.mma_async %{{.*}}, %[[NEXT]],
//       CHECK:   %[[DK:.*]] = arith.ori %{{.*}}, %[[ALONG_K]] : i64
//       CHECK:   nvvm.wgmma.mma_async %{{.*}}, %[[DK]], %{{.*}}, <m = 64, n = 16, k = 16>, {{.*}} B[<f16>, <one>, <col>]
//       CHECK:   %[[MORE:.*]] = arith.addi %[[DK]], %c32_i64
//       CHECK:   nvvm.wgmma.mma_async %{{.*}}, %[[MORE]],
gpu.func @sixteen(%C: memref<64x16xf32>) kernel {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : vector<64x16xf32>
  %A = memref.alloc() {tile.layout = "swizzle128"} : memref<64x64xf16, 3>
  %B = memref.alloc() {tile.layout = "swizzle32"} : memref<64x16xf16, 3>
  %K = memref.alloc() {tile.layout = "swizzle32"} : memref<16x64xf16, 3>
  %d = "tile.mma"(%A, %B, %zero) {a = "mk", async, b = "kn", scope = "warpgroup"} : (memref<64x64xf16, 3>, memref<64x16xf16, 3>, vector<64x16xf32>) -> vector<64x16xf32>
  %e = "tile.mma"(%A, %K, %d) {a = "mk", async, b = "nk", scope = "warpgroup"} : (memref<64x64xf16, 3>, memref<16x64xf16, 3>, vector<64x16xf32>) -> vector<64x16xf32>
  %f = "tile.mma_wait"(%e) {pending = 0 : i64} : (vector<64x16xf32>) -> vector<64x16xf32>
  "tile.store"(%f, %C, %c0, %c0) {in_bounds = array<i1: true, true>, operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warpgroup"} : (vector<64x16xf32>, memref<64x16xf32>, index, index) -> ()
  gpu.return
}

// A store by the copy engine: one of two panels, once it has been read; matrices of 8 x 8; one thread starts the copy.
// CHECK-LABEL: @bulk(
//  CHECK-SAME: %[[MAP:.*]]: !llvm.ptr
//       CHECK:   nvvm.wgmma.wait.group.sync.aligned 0
//       CHECK:   scf.if %[[FIRST:.*]] {
//  CHECK-NEXT:     nvvm.cp.async.bulk.wait_group 1 {read}
//  CHECK-NEXT:   }
//       CHECK:   nvvm.barrier id = %[[OWN:.*]] number_of_threads = %{{.*}}
// CHECK-COUNT-4: nvvm.stmatrix
//   CHECK-NOT:   nvvm.stmatrix
//       CHECK:   nvvm.fence.proxy
//  CHECK-NEXT:   nvvm.barrier id = %[[OWN]] number_of_threads
//  CHECK-NEXT:   scf.if %[[FIRST]] {
//       CHECK:     nvvm.cp.async.bulk.tensor.global.shared.cta %[[MAP]], %{{.*}}, box[%{{.*}}, %{{.*}}]
//  CHECK-NEXT:     nvvm.cp.async.bulk.commit.group
//  CHECK-NEXT:   }
// The second panel of 64 columns.
//       CHECK:     nvvm.cp.async.bulk.wait_group 1 {read}
// CHECK-COUNT-4: nvvm.stmatrix
//       CHECK:     nvvm.cp.async.bulk.tensor.global.shared.cta %[[MAP]],
//   CHECK-NOT:     nvvm.cp.async.bulk.tensor
//       CHECK:   gpu.return
gpu.func @bulk(%map: !llvm.ptr) kernel {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : vector<64x128xf32>
  %A = memref.alloc() {tile.layout = "swizzle128"} : memref<64x64xf16, 3>
  %B = memref.alloc() {tile.layout = "swizzle128"} : memref<128x64xf16, 3>
  %staging = memref.alloc() {tile.layout = "swizzle128"} : memref<2x64x64xf16, 3>
  %d = "tile.mma"(%A, %B, %zero) {a = "mk", async, b = "nk", scope = "warpgroup"} : (memref<64x64xf16, 3>, memref<128x64xf16, 3>, vector<64x128xf32>) -> vector<64x128xf32>
  %e = "tile.mma_wait"(%d) {pending = 0 : i64} : (vector<64x128xf32>) -> vector<64x128xf32>
  %f = arith.truncf %e : vector<64x128xf32> to vector<64x128xf16>
  "tile.tma_store"(%f, %map, %staging, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 1, 2>, scope = "warpgroup"} : (vector<64x128xf16>, !llvm.ptr, memref<2x64x64xf16, 3>, index, index) -> ()
  gpu.return
}

// The same where rows of the memory run down the tile: the matrices are transposed on their way, and a row of the panel
// is a column of the tile.
// CHECK-LABEL: @across(
//  CHECK-SAME: %[[MAP:.*]]: !llvm.ptr
// CHECK-COUNT-4: nvvm.stmatrix %{{.*}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<col>
//   CHECK-NOT:   nvvm.stmatrix
//       CHECK:   nvvm.cp.async.bulk.tensor.global.shared.cta %[[MAP]], %{{.*}}, box[%{{.*}}, %{{.*}}]
//   CHECK-NOT:   nvvm.cp.async.bulk.tensor
//       CHECK:   gpu.return
gpu.func @across(%map: !llvm.ptr) kernel {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : vector<64x64xf32>
  %A = memref.alloc() {tile.layout = "swizzle128"} : memref<64x64xf16, 3>
  %B = memref.alloc() {tile.layout = "swizzle128"} : memref<64x64xf16, 3>
  %staging = memref.alloc() {tile.layout = "swizzle128"} : memref<2x64x64xf16, 3>
  %d = "tile.mma"(%A, %B, %zero) {a = "mk", async, b = "nk", scope = "warpgroup"} : (memref<64x64xf16, 3>, memref<64x64xf16, 3>, vector<64x64xf32>) -> vector<64x64xf32>
  %e = "tile.mma_wait"(%d) {pending = 0 : i64} : (vector<64x64xf32>) -> vector<64x64xf32>
  %f = arith.truncf %e : vector<64x64xf32> to vector<64x64xf16>
  "tile.tma_store"(%f, %map, %staging, %c0, %c0) {dims = array<i64: 1, 0>, operandSegmentSizes = array<i32: 1, 1, 1, 2>, scope = "warpgroup"} : (vector<64x64xf16>, !llvm.ptr, memref<2x64x64xf16, 3>, index, index) -> ()
  gpu.return
}

// Panels of 32 bytes: two stores by the copy engine for a buffer, the last of 48 columns has one.
// CHECK-LABEL: @narrow_panels(
// CHECK-COUNT-2: nvvm.stmatrix
//       CHECK:   nvvm.fence.proxy
// CHECK-COUNT-2: nvvm.cp.async.bulk.tensor.global.shared.cta
//       CHECK:   nvvm.cp.async.bulk.commit.group
// CHECK-COUNT-1: nvvm.stmatrix
// CHECK-COUNT-1: nvvm.cp.async.bulk.tensor.global.shared.cta
//   CHECK-NOT:   nvvm.cp.async.bulk.tensor
//       CHECK:   gpu.return
gpu.func @narrow_panels(%map: !llvm.ptr) kernel {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : vector<64x48xf32>
  %A = memref.alloc() {tile.layout = "swizzle128"} : memref<64x64xf16, 3>
  %B = memref.alloc() {tile.layout = "swizzle128"} : memref<48x64xf16, 3>
  %staging = memref.alloc() {tile.layout = "swizzle32"} : memref<2x64x32xf16, 3>
  %d = "tile.mma"(%A, %B, %zero) {a = "mk", async, b = "nk", scope = "warpgroup"} : (memref<64x64xf16, 3>, memref<48x64xf16, 3>, vector<64x48xf32>) -> vector<64x48xf32>
  %e = "tile.mma_wait"(%d) {pending = 0 : i64} : (vector<64x48xf32>) -> vector<64x48xf32>
  %f = arith.truncf %e : vector<64x48xf32> to vector<64x48xf16>
  "tile.tma_store"(%f, %map, %staging, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 1, 2>, scope = "warpgroup"} : (vector<64x48xf16>, !llvm.ptr, memref<2x64x32xf16, 3>, index, index) -> ()
  gpu.return
}

// 32 bits: each thread stores its pairs, through a chunk of 32 columns. An odd number of chunks: in front of the first,
// both panels must have been read.
// CHECK-LABEL: @pairs(
//       CHECK:   nvvm.cp.async.bulk.wait_group 0 {read}
// CHECK-COUNT-8: llvm.store %{{.*}} {alignment = 8 : i64} : vector<2xf32>, !llvm.ptr<3>
//       CHECK:   nvvm.cp.async.bulk.tensor.global.shared.cta
//   CHECK-NOT:   nvvm.cp.async.bulk.tensor
gpu.func @pairs(%map: !llvm.ptr) kernel {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : vector<64x32xf32>
  %A = memref.alloc() {tile.layout = "swizzle128"} : memref<64x32xf32, 3>
  %B = memref.alloc() {tile.layout = "swizzle128"} : memref<32x32xf32, 3>
  %staging = memref.alloc() {tile.layout = "swizzle128"} : memref<2x64x32xf32, 3>
  %d = "tile.mma"(%A, %B, %zero) {a = "mk", async, b = "nk", scope = "warpgroup"} : (memref<64x32xf32, 3>, memref<32x32xf32, 3>, vector<64x32xf32>) -> vector<64x32xf32>
  %e = "tile.mma_wait"(%d) {pending = 0 : i64} : (vector<64x32xf32>) -> vector<64x32xf32>
  "tile.tma_store"(%e, %map, %staging, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 1, 2>, scope = "warpgroup"} : (vector<64x32xf32>, !llvm.ptr, memref<2x64x32xf32, 3>, index, index) -> ()
  gpu.return
}

// Other types: 8 bits, K = 32 in an instruction; unsigned operands are said so.
// CHECK-LABEL: @integers(
//       CHECK:   nvvm.wgmma.mma_async %{{.*}}, <m = 64, n = 8, k = 32>, D[<s32>, <zero>], A[<u8>, <one>, <row>], B[<s8>, <one>, <col>] : !llvm.struct<(i32, i32, i32, i32)>
//       CHECK:   llvm.inline_asm has_side_effects "", "=r,=r,=r,=r,0,1,2,3"
gpu.func @integers(%C: memref<64x8xi32>) kernel {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0> : vector<64x8xi32>
  %A = memref.alloc() {tile.layout = "swizzle128"} : memref<64x128xi8, 3>
  %B = memref.alloc() {tile.layout = "swizzle128"} : memref<8x128xi8, 3>
  %d = "tile.mma"(%A, %B, %zero) {a = "mk", async, b = "nk", scope = "warpgroup", unsigned = "a"} : (memref<64x128xi8, 3>, memref<8x128xi8, 3>, vector<64x8xi32>) -> vector<64x8xi32>
  %e = "tile.mma_wait"(%d) {pending = 0 : i64} : (vector<64x8xi32>) -> vector<64x8xi32>
  "tile.store"(%e, %C, %c0, %c0) {in_bounds = array<i1: true, true>, operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warpgroup"} : (vector<64x8xi32>, memref<64x8xi32>, index, index) -> ()
  gpu.return
}

// A sum over the two blocks of a cluster: each thread keeps the 16 columns of its block and hands those of the other
// over, where they meet before and after; it adds what it got.
// CHECK-LABEL: gpu.func @sum(
//   CHECK-NOT:   nvvm.cluster
//       CHECK:   nvvm.wgmma.wait.group.sync.aligned 0
//       CHECK:   %[[RANK:.*]] = "tile.rank"()
//       CHECK:   %[[BIT:.*]] = arith.andi %[[RANK]], %c1
//       CHECK:   %[[SECOND:.*]] = arith.cmpi ne, %[[BIT]], %c0
// CHECK-COUNT-8: arith.select %[[SECOND]], %{{.*}}, %{{.*}} : vector<2xf32>
//       CHECK:   nvvm.cluster.arrive
//  CHECK-NEXT:   nvvm.cluster.wait
//       CHECK:   %[[NEXT:.*]] = arith.addi %[[RANK]], %c1
//       CHECK:   %[[OTHER:.*]] = arith.andi %[[NEXT]], %c1
//       CHECK:   %[[BLOCK:.*]] = arith.index_cast %[[OTHER]] : index to i32
//       CHECK:   nvvm.mapa %{{.*}}, %[[BLOCK]] : !llvm.ptr<3> -> !llvm.ptr<7>
// CHECK-COUNT-4: llvm.store %{{.*}} {alignment = 8 : i64} : vector<2xf32>, !llvm.ptr<7>
//  CHECK-NEXT:   nvvm.cluster.arrive
//  CHECK-NEXT:   nvvm.cluster.wait
//       CHECK:   llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<3> -> vector<2xf32>
//       CHECK:   arith.addf
// CHECK-COUNT-3: llvm.load
// CHECK-COUNT-4: vector.store
//   CHECK-NOT:   vector.store
gpu.func @sum(%C: memref<64x32xf32>) kernel {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : vector<64x32xf32>
  %A = memref.alloc() {tile.layout = "swizzle128"} : memref<64x64xf16, 3>
  %B = memref.alloc() {tile.layout = "swizzle128"} : memref<32x64xf16, 3>
  %scratch = memref.alloc() {tile.from_reduction} : memref<1x4x128x2xf32, 3>
  %d = "tile.mma"(%A, %B, %zero) {a = "mk", async, b = "nk", scope = "warpgroup"} : (memref<64x64xf16, 3>, memref<32x64xf16, 3>, vector<64x32xf32>) -> vector<64x32xf32>
  %e = "tile.mma_wait"(%d) {pending = 0 : i64} : (vector<64x32xf32>) -> vector<64x32xf32>
  %f = "tile.dsmem_reduce"(%e, %scratch) : (vector<64x32xf32>, memref<1x4x128x2xf32, 3>) -> vector<64x16xf32>
  "tile.store"(%f, %C, %c0, %c0) {in_bounds = array<i1: true, true>, operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warpgroup"} : (vector<64x16xf32>, memref<64x32xf32>, index, index) -> ()
  gpu.return
}
}

// A part of a sum is left as each thread has it, four numbers at a time, and a flag is raised for each warp; whoever adds
// parts waits for that flag, and lowers it.
// CHECK-LABEL: gpu.func @parts(
//  CHECK-SAME: %[[PARTS:.*]]: memref<4x4x512xf32>, %[[FLAGS:.*]]: memref<4x32xi32>
//       CHECK:   %[[THREAD:.*]] = arith.remui %thread_id_x, %c128
//       CHECK:   scf.if
//       CHECK:     %[[COLUMN:.*]] = arith.muli %[[THREAD]], %c4
//       CHECK:     vector.store %{{.*}}, %[[PARTS]][%{{.*}}, %{{.*}}, %[[COLUMN]]] {alignment = 16 : i64} : memref<4x4x512xf32>, vector<4xf32>
// CHECK-COUNT-3:     vector.store
//   CHECK-NOT:     vector.store
//       CHECK:     nvvm.bar.warp.sync
//       CHECK:     memref.extract_aligned_pointer_as_index %[[FLAGS]]
//       CHECK:     scf.if
//  CHECK-NEXT:       llvm.store %c1_i32, %{{.*}} atomic syncscope("device") release {alignment = 4 : i64} : i32, !llvm.ptr<1>
//       CHECK:   } else {
//       CHECK:     scf.for %[[PLACE:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(
//       CHECK:       scf.while
//  CHECK-NEXT:         %[[FLAG:.*]] = llvm.load %{{.*}} atomic syncscope("device") acquire {alignment = 4 : i64} : !llvm.ptr<1> -> i32
//       CHECK:         arith.cmpi eq, %[[FLAG]],
//       CHECK:         scf.condition
//       CHECK:       vector.load %[[PARTS]][%[[PLACE]], %{{.*}}, %{{.*}}] {alignment = 16 : i64} : memref<4x4x512xf32>, vector<4xf32>
//       CHECK:       arith.addf
// CHECK-COUNT-3:       vector.load
//   CHECK-NOT:       vector.load
//       CHECK:       nvvm.bar.warp.sync
//       CHECK:       scf.if
//  CHECK-NEXT:         llvm.store %c0_i32, %{{.*}} atomic syncscope("device") monotonic {alignment = 4 : i64} : i32, !llvm.ptr<1>
//       CHECK:       scf.yield
gpu.module @more {
gpu.func @parts(%parts: memref<4x4x512xf32>, %flags: memref<4x32xi32>, %C: memref<64x32xf32>, %place: index, %is_part: i1) kernel {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : vector<64x32xf32>
  %A = memref.alloc() {tile.layout = "swizzle128"} : memref<64x64xf16, 3>
  %B = memref.alloc() {tile.layout = "swizzle128"} : memref<32x64xf16, 3>
  %d = "tile.mma"(%A, %B, %zero) {a = "mk", async, b = "nk", scope = "warpgroup"} : (memref<64x64xf16, 3>, memref<32x64xf16, 3>, vector<64x32xf32>) -> vector<64x32xf32>
  %e = "tile.mma_wait"(%d) {pending = 0 : i64} : (vector<64x32xf32>) -> vector<64x32xf32>
  scf.if %is_part {
    "tile.store_partials"(%e, %parts, %flags, %place) : (vector<64x32xf32>, memref<4x4x512xf32>, memref<4x32xi32>, index) -> ()
  } else {
    %f = "tile.fix_up"(%e, %parts, %flags, %place, %place) : (vector<64x32xf32>, memref<4x4x512xf32>, memref<4x32xi32>, index, index) -> vector<64x32xf32>
    "tile.store"(%f, %C, %c0, %c0) {in_bounds = array<i1: true, true>, operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warpgroup"} : (vector<64x32xf32>, memref<64x32xf32>, index, index) -> ()
  }
  gpu.return
}
}
