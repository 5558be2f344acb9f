"""The cost of a schedule in seconds, from the chip's data: plain arithmetic, about ten microseconds a schedule.

The model takes the four rates at which a product can be limited (tensor cores, shared memory, L2, DRAM), lets them
overlap, and adds what does not overlap: the uneven last wave, latency that too few warps cannot hide, and the two ends
of a kernel. docs/tile-model.md explains each term. What comes from fitting rather than from a chip's data stands in
`Constants`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from mlir_gemm.pipeline.problem import ELEMENT_BYTES, Problem
from mlir_gemm.pipeline.schedule import Schedule
from mlir_gemm.pipeline.target import Target
from mlir_gemm.tile_model.resources import SCHEDULERS, Occupancy, occupancy, tile_bytes

LINE = 128
"""Bytes that the L1 and shared memory of an SM move in one clock, 32 banks of 4 bytes; also the bytes of an L1 line,
of which one is looked up in a clock (CUDA programming guide)."""
BANK_GROUP = 16
"""Bytes that one thread moves of a vector, and of one row of an 8x8 matrix in ldmatrix; eight such fill the banks."""
INSTRUCTION_K = 16
"""Extent in k of one tensor-core operation."""


@dataclass(frozen=True)
class Constants:
    """What the model fits. Fitted to 2088 kernels on the H200: every candidate for the squares from 1024 to 8192 (see
    docs/tile-model.md)."""

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
    unpromoted_l2: float = 2.0
    """Factor on L2 traffic without shared memory: L1 does not keep all of a block's tiles."""
    unaccumulated: float = 4.0
    """Factor on C's fragments without accumulation: rows of 32 bytes, one line each."""
    l2_share: float = 0.75
    """Part of L2 that the operands of a wave can count on."""


CONSTANTS = Constants()


@dataclass(frozen=True, slots=True)
class Cost:
    """Predicted seconds. The first four are the time of each resource alone at full rate; they overlap in
    `overlapped`. The total is `overlapped + waves + latency + edges`."""

    tensor: float
    """Tensor cores."""
    shared: float
    """Shared memory and L1: fragments read (with bank conflicts), tiles loaded and stored, instructions that copy."""
    l2: float
    """Reads of A and B through L2."""
    dram: float
    """A and B from DRAM."""
    overlapped: float
    """The four together."""
    waves: float
    """SMs that idle because the blocks do not divide evenly among them."""
    latency: float
    """Latency of fragments, global loads and barriers that resident warps do not hide."""
    edges: float
    """Launch, first loads, and the epilogue's traffic."""
    total: float

    def tflops(self, problem: Problem) -> float:
        """TFLOP/s of the whole product at this cost."""
        return problem.flops / self.total * 1e-12


ADDITIVE_TERMS = ("overlapped", "waves", "latency", "edges")
OVERLAPPING_TERMS = ("tensor", "shared", "l2", "dram")


def estimate(problem: Problem, schedule: Schedule, target: Target, constants: Constants = CONSTANTS) -> Cost:
    """The predicted cost of a legal schedule. On an illegal one the figures mean nothing."""
    m, n, k = schedule.block
    blocks = (problem.m // m) * (problem.n // n)
    steps = problem.k // k
    sm_blocks = -(-blocks // target.sms)
    held = occupancy(problem, schedule, target)
    resident = max(1, min(held.blocks, sm_blocks))
    even = blocks / target.sms
    spread = sm_blocks / even
    inside, outside = constants.inside, constants.outside

    tensor = problem.flops / (target.sms * target.clock_hz * target.tensor_flops_clock_sm)
    if not schedule.unroll:
        tensor *= constants.rolled
    shared = even * steps * shared_clocks(problem, schedule, constants) / target.clock_hz
    block_l2 = l2_bytes(problem, schedule, constants)
    l2 = blocks * block_l2 / target.l2_bytes_s
    dram = dram_bytes(problem, schedule, target, resident, constants) / target.dram_bytes_s

    work = tensor**inside + shared**inside
    overlapped = (work ** (outside / inside) + l2**outside + dram**outside) ** (1 / outside)
    # The fullest SM, which the others wait for.
    work *= spread**inside
    fullest_l2 = max(l2, sm_blocks * block_l2 / (constants.sm_l2_bytes_clock * target.clock_hz))
    beside = fullest_l2**outside + dram**outside
    busy = (work ** (outside / inside) + beside) ** (1 / outside)

    all_steps = sm_blocks / resident * steps
    work += (all_steps * warp_seconds(schedule, target, constants)) ** inside
    paced = (work ** (outside / inside) + beside) ** (1 / outside)
    exposed = all_steps * _exposed(problem, schedule, held, resident, paced / all_steps, constants)
    latency = paced - busy + exposed
    first_loads = sm_blocks / resident * constants.memory_latency
    edges = constants.launch + first_loads + epilogue_bytes(problem) / target.dram_bytes_s
    return Cost(tensor, shared, l2, dram, overlapped, busy - overlapped, latency, edges, total=busy + latency + edges)


def shared_clocks(problem: Problem, schedule: Schedule, constants: Constants = CONSTANTS) -> float:
    """Clocks of one SM's shared memory and L1, which are one memory, for one k step of one block.

    Every warp reads the fragments of its tile of A and B; both tiles are loaded through L1 and stored once. Copies also
    cost issue slots, which narrow vectors multiply.
    """
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
    instructions = (m * k * a + k * n * b) * 8 / schedule.vector / 32 * constants.copy_issue
    return (moved + loaded) / LINE + instructions / SCHEDULERS


@lru_cache
def bank_conflicts(stride: int) -> int:
    """How many times over ldmatrix reads eight rows of 16 bytes that lie `stride` bytes apart: 1 when they fall on
    different eighths of the 128 bytes of banks, 8 when all fall on the same. `stride` is a multiple of 16."""
    eighths = stride // BANK_GROUP % 8
    return (eighths & -eighths) or 8


@lru_cache
def store_conflicts(row: int, stride: int) -> int:
    """How many times over eight threads store 16 bytes each to rows of `row` bytes that lie `stride` bytes apart: 1
    for rows of 128 bytes or more, 2 for rows of 64 bytes padded to 80, the second partly on the banks of the first."""
    groups = max(1, row // BANK_GROUP)
    eighths = [(i // groups * (stride // BANK_GROUP) + i % groups) % 8 for i in range(8)]
    return max(map(eighths.count, eighths))


def warp_seconds(schedule: Schedule, target: Target, constants: Constants = CONSTANTS) -> float:
    """Seconds of one k step of a block for a warp that has the SM to itself: fragments, products, barriers."""
    _, _, k = schedule.block
    warp_m, warp_n, _ = schedule.warp
    products = 2 * warp_m * warp_n * INSTRUCTION_K * SCHEDULERS / target.tensor_flops_clock_sm
    clocks = k / INSTRUCTION_K * (constants.fragment + products)
    return clocks / target.clock_hz + barriers(schedule) * constants.barrier


def barriers(schedule: Schedule) -> int:
    """Barriers in a k step: two with one buffer, one with two."""
    return (1 if schedule.stages > 1 else 2) if schedule.promote else 0


def l2_bytes(problem: Problem, schedule: Schedule, constants: Constants = CONSTANTS) -> float:
    """Bytes that a block moves through L2: its rows of A, its columns of B, and without accumulation C in each step."""
    m, n, k = schedule.block
    moved: float = problem.k * (m * ELEMENT_BYTES[problem.a] + n * ELEMENT_BYTES[problem.b])
    if not schedule.promote:
        moved *= constants.unpromoted_l2
    if not schedule.accumulate:
        moved += problem.k // k * 2 * m * n * ELEMENT_BYTES[problem.acc]
    return moved


def dram_bytes(
    problem: Problem, schedule: Schedule, target: Target, resident: int, constants: Constants = CONSTANTS
) -> float:
    """Bytes of A and B that come from DRAM.

    Each once when both stay in L2. Otherwise every wave of resident blocks reads the rows of A and the columns of B
    that it covers; the raster decides what it covers.
    """
    bytes_a = problem.m * problem.k * ELEMENT_BYTES[problem.a]
    bytes_b = problem.k * problem.n * ELEMENT_BYTES[problem.b]
    if bytes_a + bytes_b <= constants.l2_share * target.l2_bytes:
        return bytes_a + bytes_b
    grid_m, grid_n = problem.m // schedule.block[0], problem.n // schedule.block[1]
    wave = min(target.sms * resident, grid_m * grid_n)
    rows = {"row": 1, "column": grid_m, "grouped": min(schedule.group, grid_m)}[schedule.raster]
    columns = min(grid_n, wave / rows)
    rows = min(grid_m, wave / columns)
    waves = grid_m * grid_n / wave
    read = waves * (rows / grid_m * bytes_a + columns / grid_n * bytes_b)
    return max(read, bytes_a + bytes_b)


def epilogue_bytes(problem: Problem) -> int:
    """Bytes of the result written, of C read, and of what the epilogue reads or writes beside them."""
    element = ELEMENT_BYTES[problem.out] * (2 if problem.reads_c else 1) + problem.extra_bytes
    return problem.m * problem.n * element


def _exposed(
    problem: Problem, schedule: Schedule, held: Occupancy, resident: int, step: float, constants: Constants
) -> float:
    """Seconds of memory latency that show in one k step of all resident blocks, which takes `step` without it.

    With prefetch the loads have the whole step, if they come early enough and L1 has lines for all of them: a warp
    whose load finds no line stands still in front of its products. Without prefetch a block waits for its loads while
    only the other resident blocks work, if those are not waiting too.
    """
    latency = constants.memory_latency
    if schedule.copy == "plain":
        return latency / resident**2
    in_flight = resident * tile_bytes(problem, schedule)
    share = max(0.0, 1 - held.l1 / in_flight) / resident
    if not schedule.early:
        share += constants.late[min(schedule.stages, 2) - 1]
    return max(0.0, latency - step) + share * latency
