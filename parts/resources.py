"""What a schedule takes of the chip: shared memory and places on an SM. Rules and cost both read these; registers stand
in `registers`. Shared memory is exact: it is the layout that the promotion gives the buffers.
"""

from __future__ import annotations

from dataclasses import dataclass

from mlir_gemm.parts.block import threads
from mlir_gemm.parts.layout import buffer, staged
from mlir_gemm.parts.registers import WARP_SIZE, registers, warps_held
from mlir_gemm.parts.registry import mainloop_of, mma_of, parts_beside, storing_parts
from mlir_gemm.spec.element_types import ELEMENT_BYTES
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target

KB = 1024
BARRIERS = 16
"""Bytes of the two barriers of a stage."""
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
    """How many blocks share one SM, and what limits them."""

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
    if mma_of(schedule).by_descriptor:
        ring = schedule.stages * sum(buffer(problem, schedule, operand).size for operand in "ab")
        ring += schedule.stages * metadata_bytes(problem, schedule)
        whole = max(ring, parts_bytes(problem, schedule)) + staging_bytes(problem, schedule)
        whole += schedule.stages * BARRIERS + _beside(problem, schedule)
        return whole if not schedule.ping_pong else -(-whole // KB) * KB + BARRIERS
    sizes = [schedule.stages * buffer(problem, schedule, operand).size for operand in staged(schedule)]
    sizes.append(schedule.stages * metadata_bytes(problem, schedule))
    if mainloop_of(schedule).producer:  # where the pattern of the copy engine's swizzle starts
        whole = sum(-(-size // KB) * KB for size in sizes) + schedule.stages * BARRIERS
        return whole + _beside(problem, schedule)
    return sum(sizes) + _beside(problem, schedule)


def _beside(problem: Problem, schedule: Schedule) -> int:
    """Bytes that parts take beside a ring."""
    return sum(
        part.beside(problem, schedule) for part in parts_beside() if part.beside is not None and part.applies(schedule)
    )


def metadata_bytes(problem: Problem, schedule: Schedule) -> int:
    """Bytes of the metadata of one stage of a 2:4 sparse operand: two bits for each of its values."""
    return schedule.block[0] * schedule.block[2] // 8 if problem.sparse else 0


def staging_bytes(problem: Problem, schedule: Schedule) -> int:
    """Bytes of the buffers through which results are stored, in addition to the operands, one or two for each
    warpgroup: the most that any way of storing needs. With several results this is for the first that can be stored so;
    which one that is, is not known here."""
    most = 0
    for part in storing_parts():
        if part.shared and part.applies(schedule):
            most = max(most, part.shared(problem, schedule))
    return most


def parts_bytes(problem: Problem, schedule: Schedule) -> int:
    """Bytes in which blocks that share a tile's k steps hand over their parts of it, where the operands were."""
    m, n, _ = schedule.block
    return m * n * ELEMENT_BYTES[problem.acc] * (schedule.split_k_cluster - 1) // schedule.split_k_cluster


def scratch_bytes(problem: Problem, schedule: Schedule) -> int:
    """Bytes of the epilogue's scratch, in the memory of the operands: what the operation itself needs, and what storing
    the results takes. Where operands come by descriptors the epilogue has memory beside them."""
    mma = mma_of(schedule)
    return mma.scratch(problem, schedule) or (0 if mma.by_descriptor else staging_bytes(problem, schedule))


def smem_bytes(problem: Problem, schedule: Schedule) -> int:
    """Bytes of shared memory of a block. The epilogue's scratch uses the same memory as the operands, after them; of a
    block that walks tiles it lies beside them."""
    operands, scratch = operand_bytes(problem, schedule), scratch_bytes(problem, schedule)
    return operands + scratch if schedule.tiles_per_block > 1 else max(operands, scratch)


def storage(problem: Problem, schedule: Schedule, target: Target) -> str:
    """How the shared memory is declared, `static` or `dynamic`: what `auto` stands for."""
    if schedule.storage != "auto":
        return schedule.storage
    return "static" if smem_bytes(problem, schedule) <= target.smem_static else "dynamic"


def occupancy(problem: Problem, schedule: Schedule, target: Target) -> Occupancy:
    """Blocks that fit on one SM at the same time."""
    count = registers(problem, schedule, target)
    smem = smem_bytes(problem, schedule)
    warps = threads(schedule) // WARP_SIZE
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
    if target.l1_bytes:
        return target.l1_bytes
    whole, parts = L1[target.smem_sm]
    return (whole - next((part for part in parts if part * KB >= smem), parts[-1])) * KB
