// place-shared: shared-memory buffers get their places in one block of shared memory.
// RUN: mlir-gemm opt %s place-shared | FileCheck %s
// RUN: mlir-gemm opt %s 'place-shared{limit=2000}' place-shared | FileCheck %s --check-prefix=LIMIT
// RUN: mlir-gemm opt %s 'place-shared{storage=dynamic}' | FileCheck %s --check-prefix=DYNAMIC
// RUN: mlir-gemm opt %s 'place-shared{storage=static limit=4000}' | FileCheck %s

module attributes {gpu.container_module} {
// CHECK-LABEL: @host
// CHECK-NOT: dynamic_shared_memory_size

// LIMIT-LABEL: @host
// LIMIT: %[[BYTES:.*]] = arith.constant 2048 : i32
// LIMIT: gpu.launch_func @kernels::@together blocks in {{.*}} dynamic_shared_memory_size %[[BYTES]]

// DYNAMIC-LABEL: @host
// DYNAMIC: %[[BYTES:.*]] = arith.constant 2048 : i32
// DYNAMIC: gpu.launch_func @kernels::@together blocks in {{.*}} dynamic_shared_memory_size %[[BYTES]]
// DYNAMIC: gpu.launch_func @kernels::@none
// DYNAMIC-NOT: dynamic_shared_memory_size
// DYNAMIC: return
func.func @host() {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  gpu.launch_func @kernels::@together blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
  gpu.launch_func @kernels::@none blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
  return
}

gpu.module @kernels {
  // Two buffers in use at a time stand one after the other, each at a multiple of 128 bytes; padded rows are a subview.
// CHECK: memref.global "private" @together_shared : memref<2048xi8, 3> = uninitialized {alignment = 128 : i64}
// CHECK-LABEL: gpu.func @together
// CHECK: %[[BYTES:.*]] = memref.get_global @together_shared
// CHECK: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK: %[[A:.*]] = memref.view %[[BYTES]][%{{.*}}][] : memref<2048xi8, 3> to memref<2x10x24xf16, 3>
// CHECK-NEXT: memref.subview %[[A]][0, 0, 0] [2, 10, 20] [1, 1, 1] : memref<2x10x24xf16, 3> to memref<2x10x20xf16, strided<[240, 24, 1]>, 3>
// CHECK-NEXT: %[[C1024:.*]] = arith.constant 1024 : index
// CHECK-NEXT: memref.view %[[BYTES]][%[[C1024]]][] : memref<2048xi8, 3> to memref<32x16xf16, 3>
// CHECK-NOT: memref.alloc

// LIMIT: memref.global @together_shared : memref<0xi8, 3> {alignment = 128 : i64}
// LIMIT: memref.view {{.*}} : memref<0xi8, 3> to memref<2x10x24xf16, 3>
// DYNAMIC: memref.global @together_shared : memref<0xi8, 3> {alignment = 128 : i64}
  gpu.func @together() kernel {
    %v = arith.constant dense<0.0> : vector<4xf16>
    %c0 = arith.constant 0 : index
    %a = memref.alloc() : memref<2x10x20xf16, strided<[240, 24, 1]>, 3>
    %b = memref.alloc() : memref<32x16xf16, 3>
    vector.store %v, %a[%c0, %c0, %c0] : memref<2x10x20xf16, strided<[240, 24, 1]>, 3>, vector<4xf16>
    gpu.barrier
    vector.store %v, %b[%c0, %c0] : memref<32x16xf16, 3>, vector<4xf16>
    vector.store %v, %a[%c0, %c0, %c0] : memref<2x10x20xf16, strided<[240, 24, 1]>, 3>, vector<4xf16>
    gpu.return
  }

  // %b is used only after the barrier that follows the last use of %a (through a view, in a loop): they share memory.
  // %c is first used in front of that barrier, so it shares with neither.
// CHECK-LABEL: gpu.func @apart
// CHECK: arith.constant 4 : index
// CHECK-NEXT: %[[A:.*]] = arith.constant 0 : index
// CHECK-NEXT: memref.view %{{.*}}[%[[A]]][] : memref<1152xi8, 3> to memref<256xf16, 3>
// CHECK-NEXT: %[[B:.*]] = arith.constant 0 : index
// CHECK-NEXT: memref.view %{{.*}}[%[[B]]][] : memref<1152xi8, 3> to memref<512xf16, 3>
// CHECK-NEXT: %[[C:.*]] = arith.constant 1024 : index
// CHECK-NEXT: memref.view %{{.*}}[%[[C]]][] : memref<1152xi8, 3> to memref<64xf16, 3>

// LIMIT: memref.global "private" @apart_shared : memref<1152xi8, 3> = uninitialized
// DYNAMIC: memref.global @apart_shared : memref<0xi8, 3>
  gpu.func @apart(%v: vector<4xf16>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %a = memref.alloc() : memref<256xf16, 3>
    %b = memref.alloc() : memref<512xf16, 3>
    %c = memref.alloc() : memref<64xf16, 3>
    %view = memref.subview %a[4] [8] [1] : memref<256xf16, 3> to memref<8xf16, strided<[1], offset: 4>, 3>
    scf.for %i = %c0 to %c4 step %c1 {
      vector.store %v, %view[%c0] : memref<8xf16, strided<[1], offset: 4>, 3>, vector<4xf16>
    }
    vector.store %v, %c[%c0] : memref<64xf16, 3>, vector<4xf16>
    gpu.barrier
    vector.store %v, %b[%c0] : memref<512xf16, 3>, vector<4xf16>
    vector.store %v, %c[%c0] : memref<64xf16, 3>, vector<4xf16>
    gpu.return
  }

  // A barrier that only some iterations reach, inside a loop, separates nothing. Nor does one between uses of a buffer
  // that a loop carries around: where that is used is not known.
// CHECK-LABEL: gpu.func @carried
// CHECK: memref.view %{{.*}}[%{{.*}}][] : memref<1024xi8, 3> to memref<256xf16, 3>
// CHECK-NEXT: %[[B:.*]] = arith.constant 512 : index
// CHECK-NEXT: memref.view %{{.*}}[%[[B]]][] : memref<1024xi8, 3> to memref<256xf16, 3>
  gpu.func @carried(%v: vector<4xf16>, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a = memref.alloc() : memref<256xf16, 3>
    %b = memref.alloc() : memref<256xf16, 3>
    %kept = scf.for %i = %c0 to %n step %c1 iter_args(%m = %a) -> (memref<256xf16, 3>) {
      vector.store %v, %m[%c0] : memref<256xf16, 3>, vector<4xf16>
      gpu.barrier
      scf.yield %m : memref<256xf16, 3>
    }
    gpu.barrier
    vector.store %v, %b[%c0] : memref<256xf16, 3>, vector<4xf16>
    vector.store %v, %kept[%c0] : memref<256xf16, 3>, vector<4xf16>
    gpu.return
  }

  // A buffer that is copied to asynchronously is in use until everything is waited for: %b may share the memory of %a,
  // after a wait and a barrier, but not that of %c, whose copy may still be in flight. The layout moves to the view.
// CHECK-LABEL: gpu.func @streamed
// CHECK: memref.view %{{.*}}[%{{.*}}][] {tile.layout = "xor"} : memref<1024xi8, 3> to memref<256xf16, 3>
// CHECK-NEXT: %[[C:.*]] = arith.constant 512 : index
// CHECK-NEXT: memref.view %{{.*}}[%[[C]]][] : memref<1024xi8, 3> to memref<256xf16, 3>
// CHECK-NEXT: %[[B:.*]] = arith.constant 0 : index
// CHECK-NEXT: memref.view %{{.*}}[%[[B]]][] : memref<1024xi8, 3> to memref<256xf16, 3>
  gpu.func @streamed(%v: vector<4xf16>, %m: memref<256xf16>) kernel {
    %c0 = arith.constant 0 : index
    %a = memref.alloc() {tile.layout = "xor"} : memref<256xf16, 3>
    %c = memref.alloc() : memref<256xf16, 3>
    %b = memref.alloc() : memref<256xf16, 3>
    %t = nvgpu.device_async_copy %m[%c0], %a[%c0], 8 : memref<256xf16> to memref<256xf16, 3>
    %g = nvgpu.device_async_create_group %t
    nvgpu.device_async_wait %g {numGroups = 0 : i32}
    %u = nvgpu.device_async_copy %m[%c0], %c[%c0], 8 : memref<256xf16> to memref<256xf16, 3>
    %h = nvgpu.device_async_create_group %u
    nvgpu.device_async_wait %h {numGroups = 1 : i32}
    gpu.barrier
    vector.store %v, %b[%c0] : memref<256xf16, 3>, vector<4xf16>
    gpu.return
  }

  // What the copy engine swizzles starts at a multiple of 1024 bytes, so all do, and the whole too. What is known only by its
  // address is in use from there to the end.
// CHECK: memref.global "private" @swizzled_shared : memref<3072xi8, 3> = uninitialized {alignment = 1024 : i64}
// CHECK-LABEL: gpu.func @swizzled
// CHECK: memref.view %{{.*}}[%{{.*}}][] {tile.layout = "barriers"} : memref<3072xi8, 3> to memref<2x2xi64, 3>
// CHECK-NEXT: %[[A:.*]] = arith.constant 1024 : index
// CHECK-NEXT: memref.view %{{.*}}[%[[A]]][] {tile.layout = "swizzle128"} : memref<3072xi8, 3> to memref<16x64xf16, 3>
  gpu.func @swizzled() kernel {
    %bars = memref.alloc() {tile.layout = "barriers"} : memref<2x2xi64, 3>
    %a = memref.alloc() {tile.layout = "swizzle128"} : memref<16x64xf16, 3>
    %at = memref.extract_aligned_pointer_as_index %bars : memref<2x2xi64, 3> -> index
    gpu.barrier
    %start = memref.extract_aligned_pointer_as_index %a : memref<16x64xf16, 3> -> index
    gpu.return
  }

  // What a block hands over to the others of its cluster when they add up may lie where the operands were.
// CHECK: memref.global "private" @summed_shared : memref<2176xi8, 3>
// CHECK-LABEL: gpu.func @summed
// CHECK: memref.view %{{.*}}[%{{.*}}][] {tile.layout = "swizzle128"} : memref<2176xi8, 3> to memref<16x64xf16, 3>
// CHECK: %[[HANDED:.*]] = arith.constant 0 : index
// CHECK-NEXT: memref.view %{{.*}}[%[[HANDED]]][] : memref<2176xi8, 3> to memref<512xf32, 3>
// CHECK: %[[OTHER:.*]] = arith.constant 2048 : index
// CHECK-NEXT: memref.view %{{.*}}[%[[OTHER]]][] : memref<2176xi8, 3> to memref<32xf32, 3>
  gpu.func @summed(%f: memref<16x64xf16>, %v: vector<4xf32>) kernel {
    %c0 = arith.constant 0 : index
    %A = memref.alloc() {tile.layout = "swizzle128", tile.until_reduction} : memref<16x64xf16, 3>
    %handed = memref.alloc() {tile.from_reduction} : memref<512xf32, 3>
    %other = memref.alloc() : memref<32xf32, 3>
      memref.copy %f, %A : memref<16x64xf16> to memref<16x64xf16, 3>
      vector.store %v, %handed[%c0] : memref<512xf32, 3>, vector<4xf32>
      vector.store %v, %other[%c0] : memref<32xf32, 3>, vector<4xf32>
    gpu.return
  }

// CHECK: memref.global "private" @narrow_shared : memref<1536xi8, 3> = uninitialized {alignment = 1024 : i64}
// CHECK-LABEL: gpu.func @narrow
// CHECK: %[[A:.*]] = arith.constant 1024 : index
// CHECK-NEXT: memref.view %{{.*}}[%[[A]]][] {tile.layout = "swizzle32"} : memref<1536xi8, 3> to memref<16x16xf16, 3>
  gpu.func @narrow() kernel {
    %bars = memref.alloc() {tile.layout = "barriers"} : memref<2x2xi64, 3>
    %a = memref.alloc() {tile.layout = "swizzle32"} : memref<16x16xf16, 3>
    %at = memref.extract_aligned_pointer_as_index %bars : memref<2x2xi64, 3> -> index
    gpu.barrier
    %start = memref.extract_aligned_pointer_as_index %a : memref<16x16xf16, 3> -> index
    gpu.return
  }

  gpu.func @none() kernel {
    gpu.return
  }
}
}
