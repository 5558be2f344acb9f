// floats-as-bits refuses what would be rounded twice, and operations on 8-bit floats. It has no options.
// RUN: not mlir-gemm opt --split-input-file %s floats-as-bits 2>&1 | FileCheck %s
// RUN: not mlir-gemm opt %s 'floats-as-bits{a=1}' 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: error: pass 'floats-as-bits' has no option 'a' (options: none)
gpu.module @kernels {
  gpu.func @fma(%x: memref<?xi16>) kernel {
    %zero = arith.constant 0 : index
    %bits = memref.load %x[%zero] : memref<?xi16>
    %number = arith.bitcast %bits : i16 to bf16
    // CHECK: error: 'math.fma' on bf16 would be rounded twice; expected arith.mulf and arith.addf
    %sum = math.fma %number, %number, %number : bf16
    %after = arith.bitcast %sum : bf16 to i16
    memref.store %after, %x[%zero] : memref<?xi16>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @eight(%x: memref<?xi8>) kernel {
    %zero = arith.constant 0 : index
    %bits = memref.load %x[%zero] : memref<?xi8>
    %number = arith.bitcast %bits : i8 to f8E5M2
    // CHECK: error: 'arith.addf' on 8-bit floats; expected arith.extf to a wider type first
    %sum = arith.addf %number, %number : f8E5M2
    %after = arith.bitcast %sum : f8E5M2 to i8
    memref.store %after, %x[%zero] : memref<?xi8>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @mode(%x: f32, %y: memref<?xi16>) kernel {
    %zero = arith.constant 0 : index
    // CHECK: error: to bf16 in rounding mode 3{{.*}}; expected to nearest even
    %number = arith.truncf %x toward_zero : f32 to bf16
    %after = arith.bitcast %number : bf16 to i16
    memref.store %after, %y[%zero] : memref<?xi16>
    gpu.return
  }
}
