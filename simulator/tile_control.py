"""Loops, the blocks of a grid, launches and returns. Blocks run one after another, the warps of one in lockstep."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.walk import body, in_block, named
from mlir_gemm.simulator.errors import SimulationError, unsupported
from mlir_gemm.simulator.point_nests import vectorised
from mlir_gemm.simulator.tile_affine import map_evaluators
from mlir_gemm.simulator.tile_memory import POISON
from mlir_gemm.simulator.tile_planes import put_back
from mlir_gemm.simulator.tile_program import FRAMES, RANK, Decoder, Frame, PerUnit, Step, StepMaker, run_steps, uniform
from mlir_gemm.spec.attributes import CLUSTER, CLUSTER_DIM, COOPERATIVE

LANES = 32
Bounds = Callable[[Frame], range]


def _affine_for(decoder: Decoder, loop: Any) -> Step:
    nest = vectorised(decoder, loop)
    if nest is not None:
        return nest
    attributes = loop.operation.attributes
    operands = decoder.slots(loop.operation.operands)
    lower_count, upper_count, _ = ir.DenseI32ArrayAttr(attributes["operandSegmentSizes"])
    lower = map_evaluators(attributes["lowerBoundMap"].value)
    upper = map_evaluators(attributes["upperBoundMap"].value)
    stride = ir.IntegerAttr(attributes["step"]).value

    def bounds(frame: Frame) -> range:
        values = [uniform(frame[slot], "a loop's bound") for slot in operands[: lower_count + upper_count]]
        first = max(evaluate(values[:lower_count]) for evaluate in lower)
        return range(first, min(evaluate(values[lower_count:]) for evaluate in upper), stride)

    return _loop(decoder, loop, bounds, operands[lower_count + upper_count :])


def _scf_for(decoder: Decoder, loop: Any) -> Step:
    first, last, stride, *carried = decoder.slots(loop.operation.operands)

    def bounds(frame: Frame) -> range:
        low, high, by = (uniform(frame[slot], "a loop's bound") for slot in (first, last, stride))
        if by < 1:
            raise unsupported(loop, f"a step of {by} never ends")
        return range(low, high, by)

    return _loop(decoder, loop, bounds, carried)


def _loop(decoder: Decoder, loop: Any, bounds: Bounds, starts: list[int]) -> Step:
    """A loop that runs its body for each iteration and carries values from one to the next."""
    variable, *arguments = decoder.slots(body(loop).arguments)
    *inside, terminator = in_block(body(loop))
    steps = decoder.steps(inside)
    yielded = decoder.slots(terminator.operation.operands)
    results = decoder.slots(loop.operation.results)

    def step(frame: Frame) -> None:
        carried = [frame[slot] for slot in starts]
        for value in bounds(frame):
            frame[variable] = value
            for slot, each in zip(arguments, carried, strict=True):
                frame[slot] = each
            run_steps(steps, frame)
            carried = [frame[slot] for slot in yielded]
        for slot, each in zip(results, carried, strict=True):
            frame[slot] = each

    return step


def _scf_if(decoder: Decoder, operation: Any) -> Step:
    (condition,) = decoder.slots(operation.operation.operands)
    results = decoder.slots(operation.operation.results)
    branches: list[tuple[list[Step], list[int]]] = []
    for region in operation.operation.regions:
        *inside, terminator = in_block(region.blocks[0]) if len(region.blocks) else [None]
        yielded = decoder.slots(terminator.operation.operands) if terminator is not None else []
        branches.append((decoder.steps(inside), yielded))

    def step(frame: Frame) -> None:
        steps, yielded = branches[0 if uniform(frame[condition], "the condition of scf.if") else 1]
        run_steps(steps, frame)
        for slot, source in zip(results, yielded, strict=True):
            frame[slot] = frame[source]

    return step


def _grid(decoder: Decoder, operation: Any, ranges: Callable[[Frame], list[range]], variables: list[int]) -> Step:
    """The step of parallel blocks: for each that is to run, its position, then the body."""
    steps = decoder.block(body(operation))
    cluster = max(constants.number_of(operation, name, 1) for name in (CLUSTER, COOPERATIVE))

    def step(frame: Frame) -> None:
        extents = ranges(frame)

        def enter(frame: Frame, number: int) -> None:
            for slot, extent in zip(reversed(variables), reversed(extents), strict=True):
                frame[slot] = extent[number % len(extent)]
                number //= len(extent)

        blocks(frame, math.prod(len(extent) for extent in extents), cluster, enter, steps)

    blocks = _blocks(decoder)
    return step


def _blocks(decoder: Decoder) -> Callable[[Frame, int, int, Callable[[Frame, int], None], list[Step]], None]:
    """A function that runs the blocks of a grid that are to run, those of a cluster together."""
    state = decoder.state
    ranks, frames = decoder.slot(RANK), decoder.slot(FRAMES)

    def run(frame: Frame, count: int, cluster: int, enter: Callable[[Frame, int], None], steps: list[Step]) -> None:
        for first in range(0, count, cluster):
            numbers = range(first, first + cluster)
            if state.blocks is not None and not any(number in state.blocks for number in numbers):
                continue
            if cluster == 1:
                frame[ranks] = None
                enter(frame, first)
                run_steps(steps, frame)
                continue
            each = [frame.copy() for _ in numbers]
            for rank, (own, number) in enumerate(zip(each, numbers, strict=True)):
                own[ranks], own[frames] = rank, each
                enter(own, number)
            state.coroutines.together(
                [(f"block {rank} of the cluster", _work(steps, own)) for rank, own in enumerate(each)]
            )

    return run


def _work(steps: list[Step], frame: Frame) -> Callable[[], None]:
    return lambda: run_steps(steps, frame)


def _affine_parallel(decoder: Decoder, operation: Any) -> Step:
    attributes = operation.operation.attributes
    lower, upper = (attributes[f"{side}BoundsMap"].value for side in ("lower", "upper"))
    strides = [ir.IntegerAttr(stride).value for stride in attributes["steps"]]
    if len(operation.operation.results):
        raise unsupported(operation, "a reduction")
    variables = decoder.slots(body(operation).arguments)
    if len(upper.results) != len(variables) or len(lower.results) != len(variables):
        raise unsupported(operation, "several bounds in one dimension")
    operands = decoder.slots(operation.operation.operands)
    first, last = map_evaluators(lower), map_evaluators(upper)

    def ranges(frame: Frame) -> list[range]:
        values = [uniform(frame[slot], "a loop's bound") for slot in operands]
        lows, highs = values[: lower.n_inputs], values[lower.n_inputs :]
        return [range(low(lows), high(highs), by) for low, high, by in zip(first, last, strides, strict=True)]

    return _grid(decoder, operation, ranges, variables)


def _scf_parallel(decoder: Decoder, operation: Any) -> Step:
    variables = decoder.slots(body(operation).arguments)
    count = len(variables)
    operands = decoder.slots(operation.operation.operands)

    def ranges(frame: Frame) -> list[range]:
        values = [uniform(frame[slot], "a loop's bound") for slot in operands[: 3 * count]]
        return [range(*values[number::count]) for number in range(count)]

    if not len(operation.operation.results):
        return _grid(decoder, operation, ranges, variables)
    return _scf_reduction(decoder, operation, ranges, operands[3 * count :])


def _scf_reduction(decoder: Decoder, operation: Any, ranges: Callable[[Frame], list[range]], starts: list[int]) -> Step:
    """An scf.parallel that reduces, in the order of its iterations."""
    variables, results = decoder.slots(body(operation).arguments), decoder.slots(operation.operation.results)
    *inside, last = in_block(body(operation))
    steps = decoder.steps(inside)
    terms = decoder.slots(last.operation.operands)
    combines: list[tuple[list[int], list[Step], int]] = []
    for region in last.operation.regions:
        *each, ends = in_block(region.blocks[0])
        (made,) = decoder.slots(ends.operation.operands)
        combines.append((decoder.slots(region.blocks[0].arguments), decoder.steps(each), made))

    def step(frame: Frame) -> None:
        carried = [frame[slot] for slot in starts]
        for point in itertools.product(*ranges(frame)):
            for slot, value in zip(variables, point, strict=True):
                frame[slot] = value
            run_steps(steps, frame)
            for number, (arguments, combine, made) in enumerate(combines):
                frame[arguments[0]], frame[arguments[1]] = carried[number], frame[terms[number]]
                run_steps(combine, frame)
                carried[number] = frame[made]
        for slot, value in zip(results, carried, strict=True):
            frame[slot] = value

    return step


def _scf_forall(decoder: Decoder, operation: Any) -> Step:
    attributes = operation.operation.attributes
    given = [list(attributes[f"static{name}"]) for name in ("LowerBound", "UpperBound", "Step")]
    operands, marker = decoder.slots(operation.operation.operands), ir.ShapedType.get_dynamic_size()

    def ranges(frame: Frame) -> list[range]:
        values = iter([uniform(frame[slot], "a loop's bound") for slot in operands])
        bounds = [[next(values) if each == marker else each for each in extents] for extents in given]
        return [range(*each) for each in zip(*bounds, strict=True)]

    return _grid(decoder, operation, ranges, decoder.slots(body(operation).arguments))


def _enter_block(decoder: Decoder, globals_: list[tuple[str, int]]) -> None:
    """Shared memory of a new block: nobody has written it."""
    decoder.state.shared.update((name, np.full(size, POISON, np.uint8)) for name, size in globals_)


def _launch(decoder: Decoder, launch: Any) -> Step:
    """gpu.launch: its region has block ids, thread ids, grid sizes and block sizes as arguments, three each."""
    sizes = decoder.slots(launch.operation.operands)
    if len(sizes) != 6:
        raise unsupported(launch, "clusters, dependencies or dynamic shared memory")
    arguments = decoder.slots(body(launch).arguments)
    steps = decoder.block(body(launch))
    return _launch_step(decoder, sizes, arguments[:3], arguments[3:6], arguments[6:12], lambda _: None, steps)


def _launch_func(decoder: Decoder, launch: Any) -> Step:
    path = ir.SymbolRefAttr(launch.operation.attributes["kernel"]).value
    kernels = {ir.StringAttr(f.attributes["sym_name"]).value: f for f in named(decoder.module, "gpu.func")}
    kernel = kernels.get(path[-1])
    if kernel is None:
        raise unsupported(launch, f"there is no kernel @{'::@'.join(path)}")
    if launch.clusterSizeX is not None:
        raise unsupported(launch, "clusters")
    operands = [decoder.slot(value) for value in launch.kernelOperands]
    parameters = decoder.slots(body(kernel).arguments)
    steps = decoder.block(body(kernel))
    ids = [decoder.slot(f"block {axis}") for axis in "xyz"]
    threads = [decoder.slot(f"thread {axis}") for axis in "xyz"]
    extents = [decoder.slot(f"size {number}") for number in range(6)]
    sizes = [launch.gridSizeX, launch.gridSizeY, launch.gridSizeZ]
    sizes += [launch.blockSizeX, launch.blockSizeY, launch.blockSizeZ]
    dynamic = launch.dynamicSharedMemorySize
    asked = decoder.slot(dynamic) if dynamic is not None else None
    fixed = _globals(decoder.module)

    def enter(frame: Frame) -> None:
        for parameter, operand in zip(parameters, operands, strict=True):
            frame[parameter] = frame[operand]
        size = uniform(frame[asked], "dynamic shared memory") if asked is not None else 0
        _enter_block(decoder, [(name, fixed_size or size) for name, fixed_size in fixed])

    marks = kernel.operation.attributes
    dims = ir.DenseI32ArrayAttr(marks[CLUSTER_DIM]) if CLUSTER_DIM in marks else [1]
    together = max(math.prod(dims), constants.number_of(kernel.operation, COOPERATIVE, 1))
    return _launch_step(decoder, decoder.slots(sizes), ids, threads, extents, enter, steps, together)


def _globals(module: Any) -> list[tuple[str, int]]:
    """Globals of bytes, by name; 0 for one whose size is given at launch."""
    found: list[tuple[str, int]] = []
    for operation in named(module, "memref.global"):
        type_ = ir.TypeAttr(operation.attributes["type"]).value
        if type_.memory_space is None:
            continue  # a constant
        if str(type_.element_type) != "i8" or len(type_.shape) != 1:
            raise unsupported(operation, f"a global of {type_}; expected bytes")
        found.append((ir.StringAttr(operation.attributes["sym_name"]).value, type_.shape[0]))
    return found


def _launch_step(
    decoder: Decoder,
    sizes: list[int],
    blocks: list[int],
    threads: list[int],
    extents: list[int],
    enter: Callable[[Frame], None],
    steps: list[Step],
    cluster: int = 1,
) -> Step:
    state, run = decoder.state, _blocks(decoder)

    def step(frame: Frame) -> None:
        values = [uniform(frame[slot], "the size of a launch") for slot in sizes]
        grid, block = values[:3], values[3:6]
        if block[1:] != [1, 1] or block[0] % LANES:
            raise SimulationError(f"a block of {'x'.join(map(str, block))} threads; expected whole warps along x only")
        state.units, state.launched = block[0] // LANES, True
        for slot, value in zip(extents, values, strict=True):
            frame[slot] = value
        lanes = np.arange(LANES)
        frame[threads[0]] = PerUnit(lanes + LANES * unit for unit in range(state.units))
        frame[threads[1]] = frame[threads[2]] = 0

        def start(frame: Frame, number: int) -> None:
            frame[blocks[0]], rest = number % grid[0], number // grid[0]
            frame[blocks[1]], frame[blocks[2]] = rest % grid[1], rest // grid[1]
            enter(frame)

        run(frame, grid[0] * grid[1] * grid[2], cluster, start, steps)

    return step


def _id(kind: str) -> StepMaker:
    """gpu.block_id, gpu.thread_id and their sizes: what the launch put in its slots."""

    def make(decoder: Decoder, operation: Any) -> Step:
        axis = str(operation.operation.attributes["dimension"]).rstrip(">").rpartition(" ")[2]
        first = {"grid": 0, "block_dim": 3}.get(kind)
        name = f"{kind} {axis}" if first is None else f"size {first + 'xyz'.index(axis)}"
        source, target = decoder.slot(name), decoder.slot(operation.operation.results[0])

        def step(frame: Frame) -> None:
            frame[target] = frame[source]

        return step

    return make


def _lane_id(decoder: Decoder, operation: Any) -> Step:
    target = decoder.slot(operation.operation.results[0])

    def step(frame: Frame) -> None:
        frame[target] = np.arange(LANES)

    return step


def _subgroup_id(decoder: Decoder, operation: Any) -> Step:
    target, state = decoder.slot(operation.operation.results[0]), decoder.state

    def step(frame: Frame) -> None:
        frame[target] = PerUnit(range(state.units))

    return step


def _return(decoder: Decoder, operation: Any) -> Step:
    """Tensors returned go to the arrays that the caller gave for them, and planes get what was written."""
    returned = decoder.slots(operation.operation.operands)

    def step(frame: Frame) -> None:
        put_back(decoder.state)
        if decoder.state.results is None:
            decoder.state.returned = [frame[slot] for slot in returned]
            return
        for target, slot in zip(decoder.state.results, returned, strict=True):
            target[...] = frame[slot]

    return step


STEPS: dict[str, StepMaker] = {
    "affine.for": _affine_for, "scf.for": _scf_for, "scf.if": _scf_if,
    "affine.parallel": _affine_parallel, "scf.parallel": _scf_parallel, "scf.forall": _scf_forall,
    "gpu.launch": _launch, "gpu.launch_func": _launch_func,
    "gpu.block_id": _id("block"), "gpu.thread_id": _id("thread"),
    "gpu.grid_dim": _id("grid"), "gpu.block_dim": _id("block_dim"),
    "gpu.lane_id": _lane_id, "gpu.subgroup_id": _subgroup_id,
    "func.return": _return,
    **{name: lambda _, __: None for name in (
        "affine.yield", "scf.yield", "scf.reduce", "scf.forall.in_parallel", "gpu.terminator", "gpu.return",
    )},
}  # fmt: skip
