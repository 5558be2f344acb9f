"""tile.reduce on whole tiles: halves are combined until one element is left, then what the blocks of a cluster have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.reductions import BLOCKS
from mlir_gemm.dialect.walk import body, in_block
from mlir_gemm.simulator.tile_clusters import fault
from mlir_gemm.simulator.tile_program import FRAMES, RANK, Decoder, Frame, Step, StepMaker, run_steps, uniform

Combined = Callable[[Frame, list[Any]], list[Any]]


def _combining(decoder: Decoder, operation: Any) -> Combined:
    """A function that combines the elements of each value along its first dimension."""
    *inside, last = in_block(body(operation))
    arguments = decoder.slots(body(operation).arguments)
    steps = decoder.steps(inside)
    yielded = decoder.slots(last.operation.operands)

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

    return combined


def _reduce(decoder: Decoder, operation: Any) -> Step:
    dim = ir.IntegerAttr(operation.operation.attributes["dim"]).value
    inputs, results = (decoder.slots(part) for part in (operation.operation.operands, operation.operation.results))
    combined, blocks = _combining(decoder, operation), constants.number_of(operation, BLOCKS, 0)
    gather = _gathering(decoder, operation, blocks) if blocks else None

    def step(frame: Frame) -> None:
        values = combined(frame, [np.moveaxis(np.asarray(frame[slot]), dim, 0) for slot in inputs])
        if gather is not None:
            values = combined(frame, gather(frame, values))
        for slot, value in zip(results, values, strict=True):
            frame[slot] = np.moveaxis(value, 0, dim)

    return step


def _grid_reduce(decoder: Decoder, operation: Any) -> Step:
    """What blocks that run at the same time have. Which line of words each has is checked; the words are not used."""
    words, group, own, *inputs = decoder.slots(operation.operation.operands)
    results, rank = decoder.slots(operation.operation.results), decoder.slot(RANK)
    blocks = operation.operation.operands[0].type.shape[1]
    combined, gather = _combining(decoder, operation), _gathering(decoder, operation, blocks)

    def step(frame: Frame) -> None:
        lines = frame[words]
        place = uniform(frame[group], "a group of blocks"), uniform(frame[own], "the rank of a block")
        if not 0 <= place[0] < lines.shape[0] or place[1] != frame[rank]:
            raise fault(operation, f"has the line {place} of {lines.shape[0]} groups; its rank is {frame[rank]}")
        values = gather(frame, [np.asarray(frame[slot])[None] for slot in inputs])
        for slot, value in zip(results, combined(frame, values), strict=True):
            frame[slot] = value[0]

    return step


def _gathering(decoder: Decoder, operation: Any, blocks: int) -> Combined:
    """A function that waits for all blocks of the cluster, or of the group, to bring their values, and gives them, one
    after another along the first dimension."""
    state = decoder.state
    frames, rank, mine = decoder.slot(FRAMES), decoder.slot(RANK), decoder.slot(operation.operation)

    def gather(frame: Frame, values: list[Any]) -> list[Any]:
        if frame[rank] is None or len(frame[frames]) != blocks:
            raise fault(operation, f"outside a cluster, or a group of the grid, of {blocks} blocks")
        frame[mine] = [*(frame[mine] or []), values]
        turn = len(frame[mine])
        others = frame[frames]
        state.coroutines.wait(
            lambda: all(len(other[mine] or []) >= turn for other in others), "the cluster to bring its rows"
        )
        brought = [other[mine][turn - 1] for other in others]
        return [np.concatenate(several) for several in zip(*brought, strict=True)]

    return gather


STEPS: dict[str, StepMaker] = {"tile.reduce": _reduce, "tile.grid_reduce": _grid_reduce}
