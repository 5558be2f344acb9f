"""expand-scatter: scatters become gathers.

Expects torch-mlir's tm_tensor.scatter (index_put, index_copy), in the generic form, which the parser makes of it: a
tensor, updates, and for each update the indices of the place that it replaces. Leaves for each a linalg.generic that
finds the last update of every place, checking the indices as PyTorch does, and one that takes the update or what was
there. Refuses updates that are added to what is there, those that are larger than one place, and so many of them that
asking each for every place would take longer than the rest. A second run changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.foreign import SCATTER
from mlir_gemm.dialect.linalg import structured
from mlir_gemm.dialect.locations import input_error
from mlir_gemm.dialect.walk import body, in_block, named
from mlir_gemm.passes.base import Pass

_FEW, _FOR_EACH_ELEMENT = 1 << 24, 16
"""Comparisons that may be made in any case, and for each element of the result."""


@dataclass(frozen=True)
class ExpandScatter(Pass):
    """Turn scatters into gathers."""

    name: ClassVar[str] = "expand-scatter"

    def run(self, module: Any) -> None:
        for operation in named(module, SCATTER):
            op = operation.operation
            scatter = _Scatter.of(op)
            with ir.InsertionPoint(op), op.location:
                op.results[0].replace_all_uses_with(_taken(scatter, _last_updates(scatter)))
            op.erase()


@dataclass(frozen=True)
class _Scatter:
    updates: Any
    indices: Any
    original: Any
    dimensions: tuple[int, ...]
    """The dimension of the original that each index is of."""

    @staticmethod
    def of(op: Any) -> _Scatter:
        """Reads one. Raises InputError for what is not understood."""
        updates, indices, original = op.operands
        types = [ir.ShapedType(value.type) for value in (updates, indices, original)]
        if not all(type_.has_static_shape for type_ in types):
            raise input_error(op, f"'{SCATTER}' with sizes that are not known; expected sizes in the module")
        found = _Scatter(updates, indices, original, tuple(ir.DenseI64ArrayAttr(op.attributes["dimension_map"])))
        block = body(op)
        if in_block(block)[-1].operation.operands[0] != block.arguments[0]:
            raise input_error(
                op, f"'{SCATTER}' that combines updates with what is there (accumulate=True); expected that it "
                "replaces it: add them up before, or cut the program there and run this step in PyTorch",
            )  # fmt: skip
        shape, whole = list(types[0].shape)[1:], list(types[2].shape)
        wanted = [1 if axis in found.dimensions else size for axis, size in enumerate(whole)]
        if shape != wanted or len(set(found.dimensions)) < len(found.dimensions):
            raise input_error(op, f"'{SCATTER}' of updates {shape} into {whole}; expected {wanted}: one place an index")
        places = prod(whole[axis] for axis in found.dimensions)
        work, most = types[0].shape[0] * places, max(_FEW, _FOR_EACH_ELEMENT * prod(whole))
        if work > most:
            raise input_error(
                op, f"'{SCATTER}' of {types[0].shape[0]} updates to {places} places: {work} comparisons, of {most} at "
                "most; write whole rows (cache[torch.arange(b), position] = row), or at a position that the module "
                "knows (slice_scatter), or cut the program there and run this step in PyTorch",
            )  # fmt: skip
        return found


def _map(loops: int, results: list[int]) -> Any:
    return ir.AffineMap.get(loops, 0, [ir.AffineDimExpr.get(loop) for loop in results])


def _last_updates(scatter: _Scatter) -> Any:
    """The number of the last update of each place, -1 where there is none: a maximum over all updates."""
    arith, tensor, i32 = dialect("arith"), dialect("tensor"), ir.IntegerType.get_signless(32)
    whole, rank = list(ir.ShapedType(scatter.original.type).shape), len(scatter.dimensions)
    count, element = ir.ShapedType(scatter.indices.type).shape[0], ir.ShapedType(scatter.indices.type).element_type
    columns = [_column(scatter.indices, number, count) for number in range(rank)]
    none = arith.ConstantOp(i32, ir.IntegerAttr.get(i32, -1)).result
    empty = tensor.EmptyOp([whole[axis] for axis in scatter.dimensions], i32).result
    start = _filled(none, empty)
    maps = [*[_map(rank + 1, [rank])] * rank, _map(rank + 1, list(range(rank)))]
    generic, block = structured.make(columns, [start], maps, [*[True] * rank, False])
    with ir.InsertionPoint(block):
        least = arith.ConstantOp(element, ir.IntegerAttr.get(element, 0)).result
        found: Any = None
        for number, axis in enumerate(scatter.dimensions):
            index = block.arguments[number]
            limit = arith.ConstantOp(element, ir.IntegerAttr.get(element, whole[axis])).result
            _check(arith.CmpIOp(arith.CmpIPredicate.slt, index, limit).result, "index must be smaller than dim size")
            _check(arith.CmpIOp(arith.CmpIPredicate.sge, index, least).result, "index must be larger or equal to 0")
            here = arith.IndexCastOp(element, dialect("linalg").IndexOp(number).result).result
            same = arith.CmpIOp(arith.CmpIPredicate.eq, index, here).result
            found = same if found is None else arith.AndIOp(found, same).result
        update = arith.IndexCastOp(i32, dialect("linalg").IndexOp(rank).result).result
        hit = arith.SelectOp(found, update, none).result
        structured.yield_([arith.MaxSIOp(block.arguments[rank], hit).result])
    return generic.results[0]


def _check(condition: Any, message: str) -> None:
    ir.Operation.create("cf.assert", operands=[condition], attributes={"msg": ir.StringAttr.get(message)})


def _column(indices: Any, number: int, count: int) -> Any:
    element = ir.ShapedType(indices.type).element_type
    type_ = ir.RankedTensorType.get([count], element)
    attributes = {
        "static_offsets": ir.DenseI64ArrayAttr.get([0, number]),
        "static_sizes": ir.DenseI64ArrayAttr.get([count, 1]),
        "static_strides": ir.DenseI64ArrayAttr.get([1, 1]),
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 0, 0, 0]),
    }
    return ir.Operation.create("tensor.extract_slice", [type_], [indices], attributes).results[0]


def _filled(number: Any, empty: Any) -> Any:
    segments = ir.DenseI32ArrayAttr.get([1, 1])
    fill = ir.Operation.create("linalg.fill", [empty.type], [number, empty], {"operandSegmentSizes": segments},
                               regions=1)  # fmt: skip
    block = fill.regions[0].blocks.append(number.type, number.type)
    with ir.InsertionPoint(block):
        structured.yield_([block.arguments[0]])
    return fill.results[0]


def _taken(scatter: _Scatter, last: Any) -> Any:
    """The update of each element, or what was there."""
    arith, tensor = dialect("arith"), dialect("tensor")
    type_ = ir.RankedTensorType(scatter.original.type)
    rank = type_.rank
    identity = _map(rank, list(range(rank)))
    maps = [_map(rank, list(scatter.dimensions)), identity, identity]
    empty = tensor.EmptyOp(list(type_.shape), type_.element_type).result
    generic, block = structured.make([last, scatter.original], [empty], maps, [True] * rank)
    with ir.InsertionPoint(block):
        update, old = list(block.arguments)[:2]
        zero = arith.ConstantOp(update.type, ir.IntegerAttr.get(update.type, 0)).result
        is_new = arith.CmpIOp(arith.CmpIPredicate.sge, update, zero).result
        number = arith.IndexCastOp(ir.IndexType.get(), arith.MaxSIOp(update, zero).result).result
        rest = [
            constants.index(0) if axis in scatter.dimensions else dialect("linalg").IndexOp(axis).result
            for axis in range(rank)
        ]
        new = tensor.ExtractOp(scatter.updates, [number, *rest]).result
        structured.yield_([arith.SelectOp(is_new, new, old).result])
    return generic.results[0]
