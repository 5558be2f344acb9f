// check-lowered lets pass, unchanged: kernels of threads, with buffers that have their places in shared memory; layouts that
// instructions know by themselves, the panels of the copy engine and a ring's barriers; and all that is in no kernel.
// What it refuses stands in check-lowered-refuses.mlir.
// RUN: mlir-gemm opt %s >%t.before
// RUN: mlir-gemm opt %s check-lowered >%t.after
// RUN: diff %t.before %t.after
// RUN: FileCheck %s <%t.after

// A host function may still have operations on tiles and allocations.
// CHECK-LABEL: func.func @host
//       CHECK:   memref.alloc
//       CHECK:   "tile.unit_id"
func.func @host() -> index {
  %temporary = memref.alloc() : memref<4xindex>
  %unit = "tile.unit_id"() : () -> index
  return %unit : index
}

gpu.module @kernels {
  memref.global "private" @kernel_shared : memref<2048xi8, 3>

  // CHECK-LABEL: gpu.func @plain
  //       CHECK:   memref.view %{{.*}} : memref<2048xi8, 3> to memref<64xf16, 3>
  gpu.func @plain(%v: vector<4xf16>) kernel {
    %c0 = arith.constant 0 : index
    %bytes = memref.get_global @kernel_shared : memref<2048xi8, 3>
    %a = memref.view %bytes[%c0][] : memref<2048xi8, 3> to memref<64xf16, 3>
    vector.store %v, %a[%c0] : memref<64xf16, 3>, vector<4xf16>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @of_the_copy_engine
  //       CHECK:   memref.view {{.*}}{tile.layout = "swizzle128"}
  //       CHECK:   memref.view {{.*}}{tile.layout = "swizzle64"}
  //       CHECK:   memref.view {{.*}}{tile.layout = "swizzle32"}
  //       CHECK:   memref.view {{.*}}{tile.layout = "barriers"}
  gpu.func @of_the_copy_engine() kernel {
    %c0 = arith.constant 0 : index
    %bytes = memref.get_global @kernel_shared : memref<2048xi8, 3>
    %wide = memref.view %bytes[%c0][] {tile.layout = "swizzle128"} : memref<2048xi8, 3> to memref<8x64xf16, 3>
    %half = memref.view %bytes[%c0][] {tile.layout = "swizzle64"} : memref<2048xi8, 3> to memref<8x32xf16, 3>
    %quarter = memref.view %bytes[%c0][] {tile.layout = "swizzle32"} : memref<2048xi8, 3> to memref<8x16xf16, 3>
    %ring = memref.view %bytes[%c0][] {tile.layout = "barriers"} : memref<2048xi8, 3> to memref<2x4xi64, 3>
    gpu.return
  }
}
