"""Calls of kernels with sizes that are known at run time only, on a driver that is a stand-in."""

from __future__ import annotations

import ctypes
import types
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from runtime_fakes import DeviceLike, FakeDriver, FakeGpu, FakeTensor, Machine, aligned, memory

import mlir_gemm
from mlir_gemm.errors import ArgumentError
from mlir_gemm.runtime import cache, device, dynamic
from mlir_gemm.runtime.variants import divisors_of
from mlir_gemm.spec.kernel_record import KernelRecord
from mlir_gemm.spec.launch import Argument, Launch, Step
from mlir_gemm.spec.problem import Problem
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tile_model.select import select

TEXT = "func.func @main() { return }\n"
N, K = 8, 16
DEEP = 4096
"""K of the problem that the compiler tells, so that sizes make a difference to the model."""
ONE = (1, 1, 1)
X = Argument("x", ("s0", K), "f32", "in")
W = Argument("w", (K, "s1"), "f32", "in")
R = Argument("result0", ("s0", "s1"), "f32", "result")
PARAMETERS = (0, 1, "s0", "s1", 2)
GRID = (("mul", ("ceildiv", "s0", 16), ("ceildiv", "s1", 8)), 1, 1)
LAUNCH = Launch((X, W, R), (Step("multiply", GRID, (32, 1, 1), ONE, 0, PARAMETERS),))


class Compiler:
    """Compiles a product whose M is s0 and whose N is s1, and counts what it is asked."""

    def __init__(self) -> None:
        self.launch = LAUNCH
        self.calls: list[dict[str, Any]] = []
        self.hint = 2048
        self.rows = 1
        self.products = 1

    def __call__(
        self, source: str, *, filename: str, chip: str, schedule: Any, hints: Mapping[str, int] | None = None,
        divisors: Mapping[str, int] | None = None, until: str = "ptx", **kept: Any,
    ) -> Any:  # fmt: skip
        self.calls.append({"hints": dict(hints or {}), "divisors": dict(divisors or {}), "until": until})
        sizes = {"s0": 512, "s1": 512, **(hints or {})}
        problem = Problem(self.rows * sizes["s0"], sizes["s1"], DEEP, dynamic="mn", reads_c=False,
                          out_vector=128 if divisors else 32, b_vector=128 if divisors else 32)  # fmt: skip
        chosen = select(problem, target(chip), schedule).schedule
        return types.SimpleNamespace(
            ptx=(code := None if until == "select" else f"// {chip} {sizes}"),
            code=code,
            kernels=(KernelRecord("main", "product", problem, chosen, 0),) * self.products,
            launch=None if until == "select" else self.launch,
            target=types.SimpleNamespace(chip=chip),
            stages=("import", "select"),
            divisors=None,
            ir=lambda stage, locations=False: f"// {stage} {sizes}",
        )

    @property
    def whole(self) -> list[tuple[dict[str, int], dict[str, int]]]:
        """Hints and divisors of the compilations that went to the end."""
        return [(call["hints"], call["divisors"]) for call in self.calls if call["until"] == "ptx"]


class Driver(FakeDriver):
    """Multiplies matrices of the sizes that are passed."""

    def __init__(self, launch: Launch) -> None:
        super().__init__(launch)
        self.grids: list[tuple[int, ...]] = []

    def cuLaunchKernel(self, function: Any, *shape_and_rest: int) -> tuple[int]:  # noqa: N802
        *shape, _, parameters, _ = shape_and_rest
        slots = (ctypes.c_void_p * len(PARAMETERS)).from_address(parameters)
        x, w, rows, columns, result = (ctypes.c_uint64.from_address(slot or 0).value for slot in slots)
        memory(result, (rows, columns), "f4")[...] = memory(x, (rows, K), "f4") @ memory(w, (K, columns), "f4")
        self.grids.append(tuple(shape[:3]))
        self.functions.append(function)
        return (0,)

    @property
    def functions(self) -> list[str]:
        return self.__dict__.setdefault("_functions", [])


class Dynamic(Machine):
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(monkeypatch, LAUNCH)
        self.driver = Driver(LAUNCH)
        self.loaded: list[str] = []
        self._kept: dict[tuple[str, int], device.LoadedKernel] = {}

    def load(self, ptx: str, launch: Launch, ordinal: int) -> device.LoadedKernel:
        assert launch.symbols, "the code is loaded for all sizes"
        if (ptx, ordinal) not in self._kept:
            self.loaded.append(ptx)
            gpu = FakeGpu(ordinal, self.driver, 0x1000 + ordinal)
            gpu.places = self.places
            self._kept[ptx, ordinal] = device.LoadedKernel(gpu, (ptx,) * len(launch.steps), launch)
        return self._kept[ptx, ordinal]


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, compiler: Compiler) -> Dynamic:
    return Dynamic(monkeypatch)


def inputs(rows: int, columns: int = N) -> tuple[Any, Any]:
    random = np.random.default_rng(rows)
    x, w = aligned((rows, K), "f4"), aligned((K, columns), "f4")
    x[...], w[...] = random.integers(-3, 4, x.shape), random.integers(-3, 4, w.shape)
    return x, w


@pytest.mark.parametrize("rows", [1, 5, 37, 300])
def test_sizes_are_read_from_the_arrays(machine: Dynamic, rows: int) -> None:
    made = mlir_gemm.compile(TEXT, chip="sm_90")
    x, w = inputs(rows)
    np.testing.assert_array_equal(made(x, w), x @ w)
    got = made(DeviceLike(x), DeviceLike(w))
    np.testing.assert_array_equal(memory(got.__cuda_array_interface__["data"][0], (rows, N), "f4"), x @ w)
    assert machine.driver.grids == [(-(-rows // 16), 1, 1)] * 2
    assert made.symbols == ("s0", "s1") and "s0, s1 at run time" in repr(made)


def test_every_call_runs_where_its_arguments_are(machine: Dynamic, torch: Any) -> None:
    made = mlir_gemm.compile(TEXT, chip="sm_90")
    assert " on auto" in repr(made)
    for rows, where in ((5, 1), (5, 0), (7, 0), (7, 1), (5, 1), (7, 0)):
        x, w = inputs(rows)
        result = made(FakeTensor(x, where), FakeTensor(w, where))
        assert result.where == where
        np.testing.assert_array_equal(result.array, x @ w)
    assert " on cuda:0 and cuda:1" in repr(made)


def test_tensors_take_the_short_way_for_sizes_seen_before(machine: Dynamic, torch: Any) -> None:
    made = mlir_gemm.compile(TEXT, chip="sm_90")
    for rows in (5, 7, 300):
        x, w = inputs(rows)
        np.testing.assert_array_equal(made(FakeTensor(x), FakeTensor(w)).array, x @ w)
    launcher: Any = made._launcher
    long, launcher.__class__ = launcher.__class__, type("Short", (dynamic.DynamicLauncher,), {"__call__": None})
    for rows in (5, 300, 7, 5):
        x, w = inputs(rows)
        np.testing.assert_array_equal(made(FakeTensor(x), FakeTensor(w)).array, x @ w)
    launcher.__class__ = long
    with pytest.raises(ArgumentError, match=r"argument 1 \('w'\): shape \(15, 8\) given, the kernel takes \(16, 8\)"):
        made(FakeTensor(inputs(5)[0]), FakeTensor(aligned((15, 8), "f4")))
    with pytest.raises(ArgumentError, match=r"argument 0 \('x'\): shape \(5,\) given"):
        made(FakeTensor(aligned((5,), "f4")), FakeTensor(inputs(5)[1]))


def test_code_is_loaded_once_for_a_variant(machine: Dynamic) -> None:
    made = mlir_gemm.compile(TEXT, chip="sm_90")
    for rows in (1, 2, 3, 4, 3, 2, 1):
        x, w = inputs(rows)
        np.testing.assert_array_equal(made(x, w), x @ w)
    assert len(machine.loaded) == 1


def test_nothing_is_launched_for_empty_arrays(machine: Dynamic) -> None:
    made = mlir_gemm.compile(TEXT, chip="sm_90")
    assert made(*inputs(0)).shape == (0, N)
    assert made(*inputs(3, 0)).shape == (3, 0)
    assert machine.driver.grids == []


def test_the_oldest_sizes_are_forgotten(machine: Dynamic, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dynamic, "MOST_SIZES", 2)
    made = mlir_gemm.compile(TEXT, chip="sm_90")
    for rows in (1, 2, 3, 1):
        x, w = inputs(rows)
        np.testing.assert_array_equal(made(x, w), x @ w)
    launcher: Any = made._launcher
    assert list(launcher._made) == [(3, N), (1, N)]


# Variants.


def test_variants_are_compiled_when_they_are_needed(compiler: Compiler) -> None:
    made = mlir_gemm.compile(TEXT, chip="sm_90")
    assert compiler.whole == [({}, {})]
    assert list(made.variants) == ["s0~512, s1~512"]
    small, ragged = made.at(s0=4, s1=4096), made.at(s0=4, s1=4097)
    assert [divisors for _, divisors in compiler.whole] == [{}, {"s1": 4}, {}]
    hints = compiler.whole[1][0]
    assert hints["s0"] == 16
    assert small.ptx != ragged.ptx or small.schedule == ragged.schedule
    made.precompile({"s0": 5, "s1": 4096}, {"s0": 3, "s1": 4000})
    assert len(compiler.whole) == 3 and len(made.variants) == 3
    assert any(name.endswith("s1%4") for name in made.variants)


def test_a_variant_is_found_in_the_cache_on_disk(compiler: Compiler) -> None:
    mlir_gemm.compile(TEXT, chip="sm_90").at(s0=4, s1=64)
    asked = len(compiler.calls)
    cache.forget()
    mlir_gemm.compile(TEXT, chip="sm_90").at(s0=4, s1=64)
    assert len(compiler.calls) == asked


def test_the_kernel_for_certain_sizes_is_all_numbers(machine: Dynamic, compiler: Compiler) -> None:
    compiler.rows = 3  # M is 3 times s0
    made = mlir_gemm.compile(TEXT, chip="sm_90")
    certain = made.at(s0=37, s1=8)
    assert certain.symbols == () and certain.variants == {}
    assert certain.launch.arguments[0].shape == (37, K) and certain.launch.grid == (3, 1, 1)
    assert certain.problem is not None and (certain.problem.m, certain.problem.n, certain.problem.k) == (111, 8, DEEP)
    assert certain.ir("select").startswith("// select")
    x, w = inputs(37)
    np.testing.assert_array_equal(certain(x, w), x @ w)
    with pytest.raises(ArgumentError, match=r"argument 0 \('x'\): shape \(5, 16\) given, the kernel takes \(37, 16\)"):
        certain(*inputs(5))


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"s0": 1}, "'s1' has no value; the kernel's sizes known at run time only: s0, s1"),
        ({"s0": 1, "s1": 1, "m": 2}, "'m' is not one of its sizes"),
        ({"s0": 1, "s1": -1}, "s1=-1: a size starts at 0"),
    ],
)
def test_sizes_that_make_no_sense(compiler: Compiler, sizes: dict[str, int], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        mlir_gemm.compile(TEXT, chip="sm_90").at(**sizes)


def test_pinned_schedules_have_one_variant_for_each_alignment(compiler: Compiler) -> None:
    made = mlir_gemm.compile(TEXT, chip="sm_90", schedule="block=64x64x16,warp=32x32x16,raster=row,stages=2")
    made.precompile(*({"s0": m, "s1": n} for m in (1, 300, 9000) for n in (8, 9, 8000)))
    assert sorted(made.variants) == ["s0~512, s1~512", "s0~512, s1~512, s1%4"]


def test_elementwise_kernels_have_one_variant(compiler: Compiler, machine: Dynamic) -> None:
    compiler.products = 0
    made = mlir_gemm.compile(TEXT, chip="sm_90")
    for rows in (1, 5, 300):
        x, w = inputs(rows, 9)
        np.testing.assert_array_equal(made(x, w), x @ w)
    assert len(made.variants) == 1


def test_which_sizes_rows_depend_on() -> None:
    assert divisors_of(LAUNCH) == {"s1": 4}
    mixed = Launch((Argument("a", ("s0", "s1"), "i8", "in"), Argument("b", ("s1", "s2"), "f16", "in")), ())
    assert divisors_of(mixed) == {"s1": 16, "s2": 8}
