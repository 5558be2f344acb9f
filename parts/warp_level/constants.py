"""The constants of the cost of warp-level mmas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class Constants:
    """What is fitted; the values stand in the chips' rows."""

    inside: float
    """Exponent of the norm that overlaps what happens inside an SM: tensor cores, shared memory, and each warp's own
    chain. Barriers keep warps in step, so that their phases overlap less than those of independent work."""
    outside: float
    """Exponent of the norm that overlaps an SM with L2 and DRAM."""
    memory_latency: float
    """Seconds from a global load to its data under load."""
    barrier: float
    """Seconds from the last product before a barrier to the first after it, the stores to shared memory included."""
    fragment: float
    """Clocks from a warp's load of fragments to its first product."""
    launch: float
    """Seconds to start and to end a kernel."""
    late: tuple[float, float]
    """Part of the memory latency that shows with early=off, for one and for two buffers. The assembler may move the
    loads down to their use; with two buffers no barrier holds them."""
    sm_l2_bytes_clock: float
    """Bytes that one SM can take from L2 in one clock."""
    copy_issue: float
    """Instructions issued for each vector copied, addresses and guards included."""
    rolled: float
    """Factor on tensor time without unrolling."""
    unpromoted_shared: float
    """Factor on fragment loads that come through L1 instead of shared memory: each reads eight rows of 16 bytes, which
    are eight lines."""
    unaccumulated: float
    """Factor on C's fragments without accumulation: rows of 32 bytes, one line each."""

    # Only for mmas whose lanes hold known elements.
    sync_fragment: float
    """Clocks of a warp's k step of one instruction that its products do not cover, with fragments loaded ahead."""
    async_barrier: float
    """Seconds that a barrier costs when no thread stores to shared memory before it."""
    vector_issue: float
    """Instructions issued for each vector that a thread loads and stores."""
    load_chain: float
    """Clocks of a warp for each such vector: its address and its bounds, the load, the store."""
    vary: float
    """Exponent of the norm that hides the latency of asynchronous copies behind the k steps in flight."""
    ring_barrier: float
    """Seconds of a k step in which a warp waits for a stage of a ring, loads its first fragments and hands it back."""
    async_issue: float
    """The same with cp.async."""
    narrow_issue: float
    """Further ones where these are of 4 or 8 bytes, ..."""
    narrow_chain: float
    """... and clocks of a warp for each."""
    guard_issue: float
    """Further ones where tiles reach over an edge: bounds and predicates."""
    store: float
    """Seconds in which a block stores one element of its tile, while the SM computes nothing but other blocks."""
    fma_share: float
    """Part of the FMA rate that is reached beside loads, addresses and conversions."""
    simt_load: float
    """Clocks of shared memory for a 128-bit load of a warp of `simt`, most of whose lanes read the same."""
    conversion: float
    """FMA slots that the conversion of one operand to the accumulator's type takes."""


class FragmentConstants(Constants):
    """For mmas with opaque fragments."""

    FAMILY: ClassVar[str] = "fragments"
    """What names them in a chip's name."""


class LaneConstants(Constants):
    """For mmas whose lanes hold known elements."""

    FAMILY: ClassVar[str] = "lanes"
    """What names them in a chip's name."""
