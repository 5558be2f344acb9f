"""Weights of rows that start between vectors: two vectors are loaded, and the elements chosen from their words."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from draws import draws
from row_kernels import Case, Rows, compiled, fields, measured, nothing, numbers, pinned, run


@pytest.mark.parametrize(
    ("element", "vector", "more"),
    [
        ("f16", 8, ""), ("bf16", 8, "staged = true"), ("f16", 4, "staged = true"), ("f16", 2, ""),
        ("f16", 8, "cluster = 2 : i64"), ("bf16", 8, "staged = true, prefetch = true"),
    ],
)  # fmt: skip
def test_weights_at_every_distance_from_a_vector(element: str, vector: int, more: str) -> None:
    """Nine rows of an odd length begin at every distance, one of them twice."""
    tile = "1, 512" if "staged" not in more else f"1, {32 * vector}"
    schedule = fields(32, 32, vector, tile, f"shift = {vector} : i64" + (f", {more}" if more else ""))
    case = pinned(measured("layer_norm", 9, 403, element), schedule)
    kernel = compiled(case)
    assert "arith.shrui" in kernel.ir("lower")
    arrays, report = run(case, kernel)
    assert not report.findings, report.findings[0]
    case.check(arrays)


@pytest.mark.parametrize("length", [400, 402, 404, 406, 403])
@pytest.mark.parametrize("more", ["cluster = 2 : i64, unroll = 2 : i64", "unroll = 3 : i64"])
def test_a_loop_for_each_place_between_vectors(length: int, more: str) -> None:
    """Rows of an even length begin at two or four places, those of a multiple of 8 elements at one."""
    schedule = fields(32, 32, 8, "1, 256", f"shift = 8 : i64, staged = true, {more}")
    case = pinned(measured("layer_norm", 5, length, "bf16"), schedule)
    kernel = compiled(case)
    assert kernel.ir("lower").count("scf.if") >= {0: 0, 4: 1}.get(length % 8, 3)
    arrays, report = run(case, kernel)
    assert not report.findings, report.findings[0]
    case.check(arrays)


@pytest.mark.parametrize("seed", range(draws(4)))
def test_weights_of_random_odd_rows(seed: int) -> None:
    """Rows that end anywhere in a tile."""
    random = Random(seed)
    kind, element = random.choice(["layer_norm", "rms_norm"]), random.choice(["f16", "bf16"])
    vector, cluster, unroll = random.choice([4, 8]), random.choice([1, 2, 4]), random.choice([1, 2, 3])
    length = random.randrange(32 * vector + 1, 1200)
    more = f"shift = {vector} : i64, staged = true, cluster = {cluster} : i64, unroll = {unroll} : i64"
    case = measured(kind, random.choice([3, 9]), length, element)
    case = pinned(case, fields(32, 32, vector, f"1, {32 * vector}", more))
    arrays, report = run(case, compiled(case))
    assert not report.findings, report.findings[0]
    case.check(arrays)


@pytest.mark.parametrize("more", ["unroll = 2 : i64", "unroll = 2 : i64, cluster = 2 : i64"])
@pytest.mark.parametrize("vector", [2, 4, 8])
def test_weights_of_32_bits_beside_rows_of_16(vector: int, more: str) -> None:
    m, n = 9, 64 * vector + 13
    rows, rng = Rows({"m": m, "n": n}), np.random.default_rng(vector)
    for name, loops, element in (("A", "mn", "bf16"), ("W", "n", "f32"), ("R", "mn", "bf16")):
        rows.argument(name, loops, element)
    rows.reduce("S", "A", "0.0", "%r = arith.addf %x0, %a : f32")
    rows.map("R", "A S W", "%d = arith.subf %x0, %x1 : f32", "%r = arith.mulf %d, %x2 : f32", element="bf16")
    given, weights = numbers(rng, (m, n), "bf16"), numbers(rng, (n,), "f32")
    exact = given.astype(np.float64)
    wanted = (exact - exact.sum(1, keepdims=True)) * weights
    case = Case(rows.text(), [given, weights, nothing((m, n), "bf16")], [wanted])
    case = pinned(case, fields(32, 32, vector, f"1, {32 * vector}", f"shift = {vector} : i64, staged = true, {more}"))
    arrays, report = run(case, compiled(case))
    assert not report.findings, report.findings[0]
    case.check(arrays)


def test_rows_of_f32_are_loaded_element_by_element() -> None:
    case = pinned(measured("rms_norm", 3, 403, "f32"), fields(32, 32, 4, "1, 512", "shift = 4 : i64"))
    kernel = compiled(case)
    assert "arith.shrui" not in kernel.ir("lower")
    arrays, _ = run(case, kernel)
    case.check(arrays)
