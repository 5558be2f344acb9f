"""split_k: the blocks of a cluster share the k steps of a tile, and add up their sums in a fixed order."""

from __future__ import annotations

from mlir_gemm.parts.base import Part, Rules
from mlir_gemm.parts.grid import steps, walkers
from mlir_gemm.parts.shared_sums import cannot_share
from mlir_gemm.spec.fields import Field
from mlir_gemm.spec.passes import at, step
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target

MOST_BLOCKS = 8
"""Blocks of a cluster that every chip with clusters takes."""


def parts_of_k(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    shown = f"split_k_cluster={schedule.split_k_cluster}"
    if schedule.cluster > MOST_BLOCKS or walkers(problem, schedule):
        alone = "persistent=0" if schedule.tiles_per_block == 1 else "tiles_per_block=1"
        return f"{shown}: expected at most {MOST_BLOCKS} blocks in a cluster, and {alone}"
    why = cannot_share(problem)
    if why:
        return f"{shown}: {why}; expected split_k_cluster=1"
    if steps(problem, schedule) < 2 * schedule.split_k_cluster:
        return f"{shown}: {steps(problem, schedule)} k steps; expected at least two for each part"
    if schedule.warp[1] % (8 * schedule.split_k_cluster):
        return f"{shown}: the warp tile's n of {schedule.warp[1]} must be a multiple of {8 * schedule.split_k_cluster}"
    return None


PART = Part(
    "split_k",
    lambda schedule: schedule.split_k_cluster > 1,
    lambda _, __: [
        at("distribute", "split_k_cluster", step("split-k-in-cluster")),
        at("distribute", "reduce", step("reduce-through-dsmem")),
    ],
    rank=13,
    fields=(
        Field(
            "split_k_cluster",
            "Blocks, a cluster, that share the k steps of a tile and add up their partial sums in a fixed order.",
            least=1,
        ),
    ),
    rules=Rules(shape=(parts_of_k,)),
    on_ring=True,
    by_warpgroups=True,
)
