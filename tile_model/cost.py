"""The cost of a schedule in seconds, from the chip's data: plain arithmetic, about ten microseconds a schedule. That
with `wgmma` stands in `group_cost`; what follows is that of the other operators.

The model takes the four rates at which a product can be limited (tensor cores or FMA, shared memory, L2, DRAM), lets
them overlap, and adds what does not overlap: the uneven last wave, latency that too few warps cannot hide, and the two
ends of a kernel. docs/tile-model.md explains each term.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target
from mlir_gemm.tile_model.clocks import (
    Constants,
    constants_of,
    copy_seconds,
    product_factor,
    shared_clocks,
    warp_seconds,
)
from mlir_gemm.tile_model.grid import blocks as blocks_of
from mlir_gemm.tile_model.grid import steps as steps_of
from mlir_gemm.tile_model.grid import tile_bytes
from mlir_gemm.tile_model.group_cost import estimate_group
from mlir_gemm.tile_model.layout import streamed
from mlir_gemm.tile_model.operators import flops_clock_sm
from mlir_gemm.tile_model.prediction import Prediction
from mlir_gemm.tile_model.resources import Occupancy, occupancy
from mlir_gemm.tile_model.traffic import dram_bytes, epilogue_bytes, l2_bytes


@dataclass(frozen=True, slots=True)
class Cost(Prediction):
    """Predicted seconds. The first four are the time of each resource alone at full rate; they overlap in
    `overlapped`. The total is `overlapped + waves + latency + edges`."""

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
        "edges": "launch, prologue, epilogue",
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
    """Latency of fragments, global loads and barriers that resident warps do not hide."""
    edges: float
    """Launch, first loads, and the epilogue's traffic."""


def estimate(problem: Problem, schedule: Schedule, target: Target) -> Prediction:
    """The predicted cost of a legal schedule. On an illegal one the figures mean nothing. Tiles that reach over an edge
    count whole."""
    if schedule.operator == "wgmma":
        return estimate_group(problem, schedule, target)
    return estimate_warps(problem, schedule, target, constants_of(schedule))


def estimate_warps(problem: Problem, schedule: Schedule, target: Target, constants: Constants) -> Cost:
    """The predicted cost of a schedule in which each warp multiplies for itself: every operator but `wgmma`."""
    m, n, k = schedule.block
    blocks, steps = blocks_of(problem, schedule), steps_of(problem, schedule)
    sm_blocks = -(-blocks // target.sms)
    held = occupancy(problem, schedule, target)
    resident = max(1, min(held.blocks, sm_blocks))
    even = blocks / target.sms
    spread = sm_blocks / even
    inside, outside = constants.inside, constants.outside

    products = 2 * even * steps * m * n * k * product_factor(problem, schedule, constants)
    tensor = products / (target.clock_hz * flops_clock_sm(schedule.operator, problem, target))
    shared = even * steps * shared_clocks(problem, schedule, constants) / target.clock_hz
    all_l2 = l2_bytes(problem, schedule)
    l2 = all_l2 / target.l2_bytes_s
    dram = dram_bytes(problem, schedule, target, resident) / target.dram_bytes_s

    work = tensor**inside + shared**inside
    overlapped = (work ** (outside / inside) + l2**outside + dram**outside) ** (1 / outside)
    # The fullest SM, which the others wait for.
    work *= spread**inside
    fullest_l2 = max(l2, sm_blocks * all_l2 / blocks / (constants.sm_l2_bytes_clock * target.clock_hz))
    beside = fullest_l2**outside + dram**outside
    busy = (work ** (outside / inside) + beside) ** (1 / outside)

    all_steps = sm_blocks / resident * steps
    work += (all_steps * warp_seconds(problem, schedule, target, constants)) ** inside
    paced = (work ** (outside / inside) + beside) ** (1 / outside)
    exposed = all_steps * _exposed(problem, schedule, held, resident, paced / all_steps, constants)
    latency = paced - busy + exposed
    # Persistent blocks fill the ring while they finish the tile before. Nothing hides the first copies.
    fills = 1 if schedule.persistent else sm_blocks / resident
    first = constants.memory_latency + copy_seconds(problem, schedule, target, constants)
    ends = fills * first + sm_blocks / resident * m * n * constants.store
    edges = constants.launch + ends + epilogue_bytes(problem) / target.dram_bytes_s
    return Cost(tensor, shared, l2, dram, overlapped, busy - overlapped, latency, edges, total=busy + latency + edges)


def _exposed(
    problem: Problem, schedule: Schedule, held: Occupancy, resident: int, step: float, constants: Constants
) -> float:
    """Seconds of memory latency that show in one k step of all resident blocks, which takes `step` without it.

    With prefetch the loads have the whole step, if they come early enough and L1 has lines for all of them: a warp
    whose load finds no line stands still in front of its products. Without prefetch a block waits for its loads while
    only the other resident blocks work, if those are not waiting too. Asynchronous copies have the k steps of all
    stages but the one in use, and hold no lines of L1; where vectors are too narrow for them, they wait as plain ones
    do.
    """
    latency = constants.memory_latency
    if schedule.copy in ("cp_async", "tma"):
        if streamed(problem, schedule):
            # Latencies vary, so that they show a little even where they are shorter than what should hide them.
            each, vary = latency / (schedule.stages - 1), constants.vary
            return (step**vary + each**vary) ** (1 / vary) - step
        return latency / resident**2
    if schedule.copy == "plain":
        return latency / resident**2
    in_flight = resident * tile_bytes(problem, schedule)
    share = max(0.0, 1 - held.l1 / in_flight) / resident
    if not schedule.early:
        share += constants.late[min(schedule.stages, 2) - 1]
    return max(0.0, latency - step) + share * latency
