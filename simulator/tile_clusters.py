"""Blocks of a cluster at tile level: their ranks, each other's shared memory, and sums over them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mlir_gemm.dialect import rings
from mlir_gemm.dialect.locations import location_of
from mlir_gemm.simulator.errors import SimulationError
from mlir_gemm.simulator.memory import strided
from mlir_gemm.simulator.tile_program import FRAMES, RANK, Decoder, Frame, PerUnit, Step, StepMaker, per_unit


def fault(operation: Any, message: str) -> SimulationError:
    """An error that names the operation and its place."""
    return SimulationError(f"'{operation.operation.name}': {message}", location_of(operation))


def peers(decoder: Decoder, value: Any) -> Callable[[Frame, Any, int], Any]:
    """A function from a frame, a view of shared memory and a rank to the same view in another block of the cluster."""
    root = value
    while getattr(root.owner, "name", "") in ("memref.subview", "memref.cast"):
        root = root.owner.operation.operands[0]
    base, frames = decoder.slot(root), decoder.slot(FRAMES)

    def peer(frame: Frame, view: Any, rank: int) -> Any:
        other = frame[frames][rank]
        if other is frame:
            return view
        mine, theirs = frame[base], other[base]
        if theirs is None:
            raise SimulationError("a block of the cluster has no such buffer yet")
        shift = (view.ctypes.data - mine.ctypes.data) // mine.itemsize
        return strided(theirs.reshape(-1)[shift:], view.shape, view.strides)

    return peer


def _rank(decoder: Decoder, operation: Any) -> Step:
    source, target = decoder.slot(RANK), decoder.slot(operation.operation.results[0])
    axis = rings.Axis.of(operation)

    def step(frame: Frame) -> None:
        number = frame[source]
        if number is None:
            raise fault(operation, "outside a cluster")
        number //= axis.stride
        frame[target] = number % axis.count if axis.count else number

    return step


def concerned(decoder: Decoder, operation: Any, size: int) -> Callable[[Frame], range]:
    """The numbers in the cluster of the `size` blocks that an operation concerns: those of this block's group."""
    source, group, stride = decoder.slot(RANK), rings.cluster_group_of(operation), rings.Axis.of(operation).stride

    def blocks(frame: Frame) -> range:
        first = frame[source] - frame[source] // stride % group * stride if group > 1 else 0
        return range(first, first + size * stride, stride)

    return blocks


def _dsmem_reduce(decoder: Decoder, operation: Any) -> Step:
    state = decoder.state
    value, _ = decoder.slots(operation.operation.operands)
    out = decoder.slot(operation.operation.results[0])
    columns = operation.operation.results[0].type.shape[1]
    frames, rank, mine = decoder.slot(FRAMES), decoder.slot(RANK), decoder.slot(operation.operation)
    group = rings.cluster_group_of(operation)

    def part(first: int, *values: Any) -> Any:
        total = values[0][:, first : first + columns]
        for other in values[1:]:
            total = total + other[:, first : first + columns]
        return total

    def step(frame: Frame) -> None:
        """All blocks bring their tile and wait for each other, as often as they come here."""
        if frame[rank] is None:
            raise fault(operation, "outside a cluster")
        frame[mine] = [*(frame[mine] or []), frame[value]]
        turn = len(frame[mine])
        others = frame[frames][frame[rank] % group :: group]
        state.coroutines.wait(
            lambda: all(len(other[mine] or []) >= turn for other in others), "the cluster to bring its sums"
        )
        place = frame[rank] // group
        values = [other[mine][turn - 1] for other in [*others[place:], *others[:place]]]
        units = next((len(each) for each in values if type(each) is PerUnit), 0)
        first = place * columns
        frame[out] = per_unit(part, [first, *values], units) if units else part(first, *values)

    return step


STEPS: dict[str, StepMaker] = {"tile.rank": _rank, "tile.dsmem_reduce": _dsmem_reduce}
