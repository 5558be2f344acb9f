// lower-transposes: tiles that have no code, and readers that are no products.
// RUN: not mlir-gemm opt %s lower-transposes --split-input-file 2>&1 | FileCheck %s

// CHECK: a tile of memref<128x64xi8, 3> by 4 warps; expected squares of 128 bytes of the layout swizzle128, one or more for each 8 warps
gpu.module @narrow {
gpu.func @f() kernel {
  %b = memref.alloc() {tile.layout = "swizzle64"} : memref<128x64xi8, 3>
  %t = "tile.transpose"(%b) {consumers = 4 : i64} : (memref<128x64xi8, 3>) -> memref<64x128xi8, 3>
  gpu.return
}
}

// -----

// CHECK: a tile of memref<128x128xi8, 3> by 12 warps
gpu.module @many {
gpu.func @f() kernel {
  %b = memref.alloc() {tile.layout = "swizzle128"} : memref<128x128xi8, 3>
  %t = "tile.transpose"(%b) {consumers = 12 : i64} : (memref<128x128xi8, 3>) -> memref<128x128xi8, 3>
  gpu.return
}
}

// -----

// CHECK: a buffer without the layout swizzle128, swizzle64 or swizzle32
gpu.module @plain {
gpu.func @f() kernel {
  %b = memref.alloc() : memref<128x128xi8, 3>
  %t = "tile.transpose"(%b) {consumers = 4 : i64} : (memref<128x128xi8, 3>) -> memref<128x128xi8, 3>
  gpu.return
}
}

// -----

// CHECK: 'memref.load' reads what was transposed; expected products only
gpu.module @read {
gpu.func @f(%i: index) kernel {
  %b = memref.alloc() {tile.layout = "swizzle128"} : memref<128x128xi8, 3>
  %t = "tile.transpose"(%b) {consumers = 4 : i64} : (memref<128x128xi8, 3>) -> memref<128x128xi8, 3>
  %x = memref.load %t[%i, %i] : memref<128x128xi8, 3>
  gpu.return
}
}
