"""Every stage computes the right numbers: the IR after each, run on the CPU, against NumPy in float64.

And the bisection that names the stage and the pass that do not, and the simulator as a device.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from draws import draws
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import mlir_gemm
from mlir_gemm.dialect import affine
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.walk import named
from mlir_gemm.errors import ArgumentError, FindingsError, InputError
from mlir_gemm.parts.fields import normalised
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.pipeline.registry import pass_class
from mlir_gemm.simulator.bisect import Decided, after_each_pass, bisect
from mlir_gemm.simulator.errors import SimulationError
from mlir_gemm.simulator.expected import TOLERANCE, reference, relative_error
from mlir_gemm.simulator.kernel import Options, simulate
from mlir_gemm.simulator.random_inputs import random_arrays
from mlir_gemm.simulator.stages import run_stage
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tile_model.rules import violations

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SMALL = ("matmul_256", "matmul_tensor", "torch_matmul_f16")
CHIP = "sm_90"
SCHEDULES = (
    "",
    "block=64x64x32,warp=32x32x16",
    "block=64x64x32,warp=32x32x16,stages=1,pad=0",
    "block=64x64x32,warp=32x32x16,mainloop=direct,stages=2,raster=row",
    "block=32x64x64,warp=16x32x32,mainloop=direct,stages=1,raster=column,unroll=off",
    "block=128x128x32,warp=64x32x16,storage=dynamic,early=off",
    "block=64x64x64,warp=32x32x32,vector=64,raster_group=1",
    "block=64x64x32,warp=32x32x16,promote=off,mainloop=direct,stages=1",
)


def product(m: int, n: int, k: int, out: str = "f32") -> str:
    """C = A B + C on memrefs, or the rounded and rectified product with an f16 result."""
    a, b, c = f"memref<{m}x{k}xf16>", f"memref<{k}x{n}xf16>", f"memref<{m}x{n}xf32>"
    if out == "f32":
        return f"""func.func @product(%A: {a}, %B: {b}, %C: {c}) {{
          linalg.matmul ins(%A, %B : {a}, {b}) outs(%C : {c})
          return
        }}"""
    return f"""#map = affine_map<(i, j) -> (i, j)>
    func.func @product(%A: tensor<{m}x{k}xf16>, %B: tensor<{k}x{n}xf16>) -> tensor<{m}x{n}xf16> {{
      %zero = arith.constant 0.0 : f32
      %half = arith.constant 0.5 : f32
      %empty = tensor.empty() : tensor<{m}x{n}xf32>
      %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
      %d = linalg.matmul ins(%A, %B : tensor<{m}x{k}xf16>, tensor<{k}x{n}xf16>)
                         outs(%init : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
      %last = tensor.empty() : tensor<{m}x{n}xf16>
      %r = linalg.generic {{indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}}
           ins(%d : tensor<{m}x{n}xf32>) outs(%last : tensor<{m}x{n}xf16>) {{
      ^bb0(%in: f32, %out: f16):
        %scaled = arith.mulf %in, %half : f32
        %positive = arith.maximumf %scaled, %zero : f32
        %rounded = arith.truncf %positive : f32 to f16
        linalg.yield %rounded : f16
      }} -> tensor<{m}x{n}xf16>
      return %r : tensor<{m}x{n}xf16>
    }}"""


def check(actual: Sequence[Any], expected: Sequence[Any], arguments: Sequence[Any], what: str) -> None:
    for argument, got, wanted in zip(arguments, actual, expected, strict=True):
        limit = 0.0 if argument.role == "in" else TOLERANCE[argument.dtype]
        assert relative_error(got, wanted) <= limit, f"{argument.name} after {what}"


def check_every_stage(source: str, schedule: str | Schedule, *, with_engine: bool = True) -> None:
    fields = Schedule.parse(schedule) if isinstance(schedule, str) else schedule
    compiled = compile_module(source, chip=CHIP, schedule=fields, until="lower", keep=("all",))
    assert compiled.launch is not None
    arguments = compiled.launch.arguments
    before = random_arrays(arguments, 0)
    results = sum(argument.role == "result" for argument in arguments)
    expected = reference(source, before[: len(before) - results])
    for stage in ("source", *compiled.stages):
        after = [array.copy() for array in before]
        run_stage(source if stage == "source" else compiled.ir(stage), after)
        check(after, expected, arguments, stage)
    if with_engine:
        after = [array.copy() for array in before]
        report = simulate(compiled.ir("lower"), after, Options(checks=True))
        assert not report.findings, str(report)
        check(after, expected, arguments, "lower, on the engine")


@pytest.mark.parametrize("name", SMALL)
def test_every_stage_of_an_example_is_right(name: str):
    check_every_stage((EXAMPLES / f"{name}.mlir").read_text(), SCHEDULES[1])


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("out", ["f32", "f16"])
def test_every_stage_is_right(out: str, schedule: str):
    """Of 2 x 2 blocks of the largest tile, with three steps of the longest."""
    check_every_stage(product(256, 256, 192, out) if "128x128" in schedule else product(128, 128, 192, out), schedule)


@pytest.mark.parametrize(
    "schedule", ["block=64x64x32,warp=32x32x16,mma=wmma", "block=64x64x32,warp=32x32x16,mma=wmma,unroll=off"]
)
def test_every_pass_is_right(schedule: str):
    """Inside stages, too, where tile operations, lanes and fragments are mixed."""
    source = product(128, 64, 96, "f16")
    compiled = compile_module(source, chip=CHIP, schedule=Schedule.parse(schedule), until="lower", keep=("all",))
    decided = Decided.of(compiled.ir("lower"))
    before = random_arrays(decided.arguments, 0)
    expected = reference(source, before[:2])
    previous = source
    for stage in compiled.stages:
        for name, text in after_each_pass(stage, previous, Schedule.parse(schedule), CHIP):
            after = [array.copy() for array in before]
            run_stage(text, after)
            check(after, expected, decided.arguments, name)
        previous = compiled.ir(stage)


def test_partial_sums_in_memory():
    """accumulate=off: the result holds the partial sums of every k step."""
    source = (EXAMPLES / "matmul_256.mlir").read_text()
    check_every_stage(source, "block=64x64x32,warp=32x32x16,accumulate=off,mainloop=direct,stages=1")


def power(low: int, high: int) -> st.SearchStrategy[int]:
    return st.sampled_from([1 << bits for bits in range(low, high + 1)])


@st.composite
def legal(draw: st.DrawFn) -> tuple[Schedule, Problem]:
    """A schedule and a problem of a few of its blocks, legal by the rules of the tile model."""
    warp = (draw(power(4, 6)), draw(power(4, 6)), draw(power(4, 5)))
    block = (warp[0] * draw(st.integers(1, 4)), warp[1] * draw(st.integers(1, 4)), warp[2] * draw(st.integers(1, 3)))
    copy = draw(st.sampled_from(["direct", "register_prefetch"]))
    drawn = Schedule(
        block=block,
        warp=warp,
        mainloop=copy,
        early=draw(st.booleans()),
        stages=draw(st.integers(1, 2)),
        pad=draw(st.sampled_from([0, 8, 16])),
        vector=draw(st.sampled_from([32, 64, 128])),
        unroll=draw(st.booleans()),
        raster=draw(st.sampled_from(["row", "column", "grouped", "snake"])),
        raster_group=draw(st.integers(1, 3)),
        storage=draw(st.sampled_from(["auto", "dynamic"])),
    )
    schedule = normalised(drawn, {})
    m, n, k = (size * draw(st.integers(1, 3)) for size in block)
    problem = Problem(m, n, k, out=draw(st.sampled_from(["f32", "f16"])))
    assume(not violations(problem, schedule, target(CHIP)))
    return schedule, problem


@settings(
    max_examples=draws(12), deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow]
)
@given(legal())
def test_every_stage_of_any_legal_schedule_is_right(drawn: tuple[Schedule, Problem]):
    schedule, problem = drawn
    check_every_stage(product(problem.m, problem.n, problem.k, problem.out), schedule)


def test_blocks_beyond_the_bounds_read_zero_and_write_nothing():
    """By definition of the tile operations, whatever the lowerings below them can do already."""
    text = """func.func @f(%A: memref<5x7xf32>, %D: memref<5x7xf32>) {
      %c4 = arith.constant 4 : index
      %tile = "tile.load"(%A, %c4, %c4) {operandSegmentSizes = array<i32: 1, 2>}
        : (memref<5x7xf32>, index, index) -> vector<4x4xf32>
      %c3 = arith.constant 3 : index
      %c-1 = arith.constant -1 : index
      "tile.store"(%tile, %D, %c3, %c-1) {operandSegmentSizes = array<i32: 1, 1, 2>}
        : (vector<4x4xf32>, memref<5x7xf32>, index, index) -> ()
      return
    }"""
    a, d = np.arange(35, dtype=np.float32).reshape(5, 7), np.full((5, 7), -1, np.float32)
    run_stage(text, [a, d])
    expected = np.full((5, 7), -1, np.float32)
    expected[3:, :3] = [[33, 34, 0], [0, 0, 0]]
    np.testing.assert_array_equal(d, expected)


def test_nests_that_are_no_reduction_run_in_order():
    """A running sum reads what the step before wrote: the loops run one by one."""
    text = """func.func @f(%A: memref<9xf32>) {
      affine.for %i = 1 to 9 {
        %before = affine.load %A[%i - 1] : memref<9xf32>
        %own = affine.load %A[%i] : memref<9xf32>
        %sum = arith.addf %before, %own : f32
        affine.store %sum, %A[%i] : memref<9xf32>
      }
      return
    }"""
    a = np.arange(9, dtype=np.float32)
    run_stage(text, [a])
    np.testing.assert_array_equal(a, np.cumsum(np.arange(9)))


def test_an_unknown_operation_is_an_error_that_names_it():
    line = "%0 = memref.rank %A : memref<4xf32>"
    text = f"func.func @f(%A: memref<4xf32>) {{\n  {line}\n  return\n}}"
    with pytest.raises(SimulationError, match=r"'memref.rank'") as caught:
        run_stage(text, [np.zeros(4, np.float32)])
    assert caught.value.location is not None
    assert caught.value.location.line == 2


def random_of(arguments: Sequence[Any]) -> list[Any]:
    return random_arrays(arguments, 0)


FAULTY = "block=64x64x32,warp=32x32x16,mma=wmma,mainloop=register_prefetch,layout=pad"


def test_bisect_finds_nothing_wrong():
    result = bisect((EXAMPLES / "torch_matmul_f16.mlir").read_text(), random_of, schedule=Schedule.parse(FAULTY))
    assert result.right
    assert [row.stage for row in result.rows][-1] == "lower"
    assert "every stage computes the right numbers" in str(result)


def drop_a_store(module: Any) -> None:
    named(module, "tile.store")[-1].operation.erase()


def shift_the_product(module: Any) -> None:
    """The second operand's copy starts one row too late."""
    copy = named(module, "tile.copy")[1]
    with ir.InsertionPoint(copy), copy.location:
        copy.operation.operands[2] = affine.linear([(1, copy.operands[2])], 1)


def halve_the_sum(module: Any) -> None:
    for add in named(module, "arith.addf"):
        add.operation.operands[1] = add.operation.operands[0]


def drop_the_last_barrier(module: Any) -> None:
    named(module, "gpu.barrier")[-1].operation.erase()


def shorten_the_k_loop(module: Any) -> None:
    for loop in named(module, "scf.for"):
        with ir.InsertionPoint(loop), loop.location:
            loop.operation.operands[1] = dialect("arith").ConstantOp(ir.IndexType.get(), 1).result


@pytest.mark.parametrize(
    ("stage", "name", "fault"),
    [
        ("tile", "tile-loops", halve_the_sum),
        ("promote", "promote-operands", shift_the_product),
        ("accumulate", "sink-init", drop_a_store),
        ("pipeline", "register-prefetch", drop_a_store),
        ("parallelize", "rasterize-blocks", shorten_the_k_loop),
        ("lower", "mma-to-wmma", shorten_the_k_loop),
    ],
)
def test_bisect_names_the_pass_that_is_wrong(stage: str, name: str, fault: Any, monkeypatch: pytest.MonkeyPatch):
    broken = pass_class(name)
    run = broken.run

    def run_and_break(self: Any, module: Any) -> None:
        run(self, module)
        fault(module)

    monkeypatch.setattr(broken, "run", run_and_break)
    source = (EXAMPLES / "matmul_256.mlir").read_text()
    result = bisect(source, random_of, schedule=Schedule.parse(f"{FAULTY},unroll=off"), chip=CHIP)
    assert result.stage == stage, str(result)
    assert result.pass_ is not None
    assert result.pass_.startswith(name), str(result)
    assert f"the first wrong stage is '{stage}'" in str(result)
    assert "WRONG" in str(result)


def test_bisect_reports_what_only_the_checks_see(monkeypatch: pytest.MonkeyPatch):
    """A barrier too few: the numbers may still be right, the race is found."""
    broken = pass_class("distribute-copies")
    run = broken.run

    def run_and_break(self: Any, module: Any) -> None:
        run(self, module)
        drop_the_last_barrier(module)

    monkeypatch.setattr(broken, "run", run_and_break)
    source = (EXAMPLES / "matmul_256.mlir").read_text()
    result = bisect(source, random_of, schedule=Schedule.parse(FAULTY), chip=CHIP)
    assert (result.stage, result.pass_) == ("lower", None)
    assert "race-shared" in str(result)


def test_bisect_refuses_what_would_take_hours():
    with pytest.raises(InputError, match="too large to bisect"):
        bisect((EXAMPLES / "matmul_8192_memref.mlir").read_text(), random_of)


def test_a_kernel_on_the_simulator():
    kernel = mlir_gemm.compile(EXAMPLES / "matmul_tensor.mlir", device="simulator")
    random = np.random.default_rng(0)
    a, b = (random.standard_normal(shape).astype(np.float16) for shape in ((256, 128), (128, 384)))
    d = kernel(a, b)
    assert relative_error(d, a.astype(np.float64) @ b.astype(np.float64)) <= TOLERANCE["f32"]
    assert "simulator" in repr(kernel)


def test_memrefs_are_written_in_place_on_the_simulator():
    kernel = mlir_gemm.compile(product(64, 64, 32), device="simulator")
    a, b, c = np.ones((64, 32), np.float16), np.ones((32, 64), np.float16), np.ones((64, 64), np.float32)
    assert kernel(a, b, c) is None
    np.testing.assert_array_equal(c, 33)


class OnHost:
    """An array that speaks only DLPack."""

    def __init__(self, array: Any) -> None:
        self._array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self._array.__dlpack_device__()


def test_arguments_on_the_simulator_are_checked():
    kernel = mlir_gemm.compile(product(64, 64, 32), device="simulator")
    a, b, c = np.ones((64, 32), np.float16), np.ones((32, 64), np.float16), np.ones((64, 64), np.float32)
    with pytest.raises(ArgumentError, match="is missing"):
        kernel(a, b)
    with pytest.raises(ArgumentError, match="shape"):
        kernel(b, b, c)
    with pytest.raises(ArgumentError, match="float64 given"):
        kernel(a.astype(np.float64), b, c)
    with pytest.raises(ArgumentError, match="strides"):
        kernel(np.ones((32, 64), np.float16).T, b, c)
    with pytest.raises(ArgumentError, match="which is not an array"):
        kernel([[1.0]], b, c)
    kernel(OnHost(a), b, c)
    np.testing.assert_array_equal(c, 33)


def test_findings_are_an_error_with_the_report(monkeypatch: pytest.MonkeyPatch):
    kernel = mlir_gemm.compile(product(64, 64, 32), device="simulator", schedule="block=32x32x16,warp=16x16x16")
    text = kernel.ir("lower")
    monkeypatch.setattr(type(kernel._variant), "ir", lambda *_, **__: text.replace("gpu.barrier", ""))
    a, b, c = np.ones((64, 32), np.float16), np.ones((32, 64), np.float16), np.ones((64, 64), np.float32)
    with pytest.raises(FindingsError, match="race-shared"):
        kernel(a, b, c)


def test_a_problem_that_would_take_hours_is_refused():
    kernel = mlir_gemm.compile(EXAMPLES / "matmul_8192_memref.mlir", device="simulator")
    with pytest.raises(ArgumentError, match="too large to simulate whole"):
        kernel(None, None, None)
