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
PAIR = 2
"""Of so many elements those of 16 bits are a word."""


@dataclass(frozen=True)
class Between:
    """An index that lies between multiples of some elements."""

    first: Any
    """The index of the vector in which the index lies: a multiple, or below 0 where the index is."""
    conditions: tuple[Any | None, ...]
    """Whether the vectors' words are shifted by half a vector, a quarter, ... and by a word; None for never."""
    half: Any | None = None
    """By how many bits, half a word or none, an i64 value: of elements of 16 bits. None for none always."""
    known: int = 0
    """Elements by which they are shifted in any case."""

    @staticmethod
    def of(offset: Any, width: int, size: int) -> Between | None:
        """Reads `a - x rem width`, with a multiple `a`, off an index, at the insertion point, or `a + c + x rem 2` with
        an even constant `c`, which may be missing; None for another one. Elements have `size` bits."""
        terms = terms_of(offset)
        distances = [term for term in terms if distance_of(term, width) is not None]
        if distances:
            others = [term for term in terms if term not in distances]
            if len(distances) != 1 or any(multiple_of(term) % width for term in others):
                return None
            return _before(others, distance_of(distances[0], width), width, size)
        fixed = [constants.integer_of(term) for term in terms]
        known = sum(number for number in fixed if number is not None) % width
        rests = [term for term in terms if _is_rest(term)]
        others = [term for term, number in zip(terms, fixed, strict=True) if number is None and not _is_rest(term)]
        if len(rests) != 1 or known % PAIR or any(multiple_of(term) % width for term in others):
            return None
        first = constants.index(sum(number for number in fixed if number is not None) - known)
        for term in others:
            first = dialect("arith").AddIOp(first, term).result
        if size == HALF:
            return Between(first, (), _half(rests[0]), known)
        return Between(first, (*[None] * (width.bit_length() - PAIR), _is_set(rests[0], 1)), known=known)

    def between(self, vectors: tuple[Any, Any]) -> Any:
        """The elements from the index on, of two neighbouring vectors, in the first of which it lies."""
        type_ = vectors[0].type
        words = [word for vector in vectors for word in _words(vector)]
        size, arith, vector = len(words) // 2, dialect("arith"), dialect("vector")
        words = words[self.known * type_.element_type.width // WORD :]
        for place, condition in enumerate(self.conditions):
            step = size >> place + 1
            if condition is not None:
                words = [
                    words[n] if n + step >= len(words) else arith.SelectOp(condition, words[n + step], words[n]).result
                    for n in range(min(len(words), size + step))
                ]
        if self.half is not None:
            words = [_shifted(low, high, self.half) for low, high in itertools.pairwise(words)]
        whole = vector.FromElementsOp(ir.VectorType.get([size], words[0].type), words[:size]).result
        return vector.BitCastOp(type_, whole).result


def _before(terms: list[Any], distance: Any, width: int, size: int) -> Between:
    """What lies a distance before multiples of a width."""
    arith, aligned = dialect("arith"), constants.index(0)
    for term in terms:
        aligned = arith.AddIOp(aligned, term).result
    after = arith.SubIOp(constants.index(width), distance).result
    zero, even = constants.index(0), multiple_of(distance.owner.operands[0])
    bits = [width >> number for number in range(1, width.bit_length()) if (width >> number) * size >= WORD]
    conditions = [None if even % (2 * bit) == 0 else _is_set(after, bit) for bit in bits]
    half = None if size != HALF or even % PAIR == 0 else _half(after)
    same = arith.CmpIOp(arith.CmpIPredicate.eq, distance, zero).result
    back = arith.SelectOp(same, zero, constants.index(width)).result
    return Between(arith.SubIOp(aligned, back).result, tuple(conditions), half)


def _is_set(index: Any, bit: int) -> Any:
    """Whether a bit of an index is set."""
    arith = dialect("arith")
    only = arith.AndIOp(index, constants.index(bit)).result
    return arith.CmpIOp(arith.CmpIPredicate.ne, only, constants.index(0)).result


def _half(index: Any) -> Any:
    """The bits of half a word where an index is odd."""
    arith, i64 = dialect("arith"), ir.IntegerType.get_signless(2 * WORD)
    only = arith.AndIOp(arith.IndexCastOp(i64, index).result, arith.ConstantOp(i64, 1).result).result
    return arith.ShLIOp(only, arith.ConstantOp(i64, HALF.bit_length() - 1).result).result


def _shifted(low: Any, high: Any, by: Any) -> Any:
    """A word out of two after each other, shifted by so many bits: one instruction where there are such shifts, for a
    shift by a constant and a selection."""
    arith, both = dialect("arith"), ir.IntegerType.get_signless(2 * WORD)
    word = arith.ConstantOp(both, WORD).result
    upper = arith.ShLIOp(arith.ExtUIOp(both, high).result, word).result
    whole = arith.OrIOp(upper, arith.ExtUIOp(both, low).result).result
    return arith.TruncIOp(low.type, arith.ShRUIOp(whole, by).result).result


def _words(value: Any) -> list[Any]:
    """The words of a vector."""
    vector, count = dialect("vector"), value.type.shape[0] * value.type.element_type.width // WORD
    words = vector.BitCastOp(ir.VectorType.get([count], ir.IntegerType.get_signless(WORD)), value).result
    return [vector.ExtractOp(words, [], [place]).result for place in range(count)]


def terms_of(index: Any) -> list[Any]:
    """What a sum of indices adds up."""
    owner = index.owner
    if getattr(owner, "name", "") == "arith.addi":
        return [term for operand in owner.operands for term in terms_of(operand)]
    return [index]


def distance_of(index: Any, width: int = 0) -> Any | None:
    """The distance in `0 - distance`, if that is a remainder by the width, or by any constant."""
    owner = index.owner
    if getattr(owner, "name", "") != "arith.subi" or constants.integer_of(owner.operands[0]) != 0:
        return None
    rest = owner.operands[1].owner
    divisor = constants.integer_of(rest.operands[1]) if getattr(rest, "name", "") == "arith.remui" else None
    return owner.operands[1] if divisor is not None and divisor == (width or divisor) else None


def _is_rest(index: Any) -> bool:
    owner = index.owner
    return getattr(owner, "name", "") == "arith.remui" and constants.integer_of(owner.operands[1]) == PAIR
