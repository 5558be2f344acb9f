"""What a linalg.generic, or a tile.copy in global memory, computes at each point of its parallel loops."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.linalg.source import is_row_major
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.positions import is_position
from mlir_gemm.dialect.sizes import known_size
from mlir_gemm.dialect.tile import place_of

PARALLEL, REDUCTION = "#linalg.iterator_type<parallel>", "#linalg.iterator_type<reduction>"


@dataclass(frozen=True)
class Pointwise:
    """An operation as loops over points: first the parallel ones, then those of a reduction."""

    operation: Any
    inputs: tuple[Any, ...]
    outputs: tuple[Any, ...]
    maps: tuple[Any, ...]
    """For each operand an affine map from the loops, in the operation's order, to its indices."""
    sizes: tuple[Any, ...]
    """Iterations of each loop: integers, or index values where they are known at run time only (`share-sizes`)."""
    parallel: tuple[int, ...]
    """Which loops are parallel and longer than 1. All operations of one kernel have these in the same order."""
    reduced: tuple[int, ...]
    """The loops of a reduction that are longer than 1."""

    @property
    def single(self) -> list[int]:
        """Loops of one iteration, of either kind: they always stand at 0."""
        return [loop for loop, size in enumerate(self.sizes) if _is_one(size)]

    @property
    def space(self) -> list[Any]:
        """Sizes of the parallel loops."""
        return [self.sizes[loop] for loop in self.parallel]

    @property
    def output_maps(self) -> tuple[Any, ...]:
        return self.maps[len(self.inputs) :]

    def element_of(self, map_: Any) -> tuple[str, ...] | None:
        """Which element of an operand a point touches, for comparison; None where one point touches several."""
        texts = [str(expression) for expression in map_.results]
        if any(_mentions(text, loop) for text in texts for loop in self.reduced):
            return None
        names = {f"d{loop}": f"p{place}" for place, loop in enumerate(self.parallel)}
        names.update((f"d{loop}", "0") for loop in self.single)
        return tuple(re.sub(r"d\d+", lambda found: names[found[0]], text) for text in texts)


def _mentions(text: str, loop: int) -> bool:
    return re.search(rf"\bd{loop}\b", text) is not None


def _is_one(size: Any) -> bool:
    return isinstance(size, int) and size == 1


def mentions(map_: Any, loop: int) -> bool:
    """Whether a map's results depend on a loop."""
    return any(_mentions(str(expression), loop) for expression in map_.results)


def of_generic(operation: Any) -> Pointwise:
    """A linalg.generic on memrefs of constant sizes. Raises PassError for one that threads cannot share out."""
    attributes = operation.operation.attributes
    maps = tuple(attribute.value for attribute in attributes["indexing_maps"])
    kinds = [str(kind) for kind in attributes["iterator_types"]]
    operands = list(operation.operation.operands)
    inputs = tuple(operation.inputs)
    if list(operation.operation.results):
        raise pass_error(operation, "an operation on tensors; expected memrefs")
    if any(kind not in (PARALLEL, REDUCTION) for kind in kinds):
        raise pass_error(operation, f"loops of kind {', '.join(kinds)}; expected parallel and reduction")
    sizes = _sizes(operation, operands, maps, len(kinds))
    found = Pointwise(
        operation, inputs, tuple(operands[len(inputs) :]), maps, tuple(sizes),
        tuple(loop for loop, kind in enumerate(kinds) if kind == PARALLEL and not _is_one(sizes[loop])),
        tuple(loop for loop, kind in enumerate(kinds) if kind == REDUCTION and not _is_one(sizes[loop])),
    )  # fmt: skip
    for map_ in found.output_maps:
        _check_output(found, map_)
    return found


def _sizes(operation: Any, operands: Sequence[Any], maps: Sequence[Any], loops: int) -> list[Any]:
    sizes: dict[int, Any] = {}
    for operand, map_ in zip(operands, maps, strict=True):
        for axis, expression in enumerate(map_.results):
            if isinstance(expression, ir.AffineDimExpr):
                size = known_size(operand, axis)
                if size is None:
                    raise pass_error(operation, f"{operand.type}; expected sizes that are constant or arguments'")
                sizes[expression.position] = size
    if len(sizes) < loops:
        raise pass_error(operation, "a loop that indexes no operand on its own; its size cannot be told")
    return [sizes[loop] for loop in range(loops)]


def _check_output(points: Pointwise, map_: Any) -> None:
    """Each point must have an element of its own."""
    alone = [expression.position for expression in map_.results if isinstance(expression, ir.AffineDimExpr)]
    element = points.element_of(map_)
    shared = [loop for loop in points.parallel if loop not in alone]
    if element is None or shared:
        raise pass_error(
            points.operation, f"an output at {map_}: several points write one element; expected each to write its own"
        )


def aligned(points: Pointwise, elements: Mapping[Any, tuple[str, ...] | None]) -> Pointwise:
    """The same loops in the order in which points touch the `elements` of buffers that earlier operations touch."""
    for operand, map_ in zip([*points.inputs, *points.outputs], points.maps, strict=True):
        names = elements.get(operand) or ()
        loops = {
            name: expression.position
            for name, expression in zip(names, map_.results, strict=False)
            if isinstance(expression, ir.AffineDimExpr)
        }
        order = [loops.get(f"p{place}", -1) for place in range(len(points.parallel))]
        if sorted(order) == sorted(points.parallel):
            return replace(points, parallel=tuple(order))
    return points


def of_copy(operation: Any) -> Pointwise:
    """A tile.copy whose target is in global memory: a copy with zeros where the source ends, or a transposition."""
    target = operation.operands[0]
    shape = list(target.type.shape)
    if not target.type.has_static_shape or not operation.operands[1].type.has_static_shape:
        raise pass_error(operation, f"a copy to {target.type}; expected constant sizes")
    parallel = tuple(loop for loop, size in enumerate(shape) if size != 1)
    return Pointwise(operation, (), (target,), (ir.AffineMap.get_identity(len(shape)),), tuple(shape), parallel, ())


def order(points: Pointwise) -> list[int]:
    """The parallel loops, by place, so that the first output is walked in the order of its memory. A stride known at
    run time only counts as longer than all others, the sooner the dimension the longer."""
    strides, _ = points.outputs[0].type.get_strides_and_offset()
    dynamic = ir.ShapedType.get_dynamic_stride_or_offset()
    stride_of = {
        expression.position: (1 << 61) - axis if stride == dynamic else stride
        for axis, (expression, stride) in enumerate(zip(points.output_maps[0].results, strides, strict=True))
        if isinstance(expression, ir.AffineDimExpr)
    }
    places = range(len(points.parallel))
    return sorted(places, key=lambda place: -stride_of.get(points.parallel[place], 1 << 62))


def coalesced(points: Pointwise, places: list[int]) -> list[int]:
    """The loops, by place, for a copy that stores vectors: the one along which its source has neighbours goes last, so
    that neighbouring threads read neighbours. Each vector is a sector of its own either way. Anything else as it is."""
    operation = points.operation.operation
    if operation.name != "tile.copy":
        return places
    strides, _ = operation.operands[1].type.get_strides_and_offset()
    along = [dim for dim, stride in zip(place_of(operation).dims, strides, strict=True) if stride == 1]
    last = [points.parallel.index(dim) for dim in along if dim in points.parallel]
    return [*(place for place in places if place not in last[-1:]), *last[-1:]]


def access_kind(type_: Any, map_: Any, loop: int, width: int) -> str:
    """How `width` neighbouring points along a loop touch a memref: `row` (one aligned vector), `same` or `apart`."""
    texts = [str(expression) for expression in map_.results]
    axes = [axis for axis, text in enumerate(texts) if _mentions(text, loop)]
    if not axes:
        return "same"
    strides, offset = type_.get_strides_and_offset()
    steps = known_steps(type_)
    others = [steps[axis] for axis, size in enumerate(type_.shape) if axis != axes[0] and size not in (0, 1)]
    plain = axes == [len(texts) - 1] and texts[-1] == f"d{loop}" and strides[-1] == 1
    dynamic = ir.ShapedType.get_dynamic_stride_or_offset()
    whole = all(step % width == 0 for step in [*others, offset])
    return "row" if plain and whole and dynamic not in [*others, offset] else "apart"


def known_steps(type_: Any) -> list[int]:
    """For each dimension of a memref its stride, or a number that divides it: in dense memory of sizes known at run
    time only, the product of the sizes after it that are known before. MLIR's marker where nothing is known."""
    dynamic, marker = ir.ShapedType.get_dynamic_stride_or_offset(), ir.ShapedType.get_dynamic_size()
    strides, _ = type_.get_strides_and_offset()
    if not is_row_major(type_):
        return list(strides)
    known = [1 if size == marker else size for size in type_.shape]
    return [prod(known[axis + 1 :]) if stride == dynamic else stride for axis, stride in enumerate(strides)]


def in_memory(operand: Any) -> bool:
    """Whether an operand is read or written in memory: no number, and no positions, which are computed."""
    return isinstance(operand.type, ir.MemRefType) and not is_position(operand)


def is_elementwise(operation: Any) -> bool:
    """Whether an operation of a body works on each element of a vector."""
    return operation.operation.name.startswith(("arith.", "math.", "linalg.yield"))


def body_of(points: Pointwise) -> list[Any]:
    """The operations that compute a point, the linalg.yield last; none for a copy."""
    if points.operation.operation.name == "tile.copy":
        return []
    return list(points.operation.operation.regions[0].blocks[0].operations)


def pointwise(operation: Any) -> Pointwise:
    """The loops of a linalg.generic or a tile.copy. Raises PassError for another operation."""
    name = operation.operation.name
    if name == "linalg.generic":
        return of_generic(operation)
    if name == "tile.copy":
        return of_copy(operation)
    raise pass_error(operation, f"'{name}' in an elementwise kernel; expected linalg.generic or tile.copy")
