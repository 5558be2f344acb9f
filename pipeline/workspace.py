"""Places for a program's intermediate buffers in one workspace: buffers that are never in use at the same time share.

Largest first, each at the lowest place that is free during all the steps of its life: the usual greedy method. No plan
can be smaller than what is in use at the busiest step, and this one rarely takes more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

ALIGNMENT = 256
"""Bytes: of every buffer's offset, and of the workspace. What `cudaMalloc` gives too."""


@dataclass(frozen=True)
class Life:
    """A buffer's size in bytes, and the first and the last step that use it."""

    bytes: int
    first: int
    last: int

    def meets(self, other: Life) -> bool:
        """Whether both are in use in some step."""
        return self.first <= other.last and other.first <= self.last


def plan(lives: Sequence[Life]) -> tuple[tuple[int, ...], int]:
    """The offset of each buffer, and the size of the workspace."""
    offsets = [0] * len(lives)
    placed: list[int] = []
    for index in sorted((i for i, life in enumerate(lives) if life.bytes), key=lambda i: (-lives[i].bytes, i)):
        taken = sorted(
            (offsets[i], offsets[i] + _rounded(lives[i].bytes)) for i in placed if lives[i].meets(lives[index])
        )
        offset = 0
        for start, end in taken:
            if offset + lives[index].bytes <= start:
                break
            offset = max(offset, end)
        offsets[index] = offset
        placed.append(index)
    return tuple(offsets), max((offsets[i] + _rounded(lives[i].bytes) for i in placed), default=0)


def _rounded(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT
