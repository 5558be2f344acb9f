"""Registers of warp-level mmas, from what their fragments hold; compared with what ptxas allocated for about 170
kernels for sm_90."""

from __future__ import annotations

from mlir_gemm.parts.grid import ragged
from mlir_gemm.parts.layout import copied, is_turned, staged
from mlir_gemm.parts.registers import WARP_SIZE, WIDEST, copy_registers
from mlir_gemm.parts.registry import mainloop_of, mma_of
from mlir_gemm.spec.backends import NVPTX
from mlir_gemm.spec.element_types import ELEMENT_BYTES
from mlir_gemm.spec.problem import Problem, element_bytes
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target

UNPACKED = 6
"""Registers for each register of 8-bit elements that are read one by one, and packed then."""
LANE_STEPS, LANE_HELD = 4, 32
"""Steps of k, and elements of A, that a lane loads at once where both operands lie along k."""
LONG_F64 = (16, 8, 16)
"""An instruction whose fragments take many registers with f64: the assembler loads the longer side in two parts."""
EXTENDED = 3
"""Registers for each value of a lane that is narrower than the accumulator: it is loaded with its neighbours in k."""
ADDRESSING = 24
"""Pointers into global and shared memory, loop counters and constants."""
GUARDS = 8
"""Bounds and predicates where a tile reaches over the edge: what is needed."""
GUARDED_LANES = 200
"""What guarded loads cost before the unrolled products of lanes, where they wait in registers: most such kernels
spill."""
FEW_TURNED = 8
"""Guarded copies of a thread that transpose whose guards take no registers: 129 a thread with 8 of A, 191 with 16,
where 126 are taken without guards."""
NARROW_LANES = 64
"""What guarded copies of single elements cost beside them: 32 a thread, each with its own bounds."""
OTHER_LANES = 56
"""What lanes take more on other chips than NVIDIA's, where LLVM loads further ahead: of 15 kernels of `simt` for
gfx1100 those with estimates of 216 and more without this spilled, but for two."""
IN_PLACE, IN_PLACE_ACROSS = 48, 56
"""Addresses of an operand of tensor cores that stays in global memory: beside a ring, and else where its rows do not
lie along k. Without them a warp's 64x64 spilled 12 to 52 bytes (sm_90a), and 24 and 28 (sm_80)."""
EPILOGUE = 8
"""Operands of the epilogue beside the accumulators, and converted results."""
MOST_BEHIND = 224
"""What a thread takes at most for a tile that the epilogue reads: where it would be more, ptxas loads it in parts. By
the plain sum a warp's 64x64 of a 128x256 tile of f32 takes 288; it has 254, and none spilled (sm_80)."""


def registers_needed(problem: Problem, schedule: Schedule, target: Target) -> int:
    """Estimate of the registers that a thread needs: accumulators, prefetched vectors, fragments, addressing."""
    mma, mainloop = mma_of(schedule), mainloop_of(schedule)
    warp_m, warp_n, _ = schedule.warp
    count = warp_m * warp_n * ELEMENT_BYTES[problem.acc] // (4 * WARP_SIZE)
    count += (mma.fragments or fragments)(problem, schedule) * (2 if schedule.fragments_ahead else 1) + ADDRESSING
    if ragged(problem, schedule):
        few = [_few_turned(problem, schedule, operand) for operand in "ab"]
        count += 0 if any(few) else GUARDS
        if mma.lanes and mainloop.in_registers and schedule.unroll:
            count += GUARDED_LANES
        if mma.lanes:
            narrow = [copied(problem, schedule, operand).vector < WIDEST for operand in "ab"]
            count += NARROW_LANES if any(side and not alike for side, alike in zip(narrow, few, strict=True)) else 0
    if mma.lanes and target.backend != NVPTX:
        count += OTHER_LANES
    if staged(schedule) in ("a", "b") and not mma.lanes:
        in_place = "b" if staged(schedule) == "a" else "a"
        across = not copied(problem, schedule, in_place).lying.along_k
        count += IN_PLACE if mainloop.producer else IN_PLACE_ACROSS * across
    if problem.extra_bytes or problem.out != problem.acc:
        count += EPILOGUE
    count += sum(copy_registers(problem, schedule, operand) for operand in "ab")
    types = problem.epilogue_types.split()
    if not schedule.promote_c or (schedule.prefetch_c and len(types) == len(set(types))):  # none passes registers
        return count
    return max(count, min(_behind(problem, schedule) + ADDRESSING + EPILOGUE, MOST_BEHIND))


def _behind(problem: Problem, schedule: Schedule) -> int:
    """Registers of the sums beside a tile that the epilogue reads, on its way to shared memory."""
    m, n, _ = schedule.block
    sums = schedule.warp[0] * schedule.warp[1] * ELEMENT_BYTES[problem.acc]
    widest = max((ELEMENT_BYTES[each] for each in problem.epilogue_types.split()), default=0)
    return (sums + m * n * widest // schedule.warps) // (4 * WARP_SIZE)


def _few_turned(problem: Problem, schedule: Schedule, operand: str) -> bool:
    """Whether an operand is transposed by so few copies of a thread that their guards stay in predicates."""
    if not is_turned(problem, schedule, operand):
        return False
    lying, vector, _ = copied(problem, schedule, operand)
    return lying.rows * lying.row * 8 // vector <= FEW_TURNED * WARP_SIZE * schedule.warps


def fragments(problem: Problem, schedule: Schedule) -> int:
    """Registers of the fragments of one k step of the instruction."""
    warp_m, warp_n, _ = schedule.warp
    mma = mma_of(schedule)
    if mma.lanes:
        # Operands are extended to the accumulator's type: one row of each lane's tile and one column; where both lie
        # along k, a few steps of it.
        acc = ELEMENT_BYTES[problem.acc]
        rows, columns = warp_m // mma.lanes[0], warp_n // mma.lanes[1]
        steps = max(1, min(LANE_STEPS, LANE_HELD // rows))
        if not all(copied(problem, schedule, operand).lying.along_k for operand in "ab"):
            steps = 1
        held = 0
        for operand, count in (("a", rows), ("b", columns)):
            narrow = element_bytes(problem, operand) < acc
            held += count * max(EXTENDED if narrow else 1, steps)
        return held * acc // 4
    sides: list[int] = []
    for operand, across in (("a", warp_m), ("b", warp_n)):
        element = element_bytes(problem, operand)
        depth = schedule.instruction[2]
        if problem.sparse:  # two steps share a word of metadata; of A half is held, and the word
            depth = depth * 5 // 16 if operand == problem.sparse else depth // 2
        held = across * element * depth // (4 * WARP_SIZE)
        along_k = problem.a_order == "mk" if operand == "a" else problem.b_order == "nk"
        packed = element == 1 and not along_k
        sides.append(held * UNPACKED if packed else held)
    if problem.a == "f64" and schedule.instruction == LONG_F64:
        sides = [min(sides), max(sides) // 2]
    return sum(sides)
