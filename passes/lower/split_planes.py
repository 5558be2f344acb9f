"""split-planes: accesses of planes that are seen as one matrix become accesses of each plane.

Expects vector.load and store, memref.load and store of a tile.planes. Leaves for each that moves whole elements one
access of every plane, as wide as its part is, whose numbers change places in registers; of a part of an element the
load of every plane and a selection, or a store of the plane that a comparison tells. No tile.planes remains. A function
without one is left alone, so that a second run changes nothing. Refuses anything else that reads or writes one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import constants, indexing
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.planes import NAME
from mlir_gemm.dialect.walk import named, users
from mlir_gemm.lowering.access import assemble, guarded, load, store
from mlir_gemm.passes.base import Pass

_LOADS, _STORES = ("vector.load", "memref.load"), ("vector.store", "memref.store")


@dataclass(frozen=True)
class SplitPlanes(Pass):
    """Access planes instead of the matrix that they are seen as."""

    name: ClassVar[str] = "split-planes"

    def run(self, module: Any) -> None:
        for view in named(module, NAME):
            planes = list(view.operation.operands)
            for user in users(view.operation.results[0]):
                with ir.InsertionPoint(user), user.location:
                    _split(user, planes)
            view.operation.erase()


def _split(user: Any, planes: list[Any]) -> None:
    op = user.operation
    if op.name in _LOADS:
        *rest, column = list(op.operands)[1:]
        type_ = op.results[0].type
        parts = _loaded(_Planes(planes, rest, column), _width(type_))
        found = assemble(type_, parts) if isinstance(type_, ir.VectorType) else parts[0]
        op.results[0].replace_all_uses_with(found)
    elif op.name in _STORES and op.operands[0].type.__class__ is not ir.MemRefType:
        value, _, *rest, column = list(op.operands)
        _stored(_Planes(planes, rest, column), _numbers(value))
    else:
        raise pass_error(op, f"'{op.name}' of a {NAME}; expected loads and stores of numbers or vectors")
    op.erase()


@dataclass(frozen=True)
class _Planes:
    planes: list[Any]
    rest: list[Any]
    """The indices in all dimensions but the last."""
    column: Any
    """The number that an access begins with."""

    def at(self, first: int) -> list[Any]:
        """Where the element lies that number `first` of an access belongs to."""
        return [*self.rest, indexing.div(indexing.add(self.column, first), len(self.planes))]

    def component(self, first: int) -> Any:
        """Which of the components number `first` of an access is."""
        return indexing.rem(indexing.add(self.column, first), len(self.planes))

    def is_whole(self, width: int) -> bool:
        """Whether an access of so many numbers is one of whole elements: it begins at a multiple of its width."""
        return width % len(self.planes) == 0


def _width(type_: Any) -> int:
    return type_.shape[0] if isinstance(type_, ir.VectorType) else 1


def _numbers(value: Any) -> list[Any]:
    if not isinstance(value.type, ir.VectorType):
        return [value]
    return [dialect("vector").ExtractOp(value, [], [at]).result for at in range(value.type.shape[0])]


def _loaded(of: _Planes, width: int) -> list[Any]:
    """The numbers of an access."""
    element, count = of.planes[0].type.element_type, len(of.planes)
    if of.is_whole(width):
        part = width // count
        type_ = element if part == 1 else ir.VectorType.get([part], element)
        loaded = [_numbers(load(type_, plane, of.at(0))) for plane in of.planes]
        return [loaded[number % count][number // count] for number in range(width)]
    found: list[Any] = []
    for number in range(width):
        values = [load(element, plane, of.at(number)) for plane in of.planes]
        found.append(_selected(of.component(number), values))
    return found


def _selected(component: Any, values: list[Any]) -> Any:
    arith = dialect("arith")
    found = values[-1]
    for number, value in enumerate(values[:-1]):
        here = arith.CmpIOp(arith.CmpIPredicate.eq, component, constants.index(number)).result
        found = arith.SelectOp(here, value, found).result
    return found


def _stored(of: _Planes, numbers: list[Any]) -> None:
    count, arith = len(of.planes), dialect("arith")
    if of.is_whole(len(numbers)):
        for number, plane in enumerate(of.planes):
            own = numbers[number::count]
            type_ = ir.VectorType.get([len(own)], own[0].type)
            store(own[0] if len(own) == 1 else assemble(type_, own), plane, of.at(0))
        return
    for at, value in enumerate(numbers):
        for number, plane in enumerate(of.planes):
            here = arith.CmpIOp(arith.CmpIPredicate.eq, of.component(at), constants.index(number)).result
            with guarded(here):
                store(value, plane, of.at(at))
