"""Clocks inside an SM for one k step: its shared memory and L1, which are one memory, and each warp's chain."""

from __future__ import annotations

from mlir_gemm.parts.grid import ragged
from mlir_gemm.parts.layout import (
    LINE,
    Buffer,
    bank_conflicts,
    buffer,
    copied,
    element_conflicts,
    pad_of,
    store_conflicts,
    streamed,
)
from mlir_gemm.parts.registers import SCHEDULERS, WARP_SIZE, WIDEST
from mlir_gemm.parts.registry import mainloop_of, mma_of
from mlir_gemm.parts.warp_level.constants import Constants
from mlir_gemm.spec.element_types import ELEMENT_BYTES, FORMATS
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target

LANE_STEP = 8
"""Steps of k of lanes that count as one of an instruction."""


def shared_clocks(problem: Problem, schedule: Schedule, constants: Constants) -> float:
    """Clocks of one SM's shared memory and L1, which are one memory, for one k step of one block.

    Every warp reads the fragments of its tile of A and B; both tiles are loaded through L1 and stored once. Copies also
    cost issue slots, which narrow vectors multiply.
    """
    if not mma_of(schedule).opaque:
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
    stride_a, stride_b = (k + pad_of(schedule)) * a, (n + pad_of(schedule, "b")) * b
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
    lanes = mma_of(schedule).lanes
    if lanes:
        lane = warp_m // lanes[0] if operand == "a" else warp_n // lanes[1]
        return schedule.warps * k * lane * lying.element / 16 * constants.simt_load
    readers = n // warp_n if operand == "a" else m // warp_m
    return lying.rows * lying.row * readers * fragment_conflicts(problem, schedule, operand, lying) / LINE


def fragment_conflicts(problem: Problem, schedule: Schedule, operand: str, lying: Buffer) -> float:
    """Accesses to shared memory for an operand's fragments, against those that its bytes need at 128 bytes each."""
    if mma_of(schedule).by_matrix(problem, operand):
        return 1 if lying.swizzled else bank_conflicts(lying.stride)
    return element_conflicts(lying.element, lying.stride, lying.swizzled, lying.along_k, lying.row)


def _copy_clocks(problem: Problem, schedule: Schedule, operand: str, constants: Constants) -> float:
    """Clocks in which one operand's tile is copied: through L1 unless asynchronously, into shared memory, and in issue
    slots. A warp's access takes a clock however narrow its vectors are."""
    lying, vector, asynchronous = copied(problem, schedule, operand)
    size = lying.rows * lying.row
    if mainloop_of(schedule).producer:
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


def product_factor(problem: Problem, schedule: Schedule, constants: Constants) -> float:
    """Factor on the time of the products at the mma's full rate."""
    factor = 1.0 if schedule.unroll else constants.rolled
    if schedule.unroll and schedule.unroll_by:  # what a trip costs comes once for so many steps
        factor += (constants.rolled - 1) / schedule.unroll_by
    lanes = mma_of(schedule).lanes
    if not lanes:
        return factor
    rows, columns = schedule.warp[0] // lanes[0], schedule.warp[1] // lanes[1]
    converted = rows * _converted(problem, schedule, "a") + columns * _converted(problem, schedule, "b")
    return factor / constants.fma_share * (1 + constants.conversion * converted / (rows * columns))


def _converted(problem: Problem, schedule: Schedule, operand: str) -> int:
    """Issue slots that one element of an operand takes before it is multiplied: to be extended or, for an instruction
    of several k whose elements are not contiguous, to be put together."""
    type_, order = (problem.a, problem.a_order) if operand == "a" else (problem.b, problem.b_order)
    if schedule.instruction[2] == 1:
        return int(type_ != problem.acc)
    return 0 if order in ("mk", "nk") else schedule.instruction[2]


def warp_seconds(problem: Problem, schedule: Schedule, target: Target, constants: Constants) -> float:
    """Seconds of one k step of a block for a warp that has the SM to itself: fragments, products, barriers."""
    _, _, k = schedule.block
    warp_m, warp_n, _ = schedule.warp
    waiting = barrier_seconds(problem, schedule, constants)
    mma = mma_of(schedule)
    depth = LANE_STEP if mma.lanes else schedule.instruction[2]
    if mma.opaque:
        products = 2 * warp_m * warp_n * depth * SCHEDULERS / target.tensor_flops_clock_sm
        clocks = k / depth * (constants.fragment + products)
    else:
        products = 2 * warp_m * warp_n * depth * SCHEDULERS / mma.rate(problem, target)
        clocks = k / depth * (constants.sync_fragment + products)
        if not mma.lanes:
            clocks += sum(_elements_clocks(problem, schedule, operand) for operand in "ab")
    return clocks / target.clock_hz + copy_seconds(problem, schedule, target, constants) + waiting


def _elements_clocks(problem: Problem, schedule: Schedule, operand: str) -> float:
    """Clocks in which one warp reads its own fragments of an operand in a k step, where ldmatrix does not load them: it
    waits for them before it multiplies. 408x104x1744 in i8, both operands across k, takes 13.5 us on the H200 with one
    warp of 16x32 and 9.1 with two of 16x16; the model saw no difference."""
    if mma_of(schedule).by_matrix(problem, operand):
        return 0.0
    lying = buffer(problem, schedule, operand)
    across = schedule.warp[0 if operand == "a" else 1]
    conflicts = fragment_conflicts(problem, schedule, operand, lying)
    return across * schedule.block[2] * lying.element * conflicts / LINE


def copy_seconds(problem: Problem, schedule: Schedule, target: Target, constants: Constants) -> float:
    """Seconds in which a warp issues its copies of one k step, where they are narrow or go through registers."""
    if mma_of(schedule).opaque:
        return 0.0
    return sum(_copy_chain(problem, schedule, operand, constants) for operand in "ab") / target.clock_hz


def _copy_chain(problem: Problem, schedule: Schedule, operand: str, constants: Constants) -> float:
    """The clocks of that for one operand: each copy has its address and its bounds."""
    lying, vector, asynchronous = copied(problem, schedule, operand)
    if mainloop_of(schedule).producer or (asynchronous and vector >= WIDEST):
        return 0.0
    accesses = lying.rows * lying.row * 8 / vector / WARP_SIZE / schedule.warps
    return accesses * (constants.narrow_chain if asynchronous else constants.load_chain)


def barrier_seconds(problem: Problem, schedule: Schedule, constants: Constants) -> float:
    """Seconds of the barriers in a k step: two with one buffer, one with more; shorter after asynchronous copies."""
    if not schedule.promote:
        return 0.0
    if mainloop_of(schedule).producer:
        return constants.ring_barrier
    if streamed(problem, schedule):
        return constants.async_barrier
    return constants.barrier * (1 if schedule.stages > 1 else 2)


def tensor_core_rate(problem: Problem, target: Target) -> float:
    """Operations in one clock of an SM through mma.sync and WMMA, a multiplication and an addition being two."""
    rates = target.rates
    if problem.a == "f64":
        return rates.f64 or rates.fma_f64
    relative = rates.f8 if problem.a in FORMATS else {"f32": rates.tf32, "i8": rates.i8}.get(problem.a, 1.0)
    if problem.acc == "f16":
        relative = rates.f16_f16
    return target.tensor_flops_clock_sm * relative
