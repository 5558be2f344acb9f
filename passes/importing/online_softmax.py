"""online-softmax: the maximum of long rows and the sum of exponentials after it are found in one pass.

Expects linalg.generic on tensors (after fold-operands). `m = max x` and then `s = sum exp(x - m)` along the same rows,
of f32 or f64, become one reduction of two results, which carries the maximum so far and the sum scaled to it
(`tile.reduce` combines such pairs in any order), so that what x is computed from is read once for both. After it stands
`s + (m - m)`, which is s, and NaN where the maximum is infinite or NaN, as the sum of exponentials is then. Each step
that the maximum grows rounds the sum once more: an error of a few roundings.

Only rows of `least` elements and more are taken, which no cluster of blocks holds, or of which there are so few that
each step is a kernel of its own: others are read once anyway, and a second exponential for each element would cost
more. A second run changes nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.linalg.expressions import LOAD, tree_of
from mlir_gemm.dialect.linalg.generics import (
    Generic,
    build,
    element_of,
    empty,
    erase_dead,
    fill,
    generics,
    inline,
    owner_of,
    producer,
    read,
    scalar_of,
    shape_of,
)
from mlir_gemm.dialect.running import joined
from mlir_gemm.passes.base import Pass

LONG, FEW_ROWS = 1 << 19, 4
"""Elements of a row, and most rows, for which all SMs work on each step (`group-rows`)."""
HELD = 8 * 220 << 10
"""Bytes of a row that the shared memory of 8 blocks, a cluster, holds on chips that have them."""
TYPES = ("f32", "f64")


@dataclass(frozen=True)
class OnlineSoftmax(Pass):
    """Find a maximum and the sum of exponentials after it in one pass."""

    name: ClassVar[str] = "online-softmax"
    least: int = LONG
    """Elements of the shortest rows that are taken."""

    def run(self, module: Any) -> None:
        for operation in generics(module):
            added = read(operation)
            greatest = None if added is None else _greatest_before(added)
            if added is not None and greatest is not None and self._is_long(greatest):
                _rewrite(greatest, added)
        erase_dead(module)

    def _is_long(self, greatest: Generic) -> bool:
        """Whether rows are as long as that, and neither can a cluster hold them nor are they so few that each step is a
        kernel of its own."""
        row = math.prod(size for size, reduced in zip(greatest.sizes, greatest.reductions, strict=True) if reduced)
        rows = math.prod(greatest.sizes) // max(row, 1)
        bits = max((element_of(each).width for each in greatest.inputs), default=0)
        return row >= self.least and (rows <= FEW_ROWS or row * bits // 8 >= HELD)


def _combined(generic: Generic, name: str, start: float) -> Any:
    """What a reduction of one result combines by an operation of this name, from this number on; None if it is no such
    reduction."""
    owner = owner_of(generic.yielded[0])
    total = generic.argument(len(generic.inputs))
    if len(generic.results) != 1 or owner is None or owner.name != name or _start(generic) != start:
        return None
    values = [each for each in owner.operands if each != total]
    uses = [use.owner.operation for use in total.uses]
    return values[0] if len(values) == 1 and uses == [owner] and str(values[0].type) in TYPES else None


def _start(generic: Generic) -> float | None:
    scalar = scalar_of(generic.outputs[0])
    made = None if scalar is None else owner_of(scalar)
    if scalar is None or made is None or made.name != "arith.constant":
        return None
    return float(ir.FloatAttr(made.attributes["value"]).value) if isinstance(scalar.type, ir.FloatType) else None


def _greatest_before(added: Generic) -> Generic | None:
    """The reduction to the maximum `m` of `x`, if a reduction adds up exp(x - m) along the same rows."""
    value = _combined(added, "arith.addf", 0.0)
    loops = range(len(added.sizes))
    tree = () if value is None else tree_of(value, added, loops)
    difference = tree[-1] if len(tree) == 5 and tree[0] == "math.exp" else ()
    if len(difference) != 6 or difference[0] != "arith.subf" or difference[-1][0] != LOAD:
        return None
    _, memory, places = difference[-1]
    greatest = producer(memory)
    if greatest is None or greatest.sizes != added.sizes or greatest.reductions != added.reductions:
        return None
    element = _combined(greatest, "arith.maximumf", -math.inf)
    if element is None or greatest.output_maps[0] != places or added.output_maps[0] != places:
        return None
    return greatest if tree_of(element, greatest, loops) == difference[-2] else None


def _rewrite(greatest: Generic, added: Generic) -> None:
    arith, result = dialect("arith"), greatest.results[0]
    element, shape = result.type.element_type, shape_of(result) or ()
    with ir.InsertionPoint(greatest.operation), greatest.operation.location:
        zero, one = (arith.ConstantOp(element, number).result for number in (0.0, 1.0))

        def both(arguments: list[Any]) -> list[Any]:
            *inputs, most, sum_ = arguments
            found: Any = owner_of(inline(greatest, [*inputs, most])[0])
            value = next(each for each in found.operands if each != most)
            found_by = joined([most, sum_], [value, one])
            found.erase()
            return found_by

        outputs = [greatest.outputs[0], fill(shape, element, zero)]
        maps = [*greatest.maps, greatest.output_maps[0]]
        new = build(greatest.inputs, outputs, maps, greatest.reductions, both)
        most, sum_ = new.results
        all_ = tuple(range(len(shape)))

        def finite(arguments: list[Any]) -> list[Any]:
            nothing = arith.SubFOp(arguments[1], arguments[1]).result
            return [arith.AddFOp(arguments[0], nothing).result]

        target = empty(shape, element)
        whole = build([sum_, most], [target], [all_] * 3, [False] * len(shape), finite)
    result.replace_all_uses_with(most)
    added.results[0].replace_all_uses_with(whole.results[0])
