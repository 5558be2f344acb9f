"""Registers of a thread: an estimate of what ptxas will allocate. The constants of `wmma` are fitted and stand in
`RegisterModel`; those of `mma_sync` and `simt` follow from what their fragments hold, and were compared with what the
assembler took for about 170 kernels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from mlir_gemm.spec.problem import ELEMENT_BYTES, Problem
from mlir_gemm.spec.schedule import Schedule, Tile
from mlir_gemm.spec.target import Target
from mlir_gemm.tile_model.grid import ragged, tile_bytes
from mlir_gemm.tile_model.layout import VECTOR_ELEMENT_BITS, copied
from mlir_gemm.tile_model.operators import LANES, by_matrix, element_bytes

WARP_SIZE = 32
FRAGMENT = 16
"""Rows and columns of a WMMA fragment, and the k extent of one tensor-core operation."""
REGISTER_UNIT = 256
"""Registers are handed to a warp in this many at a time (CUDA occupancy calculator, sm_70 and later)."""
GROUP_SIZE, GROUP_ADDRESSING = 128, 40
"""Threads of a warpgroup, and registers of a thread of `wgmma` beside its accumulators."""
SCHEDULERS = 4
"""Warp schedulers in one SM, each with its own tensor core and registers."""


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

# Of `mma_sync` and `simt`, from about 170 kernels assembled for sm_90:
AHEAD = 2 / 3
"""Part of the fragments of a further k step that the assembler takes registers for where there are enough: it loads
them ahead. Needed are only those of one step."""
UNPACKED = 6
"""Registers for each register of 8-bit elements that are read one by one, and packed then."""
SIMT_STEPS, SIMT_HELD = 4, 32
"""Steps of k, and elements of A, that a lane of `simt` loads at once where both operands lie along k."""
LONG_F64 = (16, 8, 16)
"""An instruction whose fragments take many registers with f64: the assembler loads the longer side in two parts."""
EXTENDED = 3
"""Registers for each value of `simt` that is narrower than the accumulator: it is loaded with its neighbours in k."""
SYNC_ADDRESSING = 24
"""Pointers into global and shared memory, loop counters and constants."""
GUARDS = 8
"""Bounds and predicates where a tile reaches over the edge: what is needed."""
GUARDS_AHEAD = 24
"""What the assembler takes for them beyond that, where there is enough."""
GUARDED_SIMT = 200
"""What guarded loads in front of the unrolled products of `simt` cost with `prefetch`: most such kernels spill."""
NARROW_SIMT = 64
"""What guarded copies of single elements cost beside them: 32 a thread, each with its own bounds."""
EPILOGUE = 8
"""Operands of the epilogue beside the accumulators, and converted results."""
WIDEST = 128
"""Bits of the widest copies."""
BATCHED = 16
"""Most loads in flight of a synchronous copy whose values go to shared memory at once."""


def registers_needed(problem: Problem, schedule: Schedule, target: Target) -> int:
    """Estimate of the 32-bit registers that a thread needs: accumulators, prefetched vectors, fragments, addressing."""
    if schedule.operator == "wgmma":
        return schedule.warp[0] * schedule.warp[1] // GROUP_SIZE + GROUP_ADDRESSING
    if schedule.operator != "wmma":
        return _sync_needed(problem, schedule)
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


def _sync_needed(problem: Problem, schedule: Schedule) -> int:
    warp_m, warp_n, _ = schedule.warp
    count = warp_m * warp_n * ELEMENT_BYTES[problem.acc] // (4 * WARP_SIZE)
    count += _fragments(problem, schedule) + SYNC_ADDRESSING
    if ragged(problem, schedule):
        count += GUARDS
        if schedule.operator == "simt" and schedule.copy == "prefetch" and schedule.unroll:
            count += GUARDED_SIMT
        if schedule.operator == "simt" and min(copied(problem, schedule, operand).vector for operand in "ab") < 128:
            count += NARROW_SIMT
    if problem.extra_bytes or problem.out != problem.acc:
        count += EPILOGUE
    return count + sum(_copy_registers(problem, schedule, operand) for operand in "ab")


def _fragments(problem: Problem, schedule: Schedule) -> int:
    """Registers of the fragments of one k step of the instruction."""
    warp_m, warp_n, _ = schedule.warp
    if schedule.operator == "simt":
        # Operands are extended to the accumulator's type: one row of each lane's tile and one column; where both lie
        # along k, a few steps of it.
        acc = ELEMENT_BYTES[problem.acc]
        rows, columns = warp_m // LANES[0], warp_n // LANES[1]
        steps = max(1, min(SIMT_STEPS, SIMT_HELD // rows))
        if (problem.a_order, problem.b_order) != ("mk", "nk"):
            steps = 1
        held = 0
        for operand, count in (("a", rows), ("b", columns)):
            narrow = element_bytes(problem, operand) < acc
            held += count * max(EXTENDED if narrow else 1, steps)
        return held * acc // 4
    sides: list[int] = []
    for operand, across in (("a", warp_m), ("b", warp_n)):
        element = element_bytes(problem, operand)
        held = across * element * schedule.instruction[2] // (4 * WARP_SIZE)
        packed = element == 1 and not by_matrix(schedule.operator, problem, operand)
        sides.append(held * UNPACKED if packed else held)
    if problem.a == "f64" and schedule.instruction == LONG_F64:
        sides = [min(sides), max(sides) // 2]
    return sum(sides)


def _copy_registers(problem: Problem, schedule: Schedule, operand: str) -> int:
    if schedule.copy == "tma":
        return 0
    lying, vector, asynchronous = copied(problem, schedule, operand)
    in_row = max(1, 8 * lying.row // vector)
    vectors = -(-lying.rows * in_row // schedule.threads)
    count = UNEVEN_ROW * (in_row & (in_row - 1) != 0)
    if schedule.threads % in_row and in_row % schedule.threads:
        # Of narrow vectors there are many, and all addresses are computed in front of the loop.
        count += UNEVEN_COPY * (vectors if vector < WIDEST else min(vectors, BATCHED))
    if schedule.copy == "prefetch":
        return count + vectors * max(1, vector // 32)
    if not asynchronous:
        return count + min(vectors * max(1, vector // 32), BATCHED)
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


MOST_GROUP, PRODUCER, CONSUMER = 248, 40, 240
"""Registers of a thread of a kernel of roles at most when it starts, of one that copies, of one that multiplies at
most."""


def register_limit(schedule: Schedule, target: Target) -> int:
    """Most registers that a thread may have so that one block, or as many as `resident` asks for, fit on an SM. Each
    scheduler has a quarter of the registers, so that 9 warps take as many as 12."""
    if schedule.copy == "tma":
        return consumer_registers(schedule, target)
    warps = -(-schedule.warps * max(1, schedule.resident) // SCHEDULERS) * SCHEDULERS
    return min(target.registers_thread, target.registers_sm // (WARP_SIZE * warps) // 8 * 8)


def registers(problem: Problem, schedule: Schedule, target: Target) -> int:
    """Estimate of the 32-bit registers of one thread after assembly: what is needed, on sm_80 and later filled up to
    the next number at which fewer warps would fit on an SM, such as 80, 96, 128, 168, 255."""
    if schedule.copy == "tma":
        return group_registers(schedule, target)
    needed = registers_needed(problem, schedule, target)
    if not _model(target).fills:
        return needed
    if schedule.operator != "wmma" and schedule.copy != "plain":
        ahead = int(AHEAD * _fragments(problem, schedule)) + GUARDS_AHEAD * ragged(problem, schedule)
        needed = max(needed, min(needed + ahead, register_limit(schedule, target)))
    warps = max(SCHEDULERS, min(warps_held(needed, target), target.threads_sm // WARP_SIZE))
    taken = target.registers_sm // (WARP_SIZE * warps) // 8 * 8
    return max(needed, min(taken, register_limit(schedule, target)))


def group_registers(schedule: Schedule, target: Target) -> int:
    """Registers of each thread of a kernel of roles when it starts: all that the SM has for it."""
    return min(MOST_GROUP, target.registers_sm // (schedule.threads * max(1, schedule.resident)) // 8 * 8)


def consumer_registers(schedule: Schedule, target: Target) -> int:
    """Registers of a thread that multiplies, once those that copy have given theirs."""
    each = group_registers(schedule, target)
    given = (each * (schedule.groups + 1) - PRODUCER) // schedule.groups // 8 * 8
    return each if schedule.groups < 2 else max(each, min(CONSUMER, given))


def warps_held(count: int, target: Target) -> int:
    """Warps for which an SM has registers when each thread has `count`, the same number on each scheduler."""
    warp = -(-count * WARP_SIZE // REGISTER_UNIT) * REGISTER_UNIT
    return target.registers_sm // warp // SCHEDULERS * SCHEDULERS


def _model(target: Target) -> RegisterModel:
    return REGISTER_MODELS.get(target.chip, NEWER)
