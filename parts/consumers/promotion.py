"""promotion: a warpgroup adds the tensor cores' sums of a few k steps to a second accumulator, in f32. Tensor cores cut
off what lies below the last bit of their sums, ordinary additions round. The main loop makes both accumulators."""

from __future__ import annotations

from mlir_gemm.parts.base import Part, Rules
from mlir_gemm.parts.block import consumer_warpgroups
from mlir_gemm.parts.mma.wgmma.rules import ACCUMULATORS, MOST_ACCUMULATORS
from mlir_gemm.parts.wording import shown_tile, shown_value
from mlir_gemm.spec.fields import Field
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import FIELDS, Schedule
from mlir_gemm.spec.target import Target


def two_accumulators(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    shown = f"promotion={schedule.promotion}"
    if problem.acc != "f32":
        return f"{shown}: sums in {problem.acc}; expected sums in f32, or promotion=0"
    if "k" in problem.dynamic:
        return f"{shown}: k is known at run time only; expected promotion=0"
    for name in ("split_k_cluster", "stream_k", "ping_pong"):
        if getattr(schedule, name) != FIELDS[name]:
            return f"{shown}: expected {name}={shown_value(FIELDS[name])}, so that a block has all k steps of its tile"
    each = 2 * schedule.warp[0] * schedule.warp[1] // 128
    most = ACCUMULATORS if consumer_warpgroups(schedule) > 1 else MOST_ACCUMULATORS
    if each > most:
        return (
            f"{shown}, warp={shown_tile(schedule.warp)}: {each} registers of two accumulators; expected at most {most}"
        )
    return None


PART = Part(
    "promotion",
    lambda schedule: bool(schedule.promotion),
    lambda _, __: [],
    fields=(
        Field(
            "promotion",
            "k steps whose products the tensor cores add up, before ordinary additions in f32 take over, which round "
            "and do not cut off; 0 leaves all steps to the tensor cores.",
            most=2**20,
            unit="steps",
        ),
    ),
    rules=Rules(shape=(two_accumulators,)),
    on_ring=True,
    by_warpgroups=True,
)
