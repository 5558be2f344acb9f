"""The formulas for elementary functions: the IR that `expand-math` and `expand-fp8` make, evaluated in NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from math_formulas import TYPES, evaluate, kernel, unary

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.context import new_context
from mlir_gemm.dialect.parse import parse_module
from mlir_gemm.dialect.walk import named
from mlir_gemm.passes.nvvm.select_math import INTRINSICS
from mlir_gemm.pipeline import emission
from mlir_gemm.pipeline.registry import parse_pass
from mlir_gemm.pipeline.runner import Runner
from mlir_gemm.simulator.kernel import Options, simulate

COUNT = 1_000_000
ULPS = {
    "exp": 1.0, "exp2": 0.9, "expm1": 1.5, "log": 0.9, "log2": 2.0, "log10": 1.1, "log1p": 1.5, "tanh": 1.6,
    "erf": 1.5, "rsqrt": 1.5, "sin": 1.6, "cos": 1.6,
}  # fmt: skip
"""Bounds on the errors in f32; all must stay below 4."""
ULPS_F64 = {"exp": 1.0, "log": 0.9, "tanh": 1.6, "erf": 3.0, "rsqrt": 1.5}


_REFERENCES: dict[str, Callable[[Any], Any]] = {
    "erf": lambda x: np.vectorize(math.erf, otypes=[x.dtype])(x.astype(np.float64)),
    "rsqrt": lambda x: 1 / np.sqrt(x),
}


def reference(name: str, x: Any) -> Any:
    """The function in a wider type: f64 for f32, the C library's long double for f64."""
    wide = x.astype(np.float64 if x.dtype == np.float32 else np.longdouble)
    with np.errstate(all="ignore"):
        return _REFERENCES.get(name, getattr(np, name, None))(wide)  # pyright: ignore[reportOptionalCall]


def ulps(got: Any, want: Any) -> Any:
    """The distance in units of the last place of the rounded exact value; 0 where both are the same non-number."""
    dtype = got.dtype
    with np.errstate(all="ignore"):
        rounded = want.astype(dtype)
        unit = np.spacing(np.minimum(np.abs(rounded), np.finfo(dtype).max)).astype(want.dtype)
        distance = np.abs(got.astype(want.dtype) - want) / unit
    special = ~np.isfinite(got) | ~np.isfinite(rounded)
    same = (np.isnan(got) & np.isnan(rounded)) | (got == rounded)
    # A finite value beyond the largest number by less than half a unit may become either.
    return np.where(special, np.where(same, 0, np.inf), distance)


def arguments(dtype: Any, seed: int = 0) -> Any:
    """Numbers over the whole range by their bits, around one, small and middling, and every special value."""
    rng = np.random.default_rng(seed)
    bits = {np.float32: np.uint32, np.float64: np.uint64}[dtype]
    info = np.finfo(dtype)
    count = COUNT if dtype == np.float32 else COUNT // 10
    everywhere = rng.integers(0, np.iinfo(bits).max, count, bits, endpoint=True).view(dtype)
    near_one = (1 + rng.standard_normal(count // 10) * np.exp2(rng.uniform(-23, 0, count // 10))).astype(dtype)
    middling = (rng.standard_normal(count // 5) * np.exp2(rng.uniform(-6, 7, count // 5))).astype(dtype)
    borders = np.array([87.3, 88.7, 104, 127.5, 128, 149, 150, 709.7, 745, 0.55, 1, 4, 6, 10, 20, 0.5, 2**0.5])
    borders = np.concatenate([np.nextafter(borders.astype(dtype), dtype(way)) for way in (-np.inf, np.inf)])
    special = [0.0, np.inf, np.nan, info.max, info.tiny, info.smallest_subnormal, 1.0, 2.0, 0.5]
    found = np.concatenate([everywhere, near_one, middling, borders, np.array(special, dtype)])
    return np.concatenate([found, -found[-200:], -near_one])


def check(name: str, got: Any, x: Any, bound: float) -> None:
    want = reference(name, x)
    error = ulps(got, want)
    worst = int(np.argmax(error))
    print(f"{name}: {error[worst]:.3f} ulp at {x[worst]!r}")
    assert error[worst] <= bound <= 4, f"{name}({x[worst]!r}) = {got[worst]!r}, {want[worst]!r}: {error[worst]} ulp"
    zero = (got == 0) & (want == 0)
    assert (np.signbit(got[zero]) == np.signbit(want[zero])).all(), f"{name}: the sign of zero"


@pytest.mark.parametrize("name", ULPS)
def test_f32(name: str) -> None:
    x = arguments(np.float32)
    check(name, evaluate(unary(f"math.{name}", "f32"), x), x, ULPS[name])


@pytest.mark.parametrize("name", ULPS_F64)
def test_f64(name: str) -> None:
    if np.finfo(np.longdouble).nmant < 63:
        pytest.skip("the reference needs a long double with more digits than f64")
    x = arguments(np.float64)
    if name == "erf":
        x = x[: len(x) // 4 * 4][::4]
        want = np.vectorize(math.erf, otypes=[np.float64])(x)  # itself right to an ulp
        error = ulps(evaluate(unary("math.erf", "f64"), x), want)
        print(f"erf: {error.max():.3f} ulp at {x[error.argmax()]!r}")
        assert error.max() <= ULPS_F64["erf"] - 1
    else:
        check(name, evaluate(unary(f"math.{name}", "f64"), x), x, ULPS_F64[name])


def _power(argument: str, constant: str = "", type_: str = "f32") -> Any:
    operation = f"math.powf %x, {'%y' if argument else '%n'} : f32"
    if type_ == "i32":
        operation = "math.fpowi %x, %n : f32, i32"
    return kernel(
        f"gpu.func @f(%x: f32, {argument}%o: memref<1xf32>) kernel {{ %c = arith.constant 0 : index {constant} "
        f"%r = {operation} memref.store %r, %o[%c] : memref<1xf32> gpu.return }}"
    )


def test_powf() -> None:
    rng = np.random.default_rng(1)
    x = np.concatenate([arguments(np.float32, 1), np.exp2(rng.uniform(-140, 127, COUNT)).astype(np.float32)])
    y = np.concatenate([arguments(np.float32, 2), (rng.standard_normal(COUNT) * 3).astype(np.float32)])
    whole = rng.random(len(y)) < 0.3
    y[whole] = np.rint(np.clip(np.nan_to_num(y[whole]), -60, 60))
    special = np.array([0, -0.0, 1, -1, 0.5, -0.5, 2, -2, 3, -3, np.inf, -np.inf, np.nan, 1e30, -1e30, 2.5], np.float32)
    x = np.concatenate([x, np.repeat(special, len(special))])
    y = np.concatenate([y, np.tile(special, len(special))])
    with np.errstate(all="ignore"):
        want = np.power(x.astype(np.float64), y.astype(np.float64))
    got = evaluate(_power("%y: f32, "), x, y)
    error = ulps(got, want)
    worst = int(np.argmax(error))
    print(f"powf: {error[worst]:.3f} ulp")
    assert error[worst] <= 0.6, (x[worst], y[worst], got[worst], want[worst])
    zero = (got == 0) & (want == 0)
    assert (np.signbit(got[zero]) == np.signbit(want[zero])).all()


@pytest.mark.parametrize("exponent", [-3, -1, 0, 1, 2, 3, 4, 7])
def test_whole_powers(exponent: int) -> None:
    x = arguments(np.float32)
    with np.errstate(all="ignore"):
        want = np.power(x.astype(np.float64), exponent)
    texts = (f"%n = arith.constant {exponent}.0 : f32", f"%n = arith.constant {exponent} : i32")
    for type_, text in zip(("f32", "i32"), texts, strict=True):
        error = ulps(evaluate(_power("", text, type_), x), want)
        assert np.max(error) <= 2, x[np.argmax(error)]


def test_remainders_are_exact() -> None:
    module = kernel(
        "gpu.func @f(%x: f32, %y: f32, %o: memref<1xf32>) kernel { %c = arith.constant 0 : index "
        "%r = arith.remf %x, %y : f32 memref.store %r, %o[%c] : memref<1xf32> gpu.return }"
    )
    rng = np.random.default_rng(3)
    x = np.concatenate([arguments(np.float32, 1)[: COUNT // 4], rng.standard_normal(1000).astype(np.float32) * 9])
    y = np.concatenate([arguments(np.float32, 2)[: COUNT // 4], rng.standard_normal(1000).astype(np.float32)])
    special = np.array([0, -0.0, 1, -1, 0.5, np.inf, -np.inf, np.nan, 1e-45, 3e38, -7.5], np.float32)
    x = np.concatenate([x, np.repeat(special, len(special))])
    y = np.concatenate([y, np.tile(special, len(special))])
    with np.errstate(all="ignore"):
        want = np.fmod(x, y)
    got = evaluate(module, x, y)
    assert np.array_equal(got, want, equal_nan=True)
    assert (np.signbit(got) == np.signbit(want))[~np.isnan(want)].all()


def _decoded(bits: int, mantissa: int, bias: int, nan: tuple[int, ...]) -> float:
    size, sign = bits & 0x7F, -1.0 if bits & 0x80 else 1.0
    if size in nan:
        return math.nan
    exponent, fraction = size >> mantissa, size & ((1 << mantissa) - 1)
    if bias == 15 and exponent == 31:
        return sign * math.inf
    if exponent == 0:
        return sign * fraction * 2.0 ** (1 - bias - mantissa)
    return sign * (1 + fraction / (1 << mantissa)) * 2.0 ** (exponent - bias)


EIGHT = {"f8E4M3FN": (3, 7, (0x7F,)), "f8E5M2": (2, 15, (0x7D, 0x7E, 0x7F))}


@pytest.mark.parametrize("name", EIGHT)
@pytest.mark.parametrize("wide", ["f16", "f32", "f64"])
def test_every_8_bit_float(name: str, wide: str) -> None:
    bits = np.arange(256, dtype=np.uint8).view(np.int8)
    want = np.array([_decoded(int(each), *EIGHT[name]) for each in bits.view(np.uint8)])
    got = evaluate(unary("arith.extf", name, wide), bits).astype(np.float64)
    assert np.array_equal(got, want, equal_nan=True)
    assert (np.signbit(got) == np.signbit(want))[~np.isnan(want)].all()


@pytest.mark.parametrize("name", EIGHT)
@pytest.mark.parametrize("wide", ["f16", "f32"])
def test_rounding_to_8_bit_floats(name: str, wide: str) -> None:
    """To nearest even among the format's numbers, and what would be the next one above the largest overflows."""
    mantissa, bias, nan = EIGHT[name]
    table = np.array([_decoded(each, mantissa, bias, nan) for each in range(128)])
    table = table[np.isfinite(table)]
    steps = np.append(table, 2 * table[-1] - table[-2])
    between = (steps[1:] + steps[:-1]) / 2
    x = np.concatenate(
        [table, between, np.nextafter(between, 0, dtype=np.float32), np.nextafter(between, 1e9, dtype=np.float32)]
    )
    x = np.concatenate([x, np.exp2(np.random.default_rng(0).uniform(-30, 20, 20000)), [np.inf, 0.0]])
    x = np.concatenate([x, -x, [np.nan]]).astype(TYPES[wide])
    bits = evaluate(unary("arith.truncf", wide, name), x).view(np.uint8)
    got = np.array([_decoded(int(each), mantissa, bias, nan) for each in bits])
    size = np.abs(x.astype(np.float64))
    upper = np.minimum(np.searchsorted(steps, size), len(steps) - 1)
    lower = np.maximum(upper - 1, 0)
    down, up = size - steps[lower], steps[upper] - size
    chosen = np.where((up < down) | ((up == down) & (upper % 2 == 0)), upper, lower)
    want = np.where(chosen == len(table), np.nan if name == "f8E4M3FN" else np.inf, steps[chosen])
    want = np.where(np.isnan(x), np.nan, np.copysign(want, x.astype(np.float64)))
    assert np.array_equal(got, want, equal_nan=True)
    assert (np.signbit(got) == np.signbit(want))[~np.isnan(want)].all()


def _pointwise(lines: str, before: str, after: str, width: int) -> str:
    """A module at stage `lower`: each of 32 threads applies `lines` to one vector, %x to %r."""
    x, r = f"vector<{width}x{before}>", f"vector<{width}x{after}>"
    sizes = f"memref<{32 * width}x{before}>", f"memref<{32 * width}x{after}>"
    return f"""module attributes {{gpu.container_module}} {{
  func.func @main(%a: {sizes[0]}, %b: {sizes[1]}) {{
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    gpu.launch_func @kernels::@f blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
        args(%a : {sizes[0]}, %b : {sizes[1]})
    return
  }}
  gpu.module @kernels {{
    gpu.func @f(%a: {sizes[0]}, %b: {sizes[1]}) kernel attributes {{known_block_size = array<i32: 32, 1, 1>}} {{
      %t = gpu.thread_id x
      %w = arith.constant {width} : index
      %i = arith.muli %t, %w : index
      %x = vector.load %a[%i] : {sizes[0]}, {x}
      {lines}
      vector.store %r, %b[%i] : {sizes[1]}, {r}
      gpu.return
    }}
  }}
}}"""


@pytest.mark.parametrize("name", [*ULPS, "absf", "sqrt", "floor", "ceil", "trunc", "round", "roundeven"])
@pytest.mark.parametrize("element", ["f16", "f32", "bf16"])
def test_to_ptx_and_in_the_simulator(name: str, element: str) -> None:
    """The same IR runs in the simulator, and becomes PTX that calls nothing."""
    text = _pointwise(f"%r = math.{name} %x : vector<4x{element}>", element, element, 4)
    module = parse_module(text, "-", new_context())
    Runner().run(module, [parse_pass("expand-math")])
    if element != "bf16":
        x = np.abs(np.random.default_rng(0).standard_normal(128)).astype(TYPES[element])
        out = np.zeros_like(x)
        simulate(str(module), [x, out], Options(checks=True))
        wide = x.astype(np.float64)
        other = {"absf": np.abs(wide), "round": np.floor(wide + 0.5), "roundeven": np.rint(wide)}
        want = other[name] if name in other else reference(name, x.astype(np.float32))
        assert np.allclose(out, want, rtol=1e-6 if element == "f32" else 1e-3)
    assert ".extern" not in to_ptx(module)


@pytest.mark.parametrize("name", EIGHT)
@pytest.mark.parametrize("width", [2, 16])
def test_8_bit_floats_to_ptx(name: str, width: int) -> None:
    lines = f"%s = arith.extf %x : vector<{width}x{name}> to vector<{width}xf16>\n"
    lines += f"%r = arith.truncf %s : vector<{width}xf16> to vector<{width}x{name}>"
    module = parse_module(_pointwise(lines, name, name, width), "-", new_context())
    Runner().run(module, [parse_pass("expand-fp8")])
    assert "ld.global" in to_ptx(module)


def test_vectors_of_more_dimensions_to_ptx() -> None:
    lines = """%z = arith.constant dense<0.0> : vector<2x8xf32>
      %s = vector.insert %x, %z [1] : vector<8xf32> into vector<2x8xf32>
      %e = math.exp %s : vector<2x8xf32>
      %r = vector.extract %e[1] : vector<8xf32> from vector<2x8xf32>"""
    module = parse_module(_pointwise(lines, "f32", "f32", 8), "-", new_context())
    Runner().run(module, [parse_pass("expand-math")])
    assert ".extern" not in to_ptx(module)


def to_ptx(module: Any) -> str:
    """PTX of a module at stage `lower`, by the passes of the stage `nvvm`."""
    Runner().run(module, [parse_pass("select-math")])
    assert not named(module, *INTRINSICS)
    upstream = (
        "nvvm-attach-target{chip=sm_80 O=3},gpu.module(expand-strided-metadata,lower-affine,convert-scf-to-cf,"
        "convert-gpu-to-nvvm{use-bare-ptr-memref-call-conv=1 index-bitwidth=64},canonicalize,cse,"
        "reconcile-unrealized-casts)"
    )
    Runner().run(module, [parse_pass(upstream)])
    with ir.Location.unknown(module.context):
        return emission.ptx(module)
