// What scalarize-registers refuses: each error names the place, and what is expected instead.
// RUN: not mlir-gemm opt --split-input-file %s scalarize-registers 2>&1 | FileCheck %s

gpu.module @kernels {
  gpu.func @reverse(%v: vector<4xf32>) kernel {
    // CHECK: scalarize-registers-refuses.mlir:[[# @LINE + 1]]:10: error: 'vector.reduction' on vectors, which is not known for SPIR-V
    %0 = vector.reduction <add>, %v : vector<4xf32> into f32
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @place(%x: f32, %n: index) kernel {
    %v = vector.broadcast %x : f32 to vector<4xf32>
    // CHECK: scalarize-registers-refuses.mlir:[[# @LINE + 1]]:10: error: 'vector.extract' at a position that is not constant
    %0 = vector.extract %v[%n] : f32 from vector<4xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @while(%bit: i1) kernel {
    // CHECK: scalarize-registers-refuses.mlir:[[# @LINE + 1]]:5: error: 'scf.while' in a kernel for SPIR-V; expected scf.for and scf.if
    scf.while : () -> () {
      scf.condition(%bit)
    } do {
      scf.yield
    }
    gpu.return
  }
}
