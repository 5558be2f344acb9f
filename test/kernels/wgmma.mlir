// A product on wgmma, end to end, at the stages where what is special to it appears: two warpgroups multiply what the
// elected thread of a third one copies.
//
// In `pipeline` copying and multiplying are two roles that meet at a ring of four stages. In `describe` the copy engine gets
// tensor maps, and stores the result. `lower` has the order of the launch, the barriers and the registers. In PTX they are
// instructions; also where text is taken up after `describe`, and with persistent blocks. Then what switches a part off.

// DEFINE: %{schedule} = mma=wgmma,block=128x128x64,warp=64x128x64,stages=4
// DEFINE: %{compile} = mlir-gemm compile %s --chip sm_90a --schedule %{schedule},early_trigger=on
// DEFINE: %{persistent} = mlir-gemm compile %s --chip sm_90a --schedule %{schedule},early_trigger=on,persistent=8
// RUN: %{compile} --emit describe --print-after pipeline --reading -o %t.describe 2>&1 | FileCheck %s --check-prefix=PIPELINE
// RUN: %{compile} --emit describe --print-after describe --reading -o %t.again 2>&1 | FileCheck %s --check-prefix=DESCRIBE
// RUN: %{compile} --emit lower -o - | FileCheck %s --check-prefix=LOWER
// RUN: %{compile} --emit ptx -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX <%t.ptx
// RUN: FileCheck %s --check-prefix=NEVER <%t.ptx
// RUN: mlir-gemm compile %t.describe --emit ptx -o - | FileCheck %s --check-prefix=PTX
// RUN: %{persistent} --emit ptx -o - | FileCheck %s --check-prefix=PTX
// RUN: %{persistent} --emit parallelize --print-after parallelize --reading -o %t.parallel 2>&1 | FileCheck %s --check-prefix=WALK
// RUN: mlir-gemm compile %s --chip sm_90a --schedule %{schedule},smem_epilogue=off,dependent_launch=off -o - | FileCheck %s --check-prefix=OFF
// RUN: not mlir-gemm compile %s --chip sm_90 --schedule mma=wgmma -o - 2>&1 | FileCheck %s --check-prefix=CHIP

// CHIP: error: {{.*}}sm_90 has mma_sync, dp4a, wmma, simt

// A stage is 16 KB of each operand. The consumer lets one product be in flight while the next one starts, and hands a
// stage back when the product that reads it is done.
//  PIPELINE-DAG: memref.alloc() : shared 4x128x64xf16 swizzle128
//  PIPELINE-DAG: memref.alloc() : shared 4x64x128xf16 swizzle128
//      PIPELINE: tile.ring %[[BARS:.*]] {consumers = 1}
// PIPELINE-NEXT: tile.warp_specialize {
//      PIPELINE:   tile.producer_acquire %[[BARS]][%{{.*}}], phase %{{.*}} {bytes = 32768}
//      PIPELINE:   tile.tma_load %A[{{.*}}] -> %{{.*}}, %[[BARS]][%{{.*}}] : 128x64xf16 {in_bounds}
//      PIPELINE:   tile.tma_load %B[{{.*}}] -> %{{.*}}, %[[BARS]][%{{.*}}] : 64x128xf16 {in_bounds}
//      PIPELINE: }, {
//      PIPELINE:   tile.mma %{{.*}}[mk], %{{.*}}[kn], %{{.*}} : 128x128xf32 {async}
//      PIPELINE:   affine.for
//      PIPELINE:     tile.consumer_wait %[[BARS]][
//      PIPELINE:     tile.mma %{{.*}}[mk], %{{.*}}[kn], %{{.*}} : 128x128xf32 {async}
// PIPELINE-NEXT:     tile.mma_wait %{{.*}} {pending = 1}
// PIPELINE-NEXT:     tile.consumer_release %[[BARS]][
//      PIPELINE:   tile.mma_wait %{{.*}} {pending = 0}
//      PIPELINE:   arith.truncf
//      PIPELINE:   tile.store %{{.*}} -> %C[{{.*}}] : 128x128xf16 {in_bounds}

// Boxes are what a stage takes of A; of B, and of the result, panels of 64 columns.
//  DESCRIBE-DAG: tile.tensor_map %A {box = [128, 64], swizzle = 128}
//  DESCRIBE-DAG: tile.tensor_map %B {box = [64, 64], swizzle = 128}
//  DESCRIBE-DAG: tile.tensor_map %C {box = [64, 64], swizzle = 128}
//      DESCRIBE: scf.forall
//      DESCRIBE:   tile.ring %{{.*}} {consumers = 8}
//      DESCRIBE:   tile.tma_store %{{.*}}, through %{{.*}} : 64x128xf16 {in_bounds, scope = warpgroup}
// DESCRIBE-NEXT:   tile.tma_store_wait
//      DESCRIBE: {mapping = [#gpu.block<x>], tile.warps = 12 : i64}

//     LOWER: gpu.launch_func @{{.*}} dynamic_shared_memory_size
//     LOWER: memref.global @{{.*}}_shared : memref<0xi8, 3> {alignment = 1024 : i64}
//     LOWER: gpu.func @{{.*}}(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr) kernel attributes {known_block_size = array<i32: 384, 1, 1>,
//     LOWER: nvvm.griddepcontrol launch_dependents
//     LOWER: nvvm.mbarrier.init
//     LOWER: gpu.barrier
// LOWER-NEXT: nvvm.griddepcontrol wait
//     LOWER: nvvm.setmaxregister decrease 40
//     LOWER: nvvm.elect.sync
//     LOWER: nvvm.cp.async.bulk.tensor.shared.cluster.global
//     LOWER: nvvm.setmaxregister increase 232
//     LOWER: nvvm.mbarrier.try_wait.parity
//     LOWER: nvvm.wgmma.mma_async
//     LOWER: nvvm.mbarrier.arrive
//     LOWER: nvvm.stmatrix
//     LOWER: nvvm.cp.async.bulk.tensor.global.shared.cta

//     PTX: .target sm_90a
//     PTX: .param .align 64 .b8 {{.*}}[128]
//     PTX: .maxntid 384
//     PTX: griddepcontrol.launch_dependents
//     PTX: mbarrier.init.shared
//     PTX: griddepcontrol.wait
//     PTX: setmaxnreg.dec.sync.aligned.u32 {{.*}}40
//     PTX: elect.sync
//     PTX: mbarrier.arrive.expect_tx
//     PTX: cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier
//     PTX: setmaxnreg.inc.sync.aligned.u32 {{.*}}232
//     PTX: wgmma.fence.sync.aligned
//     PTX: wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16
//     PTX: wgmma.commit_group.sync.aligned
//     PTX: wgmma.wait_group.sync.aligned
//     PTX: cvt.rn.f16x2.f32
//     PTX: stmatrix.sync.aligned.m8n8.x4.shared
//     PTX: fence.proxy.async.shared::cta
//     PTX: cp.async.bulk.tensor.2d.global.shared::cta
//     PTX: cp.async.bulk.wait_group.read

// Eight blocks walk sixteen tiles, in each role.
//    WALK: scf.forall (%[[BLOCK:.*]]) in (8) {
//    WALK:   tile.warp_specialize {
//    WALK:     scf.for %{{.*}} = %[[BLOCK]] to 16 step 8 iter_args(
//    WALK:       scf.for
//    WALK:         tile.producer_acquire
//    WALK:     } {tile.tiles}
//    WALK:   }, {
//    WALK:     scf.for %{{.*}} = %[[BLOCK]] to 16 step 8 iter_args(
//    WALK:       tile.store
//    WALK:     } {tile.tiles}

// No operand, and no result, passes a register on its way.
// NEVER-NOT: {{ld.global|st.global|ld.shared|ld.local|st.local}}

// Without the two parts nothing of them is left, and threads store the result.
//     OFF-NOT: {{griddepcontrol|stmatrix|bulk.tensor.2d.global}}
//         OFF: wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16
//         OFF: st.global
func.func @product(%A: memref<512x256xf16>, %B: memref<256x512xf16>, %C: memref<512x512xf16>) {
  %zero = arith.constant 0.0 : f32
  %sums = memref.alloc() : memref<512x512xf32>
  linalg.fill ins(%zero : f32) outs(%sums : memref<512x512xf32>)
  linalg.matmul ins(%A, %B : memref<512x256xf16>, memref<256x512xf16>) outs(%sums : memref<512x512xf32>)
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%sums : memref<512x512xf32>) outs(%C : memref<512x512xf16>) {
  ^bb0(%x: f32, %y: f16):
    %t = arith.truncf %x : f32 to f16
    linalg.yield %t : f16
  }
  return
}
