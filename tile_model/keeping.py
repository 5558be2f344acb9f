"""What L2 keeps of an operand that it cannot hold: a part, which a kernel that runs again finds there.

Lines of an operand that is read from end to end push each other out, so that the next run finds none of them, and they
push out what other kernels left, which costs time if it was written and not yet in DRAM. Where most lines are marked as
the first to leave (`l2_keep_a`, `l2_keep_b`), they replace each other, and the rest stays.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mlir_gemm.parts.forms import full_rate_seconds
from mlir_gemm.parts.grid import grid, is_one_wave
from mlir_gemm.parts.registry import mainloop_of, mma_of
from mlir_gemm.parts.traffic import operand_bytes
from mlir_gemm.spec.l2_policy import PARTS
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target

ROOM = 0.36
"""Part of L2 that an operand may stay in. Launches back to back of 42 to 134 MB of weights are fastest with 20 to 26 MB
kept of the H200's 63: each half of its L2 has a copy of what its own SMs read, presumably."""
FITS = 0.55
"""Part of L2 up to which an operand stays there however it is marked: nothing pushes it out. Of 34 MB nothing need be
kept, and part of it must not where several blocks read it (256x4096x4096: 19 us instead of 16)."""
LEAST, MOST = 0.13, 4.0
"""Times the bytes of L2 that an operand has. Of 16 to 200 MB, marked, kernels take 1 to 6 us less after another one
that has written all of L2; of 300 MB 1 % more, of 470 MB 2 to 4 % more."""


def kept_parts(problem: Problem, schedule: Schedule, target: Target, operand: str) -> int:
    """Of PARTS parts of A or B, how many L2 should keep; all where marking the rest is worth nothing. The smaller
    operand is often what other kernels read too: it is left alone."""
    if problem.dynamic or not _once(problem, schedule, target, operand):
        return PARTS
    sizes = {name: operand_bytes(problem, name) for name in "ab"}
    larger, own = "a" if sizes["a"] > sizes["b"] else "b", sizes[operand]
    if operand != larger or not LEAST * target.l2_bytes <= own <= MOST * target.l2_bytes:
        return PARTS
    products = full_rate_seconds(mma_of(schedule), problem, target)
    if own <= FITS * target.l2_bytes or own / target.dram_bytes_s < products:
        return 0
    return round(PARTS * ROOM * target.l2_bytes / own)


def _once(problem: Problem, schedule: Schedule, target: Target, operand: str) -> bool:
    """Whether all blocks that need a line of an operand are at work at the same time: all in one wave, or one block
    alone."""
    rows, columns = grid(problem, schedule)
    return is_one_wave(problem, schedule, target) or (columns if operand == "a" else rows) == 1


def keeping(problem: Problem, schedule: Schedule, target: Target, pinned: Mapping[str, Any]) -> Schedule:
    """The schedule with the parts of A and B that L2 should keep, where the user has not said."""
    if not mainloop_of(schedule).producer:
        return schedule
    names = [name for name in "ab" if f"l2_keep_{name}" not in pinned]
    parts = {f"l2_keep_{name}": kept_parts(problem, schedule, target, name) for name in names}
    return schedule.replace(**parts) if min(parts.values(), default=PARTS) < PARTS else schedule
