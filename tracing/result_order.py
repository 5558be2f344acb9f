"""The order in which the result of a contraction lies in memory, where the caller takes any."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from mlir_gemm.errors import InputError
from mlir_gemm.tracing.contraction import Operand

ROW_MAJOR, KEPT = "C", "K"
"""As NumPy names orders: that of the equation, and whichever is closest to the operands'."""


def check(order: str) -> None:
    """Raises InputError for an order that there is not."""
    if order not in (ROW_MAJOR, KEPT):
        view = f"'{KEPT}', a view of what lies in the order of the operands where that is faster"
        raise InputError(f"order='{order}'; expected '{ROW_MAJOR}', the result in the order of the equation, or {view}")


def of(operands: Sequence[Operand], result: str) -> str:
    """`result_order` of operands, which may have a dimension of components."""
    sizes = {letter: size for each in operands for letter, size in zip(each.indices, each.shape, strict=True)}
    return result_order([each.indices for each in operands], result, sizes)


def result_order(sides: Sequence[str], result: str, sizes: Mapping[str, int]) -> str:
    """The letters of a result in an order in which a product writes rows of memory as it reads them.

    `sides` are the letters of one or two operands as they lie in memory, outermost first. Letters that only one operand
    has follow one another as they do there, after those that both have. Those of the operand with the longest row, the
    letters of the result that are last there without an interruption, come last. `result` itself, where its rows are
    as long and no more of its letters are interrupted.
    """
    both = [letter for letter in result if all(letter in side for side in sides)] if len(sides) > 1 else []
    own = [[letter for letter in side if letter in result and letter not in both] for side in sides]
    rows = [_row(side, letters) for side, letters in zip(sides, own, strict=True)]
    last = max(range(len(sides)), key=lambda at: (prod(sizes[letter] for letter in rows[at]), result[-1:] in own[at]))
    order = [number for number in range(len(sides)) if number != last] + [last]
    found = "".join([*both, *(letter for number in order for letter in own[number])])
    good = result.endswith(rows[last]) and _interrupted(sides, result) <= _interrupted(sides, found)
    return result if good else found


def _row(side: str, letters: Sequence[str]) -> str:
    """Those of some letters of an operand that are last among them, with none of its others between."""
    row = letters[-1] if letters else ""
    while row and any(row in side and letter + row in side for letter in letters):
        row = side[side.index(row) - 1] + row
    return row


def _interrupted(sides: Sequence[str], order: str) -> int:
    """How many letters do not follow the one before them in every operand that has one of the two."""
    pairs = [order[at : at + 2] for at in range(len(order) - 1)]
    return sum(not all(pair in side for side in sides if set(pair) & set(side)) for pair in pairs)


def axes(order: str, result: str) -> tuple[int, ...] | None:
    """The axes of what lies in one order of letters, in the order of the result; None where these are the same."""
    return None if order == result else tuple(map(order.index, result))
