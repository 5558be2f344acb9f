"""Accesses to memory by a warp: bounds, alignment, shadow memory and counters around the movement of bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mlir_gemm.simulator.agents import Agents
from mlir_gemm.simulator.decode import Decoder, Info
from mlir_gemm.simulator.elements import LANES, Array, Element, is_array
from mlir_gemm.simulator.memory import POISON, View, count
from mlir_gemm.simulator.shadow import ANY_LANE, Conflict, Shadow
from mlir_gemm.simulator.warps import Warp

BARRIER_BYTES = 8
"""Of an mbarrier."""
MATRICES = "nvgpu.ldmatrix"
"""Loads of a whole warp, which come in order."""


class Access:
    """One operation's access to memory: rows of `count` elements, a row for each lane or for each row of a fragment."""

    def __init__(self, decoder: Decoder, info: Info, element: Element, elements: int, alignment: int = 1):
        self.info = info
        self.element = element
        self.width = elements * element.bytes
        self.alignment = alignment
        self.awaited = info.operation == MATRICES
        """Whether the warp waits for what it loads before anything else may overwrite it."""
        self.checks = decoder.options.checks
        self.counters = decoder.report.counters if decoder.options.counters else None

    def read(self, warp: Warp, view: View, starts: Array, lanes: Array | None, codes: Any) -> Array:
        """Rows at byte addresses `starts`: values as an array (rows, elements)."""
        inside = self._inside(warp, view, starts, lanes)
        if inside is not None:
            rows = np.full((len(starts), self.width), POISON, np.uint8).view(self.element.storage)
            if np.count_nonzero(inside):
                kept = starts[inside]
                self._watch(warp, view, kept, _some(lanes, inside), _some(codes, inside), "read")
                rows[inside] = view.buffer.gather(kept, self.width, self.element.storage)
        else:
            self._watch(warp, view, starts, lanes, codes, "read")
            rows = view.buffer.gather(starts, self.width, self.element.storage)
        return self.element.load(rows)

    def write(self, warp: Warp, view: View, starts: Array, lanes: Array | None, codes: Any, rows: Array) -> None:
        """Writes values, an array (rows, elements), to byte addresses `starts`."""
        inside = self._inside(warp, view, starts, lanes)
        if inside is not None:
            if not np.count_nonzero(inside):
                return
            starts, rows = starts[inside], rows[inside]
            lanes, codes = _some(lanes, inside), _some(codes, inside)
        self._watch(warp, view, starts, lanes, codes, "write")
        view.buffer.scatter(starts, self.width, self.element.store(rows))

    def write_later(
        self, warp: Warp, view: View, starts: Array, lanes: Array | None, codes: Any, rows: Array
    ) -> Callable[[Warp], None]:
        """Checks a write that takes place at some time before it is waited for; calling the result makes it happen."""
        inside = self._inside(warp, view, starts, lanes)
        if inside is not None:
            if not np.count_nonzero(inside):
                return lambda warp: None
            starts, rows = starts[inside], rows[inside]
            lanes, codes = _some(lanes, inside), _some(codes, inside)
        self._watch(warp, view, starts, lanes, codes, "begin_async")
        content = self.element.store(rows)

        def arrive(warp: Warp) -> None:
            if self.checks and view.buffer.shadow is not None:
                if view.buffer.space == "shared":
                    warp.unfenced = warp.unfenced | _lanes_of(codes)
                view.buffer.shadow.end_async(warp, starts, self.width, codes)
            view.buffer.scatter(starts, self.width, content)

        return arrive

    def _inside(self, warp: Warp, view: View, starts: Array, lanes: Array | None) -> Array | None:
        """Which rows lie inside the buffer; None for all. Reports the others."""
        last = view.buffer.size - self.width
        outside = (starts < 0) | (starts > last)
        if not np.count_nonzero(outside):
            return None
        row = int(outside.argmax())
        message = f"{self.width} bytes at {starts[row]}; the buffer has {view.buffer.size}"
        self._find("out-of-bounds", warp, view, starts, lanes, row, message)
        return ~outside

    def _watch(self, warp: Warp, view: View, starts: Array, lanes: Array | None, codes: Any, kind: str) -> None:
        buffer = view.buffer
        if self.counters is not None and buffer.space != "private":
            self.counters.count(buffer.space, "load" if kind == "read" else "store", self.info, starts, self.width)
        if not self.checks:
            return
        if buffer.space == "global" and warp.block.cluster.early:
            self.watch_early(warp, view, -1 if lanes is None else int(lanes[0]))
        if self.alignment > 1 and int(np.bitwise_or.reduce(starts)) % self.alignment:
            row = int((starts % self.alignment != 0).argmax())
            message = f"byte {starts[row]} is no multiple of {self.alignment}"
            self._find("misaligned", warp, view, starts, lanes, row, message)
        if buffer.shadow is None:
            if buffer.space != "global" or kind == "read":
                return
            # An argument that was said to be only read: watched from its first write on.
            buffer.shadow = Shadow(buffer.size, warp.block.cluster.agents.total, initialized=True, between_blocks=True)
        if buffer.space == "shared" and warp.block.cluster.barriers:
            self._watch_barriers(warp, view, starts, lanes)
        if buffer.space == "shared" and (kind == "write" or (kind == "read" and not self.awaited)):
            warp.unfenced = warp.unfenced | _lanes_of(codes)
        found: list[Conflict] = getattr(buffer.shadow, kind)(warp, starts, self.width, codes)
        if found:
            self.report(found, warp, view, starts, lanes, "reads" if kind == "read" else "writes")

    def watch_early(self, warp: Warp, view: View, lane: int) -> None:
        """Reports an access to global memory that may come before the previous kernel is done with it."""
        cluster = warp.block.cluster
        if cluster.early and warp.seen[cluster.agents.before] <= cluster.start:
            message = "the kernel in front may still use it: no griddepcontrol wait comes before this"
            self.info.find("dependent-launch", warp, lane, f"{view.buffer.space} {view.buffer.name}", message)

    def watch_later(
        self, warp: Any, view: View, starts: Array, width: int, lane: int, agent: int, tick: int, verb: str
    ) -> None:
        """Checks and records an access to rows (`read` or `write`) that an agent beside the warps makes for a lane, or
        for ANY_LANE. To shared memory it goes through the asynchronous proxy."""
        buffer = view.buffer
        shared = buffer.space == "shared"
        if shared:
            row = barrier_row(buffer.block.mbarriers, buffer.address, starts, width)
            if row >= 0:
                self._find("mbarrier", warp, view, starts, None, row, "there is an mbarrier, and no data")
        if buffer.shadow is None:
            if shared or verb == "read":
                return
            warps = warp.block.cluster.agents.total
            buffer.shadow = Shadow(buffer.size, warps, initialized=True, between_blocks=True)
        act = buffer.shadow.read_later if verb == "read" else buffer.shadow.write_later
        found = act(warp, starts, width, lane, agent, tick, shared)
        if found:
            self.report(found, warp, view, starts, None, f"{verb}s")

    def _watch_barriers(self, warp: Warp, view: View, starts: Array, lanes: Array | None) -> None:
        """Reports an access to a place where an mbarrier is."""
        row = barrier_row(view.buffer.block.mbarriers, view.buffer.address, starts, self.width)
        if row >= 0:
            self._find("mbarrier", warp, view, starts, lanes, row, "there is an mbarrier, and no data")

    def report(
        self, found: list[Conflict], warp: Warp, view: View, starts: Array, lanes: Array | None, verb: str
    ) -> None:
        """Turns what shadow memory found into findings."""
        for conflict in found:
            check = conflict.check
            message = f"{verb} what nobody has written"
            if check == "race":
                check = f"race-{view.buffer.space}"
                message = f"{verb} what was {conflict.how}"
                agents = warp.block.cluster.agents
                if conflict.agent >= agents.total:
                    message = _beside(verb, agents, conflict)
                    check = "async-not-awaited" if agents.is_copy(conflict.agent) else check
                elif conflict.agent >= 0:
                    lane = f" lane {conflict.lane}" if conflict.lane >= 0 else ""
                    message += f" {agents.name(conflict.agent)}{lane} with no barrier in between"
            elif check == "uninitialized":
                check = "uninitialized-shared" if view.buffer.space == "shared" else "uninitialized-output"
            elif check == "async-not-awaited":
                message = f"{verb} the target of a copy by warp {conflict.agent} that was not waited for"
            elif check == "proxy":
                who = warp.block.cluster.agents.name(conflict.agent)
                did = "wrote" if conflict.how == "written by" else "read"
                message = f"{verb}, through the asynchronous proxy, what {who} {did} without a fence.proxy after it"
            self._find(check, warp, view, starts, lanes, conflict.row, message)

    def _find(
        self, check: str, warp: Warp, view: View, starts: Array, lanes: Array | None, row: int, message: str
    ) -> None:
        lane = -1 if lanes is None else int(lanes[row])
        self.info.find(check, warp, lane, view.describe(int(starts[row])), message)


def _beside(verb: str, agents: Agents, conflict: Conflict) -> str:
    """What is wrong with an access to what runs beside the warps."""
    if agents.is_copy(conflict.agent):
        return f"{verb} the target of a tensor copy before a wait on its mbarrier made it sure that it is there"
    return f"{verb} what {agents.name(conflict.agent)} may still read: nothing that waited for them is in front of this"


def _some(values: Any, inside: Array) -> Any:
    return values[inside] if is_array(values) else values


def barrier_row(barriers: dict[int, Any], base: int, starts: Array, width: int) -> int:
    """The first row that touches one of a block's mbarriers, or -1. `base` is the address of the buffer."""
    if not barriers:
        return -1
    low, high = min(barriers) - base, max(barriers) - base + BARRIER_BYTES
    near = (starts < high) & (starts + width > low)
    if not np.count_nonzero(near):
        return -1
    places = np.array(list(barriers)) - base
    hit = ((starts[:, None] < places + BARRIER_BYTES) & (starts[:, None] + width > places)).any(axis=1)
    return int(hit.argmax()) if np.count_nonzero(hit) else -1


def _lanes_of(codes: Any) -> Any:
    """Which lanes make an access, from their codes; True for all."""
    if not is_array(codes) or np.count_nonzero((codes & ANY_LANE) >= LANES):
        return True
    found = np.zeros(LANES, np.bool_)
    found[codes & ANY_LANE] = True
    return found


def lane_starts(warp: Warp, base: Any) -> tuple[Array, Array, Array]:
    """For an access by each lane: the addresses, the lanes and the codes of those that are active."""
    lanes = count(LANES)
    starts = base if is_array(base) else np.full(LANES, base, np.int64)
    if warp.mask is not None:
        lanes = np.flatnonzero(warp.mask)
        starts = starts[lanes]
    return starts, lanes, lanes + warp.code


def addresses(
    decoder: Decoder, operation: Any, memory: Any, indices: Any, extents: tuple[int, ...], info: Info
) -> Callable[[Warp], tuple[View, Any]]:
    """A function that gives the view and the byte address of `memory[indices]`, one for all lanes or one for each.

    `extents` is how many elements are accessed along the last dimensions; every index is checked against the sizes.
    """
    place = decoder.slot(memory)
    slots = decoder.all_slots(indices)
    reach = (1,) * (len(slots) - len(extents)) + extents
    checks = decoder.options.checks

    def address(warp: Warp) -> tuple[View, Any]:
        values = warp.slots
        view: View = values[place]
        offset: Any = 0
        for axis, slot in enumerate(slots):
            index = values[slot]
            if checks:
                _check_index(warp, info, view, axis, index, reach[axis])
            offset = offset + index * view.strides[axis]
        return view, view.base + offset * view.element.bytes

    return address


def _check_index(warp: Warp, info: Info, view: View, axis: int, index: Any, reach: int) -> None:
    last = view.sizes[axis] - reach
    if is_array(index):
        outside = index.view(np.uint64) > last if last >= 0 else np.ones(LANES, np.bool_)
        if not np.count_nonzero(outside):
            return
        if warp.mask is not None:
            outside = outside & warp.mask
            if not np.count_nonzero(outside):
                return
        lane = int(outside.argmax())
        number = int(index[lane])
    elif 0 <= index <= last:
        return
    else:
        lane, number = -1 if info.collective else info.first_lane(warp), int(index)
    shape = "x".join(map(str, view.sizes))
    last_index = "" if reach == 1 else f" to {number + reach - 1}"
    message = f"index {number}{last_index} of dimension {axis}; expected 0 to {view.sizes[axis] - 1}"
    where = f"{view.buffer.space} {view.buffer.name} as {shape}x{view.element.name}"
    info.find("out-of-bounds", warp, lane, where, message)
