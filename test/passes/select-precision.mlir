// select-precision: 8-bit floats are multiplied as they are where precision=f8 allows it and the chip can.
// RUN: mlir-gemm opt %s select-precision | FileCheck %s --check-prefix=FULL
// RUN: mlir-gemm opt %s 'pin-schedule{fields=precision=f8}' select-precision | FileCheck %s --check-prefix=SHORT
// RUN: mlir-gemm opt %s 'pin-schedule{fields=precision=f8}' select-precision select-precision | FileCheck %s --check-prefix=SHORT
// RUN: mlir-gemm opt %s 'pin-schedule{fields=precision=f8,mma=mma_sync}' select-precision | FileCheck %s --check-prefix=FULL

// FULL-COUNT-2: arith.extf %{{.*}} : f8E4M3FN to f16
// FULL-COUNT-2: arith.extf %{{.*}} : f16 to f32
// SHORT-NOT: to f16
// SHORT-COUNT-2: arith.extf %{{.*}} : f8E4M3FN to f32
// SHORT-NOT: arith.extf
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @f(%A: memref<128x64xf8E4M3FN> {tile.role = "in"}, %B: memref<64x128xf8E4M3FN> {tile.role = "in"}, %D: memref<128x128xf32> {tile.role = "out"}) {
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%D : memref<128x128xf32>)
    linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%A, %B : memref<128x64xf8E4M3FN>, memref<64x128xf8E4M3FN>) outs(%D : memref<128x128xf32>) {
    ^bb0(%a: f8E4M3FN, %b: f8E4M3FN, %d: f32):
      %a16 = arith.extf %a : f8E4M3FN to f16
      %b16 = arith.extf %b : f8E4M3FN to f16
      %0 = arith.extf %a16 : f16 to f32
      %1 = arith.extf %b16 : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %d, %2 : f32
      linalg.yield %3 : f32
    }
    return
  }
}
