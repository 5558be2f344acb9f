"""What follows from a finished choice: what L2 keeps, when the next kernel starts, how high the raster's groups are.

Lines of an operand that L2 cannot hold and that is read from end to end push each other out, so that a kernel that runs
again finds none of them, and they push out what other kernels left, which costs time if it was written and not yet in
DRAM. Where most lines are marked as the first to leave (`l2_keep_a`, `l2_keep_b`), they replace each other, and the
rest stays. What L2 can hold is not marked: marked lines never take the place of what other kernels left, so that each
run would read them from DRAM.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Any

from mlir_gemm.parts.block import threads
from mlir_gemm.parts.fields import normalised
from mlir_gemm.parts.grid import blocks, grid, is_one_wave, walked
from mlir_gemm.parts.layout import buffer
from mlir_gemm.parts.mma.wgmma.work import lies_between_lines
from mlir_gemm.parts.registers import model_of
from mlir_gemm.parts.registry import mainloop_of, mma_of, raster_of
from mlir_gemm.parts.resources import occupancy
from mlir_gemm.parts.traffic import STAYING, operand_bytes, stays
from mlir_gemm.spec.backends import NVPTX
from mlir_gemm.spec.l2_policy import PARTS
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target
from mlir_gemm.spec.tile_space import K_RANGE
from mlir_gemm.spec.zeros import parse
from mlir_gemm.tile_model.rules import registers_fit, resident_fits

OBLONG = 1.5
"""How much lower than a square's side a group may be that divides the rows: 8 of 32 or 64 rows of 128x128 take as long
as 11 on the H200, with an epilogue up to 1 % less, since a place is found by shifts, and 1 % less where rows of the
result are not aligned. There 16, as near to the square, take 5 to 15 % more (8191 x 8191 x 8191). On an H100 8 of 16
rows take 0.90 to 0.95 of the time of all 16 (2048 rows, three products; `2026-11-24-h100-own-row.jsonl.xz`)."""
SMALL_TILE, NEIGHBOURS = 64 * 128, 8
"""Elements of a block tile of `wgmma` that L2 limits, and blocks beside each other: with squares of 8 instead of all
128 the H200 takes 4.8 us instead of 5.1 for 1024 x 1024 x 1024, 8.2 instead of 8.4 for 1000; 256 x 8192 x 8192
swapped, with an empty cache, 52 us in groups of 4, 56 in groups of 11."""


LONG_FIRST = 1
"""Tile rows of a group whose tiles have different numbers of k steps. On the H200 a triangle of 4096 rows takes 104 us
in groups of 1, 107 of 4 and 118 of 16; of 8192 rows 812, 807 and 815."""


NEARLY = 0.9
"""Part of an SM's registers that two blocks take as predicted, from which the assembler may take more than that."""


SHORT = 4e-6
"""Seconds on the GPU of a kernel up to which it matters more when the blocks of the next one start than where they lie,
if there are SMs for both. 38 pairs of such kernels on the H200 take 0.95 of the time where the next one starts early
(median), with blocks for more than half of the SMs 1.00, and 156 that take longer 1.03
(`2026-11-24-h200-spaces.jsonl.xz`, `2026-11-27-h200-spaces.jsonl.xz`)."""


PARTLY = 0.75
"""Part of the SMs up to which blocks count as few."""


@dataclass(frozen=True)
class L2Limits:
    """Measured parts of L2; the values stand in the chips' rows."""

    room: float
    """Part of L2 that an operand may stay in."""
    fits: float
    """Part of L2 up to which an operand stays there as a whole, if nothing else pushes it out."""
    least: float
    """The smallest operand of which lines are marked, in multiples of L2's bytes ..."""
    most: float
    """... and the largest."""


def best_group(problem: Problem, schedule: Schedule, target: Target) -> int:
    """The group of the raster with which the blocks in flight read least: they cover a rectangle of the result, `group`
    tile rows high, and read the rows of A and the columns of B that it spans, which are fewest when it is square.
    The tile rows of the result are shared evenly among the groups; in several waves a height that divides them is
    preferred, if it is hardly lower. Small tiles of `wgmma` that are all in flight need more than L2 gives, and an
    operand of which lines leave L2 first is best read at once by all who need it; then the square is that of
    neighbours, whose requests for the same lines become one."""
    block_m, block_n, _ = schedule.block
    rows, columns = walked(problem, schedule)
    in_flight = rows * columns
    if in_flight > target.sms:
        in_flight = min(in_flight, target.sms * occupancy(problem, schedule, target).blocks)
    elif mma_of(schedule).asynchronous and (block_m * block_n <= SMALL_TILE or schedule.marks):
        in_flight = min(in_flight, NEIGHBOURS)
    side = sqrt(in_flight * block_n / block_m)
    if schedule.space == K_RANGE:  # long tiles first, before the best order for L2
        return LONG_FIRST if _differs_by_row(problem) else rows
    whole = [size for size in range(1, round(side) + 1) if rows % size == 0 and side <= size * OBLONG]
    if whole and rows * columns > target.sms:
        return whole[-1]
    groups = max(1, round(rows / max(1, round(side))))
    return -(-rows // groups)


def _differs_by_row(problem: Problem) -> bool:
    """Whether the tiles of different rows have different numbers of k steps; else those of different columns do."""
    return bool(problem.result_mask) or any(each.across == "m" for each in parse(problem.zeros))


def finished(problem: Problem, schedule: Schedule, target: Target, pinned: Mapping[str, Any]) -> Schedule:
    """With what follows from the rest of a schedule: what L2 keeps, when the next kernel starts, the raster."""
    changes: dict[str, Any] = {}
    schedule = keeping(problem, schedule, target, pinned)
    if "early_trigger" not in pinned and (schedule.split_k_workspace > 1 or _in_order(problem, schedule, target)):
        # The kernel that adds up slices of k has many small blocks: started ahead, all would wait on the first free
        # SMs.
        changes["early_trigger"] = False
    if "min_blocks" not in pinned and _fills_registers(problem, schedule, target):
        changes["min_blocks"] = 2
    elif "min_blocks" not in pinned and schedule.promote_c:
        changes["min_blocks"] = _told(problem, schedule, target)
    if "raster_group" not in pinned and raster_of(schedule).grouped:
        changes["raster_group"] = best_group(problem, schedule, target)
    return normalised(schedule, changes, pinned)


def started(
    problem: Problem, schedule: Schedule, seconds: float, target: Target, pinned: Mapping[str, Any]
) -> Schedule:
    """The schedule of a kernel that takes so many seconds on the GPU: a short one on at most half of the SMs lets the
    next one start early, on the others."""
    fixed = "early_trigger" in pinned or schedule.early_trigger or schedule.split_k_workspace > 1 or problem.dynamic
    if fixed or seconds > SHORT or not (schedule.dependent_launch and mainloop_of(schedule).producer):
        return schedule
    if 2 * blocks(problem, schedule) * schedule.split_k_cluster > target.sms:
        return schedule
    return schedule.replace(early_trigger=True)


def _fills_registers(problem: Problem, schedule: Schedule, target: Target) -> bool:
    """Whether two blocks of multiply-adds share an SM by the last registers, so that the assembler must be told, and
    nothing spills when it is."""
    plain = problem.acc == "f32" and not problem.algebra and schedule.instruction == (1, 1, 1)
    if not plain or problem.dynamic or any(buffer(problem, schedule, operand).along_k for operand in "ab"):
        return False
    held = occupancy(problem, schedule, target)
    if held.blocks != 2 or 2 * held.registers * threads(schedule) <= NEARLY * target.registers_sm:
        return False
    return registers_fit(problem, schedule.replace(min_blocks=2), target) is None


def _told(problem: Problem, schedule: Schedule, target: Target) -> int:
    """Blocks of an SM that the assembler must be told of, since it takes registers for C on its way to shared memory as
    long as there are any; 0 where it need not."""
    if model_of(target).fills or target.backend != NVPTX or mainloop_of(schedule).producer:
        return schedule.min_blocks
    several = (schedule.replace(min_blocks=count) for count in range(target.blocks_sm, 1, -1))
    fitting = (
        each.min_blocks
        for each in several
        if resident_fits(problem, each, target) is None and registers_fit(problem, each, target) is None
    )
    return next(fitting, schedule.min_blocks)


def _in_order(problem: Problem, schedule: Schedule, target: Target) -> bool:
    """Whether it matters which blocks run next to each other: with one tile for each block, or with unaligned rows of
    operands, whose cache lines neighbours share.

    Blocks of a kernel that is started ahead get SMs in the order in which these become free, and neighbours no longer
    ask L2 for the same lines at once. Of 260 random products on the H200 those of one wave take 5 to 8 % less without,
    from 2.5 to 100 us (0.7 to 1.1 of the time), others the same; between lines up to 15 % less. Blocks of `mma_sync`
    leave an SM room for others: those of the next kernel gather on SMs that have none, and 29 rings of one wave take
    0.79 to 1.76 of the time with it, 1.13 in the mean (`2026-11-24-h200-spaces.jsonl.xz` and two more of that form).
    """
    if problem.dynamic or not mainloop_of(schedule).producer:
        return False
    if not mma_of(schedule).asynchronous:
        return is_one_wave(problem, schedule, target)
    if 1 in grid(problem, schedule) and schedule.cluster_m * schedule.cluster_n > 1 and schedule.split_k_cluster == 1:
        # Blocks that need the same lines are a cluster, which stays together: only the gap would show.
        return _waits_for_dram(problem, schedule, target)
    return is_one_wave(problem, schedule, target) or lies_between_lines(problem, schedule)


def _waits_for_dram(problem: Problem, schedule: Schedule, target: Target) -> bool:
    """Whether few SMs read operands that L2 does not hold. Blocks that start in order are spread evenly over the chip;
    ahead they get the SMs that the kernel before has left, and parts of the chip limit what these read. On the H200
    1 x 5120 x 13824, 80 blocks, takes 36.5 us in order and 43.9 ahead; 32 x 28672 x 8192, 112 blocks, 116 in order and
    110 ahead."""
    moved = operand_bytes(problem, "a") + operand_bytes(problem, "b")
    return moved > STAYING * target.l2_bytes and blocks(problem, schedule) <= PARTLY * target.sms


def kept_parts(problem: Problem, schedule: Schedule, target: Target, operand: str) -> int:
    """How many of PARTS parts of A or B L2 should keep; all where marking the rest gains nothing. The smaller operand
    is left alone, as other kernels often read it too.

    14x3328x3456 in bf16, whose B has 23 MB, takes 10.7 us with all of B marked after L2 was overwritten, run after run,
    and 7.0 after B was written anew, whose lines are not marked then (H100, `2026-11-28-h100-twins-2.jsonl.xz`)."""
    if problem.dynamic or not _once(problem, schedule, target, operand):
        return PARTS
    limits = target.constants(L2Limits)
    sizes = {name: operand_bytes(problem, name) for name in "ab"}
    larger, own = "a" if sizes["a"] > sizes["b"] else "b", sizes[operand]
    if operand != larger or not limits.least * target.l2_bytes <= own <= limits.most * target.l2_bytes:
        return PARTS
    if own <= limits.fits * target.l2_bytes:
        return PARTS if stays(problem, target) else 0
    if own / target.dram_bytes_s < mma_of(schedule).full_rate_seconds(problem, target):
        return 0
    return round(PARTS * limits.room * target.l2_bytes / own)


def _once(problem: Problem, schedule: Schedule, target: Target, operand: str) -> bool:
    """Whether all blocks that need a line of an operand run at the same time: in one wave, or a single block."""
    rows, columns = grid(problem, schedule)
    return is_one_wave(problem, schedule, target) or (columns if operand == "a" else rows) == 1


def keeping(problem: Problem, schedule: Schedule, target: Target, pinned: Mapping[str, Any]) -> Schedule:
    """The schedule with the parts of A and B that L2 should keep, where the user has not said."""
    if not mainloop_of(schedule).producer:
        return schedule
    names = [name for name in "ab" if f"l2_keep_{name}" not in pinned]
    parts = {f"l2_keep_{name}": kept_parts(problem, schedule, target, name) for name in names}
    return schedule.replace(**parts) if min(parts.values(), default=PARTS) < PARTS else schedule
