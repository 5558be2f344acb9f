"""What a schedule takes of the chip: shared memory, registers and places on an SM. Rules and cost both read these.

Shared memory is exact: it is the layout that the promotion gives the buffers. Registers are an estimate of what ptxas
will allocate; its constants stand in `RegisterModel`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from mlir_gemm.pipeline.problem import ELEMENT_BYTES, Problem
from mlir_gemm.pipeline.schedule import Schedule, Tile
from mlir_gemm.pipeline.target import Target

WARP_SIZE = 32
FRAGMENT = 16
"""Rows and columns of a WMMA fragment, and the k extent of one tensor-core operation."""
EPILOGUE_PAD = 4
"""f32 elements added to each row of the epilogue's scratch, against bank conflicts."""
REGISTER_UNIT = 256
"""Registers are handed to a warp in this many at a time (CUDA occupancy calculator, sm_70 and later)."""


SCHEDULERS = 4
"""Warp schedulers in one SM, each with its own tensor core and registers."""
VECTOR_ELEMENT_BITS = 16
"""Bits of the elements that vectors of a copy hold."""
KB = 1024


@dataclass(frozen=True)
class RegisterModel:
    """How many 32-bit registers a thread needs beyond accumulators and prefetched data."""

    fragment: int
    """Registers of one 16x16 f16 operand fragment."""
    alive: int
    """Most fragments alive at a time; up to it those of the shorter side of the warp tile and one of the other.
    0 when those of both sides are."""
    addressing: int
    """Pointers, loop counters and constants."""
    spare: int
    """Registers that must be left under a limit that the assembler cannot exceed: it begins to spill before."""
    fills: bool
    """Whether the assembler takes more than it needs, up to the number at which fewer warps would fit on an SM."""


NEWER = RegisterModel(fragment=4, alive=4, addressing=20, spare=10, fills=True)
"""sm_80 and later. Fitted to the fewest registers without spills of 440 kernels, and to which of 900 kernels near the
limit spill; 128x128x64 with warp 32x64 takes 128."""
OLDER = RegisterModel(fragment=8, alive=0, addressing=40, spare=0, fills=False)
"""sm_70 and sm_75, whose fragments hold every element twice. Of 500 kernels near the limit it refuses all 244 that
spill, and as many that do not; 128x128x64 with warp 32x64 takes 172."""
REGISTER_MODELS = {"sm_70": OLDER, "sm_75": OLDER}
"""The model of each chip that does not take `NEWER`."""
UNEVEN_COPY = 4
"""Registers of addresses for each vector copied when the vectors of a thread do not lie evenly in a tile."""
UNEVEN_ROW = 4
"""Registers of the division that finds a vector's row when a row does not hold a power of two of vectors."""
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


def tile_bytes(problem: Problem, schedule: Schedule) -> int:
    """Bytes of one k step's tiles of A and B, without padding."""
    m, n, k = schedule.block
    return m * k * ELEMENT_BYTES[problem.a] + k * n * ELEMENT_BYTES[problem.b]


def operand_bytes(problem: Problem, schedule: Schedule) -> int:
    """Bytes of the shared-memory buffers of A and B: stages (bm (bk + pad) + bk (bn + pad)) bytes an element."""
    if not schedule.promote:
        return 0
    m, n, k = schedule.block
    a = m * (k + schedule.pad) * ELEMENT_BYTES[problem.a]
    b = k * (n + schedule.pad) * ELEMENT_BYTES[problem.b]
    return schedule.stages * (a + b)


def scratch_bytes(problem: Problem, schedule: Schedule) -> int:
    """Bytes of the epilogue's scratch: 16 rows of f32 for each warp, needed when the result is not stored as f32."""
    if problem.out == problem.acc:
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


def registers_needed(problem: Problem, schedule: Schedule, target: Target) -> int:
    """Estimate of the 32-bit registers that a thread needs: accumulators, prefetched vectors, fragments, addressing."""
    model = _model(target)
    warp_m, warp_n, _ = schedule.warp
    rows, columns = warp_m // FRAGMENT, warp_n // FRAGMENT
    alive = min(min(rows, columns) + 1, model.alive) if model.alive else rows + columns
    count = warp_m * warp_n // WARP_SIZE + alive * model.fragment + model.addressing
    if not schedule.promote:
        return count
    vectors, rows_odd = _uneven(schedule.block, schedule.vector, schedule.threads)
    count += UNEVEN_COPY * vectors + UNEVEN_ROW * rows_odd
    if schedule.copy == "prefetch":
        # A vector narrower than a register takes one all the same.
        loads = -(-tile_bytes(problem, schedule) * 8 // (schedule.vector * schedule.threads))
        # A loop of two steps is unrolled, and then the assembler has both tiles in flight.
        tiles = 2 if problem.k == 2 * schedule.block[2] else 1
        count += tiles * loads * max(1, schedule.vector // 32)
    return count


def reserved_registers(target: Target) -> int:
    """Registers of a thread that must stay free under a hard limit so that nothing spills."""
    return _model(target).spare


def uneven_vectors(schedule: Schedule) -> int:
    """Vectors of A and B that one thread copies from tiles whose rows do not hold a whole part or multiple of the
    threads' vectors, so that from one to the next the row and the column change."""
    return _uneven(schedule.block, schedule.vector, schedule.threads)[0]


@lru_cache(maxsize=1 << 14)
def _uneven(block: Tile, vector: int, threads: int) -> tuple[int, int]:
    """The uneven vectors of A and B, and how many of the two have rows that do not hold a power of two of vectors."""
    m, n, k = block
    width = max(1, vector // VECTOR_ELEMENT_BITS)
    vectors = rows_odd = 0
    for rows, in_row in ((m, max(1, k // width)), (k, max(1, n // width))):
        if threads % in_row and in_row % threads:
            vectors += rows * in_row // threads
        rows_odd += in_row & (in_row - 1) != 0
    return vectors, rows_odd


def register_limit(schedule: Schedule, target: Target) -> int:
    """Most registers that a thread may have so that one block, or as many as `resident` asks for, fit on an SM. Each
    scheduler has a quarter of the registers, so that 9 warps take as many as 12."""
    warps = -(-schedule.warps * max(1, schedule.resident) // SCHEDULERS) * SCHEDULERS
    return min(target.registers_thread, target.registers_sm // (WARP_SIZE * warps) // 8 * 8)


def registers(problem: Problem, schedule: Schedule, target: Target) -> int:
    """Estimate of the 32-bit registers of one thread after assembly: what is needed, on sm_80 and later filled up to
    the next number at which fewer warps would fit on an SM, such as 80, 96, 128, 168, 255."""
    needed = registers_needed(problem, schedule, target)
    if not _model(target).fills:
        return needed
    warps = max(SCHEDULERS, min(_warps_held(needed, target), target.threads_sm // WARP_SIZE))
    taken = target.registers_sm // (WARP_SIZE * warps) // 8 * 8
    return max(needed, min(taken, register_limit(schedule, target)))


def occupancy(problem: Problem, schedule: Schedule, target: Target) -> Occupancy:
    """Blocks that fit on one SM at the same time."""
    count = registers(problem, schedule, target)
    smem = smem_bytes(problem, schedule)
    warps = schedule.warps
    blocks, limit = _warps_held(count, target) // warps, "registers"
    by_smem = target.smem_sm // max(1, smem + target.smem_reserved)
    if by_smem < blocks:
        blocks, limit = by_smem, "shared memory"
    by_threads = target.threads_sm // (WARP_SIZE * warps)
    if by_threads < blocks:
        blocks, limit = by_threads, "threads"
    if target.blocks_sm < blocks:
        blocks, limit = target.blocks_sm, "blocks"
    return Occupancy(count, smem, blocks, limit, _l1_left(blocks * (smem + target.smem_reserved), target))


def _model(target: Target) -> RegisterModel:
    return REGISTER_MODELS.get(target.chip, NEWER)


def _warps_held(count: int, target: Target) -> int:
    """Warps for which an SM has registers when each thread has `count`, the same number on each scheduler."""
    warp = -(-count * WARP_SIZE // REGISTER_UNIT) * REGISTER_UNIT
    return target.registers_sm // warp // SCHEDULERS * SCHEDULERS


def _l1_left(smem: int, target: Target) -> int:
    """Bytes of L1 beside the least part for shared memory that holds `smem` bytes."""
    whole, parts = L1[target.smem_sm]
    return (whole - next((part for part in parts if part * KB >= smem), parts[-1])) * KB
