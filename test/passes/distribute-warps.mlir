// distribute-warps: block tiles of the accumulator are divided among warps.
// RUN: sed -e '/^func.func @roles(/,/^}/s/.*//' -e '/^func.func @turns(/,/^}/s/.*//' %s | mlir-gemm opt - 'distribute-warps{warp=32,16,16}' cse | FileCheck %s
// RUN: sed -e '/^func.func @roles(/,/^}/s/.*//' -e '/^func.func @turns(/,/^}/s/.*//' %s | mlir-gemm opt - 'distribute-warps{warp=64,64,32}' cse 'distribute-warps{warp=32,16,16}' | FileCheck %s --check-prefix=WHOLE
// RUN: sed '/^func.func @roles(/,/^}/!s/.*//' %s | mlir-gemm opt - 'distribute-warps{warp=64,64,64 unit=warpgroup}' cse | FileCheck %s --check-prefix=GROUP
// RUN: sed '/^func.func @roles(/,/^}/!s/.*//' %s | mlir-gemm opt - 'distribute-warps{warp=64,64,64 unit=warpgroup}' 'distribute-warps{warp=64,32,64 unit=warpgroup}' cse | FileCheck %s --check-prefix=GROUP

// The block tile of 64x64 splits into 2x4 warp tiles; the copies stay block-wide, the product's K of 32 takes two steps.
// CHECK-LABEL: @product
// CHECK: %[[WARP:.*]] = "tile.unit_id"()
// CHECK: %[[ACROSS:.*]] = arith.constant 4 : index
// CHECK: %[[DOWN:.*]] = arith.divui %[[WARP]], %[[ACROSS]]
// CHECK: %[[ALONG:.*]] = arith.remui %[[WARP]], %[[ACROSS]]
// CHECK: %[[C32:.*]] = arith.constant 32 : index
// CHECK: %[[ROW:.*]] = arith.muli %[[DOWN]], %[[C32]]
// CHECK: %[[C16:.*]] = arith.constant 16 : index
// CHECK: %[[COLUMN:.*]] = arith.muli %[[ALONG]], %[[C16]]
// CHECK: %[[A:.*]] = memref.alloc() : memref<64x32xf16, 3>
// CHECK: %[[B:.*]] = memref.alloc() : memref<32x64xf16, 3>
// CHECK: %[[HALF:.*]] = arith.constant dense<5.000000e-01> : vector<32x16xf32>
// CHECK: %[[M:.*]] = arith.addi %{{.*}}, %[[ROW]]
// CHECK: %[[N:.*]] = arith.addi %{{.*}}, %[[COLUMN]]
// CHECK: %[[C:.*]] = "tile.load"(%{{.*}}, %[[M]], %[[N]]) {{.*}}scope = "warp"{{.*}} -> vector<32x16xf32>
// CHECK: "tile.copy"(%[[A]],
// CHECK-NOT: scope
// CHECK: "tile.copy"(%[[B]],
// CHECK: %[[AB:.*]] = scf.for %[[K:.*]] = %{{.*}} to %[[C32]] step %[[C16]] iter_args(%[[ACC:.*]] = %[[C]]) -> (vector<32x16xf32>)
// CHECK: %[[SUB_A:.*]] = memref.subview %[[A]][%[[ROW]], %[[K]]] [32, 16]
// CHECK: %[[SUB_B:.*]] = memref.subview %[[B]][%[[K]], %[[COLUMN]]] [16, 16]
// CHECK: "tile.mma"(%[[SUB_A]], %[[SUB_B]], %[[ACC]]) {a = "mk", b = "kn", scope = "warp"} {{.*}} -> vector<32x16xf32>
// CHECK: } {tile.loop = "warp_k"}
// CHECK: %[[SCALED:.*]] = arith.mulf %[[AB]], %[[HALF]] : vector<32x16xf32>
// CHECK: %[[D:.*]] = arith.truncf %[[SCALED]] : vector<32x16xf32> to vector<32x16xf16>
// CHECK: "tile.store"(%[[D]], %{{.*}}, %[[M]], %[[N]]) {{.*}}scope = "warp"

// One warp that takes the whole K at once needs no loop; what is distributed stays as it is.
// WHOLE-LABEL: @product
// WHOLE: "tile.unit_id"()
// WHOLE-NOT: "tile.unit_id"()
// WHOLE-NOT: scf.for
// WHOLE: "tile.mma"({{.*}} -> vector<64x64xf32>
// WHOLE: arith.truncf %{{.*}} : vector<64x64xf32> to vector<64x64xf16>
func.func @product(%A: memref<128x32xf16>, %B: memref<32x128xf16>, %C: memref<128x128xf32>, %D: memref<128x128xf16>) {
  scf.forall (%block) in (4) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %m = arith.muli %block, %c64 : index
    %a = memref.alloc() : memref<64x32xf16, 3>
    %b = memref.alloc() : memref<32x64xf16, 3>
    %half = arith.constant dense<5.000000e-01> : vector<64x64xf32>
    %c = "tile.load"(%C, %m, %c0) {operandSegmentSizes = array<i32: 1, 2>} : (memref<128x128xf32>, index, index) -> vector<64x64xf32>
    "tile.copy"(%a, %A, %m, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<64x32xf16, 3>, memref<128x32xf16>, index, index) -> ()
    "tile.copy"(%b, %B, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<32x64xf16, 3>, memref<32x128xf16>, index, index) -> ()
    %ab = "tile.mma"(%a, %b, %c) {a = "mk", b = "kn"} : (memref<64x32xf16, 3>, memref<32x64xf16, 3>, vector<64x64xf32>) -> vector<64x64xf32>
    %scaled = arith.mulf %ab, %half : vector<64x64xf32>
    %d = arith.truncf %scaled : vector<64x64xf32> to vector<64x64xf16>
    "tile.store"(%d, %D, %m, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<64x64xf16>, memref<128x128xf16>, index, index) -> ()
  } {mapping = [#gpu.block<x>]}
  return
}

// A tile that has the accumulator's shape but is only copied stays block-wide, and so does a loop over k; a constant that
// fills the result is divided like the result.
// CHECK-LABEL: @loop
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<32x16xf32>
// CHECK: "tile.store"(%[[ZERO]], %{{.*}}scope = "warp"
// CHECK: %[[SUM:.*]] = scf.for {{.*}} iter_args(%[[ACC:.*]] = %[[ZERO]]) -> (vector<32x16xf32>)
// CHECK: %[[NEXT:.*]] = "tile.load"
// CHECK-SAME: -> vector<64x64xf16>
// CHECK: %[[STEP:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[ACC]]) -> (vector<32x16xf32>)
// CHECK: "tile.store"(%[[NEXT]],
// CHECK-SAME: (vector<64x64xf16>, memref<64x64xf16, 3>, index, index)
// CHECK: scf.yield %[[STEP]] : vector<32x16xf32>
// CHECK: "tile.store"(%[[SUM]], %{{.*}}scope = "warp"
func.func @loop(%A: memref<64x64xf16>, %C: memref<64x64xf32>) {
  %zero = arith.constant dense<0.000000e+00> : vector<64x64xf32>
  scf.forall (%block) in (1) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %a = memref.alloc() : memref<64x64xf16, 3>
    "tile.store"(%zero, %C, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<64x64xf32>, memref<64x64xf32>, index, index) -> ()
    %sum = scf.for %k = %c0 to %c4 step %c1 iter_args(%acc = %zero) -> (vector<64x64xf32>) {
      %next = "tile.load"(%A, %c0, %c0) {operandSegmentSizes = array<i32: 1, 2>} : (memref<64x64xf16>, index, index) -> vector<64x64xf16>
      %d = "tile.mma"(%a, %a, %acc) {a = "mk", b = "kn"} : (memref<64x64xf16, 3>, memref<64x64xf16, 3>, vector<64x64xf32>) -> vector<64x64xf32>
      "tile.store"(%next, %a, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<64x64xf16>, memref<64x64xf16, 3>, index, index) -> ()
      scf.yield %d : vector<64x64xf32>
    }
    "tile.store"(%sum, %C, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<64x64xf32>, memref<64x64xf32>, index, index) -> ()
  } {mapping = [#gpu.block<x>]}
  return
}

// Operands stored [K, M] and [N, K]; a bias along each side moves with its own side only; unsigned stays.
// CHECK-LABEL: @orders
// CHECK: %[[ROW:.*]] = arith.muli %{{.*}}, %{{.*}}
// CHECK: %[[COLUMN:.*]] = arith.muli %{{.*}}, %{{.*}}
// CHECK: %[[A:.*]] = memref.subview %arg0[%[[STEP:.*]], %[[ROW]]] [16, 32] [1, 1]
// CHECK: %[[B:.*]] = memref.subview %arg1[%[[COLUMN]], %[[STEP]]] [16, 16] [1, 1]
// CHECK: "tile.mma"(%[[A]], %[[B]], %{{.*}}) {a = "km", b = "nk", scope = "warp", unsigned = "b"}
// CHECK: %[[DOWN:.*]] = arith.addi %{{.*}}, %[[ROW]]
// CHECK: "tile.load"(%arg2, %[[DOWN]]) {dims = array<i64: 0>, {{.*}}scope = "warp"} {{.*}} -> vector<32x16xi32>
// CHECK: %[[ALONG:.*]] = arith.addi %{{.*}}, %[[COLUMN]]
// CHECK: "tile.load"(%arg3, %[[ALONG]]) {{{.*}}scope = "warp"} {{.*}} -> vector<32x16xi32>
func.func @orders(%a: memref<32x64xi8, 3>, %b: memref<64x32xi8, 3>, %rows: memref<64xi32>, %columns: memref<64xi32>,
                  %d: memref<64x64xi32>) {
  scf.forall (%block) in (1) {
    %zero = arith.constant dense<0> : vector<64x64xi32>
    %c0 = arith.constant 0 : index
    %p = "tile.mma"(%a, %b, %zero) {a = "km", b = "nk", unsigned = "b"} : (memref<32x64xi8, 3>, memref<64x32xi8, 3>, vector<64x64xi32>) -> vector<64x64xi32>
    %r = "tile.load"(%rows, %c0) {dims = array<i64: 0>, operandSegmentSizes = array<i32: 1, 1>} : (memref<64xi32>, index) -> vector<64x64xi32>
    %s = "tile.load"(%columns, %c0) {operandSegmentSizes = array<i32: 1, 1>} : (memref<64xi32>, index) -> vector<64x64xi32>
    %x = arith.addi %p, %r : vector<64x64xi32>
    %y = arith.addi %x, %s : vector<64x64xi32>
    "tile.store"(%y, %d, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<64x64xi32>, memref<64x64xi32>, index, index) -> ()
  } {mapping = [#gpu.block<x>]}
  return
}

// Roles: two warpgroups compute and release a stage, one more fills it, whole: twelve warps. Waits are for a part, too.
// GROUP-LABEL: func.func @roles(
//       GROUP:   scf.forall
//       GROUP:     %[[UNIT:.*]] = "tile.unit_id"() {unit = "warpgroup"}
//       GROUP:     %[[DOWN:.*]] = arith.divui %[[UNIT]], %c1
//       GROUP:     %[[ROW:.*]] = arith.muli %[[DOWN]], %c64
//       GROUP:     "tile.ring"(%{{.*}}) {consumers = 8 : i64}
//       GROUP:     "tile.tma_load"(%[[A:[a-z0-9_]*]], %{{.*}} : (memref<128x64xf16, 3>, memref<128x64xf16>,
//       GROUP:   }, {
//       GROUP:     %[[PART:.*]] = memref.subview %[[A]][%[[ROW]], %{{.*}}] [64, 64] [1, 1]
//       GROUP:     "tile.mma"(%[[PART]], %{{.*}}) {a = "mk", async, b = "nk", scope = "warpgroup"} : {{.*}} -> vector<64x64xf32>
//       GROUP:     "tile.mma_wait"(%{{.*}}) {pending = 0 : i64} : (vector<64x64xf32>) -> vector<64x64xf32>
//       GROUP:     %[[AT:.*]] = arith.addi %{{.*}}, %[[ROW]]
//       GROUP:     "tile.store"(%{{.*}}, %{{.*}}, %[[AT]], %{{.*}}) {{{.*}}scope = "warpgroup"} : (vector<64x64xf32>,
//       GROUP:   {mapping = [#gpu.block<x>], tile.warps = 12 : i64}
func.func @roles(%X: memref<128x64xf16>, %Y: memref<64x64xf16>, %D: memref<128x64xf32>) {
  scf.forall (%block) in (1) {
    %z = arith.constant 0 : index
    %A = memref.alloc() {tile.layout = "swizzle128"} : memref<128x64xf16, 3>
    %B = memref.alloc() {tile.layout = "swizzle128"} : memref<64x64xf16, 3>
    %bars = memref.alloc() {tile.layout = "barriers"} : memref<2x1xi64, 3>
    "tile.ring"(%bars) {consumers = 1 : i64} : (memref<2x1xi64, 3>) -> ()
    "tile.warp_specialize"() ({
      "tile.tma_load"(%A, %X, %bars, %z, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (memref<128x64xf16, 3>, memref<128x64xf16>, memref<2x1xi64, 3>, index, index, index) -> ()
      "tile.tma_load"(%B, %Y, %bars, %z, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (memref<64x64xf16, 3>, memref<64x64xf16>, memref<2x1xi64, 3>, index, index, index) -> ()
    }, {
      %c = arith.constant dense<0.0> : vector<128x64xf32>
      %d = "tile.mma"(%A, %B, %c) {a = "mk", async, b = "nk"} : (memref<128x64xf16, 3>, memref<64x64xf16, 3>, vector<128x64xf32>) -> vector<128x64xf32>
      %e = "tile.mma_wait"(%d) {pending = 0 : i64} : (vector<128x64xf32>) -> vector<128x64xf32>
      "tile.store"(%e, %D, %block, %z) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<128x64xf32>, memref<128x64xf32>, index, index) -> ()
    }) : () -> ()
  } {mapping = [#gpu.block<x>]}
  return
}

// Two consumers ping-pong: each has the rows of all its units, and there are as many units again. Whose turn it is follows
// from the unit's number.
// RUN: sed '/^func.func @turns(/,/^}/!s/.*//' %s | mlir-gemm opt - 'distribute-warps{warp=64,64,64 unit=warpgroup}' cse | FileCheck %s --check-prefix=TURNS
// TURNS-LABEL: func.func @turns(
//       TURNS:   %[[UNIT:.*]] = "tile.unit_id"() {unit = "warpgroup"}
//       TURNS:   %[[OWN:.*]] = arith.remui %[[UNIT]], %c2
//       TURNS:   arith.divui %[[OWN]], %c1
//       TURNS:   "tile.ring"(%{{.*}}) {consumers = 8 : i64}
//       TURNS:   }, {
//       TURNS:   %[[TURN:.*]] = arith.divui %{{.*}}, %c2
//   TURNS-NOT:   "tile.consumer_id"
//       TURNS:   memref.store %[[TURN]],
//       TURNS:   tile.ping_pong = 2 : i64, tile.warps = 20 : i64}
func.func @turns(%M: memref<2xindex>) {
  scf.forall (%block) in (1) {
    %z = arith.constant 0 : index
    %A = memref.alloc() {tile.layout = "swizzle128"} : memref<128x64xf16, 3>
    %B = memref.alloc() {tile.layout = "swizzle128"} : memref<64x64xf16, 3>
    %bars = memref.alloc() {tile.layout = "barriers"} : memref<2x1xi64, 3>
    "tile.ring"(%bars) {consumers = 1 : i64} : (memref<2x1xi64, 3>) -> ()
    "tile.warp_specialize"() ({
    ^bb0:
    }, {
      %turn = "tile.consumer_id"() : () -> index
      memref.store %turn, %M[%z] : memref<2xindex>
      %c = arith.constant dense<0.0> : vector<128x64xf32>
      %d = "tile.mma"(%A, %B, %c) {a = "mk", async, b = "nk"} : (memref<128x64xf16, 3>, memref<64x64xf16, 3>, vector<128x64xf32>) -> vector<128x64xf32>
    }) : () -> ()
  } {mapping = [#gpu.block<x>], tile.ping_pong = 2 : i64}
  return
}
