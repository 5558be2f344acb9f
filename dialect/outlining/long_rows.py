"""Which rows are so few and long that each step over them stays a kernel of its own, that all SMs work on."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from mlir_gemm.dialect import symbols
from mlir_gemm.dialect.symbols import taken_apart
from mlir_gemm.spec.attributes import STAND_INS

FEW_ROWS, LONG = 4, 1 << 19
"""Rows, and elements of a row, for which a kernel for each step is faster than one cluster a row: softmax of 1x1000000
f32 takes 18 us, not 37 (H200)."""
SOME_ROWS, LONGER = 8, 8 * 220 << 9
"""The same for rows of which no cluster holds one, of 16 bits or more: 8 clusters keep half of the SMs busy, and read
their rows twice."""


def stand_ins_of(operation: Any) -> dict[str, int]:
    """The numbers that stand for sizes known at run time only in the module around an operation."""
    module = operation.operation
    while module.parent is not None:
        module = module.parent.operation
    return symbols.integers(module.attributes[STAND_INS]) if STAND_INS in module.attributes else {}


def are_few_and_long(rows: Iterable[int], along: Iterable[int], stand_ins: Mapping[str, int]) -> bool:
    """Whether rows, the product of the sizes `rows`, are few, and their elements, of `along`, many. Along a size known
    at run time only no row is reduced in parts (`split-rows-in-workspace`), so that nothing is gained by kernels of
    their own."""
    count, sizes = math.prod(rows), list(along)
    if count > SOME_ROWS or math.prod(sizes) < (LONG if count <= FEW_ROWS else LONGER):
        return False
    return all(taken_apart(size, stand_ins).is_number for size in sizes)
