// What wgmma takes: each function is a product in another layout, of another type or of sizes that are no whole tiles, and is
// compiled alone. The check is the instruction, of the right shape and types; and the way of operands and results: by the
// copy engine where it can, else by threads, guarded. The last two numbers of an instruction say whether A and B are
// transposed in shared memory.

// DEFINE: %{function} =
// DEFINE: %{tiles} =
// DEFINE: %{prefix} =
// DEFINE: %{check} = sed '/^func.func @%{function}(/,/^}/!s/.*//' %s \
// DEFINE:   | mlir-gemm compile - --chip sm_90a --schedule mma=wgmma,%{tiles} -o - | FileCheck %s --check-prefix=%{prefix}

// REDEFINE: %{function} = nt
// REDEFINE: %{tiles} = block=128x256x64,warp=64x256x64
// REDEFINE: %{prefix} = NT
// RUN: %{check}

// REDEFINE: %{function} = tn
// REDEFINE: %{tiles} = block=256x128x64,warp=128x128x64,persistent=4
// REDEFINE: %{prefix} = TN
// RUN: %{check}

// REDEFINE: %{function} = ragged
// REDEFINE: %{tiles} = block=128x128x64,warp=64x128x64,persistent=16
// REDEFINE: %{prefix} = RAGGED
// RUN: %{check}

// REDEFINE: %{function} = odd
// REDEFINE: %{tiles} = block=64x128x64,warp=64x128x64
// REDEFINE: %{prefix} = ODD
// RUN: %{check}

// REDEFINE: %{function} = batched
// REDEFINE: %{tiles} = block=64x64x64,warp=64x64x64
// REDEFINE: %{prefix} = BATCH
// RUN: %{check}

// REDEFINE: %{function} = tf32
// REDEFINE: %{tiles} = block=64x64x32,warp=64x64x32,precision=tf32
// REDEFINE: %{prefix} = TF32
// RUN: %{check}

// REDEFINE: %{function} = integers
// REDEFINE: %{tiles} = block=64x64x128,warp=64x64x128
// REDEFINE: %{prefix} = INTEGERS
// RUN: %{check}

// f32 results leave by the copy engine too, in pairs.
//  NT-NOT: {{ld.global|st.global}}
//      NT: setmaxnreg.dec
//      NT: cp.async.bulk.tensor.2d.shared::cluster.global
//  NT-NOT: {{ld.global|st.global}}
//      NT: wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16
//      NT: p, 1, 1, 0, 0;
//      NT: st.shared.v2
//      NT: cp.async.bulk.tensor.2d.global.shared::cta
//  NT-NOT: {{ld.global|st.global}}
func.func @nt(%A: memref<512x256xbf16>, %B: memref<512x256xbf16>, %C: memref<512x512xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<512x512xf32>)
  linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%A, %B : memref<512x256xbf16>, memref<512x256xbf16>) outs(%C : memref<512x512xf32>)
  return
}

// Both operands lie transposed; two warpgroups below each other.
//      TN: wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16
//      TN: p, 1, 1, 1, 0;
//      TN: wgmma.mma_async
//      TN: cp.async.bulk.tensor.2d.global.shared::cta
func.func @tn(%A: memref<256x512xf16>, %B: memref<512x256xf16>, %C: memref<512x512xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<512x512xf32>)
  linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%A, %B : memref<256x512xf16>, memref<512x256xf16>) outs(%C : memref<512x512xf32>)
  return
}

// The copy engine reads zeros beyond the edges and drops what is written there: no guards.
//  RAGGED-NOT: {{ld.global|st.global}}
//      RAGGED: wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16
//      RAGGED: p, 1, 1, 0, 1;
//      RAGGED: cp.async.bulk.tensor.2d.global.shared::cta
//  RAGGED-NOT: {{ld.global|st.global}}
func.func @ragged(%A: memref<1000x1016xf16>, %B: memref<1016x1000xf16>, %C: memref<1000x1000xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<1000x1000xf32>)
  linalg.matmul ins(%A, %B : memref<1000x1016xf16>, memref<1016x1000xf16>) outs(%C : memref<1000x1000xf32>)
  return
}

// C is read into registers; and rows of a result that are not aligned leave from them, guarded.
//      ODD: ld.global.b32
//      ODD: wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16
//  ODD-NOT: cp.async.bulk.tensor.2d.global
//      ODD: st.global.b32
func.func @odd(%A: memref<100x256xf16>, %B: memref<101x256xf16>, %C: memref<100x101xf32>) {
  linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%A, %B : memref<100x256xf16>, memref<101x256xf16>) outs(%C : memref<100x101xf32>)
  return
}

// A batch is a dimension more of each tensor map.
//  BATCH-DAG: cp.async.bulk.tensor.3d.shared::cluster.global
//  BATCH-DAG: wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16
//  BATCH-DAG: cp.async.bulk.tensor.3d.global.shared::cta
func.func @batched(%A: memref<3x128x256xf16>, %B: memref<3x256x64xf16>, %C: memref<3x128x64xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<3x128x64xf32>)
  linalg.batch_matmul ins(%A, %B : memref<3x128x256xf16>, memref<3x256x64xf16>) outs(%C : memref<3x128x64xf32>)
  return
}

// f32 operands, with `precision=tf32`: k of 8.
//      TF32: wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32
func.func @tf32(%A: memref<128x256xf32>, %B: memref<64x256xf32>, %C: memref<128x64xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<128x64xf32>)
  linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%A, %B : memref<128x256xf32>, memref<64x256xf32>) outs(%C : memref<128x64xf32>)
  return
}

// Bytes into i32: k of 32.
//      INTEGERS: wgmma.mma_async.sync.aligned.m64n64k32.s32.s8.s8
func.func @integers(%A: memref<128x256xi8>, %B: memref<64x256xi8>, %C: memref<128x64xi32>) {
  %zero = arith.constant 0 : i32
  linalg.fill ins(%zero : i32) outs(%C : memref<128x64xi32>)
  linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%A, %B : memref<128x256xi8>, memref<64x256xi8>) outs(%C : memref<128x64xi32>)
  return
}
