"""Clocks inside an SM for one k step of a block: its shared memory and L1, which are one memory, and each warp's chain.

What comes from fitting rather than from a chip's data stands in `Constants`.
"""

from __future__ import annotations

from dataclasses import dataclass

from mlir_gemm.spec.problem import ELEMENT_BYTES, Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target
from mlir_gemm.tile_model.grid import ragged
from mlir_gemm.tile_model.layout import (
    LINE,
    Buffer,
    bank_conflicts,
    buffer,
    copied,
    element_conflicts,
    store_conflicts,
    streamed,
)
from mlir_gemm.tile_model.operators import LANES, by_matrix, flops_clock_sm
from mlir_gemm.tile_model.registers import SCHEDULERS, WARP_SIZE, WIDEST


@dataclass(frozen=True)
class Constants:
    """What the model fits. Those of `wmma` were fitted to 2088 kernels on the H200: every candidate for the squares
    from 1024 to 8192 (see docs/tile-model.md)."""

    inside: float = 2.5
    """Exponent of the norm that overlaps what happens inside an SM: tensor cores, shared memory, and each warp's own
    chain. Barriers keep warps in step, so that their phases overlap less than those of independent work."""
    outside: float = 4.0
    """Exponent of the norm that overlaps an SM with L2 and DRAM."""
    memory_latency: float = 5.65e-7
    """Seconds from a global load to its data under load."""
    barrier: float = 1.25e-7
    """Seconds from the last product before a barrier to the first behind it, the stores to shared memory included."""
    fragment: float = 66.0
    """Clocks from a warp's load of fragments to its first product."""
    launch: float = 3.8e-6
    """Seconds to start and to end a kernel."""
    late: tuple[float, float] = (0.03, 0.25)
    """Part of the memory latency that shows with early=off, for one and for two buffers. The assembler may move the
    loads down to their use; with two buffers no barrier holds them."""
    sm_l2_bytes_clock: float = 64.0
    """Bytes that one SM can take from L2 in one clock."""
    copy_issue: float = 1.0
    """Instructions issued for each vector copied, addresses and guards included."""
    rolled: float = 1.15
    """Factor on tensor time without unrolling."""
    unpromoted_shared: float = 8.0
    """Factor on fragment loads that come through L1 instead of shared memory: each reads eight rows of 16 bytes, which
    are eight lines."""
    unaccumulated: float = 4.0
    """Factor on C's fragments without accumulation: rows of 32 bytes, one line each."""

    # Of `mma_sync` and `simt` alone.
    sync_fragment: float = 24.0
    """Clocks of a warp's k step of one instruction that its products do not cover, with fragments loaded ahead."""
    async_barrier: float = 4e-8
    """Seconds that a barrier costs when no thread stores to shared memory in front of it."""
    vector_issue: float = 1.97
    """Instructions issued for each vector that a thread loads and stores."""
    load_chain: float = 15.6
    """Clocks of a warp for each such vector: its address and its bounds, the load, the store."""
    vary: float = 4.0
    """Exponent of the norm that hides the latency of asynchronous copies behind the k steps in flight."""
    ring_barrier: float = 3e-8
    """Seconds of a k step in which a warp waits for a stage of a ring, loads its first fragments and hands it back."""
    async_issue: float = 2.0
    """The same with cp.async."""
    narrow_issue: float = 13.8
    """Further ones where these are of 4 or 8 bytes, ..."""
    narrow_chain: float = 11.3
    """... and clocks of a warp for each. All four were fitted to 1,548 kernels of mma_sync of 86 random products on the
    H200 (2026-11-22): predicted times of the better ones are off by 0.19 where they were by 0.27."""
    guard_issue: float = 5.2
    """Further ones where tiles reach over an edge: bounds and predicates."""
    store: float = 0.0
    """Seconds in which a block stores one element of its tile, while the SM computes nothing but other blocks."""
    fma_share: float = 0.85
    """Part of the FMA rate that is reached beside loads, addresses and conversions."""
    simt_load: float = 2.0
    """Clocks of shared memory for a 128-bit load of a warp of `simt`, most of whose lanes read the same."""
    conversion: float = 2.0
    """FMA slots that the conversion of one operand to the accumulator's type takes."""


CONSTANTS = Constants()
SYNC = Constants(
    inside=3.7, outside=8.0, memory_latency=6.8e-7, launch=4.2e-6, sync_fragment=16.0, async_barrier=1.05e-7,
    async_issue=0.5, vary=8.0, store=1.1e-10,
)  # fmt: skip
"""Those of `mma_sync` and `simt`, fitted to 544 kernels of mma_sync with f16 on the H200, at seven squares from 512 to
4096 (bench/results, 2026-11-21). Asynchronous copies overlap more, and the launch is timed with the arrays' own part of
the call."""


def constants_of(schedule: Schedule) -> Constants:
    """The constants of a schedule's operator."""
    return CONSTANTS if schedule.operator == "wmma" else SYNC


INSTRUCTION_K = 16
"""Extent in k of one tensor-core operation of `wmma`."""


def shared_clocks(problem: Problem, schedule: Schedule, constants: Constants = CONSTANTS) -> float:
    """Clocks of one SM's shared memory and L1, which are one memory, for one k step of one block.

    Every warp reads the fragments of its tile of A and B; both tiles are loaded through L1 and stored once. Copies also
    cost issue slots, which narrow vectors multiply.
    """
    if schedule.operator != "wmma":
        return sum(_fragment_clocks(problem, schedule, operand, constants) for operand in "ab") + sum(
            _copy_clocks(problem, schedule, operand, constants) for operand in "ab"
        )
    m, n, k = schedule.block
    warp_m, warp_n, _ = schedule.warp
    a, b = ELEMENT_BYTES[problem.a], ELEMENT_BYTES[problem.b]
    read_a = m * k * (n // warp_n) * a
    read_b = k * n * (m // warp_m) * b
    moved = 0.0 if schedule.accumulate else 2 * m * n * ELEMENT_BYTES[problem.acc] * constants.unaccumulated
    if not schedule.promote:
        return (moved + (read_a + read_b) * constants.unpromoted_shared) / LINE
    stride_a, stride_b = (k + schedule.pad) * a, (n + schedule.pad) * b
    moved += read_a * bank_conflicts(stride_a) + read_b * bank_conflicts(stride_b)
    moved += m * k * a * store_conflicts(k * a, stride_a) + k * n * b * store_conflicts(n * b, stride_b)
    # A row shorter than a line takes a line's time to look up.
    loaded = m * max(k * a, LINE) + k * max(n * b, LINE)
    instructions = (m * k * a + k * n * b) * 8 / schedule.vector / WARP_SIZE * constants.copy_issue
    return (moved + loaded) / LINE + instructions / SCHEDULERS


def _fragment_clocks(problem: Problem, schedule: Schedule, operand: str, constants: Constants) -> float:
    """Clocks in which all warps read their parts of one operand's tile."""
    m, n, k = schedule.block
    warp_m, warp_n, _ = schedule.warp
    lying = buffer(problem, schedule, operand)
    if schedule.operator == "simt":
        lane = warp_m // LANES[0] if operand == "a" else warp_n // LANES[1]
        return schedule.warps * k * lane * lying.element / 16 * constants.simt_load
    readers = n // warp_n if operand == "a" else m // warp_m
    return lying.rows * lying.row * readers * fragment_conflicts(problem, schedule, operand, lying) / LINE


def fragment_conflicts(problem: Problem, schedule: Schedule, operand: str, lying: Buffer) -> float:
    """Accesses to shared memory for an operand's fragments, against those that its bytes need at 128 bytes each."""
    if by_matrix(schedule.operator, problem, operand):
        return 1 if lying.swizzled else bank_conflicts(lying.stride)
    return element_conflicts(lying.element, lying.stride, lying.swizzled, lying.along_k, lying.row)


def _copy_clocks(problem: Problem, schedule: Schedule, operand: str, constants: Constants) -> float:
    """Clocks in which one operand's tile is copied: through L1 unless asynchronously, into shared memory, and in issue
    slots. A warp's access takes a clock however narrow its vectors are."""
    lying, vector, asynchronous = copied(problem, schedule, operand)
    size = lying.rows * lying.row
    if schedule.copy == "tma":
        return size / LINE
    accesses = size * 8 / vector / WARP_SIZE
    conflicts = 1 if lying.swizzled else store_conflicts(lying.row, lying.stride)
    clocks = max(size * conflicts / LINE, accesses)
    issued = constants.async_issue
    if not asynchronous:
        # A row shorter than a line takes a line's time to look up.
        clocks += max(lying.rows * max(lying.row, LINE) / LINE, accesses)
        issued = constants.vector_issue
    elif vector < WIDEST:
        issued += constants.narrow_issue
    if ragged(problem, schedule):
        issued += constants.guard_issue
    return clocks + accesses * issued / SCHEDULERS


def product_factor(problem: Problem, schedule: Schedule, constants: Constants = CONSTANTS) -> float:
    """Factor on the time of the products at the operator's full rate."""
    factor = 1.0 if schedule.unroll else constants.rolled
    if schedule.operator != "simt":
        return factor
    rows, columns = schedule.warp[0] // LANES[0], schedule.warp[1] // LANES[1]
    converted = rows * (problem.a != problem.acc) + columns * (problem.b != problem.acc)
    return factor / constants.fma_share * (1 + constants.conversion * converted / (rows * columns))


def warp_seconds(problem: Problem, schedule: Schedule, target: Target, constants: Constants = CONSTANTS) -> float:
    """Seconds of one k step of a block for a warp that has the SM to itself: fragments, products, barriers."""
    _, _, k = schedule.block
    warp_m, warp_n, _ = schedule.warp
    waiting = barrier_seconds(problem, schedule, constants)
    if schedule.operator == "wmma":
        products = 2 * warp_m * warp_n * INSTRUCTION_K * SCHEDULERS / target.tensor_flops_clock_sm
        clocks = k / INSTRUCTION_K * (constants.fragment + products)
    else:
        depth = schedule.instruction[2] if schedule.operator == "mma_sync" else 8
        products = 2 * warp_m * warp_n * depth * SCHEDULERS / flops_clock_sm(schedule.operator, problem, target)
        clocks = k / depth * (constants.sync_fragment + products)
    return clocks / target.clock_hz + copy_seconds(problem, schedule, target, constants) + waiting


def copy_seconds(problem: Problem, schedule: Schedule, target: Target, constants: Constants) -> float:
    """Seconds in which a warp issues its copies of one k step, where they are narrow or go through registers."""
    if schedule.operator == "wmma":
        return 0.0
    return sum(_copy_chain(problem, schedule, operand, constants) for operand in "ab") / target.clock_hz


def _copy_chain(problem: Problem, schedule: Schedule, operand: str, constants: Constants) -> float:
    """The clocks of that for one operand: each copy has its address and its bounds."""
    lying, vector, asynchronous = copied(problem, schedule, operand)
    if schedule.copy == "tma" or (asynchronous and vector >= WIDEST):
        return 0.0
    accesses = lying.rows * lying.row * 8 / vector / WARP_SIZE / schedule.warps
    return accesses * (constants.narrow_chain if asynchronous else constants.load_chain)


def barrier_seconds(problem: Problem, schedule: Schedule, constants: Constants = CONSTANTS) -> float:
    """Seconds of the barriers in a k step: two with one buffer, one with more; shorter behind asynchronous copies."""
    if not schedule.promote:
        return 0.0
    if schedule.copy == "tma":
        return constants.ring_barrier
    if streamed(problem, schedule):
        return constants.async_barrier
    return constants.barrier * (1 if schedule.stages > 1 else 2)
