// lower-mbarrier-pipeline: the barriers of a ring become mbarriers, and copies by the copy engine become TMA
// instructions.
// RUN: mlir-gemm opt %s lower-mbarrier-pipeline cse canonicalize | FileCheck %s
// RUN: mlir-gemm opt %s lower-mbarrier-pipeline lower-mbarrier-pipeline cse canonicalize | FileCheck %s

gpu.module @kernels {
// Two stages: their full barriers expect one arrival, the empty ones one of each warp of three warpgroups.
// CHECK-LABEL: gpu.func @ring(
//       CHECK:   %[[BARS:.*]] = memref.alloc() {tile.layout = "barriers"} : memref<2x2xi64, 3>
//       CHECK:   %[[THREAD:.*]] = gpu.thread_id x
//       CHECK:   %[[FIRST:.*]] = arith.cmpi eq, %[[THREAD]], %c0
//  CHECK-NEXT:   scf.if %[[FIRST]] {
//  CHECK-NEXT:     %[[AT:.*]] = memref.extract_aligned_pointer_as_index %[[BARS]]
//       CHECK:     nvvm.mbarrier.init %{{.*}}, %c1_i32
//       CHECK:     %[[FULL1:.*]] = arith.addi %[[AT]], %c8
//       CHECK:     nvvm.mbarrier.init %{{.*}}, %c1_i32
//       CHECK:     %[[EMPTY0:.*]] = arith.addi %[[AT]], %c16
//       CHECK:     nvvm.mbarrier.init %{{.*}}, %c12_i32
//       CHECK:     %[[EMPTY1:.*]] = arith.addi %[[AT]], %c24
//       CHECK:     nvvm.mbarrier.init %{{.*}}, %c12_i32
//  CHECK-NEXT:     nvvm.fence.mbarrier.init
//  CHECK-NEXT:   }
//  CHECK-NEXT:   gpu.barrier
//   CHECK-NOT:   tile.
//       CHECK:   gpu.return
gpu.func @ring() kernel {
  %bars = memref.alloc() {tile.layout = "barriers"} : memref<2x2xi64, 3>
  "tile.ring"(%bars) {consumers = 12 : i64} : (memref<2x2xi64, 3>) -> ()
  gpu.return
}

// Of rings that follow each other all are initialised before the block's threads meet.
// CHECK-LABEL: gpu.func @rings(
//       CHECK:   scf.if
//       CHECK:     nvvm.mbarrier.init %{{.*}}, %c4_i32
//  CHECK-NEXT:     nvvm.fence.mbarrier.init
//   CHECK-NOT:   gpu.barrier
//       CHECK:     nvvm.mbarrier.init %{{.*}}, %c8_i32
//  CHECK-NEXT:     nvvm.fence.mbarrier.init
//  CHECK-NEXT:   }
//  CHECK-NEXT:   gpu.barrier
gpu.func @rings() kernel {
  %own = memref.alloc() {tile.layout = "barriers"} : memref<2x1xi64, 3>
  %bars = memref.alloc() {tile.layout = "barriers"} : memref<2x1xi64, 3>
  "tile.ring"(%own) {consumers = 4 : i64} : (memref<2x1xi64, 3>) -> ()
  "tile.ring"(%bars) {consumers = 8 : i64} : (memref<2x1xi64, 3>) -> ()
  gpu.return
}

// The producer's turn: wait until the stage is empty, the phase in front of this one; announce; a copy for each panel of
// 128 bytes and 256 rows, with the innermost coordinate first. The address in the stage is a cluster's.
// CHECK-LABEL: gpu.func @fill(
//  CHECK-SAME: %[[MAP:.*]]: !llvm.ptr, %[[SLOT:.*]]: index, %[[PHASE:.*]]: i32, %[[ROW:.*]]: index, %[[COLUMN:.*]]: index)
//  CHECK-SAME: tile.maps = array<i64: 0>
//       CHECK:   %[[A:.*]] = memref.alloc() {tile.layout = "swizzle128"} : memref<3x512x128xf16, 3>
//       CHECK:   %[[BARS:.*]] = memref.alloc() {tile.layout = "barriers"} : memref<2x3xi64, 3>
//   CHECK-DAG:   %[[BEFORE:.*]] = arith.xori %[[PHASE]], %c1_i32
//   CHECK-DAG:   %[[EMPTY:.*]] = arith.addi %[[SLOT]], %c3
//       CHECK:   nvvm.mbarrier.try_wait.parity %{{.*}}, %[[BEFORE]], %c10000000_i32
//       CHECK:   arith.muli %[[SLOT]], %c8
//       CHECK:   %[[FULL:.*]] = llvm.inttoptr
//       CHECK:   nvvm.mbarrier.arrive.expect_tx %[[FULL]], %c131072_i32
//       CHECK:   arith.muli %[[SLOT]], %c131072
//       CHECK:   %[[STAGE:.*]] = llvm.addrspacecast %{{.*}} : !llvm.ptr<3> to !llvm.ptr<7>
//   CHECK-DAG:   nvvm.cp.async.bulk.tensor.shared.cluster.global %[[STAGE]], %[[MAP]], %[[FULL]], box[%[[X:.*]], %[[Y:.*]]] :
// 256 rows are 32768 bytes, 512 are 65536.
//       CHECK:   arith.addi %{{.*}}, %c32768
//       CHECK:   nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[MAP]], %[[FULL]], box[%[[X]], %{{.*}}] :
//       CHECK:   arith.addi %{{.*}}, %c65536
//       CHECK:   nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[MAP]], %[[FULL]], box[%{{.*}}, %[[Y]]] :
//       CHECK:   nvvm.cp.async.bulk.tensor.shared.cluster.global
//   CHECK-NOT:   nvvm.cp.async.bulk.tensor
gpu.func @fill(%map: !llvm.ptr, %slot: index, %phase: i32, %row: index, %column: index) kernel {
  %A = memref.alloc() {tile.layout = "swizzle128"} : memref<3x512x128xf16, 3>
  %bars = memref.alloc() {tile.layout = "barriers"} : memref<2x3xi64, 3>
  "tile.producer_acquire"(%bars, %slot, %phase) {bytes = 131072 : i64} : (memref<2x3xi64, 3>, index, i32) -> ()
  %a = memref.subview %A[%slot, 0, 0] [1, 512, 128] [1, 1, 1] : memref<3x512x128xf16, 3> to memref<512x128xf16, strided<[128, 1], offset: ?>, 3>
  "tile.tma_load"(%a, %map, %bars, %slot, %row, %column) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (memref<512x128xf16, strided<[128, 1], offset: ?>, 3>, !llvm.ptr, memref<2x3xi64, 3>, index, index, index) -> ()
  gpu.return
}

// The next position is the next slot, or the first one with the other phase.
// CHECK-LABEL: gpu.func @advance(
//  CHECK-SAME: %[[SLOT:.*]]: index, %[[PHASE:.*]]: i32, %[[STEPS:.*]]: index,
//   CHECK-NOT:   arith.divui
//   CHECK-DAG:   %[[LAST:.*]] = arith.cmpi eq, %[[SLOT]], %c3
//   CHECK-DAG:   %[[UP:.*]] = arith.addi %[[SLOT]], %c1
//   CHECK-DAG:   %[[FLIPPED:.*]] = arith.xori %[[PHASE]], %c1_i32
//       CHECK:   %[[NEXT:.*]] = arith.select %[[LAST]], %c0{{.*}}, %[[UP]] : index
//       CHECK:   %[[AFTER:.*]] = arith.select %[[LAST]], %[[FLIPPED]], %[[PHASE]] : i32
//       CHECK:   memref.store %[[AFTER]], %{{.*}}[%[[NEXT]]]
// Seven steps are once round four stages, which flips the phase, and three slots, which may flip it again.
//       CHECK:   %[[ON:.*]] = arith.addi %[[SLOT]], %c3
//       CHECK:   %[[WRAPS:.*]] = arith.cmpi uge, %[[ON]], %c4
//       CHECK:   %[[CHANGED:.*]] = arith.xori %[[PHASE]], %c1_i32
//       CHECK:   %[[BACK:.*]] = arith.addi %[[SLOT]], %c-1
//       CHECK:   %[[FAR:.*]] = arith.select %[[WRAPS]], %[[BACK]], %[[ON]] : index
//       CHECK:   %[[TURNED:.*]] = arith.select %[[WRAPS]], %[[PHASE]], %[[CHANGED]] : i32
//       CHECK:   memref.store %[[TURNED]], %{{.*}}[%[[FAR]]]
//       CHECK:   arith.divui %[[STEPS]], %c4
//       CHECK:   arith.remui %[[STEPS]], %c4
// A ring of one stage has one slot.
//       CHECK:   memref.store %[[FLIPPED]], %{{.*}}[%[[SLOT]]]
gpu.func @advance(%slot: index, %phase: i32, %steps: index, %seen: memref<4xi32>) kernel {
  %one = arith.constant 1 : index
  %seven = arith.constant 7 : index
  %next:2 = "tile.advance"(%slot, %phase, %one) {stages = 4 : i64} : (index, i32, index) -> (index, i32)
  memref.store %next#1, %seen[%next#0] : memref<4xi32>
  %far:2 = "tile.advance"(%slot, %phase, %seven) {stages = 4 : i64} : (index, i32, index) -> (index, i32)
  memref.store %far#1, %seen[%far#0] : memref<4xi32>
  %any:2 = "tile.advance"(%slot, %phase, %steps) {stages = 4 : i64} : (index, i32, index) -> (index, i32)
  memref.store %any#1, %seen[%any#0] : memref<4xi32>
  %turn:2 = "tile.advance"(%slot, %phase, %one) {stages = 1 : i64} : (index, i32, index) -> (index, i32)
  memref.store %turn#1, %seen[%turn#0] : memref<4xi32>
  gpu.return
}

// More than 256 rows are copied in equal parts: 288 in two of 144.
// CHECK-LABEL: gpu.func @tall(
//       CHECK:   nvvm.cp.async.bulk.tensor.shared.cluster.global
//       CHECK:   arith.addi %{{.*}}, %c18432
//       CHECK:   arith.addi %{{.*}}, %c144
//       CHECK:   nvvm.cp.async.bulk.tensor.shared.cluster.global
//   CHECK-NOT:   nvvm.cp.async.bulk.tensor
gpu.func @tall(%map: !llvm.ptr, %slot: index, %row: index, %column: index) kernel {
  %A = memref.alloc() {tile.layout = "swizzle128"} : memref<288x64xf16, 3>
  %bars = memref.alloc() {tile.layout = "barriers"} : memref<2x1xi64, 3>
  "tile.tma_load"(%A, %map, %bars, %slot, %row, %column) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (memref<288x64xf16, 3>, !llvm.ptr, memref<2x1xi64, 3>, index, index, index) -> ()
  gpu.return
}

// Panels of 64 bytes: a copy for each 32 columns, 64 rows or 4096 bytes apart; those of a part of the rows start 8 rows or
// 512 bytes further on in each panel.
// CHECK-LABEL: gpu.func @narrow(
//       CHECK:   %[[START:.*]] = memref.extract_aligned_pointer_as_index
//       CHECK:   %[[PART:.*]] = arith.addi %[[START]], %c512
//       CHECK:   nvvm.cp.async.bulk.tensor.shared.cluster.global
//       CHECK:   arith.addi %[[START]], %c4608
//       CHECK:   arith.addi %{{.*}}, %c32
//       CHECK:   nvvm.cp.async.bulk.tensor.shared.cluster.global
//       CHECK:   arith.addi %[[START]], %c8704
//       CHECK:   arith.addi %{{.*}}, %c64
//       CHECK:   nvvm.cp.async.bulk.tensor.shared.cluster.global
//   CHECK-NOT:   nvvm.cp.async.bulk.tensor
gpu.func @narrow(%map: !llvm.ptr, %slot: index, %row: index, %column: index) kernel {
  %A = memref.alloc() {tile.layout = "swizzle64"} : memref<64x96xf16, 3>
  %bars = memref.alloc() {tile.layout = "barriers"} : memref<2x1xi64, 3>
  %part = memref.subview %A[8, 0] [32, 96] [1, 1] : memref<64x96xf16, 3> to memref<32x96xf16, strided<[96, 1], offset: 768>, 3>
  "tile.tma_load"(%part, %map, %bars, %slot, %row, %column) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (memref<32x96xf16, strided<[96, 1], offset: 768>, 3>, !llvm.ptr, memref<2x1xi64, 3>, index, index, index) -> ()
  gpu.return
}

// A box of 64 rows and 64 columns has the sum of its places, in boxes, as its number, and stays in L2 for 5 of 32.
// CHECK-LABEL: gpu.func @kept(
//  CHECK-SAME: %[[MAP:.*]]: !llvm.ptr, %{{.*}}: index, %[[ROW:.*]]: index, %[[COLUMN:.*]]: index)
//   CHECK-DAG:   %[[LEAVE:.*]] = llvm.inline_asm "createpolicy.fractional.L2::evict_first.b64 $0, 1.0;", "=l" : () -> i64
//   CHECK-DAG:   %[[STAY:.*]] = llvm.inline_asm "createpolicy.fractional.L2::evict_normal.b64 $0, 1.0;", "=l" : () -> i64
//   CHECK-NOT:   createpolicy
//   CHECK-DAG:   %[[X:.*]] = arith.index_cast %[[COLUMN]] : index to i32
//   CHECK-DAG:   %[[Y:.*]] = arith.index_cast %[[ROW]] : index to i32
//   CHECK-DAG:   %[[ALONG:.*]] = arith.shrui %[[X]], %c6_i32
//   CHECK-DAG:   %[[DOWN:.*]] = arith.shrui %[[Y]], %c6_i32
//       CHECK:   %[[NUMBER:.*]] = arith.addi %[[ALONG]], %[[DOWN]]
//       CHECK:   %[[TIMES:.*]] = arith.muli %[[NUMBER]], %c5_i32
//       CHECK:   %[[TURN:.*]] = arith.andi %[[TIMES]], %c31_i32
//       CHECK:   %[[STAYS:.*]] = arith.cmpi ult, %[[TURN]], %c5_i32
//       CHECK:   %[[POLICY:.*]] = arith.select %[[STAYS]], %[[STAY]], %[[LEAVE]] : i64
//       CHECK:   nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[MAP]], {{.*}} l2_cache_hint = %[[POLICY]]
//       CHECK:   nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} l2_cache_hint = %[[LEAVE]]
gpu.func @kept(%map: !llvm.ptr, %slot: index, %row: index, %column: index) kernel {
  %A = memref.alloc() {tile.layout = "swizzle128"} : memref<64x64xf16, 3>
  %bars = memref.alloc() {tile.layout = "barriers"} : memref<2x1xi64, 3>
  "tile.tma_load"(%A, %map, %bars, %slot, %row, %column) {keep = 5 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (memref<64x64xf16, 3>, !llvm.ptr, memref<2x1xi64, 3>, index, index, index) -> ()
  "tile.tma_load"(%A, %map, %bars, %slot, %row, %column) {keep = 0 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (memref<64x64xf16, 3>, !llvm.ptr, memref<2x1xi64, 3>, index, index, index) -> ()
  gpu.return
}

// The consumer's turn, from slot 0 and phase 0 on.
// CHECK-LABEL: gpu.func @empty(
//       CHECK:   nvvm.mbarrier.try_wait.parity %[[FULL:.*]], %c0_i32, %c10000000_i32
//       CHECK:   %[[LANE:.*]] = arith.remui %{{.*}}, %c32
//       CHECK:   %[[ONE:.*]] = arith.cmpi ult, %[[LANE]], %c1
//  CHECK-NEXT:   scf.if %[[ONE]] {
//       CHECK:     nvvm.mbarrier.arrive %{{.*}} : !llvm.ptr<3> -> i64
//       CHECK:   %[[NUMBER:.*]] = arith.remui %{{.*}}, %c128
//       CHECK:   %[[GROUP:.*]] = arith.cmpi eq, %[[NUMBER]], %c0
//  CHECK-NEXT:   scf.if %[[GROUP]] {
//  CHECK-NEXT:     nvvm.cp.async.bulk.wait_group 0 {read}
//       CHECK:   gpu.return
gpu.func @empty() kernel {
  %bars = memref.alloc() {tile.layout = "barriers"} : memref<2x3xi64, 3>
  %slot, %phase = "tile.enter"() : () -> (index, i32)
  "tile.consumer_wait"(%bars, %slot, %phase) : (memref<2x3xi64, 3>, index, i32) -> ()
  "tile.consumer_release"(%bars, %slot) : (memref<2x3xi64, 3>, index) -> ()
  "tile.tma_store_wait"() : () -> ()
  "tile.leave"(%slot, %phase) : (index, i32) -> ()
  gpu.return
}

// Where there are roles, consumers say that they have released everything, and all wait at the end; the producer's threads
// arrive there.
// CHECK-LABEL: gpu.func @roles(
//       CHECK:   %[[THREAD:.*]] = gpu.thread_id x
//       CHECK:   nvvm.cluster.arrive
//  CHECK-NEXT:   nvvm.cluster.wait
//       CHECK:   nvvm.mbarrier.arrive %{{.*}} : !llvm.ptr<7>
//       CHECK:   }
//  CHECK-NEXT:   nvvm.cluster.arrive
//  CHECK-NEXT:   memref.store
//       CHECK:   %[[PRODUCER:.*]] = arith.cmpi uge, %[[THREAD]], %c128
//  CHECK-NEXT:   scf.if %[[PRODUCER]] {
//  CHECK-NEXT:     nvvm.cluster.arrive
//  CHECK-NEXT:   }
//  CHECK-NEXT:   nvvm.cluster.wait
//  CHECK-NEXT:   gpu.return
gpu.func @roles(%slot: index, %out: memref<1xf32>, %x: f32) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %bars = memref.alloc() {tile.layout = "barriers"} : memref<2x1xi64, 3>
  "tile.ring"(%bars) {blocks = 2 : i64, consumers = 4 : i64} : (memref<2x1xi64, 3>) -> ()
  "tile.warp_specialize"() ({
  ^bb0:
  }, {
    "tile.consumer_release"(%bars, %slot) {blocks = 2 : i64} : (memref<2x1xi64, 3>, index) -> ()
    memref.store %x, %out[%c0] : memref<1xf32>
  }) : () -> ()
  gpu.return
}

// A ring of two blocks: each one's warps arrive in both, from a lane for each; blocks meet before anything is copied, and
// before they end. What is copied for both goes to the same place in both.
// CHECK-LABEL: gpu.func @cluster(
//  CHECK-SAME: %[[MAP:.*]]: !llvm.ptr, %{{.*}}: index)
//       CHECK:   nvvm.prefetch tensormap, %[[MAP]] : !llvm.ptr
//       CHECK:   nvvm.mbarrier.init %{{.*}}, %c8_i32
//       CHECK:   gpu.barrier
//       CHECK:   nvvm.cluster.arrive
//  CHECK-NEXT:   nvvm.cluster.wait
//       CHECK:   nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} multicast_mask = %c3_i16
//       CHECK:   %[[LANE:.*]] = arith.remui %{{.*}}, %c32
//       CHECK:   %[[FEW:.*]] = arith.cmpi ult, %[[LANE]], %c2
//  CHECK-NEXT:   scf.if %[[FEW]] {
//       CHECK:     %[[TO:.*]] = arith.index_cast %[[LANE]] : index to i32
//  CHECK-NEXT:     %[[THERE:.*]] = nvvm.mapa %{{.*}}, %[[TO]] : !llvm.ptr<3> -> !llvm.ptr<7>
//  CHECK-NEXT:     nvvm.mbarrier.arrive %[[THERE]] : !llvm.ptr<7>
//       CHECK:   nvvm.cluster.arrive
//  CHECK-NEXT:   nvvm.cluster.wait
//  CHECK-NEXT:   gpu.return
gpu.func @cluster(%map: !llvm.ptr, %slot: index) kernel {
  %A = memref.alloc() {tile.layout = "swizzle128"} : memref<32x64xf16, 3>
  %bars = memref.alloc() {tile.layout = "barriers"} : memref<2x1xi64, 3>
  "tile.ring"(%bars) {blocks = 2 : i64, consumers = 4 : i64} : (memref<2x1xi64, 3>) -> ()
  "tile.tma_load"(%A, %map, %bars, %slot, %slot, %slot) {multicast = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (memref<32x64xf16, 3>, !llvm.ptr, memref<2x1xi64, 3>, index, index, index) -> ()
  "tile.consumer_release"(%bars, %slot) {blocks = 2 : i64} : (memref<2x1xi64, 3>, index) -> ()
  gpu.return
}

// Of a cluster of two rows and two columns, what is copied for a row goes to the blocks whose numbers are 2 apart, from this
// one's row on; what is copied for a column to two that follow each other, from where the column begins.
// CHECK-LABEL: gpu.func @square(
//       CHECK:   nvvm.mbarrier.init %{{.*}}, %c16_i32
//   CHECK-DAG:   %[[RANK:.*]] = "tile.rank"() : () -> index
//   CHECK-DAG:   %[[COLUMN:.*]] = "tile.rank"() {count = 2 : i64, stride = 2 : i64} : () -> index
//       CHECK:   %[[BEFORE:.*]] = arith.muli %[[COLUMN]], %c2
//       CHECK:   %[[ROW:.*]] = arith.subi %[[RANK]], %[[BEFORE]]
//       CHECK:   %[[BY:.*]] = arith.index_castui %[[ROW]] : index to i16
//       CHECK:   %[[MASK:.*]] = arith.shli %c5_i16, %[[BY]] : i16
//       CHECK:   nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} multicast_mask = %[[MASK]]
//       CHECK:   %[[PART:.*]] = "tile.rank"() {stride = 2 : i64} : () -> index
//       CHECK:   %[[FIRST:.*]] = arith.muli %[[PART]], %c2
//       CHECK:   %[[TO:.*]] = arith.index_castui %[[FIRST]] : index to i16
//       CHECK:   %[[BOTH:.*]] = arith.shli %c3_i16, %[[TO]] : i16
//       CHECK:   nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} multicast_mask = %[[BOTH]]
gpu.func @square(%map: !llvm.ptr, %slot: index) kernel {
  %A = memref.alloc() {tile.layout = "swizzle128"} : memref<32x64xf16, 3>
  %bars = memref.alloc() {tile.layout = "barriers"} : memref<2x1xi64, 3>
  "tile.ring"(%bars) {blocks = 4 : i64, consumers = 4 : i64} : (memref<2x1xi64, 3>) -> ()
  "tile.tma_load"(%A, %map, %bars, %slot, %slot, %slot) {cluster_group = 2 : i64, multicast = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>, stride = 2 : i64} : (memref<32x64xf16, 3>, !llvm.ptr, memref<2x1xi64, 3>, index, index, index) -> ()
  "tile.tma_load"(%A, %map, %bars, %slot, %slot, %slot) {cluster_group = 2 : i64, multicast = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (memref<32x64xf16, 3>, !llvm.ptr, memref<2x1xi64, 3>, index, index, index) -> ()
  "tile.consumer_release"(%bars, %slot) {blocks = 4 : i64} : (memref<2x1xi64, 3>, index) -> ()
  gpu.return
}

// Turns: a group waits for its own barrier, the first one for the phase in front of its own, and all its
// threads arrive at the other's: a branch there would keep products from overlapping.
// CHECK-LABEL: gpu.func @turns(
//  CHECK-SAME: %[[TURN:.*]]: index, %[[PHASE:.*]]: i32)
//       CHECK:   scf.if
// CHECK-COUNT-2: nvvm.mbarrier.init %{{.*}}, %c128_i32
//  CHECK-NEXT:     nvvm.fence.mbarrier.init
//       CHECK:   %[[FIRST:.*]] = arith.cmpi eq, %[[TURN]], %c0
//       CHECK:   %[[AHEAD:.*]] = arith.xori %[[PHASE]], %c1_i32
//       CHECK:   %[[WHICH:.*]] = arith.select %[[FIRST]], %[[AHEAD]], %[[PHASE]]
//       CHECK:   nvvm.mbarrier.try_wait.parity %{{.*}}, %[[WHICH]],
//   CHECK-NOT:   scf.if
//       CHECK:   arith.subi %c1{{.*}}, %[[TURN]]
//       CHECK:   nvvm.mbarrier.arrive
gpu.func @turns(%turn: index, %phase: i32) kernel {
  %bars = memref.alloc() {tile.layout = "barriers"} : memref<1x2xi64, 3>
  "tile.order_barrier"(%bars) {consumers = 4 : i64} : (memref<1x2xi64, 3>) -> ()
  "tile.order_wait"(%bars, %turn, %phase) : (memref<1x2xi64, 3>, index, i32) -> ()
  "tile.order_arrive"(%bars, %turn) : (memref<1x2xi64, 3>, index) -> ()
  gpu.return
}

// A stage that lanes have loaded from is given back once the last of what they loaded is in registers: the assembler
// would let a lane arrive before. Where no ldmatrix is in sight a fence stands in front.
// CHECK-LABEL: gpu.func @loaded(
//       CHECK:   nvgpu.mma.sync
//       CHECK:   %[[LEFT:.*]] = nvgpu.ldmatrix
//       CHECK:   %[[RIGHT:.*]] = nvgpu.ldmatrix
//       CHECK:   nvgpu.mma.sync
//       CHECK:   vector.extract %[[RIGHT]]
//       CHECK:   vector.extract %[[LEFT]]
//       CHECK:   %[[WORD:.*]] = arith.ori
//       CHECK:   %[[KNOWN:.*]] = llvm.inline_asm {{.*}}popc.b32{{.*}}, %[[WORD]] :
//       CHECK:   nvvm.mbarrier.arrive
// CHECK-LABEL: gpu.func @loaded_in_a_loop(
//       CHECK:   nvvm.fence.proxy
//  CHECK-SAME:   async.shared
//       CHECK:   nvvm.bar.warp.sync
//       CHECK:   nvvm.mbarrier.arrive
gpu.func @loaded(%slot: index, %next: index, %c: vector<2x2xf32>) -> vector<2x2xf32> {
  %A = memref.alloc() : memref<16x16xf16, 3>
  %bars = memref.alloc() {tile.layout = "barriers"} : memref<2x1xi64, 3>
  %x = nvgpu.ldmatrix %A[%slot, %slot] {numTiles = 4 : i32, transpose = false} : memref<16x16xf16, 3> -> vector<4x2xf16>
  %y = nvgpu.ldmatrix %A[%slot, %slot] {numTiles = 2 : i32, transpose = false} : memref<16x16xf16, 3> -> vector<2x2xf16>
  %d = nvgpu.mma.sync(%x, %y, %c) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
  %u = nvgpu.ldmatrix %A[%slot, %next] {numTiles = 4 : i32, transpose = false} : memref<16x16xf16, 3> -> vector<4x2xf16>
  %v = nvgpu.ldmatrix %A[%slot, %next] {numTiles = 2 : i32, transpose = false} : memref<16x16xf16, 3> -> vector<2x2xf16>
  %e = nvgpu.mma.sync(%u, %v, %d) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
  "tile.consumer_release"(%bars, %slot) {loaded} : (memref<2x1xi64, 3>, index) -> ()
  gpu.return %e : vector<2x2xf32>
}
gpu.func @loaded_in_a_loop(%slot: index) kernel {
  %bars = memref.alloc() {tile.layout = "barriers"} : memref<2x1xi64, 3>
  "tile.consumer_release"(%bars, %slot) {loaded} : (memref<2x1xi64, 3>, index) -> ()
  gpu.return
}
}
