// interleave-cp-async: copies in a branch go between the products after it, each with its own number of elements.
// RUN: mlir-gemm opt %s interleave-cp-async interleave-cp-async cse | FileCheck %s

// CHECK-LABEL: gpu.func @step(
//   CHECK-NOT:   scf.if
//       CHECK:   %[[D:.*]] = nvgpu.mma.sync
//       CHECK:   %[[E:.*]] = nvgpu.mma.sync(%{{.*}}, %{{.*}}, %[[D]])
//       CHECK:   %[[READ:.*]] = arith.select %[[MORE:.*]], %c8, %c0 : index
//       CHECK:   nvgpu.device_async_copy %{{.*}}, %{{.*}}, 8, %[[READ]] {bypassL1}
//       CHECK:   nvgpu.mma.sync(%{{.*}}, %{{.*}}, %[[E]])
//       CHECK:   %[[CUT:.*]] = arith.select %[[MORE]], %{{.*}}, %c0 : index
//       CHECK:   nvgpu.device_async_copy %{{.*}}, %{{.*}}, 8, %[[CUT]]
//  CHECK-NEXT:   "tile.commit"
//       CHECK:   gpu.return
gpu.module @kernels {
  gpu.func @step(%s: memref<64x64xf16, 3>, %g: memref<64x64xf16>, %more: i1, %size: index,
                 %a: vector<4x2xf16>, %b: vector<2x2xf16>, %c: vector<2x2xf32>, %out: memref<2x2xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    scf.if %more {
      %row = arith.addi %c8, %c8 : index
      %x = nvgpu.device_async_copy %g[%row, %c0], %s[%row, %c0], 8 {bypassL1} : memref<64x64xf16> to memref<64x64xf16, 3>
      %y = nvgpu.device_async_copy %g[%row, %c8], %s[%row, %c8], 8, %size : memref<64x64xf16> to memref<64x64xf16, 3>
    }
    "tile.commit"() : () -> ()
    %d = nvgpu.mma.sync (%a, %b, %c) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
    %e = nvgpu.mma.sync (%a, %b, %d) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
    %f = nvgpu.mma.sync (%a, %b, %e) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
    vector.store %f, %out[%c0, %c0] : memref<2x2xf32>, vector<2x2xf32>
    gpu.return
  }

  // Between multiply-adds of lanes copies go four at a time.
// CHECK-LABEL: gpu.func @lanes(
//   CHECK-NOT:   scf.if
//       CHECK:   vector.fma
//  CHECK-NEXT:   vector.fma
//  CHECK-NEXT:   arith.select
//  CHECK-NEXT:   nvgpu.device_async_copy
//  CHECK-NEXT:   nvgpu.device_async_copy
//  CHECK-NEXT:   "tile.commit"
//  CHECK-NEXT:   vector.fma
  gpu.func @lanes(%s: memref<64x64xf32, 3>, %g: memref<64x64xf32>, %more: i1, %a: vector<1xf32>, %out: memref<64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    scf.if %more {
      %x = nvgpu.device_async_copy %g[%c0, %c0], %s[%c0, %c0], 4 {bypassL1} : memref<64x64xf32> to memref<64x64xf32, 3>
      %y = nvgpu.device_async_copy %g[%c0, %c4], %s[%c0, %c4], 4 {bypassL1} : memref<64x64xf32> to memref<64x64xf32, 3>
    }
    "tile.commit"() : () -> ()
    %d = vector.fma %a, %a, %a : vector<1xf32>
    %e = vector.fma %a, %a, %d : vector<1xf32>
    %f = vector.fma %a, %a, %e : vector<1xf32>
    vector.store %f, %out[%c0] : memref<64xf32>, vector<1xf32>
    gpu.return
  }
}
