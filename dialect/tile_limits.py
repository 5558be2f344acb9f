"""How large a tile may be in handwritten IR: passes write an operation for each fragment, and would take forever."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.locations import input_error
from mlir_gemm.dialect.walk import operations

MOST = 1 << 22
"""Elements of a tile. A schedule's largest, 1024 by 1024, has a quarter of them; no chip's shared memory holds so
many."""
_SHARED = 3


def check_tiles(module: Any) -> None:
    """Raises InputError for a vector, or a buffer in shared memory, of more elements than a tile can have."""
    for operation in operations(module):
        for type_ in _types(operation.operation):
            elements = _elements(type_)
            if elements > MOST:
                raise input_error(operation, f"{type_} has {elements} elements; a tile has at most {MOST}")


def _types(op: Any) -> Iterator[Any]:
    yield from (result.type for result in op.results)
    for region in op.regions:
        for block in region.blocks:
            yield from (argument.type for argument in block.arguments)


def _elements(type_: Any) -> int:
    shared = isinstance(type_, ir.MemRefType) and _space(type_) == _SHARED
    if not shared and not isinstance(type_, ir.VectorType):
        return 0
    return math.prod(type_.shape) if type_.has_static_shape else 0


def _space(memref: Any) -> int:
    space = memref.memory_space
    return ir.IntegerAttr(space).value if isinstance(space, ir.IntegerAttr) else 0
