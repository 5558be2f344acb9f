"""Pieces of tiles at the ends of rows: elements beyond a row are replaced by a neutral one."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mlir_gemm.dialect import constants, guards, indexing
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.walk import parents
from mlir_gemm.lowering.between_vectors import terms_of
from mlir_gemm.lowering.layouts import Layout
from mlir_gemm.lowering.multiples import multiple_of
from mlir_gemm.spec.attributes import CLUSTER_DIM

LONGEST = 2**31 - 2**16
"""Rows whose places, with what threads have before and after them, are numbers of 32 bits: compared in one
instruction, where 64 bits take two."""


@dataclass(frozen=True)
class Ends:
    """Where a piece of a tile that may start before a row is among the row's ends: its places are compared with
    constants, in 32 bits, and only with an end at which some thread's piece can be."""

    where: Any
    """The first place of the thread's piece, an i32 value."""
    least: int
    """What it is at least."""
    end: int
    """The row's length."""
    width: int
    """The piece's elements."""
    after: bool
    """Whether some thread's piece can end after the row."""

    @staticmethod
    def of(offset: Any, own: Any, start: int, end: int | None, layout: Layout) -> Ends | None:
        """The piece at `own` in the fragment that starts at `start` of a tile, which starts at an offset. None for a
        row whose length is not known, or takes more than 32 bits."""
        if end is None or end > LONGEST:
            return None
        least, most = least_of(offset) + start, most_of(offset)
        after = most is None or most + start + layout.shape[1] > end
        arith = dialect("arith")
        terms = [indexing.as_i32(term) for each in (offset, own) for term in terms_of(each)]
        where = functools.reduce(lambda one, other: arith.AddIOp(one, other).result, terms)
        if start:
            where = arith.AddIOp(where, arith.ConstantOp(where.type, start).result).result
        return Ends(where, least, end, layout.width, after)

    def inside(self, place: int) -> Any | None:
        """Whether an element of the piece lies in the row; None: it does."""
        return self._between(-place, self.end - place)

    @property
    def whole(self) -> Any | None:
        """Whether the piece lies in the row; None: it does."""
        return self._between(0, self.end - self.width + 1)

    def _between(self, first: int, end: int) -> Any | None:
        predicates = dialect("arith").CmpIPredicate
        return guards.both([self._compared(predicates.sge, first) if self.least < first else None,
                            self._compared(predicates.slt, end) if self.after else None])  # fmt: skip

    def _compared(self, predicate: Any, number: int) -> Any:
        arith = dialect("arith")
        return arith.CmpIOp(predicate, self.where, arith.ConstantOp(self.where.type, number).result).result


def clipped(piece: Any, neutral: Any, at: tuple[Any, int, Any], size: Any, layout: Layout, across: bool) -> Any:
    """A piece with the neutral element from `size` on. It starts at `at`: an offset, the start of its fragment, and the
    thread's place in that; `across`, its elements follow each other there."""
    (offset, start, own), type_, extent = at, piece.type, layout.shape[int(across)]
    first, end = constants.integer_of(offset), constants.integer_of(size)
    if first is not None and end is not None:
        if first + start + extent <= end:
            return piece
        if first + start >= end:
            return constants.splat(type_, neutral)
    arith, vector = dialect("arith"), dialect("vector")
    width = type_.shape[0]
    where = plus(plus(offset, own), constants.index(start))
    other = constants.splat(type_, neutral)
    if not across or width == 1 or not (multiple_of(offset) % width or multiple_of(size) % width):
        return arith.SelectOp(guards.less(where, size), piece, other).result

    def by_element(inside: Callable[[int], Any | None]) -> Any:
        single = arith.ConstantOp(type_.element_type, neutral).result
        elements: list[Any] = []
        for place in range(width):
            element, condition = vector.ExtractOp(piece, [], [place]).result, inside(place)
            elements.append(element if condition is None else arith.SelectOp(condition, element, single).result)
        return vector.FromElementsOp(type_, elements).result

    if starts_within(offset, width) and start >= width and end is not None and start + extent <= end:
        return piece
    if may_be_negative(offset):  # a branch would keep what follows from being loaded, or computed, beside it
        ends = Ends.of(offset, own, start, end, layout)
        if ends is None:
            return by_element(lambda place: guards.less(plus(where, constants.index(place)), size))
        return by_element(ends.inside)
    last = plus(where, constants.index(width - 1))
    whole = guards.both([guards.less(where, size), guards.less(last, size)])
    return guards.either(whole, type_, lambda: piece, lambda: by_element(
        lambda place: guards.less(plus(where, constants.index(place)), size)))  # fmt: skip


def least_of(index: Any) -> int:
    """The least that the start of a tile can be: what is not subtracted is not negative."""
    owner = index.owner
    number = constants.integer_of(index)
    if number is not None:
        return number
    name = getattr(owner, "name", "")
    if name == "arith.addi":
        return sum(map(least_of, owner.operands))
    if name != "arith.subi":
        return 0
    most = most_of(owner.operands[1])
    return -LONGEST if most is None else least_of(owner.operands[0]) - most


def most_of(index: Any) -> int | None:
    """The most that an index can be, if that is known."""
    owner, number = index.owner, constants.integer_of(index)
    if number is not None:
        return number
    if hasattr(owner, "operations"):
        return _most_of_loop(index, owner.owner.operation)
    if owner.name == "tile.rank":
        kernel = next((each for each in parents(owner) if CLUSTER_DIM in each.operation.attributes), None)
        return kernel and max(ir.DenseI32ArrayAttr(kernel.operation.attributes[CLUSTER_DIM])) - 1
    operands = list(owner.operands)
    if owner.name == "arith.remui":
        divisor = constants.integer_of(operands[1])
        return divisor and divisor - 1
    if owner.name == "arith.subi":
        most = most_of(operands[0])
        return None if most is None else most - least_of(operands[1])
    found = [most_of(operand) for operand in operands] if owner.name in ("arith.addi", "arith.muli") else [None]
    known = [each for each in found if each is not None]
    if len(known) < len(found):
        return None
    return sum(known) if owner.name == "arith.addi" else known[0] * known[1]


def _most_of_loop(index: Any, loop: Any) -> int | None:
    if loop.name != "scf.for" or index.arg_number != 0:
        return None
    first, stop, step = list(loop.operands)[:3]
    lower, upper, by = constants.integer_of(first), most_of(stop), constants.integer_of(step)
    if lower is None or upper is None or not by:
        return None
    return lower + max(0, upper - lower - 1) // by * by


def plus(left: Any, right: Any) -> Any:
    """The sum of two index values, of which the first may be negative."""
    if constants.integer_of(right) == 0:
        return left
    return dialect("arith").AddIOp(left, right, overflowFlags=dialect("arith").IntegerOverflowFlags.nsw).result


def may_be_negative(offset: Any) -> bool:
    """Whether an offset is computed by a subtraction."""
    owner = offset.owner
    if getattr(owner, "name", "") == "arith.addi":
        return any(map(may_be_negative, owner.operands))
    return getattr(owner, "name", "") == "arith.subi"


def starts_within(offset: Any, aligned: int) -> bool:
    """Whether an offset is known to lie less than `aligned` before 0, and not after it: 0 - x rem aligned."""
    owner = offset.owner
    if getattr(owner, "name", "") != "arith.subi" or constants.integer_of(owner.operands[0]) != 0:
        return False
    divided = owner.operands[1].owner
    return getattr(divided, "name", "") == "arith.remui" and constants.integer_of(divided.operands[1]) == aligned
