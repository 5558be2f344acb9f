// group-rows, where blocks that run at the same time can hold long rows: their steps are one kernel then.
// RUN: mlir-gemm opt %s 'group-rows{grid=132,20000,8192,2000000}' | FileCheck %s
// RUN: mlir-gemm opt %s 'group-rows{grid=132,20000,8192,2000000}' 'group-rows{grid=132,20000,8192,2000000}' | FileCheck %s
// RUN: mlir-gemm opt %s 'group-rows{grid=132,12000,4096,2000000}' | FileCheck %s --check-prefix=LARGE
// RUN: mlir-gemm opt %s 'group-rows{grid=132,20000,8192,3000000}' | FileCheck %s --check-prefix=LARGE

#n = affine_map<(n) -> (n)>
#one = affine_map<(n) -> ()>

// A row of 2.4 MB, which 132 blocks hold that have 20000 bytes and 8192 registers each. With fewer, or where only more
// pays, each step is a kernel.
// CHECK-LABEL: func.func @one_long_row(
//       CHECK:   {{.*}}["reduction"]} {{.*}}tile.kernel = 0 : i64
//       CHECK:   {{.*}}["parallel"]} {{.*}}tile.kernel = 0 : i64
//       CHECK:   {{.*}}["reduction"]} {{.*}}tile.kernel = 0 : i64
// LARGE-LABEL: func.func @one_long_row(
//       LARGE:   {{.*}}["reduction"]} {{.*}}tile.kernel = 0 : i64
//       LARGE:   {{.*}}["parallel"]} {{.*}}tile.kernel = 1 : i64
//       LARGE:   {{.*}}["reduction"]} {{.*}}tile.kernel = 2 : i64
func.func @one_long_row(%A: tensor<600000xf32>) -> tensor<f32> {
  %least = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %row = tensor.empty() : tensor<f32>
  %all = tensor.empty() : tensor<600000xf32>
  %r0 = linalg.fill ins(%least : f32) outs(%row : tensor<f32>) -> tensor<f32>
  %most = linalg.generic {indexing_maps = [#n, #one], iterator_types = ["reduction"]}
      ins(%A : tensor<600000xf32>) outs(%r0 : tensor<f32>) attrs = {tile.kernel = 0 : i64} {
  ^bb0(%x: f32, %a: f32):
    %r = arith.maximumf %x, %a : f32
    linalg.yield %r : f32
  } -> tensor<f32>
  %e = linalg.generic {indexing_maps = [#n, #one, #n], iterator_types = ["parallel"]}
      ins(%A, %most : tensor<600000xf32>, tensor<f32>) outs(%all : tensor<600000xf32>) attrs = {tile.kernel = 1 : i64} {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %d = arith.subf %x, %y : f32
    %r = math.exp %d : f32
    linalg.yield %r : f32
  } -> tensor<600000xf32>
  %r1 = linalg.fill ins(%zero : f32) outs(%row : tensor<f32>) -> tensor<f32>
  %sum = linalg.generic {indexing_maps = [#n, #one], iterator_types = ["reduction"]}
      ins(%e : tensor<600000xf32>) outs(%r1 : tensor<f32>) attrs = {tile.kernel = 2 : i64} {
  ^bb0(%x: f32, %a: f32):
    %r = arith.addf %x, %a : f32
    linalg.yield %r : f32
  } -> tensor<f32>
  return %sum : tensor<f32>
}
