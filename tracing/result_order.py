"""The order in which the result of a contraction lies in memory, where the caller takes any."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import prod

from mlir_gemm.errors import InputError
from mlir_gemm.tracing.contraction import Operand

ROW_MAJOR, KEPT = "C", "K"
"""As NumPy names orders: that of the equation, and whichever is closest to the operands'."""
LONG = 64
"""Elements of a row that is long enough to be written as it is: a panel of the copy engine in 16 bits. Longer ones made
no product faster (H100, f16: `ap,srqp` 94.5 us with rows of 96 elements, 101.4 with those of `srq`)."""


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
    as long (or `LONG`), and no more of its letters are interrupted. An operand that is laid out anew is a matrix after
    that, so that `result` must have the letters of its rows in one place, too.
    """
    both = [letter for letter in result if all(letter in side for side in sides)] if len(sides) > 1 else []
    own = [[letter for letter in side if letter in result and letter not in both] for side in sides]
    rows = [_row(side, letters) for side, letters in zip(sides, own, strict=True)]
    lengths = [prod(sizes[letter] for letter in row) for row in rows]
    last = max(range(len(sides)), key=lambda at: (lengths[at], result[-1:] in own[at]))
    order = [number for number in range(len(sides)) if number != last] + [last]
    found = "".join([*both, *(letter for number in order for letter in own[number])])
    enough = min(LONG, max(lengths))
    is_long = any(row and length >= enough and result.endswith(row) for row, length in zip(rows, lengths, strict=True))
    good = is_long and _interrupted(sides, result) <= _interrupted(sides, found)
    if good and any(_is_laid_anew(side, result) for side in sides):
        good = _cuts([both, *own], result) <= _cuts([both, *own], found)
    return result if good else found


def _row(side: str, letters: Sequence[str]) -> str:
    """Those of some letters of an operand that are last among them, with none of its others between."""
    row = letters[-1] if letters else ""
    while row and any(row in side and letter + row in side for letter in letters):
        row = side[side.index(row) - 1] + row
    return row


def _cuts(groups: Sequence[Sequence[str]], order: str) -> int:
    """How often the letters of an order change from one group to another: m or n in several pieces has small tiles."""
    return _changes([next(number for number, group in enumerate(groups) if letter in group) for letter in order])


def _is_laid_anew(side: str, result: str) -> bool:
    """Whether an operand's summed letters lie in more than one place between its others: no batch of matrices."""
    return _changes([letter in result for letter in side]) > 2


def _changes(kinds: Sequence[object]) -> int:
    return sum(first != second for first, second in pairwise(kinds))


def _interrupted(sides: Sequence[str], order: str) -> int:
    """How many letters do not follow the one before them in every operand that has one of the two."""
    pairs = [order[at : at + 2] for at in range(len(order) - 1)]
    return sum(not all(pair in side for side in sides if set(pair) & set(side)) for pair in pairs)


def axes(order: str, result: str) -> tuple[int, ...] | None:
    """The axes of what lies in one order of letters, in the order of the result; None where these are the same."""
    return None if order == result else tuple(map(order.index, result))
