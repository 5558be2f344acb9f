"""Poolings: reductions over small windows as elementwise work that reads what is pooled where it lies.

Each element of the result is computed by itself: its window is unrolled, and read at computed places, in the order in
which loops would go through it.
"""

from __future__ import annotations

from itertools import product as all_of
from math import prod
from typing import Any

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.clone import clone_slice
from mlir_gemm.dialect.linalg import computed_reads as reads
from mlir_gemm.dialect.linalg import structured
from mlir_gemm.dialect.linalg.computed_reads import At
from mlir_gemm.dialect.linalg.generics import build, empty
from mlir_gemm.dialect.linalg.images import Move, linear
from mlir_gemm.dialect.linalg.structured import Generic
from mlir_gemm.dialect.linalg.window_sums import (
    MOST_TAPS,
    cloned,
    extended,
    place_of,
    rounded,
    start_of,
    turned,
    wide_of,
)
from mlir_gemm.dialect.reductions import Combination, combinations_of
from mlir_gemm.dialect.walk import in_block
from mlir_gemm.spec.element_types import TYPES

_ROUNDING = ("arith.addf", "arith.mulf")
"""What loses digits in narrow types."""


def pool_windows(op: Any, number: int, maps: list[Any], sizes: list[int]) -> bool:
    """Replaces a reduction whose body reads operand `number` alone, by windows of few elements, by an elementwise
    generic that goes through each window at once; says whether it did. Narrow floats are added up in f32."""
    generic = structured.read(op)
    moves = [linear(each) for each in maps[number].results]
    known = [each for each in moves if each is not None]
    summed = [loop for loop, parallel in enumerate(generic.parallel) if not parallel]
    others = [loop for loop, parallel in enumerate(generic.parallel) if parallel]
    if [place for place in range(len(generic.inputs)) if generic.reads(place)] != [number]:
        return False
    if not summed or len(known) < len(moves) or prod(sizes[loop] for loop in summed) > MOST_TAPS:
        return False
    if not all(str(structured.element_of(each)) in TYPES for each in generic.operands):
        return False
    for map_ in maps[len(generic.inputs) :]:
        plain = [each.position for each in map_.results if isinstance(each, ir.AffineDimExpr)]
        if sorted(plain) != others or len(plain) < len(map_.results):
            return False
    with ir.InsertionPoint(op), op.location:
        written = [each.position for each in maps[len(generic.inputs)].results]
        result, order = turned(op.results[0]) if len(generic.outputs) == 1 else (None, list(range(len(written))))
        new = _pooled(generic, number, known, [written[place] for place in order], summed, sizes)
    if result is not None:
        result.replace_all_uses_with(new[0])
    else:
        for old, value in zip(op.results, new, strict=True):
            old.replace_all_uses_with(value)
    return True


def _pooled(
    generic: Generic, number: int, moves: list[Move], lying: list[int], summed: list[int], sizes: list[int]
) -> list[Any]:
    """The results: elementwise, their dimensions run along the loops `lying`."""
    count, arguments = len(generic.inputs), list(generic.body.arguments)
    elements = [structured.element_of(each) for each in generic.outputs]
    sum_ = _rounding_sum(generic)
    kept = [wide_of(each) for each in elements] if sum_ is not None else elements
    written = [[each.position for each in map_.results] for map_ in generic.maps[count:]]
    starts = [
        start_of(each, tuple(lying.index(loop) for loop in loops))
        for each, loops in zip(generic.outputs, written, strict=True)
    ]
    loaded = [number for number, (start, _) in enumerate(starts) if isinstance(start.type, ir.RankedTensorType)]
    taps = [dict(zip(summed, tap, strict=True)) for tap in all_of(*(range(sizes[loop]) for loop in summed))]
    positions = [inner.operation for inner in in_block(generic.body) if inner.operation.name == "linalg.index"]

    def emit(given: list[Any]) -> list[Any]:
        index = {loop: dialect("linalg").IndexOp(axis).result for axis, loop in enumerate(lying)}
        totals = [
            extended(given[loaded.index(place)] if place in loaded else cloned(start), type_)
            for place, ((start, _), type_) in enumerate(zip(starts, kept, strict=True))
        ]
        for tap in taps:
            at = {
                **{loop: At.of(value) for loop, value in index.items()},
                **{loop: At.number(place) for loop, place in tap.items()},
            }
            element = reads.element(generic.inputs[number], [place_of(move, at) for move in moves])
            values: dict[Any, Any] = {arguments[number]: element}
            for op in positions:
                loop = constants.number_of(op, "dim")
                values[op.results[0]] = index[loop] if loop in index else constants.index(tap[loop])
            if sum_ is not None:
                (value,) = clone_slice([sum_.value], generic.body, values)
                both = [totals[0], extended(value, kept[0])]
                totals = [ir.Operation.create(sum_.combiner.name, results=[kept[0]], operands=both).results[0]]
                continue
            values.update(zip(arguments[count:], totals, strict=True))
            totals = clone_slice(generic.yielded, generic.body, values)
        return [rounded(total, element) for total, element in zip(totals, elements, strict=True)]

    run = [lying] if len(written) == 1 else written
    outputs = [empty([sizes[loop] for loop in loops], element) for loops, element in zip(run, elements, strict=True)]
    output_maps = [tuple(lying.index(loop) for loop in loops) for loops in run]
    inputs = [starts[place][0] for place in loaded]
    made = build(
        inputs, outputs, [*(starts[place][1] for place in loaded), *output_maps], [False] * len(lying), emit
    )  # fmt: skip
    return list(made.results)


def _rounding_sum(generic: Generic) -> Combination | None:
    """How a sum or product of narrow floats is combined; None for what keeps all digits."""
    found = combinations_of(generic) or []
    if len(found) != 1 or not isinstance(found[0], Combination) or found[0].combiner.name not in _ROUNDING:
        return None
    return found[0]
