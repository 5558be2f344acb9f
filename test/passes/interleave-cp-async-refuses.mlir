// interleave-cp-async leaves alone what it could not move in order: a branch that does something else, a barrier in front of
// the products, products in a loop of their own, too few products.
// RUN: mlir-gemm opt %s interleave-cp-async | FileCheck %s
gpu.module @kernels {
  // CHECK-LABEL: gpu.func @other(
  //       CHECK:   scf.if
  //  CHECK-NEXT:     nvgpu.device_async_copy
  //       CHECK:     memref.store
  gpu.func @other(%s: memref<64x64xf16, 3>, %g: memref<64x64xf16>, %more: i1, %h: f16,
                  %a: vector<4x2xf16>, %b: vector<2x2xf16>, %c: vector<2x2xf32>) kernel {
    %c0 = arith.constant 0 : index
    scf.if %more {
      %x = nvgpu.device_async_copy %g[%c0, %c0], %s[%c0, %c0], 8 : memref<64x64xf16> to memref<64x64xf16, 3>
      memref.store %h, %g[%c0, %c0] : memref<64x64xf16>
    }
    "tile.commit"() : () -> ()
    %d = nvgpu.mma.sync (%a, %b, %c) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
    %e = nvgpu.mma.sync (%a, %b, %d) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @barrier(
  //       CHECK:   scf.if
  //  CHECK-NEXT:     nvgpu.device_async_copy
  //       CHECK:   gpu.barrier
  gpu.func @barrier(%s: memref<64x64xf16, 3>, %g: memref<64x64xf16>, %more: i1,
                    %a: vector<4x2xf16>, %b: vector<2x2xf16>, %c: vector<2x2xf32>) kernel {
    %c0 = arith.constant 0 : index
    scf.if %more {
      %x = nvgpu.device_async_copy %g[%c0, %c0], %s[%c0, %c0], 8 : memref<64x64xf16> to memref<64x64xf16, 3>
    }
    "tile.commit"() : () -> ()
    gpu.barrier
    %d = nvgpu.mma.sync (%a, %b, %c) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
    %e = nvgpu.mma.sync (%a, %b, %d) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @few(
  //       CHECK:   scf.if
  //  CHECK-NEXT:     nvgpu.device_async_copy
  //       CHECK:   scf.for
  gpu.func @few(%s: memref<64x64xf16, 3>, %g: memref<64x64xf16>, %more: i1,
                %a: vector<4x2xf16>, %b: vector<2x2xf16>, %c: vector<2x2xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    scf.if %more {
      %x = nvgpu.device_async_copy %g[%c0, %c0], %s[%c0, %c0], 8 : memref<64x64xf16> to memref<64x64xf16, 3>
    }
    "tile.commit"() : () -> ()
    %d = nvgpu.mma.sync (%a, %b, %c) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
    %e = scf.for %i = %c0 to %c4 step %c1 iter_args(%f = %d) -> (vector<2x2xf32>) {
      %p = nvgpu.mma.sync (%a, %b, %f) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
      scf.yield %p : vector<2x2xf32>
    }
    gpu.return
  }
}
