// load-fragments-ahead: the head of a k step moves to the end of the one before; a second run changes nothing.
// RUN: mlir-gemm opt %s load-fragments-ahead | FileCheck %s
// RUN: mlir-gemm opt %s load-fragments-ahead load-fragments-ahead | FileCheck %s

gpu.module @kernels {
  // Of two loads in a step the first is carried, and the index of its stage computed again. The store and the barrier
  // at the end of a step come before the head of the next, and that before the last product. The last step has no head.
  // CHECK-LABEL: gpu.func @steps(
  //       CHECK:   gpu.barrier
  //  CHECK-NEXT:   %[[FIRST:.*]] = vector.load %arg0[%{{.*}}, %{{.*}}]
  //       CHECK:   %[[LOOP:.*]]:3 = scf.for %[[K:.*]] = %{{.*}} to %[[END:.*]] step %{{.*}} iter_args(%[[SUM:.*]] = %{{.*}}, %[[SLOT:.*]] = %{{.*}}, %[[FRAGMENT:.*]] = %[[FIRST]])
  //       CHECK:     %[[NEXT:.*]] = vector.fma %[[FRAGMENT]], %[[FRAGMENT]], %[[SUM]]
  //  CHECK-NEXT:     %[[SECOND:.*]] = vector.load %arg0[%[[SLOT]], %{{.*}}]
  //       CHECK:     %[[FOLLOWING:.*]] = arith.subi %{{.*}}, %[[SLOT]]
  //  CHECK-NEXT:     vector.store
  //  CHECK-NEXT:     gpu.barrier
  //       CHECK:     arith.addi %[[K]]
  //  CHECK-NEXT:     gpu.barrier
  //  CHECK-NEXT:     %[[AHEAD:.*]] = vector.load %arg0[%[[FOLLOWING]], %{{.*}}]
  //  CHECK-NEXT:     %[[LAST:.*]] = vector.fma %[[SECOND]], %[[SECOND]], %[[NEXT]]
  //  CHECK-NEXT:     scf.yield %[[LAST]], %[[FOLLOWING]], %[[AHEAD]]
  //       CHECK:   vector.fma %[[LOOP]]#2, %[[LOOP]]#2, %[[LOOP]]#0
  //   CHECK-NOT:   scf.for
  //       CHECK:   vector.store
  //  CHECK-NEXT:   gpu.barrier
  //  CHECK-NEXT:   %[[RESULT:.*]] = vector.fma
  //  CHECK-NEXT:   vector.store %[[RESULT]]
  gpu.func @steps(%S: memref<2x64xf32, 3>, %D: memref<64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %zero = arith.constant dense<0.0> : vector<4xf32>
    %end:2 = scf.for %k = %c0 to %c4 step %c1 iter_args(%sum = %zero, %slot = %c0) -> (vector<4xf32>, index) {
      gpu.barrier
      %first = vector.load %S[%slot, %c0] : memref<2x64xf32, 3>, vector<4xf32>
      %next = vector.fma %first, %first, %sum : vector<4xf32>
      %second = vector.load %S[%slot, %c4] : memref<2x64xf32, 3>, vector<4xf32>
      %last = vector.fma %second, %second, %next : vector<4xf32>
      %following = arith.subi %c1, %slot : index
      vector.store %zero, %S[%following, %c0] : memref<2x64xf32, 3>, vector<4xf32>
      gpu.barrier
      scf.yield %last, %following : vector<4xf32>, index
    }
    vector.store %end#0, %D[%c0] : memref<64xf32>, vector<4xf32>
    gpu.return
  }

  // Without a barrier the assembler does it itself.
  // CHECK-LABEL: gpu.func @free(
  //       CHECK:   scf.for
  //  CHECK-NEXT:     vector.load
  //  CHECK-NEXT:     vector.fma
  //  CHECK-NEXT:     scf.yield
  gpu.func @free(%S: memref<2x64xf32, 3>, %D: memref<64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %zero = arith.constant dense<0.0> : vector<4xf32>
    %end = scf.for %k = %c0 to %c4 step %c1 iter_args(%sum = %zero) -> (vector<4xf32>) {
      %first = vector.load %S[%c1, %k] : memref<2x64xf32, 3>, vector<4xf32>
      %next = vector.fma %first, %first, %sum : vector<4xf32>
      scf.yield %next : vector<4xf32>
    }
    vector.store %end, %D[%c0] : memref<64xf32>, vector<4xf32>
    gpu.return
  }

  // A number of steps that is known at run time only: a branch for the case that there are any.
  // CHECK-LABEL: gpu.func @open(
  //  CHECK-SAME: %[[S:.*]]: memref<64xf32, 3>, %[[N:.*]]: index
  //       CHECK:   %[[SOME:.*]] = arith.cmpi ult, %{{.*}}, %[[N]]
  //  CHECK-NEXT:   %[[END:.*]] = scf.if %[[SOME]] -> (vector<4xf32>) {
  //       CHECK:     gpu.barrier
  //       CHECK:     %[[FIRST:.*]] = vector.load
  //       CHECK:     scf.for %{{.*}} = %{{.*}} to %[[LAST:.*]] step %{{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %[[FIRST]])
  //       CHECK:       gpu.barrier
  //       CHECK:     vector.fma
  //       CHECK:     scf.yield
  //       CHECK:   } else {
  //  CHECK-NEXT:     scf.yield %{{.*}} : vector<4xf32>
  //       CHECK:   vector.store %[[END]]
  gpu.func @open(%S: memref<64xf32, 3>, %n: index, %D: memref<64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : vector<4xf32>
    %end = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %zero) -> (vector<4xf32>) {
      gpu.barrier
      %first = vector.load %S[%c0] : memref<64xf32, 3>, vector<4xf32>
      %next = vector.fma %first, %first, %sum : vector<4xf32>
      scf.yield %next : vector<4xf32>
    }
    vector.store %end, %D[%c0] : memref<64xf32>, vector<4xf32>
    gpu.return
  }

  // With a ring a stage is released before the next one is waited for. Where the ring stands is no sum.
  // CHECK-LABEL: gpu.func @ring(
  //       CHECK:   "tile.consumer_wait"(%[[BARS:.*]], %{{.*}}, %{{.*}})
  //  CHECK-NEXT:   %[[FIRST:.*]] = vector.load
  //       CHECK:   scf.for {{.*}} iter_args(%[[SUM:.*]] = %{{.*}}, %[[SLOT:.*]] = %{{.*}}, %[[PHASE:.*]] = %{{.*}}, %[[FRAGMENT:.*]] = %[[FIRST]])
  //       CHECK:     %[[NEXT:.*]] = vector.fma %[[FRAGMENT]], %[[FRAGMENT]], %[[SUM]]
  //       CHECK:     %[[SECOND:.*]] = vector.load
  //  CHECK-NEXT:     "tile.consumer_release"(%[[BARS]], %[[SLOT]])
  //  CHECK-NEXT:     %[[ON:.*]]:2 = "tile.advance"(%[[SLOT]], %[[PHASE]]
  //       CHECK:     "tile.consumer_wait"(%[[BARS]], %[[ON]]#0, %[[ON]]#1)
  //  CHECK-NEXT:     %[[AHEAD:.*]] = vector.load
  //  CHECK-NEXT:     %[[LAST:.*]] = vector.fma %[[SECOND]], %[[SECOND]], %[[NEXT]]
  //  CHECK-NEXT:     scf.yield %[[LAST]], %[[ON]]#0, %[[ON]]#1, %[[AHEAD]]
  gpu.func @ring(%S: memref<2x64xf32, 3>, %bars: memref<2x2xi64, 3>, %D: memref<64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %phase = arith.constant 0 : i32
    %zero = arith.constant dense<0.0> : vector<4xf32>
    %end:3 = scf.for %k = %c0 to %c4 step %c1 iter_args(%sum = %zero, %at = %c0, %p = %phase) -> (vector<4xf32>, index, i32) {
      "tile.consumer_wait"(%bars, %at, %p) : (memref<2x2xi64, 3>, index, i32) -> ()
      %first = vector.load %S[%at, %c0] : memref<2x64xf32, 3>, vector<4xf32>
      %next = vector.fma %first, %first, %sum : vector<4xf32>
      %second = vector.load %S[%at, %c4] : memref<2x64xf32, 3>, vector<4xf32>
      %last = vector.fma %second, %second, %next : vector<4xf32>
      "tile.consumer_release"(%bars, %at) {loaded} : (memref<2x2xi64, 3>, index) -> ()
      %on:2 = "tile.advance"(%at, %p, %c1) {stages = 2 : i64} : (index, i32, index) -> (index, i32)
      scf.yield %last, %on#0, %on#1 : vector<4xf32>, index, i32
    }
    vector.store %end#0, %D[%c0] : memref<64xf32>, vector<4xf32>
    gpu.return
  }
}
