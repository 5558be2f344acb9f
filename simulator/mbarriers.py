"""Mbarriers: phases, counted in arrivals and copied bytes, and what a wait for their completion orders.

A phase is complete when all expected arrivals came and as many bytes were copied as announced. It orders what was
before its arrivals, and the copies that count on it, before everything that follows a wait for it (PTX ISA, mbarrier).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mlir_gemm.simulator.access import BARRIER_BYTES
from mlir_gemm.simulator.agents import MOST_BARRIERS
from mlir_gemm.simulator.decode import Info
from mlir_gemm.simulator.elements import LANES
from mlir_gemm.simulator.memory import Buffer
from mlir_gemm.simulator.warps import Block, Cluster, Stop, Warp

RANK = 24
"""Bits of an address in shared memory below the number of a block of the cluster, plus 1 (0: the block's own)."""
_MOST_BYTES = (1 << 20) - 1
_POOL, _MOST_EACH = 65536, 248
"""Registers of an SM, and of a thread at most as a kernel starts."""
_MOST_ARRIVALS = (1 << 20) - 1


@dataclass
class MBarrier:
    """One mbarrier."""

    block: Block
    address: int
    expected: int
    agent: int
    """Its number among those that keep clocks."""
    by: int
    """The warp that initialised it, its lane, and when."""
    lane: int
    at: int
    made_known: bool = False
    """Whether a fence made it known to the asynchronous proxy and to the cluster."""
    met: int = 0
    """The meeting of the cluster, counted from 1, that its warp came to after that fence: who has waited for it knows
    the mbarrier, though the arrival may order nothing else; 0 for none."""
    phase: int = 0
    """How many phases are complete."""
    arrived: int = 0
    bytes: int = 0
    """Announced and not copied."""
    gathered: Any = None
    released: Any = None
    """What the arrivals of the current phase know, and what the last complete one tells."""
    copied: int = 0
    """The tick of the last copy that counts on it."""

    @property
    def tick(self) -> int:
        """When copies that count on the current phase are complete, by the clock of `agent`."""
        return self.block.cluster.start + self.phase + 1

    def know(self, known: Any) -> None:
        """Adds what an arrival knows."""
        self.gathered = known if self.gathered is None else np.maximum(self.gathered, known)

    def settle(self) -> None:
        """Completes the phase if nothing is missing."""
        if self.arrived < self.expected or self.bytes:
            return
        known = self.gathered.copy()
        if self.released is not None:
            np.maximum(known, self.released, out=known)
        known[self.agent] = self.tick
        self.released, self.gathered = known, None
        self.phase += 1
        self.arrived = 0

    def passes(self, parity: int) -> bool:
        """Whether the last complete phase has this parity. (The one in front of the first has parity 1.)"""
        return (self.phase & 1) != parity

    def __str__(self) -> str:
        counted = f"{self.bytes} bytes missing" if self.bytes >= 0 else f"{-self.bytes} bytes more than announced"
        where = f" of block {self.block.number}" if len(self.block.cluster.blocks) > 1 else ""
        return (
            f"phase {self.phase} of the mbarrier at {_place(self.block, self.address)}{where} "
            f"({self.arrived} of {self.expected} arrivals, {counted})"
        )


def resolved(warp: Warp, address: int) -> tuple[Block, int]:
    """The block that an address in shared memory belongs to, and the address there."""
    rank = address >> RANK
    blocks = warp.block.cluster.blocks
    if rank > len(blocks):
        return warp.block, -1
    return (blocks[rank - 1] if rank else warp.block), address & ((1 << RANK) - 1)


def buffer_at(block: Block, address: int) -> tuple[Buffer, int] | None:
    """The buffer in a block's shared memory that an address lies in, and the byte of it."""
    for buffer in block.shared.values():
        if buffer.address <= address < buffer.address + buffer.size:
            return buffer, address - buffer.address
    return None


def _place(block: Block, address: int) -> str:
    found = buffer_at(block, address)
    return f"byte {found[1]} of shared {found[0].name}" if found else f"address {address}, where nothing is"


@dataclass(frozen=True)
class Barriers:
    """One operation's access to mbarriers."""

    info: Info
    checks: bool

    def find(self, warp: Warp, lane: int, message: str, address: str = "", check: str = "mbarrier") -> None:
        """Reports what is wrong."""
        if self.checks:
            self.info.find(check, warp, lane, address, message)

    def make(self, warp: Warp, lane: int, address: int, expected: int) -> None:
        """Initialises the mbarrier at an address."""
        block, at = resolved(warp, address)
        place, found = _place(block, at), buffer_at(block, at)
        if found is None or block is not warp.block or found[1] + BARRIER_BYTES > found[0].size:
            self.find(warp, lane, "an mbarrier outside the block's shared memory", place, "out-of-bounds")
            raise Stop("an mbarrier outside shared memory")
        if at % BARRIER_BYTES:
            self.find(warp, lane, f"the address is no multiple of {BARRIER_BYTES}", place, "misaligned")
        if not 1 <= expected <= _MOST_ARRIVALS:
            self.find(warp, lane, f"{expected} arrivals are expected; it takes 1 to {_MOST_ARRIVALS}", place)
            raise Stop("an mbarrier that expects no arrivals")
        cluster = block.cluster
        if len(cluster.barriers) == MOST_BARRIERS:
            raise Stop(f"more than {MOST_BARRIERS} mbarriers")
        for other in block.mbarriers:
            if abs(other - at) < BARRIER_BYTES:
                self.find(warp, lane, "there is an mbarrier already, which was not invalidated", place)
        shadow = found[0].shadow
        if self.checks and shadow is not None and shadow.written(found[1], BARRIER_BYTES):
            self.find(warp, lane, "there is data, and no room for an mbarrier", place)
        agent = cluster.agents.barrier(len(cluster.barriers))
        made = MBarrier(block, at, expected, agent, warp.index, lane, warp.clock)
        block.mbarriers[at] = made
        cluster.barriers.append(made)

    def at(self, warp: Warp, lane: int, address: int, beside: bool = False) -> MBarrier:
        """The mbarrier at an address, for use by a warp, or by what runs beside it."""
        block, at = resolved(warp, address)
        found = block.mbarriers.get(at)
        if found is None:
            self.find(warp, lane, "an mbarrier that was not initialised", _place(block, at))
            raise Stop("an mbarrier that was not initialised")
        met = 0 < found.met <= warp.left_cluster
        apart = found.by != warp.index or found.lane != lane
        if apart and found.at > warp.seen[found.by] and not met:
            who = block.cluster.agents.name(found.by) if found.by != warp.index else f"lane {found.lane}"
            self.find(warp, lane, f"{who} initialised it with no barrier in between", _place(block, at), "race-shared")
        if (beside or block is not warp.block) and not found.made_known:
            message = "the mbarrier is used by the copy engine or another block; no fence.mbarrier.init made it known"
            self.find(warp, lane, message, _place(block, at), "proxy")
            found.made_known = True
        if block is not warp.block and self.checks and block.ended:
            self.find(warp, lane, "the block has ended", _place(block, at), "ended")
        return found

    def arrive(self, warp: Warp, lane: int, barrier: MBarrier, known: Any, count: int = 1, announced: int = 0) -> None:
        """Arrivals by one lane."""
        if barrier.block is not warp.block:
            barrier.block.touched[warp.index] = int(known[warp.index])
        barrier.know(known)
        self.count(warp, lane, barrier, announced)
        barrier.arrived += count
        if barrier.arrived > barrier.expected:
            message = f"{barrier.arrived} arrivals in a phase that expects {barrier.expected}"
            self.find(warp, lane, message, _place(barrier.block, barrier.address))
            barrier.arrived = barrier.expected
        barrier.settle()

    def count(self, warp: Warp, lane: int, barrier: MBarrier, announced: int) -> None:
        """Announces bytes."""
        barrier.bytes += announced
        if abs(barrier.bytes) > _MOST_BYTES:
            self.find(warp, lane, f"{barrier.bytes} bytes are announced and not copied; at most {_MOST_BYTES}")

    def wait(self, warp: Warp, lane: int, address: int, parity: int) -> tuple[Callable[[], bool], Callable[[], str]]:
        """What a wait for a phase of this parity waits for, and how that reads."""
        barrier = self.at(warp, lane, address)
        return lambda: barrier.passes(parity), lambda: f"parity {parity}, {barrier}"


def acquire(warp: Warp, address: int) -> None:
    """Tells a warp that waited for an mbarrier what its last phase orders."""
    block, at = resolved(warp, address)
    known = block.mbarriers[at].released
    if known is not None:
        warp.acquire(known)


def _check_pool(block: Block, info: Info) -> None:
    """Reports a warpgroup that asks for registers that no other gives up: it would wait forever."""
    if not block.registers:
        return
    first = min(_MOST_EACH, _POOL // block.thread_count // 8 * 8)
    total = 0
    for warp in block.warps:
        changes = block.registers.get(warp.number // 4, {}).get(warp.number)
        total += LANES * (changes[-1] if changes else first)
    if total > _POOL:
        message = f"the warps of a block ask for {total} registers; there are {_POOL}, {first} a thread at the start"
        info.find("deadlock", block.warps[0], -1, "", message)


def check_ended(cluster: Cluster, info: Info) -> None:
    """What must hold when the blocks of a cluster have ended."""
    for barrier in cluster.barriers:
        warp = barrier.block.warps[0]
        place = _place(barrier.block, barrier.address)
        if barrier.bytes:
            how = "announced and never copied" if barrier.bytes > 0 else "copied and never announced"
            info.find("mbarrier", warp, -1, place, f"{abs(barrier.bytes)} bytes were {how} at the end of the kernel")
        if barrier.copied and all(other.seen[barrier.agent] < barrier.copied for other in barrier.block.warps):
            info.find("async-not-awaited", warp, -1, place, "a tensor copy that counts on it was never waited for")
    for warp in cluster.warps:
        if warp.stores > warp.stored or warp.storing:
            number = warp.stores - warp.stored + warp.storing
            message = f"{number} groups of bulk stores may still read shared memory at the end"
            info.find("async-not-awaited", warp, -1, "", message)
        if warp.committed > warp.waited:
            message = f"{warp.committed - warp.waited} groups of wgmma were never waited for"
            info.find("async-not-awaited", warp, -1, "", message)
        if warp.multiplied > warp.committed:
            message = "products are in no committed group, and may still read shared memory at the end"
            info.find("async-not-awaited", warp, -1, "", message)
    for block in cluster.blocks:
        _check_pool(block, info)
        for agent, tick in block.touched.items():
            if all(warp.seen[agent] < tick for warp in block.warps):
                message = f"the block may have ended when {cluster.agents.name(agent)} touches its shared memory"
                info.find("ended", block.warps[0], -1, "", f"{message}: no warp of the block waits for that")
        for group, changes in block.registers.items():
            counts = {tuple(entries) for entries in changes.values()}
            if len(changes) < len(block.warps[4 * group : 4 * group + 4]) or len(counts) > 1:
                message = "setmaxregister is not the same in all warps of the warpgroup"
                info.find("divergent-collective", block.warps[4 * group], -1, "", message)
