"""fold-gathers: a gather whose places are known is a view or an operand like any other.

Expects linalg.generic on tensors (after raise-to-tensors). Frameworks index with tensors of numbers even where those
count: torch-mlir writes a group norm's weights, one for each group and channel of it, as a tensor.extract at places
that four constants say. Of a body that yields such an element, places are computed here, for every point of its loops.
Where they run through the whole tensor in its order, its result is a reshape of it; where each is the position of one
loop, or 0 in a dimension of size 1, the tensor is an operand read through a map. All other gathers, and those of more
than 65,536 elements or out of bounds, stay as they are. A second run changes nothing.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.constant_data import ConstantData
from mlir_gemm.dialect.deferred_package import later
from mlir_gemm.dialect.linalg.generics import ONE, Generic, Map, build, generics, read, replace
from mlir_gemm.dialect.linalg.reshapes import reshape
from mlir_gemm.dialect.walk import in_block
from mlir_gemm.passes.base import Pass

with later("numpy"):  # few modules have such gathers
    import numpy as np

LARGEST = 1 << 16
"""Elements of a gather that is looked at: places are computed for each of them."""
_Numbers: TypeAlias = "np.ndarray[Any, np.dtype[np.int64]]"
_COMPARE: dict[int, Callable[[Any, Any], Any]] = {
    0: operator.eq, 1: operator.ne, 2: operator.lt, 3: operator.le, 4: operator.gt, 5: operator.ge
}  # fmt: skip
"""By the number of arith's predicate; unsigned ones are not taken."""
_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "arith.addi": operator.add, "arith.subi": operator.sub, "arith.muli": operator.mul,
    "arith.maxsi": lambda one, other: np.maximum(one, other), "arith.minsi": lambda one, other: np.minimum(one, other),
}  # fmt: skip
_CASTS = ("arith.index_cast", "arith.extsi")


@dataclass(frozen=True)
class FoldGathers(Pass):
    """Make views of gathers whose places are known."""

    name: ClassVar[str] = "fold-gathers"

    def run(self, module: Any) -> None:
        data = ConstantData(module)
        for operation in generics(module):
            generic = read(operation, free=True)
            gather = None if generic is None else _gather(generic)
            if generic is not None and gather is not None:
                _fold(generic, gather, _Places(generic, data))


def _gather(generic: Generic) -> Any:
    """The tensor.extract whose element is all that a body yields, once for each point; None for any other body."""
    identity = tuple(range(len(generic.sizes)))
    if len(generic.yielded) != 1 or not generic.parallel or generic.output_maps != (identity,):
        return None
    found = generic.yielded[0].owner
    inside = [each.operation.name for each in in_block(generic.block)]
    if getattr(found, "name", "") != "tensor.extract" or "cf.assert" in inside or inside.count("tensor.extract") != 1:
        return None
    tensor = found.operands[0]
    fits = 0 < math.prod(generic.sizes) <= LARGEST and tensor.type.rank > 0 and tensor.type.has_static_shape
    return found.operation if fits and identity else None


def _fold(generic: Generic, gather: Any, places: _Places) -> None:
    """Replaces a gather by what it is, if it is a view."""
    tensor, *indices = gather.operands
    shape = list(tensor.type.shape)
    found = [places.of(index) for index in indices]
    known = [np.broadcast_to(each, generic.sizes) for each in found if each is not None]
    inside = all(((each >= 0) & (each < size)).all() for each, size in zip(known, shape, strict=False))
    if len(known) < len(shape) or not inside:
        return
    linear = np.ravel_multi_index(tuple(known), shape).ravel()
    map_ = _map_of(known, shape)
    operation = generic.operation
    with ir.InsertionPoint(operation), operation.location:
        if np.array_equal(linear, np.arange(math.prod(shape))):
            operation.results[0].replace_all_uses_with(reshape(tensor, list(generic.sizes)))
            operation.erase()
        elif map_ is not None:
            maps = [map_, *generic.output_maps]
            replace(generic, build([tensor], generic.outputs, maps, generic.reductions, lambda given: given[:1]))


def _map_of(places: Sequence[_Numbers], shape: Sequence[int]) -> Map | None:
    """The map through which an operand is read at these places; None where there is none."""
    sizes, found = places[0].shape, list[int]()
    for size, each in zip(shape, places, strict=True):
        loops = [
            loop for loop, trips in enumerate(sizes)
            if trips == size and loop not in found and np.array_equal(each, _counting(sizes, loop))
        ]  # fmt: skip
        if size != 1 and not loops:
            return None
        found.append(ONE if size == 1 else loops[0])
    return tuple(found)


def _counting(sizes: Sequence[int], loop: int) -> _Numbers:
    """The position of one loop at every point."""
    shape = [size if number == loop else 1 for number, size in enumerate(sizes)]
    return np.broadcast_to(np.arange(sizes[loop]).reshape(shape), sizes)


class _Places:
    """What a body's integers are at every point of its loops."""

    def __init__(self, generic: Generic, data: ConstantData) -> None:
        self.generic, self.data = generic, data

    def of(self, value: Any) -> _Numbers | None:
        """The numbers that a value stands for, one for each point or broadcast to that; None where they are not
        known."""
        owner = value.owner
        if hasattr(owner, "operations"):  # an element of an operand
            arguments = list(self.generic.block.arguments)
            return self._element(arguments.index(value)) if value in arguments else None
        op = owner.operation
        if op.name == "arith.constant":
            number = op.attributes["value"]
            return np.array(number.value) if isinstance(number, ir.IntegerAttr) else None
        if op.name == "linalg.index":
            return _counting(self.generic.sizes, ir.IntegerAttr(op.attributes["dim"]).value)
        if op.name not in (*_CASTS, *_ARITHMETIC, "arith.cmpi", "arith.select"):
            return None
        operands = [self.of(operand) for operand in op.operands]
        known = [each for each in operands if each is not None]
        return _computed(op, known) if len(known) == len(operands) else None

    def _element(self, number: int) -> _Numbers | None:
        """Those of an operand that is a constant."""
        if number >= len(self.generic.inputs):
            return None
        value, map_ = self.generic.inputs[number], self.generic.maps[number]
        owner = value.owner
        if getattr(owner, "name", "") != "arith.constant" or not isinstance(value.type, ir.RankedTensorType):
            return None
        if not isinstance(value.type.element_type, ir.IntegerType) or math.prod(value.type.shape) > LARGEST:
            return None
        loops = [loop for loop in map_ if loop != ONE]
        numbers = self.data.of_tensor(owner).reshape([self.generic.sizes[loop] for loop in loops])
        numbers = numbers.transpose([loops.index(loop) for loop in sorted(loops)])
        return numbers.reshape([size if loop in loops else 1 for loop, size in enumerate(self.generic.sizes)])


def _computed(op: Any, operands: Sequence[_Numbers]) -> _Numbers | None:
    if op.name in _CASTS:
        return operands[0]
    if op.name == "arith.select":
        return np.where(*operands)
    if op.name in _ARITHMETIC:
        return _ARITHMETIC[op.name](*operands)
    predicate = ir.IntegerAttr(op.attributes["predicate"]).value
    return _COMPARE[predicate](*operands) if predicate in _COMPARE else None
