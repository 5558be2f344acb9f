"""The attributes by which arguments promise where they hold zeros, and kernels say where operands are zero."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.linalg.regions import weakened
from mlir_gemm.dialect.locations import input_error
from mlir_gemm.dialect.verifier import Kind
from mlir_gemm.spec.attributes import BANDED, BLOCK_DIAGONAL, BLOCKS, TRIANGULAR
from mlir_gemm.spec.zeros import AFTER, APART, BEFORE, UNLISTED, Condition, parse

SIZE, ROWS, COLUMNS = "size", "rows", "columns"
MOST_ROWS = 1 << 16
"""Of blocks in a list."""
ZERO_MARKS = (TRIANGULAR, BANDED, BLOCK_DIAGONAL, BLOCKS)


def _pair(attribute: Any, least: int) -> bool:
    return isinstance(attribute, ir.DenseI64ArrayAttr) and len(attribute) == 2 and min(attribute) >= least


def _is_list(attribute: Any) -> bool:
    if not isinstance(attribute, ir.DictAttr) or sorted(each.name for each in attribute) != sorted(
        (SIZE, ROWS, COLUMNS)
    ):
        return False
    rows, columns = attribute[ROWS], attribute[COLUMNS]
    arrays = isinstance(rows, ir.DenseI64ArrayAttr) and isinstance(columns, ir.DenseI64ArrayAttr)
    if not _pair(attribute[SIZE], 1) or not arrays or len(rows) != len(columns):
        return False
    return all(0 <= place < MOST_ROWS for each in (rows, columns) for place in each)


def _says(attribute: Any, along: str) -> bool:
    try:
        conditions = parse(attribute.value) if isinstance(attribute, ir.StringAttr) else ()
    except ValueError:
        return False
    return bool(conditions) and all(each.along == along for each in conditions)


BAND = Kind(lambda given: _pair(given, 0), "array<i64: below, above>, how many diagonals below and above the main one")
BLOCK = Kind(lambda given: _pair(given, 1), "array<i64: rows, columns> of a block")
BLOCKS_LISTED = Kind(
    _is_list,
    "{size = array<i64: 64, 64>, rows = array<i64: 0, 0>, columns = array<i64: 0, 2>}: as many rows as columns",
)
ZEROS = Kind(lambda given: _says(given, "k"), 'conditions such as "k>m" or "k>m+8, k<m-8"')
MASKED = Kind(lambda given: _says(given, "n"), 'conditions such as "n>m" or "n>m+8, n<m-8"')


def promised_zeros(function: Any, argument: Any, given: Mapping[str, Any]) -> tuple[Condition, ...]:
    """Where an argument holds zeros by its attributes, as conditions on its column (`k`) and its row (`m`). Raises
    InputError where they are on what is no matrix."""
    said = [mark for mark in ZERO_MARKS if mark in given]
    shape = list(argument.type.shape) if isinstance(argument.type, ir.ShapedType) else []
    if said and len(shape) < 2:
        raise input_error(function, f"'{said[0]}' on {argument.type}; expected a matrix")
    found: list[Condition] = []
    if TRIANGULAR in given:
        found.append(Condition("k", AFTER if given[TRIANGULAR].value == "lower" else BEFORE, "m"))
    if BANDED in given:
        below, above = given[BANDED]
        found += [Condition("k", AFTER, "m", above), Condition("k", BEFORE, "m", -below)]
    if BLOCK_DIAGONAL in given:
        rows, columns = given[BLOCK_DIAGONAL]
        found.append(Condition("k", APART, "m", 0, columns, rows))
    if BLOCKS in given:
        found.append(_listed(function, argument.type, given[BLOCKS]))
    return tuple(map(weakened, found))


def _listed(function: Any, type_: Any, given: Any) -> Condition:
    (high, wide), rows, columns = given[SIZE], list(given[ROWS]), list(given[COLUMNS])
    height, width = type_.shape[-2:]
    for size, block, places, what in ((height, high, rows, "row"), (width, wide, columns, "column")):
        if size >= 0 and places and max(places) >= -(-size // block):
            why = f"which has {-(-size // block)} {what}s of blocks of {high}x{wide}"
            raise input_error(function, f"'{BLOCKS}' with a block in {what} {max(places)} of {type_}, {why}")
    bits = [0] * max(max(rows, default=0) + 1, -(-height // high) if height >= 0 else 1)
    for row, column in zip(rows, columns, strict=True):
        bits[row] |= 1 << column
    return Condition("k", UNLISTED, "m", 0, wide, high, tuple(bits))
