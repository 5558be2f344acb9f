// select-glsl: exact operations of math that upstream has no conversion for become GLSL.std.450's.
// RUN: mlir-gemm opt %s select-glsl | FileCheck %s

// CHECK: %[[FMA:.*]] = spirv.GL.Fma %{{.*}}, %{{.*}}, %{{.*}} : f32
// CHECK: %[[POWER:.*]] = spirv.GL.Exp2 %[[FMA]] : f32
// CHECK: %[[BITS:.*]] = arith.bitcast %[[POWER]] : f32 to i32
// CHECK: arith.andi %[[BITS]]
// CHECK: arith.ori
// CHECK: math.exp2 %{{.*}} : f64
gpu.module @kernels {
  gpu.func @kernel(%x: f32, %d: f64, %out: memref<1xf32>, %dout: memref<1xf64>) kernel {
    %zero = arith.constant 0 : index
    %f = math.fma %x, %x, %x : f32
    %p = math.exp2 %f : f32
    %s = math.copysign %p, %x : f32
    %e = math.exp2 %d : f64
    memref.store %s, %out[%zero] : memref<1xf32>
    memref.store %e, %dout[%zero] : memref<1xf64>
    gpu.return
  }
}
