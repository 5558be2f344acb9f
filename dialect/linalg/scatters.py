"""Reading torch-mlir's tm_tensor.scatter: updates of places that the data name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.foreign import SCATTER
from mlir_gemm.dialect.linalg import structured
from mlir_gemm.dialect.locations import input_error
from mlir_gemm.dialect.walk import body, in_block

COMBINED = tuple(
    f"arith.{name}"
    for name in ("addf", "addi", "mulf", "muli", "maximumf", "minimumf", "maxsi", "minsi", "maxui", "minui", "andi",
                 "ori", "xori")
)  # fmt: skip
"""Operations by which updates are combined with what is there: in any order, but for rounding."""
_FEW, _FOR_EACH_ELEMENT = 1 << 24, 16
"""Comparisons that may be made in any case, and for each element of what is made of them."""


@dataclass(frozen=True)
class Scatter:
    """A tensor, updates, and for each update the indices of the place that it replaces, or is combined with."""

    op: Any
    updates: Any
    indices: Any
    original: Any
    dimensions: tuple[int, ...]
    """The dimension of the original that each index is of."""
    combine: str
    """The operation that combines an update with what is there; empty where it replaces it."""

    @staticmethod
    def of(op: Any) -> Scatter:
        """Reads one. Raises InputError for what is not understood."""
        updates, indices, original = op.operands
        types = [ir.ShapedType(value.type) for value in (updates, indices, original)]
        if not all(type_.has_static_shape for type_ in types):
            raise input_error(op, f"'{SCATTER}' with sizes that are not known; expected sizes in the module")
        dimensions = tuple(ir.DenseI64ArrayAttr(op.attributes["dimension_map"]))
        found = Scatter(op, updates, indices, original, dimensions, _combination(op))
        shape, whole = list(types[0].shape)[1:], list(types[2].shape)
        # of single elements torch-mlir leaves the sizes of 1 away
        wanted = [1 if axis in found.dimensions else size for axis, size in enumerate(whole)]
        plain = not shape and set(wanted) == {1}
        if (shape != wanted and not plain) or len(set(found.dimensions)) < len(found.dimensions):
            raise input_error(op, f"'{SCATTER}' of updates {shape} into {whole}; expected {wanted}: one place an index")
        return found

    @property
    def whole(self) -> list[int]:
        """The sizes of the original."""
        return list(ir.ShapedType(self.original.type).shape)

    @property
    def count(self) -> int:
        """The number of updates."""
        return int(ir.ShapedType(self.updates.type).shape[0])

    @property
    def places(self) -> int:
        """The number of places that an update may name."""
        return prod(self.whole[axis] for axis in self.dimensions)

    def check_work(self, others: int, what: str, elements: int, instead: str) -> None:
        """Refuses to compare every update with so many others, or places, where that takes longer than the rest."""
        work, most = self.count * others, max(_FEW, _FOR_EACH_ELEMENT * elements)
        if work > most:
            raise input_error(
                self.op, f"'{SCATTER}' of {self.count} updates to {what}: {work} comparisons, of {most} at most; "
                f"{instead}, or cut the program there and run this step in PyTorch",
            )  # fmt: skip

    def columns(self) -> list[Any]:
        """For each index of a place, those of all updates, at the insertion point."""
        return [self._column(number) for number in range(len(self.dimensions))]

    def check(self, index: Any, number: int) -> None:
        """Checks an index of a place in a body, as PyTorch does."""
        arith, element = dialect("arith"), index.type
        limit = arith.ConstantOp(element, ir.IntegerAttr.get(element, self.whole[self.dimensions[number]])).result
        least = arith.ConstantOp(element, ir.IntegerAttr.get(element, 0)).result
        assert_(arith.CmpIOp(arith.CmpIPredicate.slt, index, limit).result, "index must be smaller than dim size")
        assert_(arith.CmpIOp(arith.CmpIPredicate.sge, index, least).result, "index must be larger or equal to 0")

    def _column(self, number: int) -> Any:
        type_ = ir.RankedTensorType.get([self.count], ir.ShapedType(self.indices.type).element_type)
        attributes = {
            "static_offsets": ir.DenseI64ArrayAttr.get([0, number]),
            "static_sizes": ir.DenseI64ArrayAttr.get([self.count, 1]),
            "static_strides": ir.DenseI64ArrayAttr.get([1, 1]),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 0, 0, 0]),
        }
        return ir.Operation.create("tensor.extract_slice", [type_], [self.indices], attributes).results[0]


def _combination(op: Any) -> str:
    block = body(op)
    *inside, end = [each.operation for each in in_block(block)]
    update, old = block.arguments
    if end.operands[0] == update:
        return ""
    one = inside[0] if len(inside) == 1 else None
    if one is None or one.name not in COMBINED or list(end.operands) != list(one.results):
        names = ", ".join(f"'{each.name}'" for each in inside) or "nothing"
        raise input_error(op, f"'{SCATTER}' that combines updates with what is there by {names}; expected one of "
                          f"{', '.join(COMBINED)}")  # fmt: skip
    if list(one.operands) not in ([update, old], [old, update]):
        raise input_error(op, f"'{SCATTER}' whose body takes something else than the update and what is there")
    return str(one.name)


def loop_map(loops: int, results: Sequence[int | None]) -> Any:
    """The indexing map of some loops along each dimension, None for index 0."""
    expressions = [ir.AffineConstantExpr.get(0) if each is None else ir.AffineDimExpr.get(each) for each in results]
    return ir.AffineMap.get(loops, 0, expressions)


def assert_(condition: Any, message: str) -> None:
    """A check at the insertion point."""
    ir.Operation.create("cf.assert", operands=[condition], attributes={"msg": ir.StringAttr.get(message)})


def filled(number: Any, shape: Sequence[int]) -> Any:
    """A tensor of one number, at the insertion point."""
    empty = dialect("tensor").EmptyOp(list(shape), number.type).result
    segments = ir.DenseI32ArrayAttr.get([1, 1])
    fill = ir.Operation.create("linalg.fill", [empty.type], [number, empty], {"operandSegmentSizes": segments},
                               regions=1)  # fmt: skip
    block = fill.regions[0].blocks.append(number.type, number.type)
    with ir.InsertionPoint(block):
        structured.yield_([block.arguments[0]])
    return fill.results[0]
