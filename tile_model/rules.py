"""Legality as a list of small rules. Each looks at a problem, a schedule and a chip and returns None, or the reason
why they do not go together: the value given, the rule it breaks and the nearest value that is right.

The rules stand in three groups, because a later group only makes sense when the earlier ones hold: what can be
compiled at all, the shapes of tiles, and what those shapes need of the chip. `violations` stops after the first group
that has something to say. The published tiling rules are no part of this: see `published`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from mlir_gemm.pipeline.problem import Problem
from mlir_gemm.pipeline.schedule import Schedule, Tile
from mlir_gemm.pipeline.target import Target
from mlir_gemm.tile_model.resources import (
    VECTOR_ELEMENT_BITS,
    register_limit,
    registers_needed,
    reserved_registers,
    smem_bytes,
)

Rule = Callable[[Problem, Schedule, Target], str | None]

INSTRUCTIONS: dict[str, tuple[Tile, ...]] = {"wmma": ((16, 16, 16),)}
"""Shapes of the tensor-core operation that each operator offers."""
INPUT_TYPES = ("f16",)
ACCUMULATOR_TYPES = ("f32",)
OUTPUT_TYPES = ("f16", "f32")
SIZE_UNIT = 16
"""Problem sizes are multiples of this until ragged sizes are guarded."""
MOST_STAGES = 2
MOST_BLOCKS = 2**31 - 1
"""Largest x dimension of a grid (CUDA programming guide, every compute capability)."""
WMMA_STRIDE = 8
"""WMMA loads f16 rows whose stride is a multiple of 8 elements (PTX: `wmma.load`, 16 bytes)."""
_AXES = ("m", "n", "k")


def supported_types(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    if problem.a in INPUT_TYPES and problem.b == problem.a and problem.acc in ACCUMULATOR_TYPES:
        if problem.out in OUTPUT_TYPES:
            return None
        return f"result type {problem.out} is not supported: expected one of {', '.join(OUTPUT_TYPES)}"
    return (
        f"types {problem.a},{problem.b} accumulated in {problem.acc} are not supported: "
        "expected f16,f16 accumulated in f32"
    )


def supported_sizes(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    if problem.m > 0 < problem.n and problem.k > 0 and not (problem.m | problem.n | problem.k) % SIZE_UNIT:
        return None
    for name, size in (("M", problem.m), ("N", problem.n), ("K", problem.k)):
        if size <= 0 or size % SIZE_UNIT:
            return (
                f"{name}={size} is not supported: sizes must be multiples of {SIZE_UNIT} for now (ragged sizes are "
                f"not guarded yet); the nearest: {_multiples(size, SIZE_UNIT)}"
            )
    return None


def operator_of_chip(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    if schedule.operator in target.operators:
        return None
    return f"operator={schedule.operator}: {target.chip} has {', '.join(target.operators)}"


def copy_of_chip(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    if schedule.copy in target.copies:
        return None
    return f"copy={schedule.copy}: {target.chip} has {', '.join(target.copies)}"


def instruction_shape(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    shapes = INSTRUCTIONS.get(schedule.operator, ())
    if schedule.instruction in shapes:
        return None
    shown = ", ".join(map(_tile, shapes)) or "no shape"
    return f"instruction={_tile(schedule.instruction)}: operator {schedule.operator} has {shown}"


def warp_multiple_of_instruction(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    for axis, size, unit in zip(_AXES, schedule.warp, schedule.instruction, strict=True):
        if size % unit:
            return (
                f"warp={_tile(schedule.warp)}: its {axis} of {size} must be a multiple of the instruction's {unit}; "
                f"the nearest: {_multiples(size, unit)}"
            )
    return None


def block_divisible_by_warp(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    for axis, size, unit in zip(_AXES, schedule.block, schedule.warp, strict=True):
        if size % unit:
            return (
                f"block={_tile(schedule.block)}: its {axis} of {size} must be a multiple of the warp tile's {unit} "
                f"(warp={_tile(schedule.warp)}); the nearest: {_multiples(size, unit)}"
            )
    return None


def block_divides_problem(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    for axis, size, extent in zip(_AXES, schedule.block, (problem.m, problem.n, problem.k), strict=True):
        if extent % size:
            return (
                f"block={_tile(schedule.block)}: its {axis} of {size} must divide {axis.upper()}={extent} (ragged "
                f"sizes are not guarded yet); the nearest: {_divisors(extent, size)}"
            )
    return None


def stages_supported(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    if schedule.stages > MOST_STAGES:
        return f"stages={schedule.stages}: expected 1 or {MOST_STAGES}; the nearest: {MOST_STAGES}"
    if schedule.stages > 1 and not schedule.promote:
        return f"stages={schedule.stages} with promote=off: without buffers in shared memory there is 1 stage"
    return None


def promote_for_copies(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    if schedule.promote or schedule.copy == "plain":
        return None
    return f"copy={schedule.copy} with promote=off: without buffers in shared memory expected copy=plain"


def accumulate_type(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    if schedule.accumulate or problem.out == problem.acc:
        return None
    return (
        f"accumulate=off with result type {problem.out}: the result then holds partial sums and must be {problem.acc}"
    )


def accumulate_vectors(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    if schedule.accumulate or schedule.vector >= 32:
        return None
    return f"accumulate=off with vector={schedule.vector}: a tile of f32 is copied too, so expected at least 32 bits"


def pad_aligned(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    unit = schedule.vector // VECTOR_ELEMENT_BITS
    if not schedule.promote or schedule.pad % unit == 0:
        return None
    return (
        f"pad={schedule.pad}: rows must stay aligned to the {schedule.vector}-bit vectors that fill them, so the pad "
        f"must be a multiple of {unit} elements; the nearest: {_multiples(schedule.pad, unit, least=0)}"
    )


def wmma_stride(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    if schedule.operator != "wmma" or not schedule.promote:
        return None
    if (schedule.block[2] + schedule.pad) % WMMA_STRIDE == 0 == (schedule.block[1] + schedule.pad) % WMMA_STRIDE:
        return None
    return (
        f"pad={schedule.pad}: WMMA needs rows in shared memory of a multiple of {WMMA_STRIDE} elements (16 bytes); "
        f"the nearest: {_multiples(schedule.pad, WMMA_STRIDE, least=0)}"
    )


def threads_fit(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    if schedule.threads <= target.threads_block:
        return None
    return (
        f"block={_tile(schedule.block)}, warp={_tile(schedule.warp)}: {schedule.warps} warps are {schedule.threads} "
        f"threads, a block has at most {target.threads_block}; take a larger warp tile or a smaller block tile"
    )


def copies_even(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    if not schedule.promote:
        return None
    m, n, k = schedule.block
    width = schedule.vector // VECTOR_ELEMENT_BITS
    if not (k % width or n % width or m * k // width % schedule.threads or k * n // width % schedule.threads):
        return None
    for name, rows, columns in (("A", m, k), ("B", k, n)):
        if columns % width == 0 and rows * columns // width % schedule.threads == 0:
            continue
        return (
            f"vector={schedule.vector}: the {rows}x{columns} tile of {name} must split into whole "
            f"{schedule.vector}-bit vectors, the same number for each of {schedule.threads} threads; "
            f"{_vectors(schedule)}"
        )
    return None


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
        f"block={_tile(schedule.block)}, stages={schedule.stages}, pad={schedule.pad}: the block needs {needed} bytes "
        f"of shared memory, {target.chip} has {target.smem_block} a block; take fewer stages or a smaller block tile"
    )


def registers_fit(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    needed = registers_needed(problem, schedule, target) + reserved_registers(target)
    limit = register_limit(schedule, target)
    if needed <= limit:
        return None
    shown = f"block={_tile(schedule.block)}, warp={_tile(schedule.warp)}, copy={schedule.copy}"
    if needed > target.registers_thread:
        return (
            f"{shown}: about {needed} registers a thread, at most {target.registers_thread}; "
            "take a smaller warp tile or block k"
        )
    asked = f"resident={schedule.resident}, {shown}" if schedule.resident > 1 else shown
    blocks = f"{schedule.resident} blocks of " if schedule.resident > 1 else ""
    return (
        f"{asked}: about {needed} registers a thread, but {blocks}{schedule.threads} threads have {limit} each on an "
        f"SM; take {'fewer resident blocks or ' if blocks else ''}a smaller block tile"
    )


def resident_fits(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    if schedule.resident <= 1:
        return None
    smem = smem_bytes(problem, schedule) + target.smem_reserved
    most = min(target.threads_sm // schedule.threads, target.blocks_sm, target.smem_sm // max(1, smem))
    if schedule.resident <= most:
        return None
    return (
        f"resident={schedule.resident}: an SM of {target.chip} has threads, shared memory and places for {most} blocks "
        f"of {schedule.threads} threads and {smem} bytes; the nearest: {most}"
    )


def grid_fits(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    blocks = (problem.m // schedule.block[0]) * (problem.n // schedule.block[1])
    if blocks <= MOST_BLOCKS:
        return None
    return (
        f"block={_tile(schedule.block)}: {blocks} blocks in the grid, at most {MOST_BLOCKS}; take a larger block tile"
    )


PROBLEM_RULES: tuple[Rule, ...] = (supported_types, supported_sizes)
SHAPE_RULES: tuple[Rule, ...] = (
    operator_of_chip,
    copy_of_chip,
    instruction_shape,
    warp_multiple_of_instruction,
    block_divisible_by_warp,
    block_divides_problem,
    stages_supported,
    promote_for_copies,
    accumulate_type,
    accumulate_vectors,
    pad_aligned,
    wmma_stride,
)
RESOURCE_RULES: tuple[Rule, ...] = (threads_fit, copies_even, smem_fits, resident_fits, registers_fit, grid_fits)


def broken(problem: Problem, schedule: Schedule, target: Target) -> Iterator[tuple[str, str]]:
    """The rules that do not hold, as (name, reason), from the first group that has any; lazily, so that asking for
    the first costs no more than it must."""
    for group in (PROBLEM_RULES, SHAPE_RULES, RESOURCE_RULES):
        found = False
        for rule in group:
            reason = rule(problem, schedule, target)
            if reason is not None:
                found = True
                yield rule.__name__, reason
        if found:
            return


def violations(problem: Problem, schedule: Schedule, target: Target) -> list[str]:
    """Why this schedule is illegal for this problem on this chip: one reason for each rule broken, empty when legal."""
    return [reason for _, reason in broken(problem, schedule, target)]


def _tile(tile: Tile) -> str:
    return "x".join(map(str, tile))


def _multiples(value: int, unit: int, least: int = 1) -> str:
    """The multiples of `unit` below and above `value`, from `least` times the unit."""
    below = max(value // unit, least) * unit
    above = max(-(-value // unit), least) * unit
    return str(below) if below == above else f"{below} or {above}"


def _divisors(extent: int, value: int) -> str:
    """The tile sizes that divide `extent`, the closest to `value` below and above it."""
    sizes = [size for size in range(SIZE_UNIT, min(extent, 2 * value) + 1, SIZE_UNIT) if extent % size == 0]
    below = [size for size in sizes if size <= value][-1:]
    above = [size for size in sizes if size > value][:1]
    return " or ".join(map(str, below + above)) or str(min(extent, SIZE_UNIT))


def _vectors(schedule: Schedule) -> str:
    """The widest vector at most as wide as the one given that splits both tiles, as advice."""
    m, n, k = schedule.block
    for bits in (128, 64, 32, 16):
        width = bits // VECTOR_ELEMENT_BITS
        tiles_split = m * k % (width * schedule.threads) == 0 == k * n % (width * schedule.threads)
        if bits < schedule.vector and k % width == 0 == n % width and tiles_split:
            return f"the nearest: vector={bits}"
    return "no vector does: take fewer warps or a larger block tile"
