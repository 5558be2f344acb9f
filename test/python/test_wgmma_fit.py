"""The cost of `wgmma` against what was measured: how good the choice is, how close the times, and that a fit fits."""

from __future__ import annotations

import dataclasses
import math
import statistics
from pathlib import Path

from mlir_gemm.bench import fit_wgmma_cost
from mlir_gemm.parts.mma.wgmma.constants import WgmmaConstants
from mlir_gemm.tile_model.chips import target

RESULTS = Path(__file__).parents[2] / "bench/results"
SWEEP = RESULTS / "2026-11-21-h200-wgmma-exchanged-sweep.json.xz"
SHORT = RESULTS / "2026-11-21-h200-wgmma-queued-sweep.json.xz"
RANDOM = RESULTS / "2026-11-22-h200-random-sweep.json.xz"
PARTS = RESULTS / "2026-11-22-h200-parts-sweep.json.xz"
ROWS = RESULTS / "2026-11-22-h200-rows-sweep.json.xz"
FITTED = dataclasses.asdict(target("sm_90a").constants(WgmmaConstants))


def lost_of(*paths: Path) -> list[float]:
    """How many times as long as the best measured kernel the model's choice among them takes, for each problem."""
    table = fit_wgmma_cost.read([str(path) for path in paths])
    return [each for each, _ in fit_wgmma_cost.judged(table, {**FITTED, "history": 0.0})]


class TestSweep:
    """Sizes of a list, whose kernels were each started while the one before ended; and random sizes, sums of a few
    tiles in parts, and sizes of the list again, started in order as they are now."""

    def test_the_choice_is_close_to_the_best_measured(self) -> None:
        lost = lost_of(SWEEP, SHORT)
        assert len(lost) == 237
        assert math.exp(statistics.fmean(map(math.log, lost))) < 1.02
        assert max(lost) < 1.25 and sum(each > 1.1 for each in lost) <= 10

    def test_the_choice_is_close_for_sizes_that_nobody_chose(self) -> None:
        lost = lost_of(RANDOM)
        assert len(lost) == 216
        assert math.exp(statistics.fmean(map(math.log, lost))) < 1.04
        assert max(lost) < 1.35 and sum(each > 1.1 for each in lost) <= 30

    def test_the_choice_is_close_for_parts_of_k(self) -> None:
        lost = lost_of(PARTS)
        assert len(lost) == 111
        assert math.exp(statistics.fmean(map(math.log, lost))) < 1.03

    def test_the_choice_is_close_where_rows_of_the_result_start_between_vectors(self) -> None:
        lost = lost_of(ROWS)
        assert len(lost) == 26
        assert math.exp(statistics.fmean(map(math.log, lost))) < 1.03
        assert max(lost) < 1.15

    def test_predicted_times_are_close(self) -> None:
        table = fit_wgmma_cost.read([str(SWEEP), str(SHORT)])
        times = fit_wgmma_cost.predicted(table, {**FITTED, "history": 0.0})
        ratios = [
            float(times[own].min() / table.seconds[own][times[own].argmin()])
            for own in (table.case == place for place in range(len(table.problems)))
        ]
        assert sum(0.85 < ratio < 1.15 for ratio in ratios) >= 220
        assert all(0.75 < ratio < 1.2 for ratio in ratios)

    def test_a_fit_gets_better(self) -> None:
        table = fit_wgmma_cost.read([str(SWEEP)]).where([0, 2, 4])
        start = {**dataclasses.asdict(fit_wgmma_cost.START), "history": fit_wgmma_cost.HISTORY}
        found = fit_wgmma_cost.fitted(table, start, generations=5)
        assert fit_wgmma_cost.loss(table, found) < fit_wgmma_cost.loss(table, start)
