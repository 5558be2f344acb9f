"""The cost of a schedule of `wgmma` in seconds. docs/tile-model.md explains each term; `bench/fit_group_cost.py` fits
the constants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target
from mlir_gemm.tile_model.group_work import GroupWork, group_work
from mlir_gemm.tile_model.prediction import Prediction


@dataclass(frozen=True)
class GroupConstants:
    """What is fitted: to 7,281 kernels of random sizes, of sizes of the list and of parts of k, in f16 and bf16, A and
    B in all orders, on an H200 (2026-11-22; docs/tile-model.md says how). Times inside an SM are clocks at the chip's
    `clock_hz`."""

    write: float = 0.2
    """Part of the clocks of writing shared memory that tensor cores wait for."""
    row: float = 1.2
    """Clocks of the copy engine for a row of 128 bytes: 107 bytes a clock and SM."""
    odd: float = 1.62
    """How much longer a row takes that begins elsewhere than at a line of 128 bytes."""
    thin: float = 1.23
    """How much longer one takes of 64 or 32 bytes than one of 128."""
    outside: float = 3.93
    """Rows outside an operand that all SMs together pass in one clock."""
    l2: float = 4550.0
    """Bytes that L2 gives all SMs in one clock."""
    apart: float = 1.65
    """Readers of the same lines that L2 serves one by one; the requests of more become one."""
    parted: float = 0.9
    """Part of that which blocks that share the steps of tiles lose: they read different steps."""
    latency: float = 1740.0
    """Clocks from a copy's start to its data; the stages that are not being multiplied hide it."""
    held: float = 1.3
    """Stages that are being multiplied."""
    chain: float = 210.0
    """Clocks that a step takes at least."""
    sync: float = 0.407
    """Clocks of a step in which a warpgroup does not multiply; two cover for each other."""
    cluster: float = 57.0
    """Further ones with clusters, for each row of 128 bytes of k: a stage is free only when both blocks say so."""
    inside: float = 5.44
    """Exponent of the norm that overlaps the parts of a step."""
    tile: float = 642.0
    """Clocks of a tile's end that are hidden behind nothing."""
    staged: float = 76.8
    """Bytes of results a clock through shared memory."""
    narrow: float = 0.566
    """How much longer rows of 64 bytes take than half as many of 128; of 32 three times that."""
    by_rows: float = 25.0
    """Bytes of results a clock that lanes store in whole vectors, through shared memory, and in parts at the ends."""
    direct: float = 7.87
    """Bytes a clock that threads store or load themselves."""
    issued: float = 2.8
    """Instructions of the epilogue that an SM issues in a clock: 27 an element took 25 us at 4096 x 4096."""
    turned: float = 0.967
    """Factor on the k steps of tiles taken by turns, which nothing between tiles holds up: measured at 4096, 8192."""
    guarded: float = 0.378
    """Part by which tests of the edge make those longer."""
    parts: float = 10.8
    """Bytes a clock of partial sums from other blocks."""
    split: float = 1110.0
    """Clocks of the two barriers of a cluster that shares a tile."""
    ragged: float = 0.0231
    """Part of the idle time in the last wave that is not lost: the SMs still at work are faster then."""
    memory: float = 4.0
    """Exponent of the norm that overlaps the SMs with DRAM."""
    dram: float = 1.05
    """Part of the chip's DRAM rate that is reached."""
    taken: float = 2390.0
    """Bytes of a result that L2 takes in one clock from all SMs."""
    torn: float = 2.09
    """How much longer that takes where its rows begin between lines of 128 bytes."""
    fill: float = 2080.0
    """Clocks from a kernel's start to its first product."""
    overlap: float = 0.956
    """Part of them that shows when the next kernel finds free SMs to start on."""
    form: float = 724.0
    """Clocks more with clusters."""
    power: float = 0.611
    """Tensor cores that are busy all the time would be held at this part of the clock by the power limit ..."""
    heat: float = 0.08
    """... and at less the longer it lasts: exponent of the time over 200 us."""
    limit: float = 10.1
    """Exponent of the norm of this limit with all others."""
    bend: float = 0.371
    """How much of what goes beyond the limit the clock loses: power falls faster, since the voltage does too."""
    launch: float = 6e-06
    """Seconds after which a program in Python starts the next kernel."""
    issue: float = 6.0
    """Exponent of the norm of the launches with the kernel's own time."""


CONSTANTS = GroupConstants()
HANDED = 32.0
"""Bytes a clock in which a block leaves partial sums in L2, or reads them. A guess, which no fit has
tested; the search proposes no `stream`."""
WARM = 2e-4
"""Seconds of a kernel from which the clock falls with time."""


@dataclass(frozen=True, slots=True)
class GroupCost(Prediction):
    """Predicted seconds of a schedule of `wgmma`."""

    OVERLAPPING: ClassVar[Mapping[str, str]] = {
        "tensor": "tensor cores",
        "shared": "shared memory",
        "copies": "copy engine",
        "l2": "L2",
        "outside": "rows outside",
        "latency": "latency of copies",
    }
    ADDITIVE: ClassVar[Mapping[str, str]] = {
        "steps": "the k steps, overlapped",
        "epilogue": "epilogue, partial sums",
        "memory": "DRAM and results, beyond",
        "ends": "first loads, clusters",
        "power": "power limit",
        "launch": "launch from the host",
    }

    tensor: float
    """Products at the full rate."""
    shared: float
    """Shared memory: operands read by the tensor cores, tiles written by the copies."""
    copies: float
    """Rows through the copy engine of an SM."""
    l2: float
    outside: float
    """Rows of boxes that lie outside an operand."""
    latency: float
    """What too few stages do not hide."""
    steps: float
    """The k steps of the SM with most tiles: the six together, and what does not overlap in a step."""
    epilogue: float
    memory: float
    """What DRAM adds to these."""
    ends: float
    power: float
    """What the power limit adds to all of these."""
    launch: float
    """What the host's launches add: small kernels wait for them."""


def estimate_group(
    problem: Problem, schedule: Schedule, target: Target, constants: GroupConstants = CONSTANTS
) -> GroupCost:
    """The predicted cost of a legal schedule of `wgmma`."""
    return group_cost(group_work(problem, schedule, target), target, constants)


def group_cost(work: GroupWork, target: Target, constants: GroupConstants = CONSTANTS) -> GroupCost:
    """The predicted cost of some work. Only arithmetic, so that it also works on arrays of it."""
    x, clock = constants, target.clock_hz
    twice_a, twice_b = 1 + (x.odd - 1) * work.odd_a, 1 + (x.odd - 1) * work.odd_b
    shared = work.reads + x.write * work.writes
    thin_a, thin_b = 1 + (x.thin - 1) * work.thin_a, 1 + (x.thin - 1) * work.thin_b
    copies = x.row * (work.rows_a * twice_a * thin_a + work.rows_b * twice_b * thin_b)
    merged_a, merged_b = (norm(4.0, 1.0, readers / x.apart) - 1 for readers in (work.readers_a, work.readers_b))
    same = 1 - x.parted * work.splits
    apart_a, apart_b = 1 + merged_a * (1 - work.odd_a) * same, 1 + merged_b * (1 - work.odd_b) * same
    l2 = (work.bytes_a / apart_a + work.bytes_b / apart_b) * work.active / x.l2
    outside = work.outside * work.active / x.outside
    latency = x.latency / (work.stages - x.held)
    step = norm(x.inside, work.tensor, shared, copies, l2, outside, latency, x.chain)
    step = step + x.sync / work.groups + x.cluster * work.clustered * work.panels
    tiles = work.rounds - x.ragged * (work.rounds - work.mean)
    each = tiles * work.steps / clock

    stored = work.staged * (1 + x.narrow * work.narrow) / x.staged + work.by_rows / x.by_rows
    stored = stored + (work.direct + x.guarded * work.guarded) / x.direct
    stored = stored + work.arithmetic / x.issued
    ended = x.tile + stored + work.splits * (x.split + work.parts / x.parts)
    # The last tile's end is never hidden.
    step = step * (1 - (1 - x.turned) * work.hidden)
    steps, epilogue = each * step, (tiles - (tiles - 1) * work.hidden) * ended / clock
    epilogue = epilogue + work.handed / HANDED / clock
    # All blocks end their last tiles at the same time: nothing else hides that.
    busy, last = steps + epilogue, ended / clock
    written = work.result * (1 + (x.torn - 1) * work.odd_d) / (x.taken * clock)
    streamed = norm(x.memory, busy - last, work.dram / (x.dram * target.dram_bytes_s), written) + last
    ends = (x.fill * (1 - (1 - x.overlap) * work.alone) + x.form * work.clustered) / clock
    free = streamed + ends
    # While an epilogue computes, tensor cores wait: that time adds to what the power limit allows them.
    waiting = (tiles - (tiles - 1) * work.hidden) * work.arithmetic / x.issued / clock
    cooled = work.useful / (x.power * clock) * (1 + free / WARM) ** x.heat + waiting
    limited = free * norm(x.limit, 1.0, cooled / free) ** x.bend
    total = norm(x.issue, limited, x.launch)
    return GroupCost(
        each * work.tensor, each * shared, each * copies, each * l2, each * outside, each * latency, steps, epilogue,
        memory=streamed - busy, ends=ends, power=limited - free, launch=total - limited, total=total,
    )  # fmt: skip


def norm(exponent: float, *times: float) -> float:
    """The times of things that overlap, together: the largest when one dominates, more when several are close."""
    total = 0.0
    for time in times:
        total = total + time**exponent
    return total ** (1 / exponent)
