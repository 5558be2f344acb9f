"""Two reductions along the same rows of which the second is around what the first finds: a maximum m and then the sum
of exp(x - m), a sum and then that of (x - mean)^2.

What the second finds around one pivot says what it finds around another, with no element looked at again. A sum of
exp(x - p) is times exp(p - q) around q. A sum of squares around the mean p of n numbers is more by n (p - q)^2 around
q: nothing cancels, as p is the mean (Chan, Golub and LeVeque). So blocks that share a row can each take a pivot of
their own part, and combine both results at once, in any order.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.linalg import structured
from mlir_gemm.dialect.linalg.structured import Generic, sizes_of
from mlir_gemm.dialect.reductions import AnyCombination, Combination, combinations_of
from mlir_gemm.dialect.running import joined

Tree = tuple[Any, ...]
"""What a value is computed from: an operation's name and its operands' trees, a number, or what is read."""
_NUMBER, _READ = "number", "read"
_EXACT = "arith.extf"
LEAST = 1e-30
"""Less than a divisor is: of parts with nothing 0 is divided by this, and not by 0."""
WIDTH = 32
"""Bits of the narrowest numbers in which pairs are combined."""


@dataclass(frozen=True)
class Pair:
    """Two such reductions."""

    first: Generic
    second: Generic
    squares: bool
    """Whether the second adds up squares around a mean; else exponentials."""
    elements: Any
    """The buffer of what the second adds up; None where that is computed where it is added."""
    length: int
    """Elements of a row."""

    @property
    def results(self) -> tuple[Any, Any]:
        """The buffers of what both find."""
        return self.first.outputs[0], self.second.outputs[0]

    def join(self, left: Sequence[Any], right: Sequence[Any]) -> list[Any]:
        """What two parts find together, at the insertion point: a maximum and the sum of exponentials around it; or
        which share of a row they are, its sum, and its squares around the mean.

        With p and q for shares, s and t for sums of N p and N q elements, the means differ by (t p - s q) / (N p q),
        and N p q / (p + q) times the square of that is added: (t p - s q)^2 / (N p q (p + q))."""
        if not self.squares:
            return joined(left, right)
        arith = dialect("arith")
        (share, total, squares), (more, added, further) = left, right
        all_ = arith.AddFOp(share, more).result
        cross = arith.SubFOp(arith.MulFOp(added, share).result, arith.MulFOp(total, more).result).result
        counts = arith.MulFOp(arith.MulFOp(share, _number(share.type, float(self.length))).result, more).result
        bounded = arith.MaxNumFOp(arith.MulFOp(counts, all_).result, _number(share.type, LEAST)).result
        between = arith.MulFOp(divided(cross, bounded), cross).result
        within = arith.AddFOp(squares, further).result
        return [all_, arith.AddFOp(total, added).result, arith.AddFOp(within, between).result]


def divided(value: Any, by: Any) -> Any:
    """A quotient that may err by a few units in the last place, of numbers that are neither tiny nor huge."""
    element = getattr(by.type, "element_type", by.type)
    flags = ir.Attribute.parse("#arith.fastmath<afn>") if element.width == WIDTH else None
    return dialect("arith").DivFOp(value, by, fastmath=flags).result


def _number(type_: Any, number: float) -> Any:
    """A number of a type, everywhere in a vector."""
    if isinstance(type_, ir.VectorType):
        return constants.splat(type_, ir.FloatAttr.get(type_.element_type, number))
    return dialect("arith").ConstantOp(type_, number).result


def pair_of(work: Sequence[Any]) -> Pair | None:
    """The two reductions of a kernel's operations, if it has two, and they are such a pair, along one dimension of
    constant size, each from the number that changes nothing."""
    generics = [structured.read(op) for op in work if op.name != "linalg.fill"]
    reductions = [generic for generic in generics if not generic.elementwise]
    if len(reductions) != 2 or any(each.parallel.count(False) != 1 for each in reductions):
        return None
    first, second = reductions
    if not all(each.type.has_static_shape for generic in reductions for each in generic.operands):
        return None
    length = next(size for size, parallel in zip(sizes_of(first), first.parallel, strict=True) if not parallel)
    greatest, added = (_only(combinations_of(each)) for each in reductions)
    if greatest is None or added is None or not _go_together(first.outputs[0], second.outputs[0]):
        return None
    starts = {op.operands[1]: _constant(op.operands[0]) for op in work if op.name == "linalg.fill"}
    begun = [starts.get(generic.outputs[0]) for generic in reductions]
    makers = {output: generic for generic in generics if generic.elementwise for output in generic.outputs}
    reads = _Reads(makers)
    value, around = (_exactly(reads.tree(each.values[0], generic))
                     for each, generic in zip((greatest, added), reductions, strict=True))  # fmt: skip
    names = greatest.combiner.name, added.combiner.name
    wide = _buffer_of(added.values[0], second)
    elements = wide if wide in makers else None
    pivot = (_READ, first.outputs[0])
    if names == ("arith.maximumf", "arith.addf") and begun == [-math.inf, 0] and around[0] == "math.exp":
        difference = around[1]
        if difference[0] == "arith.subf" and difference[1] == value and difference[2][:2] == pivot:
            return Pair(first, second, False, elements, length)
    if names == ("arith.addf", "arith.addf") and begun == [0, 0] and _is_square(around):
        difference = around[1]
        if difference[0] == "arith.subf" and difference[1] == value:
            same = first.outputs[0].type == second.outputs[0].type
            return Pair(first, second, True, None, length) if same and _is_mean(difference[2], pivot, length) else None
    return None


def _only(found: Sequence[AnyCombination] | None) -> Combination | None:
    return found[0] if found and len(found) == 1 and isinstance(found[0], Combination) else None


def _go_together(first: Any, second: Any) -> bool:
    """Whether what two buffers hold can be computed with in the second's type."""
    one, other = first.type.element_type, second.type.element_type
    return all(isinstance(each, ir.FloatType) for each in (one, other)) and one.width <= other.width >= WIDTH


@dataclass(frozen=True)
class _Reads:
    """Reads what values are computed from, through buffers that the kernel computes element by element."""

    makers: Mapping[Any, Generic]

    def tree(self, value: Any, generic: Generic) -> Tree:
        buffer = _buffer_of(value, generic)
        if buffer in self.makers:
            maker = self.makers[buffer]
            return self.tree(maker.yielded[maker.outputs.index(buffer)], maker)
        if buffer is not None:
            map_ = generic.maps[generic.operands.index(buffer)]
            return _READ, buffer, str(map_)
        owner = value.owner.operation
        if owner.name == "arith.constant":
            return _NUMBER, _constant(value)
        return owner.name, *(self.tree(each, generic) for each in owner.operands)


def _buffer_of(value: Any, generic: Generic) -> Any:
    """The buffer of which a value is an element; None for one that is computed."""
    arguments = list(generic.body.arguments)
    return generic.operands[arguments.index(value)] if value in arguments else None


def _exactly(tree: Tree) -> Tree:
    """A tree without what changes no number."""
    if tree[0] in (_READ, _NUMBER):
        return tree
    return _exactly(tree[1]) if tree[0] == _EXACT else (tree[0], *(_exactly(each) for each in tree[1:]))


def _is_square(tree: Tree) -> bool:
    return (tree[0] == "arith.mulf" and tree[1] == tree[2]) or (tree[0] == "math.fpowi" and tree[2] == (_NUMBER, 2))


def _is_mean(tree: Tree, total: Tree, length: int) -> bool:
    """Whether a value is a total divided by the length of rows."""
    if len(tree) != 3 or tree[1][:2] != total or tree[2][0] != _NUMBER or not isinstance(tree[2][1], float):
        return False
    by = tree[2][1]
    if tree[0] == "arith.divf":
        return abs(by - length) <= length * _ROUNDED
    return tree[0] == "arith.mulf" and abs(by * length - 1) <= _ROUNDED


_ROUNDED = 2.0**-23
"""How far a rounded number may be from what it stands for."""


def _constant(value: Any) -> float | int | None:
    owner = getattr(value.owner, "operation", None)
    if owner is None or owner.name != "arith.constant":
        return None
    attribute: Any = owner.attributes["value"]
    return attribute.value if isinstance(attribute, ir.FloatAttr | ir.IntegerAttr) else None
