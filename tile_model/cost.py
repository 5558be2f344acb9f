"""The cost of a schedule in seconds, from the chip's data: plain arithmetic, a few microseconds a schedule.

The model takes the four rates at which a product can be limited (tensor cores, shared memory, L2, DRAM), lets them
overlap, and adds what does not overlap: the uneven last wave, latency that too few warps cannot hide, and the two ends
of a kernel. docs/tile-model.md explains each term. What comes from fitting rather than from a chip's data stands in
`Constants`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from mlir_gemm.pipeline.problem import ELEMENT_BYTES, Problem
from mlir_gemm.pipeline.schedule import Schedule
from mlir_gemm.pipeline.target import Target
from mlir_gemm.tile_model.resources import occupancy

SMEM_BYTES_CLOCK = 128
"""Shared-memory bytes an SM moves in one clock: 32 banks of 4 bytes (CUDA programming guide)."""
BANK_GROUP = 16
"""Bytes of one row of an 8x8 matrix, which ldmatrix reads eight of at a time, one from each eighth of the banks."""
SCHEDULERS = 4
"""Warp schedulers, each with a tensor core, in one SM."""
LATENCY_WARPS_POWER = 1.5
"""How fast more warps hide latency; between none (1) and all of it (2 or more)."""


@dataclass(frozen=True)
class Constants:
    """What the model fits. Fitted to the H200's WMMA products of 4096^3 and 8192^3 (see docs/tile-model.md)."""

    memory_latency: float = 4.2e-7
    """Seconds from a global load to its data."""
    barrier: float = 4.0e-8
    """Seconds that a block stands still at one barrier."""
    step: float = 4.0e-8
    """Seconds that the loop around a block tile costs an SM in each step of each block, beside the work itself."""
    lone_warp: float = 1.2
    """Time lost waiting for fragments when each scheduler has one warp, as a share of the busy time; it falls with
    the number of warps to the power `LATENCY_WARPS_POWER`."""
    launch: float = 2.0e-6
    """Seconds to start and to end a kernel."""
    sm_l2_bytes_clock: float = 64.0
    """Bytes that one SM can take from L2 in one clock."""
    copy_issue: float = 1.5
    """Instructions issued for each vector copied, addresses and guards included."""
    rolled: float = 1.3
    """Factor on tensor time without unrolling."""
    unpromoted_shared: float = 4.0
    """Factor on fragment loads that come through L1 instead of shared memory: rows of 32 bytes, one sector each."""
    unpromoted_l2: float = 2.0
    """Factor on L2 traffic without shared memory: L1 does not keep all of a block's tiles."""
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
    """Shared memory: fragments read (with bank conflicts) and tiles written, and the instructions that copy."""
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
    resident = max(1, min(occupancy(problem, schedule, target).blocks, sm_blocks))
    even = blocks / target.sms
    spread = sm_blocks / even

    tensor = problem.flops / (target.sms * target.clock_hz * target.tensor_flops_clock_sm)
    if not schedule.unroll:
        tensor *= constants.rolled
    shared = even * steps * shared_clocks(problem, schedule, constants) / target.clock_hz
    block_l2 = l2_bytes(problem, schedule, constants)
    l2 = blocks * block_l2 / target.l2_bytes_s
    dram = dram_bytes(problem, schedule, target, resident, constants) / target.dram_bytes_s

    overlapped = _overlap(tensor, shared, l2, dram)
    fullest_l2 = max(l2, sm_blocks * block_l2 / (constants.sm_l2_bytes_clock * target.clock_hz))
    busy = _overlap(tensor * spread, shared * spread, fullest_l2, dram)

    scheduler_warps = resident * schedule.warps / SCHEDULERS
    compute = _overlap(tensor * spread, shared * spread, 0.0, 0.0)
    latency = compute * constants.lone_warp / scheduler_warps**LATENCY_WARPS_POWER
    rounds = sm_blocks / resident
    latency += rounds * steps * _exposed(schedule, resident, busy / (rounds * steps), constants)
    latency += sm_blocks * steps * constants.step
    edges = constants.launch + rounds * constants.memory_latency + epilogue_bytes(problem) / target.dram_bytes_s
    return Cost(tensor, shared, l2, dram, overlapped, busy - overlapped, latency, edges, total=busy + latency + edges)


def shared_clocks(problem: Problem, schedule: Schedule, constants: Constants = CONSTANTS) -> float:
    """Clocks of one SM's shared memory for one k step of one block.

    Every warp reads the fragments of its tile of A and B; the block writes both tiles once. Copies also cost
    issue slots, which narrow vectors multiply.
    """
    m, n, k = schedule.block
    warp_m, warp_n, _ = schedule.warp
    read_a = m * k * (n // warp_n) * ELEMENT_BYTES[problem.a]
    read_b = k * n * (m // warp_m) * ELEMENT_BYTES[problem.b]
    if not schedule.promote:
        return (read_a + read_b) * constants.unpromoted_shared / SMEM_BYTES_CLOCK
    read_a *= bank_conflicts((k + schedule.pad) * ELEMENT_BYTES[problem.a])
    read_b *= bank_conflicts((n + schedule.pad) * ELEMENT_BYTES[problem.b])
    written = m * k * ELEMENT_BYTES[problem.a] + k * n * ELEMENT_BYTES[problem.b]
    instructions = written * 8 / schedule.vector / 32 * constants.copy_issue
    return (read_a + read_b + written) / SMEM_BYTES_CLOCK + instructions / SCHEDULERS


def bank_conflicts(stride: int) -> int:
    """How many times over ldmatrix reads eight rows of 16 bytes that lie `stride` bytes apart: 1 when they fall on
    different eighths of the 128 bytes of banks, 8 when all fall on the same. `stride` is a multiple of 16."""
    eighths = stride // BANK_GROUP % 8
    return (eighths & -eighths) or 8


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


def _overlap(tensor: float, shared: float, l2: float, dram: float) -> float:
    """The time of four resources that work at the same time but not perfectly so: the norm with exponent 4, which is
    the largest when one dominates and 1.4 times it when all four are equal."""
    tensor, shared, l2, dram = tensor * tensor, shared * shared, l2 * l2, dram * dram
    return sqrt(sqrt(tensor * tensor + shared * shared + l2 * l2 + dram * dram))


def _exposed(schedule: Schedule, resident: int, busy_step: float, constants: Constants) -> float:
    """Seconds of latency that show in one k step of all resident blocks, whose work takes `busy_step`.

    Without prefetch a block waits for its loads while only the other resident blocks work; with it the loads have the
    whole step. One buffer needs two barriers a step, two buffers one.
    """
    barriers = (1 if schedule.stages > 1 else 2) if schedule.promote else 0
    if schedule.copy == "prefetch":
        memory = max(0.0, constants.memory_latency - busy_step)
    else:
        memory = constants.memory_latency / resident
    return memory + barriers * constants.barrier / resident
