"""Places for a program's intermediate buffers in one workspace: buffers that are never in use at the same time share.

Largest first, each at the lowest place that is free during all the steps of its life: the usual greedy method. No plan
can be smaller than what is in use at the busiest step, and this one rarely takes more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from mlir_gemm.spec.tensor_map import Extent

ALIGNMENT = 256
"""Bytes: of every buffer's offset, and of the workspace. What `cudaMalloc` gives too."""


FLAGS, WORDS = "flags", "words"


@dataclass(frozen=True)
class Buffer:
    """An intermediate result. Buffers that are never in use at the same time share memory."""

    offset: int | None
    """Bytes from the start of the workspace, a multiple of 256. None where sizes are known at run time only: a buffer
    is in use from the first to the last step that has it as a parameter, and `Launch.at` finds it a place."""
    bytes: Extent
    scratch: str = ""
    """Of memory that one kernel needs beside what it works on: `parts` (of sums), or `flags`, by which its blocks wait
    for each other, or `words`, by which they hand each other numbers. Both are zero before the first launch, and kept
    as each leaves them: flags are zero again, words count launches. They lie in memory of their own, which launches
    that may run at the same time must not share."""

    @property
    def zeroed(self) -> bool:
        """Whether it is zero before the first launch, and kept."""
        return self.scratch in (FLAGS, WORDS)


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


def placed(
    buffers: Sequence[Buffer], used: Sequence[Sequence[Extent]], first: int
) -> tuple[tuple[Buffer, ...], int, int]:
    """The buffers with places: their sizes must be numbers, and those of memory, as in `used` by each step, start at
    `first`. Also the size of the workspace, and of the memory for those that are zeroed."""
    lives: list[Life] = []
    for number, buffer in enumerate(buffers, start=first):
        places = [place for place, numbers in enumerate(used) if number in numbers]
        size = cast("int", buffer.bytes)
        lives.append(Life(size, places[0], places[-1]) if places else Life(0, 0, 0))
    none = Life(0, 0, 0)
    shared = [none if buffer.zeroed else life for buffer, life in zip(buffers, lives, strict=True)]
    own = [Life(life.bytes, 0, len(used)) if buffer.zeroed else none
           for buffer, life in zip(buffers, lives, strict=True)]  # fmt: skip
    (offsets, total), (others, zeroed) = plan(shared), plan(own)
    made = tuple(
        Buffer(there if buffer.zeroed else here, life.bytes, buffer.scratch)
        for buffer, life, here, there in zip(buffers, lives, offsets, others, strict=True)
    )
    return made, total, zeroed


def _rounded(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT
