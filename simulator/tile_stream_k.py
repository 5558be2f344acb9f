"""Parts of sums that blocks hand over through global memory, at tile level.

A place holds a tile's elements in an order of its own: whole tiles row by row, those of a block's units one after the
other. Blocks run one after another, so whoever waits for a part that is not there waits for ever.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mlir_gemm.simulator.tile_clusters import fault
from mlir_gemm.simulator.tile_program import Decoder, Frame, PerUnit, Step, StepMaker, uniform


def _elements(value: Any) -> Any:
    """All elements of a tile, those of a block's units one after the other."""
    return np.concatenate([np.asarray(part).reshape(-1) for part in (value if type(value) is PerUnit else [value])])


def _like(value: Any, elements: Any) -> Any:
    """These elements as a tile, or as the tiles of as many units."""
    if type(value) is not PerUnit:
        return elements.reshape(value.shape)
    return PerUnit(part.reshape(value[0].shape) for part in np.split(elements, len(value)))


def _store_partials(decoder: Decoder, operation: Any) -> Step:
    value, partials, flags, place = decoder.slots(operation.operation.operands)

    def step(frame: Frame) -> None:
        at = uniform(frame[place], "a place for a part")
        if frame[flags][at].any():
            raise fault(operation, f"leaves a part at place {at}, where one is")
        frame[partials][at].reshape(-1)[:] = _elements(frame[value])
        frame[flags][at] = 1

    return step


def _fix_up(decoder: Decoder, operation: Any) -> Step:
    value, partials, flags, first, count = decoder.slots(operation.operation.operands)
    out = decoder.slot(operation.operation.results[0])

    def step(frame: Frame) -> None:
        total, start = frame[value], uniform(frame[first], "a place for a part")
        for at in range(start, start + uniform(frame[count], "a number of partials")):
            if not frame[flags][at].all():
                raise fault(operation, f"waits for a part at place {at}, which no block has left")
            total = _like(total, _elements(total) + frame[partials][at].reshape(-1))
            frame[flags][at] = 0
        frame[out] = total

    return step


STEPS: dict[str, StepMaker] = {"tile.store_partials": _store_partials, "tile.fix_up": _fix_up}
