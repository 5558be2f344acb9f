"""The order in which statements of loops may run: whether each can do all of its iterations before the next one begins.

Two accesses to the same memory, one of them a store, must keep their order. Where both indices are the same sums of
loops, how many iterations lie between two accesses to one element follows; the outermost loop in which they differ says
which comes first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlir_gemm.dialect.affine import Linear
from mlir_gemm.dialect.locations import input_error
from mlir_gemm.dialect.loop_nests.loops import Loop, limits
from mlir_gemm.dialect.loop_nests.statements import Access, Reader, Statement, root_of

Distances = dict[Loop, "int | None"]
"""For loops around two accesses, how many iterations the second is later when both access one element; None where that
is not known."""


def check_order(reader: Reader) -> None:
    """Raises InputError where a statement would read or overwrite what another has not written, or read, yet."""
    by_root: dict[Any, list[tuple[Statement, Access]]] = {}
    for statement in reader.statements:
        for target in statement.targets:
            by_root.setdefault(target.root, []).append((statement, target))
    for writers in by_root.values():
        for number, (_, first) in enumerate(writers):
            for _, second in writers[number + 1 :]:
                _require(first, second, second)
    for statement in reader.statements:
        for load in statement.loads:
            for writer, target in by_root.get(load.root, ()):
                if writer is not statement:
                    _check_load(load, statement, writer, target)
        _check_own(statement)
        for position, op in reader.others:
            if any(load.position < position < statement.position and _touches(op, load) for load in statement.loads):
                raise input_error(
                    statement.op, f"'{statement.op.name}' uses what was read before '{op.name}' writes to that memory; "
                    "expected the load after it",
                )  # fmt: skip


def _check_load(load: Access, statement: Statement, writer: Statement, target: Access) -> None:
    """What a statement reads, against what another writes; it reads when the statement runs, which may be later in the
    text than the load."""
    if writer.position < load.position:
        _require(target, load, load)
    elif writer.position > statement.position:
        _require(load, target, target)
    elif distances(load, target) is not None:
        raise input_error(
            statement.op, f"'{statement.op.name}' uses what was read before '{writer.op.name}' may write to the same "
            "element; expected the load after that store",
        )  # fmt: skip


def _check_own(statement: Statement) -> None:
    """A linalg.generic reads before it writes: no iteration may read what an earlier one has written."""
    for target in statement.targets:
        for load in statement.loads:
            if load.root == target.root and not load.same_element(target):
                _require(load, target, load)


def _touches(op: Any, load: Access) -> bool:
    return any(root_of(value) == load.root for value in op.operands)


def _require(first: Access, second: Access, culprit: Access) -> None:
    """Refuses two accesses of which the first in the text may be to an element that the second has accessed in an
    earlier iteration."""
    found = distances(first, second)
    if found is None:
        return
    for loop, distance in found.items():
        if distance == 0:
            continue
        if distance is not None and distance > 0:
            return
        other = first if culprit is second else second
        raise input_error(
            culprit.op,
            f"'{culprit.op.name}' and '{other.op.name}' may access the same element in different iterations of "
            f"{loop.name}, so the loops cannot run one after the other: a loop-carried dependence; expected iterations "
            "that do not need each other, and sums, products, maxima, ... into one element",
        )


def distances(first: Access, second: Access) -> Distances | None:
    """How many iterations of the loops around both lie between two accesses to one element, by loop, outermost first;
    None where they never access the same one."""
    shared = [loop for loop in first.loops if loop in second.loops]
    found: Distances = {loop: 0 if loop.parallel or _once(loop) else None for loop in shared}
    if first.memory != second.memory:
        return found
    for one, other in zip(first.indices, second.indices, strict=True):
        if _apart(one, other):
            return None
        same = one.terms == other.terms and all(loop in shared for loop in one.terms)
        if not same or not one.terms:
            continue
        if one.constant == other.constant and _injective(one):
            found.update(dict.fromkeys(one.terms, 0))
        elif len(one.terms) == 1:
            ((loop, step),) = one.terms.items()
            distance, rest = divmod(one.constant - other.constant, step)
            if rest or loop.parallel or (loop.extent is None and abs(distance) >= loop.trips):
                return None
            if found[loop] not in (None, distance):
                return None
            found[loop] = distance
    return found


def _once(loop: Loop) -> bool:
    return loop.extent is None and loop.trips <= 1


def _apart(one: Linear, other: Linear) -> bool:
    """Whether two indices never meet, by their ranges."""
    ranges = [limits(each) for each in (one, other)]
    if None in ranges:
        return False
    (low, high), (least, most) = (each for each in ranges if each is not None)
    return high < least or most < low


def _injective(index: Linear) -> bool:
    """Whether other iterations always give another index: as digits of a number do."""
    if len(index.terms) == 1:
        return True
    reach = 0
    for loop, step in sorted(index.terms.items(), key=lambda term: abs(term[1])):
        if loop.extent is not None or abs(step) <= reach:
            return False
        reach += abs(step) * (loop.trips - 1)
    return True


def loops_of(indices: Sequence[Linear]) -> set[Loop]:
    """The loops that indices depend on."""
    return {loop for index in indices for loop in index.terms}
