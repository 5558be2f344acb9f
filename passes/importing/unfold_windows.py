"""unfold-windows: windows, padding, concatenation and slices at computed offsets become reads at computed positions.

Expects linalg on tensors (after raise-to-tensors). A product that reads an image by windows sees them where the image
lies (`tile.windows`, see `dialect/linalg/images.py`), zeros around it too; an image whose channels are not last, or too
few for aligned reads, is copied once in front. How many images there are may be known at run time only; windows are
copied where another size is. Where nothing shares a window each element of the result adds up its own (a depthwise
convolution, `dialect/linalg/window_sums.py`) or reduces it (a pooling, `dialect/linalg/poolings.py`), if it is of at
most 128 elements. Another generic that indexes an operand by sums of loops reads instead a tensor of its windows, with
a dimension for each loop, which a generic in front of it copies there; so a pooling of large windows is a reduction
along rows. tensor.pad, tensor.concat, tensor.insert_slice and slices at computed offsets become generics too, and so
do slices that start where a size known at run time only says; those of a transpose are taken before it where they then
start at a constant place (`dialect/linalg/open_slices.py`). These read with tensor.extract at places that they compute
from positions (linalg.index), padding and transposes in front of them included, so that windows of a padded image are
copied once. Leaves everything else alone; a second run changes nothing.
Indices may divide by numbers (`mod`, `floordiv`); these are computed where the copy is made.
Refuses padding that is not one number, and other indices than sums of loops times numbers, and quotients of these.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import symbols
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.linalg import computed_reads as reads
from mlir_gemm.dialect.linalg.computed_reads import At
from mlir_gemm.dialect.linalg.diagonals import sum_of
from mlir_gemm.dialect.linalg.generics import erase_dead, generics, read
from mlir_gemm.dialect.linalg.images import beneath, see_windows
from mlir_gemm.dialect.linalg.open_slices import before_transpose, is_aligned_view, starts_open
from mlir_gemm.dialect.linalg.poolings import pool_windows
from mlir_gemm.dialect.linalg.window_sums import sum_windows
from mlir_gemm.dialect.locations import input_error
from mlir_gemm.dialect.walk import body, named
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.attributes import STAND_INS


@dataclass(frozen=True)
class UnfoldWindows(Pass):
    """Read windows, padding and computed slices by position."""

    name: ClassVar[str] = "unfold-windows"

    def run(self, module: Any) -> None:
        attributes = module.operation.attributes
        stand_ins = symbols.integers(attributes[STAND_INS]) if STAND_INS in attributes else {}
        for operation in generics(module):
            _windows(operation.operation, stand_ins)
        erase_dead(module)
        _slices_of_transposes(module, stand_ins)
        for operation in named(module, "tensor.concat", "tensor.insert_slice", "tensor.extract_slice", "tensor.pad"):
            op = operation.operation
            if not list(op.results[0].uses) or (_at_constants(op) and _is_view(op, stand_ins)):
                continue
            with ir.InsertionPoint(op), op.location:
                op.results[0].replace_all_uses_with(reads.copy(op.results[0].type, _element_of(op)))
        erase_dead(module)


def _at_constants(op: Any) -> bool:
    """Whether an operation is a slice at constant offsets."""
    return op.name == "tensor.extract_slice" and len(op.operands) == 1


def _is_view(op: Any, stand_ins: Mapping[str, int]) -> bool:
    return not starts_open(op, stand_ins) or is_aligned_view(op, stand_ins)


def _slices_of_transposes(module: Any, stand_ins: Mapping[str, int]) -> None:
    """Takes slices before a transpose where one of them would start at an open place after it."""
    slices = [op for each in named(module, "tensor.extract_slice") if _at_constants(op := each.operation)]
    sources = {op.operands[0] for op in slices if starts_open(op, stand_ins)}
    for op in slices:
        if op.operands[0] in sources:
            with ir.InsertionPoint(op), op.location:
                found = before_transpose(op, stand_ins)
            if found is not None:
                op.results[0].replace_all_uses_with(found)
    erase_dead(module)


def _windows(op: Any, stand_ins: Mapping[str, int]) -> None:
    """Replaces operands that are indexed by sums of loops by copies of what they read, a dimension for each loop."""
    if read(op, free=True) is not None:
        return  # each index is one loop, perhaps beside loops of one trip
    maps = [attribute.value for attribute in op.attributes["indexing_maps"]]
    count = ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])[0]
    odd = [number for number in range(count) if not _is_plain(maps[number], op.operands[number])]
    if not odd:
        return
    reductions = ["reduction" in str(kind) for kind in op.attributes["iterator_types"]]
    sizes = _sizes(op, maps, len(reductions))
    for number in odd:
        found = _loops(op, maps[number], op.operands[number].type.shape)
        loops = sorted(found, key=lambda loop: (reductions[loop], loop))
        if not list(body(op).arguments[number].uses):
            continue
        is_sum = all(sum_of(each, modulo=False) is not None for each in maps[number].results)
        if is_sum and len(odd) == 1 and pool_windows(op, number, maps, sizes):
            return
        if is_sum and len(odd) == 1 and _only_images_open(op, number, maps[number], stand_ins):
            if see_windows(op, number, maps, sizes):
                continue
            if sum_windows(op, number, maps, sizes):
                return
        source = op.operands[number]
        type_ = ir.RankedTensorType.get([sizes[loop] for loop in loops], source.type.element_type)
        with ir.InsertionPoint(op), op.location:

            def element(at: list[Any], map_: Any = maps[number], source: Any = source, loops: Any = loops) -> Any:
                here = {loop: At.of(index) for loop, index in zip(loops, at, strict=True)}
                return reads.element(source, [reads.at_loops(each, here) for each in map_.results])

            op.operands[number] = reads.copy(type_, element)
        maps[number] = ir.AffineMap.get(len(reductions), 0, [ir.AffineDimExpr.get(loop) for loop in loops])
    op.attributes["indexing_maps"] = ir.ArrayAttr.get([ir.AffineMapAttr.get(map_) for map_ in maps])


def _only_images_open(op: Any, number: int, map_: Any, stand_ins: Mapping[str, int]) -> bool:
    """Whether at most one size is known at run time only: that of the images, which lie one after the other."""
    if not stand_ins:
        return True
    lies = beneath(op.operands[number])
    image = lies.image
    is_open = [not symbols.taken_apart(size, stand_ins).is_number for size in image.shape]
    others = [size for place, operand in enumerate(op.operands) if place != number
              for size in getattr(operand.type, "shape", ())]  # fmt: skip
    open_ones = [size for size in others if not symbols.taken_apart(size, stand_ins).is_number]
    return (
        not lies.copied
        and len(op.operands) == 3
        and is_open == [True, *[False] * (len(is_open) - 1)]
        and not image.low[0]
        and not image.high[0]
        and isinstance(map_.results[lies.order[0]], ir.AffineDimExpr)
        and all(size == image.shape[0] for size in open_ones)
        and image.shape[0] not in op.operands[1 - number].type.shape
    )


def _is_plain(map_: Any, operand: Any) -> bool:
    loops = [each.position for each in map_.results if isinstance(each, ir.AffineDimExpr)]
    if len(set(loops)) < len(loops):
        return False
    return all(
        isinstance(each, ir.AffineDimExpr) or (isinstance(each, ir.AffineConstantExpr) and size == 1)
        for each, size in zip(map_.results, getattr(operand.type, "shape", ()), strict=False)
    )


def _loops(op: Any, map_: Any, shape: list[int]) -> set[int]:
    found = reads.loops_in(map_, divided=True)
    if found is None:
        raise input_error(op, f"'{op.name}' with indexing map {map_}; expected sums of loops times numbers, "
                          "or their remainders and quotients by numbers")  # fmt: skip
    for each, size in zip(map_.results, shape, strict=True):
        if isinstance(each, ir.AffineModExpr) and each.rhs.value > size:
            raise input_error(op, f"'{op.name}' with indexing map {map_}: remainders reach {each.rhs.value - 1} in a "
                              f"dimension of {size}")  # fmt: skip
    return found


def _sizes(op: Any, maps: list[Any], loops: int) -> list[int]:
    sizes: dict[int, int] = {}
    for operand, map_ in zip(op.operands, maps, strict=True):
        for each, size in zip(map_.results, getattr(operand.type, "shape", ()), strict=False):
            if isinstance(each, ir.AffineDimExpr):
                sizes[each.position] = size
    missing = [loop for loop in range(loops) if loop not in sizes]
    if missing:
        raise input_error(op, f"no operand of '{op.name}' has a dimension of the size of d{missing[0]} alone")
    return [sizes[loop] for loop in range(loops)]


def _element_of(op: Any) -> Callable[[list[Any]], Any]:
    """How an element of an operation's result is computed from its indices."""
    return lambda at: reads.part_element(op, [At.of(each) for each in at])
