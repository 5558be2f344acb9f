// throttle-epilogue has nothing to refuse.
// RUN: not mlir-gemm opt %s 'throttle-epilogue{chains=0}' 2>&1 | FileCheck %s
// RUN: mlir-gemm opt %s throttle-epilogue | FileCheck %s --check-prefix=PLAIN

// CHECK: pass 'throttle-epilogue': chains=0; expected at least 1
// CHECK-NOT: Traceback

// It refuses nothing else: without a wait for products nothing is an accumulator's.
// PLAIN-LABEL: gpu.func @plain
// PLAIN-NOT: arith.xori
gpu.module @kernels {
  gpu.func @plain(%sums: !llvm.struct<(f32, f32)>, %out: memref<2xf32>) kernel {
    %zero = arith.constant 0 : index
    %a = llvm.extractvalue %sums[0] : !llvm.struct<(f32, f32)>
    %b = llvm.extractvalue %sums[1] : !llvm.struct<(f32, f32)>
    %first = vector.from_elements %a, %b : vector<2xf32>
    %one = arith.mulf %first, %first : vector<2xf32>
    %two = arith.mulf %one, %one : vector<2xf32>
    %three = arith.mulf %two, %two : vector<2xf32>
    vector.store %three, %out[%zero] : memref<2xf32>, vector<2xf32>
    gpu.return
  }
}
