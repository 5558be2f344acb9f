"""bound-steps: of an operand that is known to be zero at places only the steps of k are walked in which it is not.

Expects an scf.parallel over (batch ..., tile rows, tile columns) in a function that says `tile.zeros` or `tile.masked`,
with one tile.warp_specialize: a loop over all k steps that fills a ring, and one that multiplies what is in it, which
may be shorter by steps that stand before it. Leaves both with bounds that depend on the tile: where A is zero for `k>m`
they end with the last step that the tile's rows reach, where it is zero for `k<m` they begin with the first one;
conditions on `n` mean B and the tile's columns (`dialect/step_ranges.py`). Of a list of blocks both loops count, and
the one that fills looks up which steps these are, in a table in memory (memref.global). Where `open-steps` has left a
tile.step_range in the function instead, that is computed for each tile, and so is what depends on it: of a list of
blocks these are places in the table, and each access along k looks up its step. A tile that is masked as a whole walks
one step, and at least one stays of every tile. Refuses other loops over k, and a second run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import constants, indexing, step_ranges, tile
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.memory import divisor_of
from mlir_gemm.dialect.step_ranges import Walk
from mlir_gemm.dialect.walk import body, in_block, named, parents, users
from mlir_gemm.dialect.walked_steps import NAME
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.attributes import MASKED, ZEROS
from mlir_gemm.spec.zeros import UNLISTED, parse


@dataclass(frozen=True)
class BoundSteps(Pass):
    """Skip the k steps in which an operand is zero."""

    name: ClassVar[str] = "bound-steps"

    def run(self, module: Any) -> None:
        for parallel in named(module, "scf.parallel"):
            function = next(each.operation for each in parents(parallel) if each.operation.name == "func.func")
            zeros, masked = (_text(function, name) for name in (ZEROS, MASKED))
            ranges = named(function, NAME)
            if ranges:
                _give(parallel, function, ranges[0].operation, zeros, masked)
            elif zeros or masked:
                _bound(parallel, function, zeros, masked)


def _text(function: Any, name: str) -> str:
    return ir.StringAttr(function.attributes[name]).value if name in function.attributes else ""


def _bound(parallel: Any, function: Any, zeros: str, masked: str) -> None:
    filling, multiplying = (_loop(parallel, name) for name in ("tile.tma_load", "tile.mma"))
    steps, later = (constants.integer_of(loop.operands[1]) for loop in (filling, multiplying))
    if steps is None or later is None or not 0 <= steps - later < steps:
        raise pass_error(parallel, "loops over k whose numbers of steps are not known, or are bounded already")
    row, column = list(body(parallel).arguments)[-2:]
    walk = _walk(multiplying, steps, zeros, masked)
    if any(each.kind == UNLISTED for each in parse(zeros)):
        _look_up(parallel, function, walk, (filling, multiplying), (row, column), steps - later)
        return
    with ir.InsertionPoint(filling), filling.location:
        first, last = step_ranges.bounds(walk, row, column)
        if first is not None:
            filling.operands[0] = first
        if last is not None:
            filling.operands[1] = last
    with ir.InsertionPoint(multiplying), multiplying.location:
        first, last = step_ranges.bounds(walk, row, column)
        end = constants.index(steps) if last is None else last
        done = constants.index(steps - later) if first is None else indexing.add(first, steps - later)
        multiplying.operands[1] = indexing.sub(end, done)


def _walk(loop: Any, steps: int, zeros: str, masked: str) -> Walk:
    product = named(loop, "tile.mma")[0].operation
    heights: dict[str, int] = {}
    for operand, number in (("a", 0), ("b", 1)):
        heights.update(zip(tile.order_of(product, operand), product.operands[number].type.shape, strict=True))
    return Walk(heights["m"], heights["n"], heights["k"], steps, zeros, masked)


def _give(parallel: Any, function: Any, range_: Any, zeros: str, masked: str) -> None:
    """Computes a tile.step_range, and what depends on it, for each tile."""
    steps = ir.IntegerAttr(range_.attributes["steps"]).value
    walk, block = _walk(parallel, steps, zeros, masked), body(parallel)
    row, column = list(block.arguments)[-2:]
    before = in_block(block)[0]
    if any(each.kind == UNLISTED for each in parse(zeros)):
        table, number = _table(parallel, function, walk, (row, column))
        with ir.InsertionPoint(before), parallel.location:
            memory, given, end = _entries(table, number())
            count = indexing.sub(end, given)
        _look_up_each(range_.results[0], memory, end, walk.depth)
    else:
        with ir.InsertionPoint(before), parallel.location:
            first, last = step_ranges.bounds(walk, row, column)
            end = constants.index(steps) if last is None else last
            given = constants.index(0) if first is None else first
            count = end if first is None else indexing.sub(end, given)
    moved: set[Any] = set(range_.results)
    for op in [each.operation for each in in_block(body(function))]:
        if op != parallel.operation and op != range_ and moved & set(op.operands):
            op.move_before(before)
            moved.update(op.results)
    for old, new in zip(range_.results, (given, count), strict=True):
        old.replace_all_uses_with(new)
    range_.erase()


def _look_up(
    parallel: Any, function: Any, walk: Walk, loops: tuple[Any, Any], places: tuple[Any, Any], before: int
) -> None:
    """Both loops count the steps of a table, `before` of which stand before the one that multiplies."""
    filling, multiplying = loops
    table, number = _table(parallel, function, walk, places)
    with ir.InsertionPoint(filling), filling.location:
        memory, filling.operands[0], filling.operands[1] = _entries(table, number())
    place = body(filling).arguments[0]
    with ir.InsertionPoint.at_block_begin(body(filling)), filling.location:
        step = step_ranges.entry(memory, place)
    place.replace_all_uses_except(step, step_ranges.loads_of(step))
    with ir.InsertionPoint(multiplying), multiplying.location:
        _, first, last = _entries(table, number())
        multiplying.operands[1] = indexing.sub(last, indexing.add(first, before))


def _table(parallel: Any, function: Any, walk: Walk, places: tuple[Any, Any]) -> tuple[Any, Callable[[], Any]]:
    """The table of the steps of all tiles, and what gives a tile's number in it, at the insertion point."""
    dimensions = len(body(parallel).arguments)
    counts = [constants.integer_of(parallel.operation.operands[2 * dimensions + axis]) for axis in (-2, -1)]
    known = step_ranges.sides(walk)
    if any(count is None for count, side in zip(counts, "mn", strict=True) if side in known):
        raise pass_error(parallel, "a list of blocks, and tiles whose number is not known")
    tiles = {side: count for side, count in zip("mn", counts, strict=True) if side in known and count is not None}
    return step_ranges.table(function, walk, tiles), lambda: _number(tiles, places)


def _entries(table: Any, number: Any) -> tuple[Any, Any, Any]:
    """The memory of a table, and where in it the steps of a tile begin, and end, at the insertion point."""
    memory = step_ranges.read_table(table)
    first, last = (step_ranges.entry(memory, each) for each in (number, indexing.add(number, 1)))
    return memory, first, last


def _look_up_each(first: Any, memory: Any, end: Any, depth: int) -> None:
    """Where a place along k is computed from the first place in the table, that of the step which the table has there.
    What is copied ahead, beyond the last step, is the last step's once more, which nothing multiplies."""
    pending, seen = [first], set[Any]()
    while pending:
        value = pending.pop()
        for user in [each.operation for each in users(value)]:
            if user.name.startswith("arith.") and isinstance(user.results[0].type, ir.IndexType):
                if user.results[0] not in seen:
                    seen.add(user.results[0])
                    pending.append(user.results[0])
                continue
            with ir.InsertionPoint(user), user.location:
                place = indexing.div(value, depth)
                if divisor_of(value) % depth:
                    raise pass_error(user, f"a place along k that is not known to be a multiple of {depth}")
                least = dialect("arith").MinUIOp(place, indexing.sub(end, 1)).result
                found = indexing.mul(step_ranges.entry(memory, least), depth)
            for position, operand in enumerate(user.operands):
                if operand == value:
                    user.operands[position] = found


def _number(tiles: dict[str, int], places: tuple[Any, Any]) -> Any:
    """The number of a tile in a table of the tiles along one side, or both, at the insertion point."""
    if len(tiles) == 2:
        return indexing.add(indexing.mul(places[0], tiles["n"]), places[1])
    return places["mn".index(next(iter(tiles)))]


def _loop(parallel: Any, name: str) -> Any:
    """The only loop over k with an operation of that name."""
    found = list(dict.fromkeys(loop.operation for loop in named(parallel, "scf.for") if named(loop, name)))
    if len(found) != 1 or constants.integer_of(found[0].operands[0]) != 0:
        raise pass_error(parallel, f"expected one loop over k from 0 with '{name}', in a tile.warp_specialize")
    return found[0]
