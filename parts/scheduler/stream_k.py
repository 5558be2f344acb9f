"""stream_k: the k steps of tiles that fill no whole wave are shared by all blocks; a fix-up adds up what they sum."""

from __future__ import annotations

from collections.abc import Iterable

from mlir_gemm.parts.base import Part, Rules
from mlir_gemm.parts.grid import steps
from mlir_gemm.parts.shared_sums import cannot_share
from mlir_gemm.parts.wording import shown_value
from mlir_gemm.spec.fields import Field
from mlir_gemm.spec.passes import Placed, at, step, upstream
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import FIELDS, Schedule
from mlir_gemm.spec.target import Target
from mlir_gemm.spec.tile_space import K_RANGE


def _passes(schedule: Schedule, _: Target) -> Iterable[Placed]:
    shared = step("stream-k", blocks=schedule.persistent, share=schedule.stream_k)
    yield at("parallelize", "scheduler", shared, upstream("cse"))


def shared_steps(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    """What it asks for that the steps of the last tiles are shared among all blocks."""
    shown = f"stream_k={schedule.stream_k}"
    if not schedule.persistent:
        return f"{shown}: blocks that walk no tiles have no steps to share; expected persistent blocks, or stream_k=0"
    for name in ("split_k_cluster", "ping_pong"):
        if getattr(schedule, name) != FIELDS[name]:
            return f"{shown}: each block has steps of its own; expected {name}={shown_value(FIELDS[name])}"
    why = cannot_share(problem)
    if why:
        return f"{shown}: {why}; expected stream_k=0"
    if schedule.batch_invariant:
        return f"{shown}: which steps are added up apart depends on M; expected stream_k=0 with batch_invariant=on"
    if steps(problem, schedule) < 2 * schedule.stream_k:
        return f"{shown}: {steps(problem, schedule)} k steps; expected at least two for each block that shares a tile"
    return None


def shared_tiles(problem: Problem, schedule: Schedule, tiles: int) -> tuple[int, int, int]:
    """The whole waves, the tiles whose steps are shared, and how many blocks share them; zeros without."""
    if not schedule.stream_k or not schedule.persistent:
        return 0, 0, 0
    waves, left = divmod(tiles, schedule.persistent)
    if schedule.stream_k == 1 and schedule.space == K_RANGE:  # whole waves have unequal tiles
        return max(0, waves - 1), left + schedule.persistent if waves else left, schedule.persistent
    if schedule.stream_k == 1 and left:
        if not waves:
            return 0, 0, 0
        waves, left = waves - 1, left + schedule.persistent
    return waves, left, min(schedule.persistent, left * min(schedule.stream_k, steps(problem, schedule)))


PART = Part(
    "stream_k",
    lambda schedule: bool(schedule.stream_k),
    _passes,
    rank=10,
    fields=(
        Field(
            "stream_k",
            "Blocks that share the k steps of each tile that fills no whole wave, as far as there are blocks. 1 shares "
            "those of the last whole wave too, evenly among all blocks; 0 leaves all tiles whole.",
            most=2**20,
            unit="blocks",
        ),
    ),
    rules=Rules(shape=(shared_steps,)),
    on_ring=True,
    by_warpgroups=True,
)
