"""Every operation of the tile dialect refuses what it does not mean, and says what would be right."""

import re
from collections.abc import Sequence

import pytest

from mlir_gemm.dialect import tile
from mlir_gemm.dialect.context import new_context
from mlir_gemm.dialect.parse import parse_module
from mlir_gemm.errors import InputError
from mlir_gemm.pipeline.runner import run_passes

VALUES = {
    "%i": "index",
    "%phase": "i32",
    "%long": "i64",
    "%line": "memref<64xf16>",
    "%A": "memref<64x64xf16>",
    "%B": "memref<64x32xf16>",
    "%wide": "memref<64x64xf32>",
    "%bytes": "memref<64x64xi8>",
    "%ragged": "memref<?x64xf16>",
    "%near": "memref<64x64xf16, 3>",
    "%staging": "memref<2x64x64xf32, 3>",
    "%flat": "memref<64x64xf32, 3>",
    "%kept": "memref<64x64xf16, strided<[64, 1], offset: ?>, 3>",
    "%pairs": "memref<4x128xf16, 3>",
    "%ring": "memref<2x4xi64, 3>",
    "%turns": "memref<1x2xi64, 3>",
    "%far": "memref<2x4xi64>",
    "%words": "memref<2x4xi32, 3>",
    "%map": "!llvm.ptr",
    "%handed": "memref<1x8x128x2xf32, 3>",
    "%scratch": "memref<1x16x128x2xf32, 3>",
    "%parts": "memref<4x8x512xf32>",
    "%flags": "memref<4x32xi32>",
    "%few": "memref<4x8xi32>",
    "%rows": "memref<4x64x64xf32>",
    "%half": "vector<64x64xf16>",
    "%acc": "vector<64x64xf32>",
    "%sum": "vector<64x32xf32>",
    "%whole": "vector<64x32xi32>",
    "%i32": "vector<64x64xi32>",
    "%row": "vector<64xf16>",
}
"""What the operations below are about."""
ONE = "{operandSegmentSizes = array<i32: 1, 0>}"
ADD = f'({{^bb0(%x: f32, %y: f32): %z = arith.addf %x, %y : f32 "tile.yield"(%z) {ONE} : (f32) -> ()}})'
BOTH = (
    "({^bb0(%x: f32, %p: f32, %y: f32, %q: f32): "
    '"tile.yield"(%x, %q) {operandSegmentSizes = array<i32: 2, 0>} : (f32, f32) -> ()})'
)
PLACED = BOTH.replace("%p: f32", "%p: f16").replace("%q: f32", "%q: f16")
PLACED = PLACED.replace("2, 0", "1, 1").replace("(f32, f32)", "(f32, f16)")
"""Blocks that combine two elements, of one value, of two, and of a value and its place."""
EACH = "one for each dimension of the memory"
WINDOWS = (
    "{high = array<i64: 0, 0>, low = array<i64: 0, 0>, offset = 0 : i64, shape = array<i64: 64, 64>, "
    "sizes = [array<i64: 64>, array<i64: 64>], strides = [array<i64: 64>, array<i64: 1>]}"
)
"""An image of 64 rows of 64 numbers, a window for each row."""
COMPLEX = "{constants = dense<[[[1., 0.], [0., 1.]], [[0., 1.], [-1., 0.]]]> : tensor<2x2x2xf64>}"
RIGHT = [
    "%0 = tile.load(%A, %i, %i) {dims = array<i64: 1, 0>, in_bounds = array<i1: true, false>} : vector<64x64xf16>",
    '%0 = tile.load(%line, %i) {scope = "warp"} : vector<64x64xf16>',
    'tile.store(%half, %A, %i, %i) {scope = "warpgroup"}',
    'tile.store(%half, %A, %i, %i) {scope = "wave"}',
    "tile.copy(%near, %ragged, %i, %i)",
    "tile.copy_async(%near, %A, %i, %i)",
    "tile.commit()",
    "tile.await() {pending = 0 : i64}",
    "%0 = tile.clip(%half, %i, %i) {dim = 1 : i64} : vector<64x64xf16>",
    '%0 = tile.mma(%near, %B, %sum) {a = "mk", b = "kn", async} : vector<64x32xf32>',
    '%0 = tile.mma(%bytes, %bytes, %i32) {a = "km", b = "nk", unsigned = "a"} : vector<64x64xi32>',
    'tile.run(%i, %i) {kernel = "product_0"}',
    "%0 = tile.position() : memref<4x8xi64, strided<[16, 2], offset: 3>>",
    '%0 = tile.position(%i) {size = "s0"} : memref<i64>',
    '%0 = tile.size() {size = "(s0+s1)"} : index',
    f"%0 = tile.windows(%A) {WINDOWS} : memref<64x64xf16>",
    "%0 = tile.sparse(%kept, %pairs) : memref<64x128xf16, 3>",
    f"%0 = tile.composite(%A) {COMPLEX} : memref<128x64xf16>",
    '%0 = tile.unit_id() {unit = "warpgroup"} : index',
    '%0 = tile.unit_id() {unit = "wave"} : index',
    "%0:2 = tile.step_range() {steps = 4 : i64} : index, index",
    "tile.ring(%ring) {consumers = 4 : i64, blocks = 2 : i64, cluster_group = 2 : i64}",
    "%0:2 = tile.enter() : index, i32",
    "tile.leave(%i, %phase)",
    "%0:2 = tile.advance(%i, %phase, %i) {stages = 4 : i64} : index, i32",
    "tile.producer_acquire(%ring, %i, %phase) {bytes = 8192 : i64}",
    "tile.tma_load(%near, %map, %ring, %i, %i, %i) {keep = 5 : i64, multicast = 2 : i64, stride = 2 : i64}",
    "tile.consumer_wait(%ring, %i, %phase)",
    "tile.consumer_release(%ring, %i) {loaded}",
    "%0 = tile.mma_wait(%acc) {pending = 1 : i64} : vector<64x64xf32>",
    "%0 = tile.dsmem_reduce(%acc, %handed) : vector<64x32xf32>",
    "tile.order_barrier(%turns) {consumers = 4 : i64}",
    "tile.order_wait(%turns, %i, %phase)",
    "tile.order_arrive(%turns, %i)",
    "%0 = tile.consumer_id() : index",
    "%0 = tile.rank() {stride = 2 : i64, count = 2 : i64} : index",
    'tile.tma_store(%acc, %map, %staging, %i, %i) {scope = "warpgroup"}',
    "tile.unaligned_store(%acc, %wide, %staging, %i, %i)",
    "tile.tma_store_wait()",
    '%0 = tile.tensor_map(%A) {box = array<i64: 64, 64>, swizzle = "128"} : !llvm.ptr',
    "tile.store_partials(%acc, %parts, %flags, %i)",
    "%0 = tile.fix_up(%acc, %parts, %flags, %i, %i) : vector<64x64xf32>",
    "%0 = tile.clip(%acc, %i, %i) {dim = 0 : i64, neutral = 0xFF800000 : f32} : vector<64x64xf32>",
    f"%0 = tile.reduce(%acc) {ADD} {{dim = 1 : i64}} : vector<64x1xf32>",
]
WRONG = [
    # The signature.
    ("tile.load(%A, %i, %i)", "has no results; expected value"),
    ("tile.copy(%near)", "has 1 operand; expected target, source, offsets"),
    ("tile.consumer_wait(%ring, %i)", "has 2 operands; expected barriers, slot, phase"),
    ("tile.commit(%i)", "has 1 operand; expected none"),
    ("tile.leave(%phase, %phase)", "slot is i32; expected index"),
    ("tile.store(%half, %A, %i, %long)", "offsets is i64; expected index"),
    # Attributes.
    ("tile.copy(%near, %A, %i, %i) {inbounds = array<i1: true, true>}",
     "has no attribute 'inbounds'; did you mean 'in_bounds'? (it may have dims, in_bounds)"),
    ("tile.await()", "'pending' is missing; expected a number from 0 to 64 (i64)"),
    ("tile.await() {pending = -1 : i64}", "pending = -1 : i64; expected a number from 0 to 64 (i64)"),
    ('tile.await() {pending = "all"}', 'pending = "all"; expected a number from 0 to 64'),
    ('tile.store(%half, %A, %i, %i) {scope = "block"}', 'scope = "block"; expected "warp" or "wave" or "warpgroup"'),
    ("tile.store(%half, %A, %i, %i) {dims = [0, 1]}", "dims = [0, 1]; expected numbers, such as array<i64: 0, 1>"),
    ("tile.store(%half, %A, %i, %i) {in_bounds}", "in_bounds = unit; expected truth values, such as array<i1: true"),
    ("tile.store(%half, %A, %i, %i) {operandSegmentSizes = array<i32: 1, 2, 1>}", "expected array<i32: 1, 1, 2>"),
    ('tile.run(%i) {kernel = ""}', 'kernel = ""; expected a name in quotes'),
    ("%0 = tile.position() : memref<4xi32>", "result is memref<4xi32>; expected a tensor or memref of i64"),
    ("%0 = tile.position(%i) : memref<4xi64>", "has 1 size for memref<4xi64>; expected 0"),
    ('%0 = tile.position() {size = "s0"} : memref<4xi64>', "has a size and is memref<4xi64>; expected no dimension"),
    ('%0 = tile.size() {size = ""} : index', 'size = ""; expected a name in quotes'),
    (f"%0 = tile.windows(%A) {WINDOWS} : memref<64x65xf16>",
     "result is memref<64x65xf16>; expected the sizes [64, 64]"),
    (f"%0 = tile.windows(%A, %i) {WINDOWS} : memref<64x64xf16>",
     "result is memref<64x64xf16>; expected the sizes [64, 64]"),
    ("%0 = tile.sparse(%near, %near) : memref<64x128xf16, 3>", "expected metadata of 4x128"),
    ("%0 = tile.sparse(%kept, %pairs) : memref<64x64xf16, 3>", "expected a dense 64x128 of the elements"),
    ("%0 = tile.sparse(%flat, %flat) : memref<64x128xf32, 3>", "expected one type of f16 or bf16"),
    (f"%0 = tile.composite(%A) {COMPLEX} : memref<64x64xf16>", "expected a memref of 128x64"),
    (f"%0 = tile.composite(%A) {COMPLEX} : memref<128x64xf32>", "expected a dense one of the elements and the memory"),
    ("%0 = tile.composite(%A) {constants = dense<1.> : tensor<3x3x3xf64>} : memref<192x64xf16>",
     "expected rows of neighbours, of elements of 3 components"),
    ("%0 = tile.composite(%A) {constants = dense<1.> : tensor<2x2xf64>} : memref<128x64xf16>",
     "expected the numbers of blocks"),
    ('%0 = tile.unit_id() {unit = "lane"} : index', 'unit = "lane"; expected "warp" or "wave" or "warpgroup"'),
    ("%0:2 = tile.step_range() {steps = 0 : i64} : index, index", "steps = 0 : i64; expected a number from 1 on (i64)"),
    ("tile.commit() {group = 1 : i64}", "has no attribute 'group' (it may have none)"),
    ("tile.tma_store_wait() {pending = 1 : i64}", "has no attribute 'pending' (it may have none)"),
    ("%0 = tile.consumer_id() {count = 2 : i64} : index", "has no attribute 'count' (it may have none)"),
    ("%0 = tile.rank() {stride = 0 : i64} : index", "stride = 0 : i64; expected a number from 1 to 16 (i64)"),
    # Accesses.
    ("%0 = tile.load(%A, %i) : vector<64x64xf16>", f"has 1 offset in memref<64x64xf16>; expected 2, {EACH}"),
    ("%0 = tile.load(%half, %i, %i) : vector<64x64xf16>", "memory is vector<64x64xf16>; expected a memref"),
    ("%0 = tile.load(%A, %i, %i) : memref<64x64xf16>", "value is memref<64x64xf16>; expected a vector"),
    ("%0 = tile.load(%A, %i, %i) : vector<64x64xf32>",
     "the elements of memory and value are f16 and f32; expected one type"),
    ("%0 = tile.load(%A, %i, %i) {dims = array<i64: 0>} : vector<64x64xf16>",
     f"dims = array<i64: 0>; expected 2 entries, {EACH}"),
    ("%0 = tile.load(%A, %i, %i) {in_bounds = array<i1: true>} : vector<64x64xf16>",
     f"in_bounds = array<i1: true>; expected 2 entries, {EACH}"),
    ("%0 = tile.load(%A, %i, %i) {dims = array<i64: 0, 0>} : vector<64x64xf16>",
     "dims = [0, 0] for a tile of 2 dimensions; expected each of 0 to 1 at most once"),
    ("tile.store(%half, %A, %i, %i) {dims = array<i64: 0, 2>}", "dims = [0, 2] for a tile of 2 dimensions"),
    ("tile.store(%acc, %A, %i, %i)", "the elements of value and memory are f32 and f16; expected one type"),
    ("tile.store(%A, %A, %i, %i)", "value is memref<64x64xf16>; expected a vector"),
    ("tile.store(%half, %line, %i)", "moves vector<64x64xf16> along 1 dimension of memref<64xf16>; expected 2"),
    ("tile.copy(%half, %A, %i, %i)", "target is vector<64x64xf16>; expected a memref of constant sizes"),
    ("tile.copy(%ragged, %A, %i, %i)", "target is memref<?x64xf16>; expected a memref of constant sizes"),
    ("tile.copy_async(%near, %wide, %i, %i)", "the elements of target and source are f16 and f32; expected one type"),
    ("tile.copy_async(%near, %A, %i)", f"has 1 offset in memref<64x64xf16>; expected 2, {EACH}"),
    ("%0 = tile.clip(%half, %i, %i) {dim = 2 : i64} : vector<64x64xf16>",
     "dim = 2 of vector<64x64xf16>; expected 0 to 1"),
    ("%0 = tile.clip(%A, %i, %i) {dim = 0 : i64} : memref<64x64xf16>", "value is memref<64x64xf16>; expected a vector"),
    ("%0 = tile.clip(%half, %i, %i) {dim = 1 : i64, neutral = 1.0 : f32} : vector<64x64xf16>",
     "neutral = 1.000000e+00 : f32 for elements of f16; expected one of that type"),
    ('%0 = tile.clip(%half, %i, %i) {dim = 1 : i64, neutral = "-inf"} : vector<64x64xf16>',
     'neutral = "-inf"; expected a number with its type'),
    # Reductions.
    (f"tile.reduce() {ADD} {{dim = 1 : i64}}", "has no values and no results; expected as many, 1 or more"),
    (f"%0 = tile.reduce(%acc, %acc) {ADD} {{dim = 1 : i64}} : vector<64x1xf32>",
     "has 2 values and 1 result; expected as many"),
    (f"%0 = tile.reduce(%wide) {ADD} {{dim = 1 : i64}} : vector<64x1xf32>",
     "values are memref<64x64xf32>; expected vectors"),
    (f"%0 = tile.reduce(%acc) {ADD} : vector<64x1xf32>", "'dim' is missing; expected a number"),
    (f"%0 = tile.reduce(%acc) {ADD} {{dim = 2 : i64}} : vector<64x1xf32>",
     "dim = 2 of vector<64x64xf32>; expected 0 to 1"),
    (f"%0 = tile.reduce(%acc) {ADD} {{dim = 1 : i64}} : vector<64xf32>",
     "result is vector<64xf32> of vector<64x64xf32> along dimension 1; expected vector<64x1xf32>"),
    (f"%0 = tile.reduce(%acc) {ADD} {{dim = 1 : i64}} : vector<64x1xf16>", "expected vector<64x1xf32>"),
    (f"%0 = tile.reduce(%half) {ADD} {{dim = 1 : i64}} : vector<64x1xf16>",
     "its block takes f32, f32; expected f16, f16"),
    # Products.
    ('%0 = tile.mma(%A, %B, %sum) {a = "zz", b = "kn"} : vector<64x32xf32>', 'a = "zz"; expected "mk" or "km"'),
    ('%0 = tile.mma(%A, %B, %sum) {a = "mk"} : vector<64x32xf32>', "'b' is missing; expected \"kn\" or \"nk\""),
    ('%0 = tile.mma(%A, %B, %sum) {a = "mk", b = "nk"} : vector<64x32xf32>',
     "k is 64 in a and 32 in b: a is 64x64 (mk), b is 64x32 (nk), acc is 64x32 (mn); expected the same"),
    ('%0 = tile.mma(%A, %B, %acc) {a = "mk", b = "kn"} : vector<64x64xf32>', "n is 32 in b and 64 in acc"),
    ('%0 = tile.mma(%A, %ragged, %acc) {a = "mk", b = "kn"} : vector<64x64xf32>',
     "rhs is memref<?x64xf16>; expected a memref of 2 dimensions of constant sizes"),
    ('%0 = tile.mma(%line, %A, %acc) {a = "mk", b = "kn"} : vector<64x64xf32>', "lhs is memref<64xf16>"),
    ('%0 = tile.mma(%A, %A, %row) {a = "mk", b = "kn"} : vector<64xf16>',
     "acc is vector<64xf16>; expected a vector of 2 dimensions"),
    ('%0 = tile.mma(%A, %B, %sum) {a = "mk", b = "kn"} : vector<64x64xf32>',
     "acc is vector<64x32xf32> and result is vector<64x64xf32>; expected the same type"),
    ('%0 = tile.mma(%A, %B, %whole) {a = "mk", b = "kn"} : vector<64x32xi32>',
     "multiplies f16 by f16 into i32; expected all integers, or all floating-point numbers"),
    ('%0 = tile.mma(%wide, %wide, %half) {a = "mk", b = "kn"} : vector<64x64xf16>',
     "adds products of f32 and f32 up in f16; expected a type that is not narrower"),
    ('%0 = tile.mma(%A, %A, %acc) {a = "mk", b = "kn", unsigned = "b"} : vector<64x64xf32>',
     'unsigned = "b" for operands of f16 and f16, which have signs'),
    ('%0 = tile.mma(%A, %A, %acc) {a = "mk", b = "kn", algebra = "arith.minimumf(c, a)"} : vector<64x64xf32>',
     "algebra: the term 'a' is not computed from a and b; expected operations on both, without c"),
    ('%0 = tile.mma(%A, %A, %acc) {a = "mk", b = "kn", algebra = "arith.subf(c, arith.mulf(a, b))"} : '
     "vector<64x64xf32>",
     "algebra: 'arith.subf(c, arith.mulf(a, b))' does not combine c with a term"),
    ('%0 = tile.mma(%A, %A, %acc) {a = "mk", b = "kn", algebra = "arith.addf(c, arith.what(a, b))"} : '
     "vector<64x64xf32>",
     "algebra: 'arith.what' is no operation of an algebra"),
    ('%0 = tile.mma(%A, %A, %acc) {a = "mk", b = "kn", algebra = "arith.addf(c, arith.mulf(a, b)"} : vector<64x64xf32>',
     "algebra: the arguments of 'arith.addf' do not end; expected ')'"),
    ('%0 = tile.mma(%A, %A, %acc) {a = "mk", b = "kn", algebra = "arith.addf(c, math.absf(a, b))"} : vector<64x64xf32>',
     "algebra: 'math.absf(a, b)' has 2 arguments; expected 1"),
    ('%0 = tile.mma(%A, %A, %acc) {a = "mk", b = "kn", algebra = "arith.minsi(c, arith.addi(a, b))"} : '
     "vector<64x64xf32>",
     "algebra: 'arith.addi' is an operation on integers; the accumulator has floating-point numbers"),
    ('%0 = tile.mma(%A, %A, %acc) {a = "mk", b = "kn", async = 1 : i64} : vector<64x64xf32>',
     "async = 1 : i64; expected no value: it is there or not"),
    ("%0 = tile.mma_wait(%row) {pending = 0 : i64} : vector<64xf16>", "acc is vector<64xf16>; expected a vector of 2"),
    ("%0 = tile.mma_wait(%acc) {pending = 0 : i64} : vector<64x32xf32>", "expected the same type"),
    # Rings.
    ("tile.ring(%far) {consumers = 4 : i64}", "barriers is memref<2x4xi64>; expected memref<2xSxi64, 3>, for S stages"),
    ("tile.ring(%words) {consumers = 4 : i64}", "barriers is memref<2x4xi32, 3>; expected memref<2xSxi64, 3>"),
    ("tile.ring(%ring) {consumers = 0 : i64}", "consumers = 0 : i64; expected a number from 1 to 32 (i64)"),
    ("tile.consumer_wait(%turns, %i, %phase)", "barriers is memref<1x2xi64, 3>; expected memref<2xSxi64, 3>"),
    ("tile.consumer_wait(%ring, %i, %long)", "phase is i64; expected i32"),
    ("tile.producer_acquire(%ring, %i, %phase) {bytes = 1048576 : i64}", "expected a number from 16 to 1048575 (i64)"),
    ("tile.producer_acquire(%ring, %i, %long) {bytes = 16 : i64}", "phase is i64; expected i32"),
    ("tile.leave(%i, %long)", "phase is i64; expected i32"),
    ("%0:2 = tile.enter() : index, i64", "phase is i64; expected i32"),
    ("%0:2 = tile.advance(%i, %phase) {stages = 4 : i64} : index, i32",
     "has 2 operands; expected slot, phase, steps"),
    ("%0:2 = tile.advance(%i, %phase, %i) : index, i32", "'stages' is missing; expected a number from 1 to 64 (i64)"),
    ("%0:2 = tile.advance(%i, %phase, %i) {stages = 0 : i64} : index, i32", "stages = 0 : i64; expected a number"),
    ("%0:2 = tile.advance(%i, %long, %i) {stages = 4 : i64} : index, i64", "phase is i64; expected i32"),
    ("%0:2 = tile.advance(%i, %phase, %i) {stages = 4 : i64} : index, i64",
     "phase is i32 and next_phase is i64; expected the same type"),
    ("tile.consumer_release(%map, %i)", "barriers is !llvm.ptr; expected memref<2xSxi64, 3>"),
    ("tile.tma_load(%A, %map, %ring, %i, %i, %i)",
     "target is memref<64x64xf16>; expected a memref of 2 dimensions of constant sizes in memory space 3"),
    ("tile.tma_load(%near, %half, %ring, %i, %i, %i)",
     "source is vector<64x64xf16>; expected a memref in global memory, or the !llvm.ptr of a tile.tensor_map"),
    ("tile.tma_load(%near, %A, %turns, %i, %i, %i)", "barriers is memref<1x2xi64, 3>"),
    ("tile.tma_load(%near, %A, %ring, %i, %i)", f"has 1 offset in memref<64x64xf16>; expected 2, {EACH}"),
    ("tile.tma_load(%near, %wide, %ring, %i, %i, %i)", "the elements of target and source are f16 and f32"),
    ("tile.tma_load(%near, %A, %ring, %i, %i, %i) {keep = 33 : i64}", "expected a number from 0 to 32"),
    ("tile.order_barrier(%ring) {consumers = 4 : i64}", "barriers is memref<2x4xi64, 3>; expected memref<1x2xi64, 3>"),
    ("tile.order_wait(%turns, %i, %long)", "phase is i64; expected i32"),
    ("tile.order_arrive(%ring, %i)", "expected memref<1x2xi64, 3>"),
    ("%0 = tile.dsmem_reduce(%acc, %handed) : vector<32x64xf32>",
     "gives vector<32x64xf32> of vector<64x64xf32>; expected all rows, and an equal part of the columns"),
    ("%0 = tile.dsmem_reduce(%acc, %scratch) : vector<64x32xf32>",
     "with 4096 elements for each unit; expected 2048: those of vector<64x32xf32> from each of 1 others"),
    # Results, and what blocks share.
    ("tile.tma_store(%acc, %map, %flat, %i, %i)",
     "staging is memref<64x64xf32, 3>; expected a memref of 3 dimensions of constant sizes in memory space 3"),
    ("tile.tma_store(%half, %map, %staging, %i, %i)", "the elements of value and staging are f16 and f32"),
    ("tile.tma_store(%acc, %acc, %staging, %i, %i)", "memory is vector<64x64xf32>; expected a memref in global"),
    ("tile.unaligned_store(%acc, %map, %staging, %i, %i)", "memory is !llvm.ptr; expected a memref"),
    ("tile.unaligned_store(%acc, %wide, %staging, %i)", f"has 1 offset in memref<64x64xf32>; expected 2, {EACH}"),
    ('%0 = tile.tensor_map(%A) {swizzle = "128"} : !llvm.ptr', "'box' is missing; expected numbers"),
    ('%0 = tile.tensor_map(%A) {box = array<i64: 64>, swizzle = "128"} : !llvm.ptr',
     "box = [64] for memref<64x64xf16>; expected 1 to 256 for each of its 2 dimensions"),
    ('%0 = tile.tensor_map(%A) {box = array<i64: 64, 512>, swizzle = "128"} : !llvm.ptr', "expected 1 to 256"),
    ('%0 = tile.tensor_map(%A) {box = array<i64: 64, 64>, swizzle = "64"} : !llvm.ptr',
     "box = [64, 64] has rows of 128 bytes of f16; expected 64 at most (swizzle)"),
    ('%0 = tile.tensor_map(%A) {box = array<i64: 8, 8>, swizzle = "96"} : !llvm.ptr',
     'swizzle = "96"; expected "128" or "64" or "32" or "none"'),
    ('%0 = tile.tensor_map(%A) {box = array<i64: 8, 8>, swizzle = "32", element = "tf32"} : !llvm.ptr',
     'element = "tf32" for f16; expected it for f32 only'),
    ('%0 = tile.tensor_map(%A) {box = array<i64: 8, 8>, swizzle = "32"} : index', "map is index; expected !llvm.ptr"),
    ("tile.store_partials(%half, %parts, %flags, %i)", "the elements of value and partials are f16 and f32"),
    ("tile.store_partials(%acc, %wide, %flags, %i)",
     "partials is memref<64x64xf32>; expected a memref of 3 dimensions"),
    ("tile.store_partials(%acc, %parts, %few, %i)",
     "flags is memref<4x8xi32>; expected memref<4x32xi32>: 32 for each place of partials"),
    ("%0 = tile.fix_up(%acc, %rows, %flags, %i, %i) : vector<64x64xf32>",
     "expected a place of rows of 512 elements"),
]  # fmt: skip


def segments(name: str, operands: Sequence[str], results: int) -> str:
    """The lengths of parts of operands and results, by their types: of a reduction, which has two of each."""
    if name != "tile.reduce":
        return ""
    values = sum(type_ == operands[0] for type_ in operands)
    places = len(operands) - values
    given = f"operandSegmentSizes = array<i32: {values}, {places}>"
    return f"{given}, resultSegmentSizes = array<i32: {max(results - places, 0)}, {min(places, results)}>"


def _generic(text: str) -> str:
    """`%0 = tile.op(operands) {attributes} : results` in MLIR's generic form."""
    found = re.fullmatch(r"(?:(%0\S*) = )?(tile\.\w+)\((.*?)\)(?: (\(\{.*\}\)))?(?: (\{.*?\}))?(?: : (.*))?", text)
    assert found, text
    result, name, operands, region, attributes, results = found.groups()
    given = [VALUES[each] for each in operands.split(", ") if each]
    types = ", ".join(given)
    own = segments(name, given, (results or "").count("vector"))
    if own:
        attributes = f"{{{own}{', ' if attributes else ''}{(attributes or '{}')[1:]}"
    made = f"{result} = " if result else ""
    return f'{made}"{name}"({operands}) {region or ""} {attributes or ""} : ({types}) -> ({results or ""})'


def _parse(body: str) -> None:
    arguments = ", ".join(f"{name}: {type_}" for name, type_ in VALUES.items())
    parse_module(f"func.func @f({arguments}) {{\n{body}\nreturn\n}}", "f.mlir", CONTEXT)


CONTEXT = new_context()


@pytest.mark.parametrize("text", RIGHT)
def test_what_is_right_parses(text: str) -> None:
    _parse(_generic(text))


@pytest.mark.parametrize(("text", "reason"), WRONG)
def test_what_is_wrong_is_refused_with_what_would_be_right(text: str, reason: str) -> None:
    found = re.search(r"tile\.\w+", text)
    assert found
    with pytest.raises(InputError) as refused:
        _parse(_generic(text))
    assert refused.value.message.startswith(f"'{found[0]}': ")
    assert reason in refused.value.message
    assert refused.value.location is not None
    assert refused.value.location.line == 2


def test_every_operation_has_a_right_and_a_wrong_form() -> None:
    names = {operation.OPERATION_NAME for operation in tile.Tile.operations} - {"tile.warp_specialize", "tile.yield"}
    assert names == {found[0] for text in RIGHT if (found := re.search(r"tile\.\w+", text))}
    assert names == {found[0] for text, _ in WRONG if (found := re.search(r"tile\.\w+", text))}


@pytest.mark.parametrize(
    ("regions", "reason"),
    [
        ("({}, {^bb0:})", "producer has no blocks; expected one"),
        ("({^bb0:}, {^bb0: cf.br ^bb1 ^bb1:})", "consumer has 2 blocks; expected one"),
        ("({^bb0(%n: index):}, {^bb0:})", "producer has 1 block argument; expected none"),
    ],
)
def test_each_role_is_one_block(regions: str, reason: str) -> None:
    _parse('"tile.warp_specialize"() ({^bb0:}, {^bb0:}) : () -> ()')
    with pytest.raises(InputError, match=reason):
        _parse(f'"tile.warp_specialize"() {regions} : () -> ()')


@pytest.mark.parametrize(
    ("region", "reason"),
    [
        ("({})", "has no blocks; expected one"),
        ("({^bb0(%x: f32, %y: f32): %z = arith.addf %x, %y : f32})",
         "its block ends in 'arith.addf'; expected tile.yield"),
        (f'({{^bb0(%x: f32, %y: f32): "tile.yield"() {ONE.replace("1", "0")} : () -> ()}})',
         "its block yields nothing; expected f32"),
        (f'({{^bb0(%x: f32): "tile.yield"(%x) {ONE} : (f32) -> ()}})', "its block takes f32; expected f32, f32"),
        ('({^bb0(%x: f32, %y: f32): %t = gpu.thread_id x '
         '"tile.yield"(%x) {operandSegmentSizes = array<i32: 1, 0>} : (f32) -> ()})',
         "'gpu.thread_id' in its block; expected operations of arith and math"),
    ],
)  # fmt: skip
def test_a_reduction_combines_in_one_block(region: str, reason: str) -> None:
    _parse(_generic(f"%0 = tile.reduce(%acc) {ADD} {{dim = 1 : i64}} : vector<64x1xf32>"))
    with pytest.raises(InputError, match=reason):
        _parse(_generic(f"%0 = tile.reduce(%acc) {region} {{dim = 1 : i64}} : vector<64x1xf32>"))


def test_a_reduction_of_several_values() -> None:
    _parse(_generic(f"%0:2 = tile.reduce(%acc, %acc) {BOTH} {{dim = 0 : i64}} : vector<1x64xf32>, vector<1x64xf32>"))
    with pytest.raises(InputError, match="its block takes f32, f32; expected f32, f32, f32, f32"):
        _parse(_generic(f"%0:2 = tile.reduce(%acc, %acc) {ADD} {{dim = 0 : i64}} : vector<1x64xf32>, vector<1x64xf32>"))
    types = "vector<1x64xf32>, vector<1x64xf16>"
    _parse(_generic(f"%0:2 = tile.reduce(%acc, %half) {PLACED} {{dim = 0 : i64}} : {types}"))
    with pytest.raises(InputError, match="its block takes f32, f32, f32, f32; expected f32, f16, f32, f16"):
        _parse(_generic(f"%0:2 = tile.reduce(%acc, %half) {BOTH} {{dim = 0 : i64}} : {types}"))
    with pytest.raises(InputError, match="vector<64x64xf32> and vector<64x32xi32>; expected one shape"):
        types = "vector<1x64xf32>, vector<1x32xi32>"
        _parse(_generic(f"%0:2 = tile.reduce(%acc, %whole) {PLACED} {{dim = 0 : i64}} : {types}"))


def test_only_a_reduction_yields() -> None:
    with pytest.raises(InputError, match=r"stands in 'scf.if'; expected it in tile.reduce"):
        _parse(f'%t = arith.constant true\nscf.if %t {{\n"tile.yield"(%acc) {ONE} : (vector<64x64xf32>) -> ()\n}}')


def test_attributes_of_others_are_left_alone() -> None:
    _parse('"tile.commit"() {mine.note = "x"} : () -> ()')


def test_a_pass_that_makes_a_wrong_operation_is_found_out() -> None:
    """opt verifies what it reads; compile does not look at what upstream's passes leave as it is."""
    text = """func.func @f(%a: memref<32x64xf16>, %c: vector<32x32xf32>) {
      %d = "tile.mma"(%a, %a, %c) {a = "zz", b = "kn"} :
        (memref<32x64xf16>, memref<32x64xf16>, vector<32x32xf32>) -> vector<32x32xf32>
      return }"""
    with pytest.raises(InputError, match='a = "zz"; expected "mk" or "km"'):
        run_passes(text, ["cse"])
