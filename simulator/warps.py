"""Warps and blocks: state, clocks, barriers, and the scheduler that runs warps in turn until each blocks or ends."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

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
    what: str
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
        seen[[warp.number for warp in warps]] = latest
        for warp in warps:
            warp.seen[:] = seen
            warp.clock = latest + 1
            warp.seen_least = int(seen.min())
        self.arrived.clear()
        self.opened += 1


class Warp:
    """32 lanes that run in step, and the values they hold."""

    __slots__ = (
        "block", "clock", "code", "copies", "groups", "lanes", "mask", "number", "run", "seen", "seen_least", "slots",
        "start_mask", "steps", "threads", "wait",
    )  # fmt: skip

    def __init__(self, block: Block, number: int, clock: int):
        self.block = block
        self.number = number
        self.code = number << LANE_BITS
        self.slots: list[Any] = []
        self.lanes = np.arange(number * LANES, (number + 1) * LANES, dtype=np.int64)
        """Linear numbers of the threads in the block."""
        threads = block.size[0] * block.size[1] * block.size[2]
        self.threads = min(LANES, threads - number * LANES)
        self.start_mask = None if self.threads == LANES else self.lanes < threads
        self.mask: Any = self.start_mask
        """The lanes that are active, None for all."""
        self.clock = clock
        self.seen = np.full(block.warp_count, clock - 1, np.int64)
        self.seen_least = clock - 1
        self.steps = 0
        self.wait: Wait | None = None
        self.run: Run | None = None
        self.copies: list[Any] = []
        self.groups: deque[list[Any]] = deque()
        """Asynchronous copies: those of the group that is open, and the groups under way."""

    def sync(self) -> None:
        """A barrier of the warp's own lanes."""
        self.seen[self.number] = self.clock
        self.clock += 1
        self.seen_least = int(self.seen.min())

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

    def barrier(self, number: int, expected: int) -> Barrier:
        """The barrier of this number."""
        found = self.barriers.get(number)
        if found is None:
            found = self.barriers[number] = Barrier(f"barrier {number}", expected)
        return found

    def arrive(self, warp: Warp, info: Any, number: int = 0, expected: int = 0) -> tuple[Barrier, int]:
        """A warp comes to a barrier, which opens when all are there. Gives the barrier and when it came."""
        barrier = self.barrier(number, expected or self.thread_count)
        at = barrier.opened
        barrier.arrived.append((warp, info))
        if barrier.threads >= barrier.expected:
            places = list({info.location: info for _, info in barrier.arrived}.values())
            if len(places) > 1 and number == 0:
                others = ", ".join(f"{other.operation} at {other.location}" for other in places[1:])
                places[0].find("divergent-barrier", warp, -1, "", f"other warps are at another barrier: {others}")
            barrier.open()
        return barrier, at


def run_block(block: Block, start: Callable[[Warp], Run]) -> None:
    """Runs the warps of a block in turn, each until it blocks, until all have ended. Raises Stop at a deadlock."""
    running = block.warps
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
        running = [warp for warp in running if warp.run is not None]
        if running and not moved:
            _resolve(block, running)


def _resolve(block: Block, stuck: list[Warp]) -> None:
    """Nobody can go on. A barrier that only ended warps miss opens, as on the machine; anything else is a deadlock."""
    waits = [warp.wait for warp in stuck if warp.wait is not None]
    first = waits[0]
    barrier = first.barrier
    ended = [warp.number for warp in block.warps if warp.run is None]
    if (
        barrier is not None
        and all(wait.barrier is barrier for wait in waits)
        and barrier.expected == block.thread_count
    ):
        message = f"{_warps(ended)} ended without reaching it; {_warps([warp.number for warp in stuck])} wait"
        first.info.find("divergent-barrier", stuck[0], -1, "", message)
        barrier.open()
        return
    told = "; ".join(
        f"warp {warp.number} waits for {warp.wait.what} in {warp.wait.info.operation} at {warp.wait.info.location}"
        for warp in stuck
        if warp.wait is not None
    )
    first.info.find("deadlock", stuck[0], -1, "", f"{told}; {_warps(ended)} ended")
    raise Stop("deadlock")


def _warps(numbers: list[int]) -> str:
    if not numbers:
        return "no warp"
    return f"warp{'s' * (len(numbers) > 1)} {', '.join(map(str, numbers))}"
