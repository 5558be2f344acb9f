"""What a schedule takes of the chip: shared memory and places on an SM. Rules and cost both read these; registers stand
in `registers`. Shared memory is exact: it is the layout that the promotion gives the buffers.
"""

from __future__ import annotations

from dataclasses import dataclass

from mlir_gemm.spec.problem import ELEMENT_BYTES, Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.shared_rows import columns_of_buffer, shape_of_buffer
from mlir_gemm.spec.target import Target
from mlir_gemm.tile_model.layout import CHUNK, LINE, NARROWEST, buffer
from mlir_gemm.tile_model.registers import FRAGMENT, WARP_SIZE, registers, warps_held

KB = 1024
BARRIERS = 16
"""Bytes of the two barriers of a stage."""
EPILOGUE_PAD = 4
"""f32 elements added to each row of the epilogue's scratch, against bank conflicts."""
L1 = {
    64 * KB: (96, (32, 64)),
    96 * KB: (128, (8, 16, 32, 64, 96)),
    100 * KB: (128, (8, 16, 32, 64, 100)),
    164 * KB: (192, (8, 16, 32, 64, 100, 132, 164)),
    228 * KB: (256, (8, 16, 32, 64, 100, 132, 164, 196, 228)),
}
"""KB of the memory that L1 and shared memory divide, and the shared parts it can be divided into, by the most shared
memory of an SM (CUDA programming guide, "Compute Capabilities")."""


@dataclass(frozen=True)
class Occupancy:
    """How many blocks share one SM, and what stops more."""

    registers: int
    """32-bit registers of a thread (an estimate)."""
    smem: int
    """Bytes of shared memory of a block."""
    blocks: int
    """Resident blocks of an SM; 0 when the block does not fit at all."""
    limit: str
    """What limits them: `registers`, `shared memory`, `threads` or `blocks`."""
    l1: int
    """Bytes of L1 that the shared memory of these blocks leaves."""


def operand_bytes(problem: Problem, schedule: Schedule) -> int:
    """Bytes of the shared-memory buffers of A and B, with `stages` of each: rows in the order in which they lie in
    memory, each with its pad."""
    if not schedule.promote:
        return 0
    if schedule.operator == "wgmma":
        ring = schedule.stages * (buffer(problem, schedule, "a").size + buffer(problem, schedule, "b").size)
        whole = max(ring, parts_bytes(problem, schedule)) + staging_bytes(problem, schedule)
        whole += schedule.stages * BARRIERS
        return whole if schedule.turns == 1 else -(-whole // KB) * KB + BARRIERS
    sizes = [schedule.stages * buffer(problem, schedule, operand).size for operand in "ab"]
    if schedule.copy == "tma":  # where the pattern of the copy engine's swizzle starts
        return sum(-(-size // KB) * KB for size in sizes) + schedule.stages * BARRIERS
    return sum(sizes)


def staging_bytes(problem: Problem, schedule: Schedule) -> int:
    """Bytes through which results leave with `wgmma`: by the copy engine where it can write them, two buffers for each
    warpgroup; else, where rows start between vectors, in whole vectors, one for each. Of several results it is the
    first that can leave by the copy engine, of which nothing is known here."""
    return max(_bulk_bytes(problem, schedule), rows_bytes(problem, schedule)) if schedule.bulk else 0


def rows_bytes(problem: Problem, schedule: Schedule) -> int:
    """Bytes of the buffers through which rows leave that start between vectors, one for each warpgroup or warp; 0
    where they do not, or the result does not leave so."""
    kind = schedule.operator, schedule.copy == "tma"
    if problem.out_vector >= 8 * CHUNK or kind not in (("wgmma", True), ("mma_sync", False)) or not schedule.bulk:
        return 0
    who, units = ("warpgroup", schedule.groups) if schedule.operator == "wgmma" else ("warp", schedule.warps)
    width, transposed = ELEMENT_BYTES[problem.out], problem.out_order == "nm"
    columns = columns_of_buffer(schedule.warp[1] // schedule.split, width, who, transposed)
    if not columns:
        return 0
    lines, run = shape_of_buffer(columns, width, who, transposed)
    unit = KB if schedule.copy == "tma" else LINE  # where the pattern of the copy engine's swizzle starts, behind them
    return -(-units * lines * run * width // unit) * unit


def _bulk_bytes(problem: Problem, schedule: Schedule) -> int:
    columns = schedule.warp[1] // schedule.split
    if leaves_transposed(problem):
        part = next((part for part in range(TRANSPOSED, 0, -8) if columns % part == 0), 0)
        return schedule.groups * 2 * part * LINE
    if problem.out_order == "nm" and not problem.extra_bytes:
        return 0
    last = (ELEMENT_BYTES[problem.out],) if problem.out_vector >= 8 * CHUNK else ()
    widths = STAGED if problem.extra_bytes else [width for width in last if width in STAGED]
    rows = [row for width in widths if (row := columns * width) >= LINE // 2 and row % NARROWEST == 0]
    if not rows:
        return 0
    return schedule.groups * 2 * FRAGMENT * 4 * (LINE // 2 if all(row % LINE for row in rows) else LINE)


def leaves_transposed(problem: Problem) -> bool:
    """Whether the copy engine can write a result whose rows run down the tiles."""
    alone = problem.out_order == "nm" and not problem.extra_bytes
    return alone and ELEMENT_BYTES[problem.out] == 2 and problem.out_vector >= 8 * CHUNK


STAGED = (2, 4)
"""Bytes of the elements that leave so."""
TRANSPOSED = 64
"""Most columns of a tile in a panel whose rows run along them: only elements of two bytes leave so."""


def parts_bytes(problem: Problem, schedule: Schedule) -> int:
    """Bytes in which blocks that share a tile's k steps hand over their parts of it, where the operands were."""
    m, n, _ = schedule.block
    return m * n * ELEMENT_BYTES[problem.acc] * (schedule.split - 1) // schedule.split


def scratch_bytes(problem: Problem, schedule: Schedule) -> int:
    """Bytes of the epilogue's scratch with `wmma`: 16 rows of f32 for each warp, needed when the result is not stored
    as f32. The other operators know where their accumulators lie and need none but for rows that start between vectors.
    """
    if schedule.operator == "mma_sync":
        return rows_bytes(problem, schedule)
    if problem.out == problem.acc or schedule.operator != "wmma":
        return 0
    return schedule.warps * FRAGMENT * (schedule.warp[1] + EPILOGUE_PAD) * ELEMENT_BYTES[problem.acc]


def smem_bytes(problem: Problem, schedule: Schedule) -> int:
    """Bytes of shared memory of a block. The epilogue's scratch uses the same memory as the operands, after them."""
    return max(operand_bytes(problem, schedule), scratch_bytes(problem, schedule))


def storage(problem: Problem, schedule: Schedule, target: Target) -> str:
    """How the shared memory is declared, `static` or `dynamic`: what `auto` stands for."""
    if schedule.storage != "auto":
        return schedule.storage
    return "static" if smem_bytes(problem, schedule) <= target.smem_static else "dynamic"


def occupancy(problem: Problem, schedule: Schedule, target: Target) -> Occupancy:
    """Blocks that fit on one SM at the same time."""
    count = registers(problem, schedule, target)
    smem = smem_bytes(problem, schedule)
    warps = schedule.threads // WARP_SIZE
    blocks, limit = warps_held(count, target) // warps, "registers"
    by_smem = target.smem_sm // max(1, smem + target.smem_reserved)
    if by_smem < blocks:
        blocks, limit = by_smem, "shared memory"
    by_threads = target.threads_sm // (WARP_SIZE * warps)
    if by_threads < blocks:
        blocks, limit = by_threads, "threads"
    if target.blocks_sm < blocks:
        blocks, limit = target.blocks_sm, "blocks"
    return Occupancy(count, smem, blocks, limit, _l1_left(blocks * (smem + target.smem_reserved), target))


def _l1_left(smem: int, target: Target) -> int:
    """Bytes of L1 beside the least part for shared memory that holds `smem` bytes."""
    whole, parts = L1[target.smem_sm]
    return (whole - next((part for part in parts if part * KB >= smem), parts[-1])) * KB
