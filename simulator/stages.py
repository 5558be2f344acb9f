"""Runs a module at any stage, from the source to `lower`, on NumPy arrays: block-wide operations on whole tiles.

This is the fast interpreter. It computes what the IR says, and trusts the barriers; the checks are in `kernel`, which
runs the output of `lower` lane by lane. This one tells which stage broke a result.

A program (`tile.run` in its main function) runs its kernels in order, each nested module at its own stage. A kernel
without tiles, with operations of single lanes, runs on the engine of `kernel`, without the checks.
"""

from __future__ import annotations

import importlib
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from mlir_gemm.dialect.arguments import argument_attributes
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.outlining.stand_ins import fixed_type
from mlir_gemm.dialect.sizes import symbol_values, told
from mlir_gemm.dialect.walk import body, in_block, named, operations
from mlir_gemm.errors import InputError
from mlir_gemm.simulator import (
    tile_affine,
    tile_control,
    tile_functions,
    tile_lanes,
    tile_linalg,
    tile_memory,
    tile_numbers,
    tile_ops,
    tile_places,
    tile_planes,
    tile_reductions,
    tile_rings,
    tile_tensors,
)
from mlir_gemm.simulator.errors import SimulationError, unsupported
from mlir_gemm.simulator.text import parsed
from mlir_gemm.simulator.tile_program import Decoder, Frame, Maker, State, Step, StepMaker, Written, run_steps
from mlir_gemm.spec.attributes import SCHEDULE

FUNCTIONS: dict[str, Maker] = {
    **tile_numbers.FUNCTIONS,
    **tile_affine.FUNCTIONS,
    **tile_memory.FUNCTIONS,
    **tile_tensors.FUNCTIONS,
    **tile_places.FUNCTIONS,
    **tile_ops.FUNCTIONS,
    **tile_lanes.FUNCTIONS,
    **tile_rings.FUNCTIONS,
    **tile_functions.FUNCTIONS,
}
"""Operations that are a function of their operands."""
STEPS: dict[str, StepMaker] = {
    **tile_control.STEPS,
    **tile_memory.STEPS,
    **tile_tensors.STEPS,
    **tile_places.STEPS,
    **tile_planes.STEPS,
    **tile_linalg.STEPS,
    **tile_ops.STEPS,
    **tile_lanes.STEPS,
    **tile_rings.STEPS,
    **tile_reductions.STEPS,
    **tile_functions.STEPS,
}
"""All other operations."""
_BLOCK, _WARP, _PING_PONG = "block", "warp", "ping_pong"


def run_stage(
    text: str,
    arrays: Sequence[Any],
    *,
    blocks: Collection[int] | None = None,
    written: list[Written] | None = None,
    filename: str = "-",
) -> None:
    """Runs a module, as text, at any stage from the source to `lower`.

    `arrays` are NumPy arrays for the function's arguments, then for its tensor results, written in place. `blocks`
    chooses blocks of the grid (from `parallelize` on). The regions that tile.store writes are added to `written`.
    Raises SimulationError, with the place, for an operation that it does not know.
    """
    module = parsed(text, filename)
    with module.context, ir.Location.unknown():
        _run(module.operation, entry(module), list(arrays), blocks, written)


def entry(module: Any) -> Any:
    """The function of a module that is run: the only one with a body that is not in a module of its own."""
    functions = [
        each for each in in_block(body(module)) if each.operation.name == "func.func" and len(each.regions[0].blocks)
    ]
    if len(functions) != 1:
        raise InputError(f"{len(functions)} functions with a body; the simulator expects one")
    if len(functions[0].regions[0].blocks) > 1:
        raise unsupported(functions[0], "branches between blocks; expected straight-line code")
    return functions[0]


def _run(
    module: Any,
    function: Any,
    arrays: list[Any],
    blocks: Collection[int] | None,
    written: list[Written] | None,
    sizes: dict[str, int] | None = None,
) -> None:
    arguments = list(body(function).arguments)
    _check(arrays, arguments)
    if _needs_engine(module) and engine_runs(module):
        _on_engine(module, arrays, blocks, sizes or {})
        return
    state = State(arrays[len(arguments) :], _units(function), blocks, written=written, rings=tile_rings.Rings())
    state.sizes = {**(sizes or {}), **symbol_values(function, [array.shape for array in arrays])}
    decoder = Decoder(module, state, FUNCTIONS, STEPS)
    places = decoder.slots(arguments)
    steps = decoder.block(body(function))
    frame: list[Any] = [None] * decoder.size
    for place, array, argument in zip(places, arrays, arguments, strict=False):
        frame[place] = array.copy() if isinstance(argument.type, ir.RankedTensorType) else array
    with np.errstate(all="ignore"):  # infinities and NaN are results like any other
        run_steps(steps, frame)


_BRANCHES = ("scf.if", "scf.while", "scf.index_switch")
"""Where lanes may go different ways, which whole tiles cannot."""


def _needs_engine(module: Any) -> bool:
    """Whether kernels hold what only the faithful engine runs."""
    names = {each.operation.name for kernel in named(module, "gpu.func") for each in operations(kernel)}
    known = {*FUNCTIONS, *STEPS}
    return any(name not in known or name in _BRANCHES for name in names)


def engine_runs(module: Any) -> bool:
    """Whether a module is a launch of kernels whose operations the faithful engine knows all."""
    if not named(module, "gpu.launch_func") or named(module, "tile.run"):
        return False
    decode: Any = importlib.import_module("mlir_gemm.simulator.decode")
    importlib.import_module("mlir_gemm.simulator.kernel").load_handlers()
    known = {*decode.HANDLERS, *decode.TERMINATORS}
    kernels = named(module, "gpu.func")
    return all(each.operation.name in known for kernel in kernels for each in operations(kernel))


def _on_engine(module: Any, arrays: list[Any], blocks: Collection[int] | None, sizes: dict[str, int]) -> None:
    kernel: Any = importlib.import_module("mlir_gemm.simulator.kernel")
    copies = [np.ascontiguousarray(array) for array in arrays]
    options = kernel.Options(checks=False, blocks=None if blocks is None else sorted(blocks), sizes=sizes)
    report = kernel.simulate(str(module), copies, options)
    if report.stopped:
        raise SimulationError(f"the run was stopped: {report.stopped}")
    for array, copied in zip(arrays, copies, strict=True):
        array[...] = copied


def _run_kernel(decoder: Decoder, operation: Any) -> Step:
    """tile.run: a kernel of the program, which sees the buffers in the shapes of its own arguments. Blocks are chosen
    of programs of one kernel."""
    name = ir.StringAttr(operation.operation.attributes["kernel"]).value
    kernels = {
        ir.StringAttr(each.operation.attributes["sym_name"]).value: each.operation
        for each in in_block(body(decoder.module))
        if each.operation.name == "builtin.module" and "sym_name" in each.operation.attributes
    }
    if name not in kernels:
        raise unsupported(operation, f"there is no kernel @{name}")
    module = kernels[name]
    function = entry(module)
    types = [argument.type for argument in body(function).arguments]
    marks = argument_attributes(function)
    buffers = decoder.slots(operation.operation.operands)
    if len(types) != len(buffers):
        raise unsupported(operation, f"{len(buffers)} buffers for the {len(types)} arguments of @{name}")

    starts = [_offset(value) for value in operation.operation.operands]

    def step(frame: Frame) -> None:
        try:
            sized = [fixed_type(function, *each, decoder.state.sizes) for each in zip(types, marks, strict=True)]
            given = zip(buffers, sized, starts, strict=True)
            views = [seen_as(frame[slot], type_, start) for slot, type_, start in given]
        except (IndexError, ValueError) as error:
            raise unsupported(operation, str(error)) from error
        state = decoder.state
        _run(module, function, views, state.blocks, state.written, state.sizes)

    return step


def _size(decoder: Decoder, operation: Any) -> Step:
    """tile.size: a size of the program's arguments."""
    size, slot = told(operation.operation), decoder.slot(operation.operation.results[0])

    def step(frame: Frame) -> None:
        frame[slot] = size.value(decoder.state.sizes)

    return step


STEPS["tile.run"] = _run_kernel
STEPS["tile.size"] = _size


def _offset(operand: Any) -> int:
    """Elements between the address that tile.run is given and the first element of the array there."""
    owner = operand.owner
    while getattr(owner, "name", "") == "memref.extract_aligned_pointer_as_index":
        operand = owner.operands[0]
        owner = operand.owner
    if not isinstance(operand.type, ir.MemRefType):
        return 0
    offset = operand.type.get_strides_and_offset()[1]
    return 0 if offset == ir.ShapedType.get_dynamic_stride_or_offset() else offset


def seen_as(buffer: Any, type_: Any, start: int = 0) -> Any:
    """A buffer as a memref of another type that starts at the same address, from which the array's first element is
    `start` elements away. Raises IndexError when it is larger than the buffer."""
    dtype = tile_numbers.dtype_of(type_)
    if buffer.dtype != dtype:
        buffer = buffer.reshape(-1).view(dtype)
    if not type_.has_static_shape:
        return buffer
    strides, offset = type_.get_strides_and_offset()
    return tile_memory.view_from_start(buffer, offset - start, list(type_.shape), strides)


def _check(arrays: Sequence[Any], arguments: Sequence[Any]) -> None:
    if len(arrays) < len(arguments):
        raise SimulationError(f"{len(arrays)} arrays given; the function has {len(arguments)} arguments")
    for number, (array, argument) in enumerate(zip(arrays, arguments, strict=False)):
        type_ = ir.ShapedType(argument.type)
        sizes = [-1 if type_.is_dynamic_dim(axis) else size for axis, size in enumerate(type_.shape)]
        fits = len(sizes) == array.ndim and all(w in (-1, had) for w, had in zip(sizes, array.shape, strict=True))
        if not fits or array.dtype != tile_numbers.dtype_of(type_):
            raise SimulationError(f"argument {number}: {array.shape} {array.dtype} given, expected {argument.type}")


def _units(function: Any) -> int:
    """Warps in a block as the schedule says, which stands on the function from `select` on, or warpgroups that multiply
    where those are the units; 0 without one."""
    attributes = function.operation.attributes
    if SCHEDULE not in attributes:
        return 0
    schedule = ir.DictAttr(attributes[SCHEDULE])
    if _BLOCK not in schedule or _WARP not in schedule:
        return 0
    block, warp = ([ir.IntegerAttr(size).value for size in ir.ArrayAttr(schedule[name])] for name in (_BLOCK, _WARP))
    ping_pong = _PING_PONG in schedule and ir.BoolAttr(schedule[_PING_PONG]).value
    return (block[0] // warp[0]) * (block[1] // warp[1]) * (2 if ping_pong else 1)
