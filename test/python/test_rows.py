"""Kernels of rows: each stage gives the same numbers, and the lowered kernel passes all checks of the simulator."""

from __future__ import annotations

import json

import numpy as np
import pytest
from row_cases import CASES, COMBINERS, odd_softmax, quantised, reduced, residual_norm
from row_kernels import (
    CHIP,
    NUMPY,
    Array,
    Case,
    Rows,
    check_stages,
    close,
    compiled,
    fields,
    measured,
    nothing,
    numbers,
    pinned,
    run,
    softmax,
)

import mlir_gemm
from mlir_gemm.errors import ScheduleError
from mlir_gemm.pipeline import saved
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.simulator.expected import relative_error
from mlir_gemm.simulator.kernel import Options, simulate
from mlir_gemm.simulator.program import simulate_launch
from mlir_gemm.simulator.stages import run_stage
from mlir_gemm.spec.binding import bind
from mlir_gemm.spec.kernel_record import KernelRecord
from mlir_gemm.spec.stages import STAGES
from mlir_gemm.tools.report import kernel_rows, table

WHOLE = STAGES[: STAGES.index("lower")]
"""Stages whose IR is about whole tiles, or whole memory."""


@pytest.mark.parametrize("name", CASES)
def test_every_stage_gives_the_same_numbers(name: str) -> None:
    case = CASES[name]()
    kernel = compiled(case, *WHOLE, "lower")
    check_stages(case, kernel, WHOLE)
    assert kernel.ir("lower").count('tile.kind = "rows"') == 1
    first, report = run(case, kernel)
    assert not report.findings, report.findings[0]
    case.check(first)


@pytest.mark.parametrize("name", ["softmax 3x5000 f32", "column_sum 4x2000 f32", "quantised, long"])
def test_two_runs_give_the_same_bits(name: str) -> None:
    case = CASES[name]()
    kernel = compiled(case)
    first, second = (run(case, kernel)[0] for _ in range(2))
    for one, other in zip(first, second, strict=True):
        assert one.tobytes() == other.tobytes()
    assert compiled(case).ir("lower") == kernel.ir("lower")


def drawn(seed: int) -> Case:
    """A kernel of random rows: their number and their length log-uniform, all sorts of types and layouts."""
    rng = np.random.default_rng(seed)
    length = (
        int(np.exp(rng.uniform(0, np.log(70_000)))) if seed % 4 == 0 else int(np.exp(rng.uniform(0, np.log(3_000))))
    )
    count = max(1, int(np.exp(rng.uniform(0, np.log(6_000))) / length))
    element = str(rng.choice(["f16", "bf16", "f32"]))
    sort = seed % 5
    if sort == 0:
        return measured(str(rng.choice(list(NUMPY))), count, length, element, seed)
    if sort == 1:
        layout, kept = str(rng.choice(["", "strided", "transposed"])), str(rng.choice(list("mn")))
        m, n = (count, length) if kept == "m" else (length, count)
        integer = bool(rng.random() < 0.3)
        combiner = str(rng.choice([name for name in COMBINERS if name.endswith("i") == integer and "mul" not in name]))
        element = str(rng.choice(["i32", "i8"] if integer else ["f16", "bf16", "f32", "f64"]))
        return reduced(combiner, m, n, element, layout, kept, seed)
    if sort == 2:
        return quantised(count, length, element, seed)
    if sort == 3:
        return residual_norm(count, length, element, seed)
    return odd_softmax(count, length, element)


@pytest.mark.parametrize("seed", range(40))
def test_random_rows(seed: int) -> None:
    case = drawn(seed)
    arrays, report = run(case)
    assert not report.findings, report.findings[0]
    case.check(arrays)


def test_a_row_of_nothing_but_minus_infinity_is_nan() -> None:
    """As eager PyTorch has it."""
    case = odd_softmax(6, 40)
    arrays, _ = run(case)
    assert np.isnan(arrays[-1][[0, 1, 5]]).all()
    assert np.array_equal(np.isnan(arrays[-1]), np.isnan(case.wanted[0]))
    assert arrays[-1][2].sum() == pytest.approx(1.0)


def test_a_large_mean_costs_no_variance() -> None:
    """The variance is that of what is left without the mean."""
    case = measured("layer_norm", 3, 700, "f32")
    case.arrays[0][...] += 1e4
    wanted = NUMPY["layer_norm"](*(array.astype(np.float64) for array in case.arrays[:3]))
    arrays, _ = run(case)
    close(arrays[-1], wanted, 1e-3)  # x itself has an error of 5e-4 here


def _dynamic(element: str, dynamic: str) -> str:
    rows = Rows({"m": 5, "n": 40}, dynamic=dynamic)
    rows.argument("A", "mn", element)
    rows.argument("R", "mn", element)
    rows.reduce("most", "A", "0xFF800000", "%r = arith.maximumf %x0, %a : f32")
    rows.map("e", "A most", "%d = arith.subf %x0, %x1 : f32", "%r = math.exp %d : f32")
    rows.reduce("sum", "e", "0.0", "%r = arith.addf %x0, %a : f32")
    rows.map("R", "e sum", "%r = arith.divf %x0, %x1 : f32", element=element)
    return rows.text()


@pytest.mark.parametrize("dynamic", ["m", "n", "mn"])
def test_sizes_known_at_run_time_only(dynamic: str) -> None:
    done = compile_module(_dynamic("f16", dynamic), chip=CHIP, keep=("lower",))
    launch = done.launch
    assert launch is not None
    assert done.kernels[0].kind == "rows" and len(done.kernels) == 1
    for m, n in ((5, 40), (1, 40), (130, 40)) if dynamic == "m" else ((5, 40), (5, 1), (5, 1333)):
        arrays = [numbers(np.random.default_rng(m), (m, n), "f16"), nothing((m, n), "f16")]
        at = launch.at(bind([array.shape for array in arrays], launch))
        report = simulate_launch(done.ir("lower"), at, arrays)
        assert not report.findings and not report.stopped
        close(arrays[1], softmax(arrays[0].astype(np.float64)))


def test_what_is_known_of_a_kernel_survives_json() -> None:
    (kernel,) = compiled(measured("softmax", 33, 100, "f32"), "select", until="launch").kernels
    assert table(kernel_rows(kernel, None)).splitlines()[1:] == [
        "problem:  rows: 33 rows of 100 f32",
        f"schedule: {kernel.rows}",
        f"because:  a row of 100 elements belongs to {kernel.rows.across if kernel.rows else 0} threads, "
        "which hold it in registers: it is read once",
    ]
    assert KernelRecord.from_json(json.loads(json.dumps(kernel.to_json()))) == kernel
    (product,) = compile_module(_PRODUCT, chip=CHIP, until="select").kernels
    assert not {"rows", "row_problem"} & set(product.to_json())
    assert KernelRecord.from_json(product.to_json()) == product


_PRODUCT = """func.func @f(%A: memref<64x64xf16>, %B: memref<64x64xf16>, %C: memref<64x64xf32>) {
  linalg.matmul ins(%A, %B : memref<64x64xf16>, memref<64x64xf16>) outs(%C : memref<64x64xf32>)
  return
}"""


def test_no_rows_and_rows_of_nothing() -> None:
    kernel = mlir_gemm.compile(_dynamic("f32", "m"), device="simulator", chip=CHIP)
    kernel(np.zeros((0, 40), np.float32), np.zeros((0, 40), np.float32))


def test_typical_sizes_are_used_to_choose() -> None:
    text = _dynamic("f16", "mn")
    few, many = (compile_module(text, chip=CHIP, hints={"s0": m, "s1": n}, until="select", keep=("select",))
                 for m, n in ((8, 60_000), (100_000, 64)))  # fmt: skip
    for done, said, longest in ((few, "8 rows of 60000 f16", 1 << 16), (many, "100000 rows of 64 f16", 1024)):
        (kernel,) = done.kernels
        assert str(kernel.row_problem) == said and kernel.rows is not None
        assert kernel.rows.tile[1] <= longest
    assert few.kernels[0].rows != many.kernels[0].rows


@pytest.mark.parametrize("name", ["layer_norm 33x100 f16", "softmax 3x5000 f32", "bp of bmpn kept"])
def test_text_saved_after_any_stage_compiles_to_the_same(name: str) -> None:
    case = CASES[name]()
    whole = compiled(case, *STAGES[:-1], until="ptx")
    for stage in STAGES[:-1]:
        assert compile_module(whole.ir(stage)).ptx == whole.ptx, stage
        if stage not in ("import", "select"):
            assert saved.computed_by(whole.ir(stage)) == whole.ir("select")


@pytest.mark.parametrize(
    "schedule",
    [
        fields(32, 32, 1, "1, 32"), fields(64, 32, 2, "2, 64"), fields(128, 1, 4, "128, 4"),
        fields(1024, 1024, 1, "1, 1024"), fields(96, 32, 2, "6, 64"), fields(64, 64, 8, "3, 512"),
        fields(64, 32, 16, "2, 512"), fields(256, 8, 4, "64, 96", "transposed = true"),
        fields(128, 64, 2, "2, 128", "staged = true"), fields(1024, 16, 1, "64, 16", "transposed = true"),
    ],
)  # fmt: skip
def test_a_source_may_say_how_rows_are_divided(schedule: str) -> None:
    for case in (
        measured("softmax", 7, 150, "f16"),
        measured("column_sum", 70, 21, "f32"),
        reduced("arith.addi", 5, 90, "i8"),
    ):
        kernel = compiled(pinned(case, schedule), "select", "lower")
        for each in schedule.split(", tile")[0].split(", "):
            assert each in kernel.ir("select")
        arrays, report = run(case, kernel)
        assert not report.findings, report.findings[0]
        case.check(arrays)


@pytest.mark.parametrize(
    ("schedule", "reason"),
    [
        (fields(64, 32, 2, "3, 64"), "tile=3x64; expected multiples of 2x64"),
        (fields(64, 32, 2, "0, 64"), "tile=0x64; expected multiples of 2x64"),
        (fields(64, 32, 2, "64"), r"tile=64; expected two sizes, such as \[8, 128\]"),
        (fields(64, 32, 2, '"a", "b"'), "tile=axb; expected two sizes"),
        (fields(63, 1, 2, "63, 2"), "threads=63 with across=1; expected a multiple of 32 up to 1024"),
        (fields(2048, 1, 1, "2048, 1"), "threads=2048 with across=1; expected a multiple of 32 up to 1024"),
        (fields(32, 64, 1, "1, 64"), "threads=32 with across=64; expected .* which across divides"),
        (fields(96, 3, 2, "32, 6"), "across=3; expected a power of two up to 1024"),
        (fields(64, 32, 0, "2, 64"), "vector=0; expected a power of two up to 16"),
        (fields(64, 32, 32, "2, 1024"), "vector=32; expected a power of two up to 16"),
        (fields(64, 32, 2, "2, 65536"), "tile=2x65536 for 64 threads; expected 256 elements for each at most"),
        (fields(64, 32, 2, "2, 64", "shift = 4 : i64"), "shift=4; expected 0, or a power of two for tiles of one row"),
        (fields(64, 64, 2, "1, 128", "shift = 3 : i64"), "shift=3; expected 0, or a power of two"),
        (fields(64, 32, 2, "2, 64", "staged = true, transposed = true"), "staged=true with transposed=true"),
        (fields(64, 32, 2, "2, 64", "unroll = 33 : i64"), "unroll=33; expected 1 to 32"),
        (fields(64, 32, 2, "2, 64", "cluster = 3 : i64"), "cluster=3; expected a power of two up to 8"),
        (fields(64, 32, 2, "2, 64", "cluster = 16 : i64"), "cluster=16; expected a power of two up to 8"),
        (
            fields(64, 32, 2, "2, 64", "cluster = 2 : i64, transposed = true"),
            "cluster=2 with transposed=true",
        ),
        (fields(64, 32, 2, "2, 64", "transposed = 1 : i64"), "transposed=1; expected true or false"),
        (fields(64, 32, 2, "2, 64", "colour = 1 : i64"), "no field 'colour'; expected threads, across, vector, tile"),
        ("threads = 64 : i64, across = 2 : i64, vector = 2 : i64", "the field 'tile' is missing; expected threads"),
        (fields(64, 32, 2, "2, 64").replace("64 : i64", '"many"', 1), "threads=many; expected a number"),
    ],
)
def test_what_cannot_be_is_refused_in_words(schedule: str, reason: str) -> None:
    with pytest.raises(ScheduleError, match=f"tile.rows: {reason}") as refused:
        compiled(pinned(measured("softmax", 7, 150, "f16"), schedule))
    assert refused.value.location is not None


def test_rows_for_what_is_staged_must_have_a_constant_length() -> None:
    text = _dynamic("f16", "mn").replace(
        ") {\n", f") attributes {{tile.rows = {{{fields(64, 32, 2, '2, 64', 'staged = true')}}}}} {{\n", 1
    )
    with pytest.raises(ScheduleError, match="staged=true for rows whose length is not constant; expected false"):
        compile_module(text, chip=CHIP, until="lower")


def test_rows_that_shared_memory_does_not_hold_are_refused() -> None:
    text = pinned(measured("softmax", 4, 60000, "f32"), fields(1024, 1024, 4, "1, 4096", "staged = true")).text
    with pytest.raises(
        ScheduleError, match=r"4 rows of 60000 f32 takes 245760 bytes of shared memory a block, more than"
    ):
        compile_module(text, chip="sm_90a", until="select")
    halved = text.replace("staged = true", "staged = true, cluster = 2 : i64")
    assert compile_module(halved, chip="sm_90a", until="select").kernels[0].rows is not None


def test_values_of_neighbours_do_not_matter() -> None:
    """A row does not see what stands beyond its end: NaN there leaves no trace."""
    memory = np.full((6, 45), np.nan, np.float16)
    memory[:, :40] = numbers(np.random.default_rng(3), (6, 40), "f16")
    case = reduced("arith.maximumf", 6, 40, "f16", "strided")
    a: Array = memory[:, :40]
    arrays, report = run(Case(case.text, [a, case.arrays[1]], [a.astype(np.float64).max(1)]))
    assert not report.findings
    assert np.isfinite(arrays[1]).all()


def test_one_kernel_reads_and_writes_everything_once() -> None:
    """What a softmax of rows that registers hold moves: its input and its result."""
    case = measured("softmax", 8, 512, "f16")
    kernel = compiled(case)
    report = simulate(kernel.ir("lower"), case.fresh(), Options(counters=True))
    assert [each.kind for each in kernel.kernels] == ["rows"]
    assert report.counters.bytes["global_load"] == report.counters.bytes["global_store"] == case.arrays[0].nbytes


@pytest.mark.parametrize(("rows", "columns", "dim"), [(5, 13, 1), (7, 8, 0), (1, 9, 1), (6, 1, 1)])
def test_a_reduction_of_two_values_at_once(rows: int, columns: int, dim: int) -> None:
    """The greatest of each row with a number that goes with it, of tiles of any size."""
    kept = (rows, 1) if dim else (1, columns)
    whole, shape, out = f"vector<{rows}x{columns}xf32>", f"{rows}x{columns}", f"{kept[0]}x{kept[1]}"
    arguments = f"%a: memref<{shape}xf32>, %b: memref<{shape}xf32>, %c: memref<{out}xf32>, %d: memref<{out}xf32>"
    segments = "operandSegmentSizes = array<i32: 2, 0>, resultSegmentSizes = array<i32: 2, 0>"
    text = f"""func.func @f({arguments}) {{
      %i = arith.constant 0 : index
      %x = "tile.load"(%a, %i, %i) : (memref<{shape}xf32>, index, index) -> {whole}
      %y = "tile.load"(%b, %i, %i) : (memref<{shape}xf32>, index, index) -> {whole}
      %r:2 = "tile.reduce"(%x, %y) ({{
      ^bb0(%p: f32, %m: f32, %q: f32, %n: f32):
        %first = arith.cmpf ogt, %p, %q : f32
        %most = arith.select %first, %p, %q : f32
        %with = arith.select %first, %m, %n : f32
        "tile.yield"(%most, %with) {{operandSegmentSizes = array<i32: 2, 0>}} : (f32, f32) -> ()
      }}) {{dim = {dim} : i64, {segments}}} : ({whole}, {whole}) -> (vector<{out}xf32>, vector<{out}xf32>)
      "tile.store"(%r#0, %c, %i, %i) : (vector<{out}xf32>, memref<{out}xf32>, index, index) -> ()
      "tile.store"(%r#1, %d, %i, %i) : (vector<{out}xf32>, memref<{out}xf32>, index, index) -> ()
      return
    }}"""
    rng = np.random.default_rng(rows)
    a, b = (rng.permutation(rows * columns).reshape(rows, columns).astype(np.float32) for _ in range(2))
    c, d = np.zeros(kept, np.float32), np.zeros(kept, np.float32)
    run_stage(text, [a, b, c, d])
    at = a.argmax(dim, keepdims=True)
    assert np.array_equal(c, np.take_along_axis(a, at, dim))
    assert np.array_equal(d, np.take_along_axis(b, at, dim))


SOFTMAX = """
func.func @softmax(%x: tensor<2x70000xf16>) -> tensor<2x70000xf16> {
  %e = tensor.empty() : tensor<2x70000xf16>
  %0 = linalg.softmax dimension(1) ins(%x : tensor<2x70000xf16>) outs(%e : tensor<2x70000xf16>) -> tensor<2x70000xf16>
  return %0 : tensor<2x70000xf16>
}
"""


def test_a_softmax_of_16_bits_is_rounded_once() -> None:
    x = np.random.default_rng(0).uniform(-0.1, 0.1, (2, 70000)).astype("f2")  # sums above the largest number of f16
    powers = np.exp(x.astype("f8") - x.max(1, keepdims=True))
    exact = powers / powers.sum(1, keepdims=True)
    got = np.asarray(mlir_gemm.compile(SOFTMAX, chip="sm_90a", device="simulator")(x))
    assert relative_error(got, exact) <= 1.01 * relative_error(exact.astype("f2"), exact)
