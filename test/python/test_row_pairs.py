"""Pairs of reductions that blocks that share a row exchange at once: random rows and schedules in the simulator, which
kernels have such a pair, and when the model takes one exchange."""

from __future__ import annotations

import os
import random
from dataclasses import replace

import pytest
from row_kernels import Case, compiled, fields, measured, pinned, run

from mlir_gemm.errors import ScheduleError
from mlir_gemm.spec.rows import EXPONENTIALS, SQUARES, RowProblem, RowSchedule
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tile_model.rows import explain_rows, select_rows

DRAWS = 4 * int(os.environ.get("MLIR_GEMM_DRAWS", "1"))


def drawn(seed: int) -> tuple[Case, str]:
    """Random rows, and a random schedule by which blocks share them."""
    generator = random.Random(seed)
    kind, element = generator.choice(["softmax", "log_softmax", "layer_norm"]), generator.choice(["f32", "f16", "bf16"])
    m, n = generator.randint(1, 5), generator.randint(40, 900)
    threads, vector = generator.choice([32, 64]), generator.choice([1, 2, 4])
    vector = vector if n % vector == 0 else 1
    line = threads * vector
    if generator.random() < 0.4:
        blocks = generator.choice([2, 4, 8])
        whole = -(-n // (blocks * line))
        return measured(kind, m, n, element, seed), fields(
            threads, threads, vector, f"1, {whole * line}", f"cluster = {blocks} : i64, paired = true"
        )
    blocks, more = generator.randint(2, 9), ["paired = true"]
    more.append(f"grid = {blocks} : i64")
    if n > blocks * line and generator.random() < 0.7:
        front = generator.randint(0, min(2, n // (blocks * line)))
        more += ["staged = true", f"unroll = {generator.randint(1, 3)} : i64"]
        more += [f"front = {front} : i64"] if front else []
    if m > 2 and generator.random() < 0.5:
        more.append("groups = 2 : i64")
    return measured(kind, m, n, element, seed), fields(threads, threads, vector, f"1, {line}", ", ".join(more))


@pytest.mark.parametrize("seed", range(DRAWS))
def test_random_rows_and_schedules(seed: int) -> None:
    case, schedule = drawn(seed)
    case = pinned(case, schedule)
    arrays, report = run(case, compiled(case))
    assert not report.findings, report.findings[0]
    assert not report.stopped
    case.check(arrays)


PAIRS = {"softmax": EXPONENTIALS, "log_softmax": EXPONENTIALS, "layer_norm": SQUARES, "rms_norm": ""}


@pytest.mark.parametrize(("kind", "pair"), PAIRS.items())
@pytest.mark.parametrize("element", ["f32", "f16"])
def test_which_rows_have_a_pair(kind: str, element: str, pair: str) -> None:
    case = measured(kind, 4, 1000, element)
    compilation = compiled(case, until="select")
    said = compilation.ir("select")
    assert f'pair = "{pair}"' in said if pair else "pair = " not in said


LONG = RowProblem(8, 400000, 4, 4, read=4, again=True, even=True, pair=SQUARES, beside=2)


def test_blocks_of_the_grid_exchange_once() -> None:
    schedule = select_rows(LONG, target("sm_90a"))
    assert (schedule.grid, schedule.paired, schedule.tile[0]) == (16, True, 1)
    assert "two reductions exchanged at once" in str(schedule)
    assert explain_rows(LONG, schedule)
    assert not select_rows(replace(LONG, pair=""), target("sm_90a")).paired


def test_clusters_exchange_once_where_nothing_hides_that_they_wait() -> None:
    problem, chip = replace(LONG, length=100000, pair=EXPONENTIALS, beside=0), target("sm_90a")
    few, many = (select_rows(replace(problem, rows=rows), chip) for rows in (64, 2000))
    assert [(each.cluster, each.paired) for each in (few, many)] == [(8, True), (8, False)]


def test_one_block_has_nobody_to_exchange_with() -> None:
    with pytest.raises(ScheduleError, match="paired=true for rows that no blocks share"):
        RowSchedule(64, 64, 4, (1, 256), paired=True).check()
    assert "paired" not in RowSchedule(64, 64, 4, (1, 256)).fields()
