"""Which of two schedules of warpgroups that are predicted nearly alike is preferred, by what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from mlir_gemm.parts.prediction import Prediction
from mlir_gemm.spec.schedule import Schedule

LOW, MIRROR = 64, 1.03
"""For the model a tile of 64x128 and one of 128x64 take the same time. On the H200 the lower one, with LOW rows, takes
1 to 6 % less for 12 of 14 sizes. So it is preferred unless its prediction is more than MIRROR times the other's."""
NARROW, SHALLOW = 16, 1.1
"""Columns of a tile of LOW rows, and how many times the prediction of k steps twice as deep may be that of steps as
deep as one panel of shared memory, for these to be preferred. Where it was less, they took 0.96 of the time in the mean
(62 pairs on an H100, 0.88 to 1.03, 70 on an H200, 0.90 to 1.05, in nine files of 2026-11-24 to 2026-11-28); where it
was 1.1 to 1.2 times, the same, and from there on up to 1.2 times as long. With wider tiles neither is faster."""
TOGETHER = ("cluster_m", "cluster_n", "split_k_cluster", "stream_k", "persistent", "ping_pong", "promote_c")
Scored = TypeVar("Scored", bound="tuple[Schedule, Prediction]")


def low_first(scored: list[Scored]) -> list[Scored]:
    """Candidates of warpgroups in order, but of two tiles that are each other's mirror image the one of 64 rows goes
    first where it is close: one instruction of 128 columns needs less of shared memory than two of 64."""
    best, cost = scored[0]
    m, n, k = best.block
    if n != LOW:
        return scored
    for place, (schedule, _) in enumerate(_close(scored, MIRROR * cost.on_gpu)):
        image = (schedule.block, schedule.cluster_m, schedule.cluster_n) == ((n, m, k), best.cluster_n, best.cluster_m)
        if image and (schedule.split_k_cluster, schedule.ping_pong) == (best.split_k_cluster, best.ping_pong):
            return [scored[place], *scored[:place], *scored[place + 1 :]]
    return scored


def shallow_rather(chosen: Scored, scored: Sequence[Scored]) -> Scored:
    """What was chosen of candidates in order; where that is a narrow tile of warpgroups, the one with k steps of half
    the depth if it is close and blocks work together alike."""
    best, cost = chosen
    m, n, k = best.block
    if (m, best.warp) != (LOW, best.block) or n > NARROW:
        return chosen
    together = [best.value(name) for name in TOGETHER]
    for candidate in _close(scored, SHALLOW * cost.on_gpu):
        schedule = candidate[0]
        same = schedule.mma == best.mma and [schedule.value(name) for name in TOGETHER] == together
        if same and schedule.block == schedule.warp == (m, n, k // 2):
            return candidate
    return chosen


def _close(scored: Sequence[Scored], most: float) -> Sequence[Scored]:
    """The first candidates, until one is predicted to take longer than `most`."""
    end = next((place for place, (_, cost) in enumerate(scored) if cost.on_gpu > most), len(scored))
    return scored[:end]
