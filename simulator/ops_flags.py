"""Flags in global memory, by which a warp of one block lets a warp of another go on: raised, waited for and lowered.

They come as assembly (operators/part_sum.py). What a warp had seen when it raised a flag (what its own lanes did up to
their last meeting, and all that was ordered before) is ordered before what the warp does that waits for it. What a warp
learns of other blocks is its own: barriers do not hand it on.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.operators.part_sum import AWAIT, LOWER, RAISE
from mlir_gemm.simulator.access import Access, lane_starts
from mlir_gemm.simulator.decode import Blocking, Decoder, Info, Step
from mlir_gemm.simulator.elements import ELEMENTS
from mlir_gemm.simulator.errors import unsupported
from mlir_gemm.simulator.memory import Buffer
from mlir_gemm.simulator.warps import Run, Stop, Wait, Warp

ADDRESS = 40
"""Bits of an address below the number of the memory, plus 1."""
_BYTES = 4


def flag_operation(decoder: Decoder, operation: Any, text: str) -> Step | Blocking:
    """The assembly of one of the three operations."""
    op = operation.operation
    constraints = ir.StringAttr(op.attributes["constraints"]).value
    if constraints != "l,~{memory}" or "has_side_effects" not in op.attributes:
        raise unsupported(operation, f"'{text}' must have side effects, on memory too, and the address of a flag")
    flags = _Flags(decoder, decoder.info(operation), decoder.slot(op.operands[0]))
    if text == AWAIT:
        return Blocking(flags.wait)
    return flags.raise_ if text == RAISE else flags.lower


TEXTS = (RAISE, AWAIT, LOWER)


class _Flags:
    """One operation's way to flags."""

    def __init__(self, decoder: Decoder, info: Info, address: int):
        self._memory = decoder.memory
        self._info = info
        self._address = address
        self._access = Access(decoder, info, ELEMENTS["i32"], 1, _BYTES)

    def raise_(self, warp: Warp) -> None:
        """By one lane: what the other lanes did since they last met is not known to those who wait."""
        buffer, at, lane = self._at(warp)
        if self._is_up(buffer, at):
            self._info.find("flag", warp, lane, _place(buffer, at), "is up already")
        buffer.data[at] = 1
        buffer.raised[at] = warp.block.cluster.number, warp.seen.copy()

    def wait(self, warp: Warp) -> Run:
        """By all lanes of a warp."""
        buffer, at, lane = self._at(warp)
        if warp.diverged:
            self._info.find("divergent-collective", warp, lane, _place(buffer, at), "not all lanes wait for the flag")
        ready = functools.partial(self._is_up, buffer, at)
        if not ready():
            yield Wait(self._info, ready, lambda: f"a flag to be raised: {_place(buffer, at)}")
        number, known = buffer.raised[at]
        before = warp.learnt.get(number)
        warp.learnt[number] = known if before is None else np.maximum(before, known)
        warp.flags[buffer, at] = warp.clock

    def lower(self, warp: Warp) -> None:
        """By one lane of the warp that waited for it, once its lanes have met."""
        buffer, at, lane = self._at(warp)
        waited = warp.flags.pop((buffer, at), None)
        if waited is None:
            self._info.find("flag", warp, lane, _place(buffer, at), "is lowered by a warp that did not wait for it")
        elif warp.seen[warp.index] < waited:
            self._info.find("flag", warp, lane, _place(buffer, at), "is lowered while other lanes may wait for it")
        buffer.data[at] = 0

    def _is_up(self, buffer: Buffer, at: int) -> bool:
        return bool(buffer.data[at])

    def _at(self, warp: Warp) -> tuple[Buffer, int, int]:
        """The memory and the byte of a flag, the same for all lanes, and the first lane."""
        starts, lanes, _ = lane_starts(warp, warp.slots[self._address])
        first, lane = int(starts[0]), int(lanes[0])
        number, at = (first >> ADDRESS) - 1, first & ((1 << ADDRESS) - 1)
        if not 0 <= number < len(self._memory) or at + _BYTES > self._memory[number].size or at % _BYTES:
            self._info.find("out-of-bounds", warp, lane, "", f"address {first}, where no flag is")
            raise Stop("a flag where there is no memory")
        if (starts != first).any():
            self._info.find("divergent-collective", warp, lane, "", "lanes name different flags")
        buffer = self._memory[number]
        view = buffer.view
        assert view is not None
        self._access.watch_early(warp, view, lane)
        return buffer, at, lane


def _place(buffer: Buffer, at: int) -> str:
    assert buffer.view is not None
    return buffer.view.describe(at)
