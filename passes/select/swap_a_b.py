"""swap-a-b: the operands of a product are exchanged, so that the transposed product is computed.

Expects a kernel function with one product, D[m, n] += A[m, k] B[k, n], and elementwise operations over the same m and
n. Leaves the same with m and n swapped: loops, and with them the maps of what is read and written, and the shapes of
temporary buffers; a product that is written to memory directly gets one. Tiles are then high where D is wide: for a D
of few rows an instruction of few columns fits, where one of few rows does not exist. The model decides when to run
this; a second run undoes the first. Refuses operations whose loops are not those of the product, and products that are
added to what is in memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.linalg import structured
from mlir_gemm.dialect.linalg.products import product_of
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.outlining import kernel_modules
from mlir_gemm.dialect.walk import body, in_block, named
from mlir_gemm.passes.base import Rewrite
from mlir_gemm.spec.attributes import MASKED, ZEROS
from mlir_gemm.spec.zeros import swapped_mask, swapped_zeros


@dataclass(frozen=True)
class SwapAB(Rewrite):
    """Swap A and B of a product."""

    name: ClassVar[str] = "swap-a-b"

    def run(self, module: Any) -> None:
        inner = kernel_modules.find_product(module, self.kernel)[1] if self.kernel else module
        for function in named(inner, "func.func"):
            inside = [op.operation for op in in_block(body(function))] if len(function.regions[0].blocks) else []
            generics = [op for op in inside if structured.is_generic(op)]
            if any(product_of(op) is not None for op in generics):
                _swap(function, generics)

    def refuses(self, function: Any) -> str:
        return _cannot_swap(function)


def _cannot_swap(function: Any) -> str:
    """Why A and B of a kernel's product cannot be swapped; empty if they can."""
    for operation in in_block(body(function)):
        op = operation.operation
        if op.name in ("memref.alloc", "linalg.fill", "arith.constant", "func.return", "memref.dim", "tile.windows"):
            continue
        if not structured.is_generic(op):
            return f"'{op.name}' is no linalg.generic"
        if op.name == "linalg.matmul":
            return "a linalg.matmul, which has no maps to change"
        generic = structured.read(op)
        if len(generic.parallel) < 2:
            return "an operation over less than two dimensions"
        if product_of(op) is not None and not _is_temporary(op.operands[-1]) and not _is_filled(function, op):
            return "the product is added to what is in memory"
    return ""


def _is_filled(function: Any, product: Any) -> bool:
    """Whether a product starts from a constant."""
    fills = [op.operation for op in in_block(body(function)) if op.operation.name == "linalg.fill"]
    return any(fill.operands[-1] == product.operands[-1] for fill in fills)


def _swap(function: Any, generics: list[Any]) -> None:
    why = _cannot_swap(function)
    if why:
        raise pass_error(function, f"A and B of the product cannot be swapped: {why}")
    generics = [_with_maps(op) for op in generics]
    for op in generics:
        if product_of(op) is not None and not _is_temporary(op.operands[-1]):
            generics = [*generics, _keep_apart(function, op)]
    for op in generics:
        generic = structured.read(op)
        last = len(generic.parallel) - (1 if generic.elementwise else 2)
        if not all(generic.parallel[: last + 1]):
            raise pass_error(op, "an operation whose last loops are not those of the product's m and n")
        maps = [ir.AffineMapAttr(each).value for each in ir.ArrayAttr(op.attributes["indexing_maps"])]
        maps = [_swapped(map_, last - 1, last, _is_temporary(operand))
                for map_, operand in zip(maps, op.operands, strict=True)]  # fmt: skip
        product = product_of(op)
        if product is not None:  # the left factor is the one that moves with m
            product.swap_factors()
        op.attributes["indexing_maps"] = ir.ArrayAttr.get([ir.AffineMapAttr.get(map_) for map_ in maps])
    if ZEROS in function.attributes:
        zeros = ir.StringAttr(function.attributes[ZEROS]).value
        function.attributes[ZEROS] = ir.StringAttr.get(swapped_zeros(zeros))
    if MASKED in function.attributes:
        masked = ir.StringAttr(function.attributes[MASKED]).value
        function.attributes[MASKED] = ir.StringAttr.get(swapped_mask(masked))
    for op in [op.operation for op in in_block(body(function)) if op.operation.name == "memref.alloc"]:
        *batch, rows, columns = op.results[0].type.shape
        type_ = ir.MemRefType.get([*batch, columns, rows], op.results[0].type.element_type)
        op.results[0].set_type(type_)


def _with_maps(op: Any) -> Any:
    """A linalg.copy as a linalg.generic, which has maps to change; others as they are."""
    if op.name != "linalg.copy":
        return op
    with ir.InsertionPoint(op), op.location:
        copy = structured.make_copy(*op.operands)
    op.erase()
    return copy


def _keep_apart(function: Any, product: Any) -> Any:
    """Lets a product that is written to memory directly go to a temporary buffer first, and copies that: the buffer
    changes its shape with the loops, memory cannot. Returns the copy."""
    result = product.operands[-1]
    fills = [op.operation for op in in_block(body(function)) if op.operation.name == "linalg.fill"]
    type_ = ir.MemRefType.get(result.type.shape, result.type.element_type)
    with ir.InsertionPoint(in_block(body(function))[0]), product.location:
        buffer = dialect("memref").AllocOp(type_, [], []).result
    for op in [product, *(fill for fill in fills if fill.operands[-1] == result)]:
        op.operands[len(op.operands) - 1] = buffer
    with ir.InsertionPoint.after(product), product.location:
        return structured.make_copy(buffer, result)


def _is_temporary(operand: Any) -> bool:
    return getattr(operand.owner, "name", "") == "memref.alloc"


def _swapped(map_: Any, m: int, n: int, temporary: bool) -> Any:
    """The map after m and n have changed places. A temporary buffer changes with them: its map stays the same."""
    if temporary:
        return map_
    places = {m: n, n: m}
    results = [ir.AffineExpr.get_dim(places.get(each.position, each.position)) if hasattr(each, "position") else each
               for each in map_.results]  # fmt: skip
    return ir.AffineMap.get(map_.n_dims, 0, results)
