"""Words in global memory by which blocks that run at the same time hand each other numbers: 32 bits of a number, and
above them a tag that says how often the word was written (lowering/grid_reduction.py).

They are llvm's atomic loads and stores of an i64. A word orders nothing but itself: a warp that finds the tag has the
number, and knows nothing else of the block that wrote it. A warp that finds nothing new since it loaded these words
last, by the same operation, waits until a block writes another.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mlir_gemm.dialect.grid_exchange import WORDS
from mlir_gemm.simulator.access import Access, lane_starts
from mlir_gemm.simulator.decode import Blocking, Decoder, Info, Step
from mlir_gemm.simulator.elements import ELEMENTS, LANES
from mlir_gemm.simulator.memory import Buffer
from mlir_gemm.simulator.report import Finding
from mlir_gemm.simulator.warps import Run, Stop, Wait, Warp

ADDRESS = 40
"""Bits of an address below the number of the memory, plus 1."""
_BYTES, _HALF = 8, 32


def word_operation(decoder: Decoder, operation: Any, address: int, value: int, loads: bool) -> Step | Blocking:
    """An atomic llvm.load or llvm.store of a word, of which address and value have these slots."""
    words = _Words(decoder, decoder.info(operation), address, value)
    return Blocking(words.load) if loads else words.store


def check_tags(buffer: Buffer, info: Info) -> None:
    """Reports words of which some were written more often than others of their line: the next launch would wait for
    ever."""
    if buffer.name != WORDS:
        return
    assert buffer.view is not None
    lines, blocks, each = buffer.view.sizes
    tags = (buffer.data[: buffer.size].view(np.uint64) >> np.uint64(_HALF)).reshape(lines, blocks * each)
    wrong = np.flatnonzero(tags != tags.max(1, keepdims=True))
    if len(wrong):
        place = buffer.view.describe(int(wrong[0]) * _BYTES)
        message = f"{len(wrong)} words were written less often than others, which a later launch waits for"
        info.report.add(Finding("word", info.operation, info.location, -1, -1, -1, place, message))


class _Words:
    """One operation's access to words."""

    def __init__(self, decoder: Decoder, info: Info, address: int, value: int):
        self._memory = decoder.memory
        self._info = info
        self._address, self._value = address, value
        self._access = Access(decoder, info, ELEMENTS["i64"], 1, _BYTES)

    def store(self, warp: Warp) -> None:
        """By one lane, of the block whose word it is, with the next tag."""
        buffer, starts, lanes = self._at(warp)
        values = np.broadcast_to(np.asarray(warp.slots[self._value], np.int64), LANES)[lanes].view(np.uint64)
        at, lane = int(starts[0]), int(lanes[0])
        if len(lanes) > 1:
            self._info.find("word", warp, lane, _place(buffer, at), f"is written by {len(lanes)} lanes at once")
        old = int(buffer.data[at : at + _BYTES].view(np.uint64)[0]) >> _HALF
        new = int(values[0]) >> _HALF
        if new != (old + 1) % (1 << _HALF):
            message = f"has the tag {old} and gets {new}; expected the next"
            self._info.find("word", warp, lane, _place(buffer, at), message)
        writer, _ = buffer.raised.get(at, (warp.block.number, None))
        if writer != warp.block.number:
            self._info.find("word", warp, lane, _place(buffer, at), f"is written by block {writer} too")
        buffer.raised[at] = warp.block.number, None
        buffer.data[at : at + _BYTES].view(np.uint64)[0] = values[0]
        buffer.written += 1

    def load(self, warp: Warp) -> Run:
        """By each lane one. A warp that loads again waits for something new."""
        buffer, starts, lanes = self._at(warp)
        if warp.flags.get(self) == buffer.written:
            before = buffer.written
            places = ", ".join(_place(buffer, int(at)) for at in starts[:1])
            yield Wait(self._info, lambda: buffer.written != before, lambda: f"words to be written, such as {places}")
        warp.flags[self] = buffer.written
        full = np.zeros(LANES, np.int64)
        full[lanes] = buffer.gather(starts, _BYTES, np.int64)[:, 0]
        warp.slots[self._value] = full

    def _at(self, warp: Warp) -> tuple[Buffer, Any, Any]:
        """The memory, and the bytes of the active lanes' words."""
        starts, lanes, _ = lane_starts(warp, warp.slots[self._address])
        starts = np.asarray(starts, np.int64)
        number = int(starts[0] >> ADDRESS) - 1
        inside = starts & ((1 << ADDRESS) - 1)
        size = self._memory[number].size if 0 <= number < len(self._memory) else 0
        bad = ((starts >> ADDRESS) - 1 != number) | (inside + _BYTES > size) | (inside % _BYTES != 0)
        if bad.any():
            first = int(bad.argmax())
            message = f"address {int(starts[first])}, where no word is"
            self._info.find("out-of-bounds", warp, int(lanes[first]), "", message)
            raise Stop("a word where there is no memory")
        buffer = self._memory[number]
        assert buffer.view is not None
        self._access.watch_early(warp, buffer.view, int(lanes[0]))
        return buffer, inside, lanes


def _place(buffer: Buffer, at: int) -> str:
    assert buffer.view is not None
    return buffer.view.describe(at)
