"""What a kernel is made of: operations that run over the same elements, on tensors or on memrefs.

The first one, the seed, has loops of its own: a product's are called batch, m, n and k, any other's parallel and
reduction. The others are elementwise and are tied to it by memory that both touch (`spaces.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.linalg import structured
from mlir_gemm.dialect.linalg.products import Product, product_of
from mlir_gemm.dialect.linalg.structured import Generic
from mlir_gemm.dialect.outlining.spaces import Access, Space
from mlir_gemm.dialect.outlining.views import View

Place = tuple[Any, View]
"""The value that a buffer is known by, and how a tensor or memref lies in it."""
PlaceOf = Callable[[Generic, int], Place | None]
"""The place of an operand of an operation, by its number; None for a scalar. Numbers after the operands ask for what
the outputs start from, where that is in memory."""


@dataclass
class Statement:
    """One operation of a kernel in the kernel's loops."""

    generic: Generic
    roots: list[Any]
    """The buffer of each operand, None for a scalar."""
    accesses: list[Access | None]
    """Where each operand is, None for a scalar."""
    starts: list[tuple[Any, Access] | None]
    """Buffer and place of what each output starts from; None where that is not in memory, or is the output itself."""


@dataclass
class Kernel:
    """Operations that run over the same elements, in order of their joining."""

    space: Space = field(default_factory=Space)
    kinds: dict[int, str] = field(default_factory=dict[int, str])
    """What each loop is: batch, m, n, k of a product, else parallel or reduction."""
    statements: list[Statement] = field(default_factory=list[Statement])
    written: dict[Any, Access] = field(default_factory=dict[Any, Access])
    product: Product | None = None

    def copy(self) -> Kernel:
        """A kernel that can be changed without changing this one."""
        space = self.space.copy()
        same = dict(zip(map(id, self.space.accesses), space.accesses, strict=True))
        statements = [
            Statement(
                each.generic,
                each.roots,
                [None if a is None else same[id(a)] for a in each.accesses],
                [None if start is None else (start[0], same[id(start[1])]) for start in each.starts],
            )
            for each in self.statements
        ]
        written = {root: same[id(access)] for root, access in self.written.items()}
        return Kernel(space, dict(self.kinds), statements, written, self.product)

    def become(self, other: Kernel) -> None:
        """Takes over the state of a copy."""
        self.__dict__.update(other.__dict__)

    def seed(self, operation: Any, place_of: PlaceOf, as_product: bool = True) -> Statement:
        """Starts the kernel with an operation; with `as_product`, with the loops of a product where it is one."""
        self.product = product_of(operation) if as_product else None
        generic = self.product.generic if self.product else structured.read(operation)
        loops: list[Sequence[tuple[int, int]]] = []
        for number, size in enumerate(structured.sizes_of(generic)):
            loops.append([])
            if size != 1:
                loop = self.space.new_loop(size)
                self.kinds[loop] = self._kind(generic, number)
                loops[-1] = [(loop, 1)]
        return self.add(generic, loops, place_of)

    def join(self, operation: Any, place_of: PlaceOf) -> str | None:
        """Adds an elementwise operation; the reason, with the kernel in any state, where it is over other elements."""
        generic = structured.read(operation)
        if not generic.elementwise:
            return "it is a reduction"
        if structured.is_free(operation):
            return "it reads at places that it computes, or checks something"
        sizes = structured.sizes_of(generic)
        ties = [
            (place[0], *placed(generic, number, place[1]))
            for number in range(len(generic.operands))
            if (place := place_of(generic, number)) is not None and place[0] in self.written
        ]
        if not ties:
            return "it does not use its result"
        root, offset, strides = ties[0]
        loops = self._match(self.written[root], offset, sizes, strides)
        if loops is None:
            return "it does not take each element of its result once"
        statement = self.add(generic, loops, place_of)
        if any(
            access is not None and access != self.written[root]
            for root, access in zip(statement.roots, statement.accesses, strict=True)
            if root in self.written
        ):
            return "it takes elements of its result from several places"
        covered = set(self.written[ties[0][0]].strides)
        if any(
            access is None or set(access.strides) != covered for access in statement.accesses[len(generic.inputs) :]
        ):
            return "its own result is not of the same elements"
        return None

    def _match(self, known: Access, offset: int, sizes: Sequence[int], strides: Sequence[int]) -> Any:
        if known.offset != offset:
            return None
        loops = self.space.match(known, sizes, strides)
        for loop in sorted(set(self.space.sizes) - set(self.kinds)):
            self.kinds[loop] = self.kinds[self.space.parents[loop]]
        return loops

    def _kind(self, generic: Generic, number: int) -> str:
        if self.product is None:
            return "parallel" if generic.parallel[number] else "reduction"
        parts = {"batch": self.product.batch, "m": self.product.m, "n": self.product.n, "k": self.product.k}
        return next(name for name, loops in parts.items() if number in loops)

    def add(self, generic: Generic, loops: Sequence[Sequence[tuple[int, int]]], place_of: PlaceOf) -> Statement:
        """Adds an operation whose loops are made of these parts of the kernel's, as (loop, step) each."""
        roots: list[Any] = []
        accesses: list[Access | None] = []
        for number in range(len(generic.operands)):
            place = place_of(generic, number)
            roots.append(place[0] if place else None)
            accesses.append(self.space.access(*placed(generic, number, place[1]), loops) if place else None)
            if place:
                _see_windows(self.space.accesses[-1], generic, number, place[1], loops)
        starts: list[tuple[Any, Access] | None] = []
        for number in range(len(generic.inputs), len(generic.operands)):
            place = place_of(generic, number + len(generic.outputs))
            access = self.space.access(*placed(generic, number, place[1]), loops) if place else None
            starts.append((place[0], access) if place and access else None)
        statement = Statement(generic, roots, accesses, starts)
        self.statements.append(statement)
        for root, access in list(zip(roots, accesses, strict=True))[len(generic.inputs) :]:
            if access is not None:
                self.written.setdefault(root, access)
        return statement


def _see_windows(
    access: Access, generic: Generic, number: int, view: View, loops: Sequence[Sequence[tuple[int, int]]]
) -> None:
    """Notes of an access by windows what they are of, and what loops that are joined already count through."""
    access.windows = view.windows
    expressions: list[Any] = list(generic.maps[number].results)
    for expression, parts in zip(expressions, view.parts, strict=False):
        if isinstance(expression, ir.AffineDimExpr):
            joined: Sequence[tuple[int, int]] = loops[int(expression.position)]
            access.parts.update(dict.fromkeys((loop for loop, _ in joined), parts))


def placed(generic: Generic, number: int, view: View) -> tuple[int, list[int]]:
    """The offset of an operand's first element, and how far it moves with each loop of the operation."""
    offset, strides = view.offset, [0] * len(generic.parallel)
    for stride, index in zip(view.strides, structured.linear_accesses(generic)[number], strict=True):
        offset += stride * index.constant
        for loop, factor in index.terms.items():
            strides[loop] += stride * factor
    return offset, strides
