// mma-to-sync: products of warp tiles become ldmatrix and mma.sync, and everything done to the accumulator becomes
// code of each lane.
// RUN: mlir-gemm opt %s mma-to-sync cse | FileCheck %s
// RUN: mlir-gemm opt %s mma-to-sync mma-to-sync cse | FileCheck %s
// RUN: mlir-gemm opt %s 'mma-to-sync{double_buffer=false}' cse | FileCheck --check-prefix=PLAIN %s

gpu.module @kernels {
  // A 32x16 accumulator is 2 x 2 fragments of 16 x 8; one ldmatrix loads a fragment of A or two of B. The fragments of
  // the second step of K are loaded before the products of the first.
// CHECK-LABEL: @product
// CHECK: %[[LANE:.*]] = arith.remui %{{.*}}, %{{.*}} : index
// CHECK: %[[ROW:.*]] = arith.divui %[[LANE]], %{{.*}} : index
// CHECK: %[[L16:.*]] = arith.remui %[[LANE]], %c16 : index
// CHECK: %[[HALF:.*]] = arith.divui %[[LANE]], %c16 : index
// CHECK: %[[K:.*]] = arith.muli %[[HALF]], %c8
// CHECK: %[[Y:.*]] = arith.addi %c16, %[[ROW]]
// CHECK: %[[C0:.*]] = vector.load %[[C:.*]][%[[Y]], %[[X:.*]]] {alignment = 8 : i64} : memref<64x64xf32>, vector<2xf32>
// CHECK-COUNT-7: vector.load %[[C]]
// CHECK: %[[A0:.*]] = nvgpu.ldmatrix %[[A:.*]][%[[L16]], %[[K]]] {numTiles = 4 : i32, transpose = false}
// CHECK: %[[A1:.*]] = nvgpu.ldmatrix %[[A]][%{{.*}}, %[[K]]] {numTiles = 4 : i32, transpose = false}
// CHECK: %[[B0:.*]] = nvgpu.ldmatrix %[[B:.*]][%[[L16]], %[[K]]] {numTiles = 4 : i32, transpose = true}
// CHECK: %[[A2:.*]] = nvgpu.ldmatrix %[[A]]
// CHECK: nvgpu.ldmatrix %[[A]]
// CHECK: nvgpu.ldmatrix %[[B]]
// CHECK: %[[D0:.*]] = nvgpu.mma.sync(%[[A0]], %{{.*}}, %{{.*}}) {mmaShape = [16, 8, 16]}
// CHECK: nvgpu.mma.sync(%[[A0]],
// CHECK: nvgpu.mma.sync(%[[A1]],
// CHECK: nvgpu.mma.sync(%[[A1]],
// CHECK: %[[E0:.*]] = nvgpu.mma.sync(%[[A2]], %{{.*}}, %[[D0]])
// CHECK-COUNT-3: nvgpu.mma.sync
// CHECK: %[[UPPER:.*]] = vector.extract %[[E0]][0] : vector<2xf32> from vector<2x2xf32>
// CHECK: vector.store %[[UPPER]], %[[C]][%[[Y]], %[[X]]] {alignment = 8 : i64}
// CHECK-COUNT-7: vector.store
// CHECK-NOT: vector.store
// PLAIN-LABEL: @product
// PLAIN-COUNT-3: nvgpu.ldmatrix
// PLAIN-COUNT-4: nvgpu.mma.sync
// PLAIN-COUNT-3: nvgpu.ldmatrix
// PLAIN-COUNT-4: nvgpu.mma.sync
  gpu.func @product(%A: memref<32x32xf16, strided<[40, 1]>, 3>, %B: memref<32x16xf16, strided<[24, 1]>, 3>, %C: memref<64x64xf32>) kernel {
    %c16 = arith.constant 16 : index
    %c = "tile.load"(%C, %c16, %c16) {operandSegmentSizes = array<i32: 1, 2>, scope = "warp", in_bounds = array<i1: true, true>} : (memref<64x64xf32>, index, index) -> vector<32x16xf32>
    %d = "tile.mma"(%A, %B, %c) {a = "mk", b = "kn", scope = "warp"} : (memref<32x32xf16, strided<[40, 1]>, 3>, memref<32x16xf16, strided<[24, 1]>, 3>, vector<32x16xf32>) -> vector<32x16xf32>
    "tile.store"(%d, %C, %c16, %c16) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warp", in_bounds = array<i1: true, true>} : (vector<32x16xf32>, memref<64x64xf32>, index, index) -> ()
    gpu.return
  }

  // The other orders: A is transposed, B is not.
// CHECK-LABEL: @orders
// CHECK: nvgpu.ldmatrix %{{.*}}[%[[K:.*]], %[[M:.*]]] {numTiles = 4 : i32, transpose = true}
// CHECK: nvgpu.ldmatrix %{{.*}}[%[[K]], %[[M]]] {numTiles = 4 : i32, transpose = false}
  gpu.func @orders(%A: memref<16x16xf16, 3>, %B: memref<16x16xf16, 3>, %C: memref<16x16xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c = arith.constant dense<0.0> : vector<16x16xf32>
    %d = "tile.mma"(%A, %B, %c) {a = "km", b = "nk", scope = "warp"} : (memref<16x16xf16, 3>, memref<16x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    "tile.store"(%d, %C, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warp", in_bounds = array<i1: true, true>} : (vector<16x16xf32>, memref<16x16xf32>, index, index) -> ()
    gpu.return
  }

  // Operands in global memory are loaded by each lane: neighbours along K together, others one by one.
// CHECK-LABEL: @global
// CHECK-COUNT-4: vector.load %{{.*}} {alignment = 4 : i64} : memref<16x16xf16>, vector<2xf16>
// CHECK-COUNT-4: memref.load %{{.*}} : memref<16x8xf16>
// CHECK: nvgpu.mma.sync
  gpu.func @global(%A: memref<16x16xf16>, %B: memref<16x8xf16>, %C: memref<16x8xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c = arith.constant dense<0.0> : vector<16x8xf32>
    %d = "tile.mma"(%A, %B, %c) {a = "mk", b = "kn", scope = "warp"} : (memref<16x16xf16>, memref<16x8xf16>, vector<16x8xf32>) -> vector<16x8xf32>
    "tile.store"(%d, %C, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warp", in_bounds = array<i1: true, true>} : (vector<16x8xf32>, memref<16x8xf32>, index, index) -> ()
    gpu.return
  }

  // Loops carry fragments, and go on carrying what else they carry. A bias is loaded once for all rows, from where it
  // surely is, and only after the loop; what lies beyond C is not stored. 30 and 20 columns: pairs are whole or absent.
// CHECK-LABEL: @loop
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<2x2xf32>
// CHECK: %[[SUMS:.*]]:5 = scf.for {{.*}} iter_args(%{{.*}} = %[[ZERO]], %{{.*}} = %[[ZERO]], %{{.*}} = %[[ZERO]], %{{.*}} = %[[ZERO]], %{{.*}} = %{{.*}}) -> (vector<2x2xf32>, vector<2x2xf32>, vector<2x2xf32>, vector<2x2xf32>, index)
// CHECK-COUNT-4: nvgpu.mma.sync
// CHECK: scf.yield
// CHECK: } {tile.loop = "k"}
// CHECK: %[[IN:.*]] = arith.cmpi ult, %[[COLUMN:.*]], %c20
// CHECK: %[[LAST:.*]] = arith.minui %[[COLUMN]], %c18
// CHECK: %[[LOADED:.*]] = vector.load %{{.*}}[%[[LAST]]] {alignment = 4 : i64} : memref<20xf16>, vector<2xf16>
// CHECK: %[[BIAS:.*]] = arith.select %[[IN]], %[[LOADED]], %{{.*}} : vector<2xf16>
// CHECK: vector.load
// CHECK-NOT: vector.load
// CHECK: arith.extf %[[BIAS]] : vector<2xf16> to vector<2xf32>
// CHECK: %[[ROW:.*]] = arith.cmpi ult, %{{.*}}, %c30
// CHECK: scf.if %[[ROW]] {
// CHECK: scf.if %{{.*}} {
// CHECK: vector.store %{{.*}} {alignment = 8 : i64} : memref<30x20xf32>, vector<2xf32>
  gpu.func @loop(%A: memref<32x16xf16, 3>, %B: memref<16x16xf16, 3>, %C: memref<30x20xf32>, %bias: memref<20xf16>, %start: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %zero = arith.constant dense<0.0> : vector<32x16xf32>
    %block = gpu.block_id x
    %n = arith.muli %block, %c8 : index
    %b = "tile.load"(%bias, %n) {operandSegmentSizes = array<i32: 1, 1>, scope = "warp", dims = array<i64: 1>} : (memref<20xf16>, index) -> vector<32x16xf16>
    %wide = arith.extf %b : vector<32x16xf16> to vector<32x16xf32>
    %sum, %at = scf.for %i = %c0 to %c8 step %c1 iter_args(%acc = %zero, %p = %start) -> (vector<32x16xf32>, index) {
      %d = "tile.mma"(%A, %B, %acc) {a = "mk", b = "kn", scope = "warp"} : (memref<32x16xf16, 3>, memref<16x16xf16, 3>, vector<32x16xf32>) -> vector<32x16xf32>
      %q = arith.addi %p, %i : index
      scf.yield %d, %q : vector<32x16xf32>, index
    } {tile.loop = "k"}
    %e = arith.addf %sum, %wide : vector<32x16xf32>
    "tile.store"(%e, %C, %at, %n) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warp"} : (vector<32x16xf32>, memref<30x20xf32>, index, index) -> ()
    gpu.return
  }

  // An odd width: elements one by one.
// CHECK-LABEL: @odd
// CHECK: scf.if
// CHECK: scf.if
// CHECK: vector.extract %[[PAIR:.*]][0] : f32 from vector<2xf32>
// CHECK: memref.store %{{.*}} : memref<15x7xf32>
// CHECK: vector.extract %[[PAIR]][1] : f32 from vector<2xf32>
  gpu.func @odd(%A: memref<16x16xf16, 3>, %B: memref<16x8xf16, 3>, %C: memref<15x7xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c = arith.constant dense<0.0> : vector<16x8xf32>
    %d = "tile.mma"(%A, %B, %c) {a = "mk", b = "kn", scope = "warp"} : (memref<16x16xf16, 3>, memref<16x8xf16, 3>, vector<16x8xf32>) -> vector<16x8xf32>
    "tile.store"(%d, %C, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warp"} : (vector<16x8xf32>, memref<15x7xf32>, index, index) -> ()
    gpu.return
  }

  // Kernels without products, and block-wide copies, stay as they are.
// CHECK-LABEL: @copies
// CHECK-NEXT: "tile.copy"
// CHECK-NEXT: gpu.return
  gpu.func @copies(%A: memref<16x16xf16, 3>, %C: memref<16x16xf16>, %c0: index) kernel {
    "tile.copy"(%A, %C, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<16x16xf16, 3>, memref<16x16xf16>, index, index) -> ()
    gpu.return
  }
}
