// select-opencl: operations of math that upstream has no conversion for become OpenCL.std's.
// RUN: mlir-gemm opt %s select-opencl | FileCheck %s

// CHECK: %[[FMA:.*]] = spirv.CL.fma %[[X:.*]], %[[X]], %[[X]] : f32
// The whole number nearest to what is given, within bounds; NaN and infinities stay in the rest.
// CHECK: spirv.CL.fmin %[[FMA]]
// CHECK: %[[WHOLE:.*]] = spirv.CL.rint
// CHECK: %[[REST:.*]] = arith.subf %[[FMA]], %[[WHOLE]] : f32
// CHECK: %[[EXP:.*]] = spirv.CL.exp
// CHECK: %[[POWER:.*]] = spirv.CL.ldexp %[[EXP]], %{{.*}} : f32, i32 -> f32
// CHECK: %[[INVERSE:.*]] = spirv.CL.rsqrt %[[POWER]] : f32
// CHECK: arith.bitcast %[[INVERSE]] : f32 to i32
// CHECK: arith.ori
// CHECK: arith.extf %{{.*}} : f16 to f32
// CHECK: spirv.CL.ldexp
// CHECK: arith.truncf %{{.*}} : f32 to f16
// CHECK: spirv.CL.rint %{{.*}} : f64
// CHECK: math.exp2 %{{.*}} : f64
// CHECK: spirv.CL.rsqrt %{{.*}} : f32
gpu.module @kernels {
  gpu.func @kernel(%x: f32, %h: f16, %d: f64, %out: memref<1xf32>, %hout: memref<1xf16>, %dout: memref<1xf64>) kernel {
    %zero = arith.constant 0 : index
    %f = math.fma %x, %x, %x : f32
    %p = math.exp2 %f : f32
    %i = math.rsqrt %p fastmath<afn> : f32
    %s = math.copysign %i, %x : f32
    %q = math.exp2 %h : f16
    %r = math.roundeven %d : f64
    %e = math.exp2 %r : f64
    %j = math.rsqrt %f fastmath<afn> : f32
    memref.store %s, %out[%zero] : memref<1xf32>
    memref.store %j, %out[%zero] : memref<1xf32>
    memref.store %q, %hout[%zero] : memref<1xf16>
    memref.store %e, %dout[%zero] : memref<1xf64>
    gpu.return
  }
}
