// narrow-accumulator leaves other operands, wider results and sums that start elsewhere alone; it has no options.
// RUN: mlir-gemm opt %s narrow-accumulator | FileCheck %s
// RUN: not mlir-gemm opt %s 'narrow-accumulator{bits=16}' 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: error: pass 'narrow-accumulator' has no option 'bits' (options: none)

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>

// CHECK-LABEL: func.func @other_operands(
//       CHECK:   memref.alloc() : memref<32x48xf32>
//       CHECK:   arith.addf %{{.*}} : f32
func.func @other_operands(%a: memref<32x64xbf16>, %b: memref<64x48xbf16>, %d: memref<32x48xf16>) {
  %sum = memref.alloc() : memref<32x48xf32>
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%sum : memref<32x48xf32>)
  linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<32x64xbf16>, memref<64x48xbf16>) outs(%sum : memref<32x48xf32>) {
  ^bb0(%x: bf16, %y: bf16, %z: f32):
    %1 = arith.extf %x : bf16 to f32
    %2 = arith.extf %y : bf16 to f32
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.addf %z, %3 : f32
    linalg.yield %4 : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%sum : memref<32x48xf32>) outs(%d : memref<32x48xf16>) {
  ^bb0(%x: f32, %y: f16):
    %1 = arith.truncf %x : f32 to f16
    linalg.yield %1 : f16
  }
  return
}

// One of two results is f32.
// CHECK-LABEL: func.func @wide_result(
//       CHECK:   memref.alloc() : memref<32x48xf32>
//       CHECK:   arith.addf %{{.*}} : f32
func.func @wide_result(%a: memref<32x64xf16>, %b: memref<64x48xf16>, %d: memref<32x48xf16>, %e: memref<32x48xf32>) {
  %sum = memref.alloc() : memref<32x48xf32>
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%sum : memref<32x48xf32>)
  linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<32x64xf16>, memref<64x48xf16>) outs(%sum : memref<32x48xf32>) {
  ^bb0(%x: f16, %y: f16, %z: f32):
    %1 = arith.extf %x : f16 to f32
    %2 = arith.extf %y : f16 to f32
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.addf %z, %3 : f32
    linalg.yield %4 : f32
  }
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%sum : memref<32x48xf32>) outs(%d, %e : memref<32x48xf16>, memref<32x48xf32>) {
  ^bb0(%x: f32, %y: f16, %z: f32):
    %1 = arith.truncf %x : f32 to f16
    linalg.yield %1, %x : f16, f32
  }
  return
}

// CHECK-LABEL: func.func @starts_from_one(
//       CHECK:   memref.alloc() : memref<32x48xf32>
//       CHECK:   arith.addf %{{.*}} : f32
func.func @starts_from_one(%a: memref<32x64xf16>, %b: memref<64x48xf16>, %d: memref<32x48xf16>) {
  %sum = memref.alloc() : memref<32x48xf32>
  %one = arith.constant 1.0 : f32
  linalg.fill ins(%one : f32) outs(%sum : memref<32x48xf32>)
  linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<32x64xf16>, memref<64x48xf16>) outs(%sum : memref<32x48xf32>) {
  ^bb0(%x: f16, %y: f16, %z: f32):
    %1 = arith.extf %x : f16 to f32
    %2 = arith.extf %y : f16 to f32
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.addf %z, %3 : f32
    linalg.yield %4 : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%sum : memref<32x48xf32>) outs(%d : memref<32x48xf16>) {
  ^bb0(%x: f32, %y: f16):
    %1 = arith.truncf %x : f32 to f16
    linalg.yield %1 : f16
  }
  return
}

// CHECK-LABEL: func.func @in_place(
//       CHECK:   linalg.matmul ins({{.*}}) outs({{.*}} : memref<32x48xf32>)
func.func @in_place(%a: memref<32x64xf16>, %b: memref<64x48xf16>, %d: memref<32x48xf32>) {
  linalg.matmul ins(%a, %b : memref<32x64xf16>, memref<64x48xf16>) outs(%d : memref<32x48xf32>)
  return
}
