"""Which operations make one kernel of rows: reductions along the same rows, and elementwise work on them.

The kernel's loops are those of its first reduction: parallel ones, whose points are the rows, and those that run along
a row. Another operation belongs to it where memory that both touch says which of its loops is which.
"""

from __future__ import annotations

from typing import Any

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.linalg import structured
from mlir_gemm.dialect.linalg.structured import Generic
from mlir_gemm.dialect.outlining.kernels import Kernel, PlaceOf, placed
from mlir_gemm.dialect.outlining.spaces import Access
from mlir_gemm.dialect.reductions import combinations_of
from mlir_gemm.spec.attributes import KIND
from mlir_gemm.spec.kernel_record import ROWS

REDUCTION = "reduction"


def is_rows(function: Any) -> bool:
    """Whether a function is a kernel of rows."""
    attributes = function.operation.attributes
    return KIND in attributes and ir.StringAttr(attributes[KIND]).value == ROWS


def can_be_rows(operation: Any) -> bool:
    """Whether a reduction can be computed along rows: each of its outputs is combined by an operation that is
    associative and commutative and has a neutral element."""
    generic = structured.read(operation)
    if structured.is_free(operation):
        return False
    if generic.elementwise or combinations_of(generic) is None:
        return False
    sizes = structured.sizes_of(generic)
    return any(size > 1 and not parallel for size, parallel in zip(sizes, generic.parallel, strict=True))


def rows_of(operations: list[Any], place_of: PlaceOf) -> Kernel | str:
    """The kernel of rows that operations make, in the order of the program; the reason where they make none."""
    if not all(structured.is_generic(op) for op in operations):
        return "one of them is a linalg.fill that others read"
    first = next((op for op in operations if not structured.read(op).elementwise), None)
    if first is None:
        return "none of them is a reduction"
    kernel = Kernel()
    kernel.seed(first, place_of, as_product=False)
    waiting = [op for op in operations if op != first]
    reason = ""
    while waiting:
        for op in waiting:
            reason = join(kernel, op, place_of)
            if not reason:
                waiting.remove(op)
                break
        else:
            return reason
    order = {op: number for number, op in enumerate(operations)}
    kernel.statements.sort(key=lambda statement: order[statement.generic.op])
    return kernel


def along_rows(kernel: Kernel, access: Access) -> bool:
    """Whether an access moves along a row."""
    return any(kernel.kinds[loop] == REDUCTION for loop in access.strides)


def join(kernel: Kernel, operation: Any, place_of: PlaceOf) -> str:
    """Adds an operation to a kernel of rows; the reason, with the kernel as it was, where it is of other rows."""
    generic = structured.read(operation)
    if structured.is_free(operation):
        return "it reads at places that it computes, or checks something"
    if not generic.elementwise and not can_be_rows(operation):
        return "it is a reduction that is not done along rows"
    reason = "it touches nothing that they touch"
    for number in range(len(generic.operands)):
        place = place_of(generic, number)
        known = _known(kernel, place[0]) if place else ()
        for access in known:
            trial = kernel.copy()
            same = trial.space.accesses[next(n for n, a in enumerate(kernel.space.accesses) if a is access)]
            assert place is not None  # something is known of it
            reason = _joined(trial, generic, same, placed(generic, number, place[1]), place_of)
            if not reason:
                kernel.become(trial)
                return ""
    return reason


def _known(kernel: Kernel, root: Any) -> list[Access]:
    """The places of a buffer that the kernel touches, those along rows first."""
    found = [
        access
        for statement in kernel.statements
        for other, access in zip(statement.roots, statement.accesses, strict=True)
        if other == root and access is not None
    ]
    return sorted(found, key=lambda access: not along_rows(kernel, access))


def _joined(kernel: Kernel, generic: Generic, known: Access, given: tuple[int, list[int]], place_of: PlaceOf) -> str:
    offset, strides = given
    if known.offset != offset:
        return "it takes other elements of what they touch"
    loops = kernel.space.match(known, structured.sizes_of(generic), strides)
    for loop in sorted(set(kernel.space.sizes) - set(kernel.kinds)):
        kernel.kinds[loop] = kernel.kinds[kernel.space.parents[loop]]
    if loops is None:
        return "its loops are not those of the rows"
    covered = {loop for parts in loops for loop, _ in parts}
    rows = {loop for loop, kind in kernel.kinds.items() if kind != REDUCTION}
    whole = set(kernel.kinds)
    if covered not in (rows, whole):
        return "it is not over all rows, or not over whole rows"
    for parts, parallel in zip(loops, generic.parallel, strict=True):
        if not parallel and any(kernel.kinds[loop] != REDUCTION for loop, _ in parts):
            return "it adds up along other loops"
        if parallel and not generic.elementwise and any(kernel.kinds[loop] == REDUCTION for loop, _ in parts):
            return "it adds up a part of a row"
    statement = kernel.add(generic, loops, place_of)
    results = rows if not generic.elementwise else covered
    for root, access in zip(statement.roots, statement.accesses, strict=True):
        if access is not None and root in kernel.written and access != kernel.written[root]:
            return "it takes what they compute from several places"
    written = [access for access in statement.accesses[len(generic.inputs) :] if access is not None]
    if any(set(access.strides) != results for access in written):
        return "its own result is not of the same rows"
    return ""
