"""Who makes an access: the components of the clocks by which `shadow.py` tells what is ordered.

A warp is an agent, with a tick for each synchronisation. What runs beside the warps has agents of its own, so that a
wait for one of them orders that one and nothing else:
- the fence of a warp: the tick up to which the warp's stores are visible to the asynchronous proxy;
- the products of a warpgroup: a tick for each committed group of wgmma;
- the bulk stores of a warp: a tick for each committed group;
- an mbarrier: a tick for each phase, at which the tensor copies that count on it are complete;
- the previous kernel, where kernels overlap: a tick at which it is done.
"""

from __future__ import annotations

from dataclasses import dataclass

GROUP_WARPS = 4
"""Warps of a warpgroup."""
MOST_BARRIERS = 256
"""Mbarriers of a cluster."""


@dataclass(frozen=True)
class Agents:
    """The numbers of the agents of a cluster of `blocks` blocks with `warps` warps each."""

    blocks: int
    warps: int
    asynchronous: bool
    """Whether anything runs beside the warps."""

    @property
    def total(self) -> int:
        """Warps of all blocks."""
        return self.blocks * self.warps

    @property
    def size(self) -> int:
        """Components of a clock."""
        return 4 * self.total + MOST_BARRIERS + 1 if self.asynchronous else self.total

    @property
    def before(self) -> int:
        """The previous kernel."""
        return self.size - 1

    def fence(self, warp: int) -> int:
        """The fence of a warp, by its number in the cluster."""
        return self.total + warp

    def products(self, warp: int) -> int:
        """The products of a warp's warpgroup."""
        block, place = divmod(warp, self.warps)
        return 2 * self.total + block * self.warps + place // GROUP_WARPS

    def stores(self, warp: int) -> int:
        """The bulk stores of a warp."""
        return 3 * self.total + warp

    def barrier(self, number: int) -> int:
        """An mbarrier, by the order in which they were initialised."""
        return 4 * self.total + number

    def is_copy(self, agent: int) -> bool:
        """Whether an agent stands for tensor copies."""
        return agent >= 4 * self.total

    def name(self, agent: int) -> str:
        """An agent in words."""
        kind, place = divmod(agent, self.total)
        block, warp = divmod(place, self.warps)
        where = f" of block {block} of the cluster" if self.blocks > 1 else ""
        if kind == 0:
            return f"warp {warp}{where}"
        if kind == 2:
            return f"products of warpgroup {warp}{where}"
        return f"bulk stores of warp {warp}{where}" if kind == 3 else "tensor copies"
