"""Shadow memory: for every few bytes, who wrote and read them last and when, to find accesses that nothing orders
(races).

Order is kept in vector clocks, one component a warp. A warp's clock ticks at every synchronisation; `warp.seen[v]` is
the last tick of warp v whose accesses are ordered before what this warp does now. Lanes of one warp are ordered among
each other by warp barriers, which also tick the clock: so an earlier access by (warp, lane) at tick t is ordered before
the present one exactly when t <= seen[warp], or when it was the same lane. (FastTrack, Flanagan and Freund, PLDI 2009.)

A granule is 16 bytes and is halved as soon as an access does not fill whole granules, so the answer is exact.
A fragment's accesses are made by lanes that are not known: `ANY_LANE`; loading and storing an accumulator at the same
place touches the same elements in the same lanes, so it has a code of its own for each place.

What runs beside the warps (tensor copies, wgmma, bulk stores) makes its accesses as an agent of its own (`agents`): it
comes after what its issuing lane has seen, and others are ordered after it only when they learn of the agent's tick.
It goes through the asynchronous proxy, which sees an ordinary store only after a fence of the warp that made it, and
may overtake an ordinary load unless such a fence is after it, or something that needs what was loaded: the assembler
lets a lane that has issued loads arrive at a barrier before they have taken place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mlir_gemm.simulator.elements import choose

ANY_LANE = (1 << 31) - 1
LANE_BITS = 32
NOBODY = -1
SEVERAL = -2
_WIDEST = 16
_MOST_READERS = 1 << 23
"""Entries for readers. Where warps times granules is more, warps share columns and an old reader may be forgotten."""


@dataclass
class Conflict:
    """Something wrong with an access: which row of it, and with which agent (-1: nobody)."""

    check: str
    row: int
    agent: int
    lane: int
    how: str


class Shadow:
    """Who touched each granule of a buffer."""

    def __init__(self, size: int, warps: int, initialized: bool, between_blocks: bool):
        self.size = size
        self.shift = _WIDEST.bit_length() - 1
        number = -(-size // _WIDEST)
        self.columns = min(warps, max(1, _MOST_READERS // max(1, number)))
        self.writer = np.full(number, NOBODY, np.int64)
        self.written_at = np.zeros(number, np.int64)
        self.readers: tuple[Any, Any] | None = None
        """For each warp, who read last and when, and 0 where nobody did; None while nobody has read anything."""
        self.last_read: Any = None
        """When anybody read last."""
        self.initialized = np.full(number, initialized)
        self.between_blocks = between_blocks
        self.writing_block = np.full(number if between_blocks else 0, NOBODY, np.int32)
        self.reading_block = self.writing_block.copy()
        self.pending = np.full(number, NOBODY, np.int64)
        """The warp whose asynchronous copy is still to arrive here."""
        self.later: dict[int, Any] = {}
        """For each agent that reads beside the warps, when it read last."""
        self.any_pending = False

    def clear(self) -> None:
        """Forgets everything: the next block starts."""
        for array, value in ((self.writer, NOBODY), (self.written_at, 0)):
            array.fill(value)
        self.readers = self.last_read = None
        self.initialized.fill(False)
        self.later.clear()
        self.pending.fill(NOBODY)
        self.any_pending = False

    def written(self, start: int, width: int) -> bool:
        """Whether any of these bytes was written."""
        return bool((self.writer[start >> self.shift : -(-(start + width) >> self.shift)] != NOBODY).any())

    def granules(self, starts: Any, width: int, codes: Any) -> tuple[Any, Any, int]:
        """The granules of rows of `width` bytes, who accesses each, and how many there are in a row."""
        low = int(np.bitwise_or.reduce(starts)) | width
        while low & ((1 << self.shift) - 1):
            self._halve()
        places, per_row = starts >> self.shift, width >> self.shift
        if per_row > 1:
            places = (places[:, None] + np.arange(per_row)).ravel()
            codes = codes if isinstance(codes, int) else np.repeat(codes, per_row)
        return places, codes, per_row

    def _halve(self) -> None:
        self.shift -= 1
        for name in ("writer", "written_at", "initialized", "writing_block", "reading_block", "pending"):
            setattr(self, name, np.repeat(getattr(self, name), 2))
        if self.readers is not None:
            reader, read_at = self.readers
            self.readers = np.repeat(reader, 2, axis=1), np.repeat(read_at, 2, axis=1)
            self.last_read = np.repeat(self.last_read, 2)
        self.later = {agent: np.repeat(read_at, 2) for agent, read_at in self.later.items()}

    def read(self, warp: Any, starts: Any, width: int, codes: Any) -> list[Conflict]:
        """Checks and records a read. `codes` is who reads each row: warp << 32 | lane."""
        places, codes, per_row = self.granules(starts, width, codes)
        found = self._before_read(warp, places, codes, per_row)
        self._record_read(warp, places, codes)
        return found

    def _before_read(self, warp: Any, places: Any, codes: Any, per_row: int) -> list[Conflict]:
        """What a read conflicts with."""
        found = self._after_writes(warp, places, codes, per_row)
        fresh = self.initialized[places]
        if np.count_nonzero(fresh) < len(fresh):
            found.append(Conflict("uninitialized", int((~fresh).argmax()) // per_row, -1, -1, ""))
        if self.between_blocks:
            known = self._learnt(warp, places) if warp.learnt else None
            found += self._other_block(warp, places, per_row, self.writing_block, "written by", known)
            before = self.reading_block[places]
            mine = warp.block.cluster.number
            self.reading_block[places] = np.where((before == NOBODY) | (before == mine), mine, SEVERAL)
        return found

    def read_later(
        self, warp: Any, starts: Any, width: int, lane: int, agent: int, tick: int, proxy: bool
    ) -> list[Conflict]:
        """Checks and records a read by an agent that a lane (or ANY_LANE) sets to work, through the asynchronous proxy
        or not."""
        places, mine, per_row = self.granules(starts, width, warp.code + lane)
        found = self._before_read(warp, places, mine, per_row)
        if proxy:
            found += self._unfenced(warp, places, per_row, self.writer[places], self.written_at[places], "written by")
        if agent not in self.later:
            self.later[agent] = np.zeros(len(self.writer), np.int64)
        self.later[agent][places] = tick
        return found

    def write_later(
        self, warp: Any, starts: Any, width: int, lane: int, agent: int, tick: int, proxy: bool
    ) -> list[Conflict]:
        """Checks and records a write by an agent."""
        places, mine, per_row = self.granules(starts, width, warp.code + lane)
        found = self._before_write(warp, places, mine, per_row)
        if proxy:
            found += self._unfenced(warp, places, per_row, self.writer[places], self.written_at[places], "written by")
            found += self._unfenced_reads(warp, places, per_row)
        self.writer[places] = (agent << LANE_BITS) + ANY_LANE
        self.written_at[places] = tick
        self.initialized[places] = True
        return found

    def _unfenced(self, warp: Any, places: Any, per_row: int, who: Any, when: Any, how: str) -> list[Conflict]:
        """Accesses of warps that no fence of theirs orders before those of the asynchronous proxy."""
        agents = warp.block.cluster.agents
        owners = who >> LANE_BITS
        plain = (owners >= 0) & (owners < agents.total)
        if not np.count_nonzero(plain):
            return []
        bad = plain & (when > warp.seen[agents.total + np.where(plain, owners, 0)])
        if not np.count_nonzero(bad):
            return []
        first = int(bad.argmax())
        return [Conflict("proxy", first // per_row, int(owners[first]), -1, how)]

    def _unfenced_reads(self, warp: Any, places: Any, per_row: int) -> list[Conflict]:
        """The same for reads, of which each warp has a last one."""
        if self.readers is None or not np.count_nonzero(self.last_read[places] > warp.seen_least):
            return []
        reader, read_at = self.readers
        read = read_at[:, places]
        late = np.flatnonzero(read.max(axis=1) > warp.seen_least)
        readers = [(reader[column, places], read[column]) for column in late]
        return [each for who, when in readers for each in self._unfenced(warp, places, per_row, who, when, "read by")]

    def _after_writes(self, warp: Any, places: Any, codes: Any, per_row: int) -> list[Conflict]:
        """What an access conflicts with for not coming after what was written, asynchronously or not."""
        found: list[Conflict] = []
        if self.any_pending and np.count_nonzero(self.pending[places] != NOBODY):
            first = int((self.pending[places] != NOBODY).argmax())
            owner = int(self.pending[places[first]])
            found.append(Conflict("async-not-awaited", first // per_row, owner, -1, "the copy was not waited for"))
        written = self.written_at[places]
        if np.count_nonzero(written > warp.seen_least):
            found += self._unordered(warp, places, codes, per_row, self.writer, written, "written by")
        return found

    def _record_read(self, warp: Any, places: Any, codes: Any) -> None:
        if self.readers is None:
            shape = self.columns, len(self.writer)
            self.readers = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
            self.last_read = np.zeros(len(self.writer), np.int64)
        column = warp.index % self.columns
        reader, read_at = self.readers[0][column], self.readers[1][column]
        several = warp.code + ANY_LANE
        before = reader[places]
        now = choose((read_at[places] == warp.clock) & (before != codes), several, codes)
        reader[places] = now
        read_at[places] = warp.clock
        self.last_read[places] = np.maximum(self.last_read[places], warp.clock)
        shared = reader[places] != now  # several lanes in this very access
        if np.count_nonzero(shared):
            reader[places[shared]] = several

    def write(self, warp: Any, starts: Any, width: int, codes: Any) -> list[Conflict]:
        """Checks and records a write."""
        places, codes, per_row = self.granules(starts, width, codes)
        found = self._before_write(warp, places, codes, per_row)
        self.writer[places] = codes
        self.written_at[places] = warp.clock
        self.initialized[places] = True
        twice = self.writer[places] != codes
        if np.count_nonzero(twice):
            first = int(twice.argmax())
            other = int(self.writer[places[first]]) & ANY_LANE
            how = "also written by this operation in"
            found.append(Conflict("race", first // per_row, warp.index, other if other < 32 else -1, how))
        return found

    def _before_write(self, warp: Any, places: Any, codes: Any, per_row: int) -> list[Conflict]:
        """What a write conflicts with."""
        found = self._after_writes(warp, places, codes, per_row)
        if self.readers is not None and np.count_nonzero(self.last_read[places] > warp.seen_least):
            reader, read_at = self.readers
            read = read_at[:, places]
            for column in np.flatnonzero(read.max(axis=1) > warp.seen_least):
                found += self._unordered(warp, places, codes, per_row, reader[column], read[column], "read by")
        for agent, read_at in self.later.items():
            bad = read_at[places] > warp.seen[agent]
            if np.count_nonzero(bad):
                found.append(Conflict("race", int(bad.argmax()) // per_row, agent, -1, "read by"))
        if self.between_blocks:
            found += self._other_block(warp, places, per_row, self.writing_block, "written by")
            found += self._other_block(warp, places, per_row, self.reading_block, "read by")
            self.writing_block[places] = warp.block.cluster.number
        return found

    def _unordered(
        self, warp: Any, places: Any, codes: Any, per_row: int, who: Any, when: Any, how: str
    ) -> list[Conflict]:
        others = who[places]
        bad = (when > warp.seen[others >> LANE_BITS]) & (others != codes)
        if not np.count_nonzero(bad):
            return []
        first = int(bad.argmax())
        other = int(others[first])
        lane = other & ((1 << LANE_BITS) - 1)
        return [Conflict("race", first // per_row, other >> LANE_BITS, lane if lane < 32 else -1, how)]

    def _learnt(self, warp: Any, places: Any) -> Any:
        """Which places hold what another cluster wrote before something that this warp has learnt of."""
        blocks, agents = self.writing_block[places], self.writer[places] >> LANE_BITS
        known = np.zeros(len(places), np.bool_)
        for number, clock in warp.learnt.items():
            known |= (blocks == number) & (self.written_at[places] <= clock[agents])
        return known

    def _other_block(
        self, warp: Any, places: Any, per_row: int, blocks: Any, how: str, known: Any = None
    ) -> list[Conflict]:
        others = blocks[places]
        bad = (others != warp.block.cluster.number) & (others != NOBODY)
        if known is not None:
            bad &= ~known
        if not np.count_nonzero(bad):
            return []
        first = int(bad.argmax())
        several = len(warp.block.cluster.blocks) > 1
        other = f"{'the cluster of ' * several}block {others[first]}"
        if others[first] == SEVERAL:
            other = f"several {'clusters' if several else 'blocks'}"
        return [Conflict("race", first // per_row, -1, -1, f"{how} {other}; blocks run in any order")]

    def begin_async(self, warp: Any, starts: Any, width: int, codes: Any) -> list[Conflict]:
        """Checks the write of an asynchronous copy, and marks its target as not there yet."""
        found = self.write(warp, starts, width, codes)
        places, _, _ = self.granules(starts, width, codes)
        self.pending[places] = warp.index
        self.any_pending = True
        return found

    def end_async(self, warp: Any, starts: Any, width: int, codes: Any) -> None:
        """The copy was waited for: from here on it is a write by the lanes that waited."""
        places, codes, _ = self.granules(starts, width, codes)
        self.pending[places] = NOBODY
        self.writer[places] = codes
        self.written_at[places] = warp.clock
