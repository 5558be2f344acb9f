"""What a schedule takes of the chip: shared memory, registers and places on an SM. Rules and cost both read these.

Shared memory is exact: it is the layout that the promotion gives the buffers. Registers are an estimate of what ptxas
will allocate; its constants stand in `RegisterModel`.
"""

from __future__ import annotations

from dataclasses import dataclass

from mlir_gemm.pipeline.problem import ELEMENT_BYTES, Problem
from mlir_gemm.pipeline.schedule import Schedule
from mlir_gemm.pipeline.target import Target

WARP_SIZE = 32
FRAGMENT = 16
"""Rows and columns of a WMMA fragment, and the k extent of one tensor-core operation."""
EPILOGUE_PAD = 4
"""f32 elements added to each row of the epilogue's scratch, against bank conflicts."""
REGISTER_UNIT = 256
"""Registers are handed to a warp in this many at a time (CUDA occupancy calculator, sm_70 and later)."""


@dataclass(frozen=True)
class RegisterModel:
    """How many 32-bit registers a thread needs beyond accumulators and prefetched data."""

    fragment: int
    """Registers of one 16x16 f16 operand fragment."""
    all_fragments: bool
    """Whether the fragments of both operands are alive at once, or those of the shorter side and one of the other."""
    addressing: int
    """Pointers, loop counters and constants."""


NEWER = RegisterModel(fragment=4, all_fragments=False, addressing=20)
"""sm_80 and later. Measured: 128x128x64 with warp 32x64, delayed copies: 126 to 128; this gives 128."""
OLDER = RegisterModel(fragment=8, all_fragments=True, addressing=40)
"""sm_70 and sm_75, whose fragments hold every element twice. Measured there: 172 and 184; this gives 184."""
REGISTER_MODELS = {"sm_70": OLDER, "sm_75": OLDER}
"""The model of each chip that does not take `NEWER`."""


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


def registers(problem: Problem, schedule: Schedule, target: Target) -> int:
    """Estimate of the 32-bit registers of one thread: accumulators, prefetched vectors, fragments, addressing."""
    model = REGISTER_MODELS.get(target.chip, NEWER)
    m, n, k = schedule.block
    warp_m, warp_n, _ = schedule.warp
    rows, columns = warp_m // FRAGMENT, warp_n // FRAGMENT
    alive = rows + columns if model.all_fragments else min(rows, columns) + 1
    count = warp_m * warp_n // WARP_SIZE + alive * model.fragment + model.addressing
    if schedule.copy == "prefetch":
        tile = m * k * ELEMENT_BYTES[problem.a] + k * n * ELEMENT_BYTES[problem.b]
        count += -(-tile // (4 * schedule.threads))
    return count


def warp_registers(count: int) -> int:
    """Registers that a warp is given when each of its threads needs `count`."""
    return -(-count * WARP_SIZE // REGISTER_UNIT) * REGISTER_UNIT


def occupancy(problem: Problem, schedule: Schedule, target: Target) -> Occupancy:
    """Blocks that fit on one SM at the same time."""
    count = registers(problem, schedule, target)
    smem = smem_bytes(problem, schedule)
    warps = schedule.warps
    blocks, limit = target.registers_sm // (warp_registers(count) * warps), "registers"
    by_smem = target.smem_sm // max(1, smem + target.smem_reserved)
    if by_smem < blocks:
        blocks, limit = by_smem, "shared memory"
    by_threads = target.threads_sm // (WARP_SIZE * warps)
    if by_threads < blocks:
        blocks, limit = by_threads, "threads"
    if target.blocks_sm < blocks:
        blocks, limit = target.blocks_sm, "blocks"
    return Occupancy(count, smem, blocks, limit)
