"""Functions of math that are computed in f64, and of integers, in whole kernels in the simulator, against NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mlir_gemm

SPECIAL = (0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 1e-40, -1e-40, 0.25, 0.5, 1e-20, 1e30, -1e30, 0.99999994,
           1.0000001, 10.04, 88.9, 89.5)  # fmt: skip
COUNT = 3000
FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "atan": np.arctan, "tan": np.tan, "sinh": np.sinh, "cosh": np.cosh, "asin": np.arcsin, "acos": np.arccos,
    "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh, "cbrt": np.cbrt,
    "erfc": np.vectorize(math.erfc, otypes=[np.float64]),
}  # fmt: skip


def program(function: str, count: int, inputs: int, element: str = "f32") -> str:
    names = [f"%x{number}" for number in range(inputs)]
    type_ = f"tensor<{count}x{element}>"
    maps = ", ".join(["affine_map<(i) -> (i)>"] * (inputs + 1))
    inner = ", ".join(f"%v{number}: {element}" for number in range(inputs))
    given = ", ".join(f"%v{number}" for number in range(inputs))
    return f"""func.func @f({", ".join(f"{name}: {type_}" for name in names)}) -> {type_} {{
  %e = tensor.empty() : {type_}
  %0 = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel"]}}
      ins({", ".join(names)} : {", ".join([type_] * inputs)}) outs(%e : {type_}) {{
  ^bb0({inner}, %o: {element}):
    %r = math.{function} {given} : {element}
    linalg.yield %r : {element}
  }} -> {type_}
  return %0 : {type_}
}}"""


def ulps(got: Any, want: Any) -> Any:
    """The errors of f32 numbers in units in the last place; zeros must have the right sign."""
    with np.errstate(all="ignore"):
        rounded = want.astype(np.float32)
        errors = np.abs(got.astype(np.float64) - want) / np.spacing(np.abs(rounded)).astype(np.float64)
    same = (np.isnan(got) & np.isnan(want)) | ((got == rounded) & (np.signbit(got) == np.signbit(rounded)))
    return np.where(same, 0.0, np.where(np.isnan(errors), np.inf, errors))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function(name: str) -> None:
    rng = np.random.default_rng(1)
    wide = np.exp(rng.uniform(-30, 20, COUNT)) * rng.choice([-1, 1], COUNT)
    x = np.concatenate([SPECIAL, rng.uniform(-12, 12, COUNT), rng.uniform(-1, 1, COUNT), wide]).astype(np.float32)
    got = np.asarray(mlir_gemm.compile(program(name, len(x), 1), device="simulator")(x))
    with np.errstate(all="ignore"):
        want = FUNCTIONS[name](x.astype(np.float64))
    assert ulps(got, want).max() <= 0.51


def test_atan2() -> None:
    rng = np.random.default_rng(2)
    pairs = np.array([(y, x) for y in SPECIAL for x in SPECIAL])
    y, x = np.concatenate([pairs, rng.standard_normal((COUNT, 2))]).astype(np.float32).T.copy()
    got = np.asarray(mlir_gemm.compile(program("atan2", len(x), 2), device="simulator")(y, x))
    assert ulps(got, np.arctan2(y.astype(np.float64), x.astype(np.float64))).max() <= 0.51


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_functions_of_integers(bits: int) -> None:
    rng = np.random.default_rng(bits)
    dtype: Any = np.dtype(f"int{bits}")
    info = np.iinfo(dtype)
    x = np.concatenate([[0, 1, -1, info.min, info.max], rng.integers(info.min, info.max, 500)]).astype(dtype)
    texts = [np.binary_repr(int(each), bits) for each in x]
    wanted = {
        "absi": [abs(int(each)) if each != info.min else info.min for each in x],
        "ctpop": [text.count("1") for text in texts],
        "ctlz": [bits - len(text.lstrip("0")) for text in texts],
        "cttz": [bits - len(text.rstrip("0")) for text in texts],
    }
    for name, want in wanted.items():
        kernel = mlir_gemm.compile(program(name, len(x), 1, f"i{bits}"), device="simulator")
        assert np.array_equal(np.asarray(kernel(x)), np.array(want).astype(dtype)), name
