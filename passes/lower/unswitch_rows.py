"""unswitch-rows: of a loop over the tiles of a row that reads memory between vectors, one for each place between them.

Expects kernels of rows whose tiles start before their rows, at `0 - x rem W`, a multiple of W elements in memory
(tensorize-rows with `shift`). A loop that gives no values, and that loads what all rows share and what lies at that
distance before such multiples, as a norm's weights do, becomes loops in branches of an scf.if, one for each even number
of elements that its loads can start after a vector. In each that number is a constant of the index: a multiple of W,
plus the number, plus a remainder by 2. Which words of two vectors are loaded is then known where code is made, where
they were chosen when it ran: 11 of 19 instructions for a vector of 8 elements of 16 bits. All threads of a block take
the same branch.

In a loop over several rows, each with a distance of its own, that is done to the loops inside. Leaves other loops as
they are, and those with more than `most` such places, since code is repeated for each. A second run changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from math import gcd
from typing import Any, ClassVar

from mlir_gemm.dialect import constants, tile
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.memory import in_shared
from mlir_gemm.dialect.walk import body, defined_within, in_block, named
from mlir_gemm.errors import PassError
from mlir_gemm.lowering.between_vectors import PAIR, distance_of, terms_of
from mlir_gemm.lowering.multiples import multiple_of
from mlir_gemm.passes.base import Pass


@dataclass(frozen=True)
class UnswitchRows(Pass):
    """Repeat loops that read between vectors for each place between them."""

    name: ClassVar[str] = "unswitch-rows"
    most: int = 4
    """Loops that one becomes at most."""

    def run(self, module: Any) -> None:
        if self.most < 1:
            raise PassError(f"pass '{self}': expected one loop or more")
        for kernel in named(module, "gpu.func"):
            self._unswitch_in(body(kernel))

    def _unswitch_in(self, block: Any) -> None:
        """Loops of a block; of one that goes over rows, each with a place of its own, those inside."""
        for loop in [op.operation for op in in_block(block) if op.operation.name == "scf.for"]:
            distance = None if len(loop.results) else _distance_in(loop)
            if distance is None:
                continue
            if defined_within(distance, loop):
                self._unswitch_in(loop.regions[0].blocks[0])
            else:
                _unswitch(loop, distance, self.most)


def _distance_in(loop: Any) -> Any | None:
    """How far before multiples of a vector the loads of what rows share start, if there are any."""
    return next((found for load in named(loop, "tile.load") for found in [_distance(load)] if found is not None), None)


def _distance(load: Any) -> Any | None:
    """That of one load. One that is `aligned` is of memory whose rows lie as tiles do."""
    if tile.ALIGNED in load.attributes or in_shared(load.operands[0]) or len(load.operands) != 2:
        return None
    distances = [distance_of(term) for term in terms_of(load.operands[1])]
    known = [each for each in distances if each is not None]
    return known[0] if len(known) == 1 else None


def _unswitch(loop: Any, distance: Any, most: int) -> None:
    arith, scf = dialect("arith"), dialect("scf")
    width = constants.integer_of(distance.owner.operands[1])
    assert width is not None  # as distance_of found it
    even = gcd(multiple_of(distance.owner.operands[0]), width)
    places = list(range(0, width, max(even, PAIR)))
    if not 1 < len(places) <= most:
        return
    with ir.InsertionPoint(loop), loop.location:
        zero, vector, pair = (constants.index(number) for number in (0, width, PAIR))
        after = arith.SubIOp(vector, distance).result
        rest = arith.RemUIOp(after, pair).result
        place = arith.SubIOp(arith.RemUIOp(after, vector).result, rest).result
        is_none = arith.CmpIOp(arith.CmpIPredicate.eq, distance, zero).result
        back = arith.SelectOp(is_none, zero, vector).result
        start = arith.SubIOp(zero, back).result
    point = ir.InsertionPoint(loop)
    for number in places[:-1]:
        with point, loop.location:
            found = arith.CmpIOp(arith.CmpIPredicate.eq, place, constants.index(number)).result
            branch = scf.IfOp(found, has_else=True)
        _place(loop.clone(ir.InsertionPoint(branch.then_block)), distance, (start, number, rest))
        with ir.InsertionPoint(branch.then_block), loop.location:
            scf.YieldOp([])
        with ir.InsertionPoint(branch.else_block), loop.location:
            point = ir.InsertionPoint(scf.YieldOp([]))
    _place(loop.clone(point), distance, (start, places[-1], rest))
    loop.erase()


def _place(loop: Any, distance: Any, parts: tuple[Any, int, Any]) -> None:
    """Says in a loop where its loads start: after a vector, by an even number of elements and the rest."""
    add = dialect("arith").AddIOp
    start, number, rest = parts
    for load in named(loop, "tile.load"):
        own = _distance(load)
        if own is None or own != distance:
            continue
        with ir.InsertionPoint(load), load.location:
            others = [term for term in terms_of(load.operands[1]) if distance_of(term) is None]
            known = [constants.index(number)] if number else []
            load.operands[1] = reduce(lambda one, other: add(one, other).result, [*others, start, *known, rest])
