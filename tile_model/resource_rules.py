"""Rules about what the shapes need of the chip: threads, shared memory, registers, blocks."""

from __future__ import annotations

from mlir_gemm.parts.block import threads
from mlir_gemm.parts.grid import blocks as blocks_of
from mlir_gemm.parts.layout import pad_of
from mlir_gemm.parts.registers import register_limit, reserved_registers
from mlir_gemm.parts.registry import mainloop_of, mma_of
from mlir_gemm.parts.resources import smem_bytes
from mlir_gemm.parts.wording import shown_tile
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target

MOST_BLOCKS = 2**31 - 1
"""Largest x dimension of a grid (CUDA programming guide, every compute capability)."""


def threads_fit(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    count = threads(schedule)
    if count <= target.threads_block:
        return None
    return (
        f"block={shown_tile(schedule.block)}, warp={shown_tile(schedule.warp)}: {schedule.warps} warps are "
        f"{count} threads, a block has at most {target.threads_block}; take a larger warp tile or a "
        "smaller block tile"
    )


def smem_fits(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    needed = smem_bytes(problem, schedule)
    if needed <= target.smem_static:
        return None
    if schedule.storage == "static":
        return (
            f"storage=static: the block needs {needed} bytes of shared memory, static storage holds at most "
            f"{target.smem_static}; expected storage=dynamic or a smaller block tile"
        )
    if needed <= target.smem_block:
        return None
    return (
        f"block={shown_tile(schedule.block)}, stages={schedule.stages}, pad={pad_of(schedule)}: the block needs "
        f"{needed} bytes of shared memory, {target.chip} has {target.smem_block} a block; take fewer stages or a "
        "smaller block tile"
    )


def registers_fit(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    needed = mma_of(schedule).registers(problem, schedule, target) + reserved_registers(target)
    limit = register_limit(schedule, target)
    if needed <= limit:
        return None
    shown = (
        f"block={shown_tile(schedule.block)}, warp={shown_tile(schedule.warp)}, mainloop={mainloop_of(schedule).name}"
    )
    if needed > target.registers_thread:
        return (
            f"{shown}: about {needed} registers a thread, at most {target.registers_thread}; "
            "take a smaller warp tile or block k"
        )
    asked = f"min_blocks={schedule.min_blocks}, {shown}" if schedule.min_blocks > 1 else shown
    blocks = f"{schedule.min_blocks} blocks of " if schedule.min_blocks > 1 else ""
    return (
        f"{asked}: about {needed} registers a thread, but {blocks}{threads(schedule)} threads have {limit} each on an "
        f"SM; take {'fewer resident blocks or ' if blocks else ''}a smaller block tile"
    )


def resident_fits(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    if schedule.min_blocks <= 1:
        return None
    smem = smem_bytes(problem, schedule) + target.smem_reserved
    most = min(target.threads_sm // threads(schedule), target.blocks_sm, target.smem_sm // max(1, smem))
    if schedule.min_blocks <= most:
        return None
    return (
        f"min_blocks={schedule.min_blocks}: an SM of {target.chip} has threads, shared memory and places for {most} "
        f"blocks of {threads(schedule)} threads and {smem} bytes; the nearest: {most}"
    )


def grid_fits(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    count = blocks_of(problem, schedule)
    if count <= MOST_BLOCKS:
        return None
    return (
        f"block={shown_tile(schedule.block)}: {count} blocks in the grid, at most {MOST_BLOCKS}; take a larger block "
        "tile"
    )
