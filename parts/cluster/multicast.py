"""multicast: the blocks of a cluster copy what they have in common together."""

from __future__ import annotations

from mlir_gemm.parts.base import Part, Rules
from mlir_gemm.parts.cluster.split_k import MOST_BLOCKS
from mlir_gemm.parts.layout import buffer
from mlir_gemm.spec.fields import Field
from mlir_gemm.spec.passes import at, step, upstream
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target
from mlir_gemm.spec.tile_space import HALVES, square_of

MOST = 4
"""Blocks below or beside each other that share copies."""


def clusters(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    """Clusters must divide what they copy together. They cover whole tiles, or also tiles outside the result where
    stores are tested at the edges."""
    shown = f"cluster_m={schedule.cluster_m}, cluster_n={schedule.cluster_n}"
    if max(schedule.cluster_m, schedule.cluster_n) > MOST or schedule.cluster > MOST_BLOCKS:
        return f"{shown}: expected at most {MOST} of each, and {MOST_BLOCKS} blocks in a cluster"
    if problem.dynamic:
        return f"{shown}: sizes known at run time only ({', '.join(problem.dynamic)}) need not divide into clusters"
    parts = schedule.cluster_m, schedule.cluster_n
    if schedule.space in HALVES:
        parts = (square_of(*parts),) * 2
    sides = ("m", problem.m, parts[0]), ("n", problem.n, parts[1])
    for (name, extent, part), block in zip(sides, schedule.block[:2], strict=True):
        size = -(-extent // block)
        if size < part:
            return f"cluster_{name}={part}: expected at most the {size} tiles along {name}"
        if size % part and extent % block == 0:
            return f"cluster_{name}={part}: expected a divisor of the {size} tiles along {name}, which have no edge"
    if schedule.persistent % schedule.cluster:
        return f"persistent={schedule.persistent}: expected a multiple of the cluster's {schedule.cluster} blocks"
    for operand, sharing in (("a", schedule.cluster_n), ("b", schedule.cluster_m)):
        rows = buffer(problem, schedule, operand).rows
        if sharing > 1 and rows % (8 * sharing):
            return f"{shown}: the {rows} rows of a tile of {operand.upper()} do not divide into parts of whole 8 rows"
    return None


PART = Part(
    "multicast",
    lambda schedule: schedule.cluster_m * schedule.cluster_n > 1,
    lambda _, __: [at("parallelize", "cluster", step("tma-multicast"), upstream("cse"))],
    rank=12,
    fields=(
        Field(
            "cluster_m",
            "Blocks below each other that form a cluster and copy their common tiles of B together.",
            least=1,
        ),
        Field("cluster_n", "The same beside each other, with tiles of A.", least=1),
    ),
    rules=Rules(shape=(clusters,)),
    on_ring=True,
)
