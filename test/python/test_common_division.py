"""Division of rows by a number of their own: rounded as a division is, for numbers of every magnitude."""

from __future__ import annotations

import numpy as np
import pytest
from row_kernels import DTYPES, Array, Case, Rows, compiled, nothing, run

LENGTH = 64
ODD = (0.0, np.inf, np.nan, 1e-45, 1e-40, 2.0**-126, 3e38, 2.0**100, 2.0**-100, 1.7e30, 3.3e-31)


def _numbers(rng: np.random.Generator, count: int) -> Array:
    """Of both signs and every magnitude, odd ones among them."""
    sizes = np.exp2(rng.uniform(-149, 128, count)) * rng.uniform(1, 2, count)
    sizes[: len(ODD)] = ODD[:count]
    signs = np.where(rng.random(count) < 0.5, -1.0, 1.0)
    with np.errstate(over="ignore"):
        return (sizes * signs).astype(np.float32)


def _quotients(element: str) -> Case:
    """x divided by the largest of D in its row; all of a row of D are equal."""
    rng = np.random.default_rng(5)
    divisors = np.abs(_numbers(rng, 32))
    x = np.stack([_numbers(rng, LENGTH) for _ in divisors])
    rng.permuted(x, axis=1, out=x)
    with np.errstate(over="ignore"):
        x[:, :8] = divisors[:, None] * rng.uniform(0.5, 2, (32, 8)).astype(np.float32)
    rows = Rows({"m": len(divisors), "n": LENGTH})
    rows.argument("A", "mn", "f32")
    rows.argument("D", "mn", "f32")
    rows.argument("R", "mn", element)
    rows.reduce("most", "D", "0xFF800000", "%r = arith.maximumf %x0, %a : f32")
    rows.map("R", "A most", "%r = arith.divf %x0, %x1 : f32", element=element)
    with np.errstate(all="ignore"):
        wanted = x / divisors[:, None]
    spread = np.repeat(divisors[:, None], LENGTH, axis=1)
    return Case(rows.text(), [x, spread, nothing(x.shape, element)], [wanted.astype(np.float64)])


def _bits(numbers: Array) -> Array:
    """Whole numbers in the order of floats: neighbours differ by one."""
    raw = numbers.view(np.int32 if numbers.itemsize == 4 else np.int16).astype(np.int64)
    return np.where(raw < 0, -(raw & ((1 << 8 * numbers.itemsize - 1) - 1)), raw)


@pytest.mark.parametrize("element", ["f32", "f16", "bf16"])
def test_quotients_are_rounded_as_those_of_a_division(element: str) -> None:
    case = _quotients(element)
    arrays, report = run(case)
    assert not report.findings, report.findings[0]
    got, x, divisors = arrays[2], case.arrays[0], case.arrays[1]
    with np.errstate(all="ignore"):
        exact = x.astype(np.float64) / divisors.astype(np.float64)
        wanted = exact.astype(np.float32).astype(DTYPES[element])
    assert np.array_equal(np.isnan(got), np.isnan(wanted))
    real = ~np.isnan(wanted)
    apart = np.abs(_bits(got)[real] - _bits(wanted)[real])
    small = (np.abs(x) < 2.0**-100) | (np.abs(exact) < 2.0**-126)
    assert apart.max() <= 1
    if element == "f32":
        assert apart[~small[real]].max() == 0
        assert np.array_equal(got[np.isinf(wanted)], wanted[np.isinf(wanted)])


def test_a_division_by_a_constant_is_rounded_as_one() -> None:
    """By 3, by a power of two, and by a number that has to be scaled."""
    rng = np.random.default_rng(6)
    x = np.stack([_numbers(rng, LENGTH) for _ in range(3)])
    rows = Rows({"m": 3, "n": LENGTH})
    rows.argument("A", "mn", "f32")
    for name in "RST":
        rows.argument(name, "mn", "f32")
    rows.argument("U", "m", "f32")
    rows.reduce("U", "A", "0xFF800000", "%r = arith.maximumf %x0, %a : f32")
    for name, number in zip("RST", ("3.0", "-8.0", "1.0e+35"), strict=True):
        rows.map(name, "A", f"%c = arith.constant {number} : f32", "%r = arith.divf %x0, %c : f32")
    outputs = [*(nothing(x.shape, "f32") for _ in range(3)), nothing((3,), "f32")]
    arrays, report = run(Case(rows.text(), [x, *outputs], []))
    assert not report.findings, report.findings[0]
    for got, number in zip(arrays[1:4], (3, -8, 1e35), strict=True):
        with np.errstate(all="ignore"):
            wanted = x / np.float32(number)
        assert np.array_equal(np.isnan(got), np.isnan(wanted))
        large = np.abs(x) >= 2.0**-100
        assert np.array_equal(got[large], wanted[large], equal_nan=True)
        assert np.abs(_bits(got) - _bits(wanted))[~large & ~np.isnan(wanted)].max() <= 1


def test_a_division_has_no_branch() -> None:
    """A branch would be computed on both sides: the back end selects between them."""
    kernel = compiled(_quotients("f16")).ir("lower").split("gpu.module")[1]
    assert kernel.count("arith.divf") == 1 and "scf.if" not in kernel[kernel.index("arith.divf") :]
