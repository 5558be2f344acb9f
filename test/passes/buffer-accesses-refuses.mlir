// What buffer-accesses refuses: nothing. It leaves branches of which a buffer knows too little, or would do too much.
// RUN: mlir-gemm opt %s buffer-accesses | FileCheck %s

gpu.module @kernels {
  // CHECK-NOT: raw_buffer
  // CHECK-LABEL: gpu.func @unknown_size
  // CHECK: scf.if
  gpu.func @unknown_size(%a: memref<?x64xf32>, %i: index, %inside: i1, %x: f32) kernel {
    scf.if %inside {
      memref.store %x, %a[%i, %i] : memref<?x64xf32>
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @not_zero
  // CHECK: scf.if
  gpu.func @not_zero(%a: memref<4x64xf32>, %b: memref<4x64xf32>, %i: index, %inside: i1) kernel {
    %one = arith.constant -0.0 : f32
    %x = scf.if %inside -> (f32) {
      %y = memref.load %a[%i, %i] : memref<4x64xf32>
      scf.yield %y : f32
    } else {
      scf.yield %one : f32
    }
    memref.store %x, %b[%i, %i] : memref<4x64xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @too_large
  // CHECK: scf.if
  gpu.func @too_large(%a: memref<65536x65536xf32>, %i: index, %inside: i1, %x: f32) kernel {
    scf.if %inside {
      memref.store %x, %a[%i, %i] : memref<65536x65536xf32>
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @other_types
  // CHECK: scf.if
  // CHECK: scf.if
  gpu.func @other_types(%a: memref<64xf64>, %s: memref<64xf32, 3>, %i: index, %inside: i1, %x: f64, %y: f32) kernel {
    scf.if %inside {
      memref.store %x, %a[%i] : memref<64xf64>
    }
    scf.if %inside {
      memref.store %y, %s[%i] : memref<64xf32, 3>
    }
    gpu.return
  }
}
