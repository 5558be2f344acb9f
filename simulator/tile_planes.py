"""tile.planes in the block-wide interpreter: planes seen as one matrix, which is put back where a function ends."""

from __future__ import annotations

from typing import Any

import numpy as np

from mlir_gemm.simulator.tile_program import Decoder, Frame, State, Step, StepMaker


def _planes(decoder: Decoder, operation: Any) -> Step:
    inputs, output = decoder.slots(operation.operation.operands), decoder.slot(operation.operation.results[0])

    def step(frame: Frame) -> None:
        planes = [frame[slot] for slot in inputs]
        known = decoder.state.planes
        key = tuple(map(id, planes))
        if key not in known:  # the blocks of a grid see the same one
            whole: Any = np.stack(planes, -1)
            known[key] = (whole.reshape(*whole.shape[:-2], -1), planes)
        frame[output] = known[key][0]

    return step


def put_back(state: State) -> None:
    """Writes what has become of the matrices to their planes."""
    for whole, planes in state.planes.values():
        for number, plane in enumerate(planes):
            plane[...] = whole[..., number :: len(planes)]
    state.planes.clear()


STEPS: dict[str, StepMaker] = {"tile.planes": _planes}
