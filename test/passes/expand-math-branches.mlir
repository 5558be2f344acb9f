// What expand-math puts behind a branch or into a loop, as few numbers need it; how exact it is, test_math_f64.py says.
// RUN: mlir-gemm opt %s expand-math | FileCheck %s
// RUN: mlir-gemm opt %s expand-math expand-math | FileCheck %s

gpu.module @kernels {
  // An angle: n pi/2 is subtracted in two parts; beyond 2^30, in threads that have such an angle, the bits of 2/pi decide.
  // CHECK-LABEL: gpu.func @angle(
  // CHECK: %[[WIDE:.*]] = arith.extf %{{.*}} : f32 to f64
  // CHECK: %[[NEAR:.*]] = math.fma %{{.*}} : f64
  // CHECK: %[[SIZE:.*]] = math.absf %[[WIDE]] : f64
  // CHECK: %[[FAR:.*]] = arith.cmpf ogt, %[[SIZE]], %{{.*}} : f64
  // CHECK: %{{.*}}:2 = scf.if %[[FAR]] -> (i32, f64) {
  // CHECK: arith.muli %{{.*}} : i64
  // CHECK: } else {
  // CHECK-NEXT: scf.yield
  // CHECK-NOT: math.sin
  // CHECK: gpu.return
  gpu.func @angle(%x: f32, %out: memref<1xf32>) kernel {
    %zero = arith.constant 0 : index
    %r = math.sin %x : f32
    memref.store %r, %out[%zero] : memref<1xf32>
    gpu.return
  }

  // Each element of a vector has a branch of its own; f64 has two parts of the rest.
  // CHECK-LABEL: gpu.func @angles(
  // CHECK-DAG: vector.extract %{{.*}}[0, 0] : f64 from vector<1x2xf64>
  // CHECK-DAG: vector.extract %{{.*}}[0, 1] : f64 from vector<1x2xf64>
  // CHECK-COUNT-2: scf.if %{{.*}} -> (i32, f64, f64)
  // CHECK: vector.from_elements %{{.*}}, %{{.*}} : vector<1x2xf64>
  gpu.func @angles(%x: vector<1x2xf64>, %out: memref<1xvector<1x2xf64>>) kernel {
    %zero = arith.constant 0 : index
    %r = math.cos %x : vector<1x2xf64>
    memref.store %r, %out[%zero] : memref<1xvector<1x2xf64>>
    gpu.return
  }

  // A remainder of f64 takes as many rounds of eleven bits as the exponents are apart.
  // CHECK-LABEL: gpu.func @remainder(
  // CHECK: scf.for %{{.*}} iter_args(%[[REST:.*]] = %{{.*}}, %{{.*}} = %{{.*}}) -> (i64, i64)
  // CHECK: %[[SHIFTED:.*]] = arith.shli %[[REST]]
  // CHECK: arith.remui %[[SHIFTED]]
  // CHECK-NOT: arith.remf
  // CHECK: gpu.return
  gpu.func @remainder(%x: f64, %y: f64, %out: memref<1xf64>) kernel {
    %zero = arith.constant 0 : index
    %r = arith.remf %x, %y : f64
    memref.store %r, %out[%zero] : memref<1xf64>
    gpu.return
  }

  // Two results: the lower and the upper half of a product.
  // CHECK-LABEL: gpu.func @halves(
  // CHECK: %[[PRODUCT:.*]] = arith.muli %{{.*}} : i64
  // CHECK: arith.shrui %[[PRODUCT]]
  // CHECK-NOT: mulsi_extended
  // CHECK: gpu.return
  gpu.func @halves(%x: i32, %out: memref<2xi32>) kernel {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %low, %high = arith.mulsi_extended %x, %x : i32
    memref.store %low, %out[%zero] : memref<2xi32>
    memref.store %high, %out[%one] : memref<2xi32>
    gpu.return
  }
}
