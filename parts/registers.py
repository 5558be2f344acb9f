"""Registers of a thread: an estimate of what ptxas will allocate. Each operation says what it needs itself."""

from __future__ import annotations

from dataclasses import dataclass

from mlir_gemm.parts.block import consumer_warpgroups, threads
from mlir_gemm.parts.grid import ragged
from mlir_gemm.parts.layout import copied, is_staged
from mlir_gemm.parts.registry import mainloop_of, mma_of
from mlir_gemm.spec.backends import NVPTX
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target

WARP_SIZE = 32
FRAGMENT = 16
"""Rows and columns of a WMMA fragment, and the k extent of one tensor-core operation."""
REGISTER_UNIT = 256
"""Registers are handed to a warp in this many at a time (CUDA occupancy calculator, sm_70 and later)."""
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
    wide: int = 0
    """Registers for each column of fragments that a warp tile has beyond its rows."""


NEWER = RegisterModel(fragment=4, alive=4, addressing=20, spare=10, fills=True)
"""sm_80 and later. Fitted to the fewest registers without spills of 440 kernels, and to which of 900 kernels near the
limit spill; 128x128x64 with warp 32x64 takes 128."""
OLDER = RegisterModel(fragment=8, alive=0, addressing=40, spare=0, fills=False)
"""sm_70, whose fragments hold every element twice. Of 500 kernels near the limit, for it and sm_75, it refuses all 244
that spill, and as many that do not; 128x128x64 with warp 32x64 takes 172."""
TURING = RegisterModel(fragment=4, alive=4, addressing=43, spare=0, fills=False, wide=2)
"""sm_75: the same in PTX, but ptxas loads fragments once, by ldmatrix, and not all at a time: Khandelwal's 64x64x32 of
128x128x64 takes 252, and ran for him. Of 140 kernels near the limit it refuses all 24 that spill, and some 40 that do
not; of 149 that do not spill it is 8 above what ptxas takes in the mean, give or take 13."""
LLVM = RegisterModel(fragment=8, alive=0, addressing=40, spare=0, fills=False)
"""Other chips than NVIDIA's, whose registers LLVM or a driver allocates. What is needed alone is estimated."""
UNEVEN_COPY = 4
"""Registers of addresses for each vector copied when the vectors of a thread do not lie evenly in a tile."""
UNEVEN_ROW = 4
"""Registers of the division that finds a vector's row when a row does not hold a power of two of vectors."""

GUARDS_AHEAD = 24
"""What the assembler takes for bounds and predicates beyond what is needed, where there is enough."""
AHEAD = 2 / 3
"""Part of the fragments of a further k step that the assembler takes registers for where there are enough: it loads
them ahead. Needed are only those of one step."""
C_AHEAD = 88
"""What ptxas takes on sm_70 and sm_75 for a tile of C on its way to shared memory, where there is enough: with tiles of
64x64 by 32x32 and mma.sync 180 for 96 and 166 for 92 with nothing spilled at 168, which it takes where it is told how
many blocks share an SM."""
WIDEST, REGISTER_BITS = 128, 32
"""Bits of the widest copies, and of a register."""
BATCHED = 16
"""Most loads in flight of a synchronous copy whose values go to shared memory at once."""


def copy_registers(problem: Problem, schedule: Schedule, operand: str) -> int:
    """Registers of a thread in which it copies its part of A or B."""
    mainloop = mainloop_of(schedule)
    if mainloop.producer or not is_staged(schedule, operand):
        return 0
    lying, vector, asynchronous = copied(problem, schedule, operand)
    in_row = max(1, 8 * lying.row // vector)
    copying = threads(schedule)
    vectors = -(-lying.rows * in_row // copying)
    count = UNEVEN_ROW * (in_row & (in_row - 1) != 0)
    if copying % in_row and in_row % copying:
        # Of narrow vectors there are many, and all addresses are computed before the loop.
        count += UNEVEN_COPY * (vectors if vector < WIDEST else min(vectors, BATCHED))
    if mainloop.in_registers and not asynchronous:
        return count + vectors * max(1, vector // 32)
    if not asynchronous:
        return count + min(vectors * max(1, vector // 32), BATCHED)
    return count


def reserved_registers(problem: Problem, schedule: Schedule, target: Target) -> int:
    """Registers of a thread that must stay free under a hard limit so that nothing spills. `OLDER` was fitted to WMMA;
    of 60 kernels for sm_75 of other operations of tensor cores, near the limit, this leaves two that spill 32 bytes or
    less."""
    mma, model = mma_of(schedule), model_of(target)
    if model.fills or mma.opaque or not mma.tensor_cores:
        return model.spare
    single = min(copied(problem, schedule, operand).vector for operand in "ab") < REGISTER_BITS
    return NEWER.spare + GUARDS_AHEAD * (ragged(problem, schedule) + single)


MOST_AT_START, PRODUCER, CONSUMER = 248, 40, 240
"""Registers of a thread of a warp-specialized kernel: the most that it can start with, what one that copies keeps, and
the most that one that multiplies takes over. 24 and 240 for two consumers gave nothing over 40 and 232, with which
nothing spills."""


def register_limit(schedule: Schedule, target: Target) -> int:
    """Most registers that a thread may have so that one block, or as many as `min_blocks` asks for, fit on an SM. Each
    scheduler has a quarter of the registers, so that 9 warps take as many as 12."""
    if mainloop_of(schedule).producer:
        return consumer_registers(schedule, target)
    warps = schedule.warps * mma_of(schedule).warps * max(1, schedule.min_blocks)
    warps = -(-warps // SCHEDULERS) * SCHEDULERS
    return min(target.registers_thread, target.registers_sm // (WARP_SIZE * warps) // 8 * 8)


def registers(problem: Problem, schedule: Schedule, target: Target) -> int:
    """Estimate of the 32-bit registers of one thread after assembly: what is needed, on sm_80 and later filled up to
    the next number at which fewer warps would fit on an SM, such as 80, 96, 128, 168, 255."""
    mma, mainloop = mma_of(schedule), mainloop_of(schedule)
    if mainloop.producer:
        return starting_registers(schedule, target)
    needed = mma.registers(problem, schedule, target)
    if not model_of(target).fills:
        ahead = C_AHEAD if schedule.promote_c else 0
        return max(needed, min(needed + ahead, register_limit(schedule, target)))
    if mma.fragments and mainloop.ahead:
        ahead = int(AHEAD * mma.fragments(problem, schedule)) + GUARDS_AHEAD * ragged(problem, schedule)
        needed = max(needed, min(needed + ahead, register_limit(schedule, target)))
    warps = max(SCHEDULERS, min(warps_held(needed, target), target.threads_sm // WARP_SIZE))
    taken = target.registers_sm // (WARP_SIZE * warps) // 8 * 8
    return max(needed, min(taken, register_limit(schedule, target)))


def starting_registers(schedule: Schedule, target: Target) -> int:
    """Registers of each thread of a warp-specialized kernel when it starts: all that the SM has for it."""
    return min(MOST_AT_START, target.registers_sm // (threads(schedule) * max(1, schedule.min_blocks)) // 8 * 8)


def consumer_registers(schedule: Schedule, target: Target) -> int:
    """Registers of a thread that multiplies, once the threads that copy have given theirs up."""
    return role_registers(schedule, target)[1] or starting_registers(schedule, target)


def role_registers(schedule: Schedule, target: Target) -> tuple[int, int]:
    """Registers of a thread that copies and of one that multiplies; zeros where they stay as they start."""
    each, warpgroups = starting_registers(schedule, target), consumer_warpgroups(schedule)
    consumer = (each * (warpgroups + 1) - PRODUCER) // warpgroups
    if consumer <= each or warpgroups < 2:
        return 0, 0
    return PRODUCER, min(CONSUMER, consumer // 8 * 8)


def warps_held(count: int, target: Target) -> int:
    """Warps for which an SM has registers when each thread has `count`, the same number on each scheduler."""
    warp = -(-count * WARP_SIZE // REGISTER_UNIT) * REGISTER_UNIT
    return target.registers_sm // warp // SCHEDULERS * SCHEDULERS


def model_of(target: Target) -> RegisterModel:
    """How registers are allocated for a chip."""
    if target.backend != NVPTX:
        return LLVM
    if "wmma.replicated" not in target.capabilities:
        return NEWER
    return TURING if "mma.sync" in target.capabilities else OLDER
