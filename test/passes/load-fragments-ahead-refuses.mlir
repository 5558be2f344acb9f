// load-fragments-ahead refuses loops whose last step it cannot take apart. Each case is run alone.
// RUN: not mlir-gemm opt --split-input-file %s load-fragments-ahead 2>&1 | FileCheck %s

gpu.module @step {
  gpu.func @f(%S: memref<64xf32, 3>, %n: index, %D: memref<64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : vector<4xf32>
    // CHECK: load-fragments-ahead-refuses.mlir:[[# @LINE + 1]]:12: error: a k loop whose step is not constant: its last one cannot be taken apart
    %end = scf.for %k = %c0 to %c1 step %n iter_args(%sum = %zero) -> (vector<4xf32>) {
      gpu.barrier
      %first = vector.load %S[%c0] : memref<64xf32, 3>, vector<4xf32>
      %next = vector.fma %first, %first, %sum : vector<4xf32>
      scf.yield %next : vector<4xf32>
    }
    vector.store %end, %D[%c0] : memref<64xf32>, vector<4xf32>
    gpu.return
  }
}

// -----

gpu.module @memory {
  gpu.func @f(%S: memref<64xf32, 3>, %D: memref<64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %zero = arith.constant dense<0.0> : vector<4xf32>
    %end = scf.for %k = %c0 to %c4 step %c1 iter_args(%sum = %zero) -> (vector<4xf32>) {
      gpu.barrier
      // CHECK: load-fragments-ahead-refuses.mlir:[[# @LINE + 1]]:15: error: memory that is made in each step of a k loop cannot be carried to the next
      %made = memref.alloc() : memref<64xf32, 3>
      %first = vector.load %made[%c0] : memref<64xf32, 3>, vector<4xf32>
      %next = vector.fma %first, %first, %sum : vector<4xf32>
      %second = vector.load %made[%c4] : memref<64xf32, 3>, vector<4xf32>
      %last = vector.fma %second, %second, %next : vector<4xf32>
      scf.yield %last : vector<4xf32>
    }
    vector.store %end, %D[%c0] : memref<64xf32>, vector<4xf32>
    gpu.return
  }
}
