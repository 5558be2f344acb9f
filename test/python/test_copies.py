"""Copies between global and shared memory, run by the simulator: ragged sizes, every kind of copy, layouts, types."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mlir_gemm.pipeline.runner import run_passes
from mlir_gemm.simulator.elements import ELEMENTS
from mlir_gemm.simulator.kernel import Options, Report, simulate

PIPELINE = [
    "cse", "parallelize-blocks", "lower-affine,cse", "rasterize-blocks", "cse", "distribute-warps{warp=32,32,16}",
    "cse", "launch-blocks{threads=128}", "gpu-launch-sink-index-computations,gpu-kernel-outlining,cse",
]  # fmt: skip
COPIES = ["distribute-copies", "lower-cp-async", "place-shared", "fold-subviews", "swizzle-accesses"]
CLEAN = ["lower-unit-ids", "gpu.module(gpu.func(canonicalize,cse,loop-invariant-code-motion))", "check-lowered"]
LOWER = ["apply-layouts", "unroll-loops", "wmma-epilogue", "mma-to-wmma", *COPIES, *CLEAN]
WHOLE = "in_bounds = array<i1: true, true>"
OPERANDS = "operandSegmentSizes = array<i32: 1, 1, 2>"


def product(rows: int, columns: int, depth: int, fill: str = "", more: str = "") -> str:
    """C[128, 128] += A[rows, depth] B[depth, columns] in tiles of 64x64x32. `fill` fills the buffer of A, if not a
    copy; `more` are further arguments."""
    a, b, c = f"memref<{rows}x{depth}xf16>", f"memref<{depth}x{columns}xf16>", "memref<128x128xf32>"
    copy = f'"tile.copy"(%as, %A, %m, %l) {{{OPERANDS}}} : (memref<64x32xf16, 3>, {a}, index, index) -> ()'
    return f"""
module {{
  func.func @product(%A: {a} {{tile.role = "in"}}, %B: {b} {{tile.role = "in"}}, %C: {c} {{tile.role = "inout"}}{more}) {{
    affine.for %i = 0 to 2 {{
      affine.for %j = 0 to 2 {{
        %as = memref.alloc() {{tile.layout = "pad8"}} : memref<64x32xf16, 3>
        %bs = memref.alloc() {{tile.layout = "pad8"}} : memref<32x64xf16, 3>
        %m = affine.apply affine_map<(d0) -> (d0 * 64)>(%i)
        %n = affine.apply affine_map<(d0) -> (d0 * 64)>(%j)
        %old = "tile.load"(%C, %m, %n) {{operandSegmentSizes = array<i32: 1, 2>, {WHOLE}}} : ({c}, index, index) -> vector<64x64xf32>
        %new = affine.for %k = 0 to {-(-depth // 32)} iter_args(%acc = %old) -> (vector<64x64xf32>) {{
          %l = affine.apply affine_map<(d0) -> (d0 * 32)>(%k)
          {fill or copy}
          "tile.copy"(%bs, %B, %l, %n) {{{OPERANDS}}} : (memref<32x64xf16, 3>, {b}, index, index) -> ()
          %sum = "tile.mma"(%as, %bs, %acc) {{a = "mk", b = "kn"}} : (memref<64x32xf16, 3>, memref<32x64xf16, 3>, vector<64x64xf32>) -> vector<64x64xf32>
          affine.yield %sum : vector<64x64xf32>
        }} {{tile.loop = "k"}}
        "tile.store"(%new, %C, %m, %n) {{{OPERANDS}, {WHOLE}}} : (vector<64x64xf32>, {c}, index, index) -> ()
      }} {{tile.loop = "block"}}
    }} {{tile.loop = "block"}}
    return
  }}
}}"""  # noqa: E501


def check(report: Report) -> None:
    """Asserts that a run found nothing."""
    assert not report.findings, "\n".join(map(str, report.findings))
    assert not report.stopped


def run_product(text: str, copy: str, stages: int, a: Any, b: Any, *others: Any, bits: int = 128) -> tuple[Any, str]:
    """C and the lowered text; C starts with ones."""
    lower = [step.replace("distribute-copies", f"distribute-copies{{bits={bits}}}") for step in LOWER]
    lowered = run_passes(text, [f"multi-buffer{{stages={stages}}}", copy, *PIPELINE, *lower])
    c = np.ones((128, 128), np.float32)
    check(simulate(lowered, [a, b, c, *others]))
    return c, lowered


def operands(rows: int, columns: int, depth: int) -> tuple[Any, Any]:
    """Random A and B."""
    numbers = np.random.default_rng(rows + columns + depth)
    a, b = (numbers.standard_normal(shape).astype(np.float16) for shape in ((rows, depth), (depth, columns)))
    return a, b


def expected(a: Any, b: Any) -> Any:
    """Ones plus the product, with zeros around it."""
    c = np.ones((128, 128), np.float64)
    c[: a.shape[0], : b.shape[1]] += a.astype(np.float64) @ b.astype(np.float64)
    return c


SIZES = [(128, 128, 96), (100, 104, 72), (128, 120, 32), (65, 63, 33), (1, 1, 1), (128, 128, 160), (97, 126, 61)]


@pytest.mark.parametrize(
    ("copy", "stages"),
    [("order-copies", 1), ("order-copies", 3), ("register-prefetch", 1), ("register-prefetch", 2),
     ("register-prefetch", 3), ("cp-async-pipeline", 2), ("cp-async-pipeline", 3), ("cp-async-pipeline", 4)],
)  # fmt: skip
@pytest.mark.parametrize("size", SIZES)
def test_product(size: tuple[int, int, int], copy: str, stages: int) -> None:
    a, b = operands(*size)
    c, text = run_product(product(*size), copy, stages, a, b)
    np.testing.assert_allclose(c, expected(a, b), rtol=1e-5, atol=1e-4)
    if copy == "cp-async-pipeline" and not size[1] % 2:
        assert "nvgpu.device_async_copy" in text


SCALED = f"""
          %x = "tile.load"(%A, %m, %l) {{operandSegmentSizes = array<i32: 1, 2>}} : (memref<100x72xi8>, index, index) -> vector<64x32xi8>
          %s = "tile.load"(%S, %m) {{operandSegmentSizes = array<i32: 1, 1>, dims = array<i64: 0>}} : (memref<100xf16>, index) -> vector<64x32xf16>
          %f = arith.sitofp %x : vector<64x32xi8> to vector<64x32xf16>
          %c = arith.mulf %f, %s : vector<64x32xf16>
          %size = arith.constant 72 : index
          %y = "tile.clip"(%c, %l, %size) {{dim = 1 : i64}} : (vector<64x32xf16>, index, index) -> vector<64x32xf16>
          %o = arith.constant 0 : index
          "tile.store"(%y, %as, %o, %o) {{{OPERANDS}, {WHOLE}}} : (vector<64x32xf16>, memref<64x32xf16, 3>, index, index) -> ()
"""  # noqa: E501


@pytest.mark.parametrize(
    ("copy", "stages"),
    [("order-copies", 1), ("order-copies", 2), ("register-prefetch", 1), ("register-prefetch", 2),
     ("register-prefetch{early=false}", 3)],
)  # fmt: skip
def test_product_of_scaled_integers(copy: str, stages: int) -> None:
    numbers = np.random.default_rng(5)
    a = numbers.integers(-4, 5, (100, 72)).astype(np.int8)
    b = numbers.standard_normal((72, 104)).astype(np.float16)
    scale = np.asarray(2.0 ** numbers.integers(-2, 2, 100), np.float16)
    more = ', %S: memref<100xf16> {tile.role = "in"}'
    text = product(100, 104, 72, SCALED, more).replace("%A: memref<100x72xf16>", "%A: memref<100x72xi8>")
    c, lowered = run_product(text, copy, stages, a, b, scale)
    np.testing.assert_allclose(c, expected(a * scale[:, None], b), rtol=1e-5, atol=1e-4)
    if copy == "register-prefetch":  # loads in front of the barrier of a step, arithmetic after its products
        step = lowered[lowered.index("scf.for") :]
        places = [step.index(name) for name in ("vector.load", "gpu.barrier", "subgroup_mma_compute", "arith.sitofp")]
        assert places == sorted(places)


def relay(
    memory: str, tile: tuple[int, int], out: str, attributes: str = "", layout: str = "", work: str = "",
    asynchronous: bool = False, threads: int = 64, at: tuple[str, ...] = ("%m", "%n"), cast: str = "",
) -> str:  # fmt: skip
    """A kernel whose every block carries a tile of `memory`, the type of the first argument, through shared memory to
    the second, `out`. Blocks are numbered along rows of 4 tiles. `work` makes %w of the tile %t on the way; `cast`
    makes the memory of %given, which is then the first argument, of the type `out`."""
    rows, columns = tile
    given = out if cast else memory
    element = memory.rstrip(">").split(",")[0].split("x")[-1]
    shared, vector = f"memref<{rows}x{columns}x{element}, 3>", f"vector<{rows}x{columns}x{element}>"
    copy = "copy_async" if asynchronous else "copy"
    sizes = f"operandSegmentSizes = array<i32: 1, 1, {len(at)}>{attributes}"
    types = f"(memref<{rows}x{columns}x{element}, 3>, {memory}, {', '.join(['index'] * len(at))}) -> ()"
    wait = '"tile.commit"() : () -> ()\n "tile.await"() {pending = 0 : i64} : () -> ()' if asynchronous else ""
    layout = f' {{tile.layout = "{layout}"}}' if layout else ""
    return f"""
module attributes {{gpu.container_module}} {{
  func.func @relay(%from: {given} {{tile.role = "in"}}, %to: {out} {{tile.role = "result"}}) {{
    %one = arith.constant 1 : index
    %blocks = arith.constant 12 : index
    %threads = arith.constant {threads} : index
    gpu.launch_func @kernels::@relay blocks in (%blocks, %one, %one) threads in (%threads, %one, %one) args(%from : {given}, %to : {out})
    return
  }}
  gpu.module @kernels {{
    gpu.func @relay({"%given" if cast else "%from"}: {given}, %to: {out}) kernel attributes {{known_block_size = array<i32: {threads}, 1, 1>}} {{
      {f"%from = {cast}" if cast else ""}
      %o = arith.constant 0 : index
      %four = arith.constant 4 : index
      %rows = arith.constant {rows} : index
      %columns = arith.constant {columns} : index
      %block = gpu.block_id x
      %i = arith.divui %block, %four : index
      %j = arith.remui %block, %four : index
      %m = arith.muli %i, %rows : index
      %n = arith.muli %j, %columns : index
      %shared = memref.alloc(){layout} : {shared}
      "tile.{copy}"(%shared, %from, {", ".join(at)}) {{{sizes}}} : {types}
      {wait}
      gpu.barrier
      %v = "tile.load"(%shared, %o, %o) {{operandSegmentSizes = array<i32: 1, 2>, {WHOLE}}} : ({shared}, index, index) -> {vector}
      %t = arith.bitcast %v : {vector} to {vector}
      {work or f"%w = arith.bitcast %t : {vector} to {vector}"}
      "tile.store"(%w, %to, %m, %n) {{{OPERANDS}}} : ({vector}, {out}, index, index) -> ()
      gpu.return
    }}
  }}
}}"""  # noqa: E501


def run_relay(text: str, source: Any, shape: tuple[int, ...], options: str = "") -> tuple[Any, str, Report]:
    """What a relay writes, its lowered text and the report."""
    copies = [step.replace("distribute-copies", f"distribute-copies{{{options}}}") for step in COPIES]
    lowered = run_passes(text, ["apply-layouts", *copies, *CLEAN])
    result = np.zeros(shape, source.dtype)
    report = simulate(lowered, [source, result], Options(checks=True, counters=True))
    check(report)
    return result, lowered, report


TYPES = ("f16", "bf16", "f32", "f64", "i8", "i32", "f8E4M3FN")


def numbers_of(element: str, shape: tuple[int, ...]) -> Any:
    """Small whole numbers, none of them zero."""
    values = np.random.default_rng(len(element)).integers(1, 100, shape)
    return values.astype(ELEMENTS[element].storage)


WIDTHS = ("f16", "f32", "f64", "i8")
"""A type of each size, on which the way of a copy depends."""
RELAYS = [
    ((96, 128), (32, 32), ""), ((91, 100), (32, 32), ""), ((96, 111), (32, 32), ""), ((70, 98), (32, 32), "bits=64"),
    ((31, 30), (12, 10), ""), ((91, 100), (32, 32), "unroll=false"), ((45, 24), (16, 6), "unroll=false"),
    ((3, 4), (1, 1), ""), ((128, 1024), (64, 512), ""), ((1, 160), (1, 40), ""),
]  # fmt: skip
"""Sizes of the matrix and of a tile, and options of `distribute-copies`."""


@pytest.mark.parametrize("asynchronous", [False, True], ids=["copy", "async"])
@pytest.mark.parametrize(
    ("sizes", "tile", "options", "element"),
    [
        (*relay, element)
        for number, relay in enumerate(RELAYS)
        for element in (TYPES if number < 2 else WIDTHS)
        if (number, element) != (8, "f64")  # the loop over what one thread copies, twice as long
    ],
)
def test_relay(sizes: tuple[int, int], tile: tuple[int, int], options: str, element: str, asynchronous: bool) -> None:
    """Every size of an element on each way; the other types aligned and with ragged edges."""
    source = numbers_of(element, sizes)
    if element == "f64" and options.startswith("bits"):
        options = ""
    memory = f"memref<{sizes[0]}x{sizes[1]}x{element}>"
    text = relay(memory, tile, memory, asynchronous=asynchronous)
    result, lowered, _ = run_relay(text, source, sizes, options)
    np.testing.assert_array_equal(result, source)
    if asynchronous and sizes == (96, 128):
        assert "bypassL1" in lowered and "vector.store" in lowered


@pytest.mark.parametrize("asynchronous", [False, True], ids=["copy", "async"])
def test_transposed(asynchronous: bool) -> None:
    """The tile's rows run along the memory's columns: element by element, neighbours by neighbouring threads."""
    source = numbers_of("f16", (100, 90))
    text = relay(
        "memref<100x90xf16>", (32, 32), "memref<90x100xf16>", ", dims = array<i64: 1, 0>", asynchronous=asynchronous,
        at=("%n", "%m"),
    )  # fmt: skip
    result, lowered, _ = run_relay(text, source, (90, 100))
    np.testing.assert_array_equal(result, source.T)
    assert "device_async_copy" not in lowered


@pytest.mark.parametrize("asynchronous", [False, True], ids=["copy", "async"])
def test_columns(asynchronous: bool) -> None:
    """A matrix stored column by column, its tile as it is stored: whole vectors."""
    source = numbers_of("f16", (96, 104))
    stored, dense = "memref<104x96xf16, strided<[1, 104]>>", "memref<96x104xf16>"
    view = f"to offset: [0], sizes: [104, 96], strides: [1, 104] : {dense} to {stored}"
    text = relay(
        stored, (32, 32), dense, ", dims = array<i64: 1, 0>", asynchronous=asynchronous, at=("%n", "%m"),
        cast=f"memref.reinterpret_cast %given {view}",
    )  # fmt: skip
    result, lowered, _ = run_relay(text, source, (96, 104))
    np.testing.assert_array_equal(result, source)
    assert ("bypassL1" in lowered) == asynchronous
    assert "memref.load" not in lowered


def test_batches() -> None:
    """One index of the first dimension only, out of bounds for the last row of blocks."""
    source = numbers_of("f16", (2, 32, 100))
    text = relay("memref<2x32x100xf16>", (32, 32), "memref<96x100xf16>", at=("%i", "%o", "%n"))
    result, _, _ = run_relay(text, source, (96, 100))
    np.testing.assert_array_equal(result[:64].reshape(2, 32, 100), source)
    assert not result[64:].any()


@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("size", [24, 20, 21])
def test_clip(dim: int, size: int) -> None:
    source = numbers_of("f16", (96, 128))
    vector = "vector<32x32xf16>"
    work = f"""%size = arith.constant {size} : index
      %one = arith.constant dense<1.0> : {vector}
      %p = arith.addf %t, %one : {vector}
      %w = "tile.clip"(%p, %o, %size) {{dim = {dim} : i64}} : ({vector}, index, index) -> {vector}"""
    result, _, _ = run_relay(relay("memref<96x128xf16>", (32, 32), "memref<96x128xf16>", work=work), source, (96, 128))
    wanted = (source + np.float16(1)).reshape(3, 32, 4, 32)
    (wanted[:, size:] if dim == 0 else wanted[:, :, :, size:])[...] = 0
    np.testing.assert_array_equal(result, wanted.reshape(96, 128))


@pytest.mark.parametrize("asynchronous", [False, True], ids=["copy", "async"])
@pytest.mark.parametrize("columns", [16, 32, 64, 128, 96, 24])
@pytest.mark.parametrize("element", ["f16", "f32", "i8"])
def test_swizzled_relay(element: str, columns: int, asynchronous: bool) -> None:
    """Rows in and out: the same numbers, no bank conflicts."""
    if element == "i8" and columns == 24:
        return  # no whole chunks
    source = numbers_of(element, (90, 4 * columns))
    memory = f"memref<90x{4 * columns}x{element}>"
    text = relay(memory, (32, columns), memory, layout="xor", asynchronous=asynchronous)
    result, lowered, report = run_relay(text, source, (90, 4 * columns))
    np.testing.assert_array_equal(result, source)
    assert "tile.layout" not in lowered
    assert report.counters.bank_conflicts == 0
