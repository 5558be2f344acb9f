"""Following a product's result through loops and arithmetic."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.walk import in_block

_SAME = ("tile.mma_wait", "tile.fix_up")
"""Operations that give a tile of the shape of their first operand."""


def flow_of(products: list[Any]) -> dict[Any, None]:
    """The vectors that must have the shape of the products' accumulators, in the order found.

    Follows definitions and uses through tile.mma, tile.fix_up, scf.for and elementwise arith and math operations.
    Shapes alone would not do: a copied tile may happen to have the accumulator's shape.
    """
    return flow_from(product.operation.results[0] for product in products)


def flow_from(values: Iterable[Any], shared: bool = True) -> dict[Any, None]:
    """The vectors that must have the same shape as `values`, and `values` themselves, in the order found. Unless
    `shared`, other users of the same constant (or broadcast number) need not have that shape."""
    flow: dict[Any, None] = {}
    pending = list(values)
    while pending:
        value = pending.pop()
        if value in flow:
            continue
        flow[value] = None
        pending += _defined_by(value)
        if not shared and getattr(value.owner, "name", "") in ("arith.constant", "vector.broadcast"):
            continue
        for use in value.uses:
            pending += _tied(use.owner.operation, use.operand_number)
    return flow


def separate_constants(values: Iterable[Any]) -> None:
    """Duplicates a constant that accumulators start from and that is also used elsewhere, for a staged operand say, so
    that changing one use does not change the other."""
    flow = flow_from(values, shared=False)
    for value in [value for value in flow if getattr(value.owner, "name", "") == "arith.constant"]:
        for user, number in [(use.owner.operation, use.operand_number) for use in value.uses]:
            made = [each for each in user.results if isinstance(each.type, ir.VectorType)]
            if is_elementwise(user) and made and not any(each in flow for each in made):
                with ir.InsertionPoint(user), user.location:
                    user.operands[number] = value.owner.operation.clone().results[0]


def is_elementwise(operation: Any) -> bool:
    """Whether an operation computes each element from the elements at the same place: arith and math, except
    constants."""
    name = operation.operation.name
    return name.startswith(("arith.", "math.")) and name != "arith.constant"


def _defined_by(value: Any) -> list[Any]:
    owner = value.owner
    if hasattr(owner, "operations"):  # a block argument, of a loop or a function
        loop = owner.owner.operation
        return _loop_values(loop, value.arg_number - 1) if loop.name == "scf.for" else []
    name = owner.operation.name
    if name == "scf.for":
        return _loop_values(owner.operation, value.result_number)
    if name == "tile.mma":
        return [owner.operation.operands[2]]
    if name in _SAME:
        return [owner.operation.operands[0]]
    return _vectors(owner.operation) if is_elementwise(owner) else []


def _tied(user: Any, position: int) -> list[Any]:
    if user.name == "scf.for":
        return _loop_values(user, position - 3)
    if user.name == "scf.yield":
        return _loop_values(user.parent.operation, position) if user.parent.operation.name == "scf.for" else []
    if user.name == "tile.mma":
        return [user.results[0]] if position == 2 else []
    if user.name in _SAME:
        return [user.results[0]]
    return _vectors(user) if is_elementwise(user) else []


def _loop_values(loop: Any, number: int) -> list[Any]:
    """Start, block argument, yielded value and result of one value that an scf.for carries."""
    block = loop.regions[0].blocks[0]
    terminator = in_block(block)[-1]
    return [loop.operands[number + 3], block.arguments[number + 1], terminator.operands[number], loop.results[number]]


def _vectors(operation: Any) -> list[Any]:
    return [v for v in [*operation.operands, *operation.results] if isinstance(v.type, ir.VectorType)]
