"""Sizes that are sums of others: their algebra, their names, calls with parts that are empty or too small."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import numpy as np
import pytest

import mlir_gemm
from mlir_gemm.dialect.linalg.size_sums import SizeSums
from mlir_gemm.dialect.symbols import Size
from mlir_gemm.errors import ArgumentError, InputError
from mlir_gemm.spec import sizes

FRONT = Path(__file__).parent.parent / "modules" / "front"


def test_random_sums_are_what_their_names_say() -> None:
    """Sums, products and quotients of sizes give the same numbers as their names, and equal ones the same name."""
    for seed in range(60):
        rng = random.Random(seed)
        sums = SizeSums()
        values = {f"t{number}": rng.randint(0, 40) for number in range(3)}
        known = [(sums.new(), values[name]) for name in values]
        for _ in range(8):
            (left, x), (right, y) = rng.choice(known), rng.choice(known)
            number = rng.randint(1, 6)
            size, value = {
                "sum": (sums.sum(left, right), x + y),
                "difference": (sums.sum(left, right, -1), x - y),
                "less": (sums.sum(left, Size(number), -1), x - number),
                "times": (sums.product(left, Size(number)), x * number),
                "down": (sums.quotient(left, Size(number)), x // number),
                "up": (sums.quotient(left, Size(number), up=True), -(-x // number)),
            }[rng.choice(("sum", "difference", "less", "times", "down", "up"))]
            assert size is not None
            known.append((size, value))
            assert sums.resolved(sums.sum(sums.sum(size, left), left, -1)) == sums.resolved(size)
        assert sums.named()[:3] == ["s0", "s1", "s2"]
        called = {f"s{number}": value for number, value in enumerate(values.values())}
        for size, value in known:
            text = str(sums.resolved(size))
            assert Size.of_text(text).value(called) == value
            assert sizes.value(sizes.parsed(text), called) == value


def test_slices_lie_in_what_they_are_slices_of() -> None:
    """`x[start:end:step]` for an end counted from the back lies in x; one that takes an element more does not."""
    for start, end, step in itertools.product(range(3), range(3), range(1, 5)):
        sums = SizeSums()
        whole = sums.new()
        length = sums.sum(whole, Size(start + end), -1)
        size = sums.quotient(length, Size(step), up=True)
        assert size is not None
        assert sums.lies_in(whole, Size(start), size, step)
        least = sums.least.get("t0", 0)
        assert least <= start + end
        further = sums.lies_in(whole, Size(start + end + 1), sums.sum(size, Size(step)), step)
        assert not further or sums.least["t0"] > least


def test_as_many_rows_as_a_table_has() -> None:
    kernel = mlir_gemm.compile(FRONT / "open_tables.mlir", device="simulator")
    places, mask = np.zeros((160, 24), np.float16), np.zeros((160, 160), np.float16)
    with pytest.raises(ArgumentError, match="its size 161 in dimension 1 must be at most 160"):
        kernel(np.zeros((1, 161, 24), np.float16), places, mask)


@pytest.mark.parametrize("text", ["", "(s0", "s0+", "s0 s1", "(s0+s1))", "s0**2", "s0/2"])
def test_texts_that_are_no_sizes(text: str) -> None:
    with pytest.raises(InputError, match="is no size"):
        sizes.parsed(text)


def test_a_cache_may_be_empty_and_tokens_may_be_too_few() -> None:
    rng = np.random.default_rng(0)
    kernel = mlir_gemm.compile(FRONT / "open_shift.mlir", device="simulator")
    mix = rng.standard_normal(8).astype(np.float32)
    with pytest.raises(ArgumentError, match="its size 0 in dimension 1 must be at least 1"):
        kernel(np.zeros((3, 0, 8), np.float32), mix)
    source = """func.func @cat(%a: tensor<?x8xf32>, %b: tensor<?x8xf32>) -> tensor<?x8xf32> {
      %r = tensor.concat dim(0) %a, %b : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
      return %r : tensor<?x8xf32>
    }"""
    kernel = mlir_gemm.compile(source, device="simulator")
    for past, more in ((0, 3), (3, 0), (0, 0), (5, 2)):
        a, b = (rng.standard_normal((size, 8)).astype(np.float32) for size in (past, more))
        np.testing.assert_array_equal(kernel(a, b), np.concatenate([a, b]))


def test_an_argument_of_the_length_of_two_others_is_checked() -> None:
    source = """func.func @add(%a: tensor<?xf32>, %b: tensor<?xf32>, %c: tensor<?xf32>) -> tensor<?xf32> {
      %r = tensor.concat dim(0) %a, %b : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
      %s = linalg.add ins(%r, %c : tensor<?xf32>, tensor<?xf32>) outs(%c : tensor<?xf32>) -> tensor<?xf32>
      return %s : tensor<?xf32>
    }"""
    kernel = mlir_gemm.compile(source, device="simulator")
    one, two, three = (np.ones(size, np.float32) for size in (2, 3, 5))
    np.testing.assert_array_equal(kernel(one, two, three), np.full(5, 2, np.float32))
    with pytest.raises(ArgumentError, match="its size 3 in dimension 0 must be 5"):
        kernel(one, two, two)
