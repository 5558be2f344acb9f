"""sm_90 on the faithful engine, operation by operation, against NumPy: wgmma by type and layout, tensor copies,
clusters, stmatrix, and what the tests of faults do not reach."""

from __future__ import annotations

from typing import Any

import hopper_kernel as hopper
import ml_dtypes
import numpy as np
import pytest
from hopper_kernel import replaced
from small_kernels import kernel, random, run

from mlir_gemm.simulator.elements import truncated
from mlir_gemm.simulator.kernel import Options, Report, simulate
from mlir_gemm.simulator.sampling import plan
from mlir_gemm.simulator.wgmma import Descriptor

# wgmma.
KINDS: dict[str, tuple[Any, str, int]] = {
    "f16": (np.float16, "f32", 16), "bf16": (ml_dtypes.bfloat16, "f32", 16), "tf32": (np.float32, "f32", 8),
    "e4m3": (ml_dtypes.float8_e4m3fn, "f32", 32), "e5m2": (ml_dtypes.float8_e5m2, "f32", 32),
    "s8": (np.int8, "s32", 32), "u8": (np.uint8, "s32", 32),
}  # fmt: skip
SWIZZLES = {0: 16, 1: 128, 2: 64, 3: 32}
"""Bytes of a row of the pattern, by the mode in a descriptor."""


def image(operand: Any, mode: int, along_k: bool, size: int) -> tuple[Any, int]:
    """Shared memory that holds an operand (outer, K), byte by byte, and its descriptor without the address."""
    item, width = operand.itemsize, SWIZZLES[mode]
    outer, depth = operand.shape
    held = np.full(size, 0xEE, np.uint8)
    raw = operand.view(np.uint8).reshape(outer, depth, item)
    if mode == 0:  # cores of 8 x 16 bytes, anywhere
        leading, stride = (2048, 128) if along_k else (128, 256)
    else:
        leading, stride = 8 * width * (depth * item // 16), 8 * width
    for row in range(outer):
        for k in range(depth):
            down, across = (row, k) if along_k else (k, row)
            byte = across * item
            if mode:
                at = byte // width * leading + down // 8 * stride + down % 8 * width + byte % width
            else:
                near, far = (leading, stride) if along_k else (stride, leading)
                at = byte // 16 * near + down // 8 * far + down % 8 * 16 + byte % 16
            if mode:
                at ^= (at // 128 % (width // 16)) * 16
            held[at : at + item] = raw[row, k]
    return held, mode << 62 | leading >> 4 << 16 | stride >> 4 << 32


def multiply(
    kind: str, columns: int, left: tuple[Any, int, bool], right: tuple[Any, int, bool], extra: str = "", out: str = ""
) -> tuple[Any, Report]:
    """The registers of 128 threads after one product of two images."""
    _, sums, depth = KINDS[kind]
    out = out or sums
    registers = columns // 4 if out == "f16" else columns // 2
    type_ = "f32" if out == "f32" else "i32"
    struct = "!llvm.struct<(" + ", ".join([type_] * registers) + ")>"
    size = len(left[0])
    memory = np.concatenate([left[0], right[0]]).view(np.int8)
    result = np.zeros((128, registers), np.float32 if type_ == "f32" else np.int32)
    stores = "\n".join(
        f"""%e{n} = llvm.extractvalue %r[{n}] : {struct}
      %n{n} = arith.constant {n} : index
      memref.store %e{n}, %b[%t, %n{n}] : memref<128x{registers}x{type_}>"""
        for n in range(registers)
    )
    orders = ("row" if left[2] else "col"), ("col" if right[2] else "row")
    code = f"""
      %step = arith.constant 2048 : index
      %end = arith.constant {2 * size} : index
      %t16 = arith.muli %t, %c16 : index
      scf.for %i = %t16 to %end step %step {{
        %v = vector.load %a[%i] : memref<{2 * size}xi8>, vector<16xi8>
        vector.store %v, %bytes[%i] : memref<{2 * size}xi8, 3>, vector<16xi8>
      }}
      nvvm.fence.proxy {{kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}}
      gpu.barrier
      %p = memref.extract_aligned_pointer_as_index %bytes : memref<{2 * size}xi8, 3> -> index
      %pi = arith.index_castui %p : index to i64
      %four = arith.constant 4 : i64
      %low = arith.shrui %pi, %four : i64
      %d = arith.constant {left[1]} : i64
      %e = arith.constant {right[1] + (size >> 4)} : i64
      %da = arith.addi %d, %low : i64
      %db = arith.addi %e, %low : i64
      %u = llvm.mlir.zero : {struct}
      nvvm.wgmma.fence.aligned
      %r = nvvm.wgmma.mma_async %da, %db, %u, <m = 64, n = {columns}, k = {depth}>, D[<{out}>, <zero>],
        A[<{kind}>, <one>, <{orders[0]}>], B[<{kind}>, <one>, <{orders[1]}>] : {struct} -> {struct}
      nvvm.wgmma.commit.group.sync.aligned
      nvvm.wgmma.wait.group.sync.aligned 0
      {extra}
      {stores}"""
    arguments = f"memref<{2 * size}xi8> memref<128x{registers}x{type_}>"
    text = kernel("      %c16 = arith.constant 16 : index\n" + code, arguments, threads=128, roles="in out",
                  shared=2 * size).replace("alignment = 128", "alignment = 1024")  # fmt: skip
    return result, simulate(text, [memory, result])


def held(matrix: Any) -> Any:
    """An accumulator (64, N) as threads hold it: rows t // 32 * 16 + t % 32 // 4 and 8 more, columns in pairs."""
    columns = matrix.shape[1]
    lanes = np.empty((128, columns // 2), matrix.dtype)
    for thread in range(128):
        row, column = thread // 32 * 16 + thread % 32 // 4, thread % 4 * 2
        for j in range(columns // 8):
            for half in range(2):
                start = 8 * j + column
                lanes[thread, 4 * j + 2 * half : 4 * j + 2 * half + 2] = matrix[row + 8 * half, start : start + 2]
    return lanes


def operands(kind: str, columns: int) -> tuple[Any, Any]:
    dtype, _, depth = KINDS[kind]
    rng = np.random.default_rng(0)
    numbers = [rng.integers(-9, 9, (rows, depth)) for rows in (64, columns)]
    if kind not in ("s8", "u8"):
        numbers = [each / 4 for each in numbers]
    a, b = (np.asarray(each).astype(dtype) for each in numbers)
    return a, b


def product(kind: str, a: Any, b: Any) -> Any:
    if kind == "tf32":
        a, b = truncated(a), truncated(b)
    return a.astype(np.float64) @ b.astype(np.float64).T


@pytest.mark.parametrize("mode", SWIZZLES)
@pytest.mark.parametrize("kind", KINDS)
def test_wgmma_of_every_type_and_swizzle_with_k_along_the_rows(kind: str, mode: int):
    a, b = operands(kind, 24)
    result, report = multiply(kind, 24, (*image(a, mode, True, 16384), True), (*image(b, mode, True, 16384), True))
    assert not report.findings, str(report)
    np.testing.assert_allclose(result, held(product(kind, a, b)), rtol=1e-6)


@pytest.mark.parametrize("mode", SWIZZLES)
@pytest.mark.parametrize("straight", [(False, False), (True, False), (False, True)])
@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_wgmma_with_m_or_n_along_the_rows(kind: str, straight: tuple[bool, bool], mode: int):
    a, b = operands(kind, 64)
    sides = [(*image(each, mode, along_k, 16384), along_k) for each, along_k in zip((a, b), straight, strict=True)]
    result, report = multiply(kind, 64, sides[0], sides[1])
    assert not report.findings, str(report)
    np.testing.assert_allclose(result, held(product(kind, a, b)), rtol=1e-6)


@pytest.mark.parametrize("columns", [8, 136, 256])
def test_wgmma_of_every_width(columns: int):
    a, b = operands("f16", columns)
    result, _ = multiply("f16", columns, (*image(a, 1, True, 32768), True), (*image(b, 1, True, 32768), True))
    np.testing.assert_allclose(result, held(product("f16", a, b)), rtol=1e-6)


def test_wgmma_into_f16_packs_two_to_a_register():
    a, b = operands("f16", 16)
    sides = [(*image(each, 1, True, 16384), True) for each in (a, b)]
    result, report = multiply("f16", 16, sides[0], sides[1], out="f16")
    assert not report.findings, str(report)
    np.testing.assert_array_equal(result.view(np.float16), held(product("f16", a, b).astype(np.float16)))


def test_a_step_of_k_is_32_bytes_into_a_swizzled_row():
    """What moves inside the pattern still gives whole chunks: the XOR goes by address."""
    start = Descriptor.of(1 << 62 | 64 << 32 | 4096 >> 4)
    second = Descriptor.of(1 << 62 | 64 << 32 | (4096 + 32) >> 4)
    row = 5
    assert list(start.addresses(64, 2, True)[row]) == [4096 + row * 128 + (chunk ^ row) * 16 for chunk in (0, 1)]
    assert list(second.addresses(64, 2, True)[row]) == [4096 + row * 128 + (chunk ^ row) * 16 for chunk in (2, 3)]


def test_a_product_by_three_warps_never_starts():
    a, b = operands("f16", 8)
    sides = [(*image(each, 1, True, 16384), True) for each in (a, b)]
    code = "%w = arith.divui %t, %c32 : index\n %not = arith.cmpi ult, %w, %c3 : index"
    text = kernel(f"""
      %c3 = arith.constant 3 : index
      {code}
      %d = arith.constant {sides[0][1]} : i64
      %u = llvm.mlir.undef : !llvm.struct<(f32, f32, f32, f32)>
      scf.if %not {{
        nvvm.wgmma.fence.aligned
        %r = nvvm.wgmma.mma_async %d, %d, %u, <m = 64, n = 8, k = 16>, D[<f32>, <zero>], A[<f16>, <one>, <row>],
          B[<f16>, <one>, <col>] : !llvm.struct<(f32, f32, f32, f32)> -> !llvm.struct<(f32, f32, f32, f32)>
      }}""", "memref<8xf32>", threads=128)  # fmt: skip
    report = simulate(text, [np.zeros(8, np.float32)])
    assert report.checks_found == {"deadlock"}
    assert "warps 0, 1, 2 wait for the other warps of warpgroup 0" in str(report)


# stmatrix, and loads and stores through pointers.
@pytest.mark.parametrize("layout", ["row", "col"])
def test_stmatrix(layout: str):
    a, b = random("i32", 32, 4), np.zeros((32, 8), np.int16)
    code = f"""
      %p = memref.extract_aligned_pointer_as_index %bytes : memref<512xi8, 3> -> index
      %by = arith.muli %t, %c16 : index
      %at = arith.addi %p, %by : index
      %n = arith.index_castui %at : index to i64
      %q = llvm.inttoptr %n : i64 to !llvm.ptr<3>
      %v = vector.load %a[%t, %c0] : memref<32x4xi32>, vector<4xi32>
      %x0 = vector.extract %v[0] : i32 from vector<4xi32>
      %x1 = vector.extract %v[1] : i32 from vector<4xi32>
      %x2 = vector.extract %v[2] : i32 from vector<4xi32>
      %x3 = vector.extract %v[3] : i32 from vector<4xi32>
      nvvm.stmatrix %q, %x0, %x1, %x2, %x3 {{layout = #nvvm.mma_layout<{layout}>,
        shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>}}
        : !llvm.ptr<3>, i32, i32, i32, i32
      gpu.barrier
      %r = llvm.load %q {{alignment = 16 : i64}} : !llvm.ptr<3> -> vector<8xi16>
      vector.store %r, %b[%t, %c0] : memref<32x8xi16>, vector<8xi16>"""
    assert not run(code, [a, b], threads=32, roles="in out", shared=512).findings
    pairs = a.view(np.int16).reshape(32, 4, 2)
    for matrix in range(4):
        for lane in range(32):
            for each in range(2):
                row, column = lane // 4, lane % 4 * 2 + each
                if layout == "col":
                    row, column = column, row
                assert b[8 * matrix + row, column] == pairs[lane, matrix, each]


def test_a_store_through_a_pointer_is_checked():
    code = """
      %p = memref.extract_aligned_pointer_as_index %bytes : memref<256xi8, 3> -> index
      %four = arith.constant 4 : index
      %by = arith.muli %t, %four : index
      %at = arith.addi %p, %by : index
      %n = arith.index_castui %at : index to i64
      %q = llvm.inttoptr %n : i64 to !llvm.ptr<3>
      %x = arith.constant 1.0 : f32
      llvm.store %x, %q {alignment = 4 : i64} : f32, !llvm.ptr<3>
      %next = llvm.getelementptr %q[1] : (!llvm.ptr<3>) -> !llvm.ptr<3>, f32
      %y = llvm.load %next {alignment = 8 : i64} : !llvm.ptr<3> -> f32"""
    report = run(code, [np.zeros(8, np.float32)])
    assert report.checks_found == {"race-shared", "misaligned", "out-of-bounds", "uninitialized-shared"}


# Tensor copies.
def tensor_copy(
    box: str, swizzle: str, place: tuple[int, int], shape: tuple[int, int], change: tuple[str, str] = ("", "")
) -> tuple[Any, Any, Report]:
    """An array, and another one to which a tile of it goes through shared memory; some text of the kernel changed."""
    a = np.arange(np.prod(shape), dtype=np.float16).reshape(shape)
    b = np.full((64, 64), -1, np.float16)
    rows, columns = shape
    tile = f'{{box = array<i64: {box}>, swizzle = "{swizzle}"}}'
    text = f"""module attributes {{gpu.container_module}} {{
  func.func @f(%A: memref<{rows}x{columns}xf16> {{tile.role = "in"}}, %B: memref<64x64xf16> {{tile.role = "inout"}}) {{
    %from = "tile.tensor_map"(%A) {tile} : (memref<{rows}x{columns}xf16>) -> !llvm.ptr
    %to = "tile.tensor_map"(%B) {tile} : (memref<64x64xf16>) -> !llvm.ptr
    %one = arith.constant 1 : index
    %threads = arith.constant 32 : index
    gpu.launch_func @m::@k blocks in (%one, %one, %one) threads in (%threads, %one, %one)
      args(%from : !llvm.ptr, %to : !llvm.ptr)
    return
  }}
  gpu.module @m {{
    memref.global "private" @s : memref<8200xi8, 3> = uninitialized {{alignment = 1024 : i64}}
    gpu.func @k(%from: !llvm.ptr, %to: !llvm.ptr) kernel {{
      %m = memref.get_global @s : memref<8200xi8, 3>
      %p = memref.extract_aligned_pointer_as_index %m : memref<8200xi8, 3> -> index
      %n = arith.index_castui %p : index to i64
      %data = llvm.inttoptr %n : i64 to !llvm.ptr<3>
      %data7 = llvm.addrspacecast %data : !llvm.ptr<3> to !llvm.ptr<7>
      %barrier = llvm.getelementptr %data[8192] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
      %one = arith.constant 1 : i32
      %zero = arith.constant 0 : i32
      %bytes = arith.constant {np.prod([int(size) for size in box.split(",")]) * 2} : i32
      %row = arith.constant {place[0]} : i32
      %column = arith.constant {place[1]} : i32
      nvvm.prefetch tensormap, %from : !llvm.ptr
      %first = nvvm.elect.sync -> i1
      scf.if %first {{
        nvvm.mbarrier.init %barrier, %one : !llvm.ptr<3>, i32
        nvvm.fence.mbarrier.init
        %state = nvvm.mbarrier.arrive.expect_tx %barrier, %bytes : !llvm.ptr<3>, i32 -> i64
        {hopper.LOAD} %data7, %from, %barrier, box[%column, %row] : !llvm.ptr<7>, !llvm.ptr
        nvvm.mbarrier.try_wait.parity %barrier, %zero, %one : !llvm.ptr<3>, i32, i32
        nvvm.cp.async.bulk.tensor.global.shared.cta %to, %data, box[%zero, %zero] : !llvm.ptr, !llvm.ptr<3>
        nvvm.cp.async.bulk.commit.group
        nvvm.cp.async.bulk.wait_group 0
      }}
      gpu.return
    }}
  }}
}}"""
    assert change[0] in text
    return a, b, simulate(text.replace(*change), [a, b])


WAITED = "        nvvm.mbarrier.try_wait.parity %barrier, %zero, %one : !llvm.ptr<3>, i32, i32\n"


@pytest.mark.parametrize("old, new, check", [
    (WAITED, "%x = llvm.load %data {alignment = 4 : i64} : !llvm.ptr<3> -> f32\n" + WAITED, "async-not-awaited"),
    (WAITED, "llvm.store %one, %data {alignment = 4 : i64} : i32, !llvm.ptr<3>\n" + WAITED, "async-not-awaited"),
    (WAITED, WAITED + "llvm.store %one, %data {alignment = 4 : i64} : i32, !llvm.ptr<3>\n", "proxy"),
    ("        %state =", "llvm.store %one, %data {alignment = 4 : i64} : i32, !llvm.ptr<3>\n %state =", "proxy"),
    ("        nvvm.mbarrier.init", "llvm.store %one, %barrier {alignment = 4 : i64} : i32, !llvm.ptr<3>\n"
     "nvvm.mbarrier.init", "mbarrier"),
    (WAITED, "llvm.store %one, %barrier {alignment = 4 : i64} : i32, !llvm.ptr<3>\n" + WAITED, "mbarrier"),
    (WAITED, WAITED + "nvvm.mbarrier.init %barrier, %one : !llvm.ptr<3>, i32\n", "mbarrier"),
    (WAITED, WAITED + "nvvm.mbarrier.inval %barrier : !llvm.ptr<3>\n" + WAITED, "mbarrier"),
    (WAITED, WAITED.replace("%zero", "%bytes"), "undefined"),
    ("wait_group 0", "wait_group 0\nllvm.store %one, %data {alignment = 4 : i64} : i32, !llvm.ptr<3>", ""),
    ("wait_group 0", "wait_group 1\nllvm.store %one, %data {alignment = 4 : i64} : i32, !llvm.ptr<3>", "race-shared"),
    ("%bytes = arith.constant 4096", "%bytes = arith.constant 4000", "deadlock"),
    ("[%column, %row]", "[%row]", "tensor-map"),
    ("%first = nvvm.elect.sync -> i1", "%first = arith.constant true", "mbarrier"),
], ids=["read too early", "written too early", "stored with no fence", "copied over with no fence", "barrier on data",
        "data on a barrier", "initialised twice", "used when it is gone", "no parity", "written behind the store",
        "written with the store under way", "fewer bytes", "coordinates missing", "all lanes"])  # fmt: skip
def test_what_is_wrong_around_a_tensor_copy(old: str, new: str, check: str):
    _, _, report = tensor_copy("32, 64", "128", (0, 0), (64, 64), (old, new))
    if check:
        assert check in report.checks_found, str(report)
    else:
        assert not report.findings, str(report)


@pytest.mark.parametrize(("swizzle", "columns"), [("128", 64), ("64", 32), ("32", 16), ("none", 64)])
@pytest.mark.parametrize("place", [(0, 0), (8, 16), (-3, -5), (90, 70), (200, 0)])
def test_a_tensor_copy_gives_zero_beyond_the_array(place: tuple[int, int], swizzle: str, columns: int):
    a, b, report = tensor_copy(f"32, {columns}", swizzle, place, (100, 88))
    assert not report.findings, str(report)
    padded = np.pad(a, ((300, 300), (300, 300)))
    want = padded[300 + place[0] : 332 + place[0], 300 + place[1] : 300 + columns + place[1]]
    np.testing.assert_array_equal(b[:32, :columns], want)
    assert (b[32:] == -1).all()
    assert (b[:, columns:] == -1).all()


def test_a_tensor_copy_clips_what_it_stores():
    a, b, report = tensor_copy("32, 128", "none", (0, 0), (100, 128))
    assert not report.findings, str(report)
    np.testing.assert_array_equal(b[:32], a[:32, :64])


@pytest.mark.parametrize("box, swizzle, shape, why", [
    ("64, 100", "128", (64, 128), "a row of its box has 200 bytes"),
    ("257, 8", "none", (64, 128), "1 to 256 elements"),
    ("8, 8, 8", "none", (64, 128), "has 3 entries for 2 dimensions"),
    ("8, 64", "128", (64, 100), "200 bytes apart; the copy engine needs a multiple of 16"),
    ("8, 64", "64", (64, 128), "a row of its box has 128 bytes"),
    ("8, 64", "16", (64, 128), "its swizzle '16' is none of 128, 64, 32, none"),
])  # fmt: skip
def test_a_tensor_map_that_the_driver_refuses(box: str, swizzle: str, shape: tuple[int, int], why: str):
    _, _, report = tensor_copy(box, swizzle, (0, 0), shape)
    assert report.checks_found == {"tensor-map"}
    assert why in str(report)
    assert report.stopped


# Clusters.
def cluster(code: str, shared: int = 2048, blocks: int = 4) -> tuple[Any, Report]:
    """Runs code in clusters of 2 with one warp each; %b gets numbers."""
    b = np.zeros((blocks, 32), np.float32)
    text = kernel(f"""
      %rank = nvvm.read.ptx.sreg.cluster.ctarank : i32
      %one = arith.constant 1 : i32
      %zero = arith.constant 0 : i32
      %other = arith.xori %rank, %one : i32
      %p = memref.extract_aligned_pointer_as_index %bytes : memref<{shared}xi8, 3> -> index
      %n = arith.index_castui %p : index to i64
      %bar = llvm.inttoptr %n : i64 to !llvm.ptr<3>
      %first = arith.cmpi eq, %t, %c0 : index
      scf.if %first {{
        nvvm.mbarrier.init %bar, %one : !llvm.ptr<3>, i32
        nvvm.fence.mbarrier.init
      }}
      {code}""", f"memref<{blocks}x32xf32>", threads=32, blocks=blocks, shared=shared)  # fmt: skip
    return b, simulate(text.replace(" kernel {", " kernel attributes {nvvm.cluster_dim = array<i32: 2, 1, 1>} {"), [b])


SYNC = "nvvm.cluster.arrive {aligned}\n nvvm.cluster.wait {aligned}"
ARRIVE = """scf.if %first {
        %there = nvvm.mapa %bar, %other : !llvm.ptr<3> -> !llvm.ptr<7>
        nvvm.mbarrier.arrive %there : !llvm.ptr<7>
      }"""
WAIT = "nvvm.mbarrier.try_wait.parity %bar, %zero, %one : !llvm.ptr<3>, i32, i32"
STORE = """%f = arith.uitofp %rank : i32 to f32
      memref.store %f, %a[%blk, %t] : memref<4x32xf32>"""


def test_blocks_of_a_cluster_signal_each_other():
    b, report = cluster(f"{SYNC}\n{ARRIVE}\n{WAIT}\n{STORE}")
    assert not report.findings, str(report)
    np.testing.assert_array_equal(b[:, 0], [0, 1, 0, 1])
    assert report.blocks_run == report.blocks == 4


@pytest.mark.parametrize("code, check", [
    (f"{ARRIVE}\n{WAIT}", "mbarrier"),
    (f"{SYNC}\n{ARRIVE}", "ended"),
    (f"{SYNC}\n{WAIT}", "deadlock"),
    ("nvvm.cluster.wait {aligned}", "divergent-barrier"),
    (f"nvvm.cluster.arrive {{aligned}}\n{SYNC}", "divergent-barrier"),
    (f"{SYNC}\n{ARRIVE}\n{WAIT}".replace("%other", "%two").replace(
        "nvvm.cluster.arrive", "%two = arith.constant 2 : i32\n nvvm.cluster.arrive"), "out-of-bounds"),
], ids=["no sync", "nobody waits", "nobody arrives", "wait alone", "two arrivals", "no such block"])  # fmt: skip
def test_what_is_wrong_in_a_cluster(code: str, check: str):
    _, report = cluster(code)
    assert check in report.checks_found, str(report)


def test_a_cluster_barrier_lets_those_go_whose_others_have_ended():
    code = f"%z = arith.cmpi eq, %rank, %zero : i32\n scf.if %z {{\n{SYNC}\n}}\n{STORE}"
    _, report = cluster(code)
    assert not report.stopped


COPY_B = "nvvm.cp.async.bulk.tensor.shared.cluster.global %b7, %mapB, %full, box[%col, %ki]"


def shared_b(text: str) -> str:
    """The hand-written kernel in clusters of two blocks, one below the other, which take turns to copy B for both."""
    text = text.replace(f"      {COPY_B} : !llvm.ptr<7>, !llvm.ptr // copy b", f"""
      %turn = arith.remui %k, %c2 : index
      %rank_n = arith.index_castui %rank : i32 to index
      %mine = arith.cmpi eq, %turn, %rank_n : index
      scf.if %mine {{
      {COPY_B} multicast_mask = %both : !llvm.ptr<7>, !llvm.ptr // copy b
      }}""")  # fmt: skip
    text = text.replace("      %released = nvvm.mbarrier.arrive %old_empty : !llvm.ptr<3> -> i64 // release", """
      %there = nvvm.mapa %old_empty, %i0 : !llvm.ptr<3> -> !llvm.ptr<7>
      %here = nvvm.mapa %old_empty, %i1 : !llvm.ptr<3> -> !llvm.ptr<7>
      nvvm.mbarrier.arrive %there : !llvm.ptr<7> // release
      nvvm.mbarrier.arrive %here : !llvm.ptr<7> // release""")  # fmt: skip
    text = text.replace("%empty_count = arith.constant 4 :", "%empty_count = arith.constant 8 :")
    text = text.replace("gpu.barrier // init barrier", "nvvm.cluster.arrive // init barrier\n nvvm.cluster.wait")
    text = text.replace("      gpu.return", "nvvm.cluster.arrive // last\n nvvm.cluster.wait // last\n      gpu.return")
    text = text.replace("      %ticks =", """      %c2 = arith.constant 2 : index
      %both = arith.constant 3 : i16
      %rank = nvvm.read.ptx.sreg.cluster.ctarank : i32
      %ticks =""")  # fmt: skip
    return text.replace(" kernel {", " kernel attributes {nvvm.cluster_dim = array<i32: 1, 2, 1>} {")


def run_hopper(text: str, options: Options | None = None) -> tuple[Report, Any, Any]:
    a, b = random("f16", hopper.M, hopper.K), random("f16", hopper.K, hopper.N, seed=1)
    d = np.zeros((hopper.M, hopper.N), np.float16)
    report = simulate(text, [a, b, d], options)
    return report, d, a.astype(np.float64) @ b.astype(np.float64)


def test_blocks_of_a_cluster_copy_for_each_other():
    report, d, want = run_hopper(shared_b(hopper.KERNEL))
    assert not report.findings, str(report)
    np.testing.assert_allclose(d, want, rtol=1e-3, atol=2e-2)


@pytest.mark.parametrize("old, new, check", [
    ("%empty_count = arith.constant 8 :", "%empty_count = arith.constant 4 :", ""),
    ("multicast_mask = %both", "", "deadlock"),
    ("%both = arith.constant 3 :", "%both = arith.constant 7 :", "out-of-bounds"),
    ("nvvm.cluster.arrive // last\n nvvm.cluster.wait // last", "", "ended"),
    ("nvvm.cluster.arrive // init barrier\n nvvm.cluster.wait", "gpu.barrier", "race-shared"),
], ids=["arrivals of one block only", "no multicast", "no such block", "blocks end early", "no barrier"])  # fmt: skip
def test_a_fault_in_a_cluster_is_found(old: str, new: str, check: str):
    text = shared_b(hopper.KERNEL)
    assert old in text
    report, _, _ = run_hopper(text.replace(old, new))
    assert check in report.checks_found or (not check and report.findings), str(report)


def test_the_blocks_of_a_cluster_run_together():
    """A block that was asked for brings the others with it."""
    report, d, want = run_hopper(shared_b(hopper.KERNEL), Options(blocks=[0]))
    assert report.blocks_run == 2
    np.testing.assert_allclose(d[:, :64], want[:, :64], rtol=1e-3, atol=2e-2)
    assert not d[:, 64:].any()


def test_a_sample_has_whole_clusters():
    class Problem:
        flops = 1 << 40

    class Launch:
        grid, cluster = (8, 8, 1), (1, 2, 1)

    found = plan(Problem(), Launch(), None, [3, 17])  # type: ignore[arg-type]
    assert found.blocks == (3, 11, 17, 25)


# Overlapping kernels.
EARLY = hopper.KERNEL.replace(" kernel {", " kernel attributes {tile.overlap} {")


def test_a_kernel_that_starts_early_waits_for_the_one_in_front():
    report, _, _ = run_hopper(EARLY)
    assert report.checks_found == {"overlap"}
    late = EARLY.replace("gpu.barrier // init barrier", "nvvm.griddepcontrol wait\n gpu.barrier")
    report, d, want = run_hopper(late)
    assert not report.findings, str(report)
    np.testing.assert_allclose(d, want, rtol=1e-3, atol=2e-2)


# Counting, and running without the checks.
def test_counters_of_tensor_copies_and_products():
    report, _, _ = run_hopper(hopper.KERNEL, Options(counters=True))
    blocks, steps = 4, hopper.STEPS
    assert report.counters.bytes["global_load"] == blocks * steps * 2 * hopper.TILE
    assert report.counters.bytes["global_store"] == blocks * hopper.TILE
    assert report.counters.tensor_operations == blocks * steps * 4
    assert report.counters.flops == 2 * hopper.M * hopper.N * hopper.K
    assert report.counters.bank_conflicts == 0


def test_the_number_is_the_same_without_the_checks():
    _, checked, _ = run_hopper(hopper.KERNEL)
    report, plain, _ = run_hopper(hopper.KERNEL, Options(checks=False))
    np.testing.assert_array_equal(checked, plain)
    assert not report.findings


def test_a_broken_kernel_without_the_checks_still_ends():
    report, _, _ = run_hopper(replaced("empty count", "4 :", "5 :"), Options(checks=False))
    assert report.stopped == "deadlock"
