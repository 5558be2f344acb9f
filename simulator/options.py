"""How a simulation is run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

DEFAULT_STEPS = 5_000_000
"""Operations of one warp; a k loop of 512 steps with 4,000 operations each (64 FMA for each of 16 k, and loads) takes
2 million."""


@dataclass(frozen=True)
class Options:
    """What to run and what to watch."""

    checks: bool = True
    """Watch for races, uninitialised reads, indices out of bounds, misaligned addresses and divergence."""
    counters: bool = False
    """Count instructions, bytes, bank conflicts and transactions."""
    blocks: Sequence[int] | None = None
    """Linear numbers of the blocks to run, None for all."""
    max_steps: int | None = None
    """Operations that one warp may execute before the run is stopped; None for DEFAULT_STEPS."""
    sizes: Mapping[str, int] = field(default_factory=dict[str, int])
    """The symbols of the program around a kernel, for sizes that its own arguments do not tell."""
    first: bool = False
    """End the run at the first finding."""
    progress: Callable[[int, int], None] | None = None
    """Called after each block with the number of blocks done and to do."""
