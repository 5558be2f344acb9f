"""The model's order of schedules on GPUs that others measured: an RTX 4090 and an A100 (`bench/papers/published.toml`).
Of an RTX 2080 Ti test_papers.py has it."""

from __future__ import annotations

import itertools

import pytest

from mlir_gemm.bench.paper_data import paper
from mlir_gemm.bench.paper_model import predict


@pytest.mark.parametrize(("number", "kernels"), [(0, 5), (1, 8)])
def test_ours_are_in_the_order_of_the_source(number: int, kernels: int) -> None:
    table = paper("published").table[number]
    sign = -1 if table.unit == "place" else 1
    rows = [(sign * (row.value or 0), predict(table, row)) for row in table.row if row.schedule]
    assert len(rows) == kernels
    for (theirs, ours), (others, next_) in itertools.combinations(rows, 2):
        assert ours and next_ and ours.tflops and next_.tflops and not ours.refused
        if theirs == others:
            assert ours.tflops == pytest.approx(next_.tflops, rel=1e-3)
        else:
            assert (ours.tflops < next_.tflops) == (theirs < others)
