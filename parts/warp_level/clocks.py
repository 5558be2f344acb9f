"""Clocks inside an SM for one k step: its shared memory and L1, which are one memory, and each warp's chain."""

from __future__ import annotations

from mlir_gemm.parts.grid import ragged
from mlir_gemm.parts.layout import (
    LINE,
    PAIR,
    Buffer,
    bank_conflicts,
    buffer,
    copied,
    element_conflicts,
    is_staged,
    is_turned,
    staged,
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
ALONG_K = 0.86
"""Part of the rate of multiply-adds that is left where a lane loads a few steps of k at once. Elements of one step are
then in registers of one bank, and half the banks' reads collide. f32 at 4096 on the H200: 43.5 TFLOP/s where A lies
along k, 43.3 where both do, 49.2 to 52.1 where neither does (`2026-11-24-h200-lanes-variants.json.xz`)."""
WIDE_TILE, WIDE = 64, 1.06
"""Elements of a lane's tile up to which an SM holds 16 warps, and what products of larger ones take, which 8 must hide:
2.85 ms by 16x8 and 2.64 by 8x8, the same product."""
PUT_TOGETHER = 2
"""Conversions that an element counts as which is put together with others. An estimate."""
UNSPREAD, SPREAD_FROM = 1.06, 64 * 64
"""Time of slow products whose copies are issued before them, not between: f32 at 4096 2.91 ms for 2.72, f64 by 64x128
2.80 for 2.67; and elements of a block tile from which that is so. Of smaller ones other blocks multiply meanwhile: 33
pairs take 1.00 to 1.2 times as long with copies between products."""
TURNED_ISSUE = 4.0
"""Instructions for each copy of a single element by which an operand is transposed: the copy, a part of its address."""


FEW_PRODUCTS = 8
"""Products of a warp tile's step up to which they are few. In f64 warp tiles of 32x64, which have 16, are as fast at
4096^3 in a block alone on its SM as in two: 2.65 to 2.66 and 2.68 to 2.72 ms (`2026-11-24-h200-lanes.json.xz`)."""
FIRST_LOADS = 0.5
"""Part of the loads of a block's first fragments that stands before its products. f64 on the H200: warps of 16x16 take
300 clocks a step of 16 where each scheduler has one of them, and 546 where it has two (512x128x5504)."""
FIRST_LOAD = 80
"""Clocks of a k tile in which products wait for the first fragments after a barrier, unless these were loaded ahead:
latency, and the loads of all warps at once. On an H100 4096^3, 1024x1024x8192 and 256x4096x4096 (f16 NT) take 82, 86
and 74 clocks less a step with them (`2026-11-24-h100-parameters.json.xz`)."""
UNCOVERED = 2.7
"""How many times as long a warp waits at a stage of a ring where its scheduler has no other, whose products cover it.
Fitted to 52 products that rings of four warps and `cp.async` both computed (H100, H200,
`2026-11-24-h200-spaces.jsonl.xz` and later ones): without this rings are predicted 10 % too fast beside the other, with
it 1 to 3 %, and where L2 holds all the better prediction takes 1.08 (H100) and 1.10 (H200) times the better time, not
1.11 and 1.14."""
SECTOR = 32
"""Bytes of memory that are written at once."""
STAGED_READS = 2
"""Times more that what the epilogue reads moves so, than to lanes."""
C_CLOCKS = {(True, True): -10.0, (True, False): -8.0, (False, True): 6.0, (False, False): 4.0}
"""Clocks that 128 bytes of what the epilogue adds take longer through shared memory, where lanes would read less than a
sector of a row at once: by whether results leave through it too, and whether it comes during the products. With results
in whole lines 2048x2048x2048, 4096x4096x256 and 8192x8192x64 take 0.96, 0.89 and 0.81 of the time so, without them
0.97, 1.12 and 1.33: half sectors are then stored all at once (f16, H100, `2026-11-28-h100-added.json.xz`)."""
UNPAIRED = 2.5
"""How many times as long a lane of tensor cores stores its pairs of 16 bits one by one, each with its test of the edge.
1457x311x227 in f16 takes 6.85 us so and 5.32 through shared memory by 64x64x64, which 4.3 would give, 705x107x777 in
bf16 9.82 and 9.69 by 32x32x64 (H200, seed 36); the times of 30 products of
`2026-11-22-h200-mma-sync-random-sweep.json.xz` ask for no more than 1."""
STAGED_MOVES = 3
"""Times that a result moves that is stored through shared memory: to it, from it, to memory."""
PIECE_ROWS, PIECE_COLUMNS, LANE_PIECE = 8, 8, 4
"""Rows and columns of a result that the lanes of a warp of tensor cores store at once; columns of a lane of others."""
LANES_DIRECT = 2.0
"""Times the clocks of a lane's load from shared memory that one from global memory takes, which L1 has. Beside kernels
that stage both, 44 of `simt` with A, B or neither take 1.01 of the predicted time in the mean, without this 1.34, with
a root mean square of 32 and 45 % (`2026-11-24-h100-parameters.json.xz`, `2026-11-28-h100-parameters.json.xz`)."""
GLOBAL_LINES = 8
"""Lines of L1 that the lanes of a warp touch for each 128 bytes of a fragment that they read from global memory: each 8
rows, or columns, have a line of their own, of which 16 bytes are read."""


def shared_clocks(problem: Problem, schedule: Schedule, constants: Constants) -> float:
    """Clocks of one SM's shared memory and L1, which are one memory, for one k step of one block.

    Every warp reads the fragments of its tile of A and B; both tiles are loaded through L1 and stored once. Copies also
    cost issue slots, which narrow vectors multiply.
    """
    if not mma_of(schedule).opaque:
        return sum(_fragment_clocks(problem, schedule, operand, constants) for operand in "ab") + sum(
            _copy_clocks(problem, schedule, operand, constants) for operand in staged(schedule)
        )
    m, n, k = schedule.block
    warp_m, warp_n, _ = schedule.warp
    a, b = ELEMENT_BYTES[problem.a], ELEMENT_BYTES[problem.b]
    reads = ("a", m * k * (n // warp_n) * a), ("b", k * n * (m // warp_m) * b)
    moved = 0.0 if schedule.accumulate else 2 * m * n * ELEMENT_BYTES[problem.acc] * constants.unaccumulated
    copies = 0
    for operand, read in reads:
        if not is_staged(schedule, operand):
            moved += read * constants.unpromoted_shared
            continue
        lying = copied(problem, schedule, operand).lying
        rows, row = lying.rows, lying.row
        moved += read * bank_conflicts(lying.stride) + rows * row * store_conflicts(row, lying.stride)
        # A row shorter than a line takes a line's time to look up.
        moved += rows * max(row, LINE)
        copies += rows * row
    instructions = copies * 8 / schedule.vector / WARP_SIZE * constants.copy_issue
    return moved / LINE + instructions / SCHEDULERS


def _fragment_clocks(problem: Problem, schedule: Schedule, operand: str, constants: Constants) -> float:
    """Clocks in which all warps read their parts of one operand's tile."""
    m, n, k = schedule.block
    warp_m, warp_n, _ = schedule.warp
    lying = buffer(problem, schedule, operand)
    lanes = mma_of(schedule).lanes
    direct = not is_staged(schedule, operand)
    if lanes:
        lane = warp_m // lanes[0] if operand == "a" else warp_n // lanes[1]
        side = lanes[0] if operand == "a" else lanes[1]
        each = constants.simt_load
        if direct:
            each = LANES_DIRECT * max(each, side if lying.along_k else 1)
        if problem.composite and operand == "b":
            each /= problem.composite
        if operand == "b" and lying.along_k and not (direct or lying.swizzled):
            each *= bank_conflicts(lying.stride)  # 8 lanes beside each other read 16 bytes of 8 rows
        return schedule.warps * k * lane * lying.element / 16 * each
    readers = n // warp_n if operand == "a" else m // warp_m
    if direct:
        return lying.rows * lying.row * readers * GLOBAL_LINES / LINE
    return lying.rows * lying.row * readers * fragment_conflicts(problem, schedule, operand, lying) / LINE


def fragment_conflicts(problem: Problem, schedule: Schedule, operand: str, lying: Buffer) -> float:
    """Accesses to shared memory for an operand's fragments, against those that its bytes need at 128 bytes each."""
    if problem.composite and operand == "b":  # lanes with other numbers of an element load it too
        return problem.composite
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
    elif is_turned(problem, schedule, operand) and not ragged(problem, schedule):
        issued = TURNED_ISSUE
    elif vector < WIDEST:
        issued += constants.narrow_issue
    if ragged(problem, schedule):
        issued += constants.guard_issue
    return clocks + accesses * issued / SCHEDULERS


def are_unpaired(problem: Problem, schedule: Schedule) -> bool:
    """Whether lanes of tensor cores store a result of 16 bits one by one, since its rows start between pairs."""
    narrow = problem.out_vector < PAIR and problem.out_order == "mn" and ELEMENT_BYTES[problem.out] == 2
    return narrow and not mma_of(schedule).lanes


def staged_seconds(problem: Problem, schedule: Schedule, target: Target, constants: Constants) -> float:
    """What a block takes longer that reads C, or stores its result, through shared memory; less than 0 where it takes
    less. Each way has two barriers, what was copied during the products one. A result is stored to shared memory, read
    again and stored in whole lines. Where lanes would store less than a sector of a row at once, each such part takes a
    clock of L1, as 128 bytes of it do otherwise: then the time that was fitted for elements stored directly scales.
    What the epilogue reads moves twice more, or as C_CLOCKS says."""
    m, n, _ = schedule.block
    types = problem.epilogue_types.split() if schedule.promote_c else []
    beside = elements_beside(problem, schedule)
    starts = schedule.promote_c and problem.reads_c
    barriers = constants.barrier * (2 * (starts + len(types) + schedule.promote_result) - schedule.prefetch_c)
    width = ELEMENT_BYTES[problem.out]
    lines = sum(map(ELEMENT_BYTES.__getitem__, types)) * m * n / LINE
    few = beside * width < SECTOR
    read = lines * (C_CLOCKS[schedule.promote_result, schedule.prefetch_c] if few else STAGED_READS) / target.clock_hz
    moved = 0.0
    if schedule.promote_result:
        if few:
            moved += m * n * constants.store * (STAGED_MOVES * width * beside / LINE - 1)
        else:
            moved += (STAGED_MOVES - 1) * m * n * width / LINE / target.clock_hz
    return barriers + read + max(moved, -m * n * constants.store)


def elements_beside(problem: Problem, schedule: Schedule) -> int:
    """Elements beside each other in memory that the lanes of a warp store at once."""
    lanes = mma_of(schedule).lanes
    if problem.out_order == "nm":  # a row of the memory runs down the tile; each lane has one of it at a time
        return lanes[0] if lanes else PIECE_ROWS
    if not lanes:
        return PIECE_COLUMNS
    alone = problem.b_order == "nk" or schedule.warp[1] % (lanes[1] * LANE_PIECE)
    return lanes[1] * (1 if alone else LANE_PIECE)


def product_factor(problem: Problem, schedule: Schedule, constants: Constants) -> float:
    """Factor on the time of the products at the mma's full rate."""
    factor = 1.0 if schedule.unroll else constants.rolled
    if schedule.unroll and schedule.unroll_by:  # what a trip costs comes once for so many steps
        factor += (constants.rolled - 1) / schedule.unroll_by
    lanes = mma_of(schedule).lanes
    if _waits_for_copies(problem, schedule):
        factor *= UNSPREAD
    if not lanes:
        return factor
    rows, columns = schedule.warp[0] // lanes[0], schedule.warp[1] // lanes[1]
    converted = rows * _converted(problem, schedule, "a") + columns * _converted(problem, schedule, "b")
    plain = schedule.instruction[2] == 1 and problem.a == problem.b == "f32"
    along_k = plain and any(buffer(problem, schedule, operand).along_k for operand in "ab")
    if problem.acc == "f32" and not problem.algebra and rows * columns > WIDE_TILE and not along_k:
        factor *= WIDE
    if plain:
        factor *= 1 / ALONG_K if along_k else 1.0
        m, n, k = schedule.block
        copies = sum(
            lying.rows * lying.columns
            for lying in (
                buffer(problem, schedule, operand) for operand in "ab" if is_turned(problem, schedule, operand)
            )
        )
        factor *= 1 + copies * TURNED_ISSUE / (m * n * k)
    return factor / constants.fma_share * (1 + constants.conversion * converted / (rows * columns))


def _waits_for_copies(problem: Problem, schedule: Schedule) -> bool:
    """Whether slow products of a large tile wait until all its copies are issued."""
    m, n, _ = schedule.block
    if schedule.interleave or m * n < SPREAD_FROM or mainloop_of(schedule).producer:
        return False
    return is_slow(problem, schedule) and streamed(problem, schedule)


def is_slow(problem: Problem, schedule: Schedule) -> bool:
    """Whether products take so long that nothing else limits: of f64, and of f32 by lanes."""
    plain = problem.a == problem.b == "f32" and not problem.algebra and schedule.instruction == (1, 1, 1)
    return problem.a == "f64" or plain


def _converted(problem: Problem, schedule: Schedule, operand: str) -> int:
    """Issue slots that one element of an operand takes before it is multiplied: to be extended or, for an instruction
    of several k whose elements are not contiguous, to be put together."""
    type_, order = (problem.a, problem.a_order) if operand == "a" else (problem.b, problem.b_order)
    if schedule.instruction[2] == 1:
        return int(type_ != problem.acc)
    return 0 if order in ("mk", "nk") else PUT_TOGETHER * schedule.instruction[2]


def chain_seconds(problem: Problem, schedule: Schedule, target: Target, constants: Constants) -> float:
    """Seconds of one k step of a block that has the SM to itself: its first fragments, its products, barriers."""
    waiting = barrier_seconds(problem, schedule, constants)
    if schedule.fragments_ahead:
        waiting -= min(waiting, FIRST_LOAD / target.clock_hz)
    clocks = _chain_clocks(problem, schedule, target, constants)
    return clocks / target.clock_hz + copy_seconds(problem, schedule, target, constants) + waiting


def _is_of_block(problem: Problem, schedule: Schedule) -> bool:
    """Whether the chain is that of a block, not of one warp: where elements of fragments are read one by one, and a
    warp has few products to go on with while others wait."""
    mma = mma_of(schedule)
    if mma.opaque or mma.lanes or all(mma.by_matrix(problem, operand) for operand in "ab"):
        return False
    return schedule.warp[0] * schedule.warp[1] <= FEW_PRODUCTS * schedule.instruction[0] * schedule.instruction[1]


def _chain_clocks(problem: Problem, schedule: Schedule, target: Target, constants: Constants) -> float:
    """The clocks of that without copies and barriers: those of one warp. Where elements of fragments are read one by
    one, nothing is loaded ahead: warps of one scheduler multiply one after another, and before the first product stand
    loads of the first fragments by all warps at once, of which a warp waits for half in the mean."""
    _, _, k = schedule.block
    warp_m, warp_n, _ = schedule.warp
    mma = mma_of(schedule)
    depth = LANE_STEP if mma.lanes else schedule.instruction[2]
    if mma.opaque:
        products = 2 * warp_m * warp_n * depth * SCHEDULERS / target.tensor_flops_clock_sm
        return k / depth * (constants.fragment + products)
    products = 2 * warp_m * warp_n * depth * SCHEDULERS / mma.rate(problem, target)
    if not _is_of_block(problem, schedule):
        return k / depth * (constants.sync_fragment + products)
    each = -(-schedule.warps // SCHEDULERS) * products * product_factor(problem, schedule, constants)
    clocks = k / depth * (constants.sync_fragment + each)
    if schedule.fragments_ahead:
        return clocks
    loads = sum(_fragment_clocks(problem, schedule, operand, constants) for operand in "ab") * depth / k
    return clocks + FIRST_LOADS * loads


def copy_seconds(problem: Problem, schedule: Schedule, target: Target, constants: Constants) -> float:
    """Seconds in which a warp issues its copies of one k step, where they are narrow or go through registers."""
    if mma_of(schedule).opaque:
        return 0.0
    return sum(_copy_chain(problem, schedule, operand, constants) for operand in staged(schedule)) / target.clock_hz


def _copy_chain(problem: Problem, schedule: Schedule, operand: str, constants: Constants) -> float:
    """The clocks of that for one operand: each copy has its address and its bounds."""
    lying, vector, asynchronous = copied(problem, schedule, operand)
    if mainloop_of(schedule).producer or (asynchronous and vector >= WIDEST):
        return 0.0
    if is_turned(problem, schedule, operand) and not ragged(problem, schedule):
        return 0.0
    accesses = lying.rows * lying.row * 8 / vector / WARP_SIZE / schedule.warps
    return accesses * (constants.narrow_chain if asynchronous else constants.load_chain)


def barrier_seconds(problem: Problem, schedule: Schedule, constants: Constants) -> float:
    """Seconds of the barriers in a k step: two with one buffer, one with more; shorter after asynchronous copies."""
    if not schedule.promote:
        return 0.0
    if mainloop_of(schedule).producer:
        return constants.ring_barrier * (UNCOVERED if schedule.warps <= SCHEDULERS else 1)
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
