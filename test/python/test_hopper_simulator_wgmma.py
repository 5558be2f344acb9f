"""sm_90 on the faithful engine, operation by operation, against NumPy: wgmma by type and layout, and stmatrix."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from small_kernels import kernel, random, run

from mlir_gemm.simulator.elements import truncated
from mlir_gemm.simulator.kernel import Report, simulate
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


STRUCT = "!llvm.struct<(f32, f32, f32, f32)>"
COMMIT, WAIT, FENCE = (f"nvvm.wgmma.{each}" for each in (
    "commit.group.sync.aligned", "wait.group.sync.aligned 0", "fence.aligned"
))  # fmt: skip


def again(kind: str) -> str:
    """Another product into the accumulator that `multiply` has made."""
    types = f"A[<{kind}>, <one>, <row>], B[<{kind}>, <one>, <col>]"
    return (
        f"%more = nvvm.wgmma.mma_async %da, %db, %r, <m = 64, n = 8, k = {KINDS[kind][2]}>, D[<f32>, <one>], {types} "
        f": {STRUCT} -> {STRUCT}"
    )


TOUCH = f"""%one = arith.constant 1.0 : f32
      %t0 = llvm.insertvalue %one, %more[0] : {STRUCT}"""
FOLLOWED: dict[str, tuple[list[str], tuple[str, str] | None]] = {
    "by one of the same shape": ([again("f16"), COMMIT, WAIT], None),
    "by one of another shape": ([again("tf32"), COMMIT, WAIT], ("wgmma-fence", "a product of another shape, k16")),
    "by a fence and one of another shape": ([FENCE, again("tf32"), COMMIT, WAIT], None),
    "by one in no group": ([again("f16")], ("async-not-awaited", "products are in no committed group")),
    "by one that is not waited for": ([again("f16"), COMMIT], ("async-not-awaited", "1 groups of wgmma were never")),
    "by one whose registers are written in flight": (
        [again("f16"), COMMIT, TOUCH, WAIT], ("async-not-awaited", "touches an accumulator of a product"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("how", FOLLOWED)
def test_a_product_followed(how: str):
    lines, expected = FOLLOWED[how]
    sides = [(*image(each, 1, True, 16384), True) for each in operands("f16", 8)]
    _, report = multiply("f16", 8, sides[0], sides[1], "\n      ".join(lines))
    if expected is None:
        assert not report.findings, str(report)
        return
    check, message = expected
    assert report.checks_found == {check}
    assert message in str(report)


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
