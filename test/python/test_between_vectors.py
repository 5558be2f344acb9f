"""Weights of rows that start between vectors: two vectors are loaded, and the elements chosen from their words."""

from __future__ import annotations

import pytest
from row_kernels import compiled, fields, measured, pinned, run


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


def test_rows_of_f32_are_loaded_element_by_element() -> None:
    case = pinned(measured("rms_norm", 3, 403, "f32"), fields(32, 32, 4, "1, 512", "shift = 4 : i64"))
    kernel = compiled(case)
    assert "arith.shrui" not in kernel.ir("lower")
    arrays, _ = run(case, kernel)
    case.check(arrays)
