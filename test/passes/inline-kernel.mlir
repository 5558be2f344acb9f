// inline-kernel: a program of one kernel on its own arguments becomes that kernel; a second run changes nothing.
// RUN: mlir-gemm opt %s inline-kernel | FileCheck %s
// RUN: mlir-gemm opt %s inline-kernel inline-kernel | FileCheck %s

// An argument that the kernel does not take stays.
//      CHECK: module attributes {tile.note = "because"} {
// CHECK-NEXT:   func.func @main(%[[R:[a-z0-9]*]]: memref<4xf32> {tile.role = "result"}, %[[X:[a-z0-9]*]]: memref<1xf32> {tile.name = "x"}, %[[A:[a-z0-9]*]]: memref<4xf32>) attributes {tile.kind = "elementwise", tile.schedule = {}} {
// CHECK-NEXT:     linalg.generic {{.*}} ins(%[[A]] : {{.*}}) outs(%[[R]] :
//      CHECK:       math.exp
//      CHECK:     return
//  CHECK-NOT:   module
func.func @main(%R: memref<4xf32> {tile.role = "result"}, %x: memref<1xf32> {tile.name = "x"}, %A: memref<4xf32>)
    attributes {tile.schedule = {}} {
  %a = memref.extract_aligned_pointer_as_index %A : memref<4xf32> -> index
  %r = memref.extract_aligned_pointer_as_index %R : memref<4xf32> -> index
  "tile.run"(%a, %r) {kernel = "exp", operandSegmentSizes = array<i32: 2>} : (index, index) -> ()
  return
}
module @exp attributes {tile.note = "because"} {
  func.func @exp(%A: memref<4xf32>, %R: memref<4xf32>) attributes {tile.kind = "elementwise"} {
    linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        ins(%A : memref<4xf32>) outs(%R : memref<4xf32>) {
    ^bb0(%a: f32, %c: f32):
      %p = math.exp %a : f32
      linalg.yield %p : f32
    }
    return
  }
}
