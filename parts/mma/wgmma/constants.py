"""The constants of the cost of wgmma, and the limits of its search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class WgmmaConstants:
    """The fitted constants; the values are in the chips' rows. Times inside an SM are clocks at the chip's
    `clock_hz`."""

    FAMILY: ClassVar[str] = "wgmma"
    """What names them in a chip's name."""

    write: float
    """Part of the clocks of writing shared memory that tensor cores wait for."""
    row: float
    """Clocks of the copy engine for a row of 128 bytes: 107 bytes a clock and SM."""
    odd: float
    """How much longer a row takes that begins elsewhere than at a line of 128 bytes."""
    thin: float
    """How much longer one takes of 64 or 32 bytes than one of 128."""
    outside: float
    """Rows outside an operand that all SMs together pass in one clock."""
    l2: float
    """Bytes that L2 gives all SMs in one clock."""
    apart: float
    """Readers of the same lines that L2 serves one by one; the requests of more become one."""
    parted: float
    """Part of that which blocks that share the steps of tiles lose: they read different steps."""
    latency: float
    """Clocks from a copy's start to its data; the stages that are not being multiplied hide it."""
    held: float
    """Stages that are being multiplied."""
    chain: float
    """Clocks that a step takes at least."""
    sync: float
    """Clocks of a step in which a warpgroup does not multiply; two cover for each other."""
    cluster: float
    """Further ones with clusters, for each row of 128 bytes of k: a stage is free only when both blocks say so."""
    inside: float
    """Exponent of the norm that overlaps the parts of a step."""
    tile: float
    """Clocks at the end of a tile that nothing else overlaps."""
    staged: float
    """Bytes of results a clock through shared memory."""
    narrow: float
    """How much longer rows of 64 bytes take than half as many of 128; of 32 three times that."""
    by_rows: float
    """Bytes of results a clock that lanes store in whole vectors, through shared memory, and in parts at the ends."""
    direct: float
    """Bytes a clock that threads store or load themselves."""
    issued: float
    """Instructions of the epilogue that an SM issues in a clock: 27 an element took 25 us at 4096 x 4096."""
    turned: float
    """Factor on the k steps of tiles of a ping-pong kernel, which nothing between tiles holds up: measured at 4096,
    8192."""
    guarded: float
    """Part by which tests of the edge make those longer."""
    parts: float
    """Bytes a clock of partial sums from other blocks."""
    split: float
    """Clocks of the two barriers of a cluster that shares a tile."""
    ragged: float
    """Part of the idle time in the last wave that is not lost: the SMs still at work are faster then."""
    memory: float
    """Exponent of the norm that overlaps the SMs with DRAM."""
    dram: float
    """Part of the chip's DRAM rate that is reached."""
    taken: float
    """Bytes of a result that L2 takes in one clock from all SMs."""
    torn: float
    """How much longer that takes where its rows begin between lines of 128 bytes."""
    fill: float
    """Clocks from a kernel's start to its first product."""
    overlap: float
    """Part of them that shows when the next kernel finds free SMs to start on."""
    form: float
    """Clocks more with clusters."""
    power: float
    """Tensor cores that are busy all the time would be held at this part of the clock by the power limit ..."""
    integers: float
    """... those that multiply integers at this one more: they draw less than with floating-point numbers."""
    heat: float
    """... and at less the longer it lasts: exponent of the time over 200 us."""
    limit: float
    """Exponent of the norm of this limit with all others."""
    bend: float
    """How much of what goes beyond the limit the clock loses: power falls faster, since the voltage does too."""
    launch: float
    """Seconds after which a program in Python starts the next kernel."""
    issue: float
    """Exponent of the norm of the launches with the kernel's own time."""


@dataclass(frozen=True)
class WgmmaLimits:
    """Limits of the search that were measured; the values are in the chips' rows."""

    places: tuple[tuple[int, float], ...]
    """Part of the SMs on which clusters of this many blocks fit at once, where not all: a cluster stays in one GPC,
    as the driver says of blocks that fill shared memory (cuOccupancyMaxActiveClusters)."""
    many_tiles: int
    """Tiles for each SM from which smaller ones are no longer proposed."""
    turns_each: float
    """Tiles that each SM must have for two warpgroups to take them by turns."""
    pace: int
    """Numbers of an epilogue that a thread has in flight while another warpgroup multiplies, so that the products take
    no longer ..."""
    paced: float
    """... the clocks that an instruction takes then ..."""
    hiding: float
    """... and the part of the products' clocks that all may take."""
    few: float
    """Tiles for each SM under which the steps of k may be divided ..."""
    many: float
    """... and blocks for each SM that they are divided into at most."""
    sharing: float
    """Tiles for each SM from which blocks may share copies: with fewer, memory is not what limits."""
