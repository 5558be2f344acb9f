"""Counters: what a kernel executes and moves, and what its accesses cost in the memory system's units.

Model of shared memory: 32 banks of 4 bytes; accesses of 16 bytes a lane go by quarter-warps, of 8 bytes by half-warps
(CUDA programming guide, shared memory). A fragment is read and written in rows of 16 bytes, eight at a time, as
ldmatrix does. Lanes that access the same word share it. Model of global memory: sectors of 32 bytes.
"""

from __future__ import annotations

import functools
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

BANKS = 32
BANK_BYTES = 4
SECTOR_BYTES = 32
SHOWN = 10
"""Accesses that a report lists, those first that are furthest from the ideal."""


@dataclass
class Access:
    """The cost of one operation's accesses, over all warps that executed it."""

    operation: str
    location: str
    executed: int = 0
    bytes: int = 0
    transactions: int = 0
    """Shared memory: passes over the banks. Global memory: sectors."""
    ideal: int = 0
    """The least that the same bytes could take."""

    @property
    def conflicts(self) -> int:
        """Transactions beyond the ideal."""
        return self.transactions - self.ideal


@dataclass
class Counters:
    """Sums over all warps and blocks that ran."""

    instructions: Counter[str] = field(default_factory=Counter[str])
    """Operations executed by a warp, by name."""
    bytes: Counter[str] = field(default_factory=Counter[str])
    """`global_load`, `global_store`, `shared_load`, `shared_store`; `global_leaving` is what the copy engine loaded and
    marked as the first to leave L2."""
    shared: dict[str, Access] = field(default_factory=dict[str, Access])
    """By `location operation`."""
    global_: dict[str, Access] = field(default_factory=dict[str, Access])
    tensor_operations: int = 0
    """Warp-wide products of fragments."""
    flops: int = 0
    """Floating-point operations of those products."""

    @property
    def bank_conflicts(self) -> int:
        """Passes over the banks of shared memory beyond the least possible."""
        return sum(access.conflicts for access in self.shared.values())

    @property
    def sectors(self) -> int:
        """32-byte sectors that global memory delivered or took."""
        return sum(access.transactions for access in self.global_.values())

    def count(self, space: str, kind: str, info: Any, starts: Any, width: int) -> None:
        """Adds one access of a warp: `starts` are byte addresses of its rows (or lanes), of `width` bytes each."""
        moved = len(starts) * width
        self.bytes[f"{space}_{kind}"] += moved
        table = self.shared if space == "shared" else self.global_
        key = f"{info.location} {info.operation}"
        access = table.setdefault(key, Access(info.operation, info.location))
        access.executed += 1
        access.bytes += moved
        if space == "shared":
            cost, ideal = _banks(starts, width, info.collective)
        else:
            cost, ideal = _sectors(starts, width)
        access.transactions += cost
        access.ideal += ideal

    def __str__(self) -> str:
        lines = ["instructions: " + ", ".join(f"{name} {n}" for name, n in self.instructions.most_common())]
        lines.append("bytes: " + ", ".join(f"{name} {n}" for name, n in sorted(self.bytes.items())))
        lines.append(f"tensor operations: {self.tensor_operations} ({self.flops} FLOP)")
        lines.append(f"shared-memory bank conflicts: {self.bank_conflicts}; global sectors: {self.sectors}")
        for title, table in (("shared", self.shared), ("global", self.global_)):
            worst = sorted(table.values(), key=lambda access: access.transactions - access.ideal, reverse=True)
            for access in [access for access in worst if access.transactions > access.ideal][:SHOWN]:
                lines.append(
                    f"  {title} {access.location} {access.operation}: {access.executed} times, {access.bytes} bytes, "
                    f"{access.transactions} transactions (least {access.ideal})"
                )
        return "\n".join(lines)


_PATTERNS = 1 << 14
"""Access patterns whose costs are remembered: a kernel repeats its few in every block and step."""


def _banks(starts: Any, width: int, collective: bool) -> tuple[int, int]:
    """Passes over the banks of shared memory, and the least possible. Moving all rows by whole words rotates the banks,
    which costs the same."""
    return _cost_in_banks((starts - (int(starts[0]) & -BANK_BYTES)).tobytes(), width, collective)


@functools.lru_cache(_PATTERNS)
def _cost_in_banks(pattern: bytes, width: int, collective: bool) -> tuple[int, int]:
    starts = np.frombuffer(pattern, np.int64)
    if collective and width > 16:  # rows of a fragment: columns of 16 bytes, eight rows at a time
        pieces = range(0, width, 16)
        costs = [_banks(starts + piece, min(16, width - piece), True) for piece in pieces]
        return sum(cost for cost, _ in costs), sum(ideal for _, ideal in costs)
    words = max(1, -(-width // BANK_BYTES))
    group = max(1, BANKS // words)
    cost = 0
    for first in range(0, len(starts), group):
        chunk = starts[first : first + group]
        touched = np.unique(((chunk // BANK_BYTES)[:, None] + np.arange(words)).ravel())
        cost += int(np.bincount(touched % BANKS, minlength=BANKS).max())
    return cost, -(-len(starts) // group)


def _sectors(starts: Any, width: int) -> tuple[int, int]:
    """Sectors of global memory that are moved, and the least possible."""
    return _cost_in_sectors((starts - (int(starts[0]) & -SECTOR_BYTES)).tobytes(), width)


@functools.lru_cache(_PATTERNS)
def _cost_in_sectors(pattern: bytes, width: int) -> tuple[int, int]:
    starts = np.frombuffer(pattern, np.int64)
    last = (starts + width - 1) // SECTOR_BYTES
    first = starts // SECTOR_BYTES
    most = int((last - first).max()) + 1
    sectors = np.minimum(first[:, None] + np.arange(most), last[:, None])
    return len(np.unique(sectors)), -(-len(np.unique(starts)) * width // SECTOR_BYTES)
