"""expand-open-parts: what reads or writes a part of a size known at run time only becomes reads at computed positions.

Expects a module as `name-sizes` takes it. tensor.concat and tensor.pad along a dimension of an open size, slices of a
part of one (`x[:, 1:]`, where they are no views) or at a place that such a size says (`x[:, -1]`), tensor.insert_slice
of these, and operands that are indexed by sums of loops along one (convolutions and poolings of images whose rows and
columns are open) become linalg.generic operations that read with tensor.extract at places computed from positions
(linalg.index) and from sizes; padding and slices in front of them included, so that windows of a padded image are
copied once. A place that is outside of the tensor is read too, and not used: `elementwise-loops` guards such reads. A
slice that starts at a constant place of memory, with constant steps, is a view and stays
(`dialect/linalg/open_views.py`). Sizes that are sums, differences or quotients of others are understood (`name-sizes`).
Refuses padding that is not one number, and what `name-sizes` refuses. A module without such parts is left alone; a
second run changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, ClassVar

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.linalg import structured
from mlir_gemm.dialect.linalg.computed_reads import At, Slice, at_loops, element, given, loops_in, part_element, size_of
from mlir_gemm.dialect.linalg.named_sizes import NamedSizes
from mlir_gemm.dialect.locations import input_error
from mlir_gemm.dialect.walk import in_block
from mlir_gemm.passes.base import Pass
from mlir_gemm.passes.importing.name_sizes import prepared
from mlir_gemm.spec.attributes import STAND_INS


@dataclass(frozen=True)
class ExpandOpenParts(Pass):
    """Read parts of open sizes by position."""

    name: ClassVar[str] = "expand-open-parts"

    def run(self, module: Any) -> None:
        function = None if STAND_INS in module.operation.attributes else prepared(module)
        if function is None:
            return
        for op in reversed(NamedSizes(function).parts):  # what reads a part, before that part
            if op.name == "linalg.generic":
                _windows(op)
                continue
            if any(list(result.uses) for result in op.results):
                _expand(op)
        for operation in reversed(in_block(function.regions[0].blocks[0])):
            op = operation.operation
            parts = ("tensor.pad", "tensor.concat", "tensor.extract_slice", "tensor.insert_slice")
            if op.name in parts and not list(op.results[0].uses):
                op.erase()


def _expand(op: Any) -> None:
    """Replaces an operation by one that computes each element of its result."""
    type_ = op.results[0].type
    with ir.InsertionPoint(op), op.location:
        sizes = [_size_of_result(op, axis).build() for axis in range(type_.rank)]
        made = _copy(type_, sizes, lambda at: part_element(op, at))
    op.results[0].replace_all_uses_with(made)


def _windows(op: Any) -> None:
    """Replaces operands that are indexed by sums of loops by copies of what they read, a dimension for each loop."""
    maps = [attribute.value for attribute in op.attributes["indexing_maps"]]
    count = ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])[0]
    reductions = ["reduction" in str(kind) for kind in op.attributes["iterator_types"]]
    plain = {
        each.position: (operand, axis)
        for operand, map_ in zip(op.operands, maps, strict=True)
        for axis, each in enumerate(map_.results) if isinstance(each, ir.AffineDimExpr)
    }  # fmt: skip
    for number in range(count):
        source, map_ = op.operands[number], maps[number]
        if all(isinstance(each, ir.AffineDimExpr | ir.AffineConstantExpr) for each in map_.results):
            continue
        loops = sorted(_loops(op, map_), key=lambda loop: (reductions[loop], loop))
        missing = [loop for loop in loops if loop not in plain]
        if missing:
            raise input_error(op, f"no operand of '{op.name}' has a dimension of the size of d{missing[0]} alone")
        with ir.InsertionPoint(op), op.location:
            marker = ir.ShapedType.get_dynamic_size()
            sizes = [size_of(*plain[loop]).build() for loop in loops]
            numbers = [constants.integer_of(size) for size in sizes]
            shape = [marker if size is None else size for size in numbers]
            type_ = ir.RankedTensorType.get(shape, source.type.element_type)

            def read(at: list[At], map_: Any = map_, source: Any = source, loops: Any = loops) -> Any:
                here = dict(zip(loops, at, strict=True))
                return element(source, [at_loops(each, here) for each in map_.results])

            op.operands[number] = _copy(type_, sizes, read)
        maps[number] = ir.AffineMap.get(len(reductions), 0, [ir.AffineDimExpr.get(loop) for loop in loops])
    op.attributes["indexing_maps"] = ir.ArrayAttr.get([ir.AffineMapAttr.get(map_) for map_ in maps])


def _size_of_result(op: Any, axis: int) -> At:
    """A size of what an operation makes, told without it."""
    if op.name == "tensor.concat":
        along = ir.IntegerAttr(op.attributes["dim"]).value
        others = list(op.operands)[1:] if axis == along else []
        return reduce(At.__add__, (size_of(each, axis) for each in others), size_of(op.operands[0], axis))
    if op.name == "tensor.pad":
        return reduce(At.__add__, (each[axis] for each in given(op, ("low", "high"))), size_of(op.operands[0], axis))
    if op.name == "tensor.insert_slice":
        return size_of(op.operands[1], axis)
    part = Slice(op, op.results[0].type)
    return [size for size, keep in zip(part.sizes, part.kept, strict=True) if keep][axis]


def _copy(type_: Any, sizes: Sequence[Any], read: Callable[[list[At]], Any]) -> Any:
    """A tensor, each of whose elements a body computes from its indices."""
    moving = [size for axis, size in enumerate(sizes) if type_.is_dynamic_dim(axis)]
    start = ir.Operation.create("tensor.empty", [type_], moving).results[0]
    rank = type_.rank
    made, block = structured.make([], [start], [ir.AffineMap.get_identity(rank)], [True] * rank)
    with ir.InsertionPoint(block):
        index = [At.of(dialect("linalg").IndexOp(axis).result) for axis in range(rank)]
        structured.yield_([read(index)])
    return made.results[0]


def _loops(op: Any, map_: Any) -> set[int]:
    found = loops_in(map_)
    if found is None:
        raise input_error(op, f"'{op.name}' with indexing map {map_} along a size known at run time only; expected "
                          "sums of loops times numbers")  # fmt: skip
    return found
