"""raise-loops: nests of loops that read and write memory, element by element, become linalg.generic.

Expects a function as a user wrote it, with nests of affine.for, affine.parallel, scf.for, scf.parallel and scf.forall
around loads, stores (of memref or affine) and arithmetic; bounds and steps are constants, or an upper bound a
memref.dim. Indices are sums of loops times numbers. Leaves a linalg.generic on memrefs for each store and for each
reduction, in the order of the text: loops that tell which element is written are parallel, others are reductions. What
a loop carries in iter_args, or an scf.parallel reduces, is kept in memory with an element for each iteration of the
loops around it. Elements that are not a whole memref are read and written through memref.subview. An scf.if whose sides
load and compute numbers becomes an arith.select of them. Refuses what depends on the order of iterations other than
through sums, products, maxima, minima, and, or, xor. Loops around operations on
whole tensors or memrefs stay; a function without loops over elements is left alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.loop_nests.branches import select_branches
from mlir_gemm.dialect.loop_nests.generics import build
from mlir_gemm.dialect.loop_nests.loops import LOOPS
from mlir_gemm.dialect.loop_nests.order import check_order
from mlir_gemm.dialect.loop_nests.statements import LOADS, STORES, Reader, holds_others
from mlir_gemm.dialect.walk import ancestor_in, body, in_block, named
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.attributes import STAGE


@dataclass(frozen=True)
class RaiseLoops(Pass):
    """Make linalg of loops over elements."""

    name: ClassVar[str] = "raise-loops"

    def run(self, module: Any) -> None:
        if STAGE in module.operation.attributes:
            return
        for function in named(module, "func.func"):
            if len(function.regions[0].blocks) == 1 and _has_loops(function):
                select_branches(function)
                _raise(function)


def _has_loops(function: Any) -> bool:
    return any(
        operation.operation.name in STORES
        or (operation.operation.name in LOOPS and not holds_others(operation.operation))
        for operation in in_block(body(function))
    )


def _raise(function: Any) -> None:
    reader = Reader(function)
    check_order(reader)
    block = body(function)
    for statement in reader.statements:
        build(reader, statement, ancestor_in(block, statement.op))
    for op in reversed(reader.done):
        op.erase()
    for operation in reversed(in_block(block)[:-1]):
        op = operation.operation
        unused = len(op.results) and not any(list(result.uses) for result in op.results)
        if unused and (op.name in LOADS or op.name.startswith(("arith.", "math.", "affine.apply", "memref.dim"))):
            op.erase()
