// extend-bf16 leaves single numbers, odd vectors, those of more dimensions, other types, what goes to a maximum, and
// functions that are no kernels of a GPU module.
// RUN: mlir-gemm opt %s extend-bf16 | FileCheck %s
// RUN: not mlir-gemm opt %s 'extend-bf16{width=2}' 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: error: pass 'extend-bf16' has no option 'width' (options: none)

// CHECK-LABEL: func.func @host(
//       CHECK:   arith.extf %{{.*}} : vector<2xbf16> to vector<2xf32>
func.func @host(%v: vector<2xbf16>) -> vector<2xf32> {
  %f = arith.extf %v : vector<2xbf16> to vector<2xf32>
  return %f : vector<2xf32>
}

// CHECK-LABEL: gpu.func @kernel(
//       CHECK:   arith.extf %{{.*}} : bf16 to f32
//       CHECK:   arith.extf %{{.*}} : vector<3xbf16> to vector<3xf32>
//       CHECK:   arith.extf %{{.*}} : vector<1x2xbf16> to vector<1x2xf32>
//       CHECK:   arith.extf %{{.*}} : vector<2xf16> to vector<2xf32>
//       CHECK:   arith.extf %{{.*}} : vector<2xbf16> to vector<2xf64>
gpu.module @kernels {
  gpu.func @kernel(%s: bf16, %o: vector<3xbf16>, %r: vector<1x2xbf16>, %h: vector<2xf16>, %b: vector<2xbf16>,
                   %out: memref<1xf32>, %odd: memref<1xvector<3xf32>>, %rows: memref<1xvector<1x2xf32>>,
                   %halves: memref<1xvector<2xf32>>, %wide: memref<1xvector<2xf64>>) kernel {
    %zero = arith.constant 0 : index
    %f = arith.extf %s : bf16 to f32
    %g = arith.extf %o : vector<3xbf16> to vector<3xf32>
    %i = arith.extf %r : vector<1x2xbf16> to vector<1x2xf32>
    %j = arith.extf %h : vector<2xf16> to vector<2xf32>
    %k = arith.extf %b : vector<2xbf16> to vector<2xf64>
    memref.store %f, %out[%zero] : memref<1xf32>
    memref.store %g, %odd[%zero] : memref<1xvector<3xf32>>
    memref.store %i, %rows[%zero] : memref<1xvector<1x2xf32>>
    memref.store %j, %halves[%zero] : memref<1xvector<2xf32>>
    memref.store %k, %wide[%zero] : memref<1xvector<2xf64>>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @greatest(
  //       CHECK:   arith.extf %{{.*}} : vector<2xbf16> to vector<2xf32>
  //   CHECK-NOT:   vector.shuffle
  gpu.func @greatest(%v: vector<2xbf16>, %end: i1, %least: vector<2xf32>, %out: memref<1xvector<2xf32>>) kernel {
    %zero = arith.constant 0 : index
    %f = arith.extf %v : vector<2xbf16> to vector<2xf32>
    %g = arith.select %end, %f, %least : vector<2xf32>
    %m = arith.maximumf %g, %least : vector<2xf32>
    memref.store %m, %out[%zero] : memref<1xvector<2xf32>>
    gpu.return
  }
}
