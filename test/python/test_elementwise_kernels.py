"""Elementwise kernels: random generics, through the stages, in the simulator, against NumPy; and their PTX."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from elementwise_kernels import NUMPY, compile_elementwise, function, generic, memref, numbers, ptx, run

from mlir_gemm.dialect.walk import named
from mlir_gemm.errors import PassError
from mlir_gemm.pipeline.launch_info import launch_of
from mlir_gemm.simulator.stages import run_stage


@pytest.mark.parametrize("seed", range(24))
def test_random_elementwise(seed: int) -> None:
    """Any rank, permuted and broadcast operands, an output in another order."""
    rng = np.random.default_rng(seed)
    rank = int(rng.integers(1, 5))
    sizes = tuple(int(size) for size in rng.choice([1, 2, 3, 5, 7, 8, 16, 33], rank))
    element = str(rng.choice(["f16", "f32", "f64", "i32"]))
    orders = [list(rng.permutation(rank)) if seed % 3 else list(range(rank)) for _ in range(3)]
    orders[0] = [loop for loop in orders[0] if rng.random() < 0.7]
    shapes = [tuple(sizes[loop] for loop in order) for order in orders]
    maps = [", ".join(f"d{loop}" for loop in order) for order in orders]
    types = [memref(shape, element) for shape in shapes]
    add, mul = ("arith.addi", "arith.muli") if element == "i32" else ("arith.addf", "arith.mulf")
    body = f"""  ^bb0(%x: {element}, %y: {element}, %z: {element}):
    %s = {add} %x, %y : {element}
    %p = {mul} %s, %y : {element}
    linalg.yield %p : {element}"""
    text = function(
        [(types[0], "in"), (types[1], "in"), (types[2], "out")],
        generic(maps, "p" * rank, [f"%a : {types[0]}", f"%b : {types[1]}"], [f"%c : {types[2]}"], body),
    )
    a, b = (numbers(rng, shape, element) for shape in shapes[:2])
    c = np.zeros(shapes[2], NUMPY[element])
    letters = "abcdefgh"

    def spread(array: Any, order: list[int]) -> Any:
        """The array with an axis for each loop."""
        kept = sorted(order)
        moved = np.einsum(
            array, [ord(letters[loop]) - 97 for loop in order], [ord(letters[loop]) - 97 for loop in kept]
        )
        return moved.reshape([sizes[loop] if loop in order else 1 for loop in range(rank)])

    x, y = spread(a, orders[0]), spread(b, orders[1])
    want = np.transpose(np.broadcast_to((x + y) * y, sizes), orders[2])
    run(text, a, b, c)
    assert np.array_equal(c, want)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("kind", ["sum", "max"])
def test_reductions(axis: int, kind: str) -> None:
    sizes = (5, 6, 7)
    kinds = "".join("r" if loop == axis else "p" for loop in range(3))
    left = [loop for loop in range(3) if loop != axis]
    shape = tuple(sizes[loop] for loop in left)
    start, combine = {"sum": ("0.0", "arith.addf"), "max": ("0xFF800000", "arith.maximumf")}[kind]
    body = f"  ^bb0(%x: f32, %y: f32):\n    %s = {combine} %x, %y : f32\n    linalg.yield %s : f32"
    types = memref(sizes, "f32"), memref(shape, "f32")
    lines = f"  %start = arith.constant {start} : f32\n  linalg.fill ins(%start : f32) outs(%b : {types[1]})\n"
    maps = ["d0, d1, d2", ", ".join(f"d{loop}" for loop in left)]
    lines += generic(maps, kinds, [f"%a : {types[0]}"], [f"%b : {types[1]}"], body)
    a, b = numbers(np.random.default_rng(axis), sizes, "f32"), np.zeros(shape, np.float32)
    report = run(function([(types[0], "in"), (types[1], "out")], lines), a, b)
    assert np.allclose(b, a.sum(axis) if kind == "sum" else a.max(axis), rtol=1e-6, atol=1e-6)
    assert report.counters.instructions["memref.store"] <= 1  # the accumulator stayed in a register


def test_dimensions_of_one_element() -> None:
    """As PyTorch keeps a reduced dimension: the fill has a loop more than the sum."""
    types = "memref<3x4xf32>", "memref<3x1xf32>"
    lines = f"  %s = arith.constant 0.0 : f32\n  linalg.fill ins(%s : f32) outs(%b : {types[1]})\n"
    add = "^bb0(%x: f32, %y: f32):\n %t = arith.addf %x, %y : f32\n linalg.yield %t : f32"
    lines += generic(["d0, d1", "d0, 0"], "pr", [f"%a : {types[0]}"], [f"%b : {types[1]}"], add)
    a, b = numbers(np.random.default_rng(0), (3, 4), "f32"), np.zeros((3, 1), np.float32)
    run(function([(types[0], "in"), (types[1], "out")], lines), a, b)
    assert np.allclose(b, a.sum(1, keepdims=True), rtol=1e-5, atol=1e-6)


def test_softmax_of_rows_in_three_kernels() -> None:
    rng = np.random.default_rng(0)
    rows, columns = 7, 20
    x = numbers(rng, (rows, columns), "f32")
    most, total, out = np.zeros(rows, np.float32), np.zeros(rows, np.float32), np.zeros_like(x)
    wide, narrow = memref((rows, columns), "f32"), memref((rows,), "f32")
    largest = generic(["d0, d1", "d0"], "pr", [f"%a : {wide}"], [f"%b : {narrow}"],
                      "^bb0(%x: f32, %y: f32):\n %s = arith.maximumf %x, %y : f32\n linalg.yield %s : f32")  # fmt: skip
    fill = "%s0 = arith.constant {} : f32\n linalg.fill ins(%s0 : f32) outs(%{} : {})\n"
    run(function([(wide, "in"), (narrow, "out")], fill.format("0xFF800000", "b", narrow) + largest), x, most)
    body = """^bb0(%x: f32, %m: f32, %y: f32):
      %s = arith.subf %x, %m : f32
      %e = math.exp %s : f32
      %t = arith.addf %e, %y : f32
      linalg.yield %t : f32"""
    summed = generic(["d0, d1", "d0", "d0"], "pr", [f"%a : {wide}", f"%b : {narrow}"], [f"%c : {narrow}"], body)
    run(function([(wide, "in"), (narrow, "in"), (narrow, "out")], fill.format("0.0", "c", narrow) + summed),
        x, most, total)  # fmt: skip
    body = """^bb0(%x: f32, %m: f32, %n: f32, %y: f32):
      %s = arith.subf %x, %m : f32
      %e = math.exp %s : f32
      %q = arith.divf %e, %n : f32
      linalg.yield %q : f32"""
    last = generic(["d0, d1", "d0", "d0", "d0, d1"], "pp",
                   [f"%a : {wide}", f"%b : {narrow}", f"%c : {narrow}"], [f"%d : {wide}"], body)  # fmt: skip
    run(function([(wide, "in"), (narrow, "in"), (narrow, "in"), (wide, "out")], last), x, most, total, out)
    want = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    assert np.allclose(out, want / want.sum(1, keepdims=True), rtol=1e-6)


def test_chain_with_a_temporary_buffer_and_two_outputs() -> None:
    """Operations on the same points go into one thread; the temporary buffer vanishes; accesses are vectors."""
    type_, wide = memref((6, 32), "f16"), memref((6, 32), "f32")
    body = """^bb0(%x: f16, %t: f32, %y: f16):
      %e = arith.extf %x : f16 to f32
      %s = math.tanh %e : f32
      %n = arith.negf %x : f16
      linalg.yield %s, %n : f32, f16"""
    lines = f"  %tmp = memref.alloc() : {wide}\n"
    lines += generic(["d0, d1"] * 3, "pp", [f"%a : {type_}"], [f"%tmp : {wide}", f"%b : {type_}"], body)
    body = """^bb0(%x: f32, %s: f32, %y: f32):
      %m = arith.mulf %x, %s : f32
      linalg.yield %m : f32"""
    lines += "\n" + generic(["d0, d1", "d1", "d0, d1"], "pp", [f"%tmp : {wide}", "%d : memref<32xf32>"],
                            [f"%c : {wide}"], body)  # fmt: skip
    text = function([(type_, "in"), (type_, "out"), (wide, "out"), ("memref<32xf32>", "in")], lines)
    rng = np.random.default_rng(0)
    a, scale = numbers(rng, (6, 32), "f16"), numbers(rng, (32,), "f32")
    b, c = np.zeros((6, 32), np.float16), np.zeros((6, 32), np.float32)
    run(text, a, b, c, scale)
    assert np.array_equal(b, -a)
    assert np.allclose(c, np.tanh(a.astype(np.float64)) * scale, rtol=1e-6)
    code = ptx(text)
    assert "st.global.v4" in code and "st.global.v2" in code and "ld.global.v2" in code, code


@pytest.mark.parametrize(("rows", "columns", "padded_rows", "padded"), [(9, 21, 9, 24), (5, 40, 8, 64), (3, 7, 3, 7)])
@pytest.mark.parametrize("element", ["f16", "f32", "i8"])
def test_padding(rows: int, columns: int, padded_rows: int, padded: int, element: str) -> None:
    """A matrix with rows of any length, laid out with longer rows, zeros after each."""
    types = memref((rows, columns), element), memref((padded_rows, padded), element)
    copy = f"""  %zero = arith.constant 0 : index
  "tile.copy"(%b, %a, %zero, %zero) {{operandSegmentSizes = array<i32: 1, 1, 2>}} :
      ({types[1]}, {types[0]}, index, index) -> ()"""
    rng = np.random.default_rng(0)
    a, b = numbers(rng, (rows, columns), element), np.ones((padded_rows, padded), NUMPY[element])
    run(function([(types[0], "in"), (types[1], "out")], copy), a, b)
    want = np.zeros((padded_rows, padded))
    want[:rows, :columns] = a
    assert np.array_equal(b, want)


@pytest.mark.parametrize("seed", range(16))
def test_transposes_in_patches(seed: int) -> None:
    """Inputs that lie the other way, next to ones that lie as the output does and a row, in whole vectors."""
    rng = np.random.default_rng(seed)
    element = ("i8", "f16", "f32", "f64")[seed % 4]
    unit = 16 // np.dtype(NUMPY[element]).itemsize
    batch, rows, columns = (int(size) for size in rng.integers(1, 4, 3) * (1, unit, max(unit // 2, 8)))
    turned, straight = memref((batch, columns, rows), element), memref((batch, rows, columns), element)
    row = memref((rows,), element)
    add, mul = ("arith.addi", "arith.muli") if element == "i8" else ("arith.addf", "arith.mulf")
    body = f"""  ^bb0(%x: {element}, %y: {element}, %z: {element}, %o: {element}):
    %s = {add} %x, %y : {element}
    %p = {mul} %s, %z : {element}
    linalg.yield %p : {element}"""
    maps = ["d0, d1, d2", "d0, d2, d1", "d2", "d0, d1, d2"]
    ins = [f"%a : {turned}", f"%b : {straight}", f"%c : {row}"]
    text = function(
        [(turned, "in"), (straight, "in"), (row, "in"), (turned, "out")],
        generic(maps, "ppp", ins, [f"%d : {turned}"], body),
    )
    a, b, c = (numbers(rng, shape, element) for shape in ((batch, columns, rows), (batch, rows, columns), (rows,)))
    d = np.zeros((batch, columns, rows), NUMPY[element])
    run(text, a, b, c, d)
    assert np.array_equal(d, (a + b.transpose(0, 2, 1)) * c)
    assert f"vector<{unit}x{element}>" in str(compile_elementwise(text, until="tile"))


def test_padding_a_transposed_matrix() -> None:
    copy = """  %zero = arith.constant 0 : index
  "tile.copy"(%b, %a, %zero, %zero) {operandSegmentSizes = array<i32: 1, 1, 2>, dims = array<i64: 1, 0>} :
      (memref<16x8xf16>, memref<5x13xf16>, index, index) -> ()"""
    a, b = numbers(np.random.default_rng(0), (5, 13), "f16"), np.ones((16, 8), np.float16)
    run(function([("memref<5x13xf16>", "in"), ("memref<16x8xf16>", "out")], copy), a, b)
    want = np.zeros((16, 8))
    want[:13, :5] = a.T
    assert np.array_equal(b, want)


def test_indices_and_other_memory_in_the_body() -> None:
    """A causal mask by linalg.index, and a table read at a place that the data names."""
    body = """^bb0(%x: i32, %y: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %k = arith.index_cast %x : i32 to index
      %v = memref.load %b[%k] : memref<10xf32>
      %z = arith.constant 0.0 : f32
      %low = arith.cmpi uge, %i, %j : index
      %r = arith.select %low, %v, %z : f32
      linalg.yield %r : f32"""
    lines = generic(["d0, d1"] * 2, "pp", ["%a : memref<6x9xi32>"], ["%c : memref<6x9xf32>"], body)
    text = function([("memref<6x9xi32>", "in"), ("memref<10xf32>", "in"), ("memref<6x9xf32>", "out")], lines)
    rng = np.random.default_rng(0)
    a, b, c = rng.integers(0, 10, (6, 9), np.int32), numbers(rng, (10,), "f32"), np.zeros((6, 9), np.float32)
    run(text, a, b, c)
    assert np.array_equal(c, np.tril(b[a]))


def test_sum_of_everything_and_windows() -> None:
    """No parallel loop at all: one thread. Maps that add loops: a pooling window."""
    add = "^bb0(%x: f32, %y: f32):\n %s = arith.addf %x, %y : f32\n linalg.yield %s : f32"
    lines = generic(["d0, d1", ""], "rr", ["%a : memref<4x5xf32>"], ["%b : memref<f32>"], add)
    a, b = numbers(np.random.default_rng(0), (4, 5), "f32"), np.zeros((), np.float32)
    run(function([("memref<4x5xf32>", "in"), ("memref<f32>", "inout")], lines), a, b)
    assert np.allclose(b, a.sum(), rtol=1e-5)
    pool = "^bb0(%x: f32, %w: f32, %y: f32):\n %s = arith.maximumf %x, %y : f32\n linalg.yield %s : f32"
    lines = "  %start = arith.constant 0xFF800000 : f32\n  linalg.fill ins(%start : f32) outs(%c : memref<4xf32>)\n"
    lines += generic(["d0 * 2 + d1", "d1", "d0"], "pr", ["%a : memref<9xf32>", "%b : memref<3xf32>"],
                     ["%c : memref<4xf32>"], pool)  # fmt: skip
    a, c = numbers(np.random.default_rng(1), (9,), "f32"), np.zeros(4, np.float32)
    types = [("memref<9xf32>", "in"), ("memref<3xf32>", "in"), ("memref<4xf32>", "out")]
    run(function(types, lines), a, np.zeros(3, np.float32), c)
    assert np.array_equal(c, [a[2 * i : 2 * i + 3].max() for i in range(4)])


@pytest.mark.parametrize("name", ["f8E4M3FN", "f8E5M2"])
def test_8_bit_floats(name: str) -> None:
    """Dequantised with a scale for each row, and quantised again."""
    dtype = {"f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2}[name]
    eight, wide = memref((5, 32), name), memref((5, 32), "f16")
    body = f"""^bb0(%x: {name}, %s: f32, %y: f16, %z: {name}):
      %e = arith.extf %x : {name} to f32
      %m = arith.mulf %e, %s : f32
      %t = arith.truncf %m : f32 to f16
      %q = arith.truncf %m : f32 to {name}
      linalg.yield %t, %q : f16, {name}"""
    lines = generic(["d0, d1", "d0", "d0, d1", "d0, d1"], "pp", [f"%a : {eight}", "%b : memref<5xf32>"],
                    [f"%c : {wide}", f"%d : {eight}"], body)  # fmt: skip
    text = function([(eight, "in"), ("memref<5xf32>", "in"), (wide, "out"), (eight, "out")], lines)
    rng = np.random.default_rng(0)
    a, scale = rng.standard_normal((5, 32)).astype(dtype), numbers(rng, (5,), "f32")
    c, d = np.zeros((5, 32), np.float16), np.zeros((5, 32), dtype)
    run(text, a, scale, c, d)
    want = a.astype(np.float32) * scale[:, None]
    assert np.array_equal(c, want.astype(np.float16))
    assert np.array_equal(d.view(np.uint8), want.astype(dtype).view(np.uint8))
    assert "ld.global.v2.b32" in ptx(text) and "st.global.v4.b32" in ptx(text)


@pytest.mark.parametrize("seed", range(8))
def test_random_reductions(seed: int) -> None:
    """Loops of both kinds in any order, an output permuted, several operands; bf16 and f16 too."""
    rng = np.random.default_rng(seed)
    rank = int(rng.integers(2, 5))
    sizes = tuple(int(size) for size in rng.choice([1, 2, 3, 5, 9], rank))
    kinds = "".join(rng.choice(["p", "r"], rank))
    kept = [int(loop) for loop in rng.permutation([loop for loop in range(rank) if kinds[loop] == "p"])]
    element = ("f16", "bf16")[seed % 2]
    shapes = sizes, (sizes[-1],), tuple(sizes[loop] for loop in kept)
    types = memref(shapes[0], element), memref(shapes[1], element), memref(shapes[2], "f32")
    body = f"""^bb0(%x: {element}, %w: {element}, %y: f32):
      %u = arith.extf %x : {element} to f32
      %v = arith.extf %w : {element} to f32
      %p = arith.mulf %u, %v : f32
      %s = arith.addf %y, %p : f32
      linalg.yield %s : f32"""
    maps = [", ".join(f"d{loop}" for loop in loops) for loops in (range(rank), [rank - 1], kept)]
    lines = f"  %s0 = arith.constant 1.0 : f32\n  linalg.fill ins(%s0 : f32) outs(%c : {types[2]})\n"
    lines += generic(maps, kinds, [f"%a : {types[0]}", f"%b : {types[1]}"], [f"%c : {types[2]}"], body)
    dtype = np.float16 if element == "f16" else ml_dtypes.bfloat16
    a, b = (rng.standard_normal(shape).astype(dtype) for shape in shapes[:2])
    c = np.zeros(shapes[2], np.float32)
    run(function([(types[0], "in"), (types[1], "in"), (types[2], "out")], lines), a, b, c)
    product = a.astype(np.float64) * b.astype(np.float64)
    want = 1 + np.einsum(product, list(range(rank)), kept)
    assert np.allclose(c, want, rtol=1e-5, atol=1e-5)


def test_strided_argument() -> None:
    """Rows further apart than they are long, and a start inside the buffer."""
    strided = "memref<6x8xf32, strided<[24, 1], offset: 8>>"
    lines = generic(["d0, d1"] * 2, "pp", [f"%a : {strided}"], ["%b : memref<6x8xf32>"],
                    "^bb0(%x: f32, %y: f32):\n %s = arith.negf %x : f32\n linalg.yield %s : f32")  # fmt: skip
    text = function([(strided, "in"), ("memref<6x8xf32>", "out")], lines)
    assert "ld.global.v4" in ptx(text)
    assert "ld.global.v4" not in ptx(text.replace("[24, 1]", "[23, 1]"))


def test_more_than_2_to_the_31_points() -> None:
    size = (1 << 31) + 5
    lines = generic(["d0, d1"] * 2, "pp", [f"%a : memref<2x{size}xi8>"], [f"%b : memref<2x{size}xi8>"],
                    "^bb0(%x: i8, %y: i8):\n %s = arith.addi %x, %x : i8\n linalg.yield %s : i8")  # fmt: skip
    text = function([(f"memref<2x{size}xi8>", "in"), (f"memref<2x{size}xi8>", "out")], lines)
    module = compile_elementwise(text)
    assert launch_of(module).grid == (-(-2 * size // 256), 1, 1)
    divisions = named(module, "arith.divui", "arith.remui")
    assert divisions and all(str(op.operation.results[0].type) == "index" for op in divisions)
    assert ".u32" not in ptx(text).replace("mov.u32", "").replace("cvt.u64.u32", "").replace("mul.wide.u32", "")


def test_every_stage_computes_the_same() -> None:
    """The block-wide interpreter on the stages up to `launch`."""
    types = memref((6, 10), "f32"), memref((6,), "f32")
    lines = f"  %s = arith.constant 0.0 : f32\n  linalg.fill ins(%s : f32) outs(%b : {types[1]})\n"
    add = "^bb0(%x: f32, %y: f32):\n %t = arith.addf %x, %y : f32\n linalg.yield %t : f32"
    lines += generic(["d0, d1", "d0"], "pr", [f"%a : {types[0]}"], [f"%b : {types[1]}"], add)
    text = function([(types[0], "in"), (types[1], "out")], lines)
    a = numbers(np.random.default_rng(0), (6, 10), "f32")
    for stage in ("tile", "launch"):
        b = np.zeros(6, np.float32)
        run_stage(str(compile_elementwise(text, stage)), [a, b])
        assert np.allclose(b, a.sum(1), rtol=1e-5), stage


def test_in_place_transposition_is_refused() -> None:
    lines = generic(["d1, d0", "d0, d1"], "pp", ["%a : memref<4x4xf32>"], ["%a : memref<4x4xf32>"],
                    "^bb0(%x: f32, %y: f32):\n linalg.yield %x : f32")  # fmt: skip
    with pytest.raises(PassError, match="other points touch"):
        compile_elementwise(function([("memref<4x4xf32>", "inout")], lines))
