"""Structured linalg operations, named ones and generics alike, by their indexing maps and bodies, on whole arrays.

The body runs once, on arrays with an axis for each loop. A sum of products becomes matrix products, whose sums are kept
in f32 or wider and rounded once; sums, products, minima and maxima of anything else are reduced at once; what else a
body may do with its output runs over the reduction loops one by one.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.walk import in_block
from mlir_gemm.simulator.contraction import contract_all, wide_type
from mlir_gemm.simulator.errors import unsupported
from mlir_gemm.simulator.tile_affine import map_evaluators
from mlir_gemm.simulator.tile_numbers import dtype_of, rounder
from mlir_gemm.simulator.tile_program import Decoder, Frame, Step, StepMaker, run_steps

_AT_ONCE = 1 << 24
"""Points of a reduction that are computed at once; more go in slices."""
_SUMS = ("arith.addf", "arith.addi")
_PRODUCTS = ("arith.mulf", "arith.muli")
_REDUCERS: dict[str, Any] = {
    "arith.addf": np.add, "arith.addi": np.add, "arith.mulf": np.multiply, "arith.muli": np.multiply,
    "arith.maximumf": np.maximum, "arith.minimumf": np.minimum, "arith.maxnumf": np.fmax, "arith.minnumf": np.fmin,
    "arith.maxsi": np.maximum, "arith.minsi": np.minimum, "arith.andi": np.bitwise_and, "arith.ori": np.bitwise_or,
    "arith.xori": np.bitwise_xor,
}  # fmt: skip


@dataclass(frozen=True)
class _Combination:
    """A body whose only use of its output is `reducer(output, factor * factor * ...)`."""

    name: str
    factors: tuple[Any, ...]
    absorbed: tuple[Any, ...]
    """Operations that this replaces."""


class _Maps:
    """The indexing maps of an operation: between its operands and arrays with an axis for each loop."""

    def __init__(self, operation: Any) -> None:
        attributes = dialect("linalg").get_indexing_maps(operation.operation)
        if attributes is None:
            raise unsupported(operation, "has no indexing maps")
        self.operation = operation
        self.maps = [ir.AffineMapAttr(attribute).value for attribute in attributes]
        self.loops = self.maps[0].n_dims
        self.places = [_places(map_) for map_ in self.maps]
        self.evaluators = [map_evaluators(map_) for map_ in self.maps]

    def sizes(self, operands: list[Any]) -> list[int]:
        """Iterations of each loop, by the shapes of the operands."""
        sizes: list[int | None] = [None] * self.loops
        for map_, operand in zip(self.maps, operands, strict=True):
            for axis, expression in enumerate(map_.results):
                if isinstance(expression, ir.AffineDimExpr):
                    loop: int = expression.position
                    known, size = sizes[loop], int(operand.shape[axis])
                    if known not in (None, size):
                        raise unsupported(
                            self.operation, f"loop {loop} has {known} steps by one operand, {size} by another"
                        )
                    sizes[loop] = size
        found = [size for size in sizes if size is not None]
        if len(found) < self.loops:
            raise unsupported(self.operation, "has a loop that indexes no operand on its own")
        return found

    def spread(self, number: int, operand: Any, points: list[Any]) -> Any:
        """An operand as an array that broadcasts over the loops."""
        if not np.ndim(operand):
            return operand
        places = self.places[number]
        if places is None:
            return operand[tuple(evaluate(points) for evaluate in self.evaluators[number])]
        fixed = operand[tuple(slice(None) if isinstance(place, _Loop) else place for place in places)]
        loops = [place.number for place in places if isinstance(place, _Loop)]
        ordered = fixed.transpose(sorted(range(len(loops)), key=lambda axis: loops[axis]))
        return ordered[tuple(slice(None) if loop in loops else None for loop in range(self.loops))]

    def gather(self, number: int, value: Any, sizes: list[int]) -> Any:
        """A result over the loops in the order of an output's dimensions; reduction loops have extent 1."""
        places = self.places[number] or []
        loops = [place.number for place in places if isinstance(place, _Loop)]
        shape = [size if loop in loops else 1 for loop, size in enumerate(sizes)]
        array = np.broadcast_to(np.asarray(value), shape)
        rest = [loop for loop in range(self.loops) if loop not in loops]
        array = array.transpose(*rest, *loops).reshape([sizes[loop] for loop in loops])
        return array[tuple(slice(None) if isinstance(place, _Loop) else None for place in places)]


@dataclass(frozen=True)
class _Loop:
    number: int


def _places(map_: Any) -> list[_Loop | int] | None:
    """What each dimension of an operand is indexed by, a loop of its own or a number; None for anything else."""
    places: list[_Loop | int] = []
    for expression in map_.results:
        if isinstance(expression, ir.AffineDimExpr):
            places.append(_Loop(expression.position))
        elif isinstance(expression, ir.AffineConstantExpr):
            places.append(expression.value)
        else:
            return None
    loops = [place for place in places if isinstance(place, _Loop)]
    return places if len(loops) == len(set(loops)) else None


def structured(decoder: Decoder, operation: Any) -> Step:
    """The step of any linalg operation that has a body. Raises SimulationError for others."""
    op = operation.operation
    if not len(op.regions) or not len(op.regions[0].blocks):
        raise unsupported(operation, "the simulator knows only linalg operations with indexing maps and a body")
    return _Structured(decoder, operation).step


class _Structured:
    def __init__(self, decoder: Decoder, operation: Any) -> None:
        op = operation.operation
        self.operation = operation
        block = op.regions[0].blocks[0]
        *inside, terminator = in_block(block)
        yielded = list(terminator.operation.operands)
        self.outputs = len(yielded)
        self.maps = _Maps(operation)
        operands = list(op.operands)
        self.inputs = len(operands) - self.outputs
        if len(self.maps.maps) != len(operands):
            raise unsupported(operation, "has operands without indexing maps")
        of_outputs = self.maps.places[self.inputs :]
        if any(places is None for places in of_outputs):
            raise unsupported(operation, "has an output map that is no permutation of loops")
        self.parallel = {p.number for places in of_outputs for p in places or () if isinstance(p, _Loop)}
        self.reduced = [loop for loop in range(self.maps.loops) if loop not in self.parallel]
        self.combination = _combination(block, inside, yielded) if self.reduced and self.outputs == 1 else None
        absorbed = self.combination.absorbed if self.combination is not None else ()
        self.operands = decoder.slots(operands)
        # linalg.map and the like have no argument for an output that they do not read.
        self.arguments = decoder.slots(block.arguments)
        self.results = decoder.slots(op.results)
        self.indices = [(decoder.slot(i.operation.results[0]), _dim(i)) for i in inside if _is_index(i)]
        self.steps = decoder.steps([o for o in inside if not _is_index(o) and o.operation not in absorbed])
        self.yielded = decoder.slots(yielded)
        self.round = [rounder(value.type, operation) for value in operands[self.inputs :]]
        if self.combination is not None:
            self.dtype = dtype_of(operands[-1].type, operation)
            self.factors = decoder.slots(self.combination.factors)

    def step(self, frame: Frame) -> None:
        operands = [frame[slot] for slot in self.operands]
        sizes = self.maps.sizes(operands)
        if not math.prod(sizes[loop] for loop in self.reduced) or not math.prod(sizes):
            computed = operands[self.inputs :]  # nothing is added
        else:
            combination = self.combination
            if combination is not None:
                found = self._combined(combination, frame, operands, sizes)
            else:
                found = self._in_order(frame, operands, sizes)
            pairs = enumerate(found, self.inputs)
            computed = [self.maps.gather(number, value, sizes) for number, value in pairs]
        for place, value in enumerate(computed):
            value = self.round[place](value)
            if self.results:
                frame[self.results[place]] = np.asarray(value, order="C")  # not ascontiguousarray: it has no rank 0
            else:
                operands[self.inputs + place][...] = value

    def _run(self, frame: Frame, spread: list[Any], points: list[Any]) -> None:
        for slot, value in zip(self.arguments, spread, strict=False):
            frame[slot] = value
        for slot, loop in self.indices:
            frame[slot] = points[loop]
        run_steps(self.steps, frame)

    def _combined(self, combination: _Combination, frame: Frame, operands: list[Any], sizes: list[int]) -> list[Any]:
        points = _points(sizes)
        spread = [self.maps.spread(number, operand, points) for number, operand in enumerate(operands)]
        total = np.asarray(spread[-1])
        sums = combination.name in _SUMS
        whole = sums and len(self.factors) > 1 and not self.indices  # a product needs no array over all loops
        for chunk in _chunks(sizes, self.reduced, math.prod(sizes) if whole else _AT_ONCE):
            self._run(frame, [_cut(v, chunk) for v in spread], [_cut(v, chunk) for v in points])
            factors = [np.asarray(frame[slot]) for slot in self.factors]
            lengths: list[int] = [len(range(size)[part]) for size, part in zip(sizes, chunk, strict=True)]
            if sums:
                extents = {loop: lengths[loop] for loop in self.reduced}
                factors.append(np.ones([1] * len(sizes), factors[0].dtype))
                total = total.astype(wide_type(self.dtype)) + contract_all(factors, extents, self.dtype)
                continue
            reducer = _REDUCERS[combination.name]
            value = np.broadcast_to(factors[0], lengths)
            total = reducer(total, reducer.reduce(value, axis=tuple(self.reduced), keepdims=True, dtype=value.dtype))
        return [total]

    def _in_order(self, frame: Frame, operands: list[Any], sizes: list[int]) -> list[Any]:
        """The outputs over the loops; reductions one iteration after the other."""
        points = _points(sizes)
        spread = [self.maps.spread(number, operand, points) for number, operand in enumerate(operands)]
        outputs = spread[self.inputs :]
        for numbers in itertools.product(*(range(sizes[loop]) for loop in self.reduced)):
            chunk = [slice(None)] * len(sizes)
            for loop, number in zip(self.reduced, numbers, strict=True):
                chunk[loop] = slice(number, number + 1)
            inputs = [_cut(value, chunk) for value in spread[: self.inputs]]
            self._run(frame, [*inputs, *outputs], [_cut(value, chunk) for value in points])
            outputs = [frame[slot] for slot in self.yielded]
        return outputs


def _points(sizes: list[int]) -> list[Any]:
    """The iterations of each loop, along an axis of its own."""
    rank = len(sizes)
    return [
        np.arange(size).reshape([-1 if axis == loop else 1 for axis in range(rank)]) for loop, size in enumerate(sizes)
    ]


def _cut(value: Any, chunk: list[slice]) -> Any:
    """The part of an array over the loops that belongs to a part of the iterations."""
    if not np.ndim(value):
        return value
    return value[tuple(slice(None) if size == 1 else part for size, part in zip(value.shape, chunk, strict=True))]


def _chunks(sizes: list[int], reduced: list[int], most: int) -> Iterator[list[slice]]:
    """Parts of the iterations, of at most `most` points where the reduction loops allow it."""
    whole = [slice(None)] * len(sizes)
    points = math.prod(sizes)
    if points <= most:
        yield whole
        return
    loop = max(reduced, key=lambda each: sizes[each])
    length = max(1, most * sizes[loop] // points)
    for first in range(0, sizes[loop], length):
        yield [slice(first, first + length) if each == loop else part for each, part in enumerate(whole)]


def _is_index(operation: Any) -> bool:
    return operation.operation.name == "linalg.index"


def _dim(operation: Any) -> int:
    return ir.IntegerAttr(operation.operation.attributes["dim"]).value


def _combination(block: Any, inside: list[Any], yielded: list[Any]) -> _Combination | None:
    """How a body combines its output with the rest, if it is one of the ways that can be done at once."""
    output = block.arguments[len(block.arguments) - 1]
    if str(output.type) == "i1":
        return None
    last = _maker(yielded[0])
    if last is None or last.name not in _REDUCERS or len(list(output.uses)) != 1 or not _used_once(last):
        return None
    operands = list(last.operands)
    if output not in operands:
        return None
    other = operands[1 - operands.index(output)]
    factors, products = (other,), list[Any]()
    if last.name in _SUMS:
        factors, products = _factors(other)
    return _Combination(last.name, factors, (last, *products))


def _factors(value: Any) -> tuple[tuple[Any, ...], list[Any]]:
    """The factors of a product, and the operations that multiply them."""
    product = _maker(value)
    if product is None or product.name not in _PRODUCTS or not _used_once(product):
        return (value,), []
    left, right = (_factors(operand) for operand in product.operands)
    return (*left[0], *right[0]), [product, *left[1], *right[1]]


def _used_once(operation: Any) -> bool:
    return len(list(operation.results[0].uses)) == 1


def _maker(value: Any) -> Any | None:
    owner = value.owner
    return None if hasattr(owner, "operations") else owner.operation


def _softmax(decoder: Decoder, operation: Any) -> Step:
    """linalg.softmax, which has no body."""
    op = operation.operation
    axis = ir.IntegerAttr(op.attributes["dimension"]).value
    source, result = decoder.slot(op.operands[0]), decoder.slot(op.results[0])

    def step(frame: Frame) -> None:
        value = frame[source]
        powers = np.exp(value - value.max(axis, keepdims=True))
        frame[result] = powers / powers.sum(axis, keepdims=True)

    return step


STEPS: dict[str, StepMaker] = {"linalg.*": structured, "linalg.softmax": _softmax}
