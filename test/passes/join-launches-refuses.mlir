// join-launches leaves kernels apart that cannot be one: other numbers of threads, several dimensions of blocks, memory of
// a module's own; of products, other clusters.
// RUN: mlir-gemm opt --split-input-file %s join-launches | FileCheck %s

// Blocks of 128 threads beside blocks of 256.
// CHECK-LABEL: func.func @f(
//       CHECK: kernel = "f_0"
//       CHECK: kernel = "f_1"
//       CHECK: gpu.func @f_0_kernel
//       CHECK: gpu.func @f_1_kernel
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
      %c256 = arith.constant 128 : index
      %n = memref.dim %a, %c0 : memref<?xf32>
      gpu.launch_func @f_1_kernel::@f_1_kernel blocks in (%n, %c1, %c1) threads in (%c256, %c1, %c1) args(%a : memref<?xf32>, %b : memref<?xf32>)
      return
    }
    gpu.module @f_1_kernel {
      gpu.func @f_1_kernel(%a: memref<?xf32>, %b: memref<?xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>, tile.dependent_launch} {
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

// Blocks in two dimensions.
// CHECK-LABEL: func.func @f(
//       CHECK: kernel = "f_0"
//       CHECK: kernel = "f_1"
//       CHECK: gpu.func @f_0_kernel
//       CHECK: gpu.func @f_1_kernel
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
      gpu.launch_func @f_1_kernel::@f_1_kernel blocks in (%n, %n, %c1) threads in (%c256, %c1, %c1) args(%a : memref<?xf32>, %b : memref<?xf32>)
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

// Shared memory.
// CHECK-LABEL: func.func @f(
//       CHECK: kernel = "f_0"
//       CHECK: kernel = "f_1"
//       CHECK: gpu.func @f_0_kernel
//       CHECK: gpu.func @f_1_kernel
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
      memref.global "private" @shared : memref<16xi8, 3> = uninitialized
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

// Products in clusters of other sizes.
// CHECK-LABEL: func.func @p(
//       CHECK: kernel = "p_0"
//       CHECK: kernel = "p_1"
//       CHECK: gpu.func @p_0_kernel
//       CHECK: gpu.func @p_1_kernel
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
      gpu.func @p_0_kernel(%map: !llvm.ptr, %b: memref<64x48xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 4, 1, 1>, nvvm.cluster_dim = array<i32: 1, 1, 1>, nvvm.minctasm = 1 : i32, tile.dependent_launch, tile.maps = array<i64: 0>} {
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
