"""tile.reduce on whole tiles: halves are combined until one element is left, then what the blocks of a cluster have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.reductions import BLOCKS
from mlir_gemm.dialect.walk import body, in_block
from mlir_gemm.simulator.tile_clusters import fault
from mlir_gemm.simulator.tile_program import FRAMES, RANK, Decoder, Frame, Step, StepMaker, run_steps


def _reduce(decoder: Decoder, operation: Any) -> Step:
    dim = ir.IntegerAttr(operation.operation.attributes["dim"]).value
    inputs, results = (decoder.slots(part) for part in (operation.operation.operands, operation.operation.results))
    *inside, last = in_block(body(operation))
    arguments = decoder.slots(body(operation).arguments)
    steps = decoder.steps(inside)
    yielded = decoder.slots(last.operation.operands)

    gather = _gathering(decoder, operation)

    def combined(frame: Frame, values: list[Any]) -> list[Any]:
        while len(values[0]) > 1:
            half = len(values[0]) // 2
            left, right = [value[:half] for value in values], [value[half : 2 * half] for value in values]
            for slot, value in zip(arguments, [*left, *right], strict=True):
                frame[slot] = value
            run_steps(steps, frame)
            rest = [value[2 * half :] for value in values]
            values = [np.concatenate([np.asarray(frame[slot]), odd]) for slot, odd in zip(yielded, rest, strict=True)]
        return values

    def step(frame: Frame) -> None:
        values = combined(frame, [np.moveaxis(np.asarray(frame[slot]), dim, 0) for slot in inputs])
        if gather is not None:
            values = combined(frame, gather(frame, values))
        for slot, value in zip(results, values, strict=True):
            frame[slot] = np.moveaxis(value, 0, dim)

    return step


def _gathering(decoder: Decoder, operation: Any) -> Callable[[Frame, list[Any]], list[Any]] | None:
    """A function that waits for all blocks of the cluster to bring their values, and gives them, one after another
    along the first dimension; None where blocks reduce alone."""
    if BLOCKS not in operation.operation.attributes:
        return None
    state = decoder.state
    frames, rank, mine = decoder.slot(FRAMES), decoder.slot(RANK), decoder.slot(operation.operation)
    blocks = ir.IntegerAttr(operation.operation.attributes[BLOCKS]).value

    def gather(frame: Frame, values: list[Any]) -> list[Any]:
        if frame[rank] is None or len(frame[frames]) != blocks:
            raise fault(operation, f"outside a cluster of {blocks} blocks")
        frame[mine] = [*(frame[mine] or []), values]
        turn = len(frame[mine])
        others = frame[frames]
        state.coroutines.wait(
            lambda: all(len(other[mine] or []) >= turn for other in others), "the cluster to bring its rows"
        )
        brought = [other[mine][turn - 1] for other in others]
        return [np.concatenate(several) for several in zip(*brought, strict=True)]

    return gather


STEPS: dict[str, StepMaker] = {"tile.reduce": _reduce}
