"""Numbers from outside of bodies, which elements are computed with, as operands: memory without dimensions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.clone import clone
from mlir_gemm.dialect.linalg import structured
from mlir_gemm.dialect.walk import body, in_block, operations

PURE = ("arith.", "math.")


def is_number(value: Any) -> bool:
    """Whether a value is one number."""
    return isinstance(value.type, ir.IndexType | ir.IntegerType | ir.FloatType)


class NumberOperands:
    """Numbers of a function's block, `is_leaf`, that linalg.generic operations take, or compute with in their bodies,
    perhaps after arithmetic in front of them."""

    def __init__(self, block: Any, is_leaf: Callable[[Any], bool]) -> None:
        self.block = block
        self.is_leaf = is_leaf

    def used(self, op: Any) -> list[Any]:
        """The numbers that an operation takes, or that its body takes from outside, and that come from leaves."""
        inside = {result for inner in operations(op) for result in inner.operation.results}
        inside |= set(body(op).arguments)
        given = [*op.operands, *(value for inner in operations(op) for value in inner.operation.operands)]
        found = [value for value in dict.fromkeys(given) if value not in inside and is_number(value)]
        return [value for value in found if self.leaves(value)]

    def leaves(self, value: Any) -> list[Any]:
        """The leaves that a number is computed from, by arithmetic alone."""
        if self.is_leaf(value):
            return [value]
        owner = value.owner
        if hasattr(owner, "operations") or not owner.name.startswith(PURE) or owner.operation.block != self.block:
            return []
        return list(dict.fromkeys(leaf for operand in owner.operands for leaf in self.leaves(operand)))

    def rebuild(self, op: Any, memory: Mapping[Any, Any]) -> Any:
        """The same operation, with numbers read from the memory, or tensors, of their leaves."""
        generic = structured.read(op)
        values = self.used(op)
        leaves = list(dict.fromkeys(leaf for value in values for leaf in self.leaves(value)))
        kept = [number for number, value in enumerate(generic.inputs) if value not in values]
        count = len(generic.parallel)
        inputs = [*(generic.inputs[number] for number in kept), *(memory[leaf] for leaf in leaves)]
        maps = [*(generic.maps[number] for number in kept), *(ir.AffineMap.get(count, 0, []) for _ in leaves)]
        outputs = list(generic.maps[len(generic.inputs) :])
        with ir.InsertionPoint(op), op.location:
            new, block = structured.make(inputs, generic.outputs, [*maps, *outputs], generic.parallel)
        arguments = list(block.arguments)
        known: dict[Any, Any] = {}
        with ir.InsertionPoint(block), op.location:
            for leaf, argument in zip(leaves, arguments[len(kept) :], strict=False):
                known[leaf] = _as(leaf.type, argument)
            for value in values:
                self._compute(value, known)
            known.update((generic.body.arguments[number], new) for number, new in zip(kept, arguments, strict=False))
            known.update(
                (generic.body.arguments[number], known[value])
                for number, value in enumerate(generic.inputs) if value in values
            )  # fmt: skip
            first = len(kept) + len(leaves)
            known.update(zip(list(generic.body.arguments)[len(generic.inputs) :], arguments[first:], strict=True))
            for inner in in_block(generic.body):
                clone(inner, known)
        for old, made in zip(op.results, new.results, strict=True):
            old.replace_all_uses_with(made)
        op.erase()
        return new

    def _compute(self, value: Any, known: dict[Any, Any]) -> None:
        if value in known or not self.leaves(value):
            return
        for operand in value.owner.operands:
            self._compute(operand, known)
        clone(value.owner, known)


def _as(type_: Any, number: Any) -> Any:
    """A number of memory as one of a type: an index is an i64 there, and sizes are too."""
    if number.type == type_:
        return number
    arith = dialect("arith")
    if isinstance(type_, ir.IndexType):
        return arith.IndexCastOp(type_, number).result
    return (arith.TruncIOp if type_.width < number.type.width else arith.ExtSIOp)(type_, number).result
