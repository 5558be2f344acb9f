"""The faithful engine, operation by operation, against NumPy: element types, fragments, copies and guards."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from small_kernels import DTYPES, random, run

from mlir_gemm.errors import InputError
from mlir_gemm.simulator.elements import ELEMENTS, truncated
from mlir_gemm.simulator.kernel import SimulationError


# Element types.
@pytest.mark.parametrize("element", ["f16", "bf16", "f8E4M3FN", "f8E5M2"])
def test_narrow_types_round_to_nearest_even_once(element: str):
    rng = np.random.default_rng(0)
    values = np.concatenate(
        [rng.standard_normal(40), rng.standard_normal(20) * 1e-4, [1 + 2**-9, 1 + 3 * 2**-9, 0, -0.0]]
    )
    a, b = values.astype(np.float32), np.zeros(64, DTYPES[element])
    code = f"""
      %x = memref.load %a[%t] : memref<64xf32>
      %y = arith.truncf %x : f32 to {element}
      memref.store %y, %b[%t] : memref<64x{element}>"""
    assert not run(code, [a, b], roles="in out").findings
    np.testing.assert_array_equal(b.view(f"u{b.itemsize}"), a.astype(b.dtype).view(f"u{b.itemsize}"))


def test_f64_is_not_rounded_twice():
    """The f32 in between is the tie that the f64 is not."""
    value = 1 + 2.0**-8 + 2.0**-40
    assert ELEMENTS["bf16"].cast(np.array([value]))[0] == np.float32(1 + 2.0**-7)
    assert ELEMENTS["bf16"].cast(np.array([value - 2.0**-39]))[0] == np.float32(1)


@pytest.mark.parametrize("element", DTYPES)
def test_every_type_moves_through_shared_memory(element: str):
    dtype = np.dtype(DTYPES[element])
    a, b = random(element, 64), np.zeros(64, dtype)
    code = f"""
      %m = memref.view %bytes[%c0][] : memref<512xi8, 3> to memref<64x{element}, 3>
      %x = memref.load %a[%t] : memref<64x{element}>
      memref.store %x, %m[%t] : memref<64x{element}, 3>
      gpu.barrier
      %y = memref.load %m[%t] : memref<64x{element}, 3>
      memref.store %y, %b[%t] : memref<64x{element}>"""
    assert not run(code, [a, b], roles="in out", shared=512).findings
    np.testing.assert_array_equal(a, b)


# Products of fragments.
MMA = {
    "f16 into f32": ("f16", "f32", 16, 16), "f16 into f16": ("f16", "f16", 16, 16), "f16, k8": ("f16", "f32", 16, 8),
    "bf16": ("bf16", "f32", 16, 16), "bf16, k8": ("bf16", "f32", 16, 8), "tf32": ("f32", "f32", 16, 8),
    "tf32, k4": ("f32", "f32", 16, 4), "f64": ("f64", "f64", 8, 4), "i8": ("i8", "i32", 16, 32),
    "i8, k16": ("i8", "i32", 16, 16), "e4m3": ("f8E4M3FN", "f32", 16, 32),
}  # fmt: skip


def held(matrix: Any, each: int) -> Any:
    """Who holds A (or, transposed, B) by PTX's tables: [lane, register, element] of a matrix (rows, k)."""
    rows, depth = matrix.shape
    lanes = np.empty((32, depth // (4 * each) * rows // 8, each), matrix.dtype)
    for lane in range(32):
        register = 0
        for first in range(0, depth, 4 * each):
            for row in range(lane // 4, rows, 8):
                start = first + lane % 4 * each
                lanes[lane, register] = matrix[row, start : start + each]
                register += 1
    return lanes


@pytest.mark.parametrize("name", MMA)
def test_mma_sync(name: str):
    element, sums, rows, depth = MMA[name]
    if element.startswith("f8"):
        pytest.skip("nvgpu.mma.sync of fp8 is refused by this version of the bindings")
    a, b, c = random(element, rows, depth), random(element, depth, 8, seed=1), random(sums, rows, 8, seed=2)
    each = max(1, 4 // a.itemsize)
    left, right, start = held(a, each), held(b.T.copy(), each), held(c, 2)
    out = np.zeros_like(start)
    registers = [x.shape[1] for x in (left, right, start)]
    flat = [x.reshape(32, -1) for x in (left, right, start)]
    types = [
        f"vector<{n}x{e}x{t}>" for n, e, t in zip(registers, (each, each, 2), (element, element, sums), strict=True)
    ]
    loads = "".join(
        f"""
      %w{i} = vector.load %{x}[%t, %c0] : memref<32x{f.shape[1]}x{t}>, vector<{f.shape[1]}x{t}>
      %v{i} = vector.shape_cast %w{i} : vector<{f.shape[1]}x{t}> to {types[i]}"""
        for i, (x, f, t) in enumerate(zip("abc", flat, (element, element, sums), strict=True))
    )
    tf32 = ", tf32Enabled" if element == "f32" else ""
    code = f"""{loads}
      %p = nvgpu.mma.sync (%v0, %v1, %v2) {{mmaShape = [{rows}, 8, {depth}]{tf32}}}
        : ({", ".join(types)}) -> {types[2]}
      %r = vector.shape_cast %p : {types[2]} to vector<{flat[2].shape[1]}x{sums}>
      vector.store %r, %d[%t, %c0] : memref<32x{flat[2].shape[1]}x{sums}>, vector<{flat[2].shape[1]}x{sums}>"""
    result = out.reshape(32, -1)
    report = run(code, [*flat, result], threads=32)
    assert not report.findings, str(report)
    if element == "f32":
        a, b = truncated(a), truncated(b)
    want = a.astype(np.float64) @ b.astype(np.float64) + c.astype(np.float64)
    tolerance = {"f16": 2e-3, "i32": 0, "f64": 1e-14}.get(sums, 1e-6)
    np.testing.assert_allclose(result, held(want, 2).reshape(32, -1), rtol=tolerance, atol=8 * tolerance)


def test_tf32_drops_the_last_bits():
    value = np.array([1 + 2.0**-10 + 2.0**-11 + 2.0**-12], np.float32)
    assert truncated(value)[0] == 1 + 2.0**-10


@pytest.mark.parametrize("element, tiles, transposed", [
    ("f16", 4, False), ("f16", 2, True), ("bf16", 1, True), ("f32", 4, False), ("i8", 2, False), ("f8E5M2", 1, False),
])  # fmt: skip
def test_ldmatrix(element: str, tiles: int, transposed: bool):
    dtype = np.dtype(DTYPES[element])
    columns, each = 16 // dtype.itemsize, 4 // dtype.itemsize
    a = random(element, 8 * tiles, columns)
    out = np.zeros((32, tiles * each), dtype)
    rows = 8 * tiles
    code = f"""
      %m = memref.view %bytes[%c0][] : memref<512xi8, 3> to memref<{rows}x{columns}x{element}, 3>
      %rows = arith.constant {rows} : index
      %q = arith.cmpi ult, %t, %rows : index
      scf.if %q {{
        %v = vector.load %a[%t, %c0] : memref<{rows}x{columns}x{element}>, vector<{columns}x{element}>
        vector.store %v, %m[%t, %c0] : memref<{rows}x{columns}x{element}, 3>, vector<{columns}x{element}>
      }}
      gpu.barrier
      %row = arith.remui %t, %rows : index
      %f = nvgpu.ldmatrix %m[%row, %c0] {{numTiles = {tiles} : i32, transpose = {str(transposed).lower()}}}
        : memref<{rows}x{columns}x{element}, 3> -> vector<{tiles}x{each}x{element}>
      %r = vector.shape_cast %f : vector<{tiles}x{each}x{element}> to vector<{tiles * each}x{element}>
      vector.store %r, %b[%t, %c0] : memref<32x{tiles * each}x{element}>, vector<{tiles * each}x{element}>"""
    report = run(code, [a, out], threads=32, roles="in out", shared=512)
    assert not report.findings, str(report)
    matrices = a.reshape(tiles, 8, columns)
    if transposed:
        matrices = matrices.transpose(0, 2, 1)
    np.testing.assert_array_equal(out.reshape(32, tiles, each), matrices.reshape(tiles, 32, each).transpose(1, 0, 2))


# Asynchronous copies.
def clipped_copy(limit: str, shared: str = "") -> str:
    """Each lane copies up to four of 70 elements into its four of shared memory."""
    return f"""
      %i = arith.muli %t, %c4 : index
      %m = memref.view %bytes[%c0][] : memref<512xi8, 3> to memref<128xf32, 3>
      %size = arith.constant 70 : index
      %left = arith.subi %size, %i : index
      %some = arith.maxsi %left, %c0 : index
      %n = arith.minsi %some, {limit} : index
      %k = nvgpu.device_async_copy %a[%i], %m[%i], 4, %n {{bypassL1}} : memref<70xf32> to memref<128xf32, 3>
      %g = nvgpu.device_async_create_group %k
      nvgpu.device_async_wait %g
      {shared}
      %v = vector.load %m[%i] : memref<128xf32, 3>, vector<4xf32>
      vector.store %v, %b[%i] : memref<128xf32>, vector<4xf32>"""


def test_a_clipped_copy_reads_nothing_beyond_and_fills_with_zero():
    a, b = random("f32", 70), np.ones(128, np.float32)
    report = run(clipped_copy("%c4"), [a, b], threads=32, shared=512, roles="in out")
    assert not report.findings, str(report)
    np.testing.assert_array_equal(b, np.concatenate([a, np.zeros(58, np.float32)]))


def test_a_copy_that_is_not_clipped_reads_out_of_bounds():
    code = clipped_copy("%c4").replace(", 4, %n {bypassL1}", ", 4")
    a, b = random("f32", 70), np.ones(128, np.float32)
    assert run(code, [a, b], threads=32, shared=512, roles="in out").checks_found == {"out-of-bounds"}


def test_more_elements_than_the_copy_has_are_found():
    code = clipped_copy("%c4").replace("arith.minsi %some, %c4", "arith.maxsi %some, %c8")
    assert "undefined" in run(code, [random("f32", 70), np.ones(128, np.float32)], threads=32, shared=512).checks_found


def groups(pending: int, barrier: str, last: str = "nvgpu.device_async_wait %h {numGroups = 0 : i32}") -> set[str]:
    """Three groups of copies; the first is read, by the warp that did not copy it."""
    code = f"""
      %m = memref.view %bytes[%c0][] : memref<3072xi8, 3> to memref<3x256xf32, 3>
      %i = arith.muli %t, %c4 : index
      scf.for %j = %c0 to %c3 step %c1 {{
        %k = nvgpu.device_async_copy %a[%i], %m[%j, %i], 4 : memref<256xf32> to memref<3x256xf32, 3>
        %g = nvgpu.device_async_create_group %k
      }}
      %h = nvgpu.device_async_create_group
      nvgpu.device_async_wait %h {{numGroups = {pending} : i32}}
      {barrier}
      %c128 = arith.constant 128 : index
      %other = arith.xori %i, %c128 : index
      %v = vector.load %m[%c0, %other] : memref<3x256xf32, 3>, vector<4xf32>
      vector.store %v, %b[%other] : memref<256xf32>, vector<4xf32>
      {last}"""
    a, b = random("f32", 256), np.zeros(256, np.float32)
    found = run(code, [a, b], shared=3072, roles="in out").checks_found
    if not found:
        np.testing.assert_array_equal(a, b)
    return found


def test_groups_are_waited_for_in_order():
    assert groups(3, "gpu.barrier") == set()
    assert groups(0, "gpu.barrier") == set()
    assert "async-not-awaited" in groups(4, "gpu.barrier")
    assert "race-shared" in groups(3, "")


def test_copies_are_waited_for_before_the_end():
    assert groups(3, "gpu.barrier", last="") == {"async-not-awaited"}
    assert groups(1, "gpu.barrier", last="") == set()  # the group that is left has no copies


# Guards.
RAGGED = """
      %v = memref.load %a[%lane] : memref<32xf32>
      %q = arith.cmpi ult, %t, %c60 : index
      scf.if %q {
        memref.store %v, %b[%t] : memref<60xf32>
        %w = vector.broadcast %v : f32 to vector<1xf32>
        vector.store %w, %b[%t] : memref<60xf32>, vector<1xf32>
      }"""


def test_a_guard_keeps_lanes_from_writing_and_its_absence_is_found():
    for code, found in ((RAGGED, set()), (RAGGED.replace("ult, %t, %c60", "ule, %t, %c60"), {"out-of-bounds"}),
                        (RAGGED.replace("ult, %t", "ult, %c0"), {"out-of-bounds"})):  # fmt: skip
        a, b = random("f32", 32), np.zeros(60, np.float32)
        report = run(code, [a, b], roles="in out")
        assert report.checks_found == found, str(report)
        np.testing.assert_array_equal(b, np.tile(a, 2)[:60])


def test_a_vector_that_crosses_the_end_of_a_row_is_found():
    code = "%v = vector.load %a[%c1, %c4] : memref<8x6xf32>, vector<4xf32>"
    assert run(code, [random("f32", 8, 6)]).checks_found == {"out-of-bounds"}


def test_what_the_machine_does_not_have_is_refused():
    code = """
      %x = memref.load %a[%t] : memref<32xf32>
      %v = vector.broadcast %x : f32 to vector<4x1xf32>
      %w = vector.broadcast %x : f32 to vector<2x1xf32>
      %z = arith.constant dense<0.0> : vector<2x2xf32>
      %d = nvgpu.mma.sync (%v, %w, %z) {mmaShape = [16, 8, 8]}
        : (vector<4x1xf32>, vector<2x1xf32>, vector<2x2xf32>) -> vector<2x2xf32>"""
    with pytest.raises((SimulationError, InputError), match="tf32"):
        run(code, [random("f32", 32)], threads=32)


FRAGMENTS = """
      %fa = gpu.subgroup_mma_load_matrix %a[%c0, %c0] {leadDimension = 16 : index, transpose}
        : memref<16x16xf16> -> !gpu.mma_matrix<16x16xf16, "AOp">
      %fb = gpu.subgroup_mma_load_matrix %b[%c0, %c0] {leadDimension = 16 : index}
        : memref<16x16xf16> -> !gpu.mma_matrix<16x16xf16, "BOp">
      %fc = gpu.subgroup_mma_load_matrix %c[%c0, %c0] {leadDimension = 16 : index}
        : memref<16x16xf32> -> !gpu.mma_matrix<16x16xf32, "COp">
      %fd = gpu.subgroup_mma_compute %fa, %fb, %fc {a_transpose}
        : !gpu.mma_matrix<16x16xf16, "AOp">, !gpu.mma_matrix<16x16xf16, "BOp"> -> !gpu.mma_matrix<16x16xf32, "COp">
      gpu.subgroup_mma_store_matrix %fd, %c[%c0, %c0] {leadDimension = 16 : index}
        : !gpu.mma_matrix<16x16xf32, "COp">, memref<16x16xf32>"""


def test_a_fragment_loaded_by_columns():
    a, b, c = random("f16", 16, 16), random("f16", 16, 16, seed=1), random("f32", 16, 16)
    want = a.T.astype(np.float64) @ b.astype(np.float64) + c
    assert not run(FRAGMENTS, [a, b, c], threads=32, roles="in in inout").findings
    np.testing.assert_allclose(c, want, rtol=1e-5, atol=1e-5)
    report = run(FRAGMENTS.replace(" {a_transpose}", ""), [a, b, c], threads=32, roles="in in inout")
    assert "a_transpose differs from how operand 0 was loaded" in str(report)
