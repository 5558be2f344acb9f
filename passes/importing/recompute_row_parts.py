"""recompute-row-parts: what is computed for each part of a row is computed again for each of its elements.

Expects linalg.generic on tensors (after fuse-elementwise). A kernel of rows holds values of whole rows and of elements
(`group-rows`). A group norm as PyTorch exports it also has some in between: for each channel of a group a factor and a
summand, of the group's variance and of the channel's weight, which several read. Such an elementwise generic would be a
kernel of its own, and what reads it another one after it. It is computed in the body of each elementwise generic that
reads it, if all that read it are elementwise: what depends on the row alone is computed once a row there
(`tensorize-rows`), and the rest must be at most 8 operations, none of which is of the dialect math. What comes from a
product is left alone, and so is what belongs to up to 4 rows of half a million elements and more, or 8 of a million,
whose steps stay kernels of their own. A second run changes nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.linalg.generics import (
    ONE,
    Generic,
    behind,
    erase_dead,
    fused,
    generics,
    read,
    replace,
    writes_once,
)
from mlir_gemm.dialect.outlining.long_rows import are_few_and_long, stand_ins_of
from mlir_gemm.dialect.outlining.row_kernels import can_be_rows
from mlir_gemm.dialect.walk import in_block
from mlir_gemm.passes.base import Pass

MOST = 8
"""Operations that are done again for each element."""


@dataclass(frozen=True)
class RecomputeRowParts(Pass):
    """Compute for each element what is shared by a part of a row."""

    name: ClassVar[str] = "recompute-row-parts"

    def run(self, module: Any) -> None:
        while any(_recompute(operation.operation) for operation in generics(module)):  # readers are made anew
            erase_dead(module)


def _recompute(operation: Any) -> bool:
    """Whether what reads a generic computes it now."""
    generic = read(operation)
    if generic is None or not generic.parallel:
        return False
    result = generic.results[0]
    readers = [read(use.owner) for use in result.uses]
    if not readers or any(each is None or not _may_compute(each, generic) for each in readers):
        return False
    if not _is_of_parts(generic):
        return False
    for _ in readers:
        reader = read(next(iter(result.uses)).owner)
        assert reader is not None  # it was read above
        position = next(number for number, value in enumerate(reader.inputs) if value == result)
        new = fused(reader, position, generic)
        if new is None:
            return False
        replace(reader, new)
        if not list(result.uses):
            return True
    return True


def _may_compute(reader: Generic, source: Generic) -> bool:
    """Whether an elementwise generic has an element for each of several points of a part."""
    return reader.parallel and math.prod(reader.sizes) > math.prod(source.sizes) and writes_once(reader)


def _is_of_parts(generic: Generic) -> bool:
    """Whether an elementwise generic has a value for each part of a row that is reduced elsewhere."""
    if not writes_once(generic):
        return False
    rows = {
        number: {loop for loop in generic.maps[number] if loop != ONE}
        for number, value in enumerate(generic.inputs) if _is_of_rows(behind(value))
    }  # fmt: skip
    if not rows or any(behind(value) for number, value in enumerate(generic.inputs) if number not in rows):
        return False
    loops = set[int]().union(*rows.values())
    between = {loop for loop, size in enumerate(generic.sizes) if size > 1} - loops
    return bool(between) and _done_again(generic, loops) <= MOST


def _is_of_rows(reductions: list[Any]) -> bool:
    """Whether all reductions that a value comes from are of rows, and are kernels with other steps."""
    return bool(reductions) and all(can_be_rows(op) and not _is_few_and_long(op) for op in reductions)


def _is_few_and_long(operation: Any) -> bool:
    generic = read(operation)
    if generic is None:
        return True
    sizes = list(zip(generic.sizes, generic.reductions, strict=True))
    rows, along = ([size for size, reduced in sizes if reduced is kind] for kind in (False, True))
    return are_few_and_long(rows, along, stand_ins_of(operation))


def _done_again(generic: Generic, rows: set[int]) -> float:
    """How many operations of a body depend on more than the row; infinity where one is a function."""
    wide: set[Any] = {
        generic.argument(number) for number in range(len(generic.inputs)) if not {*generic.maps[number]} - {ONE} <= rows
    }
    count = 0
    for inner in in_block(generic.block)[:-1]:
        op = inner.operation
        if wide.isdisjoint(op.operands):
            continue
        if op.name.startswith("math."):
            return math.inf
        wide.update(op.results)
        count += 1
    return count
