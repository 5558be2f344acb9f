// free-accumulators: sums that a loop of multiply-adds results in are XORed with 0 before they are stored.
// RUN: mlir-gemm opt %s free-accumulators | FileCheck %s
// RUN: mlir-gemm opt %s free-accumulators free-accumulators | FileCheck %s

// CHECK-LABEL: gpu.func @sums
//       CHECK:   %[[OUTER:.*]]:2 = scf.for
//       CHECK:     %[[INNER:.*]]:2 = scf.for
//       CHECK:     }
//   CHECK-NOT:     llvm.inline_asm
//       CHECK:     scf.yield %[[INNER]]#0, %[[INNER]]#1
//       CHECK:   %[[FIRST:.*]] = vector.extract %[[OUTER]]#0[0]
//       CHECK:   %[[WORD:.*]] = arith.bitcast %[[FIRST]] : f32 to i32
//       CHECK:   %[[ZERO:.*]] = llvm.inline_asm "popc.b32 $0, $1; shr.u32 $0, $0, 6;", "=r,r" %[[WORD]]
//       CHECK:   %[[BITS:.*]] = arith.bitcast %[[OUTER]]#0 : vector<4xf32> to vector<4xi32>
//       CHECK:   %[[ALL:.*]] = vector.broadcast %[[ZERO]] : i32 to vector<4xi32>
//       CHECK:   %[[MIXED:.*]] = arith.xori %[[BITS]], %[[ALL]] : vector<4xi32>
//       CHECK:   %[[FREE:.*]] = arith.bitcast %[[MIXED]] : vector<4xi32> to vector<4xf32>
//       CHECK:   arith.xori
//   CHECK-NOT:   arith.xori
//       CHECK:   vector.store %[[FREE]]
gpu.module @kernels {
  gpu.func @sums(%a: vector<4xf32>, %out: memref<8xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %zero = arith.constant dense<0.0> : vector<4xf32>
    %d:2 = scf.for %i = %c0 to %c4 step %c1 iter_args(%x = %zero, %y = %zero) -> (vector<4xf32>, vector<4xf32>) {
      %e:2 = scf.for %j = %c0 to %c4 step %c1 iter_args(%p = %x, %q = %y) -> (vector<4xf32>, vector<4xf32>) {
        %s = vector.fma %a, %a, %p : vector<4xf32>
        %t = vector.fma %a, %s, %q : vector<4xf32>
        scf.yield %s, %t : vector<4xf32>, vector<4xf32>
      }
      scf.yield %e#0, %e#1 : vector<4xf32>, vector<4xf32>
    }
    vector.store %d#0, %out[%c0] : memref<8xf32>, vector<4xf32>
    vector.store %d#1, %out[%c4] : memref<8xf32>, vector<4xf32>
    gpu.return
  }
}
