// throttle-epilogue: arithmetic on accumulators works on few numbers at a time, so that it takes no issue slots from
// products.
// RUN: mlir-gemm opt %s 'throttle-epilogue{chains=2 consumers=2}' --split-input-file | FileCheck %s
// RUN: mlir-gemm opt %s 'throttle-epilogue{chains=2 consumers=1}' --split-input-file | FileCheck %s --check-prefix=ALONE

// The second piece waits for what the first one gives, by a mask of no bits. After a block's last tile, which another
// one would follow 132 further on, all is as it was.
// CHECK-LABEL: gpu.func @turns(
// CHECK: scf.for %[[TILE:.*]] = %{{.*}} to %[[TILES:.*]] step %[[STEP:.*]] {
// CHECK: nvvm.wgmma.wait.group.sync.aligned 0
// CHECK: %[[AHEAD:.*]] = arith.divui %[[STEP]], %{{.*}} : index
// CHECK: %[[NEXT:.*]] = arith.addi %[[TILE]], %[[AHEAD]] : index
// CHECK: %[[MORE:.*]] = arith.cmpi ult, %[[NEXT]], %[[TILES]] : index
// CHECK: scf.if %[[MORE]] {
// CHECK: %[[FIRST:.*]] = vector.from_elements
// CHECK: %[[SECOND:.*]] = vector.from_elements
// CHECK: %[[NONE:.*]] = llvm.inline_asm "popc.b32 $0, $1; shr.u32 $0, $0, 6;"
// CHECK: %[[MASK:.*]] = vector.broadcast %[[NONE]] : i32 to vector<2xi32>
// CHECK: %[[DOUBLE:.*]] = arith.mulf %[[FIRST]], %[[FIRST]]
// CHECK: %[[MORE1:.*]] = arith.addf %[[DOUBLE]], %[[FIRST]]
// CHECK: %[[DONE:.*]] = arith.mulf %[[MORE1]], %[[DOUBLE]]
// CHECK: %[[BITS:.*]] = arith.bitcast %[[SECOND]] : vector<2xf32> to vector<2xi32>
// CHECK: %[[OTHERS:.*]] = arith.bitcast %[[DONE]] : vector<2xf32> to vector<2xi32>
// CHECK: %[[NOTHING:.*]] = arith.andi %[[OTHERS]], %[[MASK]]
// CHECK: %[[SAME:.*]] = arith.xori %[[BITS]], %[[NOTHING]]
// CHECK: %[[TIED:.*]] = arith.bitcast %[[SAME]] : vector<2xi32> to vector<2xf32>
// CHECK: arith.mulf %[[TIED]], %[[TIED]]
// CHECK-COUNT-2: arith.truncf
// CHECK-COUNT-2: vector.store
// CHECK: } else {
// CHECK-NOT: arith.xori
// CHECK-COUNT-2: vector.store
// CHECK: }

// Without turns there is no other tile to make room for: what is asked for is done in place.
// ALONE-LABEL: gpu.func @turns(
// ALONE-NOT: scf.if
// ALONE: arith.xori
gpu.module @kernels {
  gpu.func @turns(%sums: !llvm.struct<(f32, f32, f32, f32)>, %out: memref<8xf16>) kernel {
    %zero = arith.constant 0 : index
    %two = arith.constant 2 : index
    %tiles = arith.constant 1024 : index
    %step = arith.constant 264 : index
    scf.for %tile = %zero to %tiles step %step {
      nvvm.wgmma.wait.group.sync.aligned 0
      %a = llvm.extractvalue %sums[0] : !llvm.struct<(f32, f32, f32, f32)>
      %b = llvm.extractvalue %sums[1] : !llvm.struct<(f32, f32, f32, f32)>
      %first = vector.from_elements %a, %b : vector<2xf32>
      %c = llvm.extractvalue %sums[2] : !llvm.struct<(f32, f32, f32, f32)>
      %d = llvm.extractvalue %sums[3] : !llvm.struct<(f32, f32, f32, f32)>
      %second = vector.from_elements %c, %d : vector<2xf32>
      %first1 = arith.mulf %first, %first : vector<2xf32>
      %second1 = arith.mulf %second, %second : vector<2xf32>
      %first2 = arith.addf %first1, %first : vector<2xf32>
      %first3 = arith.mulf %first2, %first1 : vector<2xf32>
      %second2 = arith.addf %second1, %second : vector<2xf32>
      %second3 = arith.mulf %second2, %second1 : vector<2xf32>
      %first4 = arith.truncf %first3 : vector<2xf32> to vector<2xf16>
      %second4 = arith.truncf %second3 : vector<2xf32> to vector<2xf16>
      vector.store %first4, %out[%zero] : memref<8xf16>, vector<2xf16>
      vector.store %second4, %out[%two] : memref<8xf16>, vector<2xf16>
    }
    gpu.return
  }
}

// -----

// One addition, such as that of a bias, is not worth it.
// CHECK-LABEL: gpu.func @little(
// CHECK-NOT: scf.if
// CHECK-NOT: arith.xori
gpu.module @kernels {
  gpu.func @little(%sums: !llvm.struct<(f32, f32, f32, f32)>, %bias: vector<2xf32>, %out: memref<8xf32>) kernel {
    %zero = arith.constant 0 : index
    %two = arith.constant 2 : index
    %tiles = arith.constant 1024 : index
    %step = arith.constant 264 : index
    scf.for %tile = %zero to %tiles step %step {
      nvvm.wgmma.wait.group.sync.aligned 0
      %a = llvm.extractvalue %sums[0] : !llvm.struct<(f32, f32, f32, f32)>
      %b = llvm.extractvalue %sums[1] : !llvm.struct<(f32, f32, f32, f32)>
      %first = vector.from_elements %a, %b : vector<2xf32>
      %c = llvm.extractvalue %sums[2] : !llvm.struct<(f32, f32, f32, f32)>
      %d = llvm.extractvalue %sums[3] : !llvm.struct<(f32, f32, f32, f32)>
      %second = vector.from_elements %c, %d : vector<2xf32>
      %first1 = arith.addf %first, %bias : vector<2xf32>
      %second1 = arith.addf %second, %bias : vector<2xf32>
      vector.store %first1, %out[%zero] : memref<8xf32>, vector<2xf32>
      vector.store %second1, %out[%two] : memref<8xf32>, vector<2xf32>
    }
    gpu.return
  }
}
