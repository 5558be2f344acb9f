"""Runs a module at any stage, from the source to `launch`, on NumPy arrays: block-wide operations on whole tiles.

This is the fast interpreter. It computes what the IR says, and trusts the barriers: the checks are those of `kernel`,
which runs the output of `lower` lane by lane. Here a result is pinned to the stage that broke it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.parse import new_context, parse_module
from mlir_gemm.dialect.walk import body
from mlir_gemm.passes.check_input import the_function
from mlir_gemm.pipeline.annotations import SCHEDULE, written_schedule
from mlir_gemm.pipeline.schedule import Schedule
from mlir_gemm.simulator import tile_affine, tile_control, tile_lanes, tile_memory, tile_numbers, tile_ops
from mlir_gemm.simulator.errors import SimulationError
from mlir_gemm.simulator.tile_program import Decoder, Maker, State, StepMaker, Written, run_steps

FUNCTIONS: dict[str, Maker] = {
    **tile_numbers.FUNCTIONS,
    **tile_affine.FUNCTIONS,
    **tile_memory.FUNCTIONS,
    **tile_ops.FUNCTIONS,
    **tile_lanes.FUNCTIONS,
}
"""Operations that are a function of their operands."""
STEPS: dict[str, StepMaker] = {**tile_control.STEPS, **tile_memory.STEPS, **tile_ops.STEPS, **tile_lanes.STEPS}
"""All other operations."""


def run_stage(
    text: str,
    arrays: Sequence[Any],
    *,
    blocks: Collection[int] | None = None,
    written: list[Written] | None = None,
    filename: str = "-",
) -> None:
    """Runs a module, as text, at any stage from the source to `launch`.

    `arrays` are NumPy arrays for the function's arguments, then for its tensor results, written in place. `blocks`
    chooses blocks of the grid (from `parallelize` on). The regions that tile.store writes are added to `written`.
    Raises SimulationError, with the place, for an operation that it does not know.
    """
    module = parse_module(text, filename, new_context())
    with module.context, ir.Location.unknown():
        function = the_function(module)
        arguments = list(body(function).arguments)
        _check(arrays, arguments)
        state = State(list(arrays[len(arguments) :]), _units(function), blocks, written=written)
        decoder = Decoder(module, state, FUNCTIONS, STEPS)
        places = decoder.slots(arguments)
        steps = decoder.block(body(function))
        frame: list[Any] = [None] * decoder.size
        for place, array, argument in zip(places, arrays, arguments, strict=False):
            frame[place] = array.copy() if isinstance(argument.type, ir.RankedTensorType) else array
        with np.errstate(all="ignore"):  # infinities and NaN are results like any other
            run_steps(steps, frame)


def _check(arrays: Sequence[Any], arguments: Sequence[Any]) -> None:
    if len(arrays) < len(arguments):
        raise SimulationError(f"{len(arrays)} arrays given; the function has {len(arguments)} arguments")
    for number, (array, argument) in enumerate(zip(arrays, arguments, strict=False)):
        type_ = ir.ShapedType(argument.type)
        wanted = (tuple(type_.shape), tile_numbers.dtype_of(type_))
        if (array.shape, array.dtype) != wanted:
            raise SimulationError(f"argument {number}: {array.shape} {array.dtype} given, expected {argument.type}")


def _units(function: Any) -> int:
    """Warps in a block as the schedule says, which stands on the function from `select` on; 0 without one."""
    if SCHEDULE not in function.attributes:
        return 0
    return Schedule(**written_schedule(function)).warps
