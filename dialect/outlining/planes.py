"""Buffers of a program that hold planes beside each other: which kernel has put them there, or takes them apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from mlir_gemm.dialect import positions
from mlir_gemm.dialect.linalg import structured
from mlir_gemm.dialect.linalg.structured import Generic
from mlir_gemm.dialect.outlining import programs
from mlir_gemm.dialect.outlining.laid_out import Body, loops_of
from mlir_gemm.dialect.walk import body, in_block, named, users
from mlir_gemm.spec.launch import dense

_PLAIN = ("tile.position", "arith.constant", "func.return", "linalg.generic")


@dataclass(frozen=True)
class Planes:
    """Planes that a kernel moves to a buffer, where they lie beside each other, or from there."""

    runs: tuple[Any, ...]
    """The tile.runs of the kernels that move them."""
    alloc: Any
    """The memref.alloc of the buffer."""
    buffers: tuple[Any, ...]
    """The buffers of the planes, in the order of the components."""


def gathered(outer: Any, kernel: str, number: int) -> Planes | None:
    """The planes that lie beside each other in the buffer that a program's kernel is given as this argument, and that
    nothing else uses; None where it is another buffer."""
    found = _used(outer, kernel, number)
    if found is None or len(found[1]) != 1:
        return None
    buffer, (run,) = found
    sources = put_beside(outer, run, buffer)
    return Planes((run,), buffer.owner.operation, sources) if sources is not None else None


def put_beside(outer: Any, run: Any, buffer: Any, narrowed: bool = False) -> tuple[Any, ...] | None:
    """The buffers of planes that a program's kernel does nothing with but putting them beside each other in a buffer,
    and rounding them to its type where they may be `narrowed`; None for another kernel."""
    generic = _only_generic(outer, run)
    if generic is None or len(generic.outputs) != 1:
        return None
    arguments, buffers = _arguments(generic), programs.buffers_of(run)
    output = generic.outputs[0]
    *loops, last = loops_of(generic, len(generic.inputs)) or [-1]
    if buffers[arguments.index(output)] != buffer or last < 0 or not _is_dense(output.type, output.type.shape):
        return None
    components: dict[int, int] = {}
    sources: list[Any] = []
    for at, value in enumerate(generic.inputs):
        if positions.is_position(value):
            if loops_of(generic, at) != [last]:
                return None
            continue
        if loops_of(generic, at) != loops or not _is_dense(value.type, list(output.type.shape)[:-1]):
            return None
        components[at] = len(sources)
        sources.append(buffers[arguments.index(value)])
    order: list[int] = []
    yielded = generic.yielded[0]
    if narrowed and getattr(yielded.owner, "name", "") == "arith.truncf":
        wide = yielded.owner.operands[0]
        given = wide.owner.operands[0] if getattr(wide.owner, "name", "") == "arith.extf" else wide
        yielded = given if given.type == yielded.type else wide  # rounding what was extended changes nothing
    for place in range(output.type.shape[-1]):
        linear = Body(generic, components, {last: place}).linear(yielded)
        if linear is None or list(linear.values()) != [1] or not set(linear) <= set(components.values()):
            return None
        order.append(next(iter(linear)))
    if sorted(order) != list(range(len(sources))) or len(order) < 2:
        return None
    return tuple(sources[each] for each in order)


def scattered(outer: Any, kernel: str, number: int, count: int) -> Planes | None:
    """The planes to which the buffer is taken apart that a program's kernel writes as this argument, as nothing else
    uses it; None for another buffer."""
    found = _used(outer, kernel, number)
    if found is None or len(found[1]) != count:
        return None
    buffer, runs = found
    planes: dict[int, Any] = {}
    for run in runs:
        generic = _only_generic(outer, run)
        if generic is None or len(generic.inputs) != 1 or len(generic.outputs) != 1:
            return None
        arguments, buffers = _arguments(generic), programs.buffers_of(run)
        source, target = generic.inputs[0], generic.outputs[0]
        (strides, offset), shape = source.type.get_strides_and_offset(), list(source.type.shape)
        same = loops_of(generic, 0) == loops_of(generic, 1) and generic.yielded[0] == generic.body.arguments[0]
        apart = strides == [count * step for step in dense(tuple(shape))] and offset in range(count)
        if not same or not apart or not _is_dense(target.type, shape) or buffers[arguments.index(source)] != buffer:
            return None
        planes[offset] = buffers[arguments.index(target)]
    if sorted(planes) != list(range(count)) or len(set(planes.values())) < count:
        return None
    return Planes(tuple(runs), buffer.owner.operation, tuple(planes[each] for each in range(count)))


def _used(outer: Any, kernel: str, number: int) -> tuple[Any, list[Any]] | None:
    """The buffer that a kernel has as an argument, where the program allocates it, and the runs of other kernels with
    it, each of a kernel that runs once."""
    runs = [run.operation for run in named(outer, "tile.run")]
    own = [run for run in runs if programs.kernel_of(run) == kernel]
    if len(own) != 1:
        return None
    buffer = programs.buffers_of(own[0])[number]
    others = [run for run in runs if buffer in programs.buffers_of(run) and run != own[0]]
    addresses = {user.operation.name for user in users(buffer)}
    if getattr(buffer.owner, "name", "") != "memref.alloc" or programs.buffers_of(own[0]).count(buffer) != 1:
        return None
    names = [programs.kernel_of(run) for run in runs]
    once = all(names.count(programs.kernel_of(run)) == 1 for run in others)
    return (buffer, others) if once and addresses == {"memref.extract_aligned_pointer_as_index"} else None


def _only_generic(outer: Any, run: Any) -> Generic | None:
    """The elementwise operation of a kernel that does nothing else, on its arguments alone, of known sizes."""
    modules, name = programs.kernel_modules(outer), programs.kernel_of(run)
    if name not in modules:
        return None
    inside = [op.operation for op in in_block(body(programs.function_of(modules[name])))]
    generics = [op for op in inside if structured.is_generic(op)]
    if len(generics) != 1 or any(op.name not in _PLAIN for op in inside):
        return None
    generic = structured.read(generics[0])
    arguments = _arguments(generic)
    memory = [value for value in generic.operands if not positions.is_position(value)]
    plain = all(value in arguments and value.type.has_static_shape for value in memory)
    return generic if generic.elementwise and all(generic.parallel) and plain else None


def _arguments(generic: Generic) -> list[Any]:
    return list(generic.op.block.arguments)


def _is_dense(type_: Any, shape: Sequence[int]) -> bool:
    """Whether memory is dense, from its start on, and has as many elements as a shape."""
    own = tuple(type_.shape)
    return prod(own) == prod(shape) and type_.get_strides_and_offset() == (list(dense(own)), 0)
