"""The cost of a schedule of wgmma in seconds. docs/tile-model-costs.md explains each term;
`bench/fit_wgmma_cost.py` fits the constants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from mlir_gemm.parts.base import CostFamily
from mlir_gemm.parts.mma.wgmma.constants import WgmmaConstants
from mlir_gemm.parts.mma.wgmma.work import Work, work_of
from mlir_gemm.parts.prediction import Prediction
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target

HANDED = 15.0
"""Bytes a clock in which a block leaves partial sums in L2, or reads them. A guess, which no fit has
tested; the search proposes `stream_k` for narrow tiles alone, on chips whose clusters are slow."""
FEEDING = 32.0
"""Exponent of the norm of tensor cores and what shared memory takes where B is transposed there: the longer of the two.
Steps of 64x256, 128x128, 128x256 and 256x128 at 2048^3 take 1,211, 850, 1,615 and 1,424 clocks, for 1,152, 896, 1,536
and 1,408 of shared memory (H100, 2026-11-28-h100-byte-layouts-queued.json.xz; i8 and e4m3 alike)."""
BROUGHT, READ, APART = 64.0, 10.5, 1.35
"""Bytes a clock of what the epilogue adds: as lanes load it from where the copy engine has put it, and from global
memory, of which they wait for a few sectors at a time, to shared memory too; and how much longer that takes where one
warpgroup reads while the other multiplies, which hides none of it. 28 kernels of seven products in which the copy
engine brings it take 1.01 of what is predicted so in the median (0.78 to 1.16), 21 by lanes 0.98 (0.83 to 1.08; f16, k
from 64 to 4096, H100, `2026-11-28-h100-added.json.xz`). Of eight products of f32 that nobody had seen it is 1.12 and
1.08: `2026-11-28-h100-words.json.xz`."""
WARM = 2e-4
"""Seconds of a kernel from which the clock falls with time."""


@dataclass(frozen=True, slots=True)
class WgmmaCost(Prediction):
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

    @property
    def on_gpu(self) -> float:
        return self.total - self.launch


def estimate(problem: Problem, schedule: Schedule, target: Target) -> WgmmaCost:
    """The predicted cost of a legal schedule of wgmma."""
    return cost_of(work_of(problem, schedule, target), target, target.constants(WgmmaConstants))


def cost_of(work: Work, target: Target, constants: WgmmaConstants) -> WgmmaCost:
    """The predicted cost of some work. Arithmetic only, so that it also works on arrays."""
    x, clock = constants, target.clock_hz
    twice_a, twice_b = 1 + (x.odd - 1) * work.odd_a, 1 + (x.odd - 1) * work.odd_b
    shared = work.reads + x.write * work.writes
    fed = norm(FEEDING, work.tensor, work.crowded)
    thin_a, thin_b = 1 + (x.thin - 1) * work.thin_a, 1 + (x.thin - 1) * work.thin_b
    copies = x.row * (work.rows_a * twice_a * thin_a + work.rows_b * twice_b * thin_b)
    merged_a, merged_b = (norm(4.0, 1.0, readers / x.apart) - 1 for readers in (work.readers_a, work.readers_b))
    same = 1 - x.parted * work.splits
    apart_a, apart_b = 1 + merged_a * (1 - work.odd_a) * same, 1 + merged_b * (1 - work.odd_b) * same
    l2 = (work.bytes_a / apart_a + work.bytes_b / apart_b) * work.active / x.l2
    outside = work.outside * work.active / x.outside
    latency = x.latency / (work.stages - x.held)
    step = norm(x.inside, fed, shared, copies, l2, outside, latency, x.chain)
    step = step + x.sync / work.groups + x.cluster * work.clustered * work.panels
    tiles = work.rounds - x.ragged * (work.rounds - work.mean)
    each = tiles * work.steps / clock

    stored = work.staged * (1 + x.narrow * work.narrow) / x.staged + work.by_rows / x.by_rows
    stored = stored + (work.direct + x.guarded * work.guarded) / x.direct
    stored = stored + work.arithmetic / x.issued + work.brought / BROUGHT
    read = work.read / READ
    ended = x.tile + stored + read + work.splits * (x.split + work.parts / x.parts)
    # The end of the last tile is never hidden.
    step = step * (1 - (1 - x.turned) * work.hidden)
    steps, epilogue = each * step, (tiles - (tiles - 1) * work.hidden) * ended / clock
    epilogue = epilogue + work.handed / HANDED / clock + (tiles - 1) * work.hidden * APART * read / clock
    # All blocks end their last tiles at the same time: nothing else hides that.
    busy, last = steps + epilogue, ended / clock
    written = work.result * (1 + (x.torn - 1) * work.odd_d) / (x.taken * clock)
    streamed = norm(x.memory, busy - last, work.dram / (x.dram * target.dram_bytes_s), written) + last
    # What the copy engine brings for the first tile goes before the ring's first stages.
    ends = (x.fill * (1 - (1 - x.overlap) * work.alone + work.again) + x.form * work.clustered) / clock
    ends = ends + work.brought / BROUGHT / clock
    free = streamed + ends
    # While an epilogue computes, tensor cores wait: that time adds to what the power limit allows them.
    waiting = (tiles - (tiles - 1) * work.hidden) * work.arithmetic / x.issued / clock
    drawing = work.useful / (1 + (x.integers - 1) * work.integers)
    cooled = drawing / (x.power * clock) * (1 + free / WARM) ** x.heat + waiting
    limited = free * norm(x.limit, 1.0, cooled / free) ** x.bend
    total = norm(x.issue, limited, x.launch)
    busiest = norm(FEEDING, shared, work.crowded)
    return WgmmaCost(
        each * work.tensor, each * busiest, each * copies, each * l2, each * outside, each * latency, steps, epilogue,
        memory=streamed - busy, ends=ends, power=limited - free, launch=total - limited, total=total,
    )  # fmt: skip


def norm(exponent: float, *times: float) -> float:
    """The times of things that overlap, together: the largest when one dominates, more when several are close."""
    total = 0.0
    for time in times:
        total = total + time**exponent
    return total ** (1 / exponent)


FAMILY = CostFamily(estimate)
