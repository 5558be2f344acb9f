"""Which steps of k a tile of the result walks, as index values: what `spec/zeros.py` says of numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from mlir_gemm.dialect import constants, indexing
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.spec.zeros import AFTER, APART, BEFORE, Condition, parse, steps_of


class Walk(NamedTuple):
    """Tiles, and where operands are zero and the result is masked."""

    m: int
    """Rows of a tile."""
    n: int
    depth: int
    """Positions along k of a step."""
    steps: int
    """Of a tile where nothing is zero."""
    zeros: str
    masked: str


def bounds(walk: Walk, row: Any, column: Any) -> tuple[Any | None, Any | None]:
    """The first step of the tile at a row and a column of tiles and the one after its last, None for those of all
    tiles; at the insertion point."""
    firsts, lasts = list[Any](), list[Any]()
    for condition in parse(walk.zeros):
        number, height = (row, walk.m) if condition.across == "m" else (column, walk.n)
        if condition.kind in (BEFORE, APART):
            firsts.append(indexing.div(_from(condition, number, height), walk.depth))
        if condition.kind in (AFTER, APART):
            lasts.append(indexing.ceildiv(_until(condition, number, height), walk.depth))
    masked = _masked(walk, row, column)
    first = _all(firsts, "MaxUIOp")
    if first is not None:
        first = _op("MinUIOp", first, walk.steps - 1)
    last = _all(lasts, "MinUIOp")
    if last is not None:
        last = _op("MinUIOp", last, walk.steps)
        if first is not None or any(each.offset < 0 for each in parse(walk.zeros)):
            last = _op("MaxUIOp", last, 1 if first is None else indexing.add(first, 1))
    if masked is not None:
        one = constants.index(1) if first is None else indexing.add(first, 1)
        last = indexing.select(masked, one, walk.steps if last is None else last)
    return first, last


def _from(condition: Condition, number: Any, height: int) -> Any:
    """The first position along in which the rows of a tile hold anything."""
    above = indexing.mul(number, height)
    if condition.kind == BEFORE:
        return _shifted(above, condition.offset)
    return indexing.mul(indexing.div(above, condition.high), condition.wide)


def _until(condition: Condition, number: Any, height: int) -> Any:
    """The position along after the last one in which the rows of a tile hold anything."""
    if condition.kind == AFTER:
        return _shifted(indexing.mul(indexing.add(number, 1), height), condition.offset)
    last = indexing.add(indexing.mul(number, height), height - 1)
    return indexing.mul(indexing.add(indexing.div(last, condition.high), 1), condition.wide)


def _masked(walk: Walk, row: Any, column: Any) -> Any | None:
    """Whether a tile is masked as a whole; None where no tile is known to be."""
    arith = dialect("arith")
    found: Any = None

    def also(holds: Any) -> None:
        nonlocal found
        found = holds if found is None else arith.OrIOp(found, holds).result

    for condition in parse(walk.masked):
        left = indexing.mul(column, walk.n)
        if condition.kind in (AFTER, APART):  # its first column is after all that its rows hold
            also(indexing.at_least(left, _until(condition, row, walk.m)))
        if condition.kind in (BEFORE, APART):
            also(indexing.at_least(_from(condition, row, walk.m), indexing.add(left, walk.n)))
    return found


def _shifted(position: Any, offset: int) -> Any:
    """A position so many further, at least 0."""
    if offset >= 0:
        return indexing.add(position, offset)
    arith = dialect("arith")
    return arith.MaxSIOp(arith.AddIOp(position, constants.index(offset)).result, constants.index(0)).result


def _op(name: str, left: Any, right: Any) -> Any:
    make: Callable[..., Any] = getattr(dialect("arith"), name)
    return make(left, constants.index(right) if isinstance(right, int) else right).result


def _all(values: list[Any], name: str) -> Any | None:
    found: Any = None
    for value in values:
        found = value if found is None else _op(name, found, value)
    return found


def sides(walk: Walk) -> set[str]:
    """The sides, `m` and `n`, along which tiles differ in their steps."""
    return {each.across for each in parse(walk.zeros)} | ({"m", "n"} if walk.masked else set[str]())


def table(function: Any, walk: Walk, tiles: Mapping[str, int]) -> Any:
    """Makes a constant in memory of the steps of each tile along a side, or of each of both, row by row: first where
    those of each tile begin, and where the last ones end, then the steps themselves, all i32. The operation that
    declares it."""
    rows, columns = ([(place * height, (place + 1) * height) for place in range(tiles.get(side, 1))]
                     for side, height in (("m", walk.m), ("n", walk.n)))  # fmt: skip
    count = len(rows) * len(columns)
    starts, found = list[int](), list[int]()
    for row in rows:
        for column in columns:
            starts.append(count + 1 + len(found))
            found += steps_of(walk.zeros, walk.masked, row, column, walk.depth, walk.steps)
    starts.append(count + 1 + len(found))
    return constant(function, "steps", [*starts, *found])


def constant(function: Any, what: str, numbers: Sequence[int]) -> Any:
    """Makes a constant in memory of i32 numbers for a function; the operation that declares it."""
    i32 = ir.IntegerType.get_signless(32)
    given = [ir.IntegerAttr.get(i32, number) for number in numbers]
    type_ = ir.MemRefType.get([len(given)], i32)
    data = ir.DenseElementsAttr.get(given, ir.RankedTensorType.get([len(given)], i32))
    name = f"{what}_of_{ir.StringAttr(function.attributes['sym_name']).value}"
    with ir.InsertionPoint(function), function.location:
        return (
            dialect("memref")
            .GlobalOp(name, type_, sym_visibility=ir.StringAttr.get("private"), initial_value=data, constant=True)
            .operation
        )


def read_table(declared: Any) -> Any:
    """The memory of such a constant, at the insertion point."""
    type_ = ir.TypeAttr(declared.attributes["type"]).value
    return dialect("memref").GetGlobalOp(type_, ir.StringAttr(declared.attributes["sym_name"]).value).result


def entry(memory: Any, place: Any) -> Any:
    """What a table has at a place, as an index value."""
    found = dialect("memref").LoadOp(memory, [place]).result
    return dialect("arith").IndexCastOp(ir.IndexType.get(), found).result


def loads_of(value: Any) -> list[Any]:
    """The load that an entry comes from."""
    return [value.owner.operation.operands[0].owner.operation]
