"""share-sizes: each size known at run time only is one value in a kernel's function.

Expects a kernel whose arguments say what their dynamic sizes are (`tile.symbols`). Leaves one memref.dim for each size,
before everything else, and all others of the function's arguments and allocations replaced by these, so that two
sizes are equal if they are the same value. Refuses dynamic sizes without names, and memref.dim of an index that is no
constant. A function of constant sizes is left alone; a second run changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.sizes import argument_sizes, size_of
from mlir_gemm.dialect.symbols import Size
from mlir_gemm.dialect.walk import body, in_block, named
from mlir_gemm.passes.base import Pass

_SIZED = ("memref.alloc", "tile.position", "tile.windows", "tile.composite")
"""Operations that hold the sizes of what they give."""


@dataclass(frozen=True)
class ShareSizes(Pass):
    """Make one value of each dynamic size."""

    name: ClassVar[str] = "share-sizes"

    def run(self, module: Any) -> None:
        for function in named(module, "func.func"):
            if len(function.regions[0].blocks):
                _share(function)


def _share(function: Any) -> None:
    sizes = {(argument, axis): size for argument, axis, size in argument_sizes(function)}
    if not sizes:
        return
    old = [each.operation for each in named(function, "memref.dim")]
    shared: dict[Size, Any] = {}
    kept: list[Any] = []
    head = [each.operation for each in in_block(body(function))][: 2 * len(set(sizes.values()))]
    for op in old:
        size = sizes.get(_place(op))
        if size is not None and op in head and size not in shared:
            shared[size] = op.results[0]
            kept.append(op)
    with ir.InsertionPoint.at_block_begin(body(function)), function.location:
        for (argument, axis), size in sizes.items():
            if size not in shared:
                shared[size] = dialect("memref").DimOp(argument, constants.index(axis)).result
    for op in old:
        if op not in kept:
            _replace(op, sizes, shared)
    for op in reversed([each for each in old if each not in kept and not list(each.results[0].uses)]):
        op.erase()


def _place(op: Any) -> tuple[Any, int]:
    number = constants.integer_of(op.operands[1])
    if number is None:
        raise pass_error(op, "memref.dim of a dimension that is not a constant")
    return op.operands[0], number


def _replace(op: Any, sizes: dict[tuple[Any, int], Size], shared: dict[Size, Any]) -> None:
    memory, axis = _place(op)
    if (memory, axis) in sizes:
        new = shared[sizes[memory, axis]]
    elif memory.type.is_dynamic_dim(axis) and getattr(memory.owner, "name", "") in _SIZED:
        new = size_of(memory, axis)
    else:
        return
    op.results[0].replace_all_uses_with(new)
