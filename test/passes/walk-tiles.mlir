// walk-tiles: each thread block computes several tiles of the result, one after another.
// RUN: mlir-gemm opt %s 'walk-tiles{tiles=4}' cse | FileCheck %s
// RUN: mlir-gemm opt %s 'walk-tiles{tiles=4}' 'walk-tiles{tiles=4}' cse | FileCheck %s
// RUN: mlir-gemm opt %s 'walk-tiles{tiles=4 sequential=false}' cse | FileCheck %s --check-prefix=APART
// RUN: mlir-gemm opt %s 'walk-tiles{tiles=1}' cse | FileCheck %s --check-prefix=SINGLE

func.func private @tile(index, memref<16xf16, 3>)

// Ten tiles: the last block has two. Buffers stay outside the loop over tiles.
// CHECK-LABEL: @ten
// CHECK: scf.forall (%[[BLOCK:.*]]) in (3) {
// CHECK: %[[FIRST:.*]] = arith.muli %[[BLOCK]], %{{.*}}
// CHECK: %[[NEXT:.*]] = arith.addi %[[FIRST]], %{{.*}}
// CHECK: %[[LAST:.*]] = arith.minui %[[NEXT]], %c10
// CHECK: %[[BUFFER:.*]] = memref.alloc
// CHECK: scf.for %[[TILE:.*]] = %[[FIRST]] to %[[LAST]] step %c1 {
// CHECK: func.call @tile(%[[TILE]], %[[BUFFER]])
// CHECK: gpu.barrier
// CHECK: {tile.tiles}
// CHECK: {mapping = [#gpu.block<x>]}
// APART-LABEL: @ten
// APART: scf.forall (%[[BLOCK:.*]]) in (3) {
// APART: scf.for %{{.*}} = %[[BLOCK]] to %c10 step %c3 {
// SINGLE-LABEL: @ten
// SINGLE: scf.forall (%{{.*}}) in (10) {
// SINGLE-NOT: scf.for %
// SINGLE: return
func.func @ten() {
  scf.forall (%block) in (10) {
    %buffer = memref.alloc() : memref<16xf16, 3>
    func.call @tile(%block, %buffer) : (index, memref<16xf16, 3>) -> ()
  } {mapping = [#gpu.block<x>]}
  return
}

// A number of tiles that is known at run time only.
// CHECK-LABEL: @dynamic
// CHECK-SAME: %[[TILES:.*]]: index
// CHECK: %[[MORE:.*]] = arith.addi %[[TILES]], %c3
// CHECK: %[[BLOCKS:.*]] = arith.divui %[[MORE]], %c4
// CHECK: scf.forall (%{{.*}}) in (%[[BLOCKS]]) {
// CHECK: arith.minui %{{.*}}, %[[TILES]]
// APART-LABEL: @dynamic
// APART: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} {
// SINGLE-LABEL: @dynamic
func.func @dynamic(%tiles: index) {
  scf.forall (%block) in (%tiles) {
    %buffer = memref.alloc() : memref<16xf16, 3>
    func.call @tile(%block, %buffer) : (index, memref<16xf16, 3>) -> ()
  } {mapping = [#gpu.block<x>]}
  return
}
