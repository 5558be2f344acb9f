"""The cost in seconds of a schedule with a warp-level mma, from the chip's data: plain arithmetic, about ten
microseconds a schedule.

The model takes the four rates at which a product can be limited (tensor cores or FMA, shared memory, L2, DRAM), lets
them overlap, and adds what does not overlap: the uneven last wave, latency that too few warps cannot hide, and the two
ends of a kernel. docs/tile-model-costs.md explains each term.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from mlir_gemm.parts.base import CostFamily
from mlir_gemm.parts.grid import blocks as blocks_of
from mlir_gemm.parts.grid import k_share, stores
from mlir_gemm.parts.grid import steps as steps_of
from mlir_gemm.parts.layout import loaded_bytes, staged, streamed
from mlir_gemm.parts.prediction import Prediction
from mlir_gemm.parts.registry import mainloop_of, mma_of
from mlir_gemm.parts.resources import Occupancy, occupancy
from mlir_gemm.parts.traffic import dram_bytes, epilogue_bytes, l2_bytes
from mlir_gemm.parts.warp_level.clocks import (
    UNPAIRED,
    are_unpaired,
    chain_seconds,
    copy_seconds,
    product_factor,
    shared_clocks,
    staged_seconds,
)
from mlir_gemm.parts.warp_level.code import fetch_clocks
from mlir_gemm.parts.warp_level.constants import Constants, FragmentConstants, LaneConstants
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target

START = 1e-6
"""Seconds from the end of a kernel to the first loads of the next one in a graph, where nobody waits for the host: what
27 products by `mma_sync` of up to 12 us on an H200 take beyond the other terms, in the median (0.2 to 1.7;
`2026-11-24-h200-spaces.jsonl.xz`, `2026-11-27-h200-spaces.jsonl.xz`)."""
STREAMED = 1.3
"""Times as long as at DRAM's rate that cp.async takes for slices of a long k, whose rows lie far apart: 104 schedules
of 8 products take 1.20 to 1.81 of what was predicted without this, 65 of 5 with the copy engine, which asks for more
of a row at once, 0.96 to 1.23 (medians; H200, H100: `2026-11-24-h200-spaces.jsonl.xz`,
`2026-11-27-h200-spaces.jsonl.xz`, `2026-11-28-h100-seed-33-spaces.jsonl.xz`). With 1.15 to 1.5 the same are chosen."""


@dataclass(frozen=True, slots=True)
class Cost(Prediction):
    """Predicted seconds. The first four are the time of each resource alone at full rate; they overlap in
    `overlapped`. The total is `overlapped + waves + latency + edges + launch`."""

    OVERLAPPING: ClassVar[Mapping[str, str]] = {
        "tensor": "tensor cores or FMA",
        "shared": "shared memory and copies",
        "l2": "L2",
        "dram": "DRAM",
    }
    ADDITIVE: ClassVar[Mapping[str, str]] = {
        "overlapped": "the four overlapped",
        "waves": "uneven last wave",
        "latency": "latency and barriers",
        "edges": "prologue, epilogue",
        "launch": "launch from the host",
    }

    tensor: float
    """Products: tensor cores, or FMA."""
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
    """Latency of fragments, global loads and barriers that resident warps do not hide, and instructions that do not fit
    in their cache."""
    edges: float
    """The start of a kernel after another one, first loads, and the epilogue's traffic."""
    launch: float
    """What a launch from the host takes beyond that."""

    @property
    def on_gpu(self) -> float:
        return self.total - self.launch


def family(cls: type[Constants]) -> CostFamily:
    """This formula with the constants of a class."""

    def seconds(problem: Problem, schedule: Schedule, target: Target) -> Cost:
        return estimate(problem, schedule, target, target.constants(cls))

    return CostFamily(seconds)


FRAGMENTS, LANES = family(FragmentConstants), family(LaneConstants)


def estimate(problem: Problem, schedule: Schedule, target: Target, constants: Constants) -> Cost:
    """The predicted cost of a legal schedule. On an illegal one the figures mean nothing. Tiles that reach over an edge
    count whole."""
    m, n, k = schedule.block
    blocks, walked = blocks_of(problem, schedule), schedule.tiles_per_block
    sm_blocks = walked * -(-blocks // (walked * target.sms))
    steps = steps_of(problem, schedule) * max(k_share(problem, schedule), 1 / sm_blocks)  # one tile may walk all
    held = occupancy(problem, schedule, target)
    resident = max(1, min(held.blocks, sm_blocks // walked))
    even = blocks / target.sms
    spread = sm_blocks / even
    inside, outside = constants.inside, constants.outside

    products = 2 * even * steps * m * n * k * product_factor(problem, schedule, constants)
    tensor = products / (target.clock_hz * mma_of(schedule).rate(problem, target))
    shared = even * steps * shared_clocks(problem, schedule, constants) / target.clock_hz
    all_l2 = l2_bytes(problem, schedule)
    l2 = all_l2 / target.l2_bytes_s
    dram = dram_bytes(problem, schedule, target, resident) / target.dram_bytes_s
    if schedule.split_k_workspace > 1 and not mainloop_of(schedule).producer and streamed(problem, schedule):
        dram *= STREAMED

    work = tensor**inside + shared**inside
    overlapped = (work ** (outside / inside) + l2**outside + dram**outside) ** (1 / outside)
    # The fullest SM, which the others wait for.
    work *= spread**inside
    fullest_l2 = max(l2, sm_blocks * all_l2 / blocks / (constants.sm_l2_bytes_clock * target.clock_hz))
    beside = fullest_l2**outside + dram**outside
    busy = (work ** (outside / inside) + beside) ** (1 / outside)

    all_steps = sm_blocks / resident * steps
    work += (all_steps * chain_seconds(problem, schedule, target, constants)) ** inside
    paced = (work ** (outside / inside) + beside) ** (1 / outside)
    exposed = all_steps * _exposed(problem, schedule, held, resident, paced / all_steps, constants)
    fetched = sm_blocks * steps * fetch_clocks(problem, schedule, target) / target.clock_hz
    latency = paced - busy + exposed + fetched
    # Blocks that walk tiles fill the ring while they finish the tile before. Nothing hides the first copies.
    fills = 1 if schedule.persistent else sm_blocks / resident
    if walked > 1 and mainloop_of(schedule).producer:
        fills /= walked
    first = constants.memory_latency + copy_seconds(problem, schedule, target, constants)
    stored = m * n * constants.store * stores(schedule)
    if not schedule.promote_result and are_unpaired(problem, schedule):
        stored *= UNPAIRED
    ends = fills * first + sm_blocks / resident * stored
    if schedule.promote_c or schedule.promote_result:
        ends += sm_blocks / resident * staged_seconds(problem, schedule, target, constants)
    edges = START + ends + epilogue_bytes(problem) / target.dram_bytes_s
    launch = constants.launch - START
    total = busy + latency + edges + launch
    return Cost(tensor, shared, l2, dram, overlapped, busy - overlapped, latency, edges, launch, total=total)


def _exposed(
    problem: Problem, schedule: Schedule, held: Occupancy, resident: int, step: float, constants: Constants
) -> float:
    """Seconds of memory latency that show in one k step of all resident blocks, which takes `step` without it.

    With prefetch the loads have the whole step, if they come early enough and L1 has lines for all of them: a warp
    whose load finds no line stalls before its products. Without prefetch a block waits for its loads while
    only the other resident blocks work, if those are not waiting too. Asynchronous copies have the k steps of all
    stages but the one in use, and hold no lines of L1; where vectors are too narrow for them, they wait as plain ones
    do. Where one operand is loaded ahead and the other copied, the longer wait shows. What a warp reads of an operand
    that lies in global memory it waits for, as a block without prefetch does; copies of the other arrive meanwhile.
    """
    if len(staged(schedule)) == 1:
        both = schedule.replace(promote_a=True, promote_b=True)
        waiting = constants.memory_latency / resident**2
        return waiting + _exposed(problem, both, held, resident, step + waiting, constants)
    latency = constants.memory_latency
    mainloop = mainloop_of(schedule)
    if mainloop.asynchronous and (mainloop.in_registers or streamed(problem, schedule)):
        # Latencies vary, so that they show a little even where they are shorter than what should hide them.
        each, vary = latency / (schedule.stages - 1), constants.vary
        copied_late = (step**vary + each**vary) ** (1 / vary) - step
        if not mainloop.in_registers:
            return copied_late
        return max(copied_late, _loaded_late(problem, schedule, held, resident, step, constants))
    if not mainloop.in_registers:
        return latency / resident**2
    return _loaded_late(problem, schedule, held, resident, step, constants)


def _loaded_late(
    problem: Problem, schedule: Schedule, held: Occupancy, resident: int, step: float, constants: Constants
) -> float:
    """The same of loads into registers a step ahead."""
    latency = constants.memory_latency
    in_flight = resident * loaded_bytes(problem, schedule)
    share = max(0.0, 1 - held.l1 / in_flight) / resident
    if not schedule.early:
        share += constants.late[min(schedule.stages, 2) - 1]
    return max(0.0, latency - step) + share * latency
