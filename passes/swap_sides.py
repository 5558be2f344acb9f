"""swap-sides: what multiplies from the right becomes A, and what multiplies from the left B.

Expects a kernel function with one product, D[m, n] += A[m, k] B[k, n], and elementwise operations over the same m and
n. Leaves the same with m and n exchanged: loops, and with them the maps of what is read and written, and the shapes of
temporary buffers. Tiles are then high where D is wide: for a D of few rows an instruction of few columns fits, where
one of few rows does not exist. It is for the model to run this; a second run undoes the first. Refuses operations whose
loops are not those of the product.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.linalg import structured
from mlir_gemm.dialect.linalg.products import product_of
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.walk import body, in_block, named
from mlir_gemm.passes.base import Pass


@dataclass(frozen=True)
class SwapSides(Pass):
    """Exchange the sides of a product."""

    name: ClassVar[str] = "swap-sides"

    def run(self, module: Any) -> None:
        for function in named(module, "func.func"):
            inside = [op.operation for op in in_block(body(function))] if len(function.regions[0].blocks) else []
            generics = [op for op in inside if structured.is_generic(op)]
            if any(product_of(op) is not None for op in generics):
                _swap(function, generics)


def cannot_swap(function: Any) -> str:
    """Why the sides of a kernel's product cannot be exchanged; empty if they can."""
    for operation in in_block(body(function)):
        op = operation.operation
        if op.name in ("memref.alloc", "linalg.fill", "arith.constant", "func.return", "memref.dim"):
            continue
        if not structured.is_generic(op):
            return f"'{op.name}' is no linalg.generic"
        if len(structured.read(op).parallel) < 2:
            return "an operation over less than two dimensions"
    return ""


def _swap(function: Any, generics: list[Any]) -> None:
    why = cannot_swap(function)
    if why:
        raise pass_error(function, f"the sides of the product cannot be exchanged: {why}")
    for op in generics:
        generic = structured.read(op)
        last = len(generic.parallel) - (1 if generic.elementwise else 2)
        if not all(generic.parallel[: last + 1]):
            raise pass_error(op, "an operation whose last loops are not those of the product's m and n")
        maps = [ir.AffineMapAttr(each).value for each in ir.ArrayAttr(op.attributes["indexing_maps"])]
        maps = [_exchanged(map_, last - 1, last, _is_temporary(operand))
                for map_, operand in zip(maps, op.operands, strict=True)]  # fmt: skip
        product = product_of(op)
        if product is not None:  # the left factor is the one that moves with m
            left, right = product.multiplication.operands
            product.multiplication.operands[0], product.multiplication.operands[1] = right, left
        op.attributes["indexing_maps"] = ir.ArrayAttr.get([ir.AffineMapAttr.get(map_) for map_ in maps])
    for op in [op.operation for op in in_block(body(function)) if op.operation.name == "memref.alloc"]:
        *batch, rows, columns = op.results[0].type.shape
        type_ = ir.MemRefType.get([*batch, columns, rows], op.results[0].type.element_type)
        op.results[0].set_type(type_)


def _is_temporary(operand: Any) -> bool:
    return getattr(operand.owner, "name", "") == "memref.alloc"


def _exchanged(map_: Any, m: int, n: int, temporary: bool) -> Any:
    """The map after m and n have changed places. A temporary buffer changes with them: its map stays the same."""
    if temporary:
        return map_
    places = {m: n, n: m}
    results = [ir.AffineExpr.get_dim(places.get(each.position, each.position)) if hasattr(each, "position") else each
               for each in map_.results]  # fmt: skip
    return ir.AffineMap.get(map_.n_dims, 0, results)
