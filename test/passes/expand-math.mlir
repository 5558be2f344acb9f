// expand-math makes arithmetic of the functions for which PTX has no instruction, and leaves what it has one for, and what
// is in no kernel. Here stands which operations each becomes: how exact they are is tested on numbers, in
// test/python/test_math.py and test_rounded_math.py.
// RUN: mlir-gemm opt %s expand-math | FileCheck %s
// RUN: sed '/^func.func @host/,/^}/d' %s | mlir-gemm opt - expand-math | FileCheck %s --check-prefix=LEFT

// In kernels nothing is left but what becomes an instruction.
// LEFT-NOT: math.{{(exp|tanh|powf|isnan|erf|log|sin|cos) }}
// RUN: mlir-gemm opt %s expand-math expand-math | FileCheck %s

// x = k ln 2 + r: k by adding 1.5 * 2^23, a polynomial in r, then 2^k in two factors, so that denormals are rounded once.
// CHECK-LABEL: gpu.func @exp(
// CHECK-NOT: math.exp
// CHECK: arith.cmpf olt, %{{.*}}, %{{.*}} : f32
// CHECK: %[[SHIFTED:.*]] = math.fma %{{.*}} : f32
// CHECK: arith.subf %[[SHIFTED]], %{{.*}} : f32
// CHECK: arith.bitcast %[[SHIFTED]] : f32 to i32
// CHECK-COUNT-8: math.fma
// CHECK: arith.addf
// CHECK: arith.shrsi
// CHECK-COUNT-2: arith.bitcast %{{.*}} : i32 to f32
// CHECK: memref.store
gpu.module @kernels {
  gpu.func @exp(%x: f32, %out: memref<1xf32>) kernel {
    %zero = arith.constant 0 : index
    %r = math.exp %x : f32
    memref.store %r, %out[%zero] : memref<1xf32>
    gpu.return
  }

  // Vectors of any rank, element by element; f16 by way of f32.
  // CHECK-LABEL: gpu.func @vectors(
  // CHECK: arith.extf %{{.*}} : vector<2x4xf16> to vector<2x4xf32>
  // CHECK-NOT: math.tanh
  // CHECK: math.fma %{{.*}} : vector<2x4xf32>
  // CHECK: math.copysign %{{.*}} : vector<2x4xf32>
  // CHECK: arith.truncf %{{.*}} : vector<2x4xf32> to vector<2x4xf16>
  gpu.func @vectors(%x: vector<2x4xf16>, %out: memref<1xvector<2x4xf16>>) kernel {
    %zero = arith.constant 0 : index
    %r = math.tanh %x : vector<2x4xf16>
    memref.store %r, %out[%zero] : memref<1xvector<2x4xf16>>
    gpu.return
  }

  // Small whole powers are products; others go through f64. What PTX has stays.
  // CHECK-LABEL: gpu.func @powers(
  // CHECK-SAME: %[[X:.*]]: f32, %[[Y:.*]]: f32,
  // CHECK: %[[SQUARE:.*]] = arith.mulf %[[X]], %[[X]] : f32
  // CHECK-NEXT: %[[CUBE:.*]] = arith.mulf %[[SQUARE]], %[[X]] : f32
  // CHECK: arith.extf %[[Y]] : f32 to f64
  // CHECK-NOT: math.powf
  // CHECK: math.fma %{{.*}} : f64
  // CHECK: arith.truncf %{{.*}} : f64 to f32
  // CHECK: math.sqrt %{{.*}} : f32
  gpu.func @powers(%x: f32, %y: f32, %out: memref<1xf32>) kernel {
    %zero = arith.constant 0 : index
    %three = arith.constant 3.0 : f32
    %cube = math.powf %x, %three : f32
    %any = math.powf %cube, %y : f32
    %root = math.sqrt %any : f32
    memref.store %root, %out[%zero] : memref<1xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @tests(
  // CHECK: %[[NAN:.*]] = arith.cmpf une, %[[X:.*]], %[[X]] : f32
  gpu.func @tests(%x: f32, %out: memref<1xi1>) kernel {
    %zero = arith.constant 0 : index
    %r = math.isnan %x : f32
    memref.store %r, %out[%zero] : memref<1xi1>
    gpu.return
  }
}

// Only kernels are touched.
// CHECK-LABEL: func.func @host
// CHECK: math.exp
func.func @host(%x: f32) -> f32 {
  %r = math.exp %x : f32
  return %r : f32
}
