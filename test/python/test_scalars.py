"""Arguments of functions that are numbers: passed to kernels by value, other ones in each call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import mlir_gemm
from mlir_gemm.spec.launch import Argument, Launch
from mlir_gemm.spec.scalars import bits_of
from mlir_gemm.tools.main import main

SCALARS = Path(__file__).parent.parent / "modules" / "scalars"


def _compiled(name: str) -> Any:
    return mlir_gemm.compile(SCALARS / f"{name}.mlir", device="simulator")


def _random(*shape: int, dtype: Any = np.float32) -> Any:
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("name", [path.stem for path in SCALARS.glob("*.mlir")])
def test_run_compares_with_the_source(name: str) -> None:
    assert main(["run", str(SCALARS / f"{name}.mlir"), "--device", "simulator"]) == 0


@pytest.mark.parametrize("chip", ["sm_70", "sm_80", "sm_90a"])
def test_alpha_and_beta_change_from_call_to_call(chip: str) -> None:
    kernel = mlir_gemm.compile(SCALARS / "axpby.mlir", device="simulator", chip=chip)
    assert [each.kind for each in kernel.kernels] == ["product"]
    assert kernel.launch == Launch.from_json(kernel.launch.to_json())
    a, b, c = _random(64, 64, dtype=np.float16), _random(64, 64, dtype=np.float16), _random(64, 64)
    for alpha, beta in ((1, 0), (-2.5, np.float32(3)), (np.float64(0.1), np.array(0.5, np.float16))):
        want = float(alpha) * (a.astype(float) @ b.astype(float)) + 0.5 * float(beta) * c
        assert np.allclose(kernel(a, b, c, alpha, beta=beta), want, rtol=1e-5, atol=1e-4)


def test_in_place() -> None:
    kernel = _compiled("memory")
    a, b, c = _random(24, 32), _random(32, 16), _random(24, 16)
    want = 3 * c + a @ b
    kernel(a, b, c, 3)
    assert np.allclose(c, want, rtol=1e-5, atol=1e-5)


def test_an_offset() -> None:
    kernel = _compiled("cache")
    cache, row = _random(9, 16, dtype=np.float16), _random(1, 16, dtype=np.float16)
    for at in (0, 8, np.int64(4)):
        want = cache.copy()
        want[int(at)] = row[0]
        assert np.array_equal(kernel(cache, row, at), want)


def test_rows_with_numbers_of_other_types() -> None:
    kernel = _compiled("rows")
    x = _random(5, 40)
    for keep, last in ((True, 7), (False, 7), (1, 40)):
        sums, y = kernel(x, 0.25, keep, last)
        want = np.where((np.arange(40) < last) & bool(keep), x / (x.sum(1, keepdims=True) + 0.25), x)
        assert np.allclose(sums, x.sum(1), rtol=1e-5, atol=1e-5)
        assert np.allclose(y, want, rtol=1e-4, atol=1e-5)


def test_beside_open_sizes() -> None:
    kernel = _compiled("open")
    w = _random(32, 16, dtype=np.float16)
    for rows in (3, 20):
        x = _random(rows, 32, dtype=np.float16)
        found = kernel(x, w, 0.5, n=4)
        assert np.allclose(found, 2 * (x.astype(float) @ w.astype(float)), rtol=2e-3, atol=2e-2)


def test_what_is_no_number_is_refused() -> None:
    kernel = _compiled("rows")
    x = _random(5, 40)
    for given, said in (
        ((x, x, True, 1), "argument 1 .'eps'.: ndarray given, the kernel takes a number .f64."),
        ((x, 0.0, 2, 1), "argument 2 .'keep'.: 2 given, the kernel takes 0 to 1 .i1."),
        ((x, 0.0, 1, 1.5), "argument 3 .'last'.: 1.5 given, the kernel takes an integer .i32."),
        ((x, 0.0, 1, 1 << 31), "argument 3 .'last'.: 2147483648 given, the kernel takes -2147483648 to 2147483647"),
        ((x, 0.0, 1), "argument 3 .'last'. is missing"),
    ):
        with pytest.raises(mlir_gemm.ArgumentError, match=said):
            kernel(*given)


def test_bits_of_numbers() -> None:
    rng = np.random.default_rng(0)
    numbers = [*(rng.standard_normal(200) * 10.0 ** rng.integers(-40, 38, 200)), 0.0, -0.0, float("inf"), 1e-45,
               1.00390625, 1.01171875]  # fmt: skip
    for dtype, kind in (("f16", np.float16), ("bf16", ml_dtypes.bfloat16), ("f32", np.float32), ("f64", np.float64)):
        argument = Argument("x", (), dtype, "in", scalar=True)
        for number in (number for number in numbers if dtype != "f16" or abs(number) < 65504 or number == np.inf):
            want = np.array(number).astype(kind)
            assert bits_of(argument, number) == int.from_bytes(want.tobytes(), "little"), (dtype, number)
    assert bits_of(Argument("x", (), "bf16", "in", scalar=True), 1.0039062500001) == 0x3F81  # above the tie, in f64
    with pytest.raises(mlir_gemm.ArgumentError, match="which f16 does not hold"):
        bits_of(Argument("x", (), "f16", "in", scalar=True), 1e6)
