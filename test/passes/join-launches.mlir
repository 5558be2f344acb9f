// join-launches makes one kernel of those that are launched together, whose blocks branch by their number.
// RUN: mlir-gemm opt --split-input-file %s join-launches | FileCheck %s
// RUN: mlir-gemm opt --split-input-file %s join-launches join-launches | FileCheck %s

// One run, on the memory of both.
// CHECK-LABEL: func.func @f(
//       CHECK:   "tile.run"({{.*}}, {{.*}}, {{.*}}, {{.*}}) {kernel = "f_0",
//   CHECK-NOT:   tile.run
// What is said of the kernel that has joined is said of this one.
//       CHECK: module @f_0 attributes {{{.*}}tile.note = "beside it, in blocks of its own: f_1; why f_1"
//       CHECK:   func.func @f_0(%{{.*}}: memref<1024xf32> {tile.role = "in"}, %{{.*}}: memref<1024xf32> {tile.role = "out"}, %[[X:.*]]: memref<?xf32> {tile.role = "in", tile.symbols = ["s0"]}, %{{.*}}: memref<?xf32> {tile.role = "out", tile.symbols = ["s0"]}) attributes {{{.*}}tile.joined = ["f_1", "what f_1 computes"]
//       CHECK:     %[[SIZE:.*]] = memref.dim %[[X]]
//       CHECK:     %[[BLOCKS:.*]] = arith.addi %c4, %[[SIZE]]
//       CHECK:     gpu.launch_func @f_0_kernel::@f_0_kernel blocks in (%[[BLOCKS]], %c1, %c1) threads in (%c256, %c1, %c1) args(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} :
// The first four blocks are those of @f_0. All wait where one of the two does.
//       CHECK:     gpu.func @f_0_kernel(%[[A:.*]]: memref<1024xf32>, %[[B:.*]]: memref<1024xf32>, %[[C:.*]]: memref<?xf32>, %[[D:.*]]: memref<?xf32>) kernel attributes {known_block_size = array<i32: 256, 1, 1>, tile.dependent_launch}
//  CHECK-NEXT:       nvvm.griddepcontrol wait
//       CHECK:       %[[BLOCK:.*]] = gpu.block_id x
//       CHECK:       %[[FIRST:.*]] = arith.cmpi ult, %[[BLOCK]], %c4
//       CHECK:       scf.if %[[FIRST]] {
//       CHECK:         memref.load %[[A]]
//       CHECK:         memref.store %{{.*}}, %[[B]]
//       CHECK:       } else {
//       CHECK:         %[[PLACE:.*]] = arith.subi %[[BLOCK]], %c4
//       CHECK:         memref.load %[[C]][%[[PLACE]]]
//       CHECK:         memref.store %{{.*}}, %[[D]][%[[PLACE]]]
//   CHECK-NOT: f_1_kernel
module attributes {tile.chip = "sm_90a", tile.stage = "launch"} {
  func.func @f(%x: memref<1024xf32> {tile.role = "in"}, %z: memref<?xf32> {tile.role = "in", tile.symbols = ["s0"]}, %r: memref<1024xf32> {tile.role = "result"}, %s: memref<?xf32> {tile.role = "result", tile.symbols = ["s0"]}) {
    %px = memref.extract_aligned_pointer_as_index %x : memref<1024xf32> -> index
    %pr = memref.extract_aligned_pointer_as_index %r : memref<1024xf32> -> index
    "tile.run"(%px, %pr) {kernel = "f_0", operandSegmentSizes = array<i32: 2>} : (index, index) -> ()
    %pz = memref.extract_aligned_pointer_as_index %z : memref<?xf32> -> index
    %ps = memref.extract_aligned_pointer_as_index %s : memref<?xf32> -> index
    "tile.run"(%pz, %ps) {kernel = "f_1", operandSegmentSizes = array<i32: 2>} : (index, index) -> ()
    return
  }
  module @f_0 attributes {gpu.container_module, tile.chip = "sm_90a", tile.stage = "launch"} {
    func.func @f_0(%a: memref<1024xf32> {tile.role = "in"}, %b: memref<1024xf32> {tile.role = "out"}) attributes {tile.kind = "elementwise", tile.launch_with = {kernel = "f_0", threads = 256 : i64}} {
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c256 = arith.constant 256 : index
      gpu.launch_func @f_0_kernel::@f_0_kernel blocks in (%c4, %c1, %c1) threads in (%c256, %c1, %c1) args(%a : memref<1024xf32>, %b : memref<1024xf32>)
      return
    }
    gpu.module @f_0_kernel {
      gpu.func @f_0_kernel(%a: memref<1024xf32>, %b: memref<1024xf32>) kernel attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 4, 1, 1>} {
        %c256 = arith.constant 256 : index
        %block = gpu.block_id x
        %thread = gpu.thread_id x
        %first = arith.muli %block, %c256 : index
        %i = arith.addi %first, %thread : index
        %v = memref.load %a[%i] : memref<1024xf32>
        memref.store %v, %b[%i] : memref<1024xf32>
        gpu.return
      }
    }
  }
  module @f_1 attributes {gpu.container_module, tile.chip = "sm_90a", tile.note = "why f_1", tile.stage = "launch"} {
    func.func @f_1(%a: memref<?xf32> {tile.role = "in", tile.symbols = ["s0"]}, %b: memref<?xf32> {tile.role = "out", tile.symbols = ["s0"]}) attributes {tile.kind = "elementwise", tile.launch_with = {kernel = "f_0", threads = 256 : i64}, tile.reference = "what f_1 computes"} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c256 = arith.constant 256 : index
      %n = memref.dim %a, %c0 : memref<?xf32>
      gpu.launch_func @f_1_kernel::@f_1_kernel blocks in (%n, %c1, %c1) threads in (%c256, %c1, %c1) args(%a : memref<?xf32>, %b : memref<?xf32>)
      return
    }
    gpu.module @f_1_kernel {
      gpu.func @f_1_kernel(%a: memref<?xf32>, %b: memref<?xf32>) kernel attributes {known_block_size = array<i32: 256, 1, 1>, tile.dependent_launch} {
        nvvm.griddepcontrol wait
        %block = gpu.block_id x
        %v = memref.load %a[%block] : memref<?xf32>
        memref.store %v, %b[%block] : memref<?xf32>
        gpu.return
      }
    }
  }
}

// -----

// Products: each waits in its branch, where both have the larger of their shared memories, the stricter alignment, and
// all tensor maps; clusters are those of both.
// CHECK-LABEL: func.func @p(
//       CHECK:   "tile.run"({{.*}}) {kernel = "p_0", operandSegmentSizes = array<i32: 4>}
//   CHECK-NOT:   tile.run
//       CHECK:   func.func @p_0({{.*}}tile.joined = ["p_1", "func.func @p_1() attributes {tile.problem = {}, tile.schedule = {stages = 3 : i64}}
//       CHECK:     %[[ONE:.*]] = "tile.tensor_map"(%{{.*}}) {{.*}}(memref<64x48xf32>)
//       CHECK:     %[[OTHER:.*]] = "tile.tensor_map"(%{{.*}}) {{.*}}(memref<64x80xf32>)
//       CHECK:     gpu.launch_func @p_0_kernel::@p_0_kernel blocks in (%c6, %c1{{.*}}) dynamic_shared_memory_size %c2048_i32 args(%[[ONE]] : {{.*}}, %{{.*}}, %{{.*}}, %[[OTHER]] : !llvm.ptr)
//       CHECK:     memref.global @p_0_shared : memref<0xi8, 3> {alignment = 1024 : i64}
//       CHECK:     gpu.func @p_0_kernel({{.*}}) kernel attributes {{{.*}}known_grid_size = array<i32: 6, 1, 1>, nvvm.cluster_dim = array<i32: 2, 1, 1>, nvvm.minctasm = 1 : i32, tile.dependent_launch, tile.maps = array<i64: 0, 3>}
//  CHECK-NEXT:       %[[BLOCK:.*]] = gpu.block_id x
//       CHECK:       scf.if
//   CHECK-NOT:       else
//       CHECK:         nvvm.griddepcontrol wait
//       CHECK:       } else {
//       CHECK:         nvvm.griddepcontrol wait
//       CHECK:         %[[PLACE:.*]] = arith.subi %[[BLOCK]], %c4
//       CHECK:         memref.get_global @p_0_shared : memref<0xi8, 3>
//       CHECK:         memref.load %{{.*}}[%[[PLACE]]] : memref<80xf32, 3>
module attributes {tile.chip = "sm_90a", tile.stage = "lower"} {
  func.func @p(%x: memref<64x48xf32> {tile.role = "in"}, %z: memref<64x80xf32> {tile.role = "in"}, %r: memref<64x48xf32> {tile.role = "result"}, %s: memref<64x80xf32> {tile.role = "result"}) {
    %px = memref.extract_aligned_pointer_as_index %x : memref<64x48xf32> -> index
    %pr = memref.extract_aligned_pointer_as_index %r : memref<64x48xf32> -> index
    "tile.run"(%px, %pr) {kernel = "p_0", operandSegmentSizes = array<i32: 2>} : (index, index) -> ()
    %pz = memref.extract_aligned_pointer_as_index %z : memref<64x80xf32> -> index
    %ps = memref.extract_aligned_pointer_as_index %s : memref<64x80xf32> -> index
    "tile.run"(%pz, %ps) {kernel = "p_1", operandSegmentSizes = array<i32: 2>} : (index, index) -> ()
    return
  }
  module @p_0 attributes {gpu.container_module, tile.chip = "sm_90a", tile.stage = "lower"} {
    func.func @p_0(%a: memref<64x48xf32> {tile.role = "in"}, %b: memref<64x48xf32> {tile.role = "out"}) attributes {tile.launch_with = {kernel = "p_0", threads = 0 : i64}, tile.problem = {}, tile.schedule = {stages = 4 : i64}, tile.reference = "func.func @p_0() { return }"} {
      %map = "tile.tensor_map"(%a) {box = array<i64: 64, 32>, swizzle = "128"} : (memref<64x48xf32>) -> !llvm.ptr
      %c1 = arith.constant 1 : index
      %blocks = arith.constant 4 : index
      %c128 = arith.constant 128 : index
      %bytes = arith.constant 1024 : i32
      gpu.launch_func @p_0_kernel::@p_0_kernel blocks in (%blocks, %c1, %c1) threads in (%c128, %c1, %c1) dynamic_shared_memory_size %bytes args(%map : !llvm.ptr, %b : memref<64x48xf32>)
      return
    }
    gpu.module @p_0_kernel {
      memref.global @p_0_shared : memref<0xi8, 3> {alignment = 128 : i64}
      gpu.func @p_0_kernel(%map: !llvm.ptr, %b: memref<64x48xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 4, 1, 1>, nvvm.cluster_dim = array<i32: 2, 1, 1>, nvvm.minctasm = 1 : i32, tile.dependent_launch, tile.maps = array<i64: 0>} {
        %c0 = arith.constant 0 : index
        %shared = memref.get_global @p_0_shared : memref<0xi8, 3>
        %view = memref.view %shared[%c0][] : memref<0xi8, 3> to memref<48xf32, 3>
        %block = gpu.block_id x
        nvvm.griddepcontrol wait
        %v = memref.load %view[%block] : memref<48xf32, 3>
        memref.store %v, %b[%c0, %block] : memref<64x48xf32>
        gpu.return
      }
    }
  }
  module @p_1 attributes {gpu.container_module, tile.chip = "sm_90a", tile.stage = "lower"} {
    func.func @p_1(%a: memref<64x80xf32> {tile.role = "in"}, %b: memref<64x80xf32> {tile.role = "out"}) attributes {tile.launch_with = {kernel = "p_0", threads = 0 : i64}, tile.problem = {}, tile.schedule = {stages = 3 : i64}, tile.reference = "func.func @p_1() { return }"} {
      %map = "tile.tensor_map"(%a) {box = array<i64: 64, 32>, swizzle = "128"} : (memref<64x80xf32>) -> !llvm.ptr
      %c1 = arith.constant 1 : index
      %blocks = arith.constant 2 : index
      %c128 = arith.constant 128 : index
      %bytes = arith.constant 2048 : i32
      gpu.launch_func @p_1_kernel::@p_1_kernel blocks in (%blocks, %c1, %c1) threads in (%c128, %c1, %c1) dynamic_shared_memory_size %bytes args(%b : memref<64x80xf32>, %map : !llvm.ptr)
      return
    }
    gpu.module @p_1_kernel {
      memref.global @p_1_shared : memref<0xi8, 3> {alignment = 1024 : i64}
      gpu.func @p_1_kernel(%b: memref<64x80xf32>, %map: !llvm.ptr) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 2, 1, 1>, nvvm.cluster_dim = array<i32: 2, 1, 1>, nvvm.minctasm = 1 : i32, tile.maps = array<i64: 1>} {
        %c0 = arith.constant 0 : index
        %shared = memref.get_global @p_1_shared : memref<0xi8, 3>
        %view = memref.view %shared[%c0][] : memref<0xi8, 3> to memref<80xf32, 3>
        %block = gpu.block_id x
        %v = memref.load %view[%block] : memref<80xf32, 3>
        memref.store %v, %b[%c0, %block] : memref<64x80xf32>
        gpu.return
      }
    }
  }
}
