"""tile.reduce on whole tiles: halves are combined until one element is left."""

from __future__ import annotations

from typing import Any

import numpy as np

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.walk import body, in_block
from mlir_gemm.simulator.tile_program import Decoder, Frame, Step, StepMaker, run_steps


def _reduce(decoder: Decoder, operation: Any) -> Step:
    dim = ir.IntegerAttr(operation.operation.attributes["dim"]).value
    inputs, results = (decoder.slots(part) for part in (operation.operation.operands, operation.operation.results))
    *inside, last = in_block(body(operation))
    arguments = decoder.slots(body(operation).arguments)
    steps = decoder.steps(inside)
    yielded = decoder.slots(last.operation.operands)

    def step(frame: Frame) -> None:
        values = [np.moveaxis(np.asarray(frame[slot]), dim, 0) for slot in inputs]
        while len(values[0]) > 1:
            half = len(values[0]) // 2
            left, right = [value[:half] for value in values], [value[half : 2 * half] for value in values]
            for slot, value in zip(arguments, [*left, *right], strict=True):
                frame[slot] = value
            run_steps(steps, frame)
            rest = [value[2 * half :] for value in values]
            values = [np.concatenate([np.asarray(frame[slot]), odd]) for slot, odd in zip(yielded, rest, strict=True)]
        for slot, value in zip(results, values, strict=True):
            frame[slot] = np.moveaxis(value, 0, dim)

    return step


STEPS: dict[str, StepMaker] = {"tile.reduce": _reduce}
