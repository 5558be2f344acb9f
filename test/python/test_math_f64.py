"""The formulas of f64, and angles of any size: what `expand-math` makes, evaluated in NumPy, against long double."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from math_formulas import evaluate, kernel, unary

COUNT = 10_000
LONG = np.longdouble
LARGEST = float(np.finfo(np.float64).max)
SPECIAL = (0.0, math.inf, math.nan, LARGEST, 2.0**-1022, 5e-324, 1e-310, 1.0, 2.0, 0.5, 0.45, 1.5, 3.0, 8.0, 28.0, 27.2,
           709.7, 710.4, 710.5, 745.0, 1e300, 1e-300, 2.0**28, 2.0**19, 2.0**19 + 1.5, 0.1)  # fmt: skip
BOUNDS = {
    "exp2": 1.1, "expm1": 1.8, "log2": 0.52, "log10": 0.52, "log1p": 1.5, "sin": 0.9, "cos": 0.9, "tan": 0.9,
    "atan": 1.8, "asin": 2.3, "acos": 2.0, "sinh": 1.7, "cosh": 1.5, "asinh": 1.9, "acosh": 1.9, "atanh": 2.0,
    "cbrt": 0.52,
}  # fmt: skip
"""The largest errors allowed, in units of the last place."""
NAMES = {"atan": "arctan", "asin": "arcsin", "acos": "arccos", "asinh": "arcsinh", "acosh": "arccosh",
         "atanh": "arctanh"}  # fmt: skip
NEAR_TURNS = (6381956970095103 * 2.0**797, 5.319372648326541e255, 2.0**1023, LARGEST, 355.0, 103993.0, 1e22, 2.0**30,
              2.0**62 * math.pi, 11 * math.pi / 2, 2.0**18 * math.pi, 2.0**600 * math.pi)  # fmt: skip
"""Angles of any size; the first is, of all f64, the one closest to a multiple of pi/2."""

pytestmark = pytest.mark.skipif(
    np.finfo(LONG).nmant < 63, reason="the reference needs a long double with more digits than f64"
)


def arguments(seed: int = 0) -> Any:
    """Numbers over the whole range by their bits, around one, of middling size, and special ones."""
    rng = np.random.default_rng(seed)
    everywhere = rng.integers(0, 2**64 - 1, COUNT, np.uint64, endpoint=True).view(np.float64)
    near_one = 1 + rng.standard_normal(COUNT // 2) * np.exp2(rng.uniform(-52, 0, COUNT // 2))
    middling = rng.standard_normal(COUNT) * np.exp2(rng.uniform(-8, 10, COUNT))
    found = np.concatenate([everywhere, near_one, middling, np.array(SPECIAL)])
    return np.concatenate([found, -near_one, -np.array(SPECIAL)])


def ulps(got: Any, want: Any) -> Any:
    """Distances in units of the last place; infinite where a special value or the sign of a zero is wrong."""
    with np.errstate(all="ignore"):
        rounded = want.astype(got.dtype)
        unit = np.spacing(np.minimum(np.abs(rounded), np.finfo(got.dtype).max)).astype(LONG)
        distance = np.abs(got.astype(LONG) - want) / unit
    special = ~np.isfinite(got) | ~np.isfinite(rounded)
    same = (np.isnan(got) & np.isnan(rounded)) | (got == rounded)
    wrong_zero = (got == 0) & (rounded == 0) & (np.signbit(got) != np.signbit(rounded))
    return np.where(wrong_zero, np.inf, np.where(special, np.where(same, 0, np.inf), distance))


def check(error: Any, bound: float, *inputs: Any) -> None:
    worst = int(np.argmax(error))
    print(f"{float(error[worst]):.3f} ulp at {[each[worst] for each in inputs]}")
    assert error[worst] <= bound, f"{error[worst]} ulp at {[each[worst] for each in inputs]}"


def reference(name: str, x: Any) -> Any:
    with np.errstate(all="ignore"):
        return getattr(np, NAMES.get(name, name))(x.astype(LONG))


def binary(operation: str, types: tuple[str, str] = ("f64", "f64")) -> Callable[..., Any]:
    tail = ", ".join(dict.fromkeys(types))
    return stored(f"{operation} %x, %y : {tail}", types[0], f"%y: {types[1]}, ")


def stored(operation: str, type_: str, more: str = "", before: str = "") -> Callable[..., Any]:
    """What a kernel stores of an operation, for arrays in place of %x and `more`."""
    module = kernel(
        f"gpu.func @f(%x: {type_}, {more}%o: memref<1x{type_}>) kernel {{ %c = arith.constant 0 : index {before} "
        f"%r = {operation} memref.store %r, %o[%c] : memref<1x{type_}> gpu.return }}"
    )
    return lambda *arrays: evaluate(module, *arrays)


@pytest.mark.parametrize("name", BOUNDS)
def test_function(name: str) -> None:
    x = arguments()
    check(ulps(evaluate(unary(f"math.{name}", "f64"), x), reference(name, x)), BOUNDS[name], x)


def test_erfc() -> None:
    exact: Any = ctypes.CDLL("libm.so.6").erfcl
    exact.restype, exact.argtypes = ctypes.c_longdouble, [ctypes.c_longdouble]
    x = arguments()[::3]
    with np.errstate(all="ignore"):  # ctypes gives an f64, which is rounded: half a unit more
        want = np.array([exact(float(each)) for each in x]).astype(LONG)
    check(ulps(evaluate(unary("math.erfc", "f64"), x), want), 3.0, x)


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_angles_of_any_size(name: str) -> None:
    rng = np.random.default_rng(4)
    random = rng.standard_normal(2000) * np.exp2(rng.uniform(18, 1021, 2000))
    turns = np.rint(rng.standard_normal(2000) * np.exp2(rng.uniform(1, 60, 2000))) * (math.pi / 2)
    x = np.concatenate([np.array(NEAR_TURNS), random, turns])
    x = np.concatenate([x, -x])
    check(ulps(evaluate(unary(f"math.{name}", "f64"), x), reference(name, x)), 0.9, x)
    narrow = x[np.abs(x) < 3e38].astype(np.float32)
    borders = np.array([3.4e38, -3.4e38, np.inf, -np.inf, np.nan, 2.0**30, 2.0**30 + 64, 2.0**127], np.float32)
    narrow = np.concatenate([narrow, borders])
    bound = 0.51 if name == "tan" else 1.6
    check(ulps(evaluate(unary(f"math.{name}", "f32"), narrow), reference(name, narrow)), bound, narrow)


def pairs(seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    x, y = arguments(seed), rng.permutation(arguments(seed + 1))
    special = np.array([*SPECIAL, *(-each for each in SPECIAL)])
    return (np.concatenate([x, np.repeat(special, len(special))]), np.concatenate([y, np.tile(special, len(special))]))


def test_atan2() -> None:
    y, x = pairs(5)
    with np.errstate(all="ignore"):
        want = np.arctan2(y.astype(LONG), x.astype(LONG))
    check(ulps(binary("math.atan2")(y, x), want), 1.9, y, x)


def test_powers() -> None:
    x, y = pairs(6)
    rng = np.random.default_rng(7)
    base = np.exp2(rng.uniform(-1000, 1000, COUNT))
    x = np.concatenate([x, base, -base])
    whole = np.rint(rng.standard_normal(COUNT) * 3)
    y = np.concatenate([y, rng.uniform(-700, 700, COUNT) / np.log(base), whole])
    with np.errstate(all="ignore"):
        want = np.power(x.astype(LONG), y.astype(LONG))
    check(ulps(binary("math.powf")(x, y), want), 1.5, x, y)


@pytest.mark.parametrize("type_", ["i32", "i64"])
def test_whole_powers(type_: str) -> None:
    rng = np.random.default_rng(8)
    n = np.concatenate([rng.integers(-40, 41, COUNT), np.array([0, 1, -1, 2**31 - 1, -(2**31)])])
    x = np.concatenate([np.exp2(rng.uniform(-12, 12, COUNT)), np.full(5, -1.0)])
    if type_ == "i64":  # more than f64 can tell apart
        n = np.concatenate([n, [2**62 + 1, 2**62, -(2**60) - 1, 2**53 + 1]])
        x = np.concatenate([x, [-1.0, -1.0, 1 + 2.0**-52, -1 - 2.0**-52]])
    with np.errstate(all="ignore"):
        want = np.where(n % 2 == 1, np.sign(x), 1) * np.exp(n.astype(LONG) * np.log(np.abs(x).astype(LONG)))
        want = np.where(np.abs(n) < 64, np.power(x.astype(LONG), n), want)
    dtype: Any = np.dtype({"i32": np.int32, "i64": np.int64}[type_])
    check(ulps(binary("math.fpowi", ("f64", type_))(x, n.astype(dtype)), want), 1.5, x, n)


def test_remainders_are_exact() -> None:
    x, y = pairs(9)
    with np.errstate(all="ignore"):
        want = np.fmod(x, y)
    got = binary("arith.remf")(x, y)
    assert np.array_equal(got, want, equal_nan=True)
    assert (np.signbit(got) == np.signbit(want))[~np.isnan(want)].all()


@pytest.mark.parametrize("bits", [8, 32, 64])
def test_powers_of_integers(bits: int) -> None:
    dtype: Any = np.dtype(f"int{bits}")
    rng = np.random.default_rng(bits)
    x, n = rng.integers(-12, 13, 3000), rng.integers(-6, 70, 3000)
    x = np.where((n < 0) & (x == 0), 1, x).astype(dtype)
    n = n.astype(dtype)
    got = binary("math.ipowi", (f"i{bits}", f"i{bits}"))(x, n)

    def power(base: int, exponent: int) -> int:
        if exponent < 0:
            return 0 if abs(base) > 1 else base ** (exponent % 2)
        return (base**exponent + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1))

    assert np.array_equal(got, np.array([power(int(a), int(b)) for a, b in zip(x, n, strict=True)], dtype))


@pytest.mark.parametrize("type_", ["f16", "f32", "f64"])
def test_numbers_below_the_normal_ones(type_: str) -> None:
    dtype: Any = np.dtype({"f16": np.float16, "f32": np.float32, "f64": np.float64}[type_])
    info: Any = np.finfo(dtype)
    denormal, least = info.smallest_subnormal, info.tiny
    x = np.array([0.0, -0.0, denormal, least, -least, -least / 2, 1, info.max, np.inf, np.nan], dtype)
    normal = evaluate(unary("math.isnormal", type_, "i1"), x)
    assert list(normal) == [False, False, False, True, True, False, True, True, False, False]
    flushed = stored(f"arith.flush_denormals %x : {type_}", type_)(x)
    want = np.where(np.abs(x) < info.tiny, np.copysign(dtype.type(0), x), x)
    assert np.array_equal(flushed, want, equal_nan=True)
    assert (np.signbit(flushed) == np.signbit(x))[:-1].all()


def test_sine_and_cosine_at_once() -> None:
    run = stored("arith.divf %s, %k : f32", "f32", before="%s, %k = math.sincos %x : f32")
    x = np.linspace(-9, 9, 1000, dtype=np.float32)
    assert ulps(run(x), np.tan(x.astype(LONG))).max() < 4
