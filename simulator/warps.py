"""Warps, blocks and clusters: state, clocks, barriers, and the scheduler that runs warps in turn until each blocks or
ends."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mlir_gemm.simulator.agents import Agents
from mlir_gemm.simulator.elements import LANES
from mlir_gemm.simulator.memory import Buffer
from mlir_gemm.simulator.shadow import LANE_BITS

Run = Generator["Wait", None, None]


class Stop(Exception):  # noqa: N818
    """The run ends here; why is in the report. No error: the way out of a run that cannot go on."""


@dataclass(slots=True)
class Wait:
    """What a warp that cannot go on waits for."""

    info: Any
    """The operation."""
    ready: Callable[[], bool]
    what: Callable[[], str]
    barrier: Barrier | None = None


@dataclass
class Barrier:
    """A barrier of `expected` threads: who is there, and how often it opened."""

    name: str
    expected: int
    opened: int = 0
    arrived: list[tuple[Warp, Any]] = field(default_factory=list["tuple[Warp, Any]"])
    """The warps that are there, and the operation that brought each."""

    @property
    def threads(self) -> int:
        """Threads that have arrived."""
        return sum(warp.threads for warp, _ in self.arrived)

    def open(self) -> None:
        """Lets everyone through: what each did before is ordered before what each does next."""
        warps = [warp for warp, _ in self.arrived]
        seen = np.max([warp.seen for warp in warps], axis=0)
        latest = max(warp.clock for warp in warps)
        seen[[warp.index for warp in warps]] = latest
        for warp in warps:
            warp.seen[:] = seen
            warp.clock = latest + 1
            warp.seen_least = int(seen.min())
        self.arrived.clear()
        self.opened += 1

    def __str__(self) -> str:
        return f"{self.name} ({self.threads} of {self.expected} threads are there)"


class Warp:
    """32 lanes that run in step, and the values they hold."""

    __slots__ = (
        "accesses", "at_cluster", "block", "clock", "code", "committed", "copies", "fences", "flags", "groups",
        "index", "lanes", "learnt", "left_cluster", "mask", "multiplied", "number", "polled", "reading", "run",
        "seen", "seen_least", "slots", "start_mask", "steps", "stored", "stores", "storing", "threads", "unfenced",
        "wait", "waited",
    )  # fmt: skip

    def __init__(self, block: Block, number: int, clock: int):
        self.block = block
        agents = block.cluster.agents
        self.number = number
        self.index = block.rank * agents.warps + number
        """Its number in the cluster."""
        self.code = self.index << LANE_BITS
        self.slots: list[Any] = []
        self.lanes = np.arange(number * LANES, (number + 1) * LANES, dtype=np.int64)
        """Linear numbers of the threads in the block."""
        threads = block.size[0] * block.size[1] * block.size[2]
        self.threads = min(LANES, threads - number * LANES)
        self.start_mask = None if self.threads == LANES else self.lanes < threads
        self.mask: Any = self.start_mask
        """The lanes that are active, None for all."""
        self.clock = clock
        self.seen = np.full(agents.size, clock - 1, np.int64)
        self.seen_least = clock - 1
        self.steps = 0
        self.wait: Wait | None = None
        self.run: Run | None = None
        self.copies: list[Any] = []
        self.groups: deque[list[Any]] = deque()
        """Asynchronous copies: those of the group that is open, and the groups in flight."""
        self.unfenced: Any = False
        """The lanes that wrote to shared memory since their last proxy fence."""
        self.fences = self.accesses = 0
        """How many wgmma.fence it ran, and how many of them before it last touched registers of a product."""
        self.committed = self.waited = 0
        """Groups of wgmma that it committed, and how many of them are known to be done."""
        self.multiplied = 0
        """The last of these groups, or the one after them, that has a product."""
        self.reading: dict[int, tuple[Any, int]] = {}
        """By slot: the words of A that a product took from there, and its group."""
        self.stores = self.stored = 0
        """The same for groups of bulk stores."""
        self.storing = False
        """Whether there are bulk stores in no committed group."""
        self.learnt: dict[int, Any] = {}
        """By the number of another cluster: what it knows of it, a clock."""
        self.flags: dict[Any, int] = {}
        """When it last waited for flags that are up: by memory and byte. By operations that load words: how often any
        was written before it last ran them."""
        self.polled: Any = None
        """The flag, by memory and byte, that it found down when it last loaded one."""
        self.at_cluster = 0
        """How often it arrived at the cluster's barrier."""
        self.left_cluster = 0
        """For which of these times it waited last."""

    def sync(self) -> None:
        """A barrier of the warp's own lanes."""
        self.seen[self.index] = self.clock
        self.clock += 1
        self.seen_least = int(self.seen.min())

    def release(self) -> Any:
        """A clock: what is ordered before everything that acquires it."""
        known = self.seen.copy()
        known[self.index] = self.clock
        self.clock += 1
        return known

    def acquire(self, known: Any) -> None:
        """Orders what a clock knows before all that follows here."""
        mine = self.seen[self.index]
        np.maximum(self.seen, known, out=self.seen)
        self.seen[self.index] = mine  # lanes are ordered among each other by barriers alone
        self.seen_least = int(self.seen.min())

    def learn_done(self, agent: int, count: int) -> None:
        """Learns that the first `count` groups of an agent of this warp are done."""
        self.seen[agent] = max(int(self.seen[agent]), self.block.cluster.start + count)

    @property
    def diverged(self) -> bool:
        """Whether some of the warp's threads are switched off."""
        return self.mask is not self.start_mask and not (
            self.start_mask is not None and np.array_equal(self.mask, self.start_mask)
        )


class Block:
    """One thread block."""

    def __init__(self, number: int, grid: tuple[int, ...], size: tuple[int, ...]):
        self.number = number
        self.grid = grid
        self.size = size
        self.id = (number % grid[0], number // grid[0] % grid[1], number // (grid[0] * grid[1]))
        self.thread_count = size[0] * size[1] * size[2]
        self.warp_count = -(-self.thread_count // LANES)
        self.shared: dict[str, Buffer] = {}
        self.barriers: dict[int, Barrier] = {}
        self.warps: list[Warp] = []
        self.rank = 0
        """Its number in the cluster."""
        self.cluster = Cluster([self], (1, 1, 1))
        self.mbarriers: dict[int, Any] = {}
        """By their addresses in the block's shared memory."""
        self.touched: dict[int, int] = {}
        """When warps of other blocks last touched its memory, by their numbers in the cluster."""
        self.products: dict[int, Any] = {}
        """What the warps of each warpgroup are about to multiply."""
        self.registers: dict[int, dict[int, list[int]]] = {}
        """By warpgroup and warp, to what it changed its number of registers."""

    @property
    def ended(self) -> bool:
        """Whether all its warps have ended."""
        return all(warp.run is None for warp in self.warps)

    def barrier(self, number: int, expected: int) -> Barrier:
        """The barrier of this number."""
        found = self.barriers.get(number)
        if found is None or (not found.arrived and found.expected != expected):
            found = self.barriers[number] = Barrier(f"barrier {number}", expected, found.opened if found else 0)
        return found

    def arrive(self, warp: Warp, info: Any, number: int = 0, expected: int = 0) -> tuple[Barrier, int]:
        """A warp comes to a barrier, which opens when all are there. Gives the barrier and when it came."""
        expected = expected or self.thread_count
        barrier = self.barrier(number, expected)
        if barrier.expected != expected:
            message = f"expects {expected} threads of {barrier.name}; others expect {barrier.expected}"
            info.find("divergent-barrier", warp, -1, "", message)
        at = barrier.opened
        barrier.arrived.append((warp, info))
        if barrier.threads >= barrier.expected:
            places = list({info.location: info for _, info in barrier.arrived}.values())
            if len(places) > 1 and number == 0:
                others = ", ".join(f"{other.operation} at {other.location}" for other in places[1:])
                places[0].find("divergent-barrier", warp, -1, "", f"other warps are at another barrier: {others}")
            barrier.open()
        return barrier, at


class Cluster:
    """Blocks that run together and see each other's shared memory."""

    def __init__(self, blocks: Sequence[Block], shape: tuple[int, ...], start: int = 0, asynchronous: bool = False):
        self.blocks = list(blocks)
        self.shape = shape
        """How many blocks along each dimension."""
        self.start = start
        """The tick after which those of all agents begin."""
        self.agents = Agents(len(blocks), blocks[0].warp_count, asynchronous)
        self.barriers: list[Any] = []
        """The mbarriers that were initialised so far."""
        self.number = blocks[0].number
        """That of its first block."""
        self.early = False
        """Whether it may run while the kernel in front still does."""
        self.opened = 0
        """How often the cluster's barrier opened."""
        self.gathered: Any = None
        self.released: Any = None
        """What those who arrived know, of the phase that is open, and of the last one."""
        for rank, block in enumerate(blocks):
            block.cluster, block.rank = self, rank

    @property
    def warps(self) -> list[Warp]:
        """Those of all blocks."""
        return [warp for block in self.blocks for warp in block.warps]

    def arrive(self, warp: Warp, known: Any) -> None:
        """A warp comes to the cluster's barrier; `known` is None for an arrival that orders nothing."""
        warp.at_cluster += 1
        if known is not None:
            self.gathered = known if self.gathered is None else np.maximum(self.gathered, known)
        self._open()

    def leave(self) -> None:
        """A warp has ended: nobody waits for it any more."""
        self._open()

    @property
    def last_tick(self) -> int:
        """The greatest tick of any agent."""
        groups = max(max(warp.committed, warp.stores) for warp in self.warps)
        phases = max((barrier.phase for barrier in self.barriers), default=0)
        return max(self.start + max(groups, phases) + 1, *(warp.clock for warp in self.warps))

    @property
    def missing(self) -> list[Warp]:
        """The warps that the cluster's barrier waits for."""
        return [warp for warp in self.warps if warp.run is not None and warp.at_cluster <= self.opened]

    def _open(self) -> None:
        if any(warp.at_cluster > self.opened for warp in self.warps) and not self.missing:
            self.released, self.gathered = self.gathered, None
            self.opened += 1


def run_cluster(cluster: Cluster, start: Callable[[Warp], Run]) -> None:
    """Runs the warps of blocks in turn, each until it blocks, until all have ended. Raises Stop at a deadlock."""
    running = cluster.warps
    for warp in running:
        warp.run = start(warp)
    while running:
        moved = False
        for warp in running:
            if warp.wait is not None and not warp.wait.ready():
                continue
            moved = True
            assert warp.run is not None
            warp.wait = next(warp.run, None)
            if warp.wait is None:
                warp.run = None
                cluster.leave()
        running = [warp for warp in running if warp.run is not None]
        if running and not moved:
            _resolve(cluster, running)


def _resolve(cluster: Cluster, stuck: list[Warp]) -> None:
    """No warp can go on. A barrier that only ended warps are missing from opens, as in hardware; anything else is a
    deadlock."""
    waits = [warp.wait for warp in stuck if warp.wait is not None]
    first = waits[0]
    barrier = first.barrier
    ended = [warp for warp in cluster.warps if warp.run is None]
    if (
        barrier is not None
        and all(wait.barrier is barrier for wait in waits)
        and barrier.expected == stuck[0].block.thread_count
    ):
        message = f"{_warps(ended)} ended without reaching it; {_warps(stuck)} wait"
        first.info.find("divergent-barrier", stuck[0], -1, "", message)
        barrier.open()
        return
    told = dict[str, list[Warp]]()
    for warp in stuck:
        if warp.wait is not None:
            place = f"{warp.wait.what()} in {warp.wait.info.operation} at {warp.wait.info.location}"
            told.setdefault(place, []).append(warp)
    text = "; ".join(f"{_warps(warps)} wait{'s' * (len(warps) == 1)} for {place}" for place, warps in told.items())
    first.info.find("deadlock", stuck[0], -1, "", f"{text}; {_warps(ended)} ended")
    raise Stop("deadlock")


def _warps(warps: Sequence[Warp]) -> str:
    if not warps:
        return "no warp"
    if len({warp.block.number for warp in warps}) > 1:
        return ", ".join(f"warp {warp.number} of block {warp.block.number}" for warp in warps)
    return f"warp{'s' * (len(warps) > 1)} {', '.join(str(warp.number) for warp in warps)}"
