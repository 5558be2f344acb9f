// What distribute-warps refuses: each error names the place, and what is expected instead.
// RUN: not mlir-gemm opt --split-input-file %s 'distribute-warps{warp=32,32,16}' 2>&1 | FileCheck %s
// RUN: not mlir-gemm opt %s 'distribute-warps{warp=0,16,16}' 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not mlir-gemm opt %s 'distribute-warps{warp=16,16}' 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: not mlir-gemm opt %s 'distribute-warps{unit=lane}' 2>&1 | FileCheck %s --check-prefix=UNIT

// ZERO: error: pass 'distribute-warps': option 'warp=0,16,16' is not a value like 64,32,16
// TWO: error: pass 'distribute-warps': option 'warp=16,16' is not a value like 64,32,16
// UNIT: error: pass 'distribute-warps{warp=64,32,16 unit=lane}': unit must be one of warp, wave, warpgroup

func.func @rows(%a: memref<48x16xf16>, %b: memref<16x32xf16>, %c: vector<48x32xf32>) {
  scf.forall (%block) in (1) {
    // CHECK: distribute-warps-refuses.mlir:[[# @LINE + 1]]:10: error: a warp tile of 32 does not divide the block tile of 48 in M
    %d = "tile.mma"(%a, %b, %c) {a = "mk", b = "kn"} : (memref<48x16xf16>, memref<16x32xf16>, vector<48x32xf32>) -> vector<48x32xf32>
  }
  return
}

// -----

func.func @depth(%a: memref<32x24xf16>, %b: memref<24x32xf16>) {
  scf.forall (%block) in (1) {
    %c = arith.constant dense<0.0> : vector<32x32xf32>
    // CHECK: distribute-warps-refuses.mlir:[[# @LINE + 1]]:10: error: a warp tile of 16 does not divide the block tile of 24 in K
    %d = "tile.mma"(%a, %b, %c) {a = "mk", b = "kn"} : (memref<32x24xf16>, memref<24x32xf16>, vector<32x32xf32>) -> vector<32x32xf32>
  }
  return
}

// -----

func.func @dynamic(%a: memref<32x?xf16>, %b: memref<?x32xf16>, %c: vector<32x32xf32>) {
  scf.forall (%block) in (1) {
    // CHECK: distribute-warps-refuses.mlir:[[# @LINE + 1]]:10: error: 'tile.mma': lhs is memref<32x?xf16>; expected a memref of 2 dimensions of constant sizes
    %d = "tile.mma"(%a, %b, %c) {a = "mk", b = "kn"} : (memref<32x?xf16>, memref<?x32xf16>, vector<32x32xf32>) -> vector<32x32xf32>
  }
  return
}

// -----

func.func @order(%a: memref<32x32xf16>, %c: vector<32x32xf32>) {
  scf.forall (%block) in (1) {
    // CHECK: distribute-warps-refuses.mlir:[[# @LINE + 1]]:10: error: 'tile.mma': b = "other"; expected "kn" or "nk"
    %d = "tile.mma"(%a, %a, %c) {a = "mk", b = "other"} : (memref<32x32xf16>, memref<32x32xf16>, vector<32x32xf32>) -> vector<32x32xf32>
  }
  return
}

// -----

func.func @outside(%a: memref<32x32xf16>, %c: vector<32x32xf32>) {
  scf.forall (%block) in (1) {
    // CHECK: error: 'func.func' gives an accumulator from outside its block loop; expected it inside
    %d = "tile.mma"(%a, %a, %c) {a = "mk", b = "kn"} : (memref<32x32xf16>, memref<32x32xf16>, vector<32x32xf32>) -> vector<32x32xf32>
  }
  return
}

// -----

func.func @transposed(%a: memref<32x32xf16>) {
  scf.forall (%block) in (1) {
    %c = arith.constant dense<0.0> : vector<32x32xf32>
    %d = "tile.mma"(%a, %a, %c) {a = "mk", b = "kn"} : (memref<32x32xf16>, memref<32x32xf16>, vector<32x32xf32>) -> vector<32x32xf32>
    // CHECK: distribute-warps-refuses.mlir:[[# @LINE + 1]]:10: error: 'vector.transpose' on an accumulator cannot be divided among warps
    %e = vector.transpose %d, [1, 0] : vector<32x32xf32> to vector<32x32xf32>
  }
  return
}

// -----

func.func @branch(%a: memref<32x32xf16>, %which: i1) {
  scf.forall (%block) in (1) {
    %c = arith.constant dense<0.0> : vector<32x32xf32>
    %e = scf.if %which -> (vector<32x32xf32>) {
      %d = "tile.mma"(%a, %a, %c) {a = "mk", b = "kn"} : (memref<32x32xf16>, memref<32x32xf16>, vector<32x32xf32>) -> vector<32x32xf32>
      // CHECK: distribute-warps-refuses.mlir:[[# @LINE + 1]]:7: error: 'scf.yield' on an accumulator cannot be divided among warps
      scf.yield %d : vector<32x32xf32>
    } else {
      scf.yield %c : vector<32x32xf32>
    }
  }
  return
}

