"""Neighbours in memory that start between two vectors, for all threads at the same distance: both vectors are loaded,
and what is asked for is chosen from their words.

Where the distance is 0 the first vector is what is asked for: which two are loaded is a matter of the address, which a
thread has once, not of their words.

Of a norm's rows that start between multiples of 16 bytes, tiles start before the rows; the weights, which have no
rows, are asked for from there on. Element by element, a warp's loads would each touch as many lines as the vectors do.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.lowering.multiples import multiple_of

WORD, HALF = 32, 16
"""Bits of a register, and of the narrower elements that are chosen so."""


@dataclass(frozen=True)
class Between:
    """An index that lies a distance before a multiple of some elements."""

    first: Any
    """The index of the vector in which the index lies: a multiple, or below 0 where the index is."""
    conditions: tuple[Any | None, ...]
    """Whether the vectors' words are shifted by half a vector, a quarter, ... and by an element; None for never."""

    @staticmethod
    def of(offset: Any, width: int) -> Between | None:
        """Reads `a - x rem width`, with a multiple `a`, off an index, at the insertion point; None for another one."""
        terms, distances = list[Any](), list[Any]()
        for term in _terms(offset):
            distance = _distance(term, width)
            (terms if distance is None else distances).append(term if distance is None else distance)
        if len(distances) != 1 or any(multiple_of(term) % width for term in terms):
            return None
        arith, aligned = dialect("arith"), constants.index(0)
        for term in terms:
            aligned = arith.AddIOp(aligned, term).result
        after = arith.SubIOp(constants.index(width), distances[0]).result
        zero, bits = constants.index(0), [width >> number for number in range(1, width.bit_length())]
        even = multiple_of(distances[0].owner.operands[0])
        found = [
            None
            if even % (2 * bit) == 0
            else arith.CmpIOp(arith.CmpIPredicate.ne, arith.AndIOp(after, constants.index(bit)).result, zero).result
            for bit in bits
        ]
        same = arith.CmpIOp(arith.CmpIPredicate.eq, distances[0], zero).result
        back = arith.SelectOp(same, zero, constants.index(width)).result
        return Between(arith.SubIOp(aligned, back).result, tuple(found))

    def between(self, vectors: tuple[Any, Any]) -> Any:
        """The elements from the index on, of two neighbouring vectors, in the first of which it lies."""
        type_ = vectors[0].type
        words = [word for vector in vectors for word in _words(vector)]
        size, halves = len(words) // 2, type_.element_type.width == HALF
        arith, vector = dialect("arith"), dialect("vector")
        for place, condition in enumerate(self.conditions[:-1] if halves else self.conditions):
            by = size >> place + 1
            if condition is None:
                continue
            needed = min(len(words), size + by)
            further = [words[n + by] if n + by < len(words) else words[n] for n in range(needed)]
            words = [
                words[n] if further[n] == words[n] else arith.SelectOp(condition, further[n], words[n]).result
                for n in range(needed)
            ]
        if not halves or self.conditions[-1] is None:
            whole = vector.FromElementsOp(ir.VectorType.get([size], words[0].type), words[:size]).result
            return vector.BitCastOp(type_, whole).result
        half = arith.ConstantOp(words[0].type, HALF).result
        made: list[Any] = []
        for low, high in itertools.pairwise(words):
            upper = arith.ShLIOp(high, half).result
            both = arith.OrIOp(arith.ShRUIOp(low, half).result, upper).result
            made.append(arith.SelectOp(self.conditions[-1], both, low).result)
        whole = vector.FromElementsOp(ir.VectorType.get([size], made[0].type), made).result
        return vector.BitCastOp(type_, whole).result


def _words(value: Any) -> list[Any]:
    """The words of a vector."""
    vector, count = dialect("vector"), value.type.shape[0] * value.type.element_type.width // WORD
    words = vector.BitCastOp(ir.VectorType.get([count], ir.IntegerType.get_signless(WORD)), value).result
    return [vector.ExtractOp(words, [], [place]).result for place in range(count)]


def _terms(index: Any) -> list[Any]:
    """What a sum of indices adds up."""
    owner = index.owner
    if getattr(owner, "name", "") == "arith.addi":
        return [term for operand in owner.operands for term in _terms(operand)]
    return [index]


def _distance(index: Any, width: int) -> Any | None:
    """The distance in `0 - distance`, if that is a remainder by the width."""
    owner = index.owner
    if getattr(owner, "name", "") != "arith.subi" or constants.integer_of(owner.operands[0]) != 0:
        return None
    rest = owner.operands[1].owner
    is_rest = getattr(rest, "name", "") == "arith.remui" and constants.integer_of(rest.operands[1]) == width
    return owner.operands[1] if is_rest else None
