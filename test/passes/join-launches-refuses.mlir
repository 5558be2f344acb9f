// join-launches leaves kernels apart that cannot be one: other numbers of threads, several dimensions of blocks, memory of
// a module's own.
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
