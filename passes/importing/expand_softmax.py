"""expand-softmax: linalg.softmax becomes a maximum, exponentials, their sum and a division.

Expects linalg.softmax on tensors of floating-point numbers, and refuses others. Each becomes four linalg.generics: the
maximum along its dimension, the exponentials of what is left below it, their sum, and the quotients; they are one
kernel of rows (`group-rows`). Of types narrower than f32 all but the maximum is computed in f32, and the quotients are
rounded once: a sum of 65,505 ones is infinite in f16. A second run changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.linalg import structured
from mlir_gemm.dialect.locations import input_error
from mlir_gemm.dialect.walk import named
from mlir_gemm.passes.base import Pass

F32_BITS = 32


@dataclass(frozen=True)
class ExpandSoftmax(Pass):
    """Write softmax as what it consists of."""

    name: ClassVar[str] = "expand-softmax"

    def run(self, module: Any) -> None:
        for operation in named(module, "linalg.softmax"):
            op = operation.operation
            with ir.InsertionPoint(op), op.location:
                _expand(op)
            op.erase()


def _expand(op: Any) -> None:
    source = op.operands[0]
    axis = ir.IntegerAttr(op.attributes["dimension"]).value
    type_ = ir.ShapedType(source.type)
    if not isinstance(type_.element_type, ir.FloatType):
        raise input_error(op, f"'linalg.softmax' of {type_.element_type}; expected floating-point numbers")
    if isinstance(source.type, ir.MemRefType):
        raise input_error(op, "'linalg.softmax' on memrefs; expected tensors")
    arith, element = dialect("arith"), type_.element_type
    wide = ir.F32Type.get() if element.width < F32_BITS else element

    def extended(x: Any) -> Any:
        return x if x.type == wide else arith.ExtFOp(wide, x).result

    def maximum(x: Any, total: Any) -> Any:
        return arith.MaximumFOp(x, total).result

    def power(x: Any, top: Any) -> Any:
        return dialect("math").ExpOp(arith.SubFOp(extended(x), extended(top)).result).result

    def added(x: Any, total: Any) -> Any:
        return arith.AddFOp(x, total).result

    def quotient(x: Any, total: Any) -> Any:
        found = arith.DivFOp(x, total).result
        return found if wide == element else arith.TruncFOp(element, found).result

    largest = _reduced(source, axis, float("-inf"), maximum)
    powers = _each(source, [largest], axis, power, wide)
    result = _each(powers, [_reduced(powers, axis, 0.0, added)], axis, quotient, element)
    op.results[0].replace_all_uses_with(result)


def _maps(rank: int, axis: int) -> tuple[Any, Any]:
    loops = [ir.AffineDimExpr.get(loop) for loop in range(rank)]
    return ir.AffineMap.get_identity(rank), ir.AffineMap.get(rank, 0, [*loops[:axis], *loops[axis + 1 :]])


def _empty(value: Any, element: Any, dropped: int | None = None) -> Any:
    """A tensor of the sizes of a value, without one dimension."""
    type_ = value.type
    axes = [axis for axis in range(type_.rank) if axis != dropped]
    sizes = [
        dialect("tensor").DimOp(value, constants.index(axis)).result
        if type_.is_dynamic_dim(axis)
        else type_.shape[axis]
        for axis in axes
    ]
    return dialect("tensor").EmptyOp(sizes, element).result


def _reduced(value: Any, axis: int, start: float, combine: Callable[[Any, Any], Any]) -> Any:
    rank, element = value.type.rank, value.type.element_type
    number = dialect("arith").ConstantOp(element, ir.FloatAttr.get(element, start)).result
    output = _empty(value, element, axis)
    segments = ir.DenseI32ArrayAttr.get([1, 1])
    fill = ir.Operation.create("linalg.fill", [output.type], [number, output],
                               {"operandSegmentSizes": segments}, regions=1)  # fmt: skip
    block = fill.regions[0].blocks.append(element, element)
    with ir.InsertionPoint(block):
        structured.yield_([block.arguments[0]])
    generic, body = structured.make(
        [value], [fill.results[0]], _maps(rank, axis), [each != axis for each in range(rank)]
    )
    with ir.InsertionPoint(body):
        structured.yield_([combine(*body.arguments)])
    return generic.results[0]


def _each(value: Any, rows: Sequence[Any], axis: int, compute: Callable[..., Any], element: Any) -> Any:
    rank = value.type.rank
    whole, row = _maps(rank, axis)
    maps = [whole, *[row] * len(rows), whole]
    generic, body = structured.make([value, *rows], [_empty(value, element)], maps, [True] * rank)
    with ir.InsertionPoint(body):
        structured.yield_([compute(*list(body.arguments)[:-1])])
    return generic.results[0]
