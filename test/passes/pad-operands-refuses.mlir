// What pad-operands refuses: each error names the place, and what is expected instead.
// RUN: not mlir-gemm opt --split-input-file %s 'pad-operands{a=mk}' 2>&1 | FileCheck %s
// RUN: not mlir-gemm opt --split-input-file %s 'pad-operands{b=mk}' 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: not mlir-gemm opt --split-input-file %s 'pad-operands{kernel=k a=mk}' 2>&1 | FileCheck %s --check-prefix=KERNEL

// ORDER: error: pass 'pad-operands{kernel= a= b=mk block=1,1,1}': b=mk; expected kn or nk

// KERNEL: error: kernel 'k' is not in the module, which is one kernel, 'computed'
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#d = affine_map<(m, n, k) -> (m, n)>

func.func @computed(%A: memref<9x7xf32>, %B: memref<7x5xf32>, %D: memref<9x5xf32>) {
  // CHECK: pad-operands-refuses.mlir:[[# @LINE + 1]]:3: error: operand A of the product is computed from what is in memory; expected an operand that is read as it is
  linalg.generic {indexing_maps = [#a, #b, #d], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : memref<9x7xf32>, memref<7x5xf32>) outs(%D : memref<9x5xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %x = math.exp %a : f32
    %p = arith.mulf %x, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#d = affine_map<(m, n, k) -> (m, n)>

func.func @of_its_own(%B: memref<7x5xf32>, %D: memref<9x5xf32>) {
  %A = memref.alloc() : memref<9x7xf32>
  // CHECK: pad-operands-refuses.mlir:[[# @LINE + 1]]:3: error: operand A of the product is not an argument of the kernel; expected memory that is passed in
  linalg.generic {indexing_maps = [#a, #b, #d], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : memref<9x7xf32>, memref<7x5xf32>) outs(%D : memref<9x5xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#d = affine_map<(m, n, k) -> (m, n)>

func.func @dynamic(%A: memref<?x7xf32>, %B: memref<7x5xf32>, %D: memref<?x5xf32>) {
  // CHECK: pad-operands-refuses.mlir:[[# @LINE + 1]]:3: error: operand A of the product has the type memref<?x7xf32>; expected constant sizes
  linalg.generic {indexing_maps = [#a, #b, #d], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : memref<?x7xf32>, memref<7x5xf32>) outs(%D : memref<?x5xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#d = affine_map<(m, n, k) -> (m, n)>

func.func @written(%A: memref<7x7xf32>, %B: memref<7x7xf32>) {
  // CHECK: pad-operands-refuses.mlir:[[# @LINE + 1]]:3: error: operand A of the product is also written by the kernel; expected memory that is only read
  linalg.generic {indexing_maps = [#a, #b, #d], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : memref<7x7xf32>, memref<7x7xf32>) outs(%A : memref<7x7xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#d = affine_map<(m, n, k) -> (m, n)>

func.func @vector(%A: memref<7xf32>, %B: memref<7x5xf32>, %D: memref<5xf32>) {
  // CHECK: pad-operands-refuses.mlir:[[# @LINE + 1]]:3: error: operand A of the product does not have one m and one k; expected both dimensions
  linalg.generic {indexing_maps = [affine_map<(n, k) -> (k)>, affine_map<(n, k) -> (k, n)>, affine_map<(n, k) -> (n)>], iterator_types = ["parallel", "reduction"]}
      ins(%A, %B : memref<7xf32>, memref<7x5xf32>) outs(%D : memref<5xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// CHECK: pad-operands-refuses.mlir:[[# @LINE + 1]]:1: error: the function holds no product
func.func @nothing(%A: memref<7xf32>) {
  return
}

// -----

// CHECK: error: kernel '' is not in the program; its products are none
// KERNEL: error: kernel 'k' is not in the program; its products are none
func.func @program() {
  return
}
module @p {
  func.func @p(%A: memref<7xf32>) attributes {tile.kind = "elementwise"} {
    return
  }
}
