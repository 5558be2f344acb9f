"""expand-scatter: scatters become gathers.

Expects torch-mlir's tm_tensor.scatter (index_put, index_copy, index_add, scatter_add, the gradient of an embedding), in
the generic form, which the parser makes of it: a tensor, updates, and for each update the indices of the place that it
replaces, or is combined with. Where updates replace, leaves a linalg.generic that finds the last update of every place,
checking the indices as PyTorch does, and one that takes the update or what was there. Where they are combined, leaves
operations that do so in an order that is the same from run to run (`dialect/linalg/combined_updates.py`). Refuses
updates that are larger than one place, bodies that do anything else, and so many updates that asking each for every
place, or for each other, would take longer than the rest. A second run changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.foreign import SCATTER
from mlir_gemm.dialect.linalg import structured
from mlir_gemm.dialect.linalg.combined_updates import combined
from mlir_gemm.dialect.linalg.scatters import Scatter, filled, loop_map
from mlir_gemm.dialect.walk import named
from mlir_gemm.passes.base import Pass


@dataclass(frozen=True)
class ExpandScatter(Pass):
    """Turn scatters into gathers."""

    name: ClassVar[str] = "expand-scatter"

    def run(self, module: Any) -> None:
        for operation in named(module, SCATTER):
            op = operation.operation
            scatter = Scatter.of(op)
            with ir.InsertionPoint(op), op.location:
                op.results[0].replace_all_uses_with(combined(scatter) if scatter.combine else _replaced(scatter))
            op.erase()


def _replaced(scatter: Scatter) -> Any:
    scatter.check_work(
        scatter.places, f"{scatter.places} places", prod(scatter.whole),
        "write whole rows (cache[torch.arange(b), position] = row), or at a position that the module knows "
        "(slice_scatter)",
    )  # fmt: skip
    return _taken(scatter, _last_updates(scatter))


def _last_updates(scatter: Scatter) -> Any:
    """The number of the last update of each place, -1 where there is none: a maximum over all updates."""
    arith, i32 = dialect("arith"), ir.IntegerType.get_signless(32)
    rank, element = len(scatter.dimensions), ir.ShapedType(scatter.indices.type).element_type
    columns = scatter.columns()
    none = arith.ConstantOp(i32, ir.IntegerAttr.get(i32, -1)).result
    start = filled(none, [scatter.whole[axis] for axis in scatter.dimensions])
    maps = [*[loop_map(rank + 1, [rank])] * rank, loop_map(rank + 1, list(range(rank)))]
    generic, block = structured.make(columns, [start], maps, [*[True] * rank, False])
    with ir.InsertionPoint(block):
        found: Any = None
        for number in range(rank):
            index = block.arguments[number]
            scatter.check(index, number)
            here = arith.IndexCastOp(element, dialect("linalg").IndexOp(number).result).result
            same = arith.CmpIOp(arith.CmpIPredicate.eq, index, here).result
            found = same if found is None else arith.AndIOp(found, same).result
        update = arith.IndexCastOp(i32, dialect("linalg").IndexOp(rank).result).result
        hit = arith.SelectOp(found, update, none).result
        structured.yield_([arith.MaxSIOp(block.arguments[rank], hit).result])
    return generic.results[0]


def _taken(scatter: Scatter, last: Any) -> Any:
    """The update of each element, or what was there."""
    arith, tensor = dialect("arith"), dialect("tensor")
    type_ = ir.RankedTensorType(scatter.original.type)
    rank = type_.rank
    identity = loop_map(rank, list(range(rank)))
    maps = [loop_map(rank, list(scatter.dimensions)), identity, identity]
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
        at = [number, *rest][: ir.ShapedType(scatter.updates.type).rank]
        new = tensor.ExtractOp(scatter.updates, at).result
        structured.yield_([arith.SelectOp(is_new, new, old).result])
    return generic.results[0]
