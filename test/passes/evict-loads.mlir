// evict-loads: what is read once is the first that L2 gives up; a second run changes nothing.
// RUN: mlir-gemm opt %s evict-loads | FileCheck %s
// RUN: mlir-gemm opt %s evict-loads evict-loads | FileCheck %s

// CHECK-LABEL: llvm.func @k(
//       CHECK:   %[[P:.*]] = llvm.inline_asm "createpolicy.fractional.L2::evict_first.b64 $0, 1.0;", "=l" : () -> i64
//   CHECK-NOT:   createpolicy
//       CHECK:   %[[W:.*]] = llvm.inline_asm has_side_effects "ld.global.L2::cache_hint.v4.b32 {$0, $1, $2, $3}, [$4], $5;", "=r,=r,=r,=r,l,l" %arg0, %[[P]] : {{.*}} -> !llvm.struct<(i32, i32, i32, i32)>
//       CHECK:   llvm.extractvalue %[[W]][0]
//       CHECK:   llvm.insertelement
//       CHECK:   %[[V:.*]] = llvm.bitcast %{{.*}} : vector<4xi32> to vector<8xf16>
//       CHECK:   llvm.inline_asm has_side_effects "ld.global.L2::cache_hint.b16 $0, [$1], $2;", "=h,l,l" %arg0, %[[P]]
//       CHECK:   llvm.bitcast %{{.*}} : i16 to f16
//       CHECK:   llvm.inline_asm has_side_effects "ld.global.L2::cache_hint.b32 $0, [$1], $2;", "=r,l,l" %arg0, %[[P]]
//       CHECK:   llvm.bitcast %{{.*}} : i32 to f32
//       CHECK:   llvm.store %[[V]], %arg1
llvm.func @k(%arg0: !llvm.ptr, %arg1: !llvm.ptr) attributes {nvvm.kernel} {
  %0 = llvm.load %arg0 {alignment = 16 : i64, nontemporal} : !llvm.ptr -> vector<8xf16>
  %1 = llvm.load %arg0 {nontemporal} : !llvm.ptr -> f16
  %2 = llvm.load %arg0 {nontemporal} : !llvm.ptr -> f32
  llvm.store %0, %arg1 : vector<8xf16>, !llvm.ptr
  llvm.store %1, %arg1 : f16, !llvm.ptr
  llvm.store %2, %arg1 : f32, !llvm.ptr
  llvm.return
}
