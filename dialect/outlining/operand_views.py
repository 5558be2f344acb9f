"""The views that the operations of a kernel take of its buffers once its loops are chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from mlir_gemm.dialect.outlining.kernels import Kernel, Statement
from mlir_gemm.dialect.outlining.loop_order import Loop, Order
from mlir_gemm.dialect.outlining.spaces import Access
from mlir_gemm.dialect.outlining.views import View
from mlir_gemm.dialect.windows import Parts


@dataclass(frozen=True)
class Seen:
    """An operand: a view of a buffer, each dimension of which runs along one loop of the kernel's order."""

    root: Any
    view: View
    places: tuple[int, ...]
    """For each dimension the place of its loop in the order."""


@dataclass(frozen=True)
class OperandViews:
    """Views for the operands of a kernel."""

    kernel: Kernel
    order: Order
    arguments: Sequence[Any]
    """The buffers that are the kernel's arguments; others are its own, and can lie in any way."""

    def of(self, statement: Statement) -> list[Seen | None]:
        """For each operand of an operation its view, None for a scalar."""
        wanted = self._wanted(statement)
        whole = range(0 if statement.generic.op.name == "linalg.copy" else len(statement.generic.inputs), 1000)
        return [
            None if access is None else self._seen(root, access, wanted.get(number, ()), number in whole)
            for number, (root, access) in enumerate(zip(statement.roots, statement.accesses, strict=True))
        ]

    def of_written(self, root: Any) -> Seen:
        """The view of a buffer that the kernel writes."""
        return self._seen(root, self.kernel.written[root], (), True)

    def _wanted(self, statement: Statement) -> dict[int, tuple[int, ...]]:
        """The operands that must have certain dimensions (as A and B of a product), with the places of those loops."""
        product = self.kernel.product
        if statement is not self.kernel.statements[0]:
            return {}
        if product is None or not self.order.is_product:  # some operand must have each loop
            return {0: (len(self.order.outer),)} if self.order.inner == (None,) else {}
        k = len(self.order.outer)
        a, b = (product.b, product.a) if self.order.swapped else (product.a, product.b)
        sides = ((b, (k, k - 1)), (a, (k - 2, k)))
        return {side.operands[0]: pair for side, pair in sides if side.operands}

    def _seen(self, root: Any, access: Access, wanted: tuple[int, ...], whole: bool) -> Seen:
        loops = self.order.loops
        if whole or root in self.kernel.written:
            along = any(loop is not None and loop in access.strides for loop in self.order.inner)
            places = list(range(len(loops if along else self.order.outer)))
        else:
            places = [place for place, loop in enumerate(loops) if loop is not None and loop in access.strides]
            places.sort(key=lambda place: -abs(self._stride(access, loops[place])))
            places = _with_units(places, wanted)
        shape = [self._size(loops[place]) for place in places]
        if root not in self.arguments:
            return Seen(root, View.dense(shape), tuple(places))
        strides = [self._stride(access, loops[place]) for place in places]
        for axis in reversed(range(len(shape))):
            if shape[axis] == 1:  # any stride is right; this one may make the view dense
                strides[axis] = strides[axis + 1] * shape[axis + 1] if axis + 1 < len(shape) else 1
        view = View(tuple(shape), tuple(strides), access.offset)
        if access.windows and (access.parts or access.windows.has_zeros):
            parts = tuple(self._parts(access, loops[place]) for place in places)
            view = replace(view, windows=access.windows, parts=parts)
        return Seen(root, view, tuple(places))

    def _size(self, loop: Loop) -> int:
        return 1 if loop is None else self.kernel.space.sizes[loop]

    def _parts(self, access: Access, loop: Loop) -> Parts:
        """What a dimension of windows counts through."""
        return ((1, 0),) if loop is None else access.parts.get(loop, ((self._size(loop), self._stride(access, loop)),))

    def _stride(self, access: Access, loop: Loop) -> int:
        return 0 if loop is None else access.strides.get(loop, 0)


def _with_units(places: list[int], wanted: tuple[int, ...]) -> list[int]:
    """Adds the loops of size 1 that an operand must have: of two the first before, the second after the other."""
    if not wanted:
        return places
    if len(wanted) == 1:
        return [*places, *wanted]
    first, second = wanted
    if first not in places and second not in places:
        return [*places, first, second]
    if first not in places:
        places.insert(places.index(second), first)
    if second not in places:
        places.insert(places.index(first) + 1, second)
    return places
