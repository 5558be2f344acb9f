"""Nests of point loops, evaluated for all their points at once: every induction variable is an array along an axis of
its own, and NumPy broadcasts.

That is the same as running the loops in order when each point reads and writes its own element of what the nest writes,
or adds to it (`c = c + x`, a reduction over the loops that do not index c). A reduction of a product becomes a matrix
product in the accumulator's type. Points of a reduction that pass the end of what it reads are none. Where something
else happens to an element over such loops, these run in order, and where points use elements of others, all loops do.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mlir_gemm.dialect import affine
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.walk import body, in_block
from mlir_gemm.simulator.contraction import contract_all
from mlir_gemm.simulator.tile_affine import map_evaluators
from mlir_gemm.simulator.tile_memory import gather, scatter
from mlir_gemm.simulator.tile_program import Decoder, Frame, Step, run_steps

_SUMS = ("arith.addf", "arith.addi")
_PRODUCTS = ("arith.mulf", "arith.muli")


@dataclass(frozen=True)
class _Reduction:
    """`memory[...] = memory[...] + left * right` (or `+ left`), summed over some axes of the nest."""

    axes: tuple[int, ...]
    rank: int
    """Loops in the nest."""
    absorbed: tuple[Any, ...]
    """Operations that this replaces."""
    left: Any
    right: Any | None


def vectorised(decoder: Decoder, loop: Any) -> Step | None:
    """The step of a nest that can be evaluated at once, else None."""
    nest = affine.perfect_nest(loop)
    if any(affine.level_of(each) not in (None, "point") or len(each.operation.results) for each in nest):
        return None
    ranges = [_range(each) for each in nest]
    inside = in_block(body(nest[-1]))[:-1]
    if None in ranges or not all(_is_plain(operation) for operation in inside):
        return None
    variables = [affine.induction_variable(each) for each in nest]
    stores = [op for op in inside if op.operation.name == "affine.store"]
    if not all(_same_place(store, inside) for store in stores):
        return None
    trips = [each for each in ranges if each is not None]
    free = {store.operation: _free_axes(store, variables) for store in stores}
    if None in free.values():
        return None
    reductions = {
        store.operation: _reduction(store, free[store.operation] or (), len(trips))
        for store in stores
        if free[store.operation]
    }
    in_order = {axis for axes in free.values() for axis in axes or ()} if None in reductions.values() else set[int]()
    if in_order:
        reductions = {}
    absorbed = [operation for found in reductions.values() if found for operation in found.absorbed]
    slots = decoder.slots(variables)
    steps: list[Step] = []
    for operation in inside:
        reduction = reductions.get(operation.operation)
        if reduction is not None:
            steps.append(_reduce(decoder, operation, reduction, [slots[axis] for axis in reduction.axes]))
        elif operation.operation not in absorbed:
            steps += decoder.steps([operation])
    reduced = {axis for axes in free.values() for axis in axes or ()}
    ends = {axis: _ends(decoder, inside, variables[axis]) for axis in reduced}
    return _nest_step(slots, trips, in_order, ends, steps)


_Ends = list[tuple[int, int, Callable[[Frame], Any]]]
"""Of a loop, the accesses that it moves: the slot of the memory, the dimension, and the index as arrays of points."""


def _ends(decoder: Decoder, inside: list[Any], variable: Any) -> _Ends:
    found: _Ends = []
    for load in (op for op in inside if op.operation.name == "affine.load"):
        _, indices = affine.access(load)
        memory, *operands = decoder.slots(load.operation.operands)
        evaluators = map_evaluators(load.operation.attributes["map"].value)
        for dim, (index, evaluate) in enumerate(zip(indices or [], evaluators, strict=False)):
            if index.coefficient(variable):
                found.append((memory, dim, lambda frame, e=evaluate, o=operands: e([frame[slot] for slot in o])))
    return found


def _before_end(frame: Frame, ends: _Ends, axis: int, rank: int, values: Any) -> Any:
    """Of the points along an axis those that read within memory, whatever the other points are."""
    there = np.ones(values.shape, bool)
    for memory, dim, index_of in ends:
        index = np.asarray(index_of(frame))
        index = index.reshape((1,) * (rank - index.ndim) + index.shape)
        others = tuple(each for each in range(rank) if each != axis)
        there &= (index < frame[memory].shape[dim]).all(others, keepdims=True)
    return values if there.all() else values.compress(there.ravel(), axis)


def _reads_within(frame: Frame, ends: _Ends) -> bool:
    return all(bool(np.all(np.less(index_of(frame), frame[memory].shape[dim]))) for memory, dim, index_of in ends)


def _nest_step(
    slots: list[int], ranges: list[range], in_order: set[int], ends: Mapping[int, _Ends], steps: list[Step]
) -> Step:
    """Runs steps for all points at once, but for the loops `in_order`, which run one by one."""
    points: list[Any] = []
    for axis, values in enumerate(ranges):
        shape = [1] * len(ranges)
        shape[axis] = len(values)
        points.append(np.array(values, np.int64).reshape(shape))
    at_once = [(slot, points[axis]) for axis, slot in enumerate(slots) if axis not in in_order]
    one_by_one = [slots[axis] for axis in sorted(in_order)]
    iterations = [ranges[axis] for axis in sorted(in_order)]

    def step(frame: Frame) -> None:
        for slot, values in at_once:
            frame[slot] = values
        for axis, each in ends.items():
            if axis not in in_order:
                frame[slots[axis]] = _before_end(frame, each, axis, len(slots), points[axis])
        for numbers in itertools.product(*iterations):
            for slot, number in zip(one_by_one, numbers, strict=True):
                frame[slot] = number
            if all(_reads_within(frame, ends.get(axis, [])) for axis in in_order):
                run_steps(steps, frame)

    return step


def _range(loop: Any) -> range | None:
    """The iterations of a loop with constant bounds."""
    trips = affine.trip_count(loop)
    if trips is None:
        return None
    first = loop.attributes["lowerBoundMap"].value.results[0].value
    step = ir.IntegerAttr(loop.attributes["step"]).value
    return range(first, first + trips * step, step)


def _is_plain(operation: Any) -> bool:
    name: str = operation.operation.name
    return name in ("affine.load", "affine.store", "affine.apply") or name.startswith(("arith.", "math."))


def _accesses(operations: list[Any]) -> list[Any]:
    return [op for op in operations if op.operation.name in ("affine.load", "affine.store")]


def _same_place(store: Any, inside: list[Any]) -> bool:
    """Whether everything in the nest that accesses the buffer of a store does so at the same indices."""
    place = affine.access(store)
    if place[1] is None:
        return False
    return all(affine.access(op) == place for op in _accesses(inside) if affine.access(op)[0] == place[0])


def _free_axes(store: Any, variables: list[Any]) -> tuple[int, ...] | None:
    """The loops that do not move a store; None unless each of the others moves an index of its own."""
    _, indices = affine.access(store)
    free: list[int] = []
    taken: set[int] = set()
    for axis, variable in enumerate(variables):
        moved = [number for number, index in enumerate(indices or []) if index.coefficient(variable)]
        if len(moved) > 1 or taken & set(moved):
            return None
        taken |= set(moved)
        if not moved:
            free.append(axis)
    return tuple(free)


def _reduction(store: Any, axes: tuple[int, ...], rank: int) -> _Reduction | None:
    place = affine.access(store)
    add = _maker(store.operands[0], *_SUMS)
    if add is None or not _used_once(add):
        return None
    for old, new in ((0, 1), (1, 0)):
        load = _maker(add.operands[old], "affine.load")
        if load is None or affine.access(load.opview) != place or not _used_once(load):
            continue
        product = _maker(add.operands[new], *_PRODUCTS)
        if product is not None and _used_once(product):
            return _Reduction(axes, rank, (add, load, product), product.operands[0], product.operands[1])
        return _Reduction(axes, rank, (add, load), add.operands[new], None)
    return None


def _used_once(operation: Any) -> bool:
    return len(list(operation.results[0].uses)) == 1


def _maker(value: Any, *names: str) -> Any | None:
    owner = value.owner
    return owner.operation if getattr(owner, "name", None) in names else None


def _reduce(decoder: Decoder, store: Any, reduction: _Reduction, loops: list[int]) -> Step:
    _, memory, *operands = decoder.slots(store.operation.operands)
    evaluators = map_evaluators(store.operation.attributes["map"].value)
    left = decoder.slot(reduction.left)
    right = decoder.slot(reduction.right) if reduction.right is not None else None

    def step(frame: Frame) -> None:
        at = [evaluate([frame[slot] for slot in operands]) for evaluate in evaluators]
        factors = [_ranked(frame[slot], reduction.rank) for slot in (left, right) if slot is not None]
        before = gather(frame[memory], at)
        extents = {axis: np.size(frame[slot]) for axis, slot in zip(reduction.axes, loops, strict=True)}
        added = contract_all(factors, extents, frame[memory].dtype)
        after = np.asarray(before).astype(added.dtype) + added
        after = after.astype(frame[memory].dtype, copy=False)
        alone = after.size == 1 and all(not isinstance(index, np.ndarray) for index in at)
        scatter(frame[memory], at, after.reshape(()) if alone else after)

    return step


def _ranked(value: Any, rank: int) -> Any:
    array = np.asarray(value)
    return array if array.ndim else array.reshape([1] * rank)
