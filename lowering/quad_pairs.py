"""The fragments of mma.m8n8k4 with f16, which sm_70 has: four products of 8x8x4 at once, one for each quad-pair of a
warp (PTX: "Matrix Fragments for mma.m8n8k4 with .f16 floating point type").

Quad-pair q has the lanes 4q .. 4q + 3 and 16 more. Here the four make 16x16: two halves of the rows, by two halves of
the columns. Which rows an 8x8 has is free: the first half has the rows 0 .. 3 and 8 .. 11 of the 16, so that lanes that
load at the same time read neighbouring rows, which lie in different banks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mlir_gemm.dialect import constants, indexing
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.lowering.access import assemble, load
from mlir_gemm.lowering.layouts import Lane, Layout
from mlir_gemm.lowering.operands import LaneTerms, Operand
from mlir_gemm.spec.threads import LANES

SIDE, DEPTH = 16, 4
"""Rows and columns that a warp multiplies at once, and steps of k."""
HELD = 4
"""Elements of an operand that a lane has: neighbours in memory, along k or across it."""
_HALVES = {"a": (4, 2, 4), "b": (8, 2, 4)}
"""Which half of the rows of A, or of the columns of B, a lane's quad-pair has: a term of `LaneTerms.sum`."""
_SECOND = (16, 2, 8)
"""The lanes from 16 on have the rows from 8 on."""


@dataclass(frozen=True)
class QuadPairs(Layout):
    """The accumulator: a lane has two rows, two apart, of two neighbours in each half of 8 columns."""

    columns: tuple[int, ...] = (0, 0, 8, 8)
    """Where a lane's pieces lie, in columns from its first one."""

    def place(self, number: int, tile: tuple[int, int]) -> tuple[int, int]:
        row, column = super().place(number, tile)
        return row, column + self.columns[number % len(self.rows)]

    def lane(self) -> Lane:
        number = indexing.rem(indexing.thread(), LANES)
        rows, columns = ((1, 2, 1), _HALVES["a"], _SECOND), ((2, 2, 2), _HALVES["b"])
        return Lane(number, _sum(number, rows), _sum(number, columns))


LAYOUT = QuadPairs((SIDE, SIDE), rows=(0, 2, 0, 2), width=2, stacked=False, in_matrices=False)


def _sum(lane: Any, terms: tuple[tuple[int, int, int], ...]) -> Any:
    parts = [indexing.mul(indexing.rem(indexing.div(lane, each), size), by) for each, size, by in terms]
    total = parts[0]
    for part in parts[1:]:
        total = indexing.add(total, part)
    return total


def fragments(terms: LaneTerms, operand: Operand, side: str, first: int) -> list[list[Any]]:
    """What a lane holds of each 16 rows of A, or columns of B, for the four steps of k from `first` on: two registers
    of two elements. They are neighbours along k where K runs along the rows of memory, else across it."""
    if operand.contiguous:
        across, along = terms.sum((1, 4, 1), _HALVES[side], _SECOND), None
    else:
        across, along = terms.sum(_HALVES[side], _SECOND), terms.sum((1, 4, 1))
    found: list[list[Any]] = []
    for top in range(0, operand.outer, SIDE):
        k = constants.index(first) if along is None else indexing.add(along, first)
        place = [indexing.add(across, top), k]
        found.append(_pairs(_neighbours(operand, place if operand.contiguous else place[::-1])))
    return found


def _neighbours(operand: Operand, place: list[Any]) -> Any:
    type_ = ir.VectorType.get([HELD], operand.element)
    if operand.is_aligned(HELD):
        return load(type_, operand.memory, place)
    each = [load(operand.element, operand.memory, [place[0], indexing.add(place[1], step)]) for step in range(HELD)]
    return assemble(type_, each)


def _pairs(four: Any) -> list[Any]:
    """Four elements of 16 bits as two registers."""
    vector, word = dialect("vector"), ir.IntegerType.get_signless(32)
    words = vector.BitCastOp(ir.VectorType.get([2], word), four).result
    pair = ir.VectorType.get([2], four.type.element_type)
    singles = [vector.ExtractOp(words, [], [number]).result for number in range(2)]
    return [vector.BitCastOp(pair, assemble(ir.VectorType.get([1], word), [single])).result for single in singles]
