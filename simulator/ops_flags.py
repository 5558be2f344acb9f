"""Flags in global memory, by which a warp of one block signals a warp of another: raised, waited for and lowered.

They are llvm's atomic loads and stores (lowering/stream_k_fixup.py). What a warp had seen when it raised a flag with
`release` (what its own lanes did up to their last meeting, and all that was ordered before) is ordered before what the
warp does that has loaded it with `acquire`. What a warp learns of other blocks is its own: barriers do not hand it on.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.lowering.stream_k_fixup import SCOPE
from mlir_gemm.simulator.access import Access, lane_starts
from mlir_gemm.simulator.decode import Blocking, Decoder, Info, Step
from mlir_gemm.simulator.elements import ELEMENTS, LANES
from mlir_gemm.simulator.errors import unsupported
from mlir_gemm.simulator.memory import Buffer
from mlir_gemm.simulator.ops_words import ADDRESS, word_operation
from mlir_gemm.simulator.warps import Run, Stop, Wait, Warp

GLOBAL = "!llvm.ptr<1>"
_BYTES = 4


def flag_operation(decoder: Decoder, operation: Any) -> Step | Blocking:
    """An atomic llvm.load or llvm.store of a flag."""
    op = operation.operation
    loads = op.name == "llvm.load"
    value, pointer = (op.results[0], op.operands[0]) if loads else op.operands
    order = dialect("llvm").AtomicOrdering(_number(op, "ordering"))
    scope = ir.StringAttr(op.attributes["syncscope"]).value if "syncscope" in op.attributes else "system"
    if str(value.type) == "i64" and order.name == "monotonic" and scope in (SCOPE, "system"):
        return word_operation(decoder, operation, decoder.slot(pointer), decoder.slot(value), loads)
    wanted = ("monotonic", "acquire" if loads else "release")
    if str(value.type) != "i32" or order.name not in wanted or scope not in (SCOPE, "system"):
        raise unsupported(
            operation,
            f"of {value.type} with '{order.name}' for the {scope} is not simulated; expected a flag, an i32, with "
            f"{' or '.join(wanted)} for the {SCOPE}",
        )
    if _number(op, "alignment") != _BYTES:
        raise unsupported(operation, f"of a flag must be aligned to {_BYTES} bytes")
    slots, orders = (decoder.slot(pointer), decoder.slot(value)), order.name != wanted[0]
    flags = _Flags(decoder, decoder.info(operation), *slots, orders)
    return Blocking(flags.load) if loads else flags.store


def _number(op: Any, name: str) -> int:
    return ir.IntegerAttr(op.attributes[name]).value if name in op.attributes else 0


class _Flags:
    """One operation's access to flags."""

    def __init__(self, decoder: Decoder, info: Info, address: int, value: int, orders: bool):
        self._memory = decoder.memory
        self._info = info
        self._address, self._value = address, value
        self._orders = orders
        """Whether it orders what was done before it, or is done after it."""
        self._access = Access(decoder, info, ELEMENTS["i32"], 1, _BYTES)

    def store(self, warp: Warp) -> None:
        """By one lane: what the other lanes did since they last met is not known to those who load it."""
        buffer, at, lane = self._at(warp)
        numbers = np.broadcast_to(np.asarray(warp.slots[self._value]), LANES)
        stored = set(numbers.tolist() if warp.mask is None else numbers[warp.mask].tolist())
        if stored not in ({0}, {1}):
            self._info.find("flag", warp, lane, _place(buffer, at), f"is set to {sorted(stored)}; expected 0 or 1")
            raise Stop("a flag that is neither up nor down")
        (self._raise if stored == {1} else self._lower)(warp, buffer, at, lane)

    def _raise(self, warp: Warp, buffer: Buffer, at: int, lane: int) -> None:
        if self._is_up(buffer, at):
            self._info.find("flag", warp, lane, _place(buffer, at), "is up already")
        if not self._orders:
            self._info.find("flag", warp, lane, _place(buffer, at), "is raised without 'release'")
        buffer.data[at] = 1
        buffer.raised[at] = warp.block.cluster.number, warp.seen.copy()

    def load(self, warp: Warp) -> Run:
        """By all lanes of a warp. One that finds a flag down again, and has done nothing else with flags in between,
        waits until it is up: it would learn nothing before."""
        buffer, at, lane = self._at(warp)
        if warp.diverged:
            self._info.find("divergent-collective", warp, lane, _place(buffer, at), "not all lanes wait for the flag")
        ready = functools.partial(self._is_up, buffer, at)
        again, warp.polled = warp.polled == (buffer, at), (buffer, at)
        if again and not ready():
            yield Wait(self._info, ready, lambda: f"a flag to be raised: {_place(buffer, at)}")
        warp.slots[self._value] = np.int32(ready())
        if not ready():
            return
        warp.polled = None
        if self._orders:
            number, known = buffer.raised[at]
            before = warp.learnt.get(number)
            warp.learnt[number] = known if before is None else np.maximum(before, known)
        warp.flags[buffer, at] = warp.clock

    def _lower(self, warp: Warp, buffer: Buffer, at: int, lane: int) -> None:
        """By the warp that waited for it, once its lanes have met."""
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
