"""The model's order of schedules on GPUs that others measured, as docs/chips.md says it."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from pathlib import Path

import pytest

from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tile_model.select import select

PAGE = (Path(__file__).resolve().parents[2] / "docs/chips.md").read_text()


def predicted(problem: Problem, chip: str, fields: str) -> float:
    """TFLOP/s."""
    choice = select(problem, target(chip), Schedule.parse(f"mma=mma_sync,{fields}"))
    return problem.flops / choice.cost.total / 1e12


def test_kernels_on_an_rtx_4090():
    rows = re.findall(r"^\| \d\.\d, .*? \| ([\d.]+) \| ([\d.]+) \| `(.*?)`, N([NT]) \|$", PAGE, re.M)
    assert len(rows) == 5
    problem = Problem(4096, 4096, 4096, out="f32", reads_c=False)
    orders = {"N": "kn", "T": "nk"}
    found = [predicted(replace(problem, b_order=orders[b]), "rtx4090", text) for _, _, text, b in rows]
    assert [f"{each:.1f}" for each in found] == [row[1] for row in rows]
    assert found == sorted(found) and [float(row[0]) for row in rows] == sorted(float(row[0]) for row in rows)


def test_tiles_on_an_a100():
    table = re.search(r"^\| tile \| (.*?) \|\n.*\n\| predicted \| (.*?) \|$", PAGE, re.M)
    assert table is not None
    head, figures = table.groups()
    problem = Problem(6912, 2048, 4096, out="f16", reads_c=False)
    found = [max(predicted(problem, "a100", f"block={tile}x{k}") for k in (32, 64)) for tile in head.split(" | ")]
    assert found == pytest.approx([float(each) for each in figures.split(" | ")], abs=0.06)
    assert all(after <= before * 1.001 for before, after in itertools.pairwise(found))
