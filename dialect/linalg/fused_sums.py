"""Sums that a body writes with math.fma: the product of two factors is added to what there is so far."""

from __future__ import annotations

from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.linalg.structured import Generic
from mlir_gemm.dialect.walk import in_block


def add_last(generic: Generic) -> None:
    """Writes a reduction's `fma(a, b, sum)` as `a * b + sum`, which a product is recognised by. A kernel adds up the
    products of a sum with one rounding each, so that nothing is lost by it."""
    if generic.elementwise:
        return
    terminator = in_block(generic.body)[-1].operation
    for number, value in enumerate(generic.yielded):
        so_far = generic.body.arguments[len(generic.inputs) + number]
        maker = None if hasattr(value.owner, "operations") else value.owner.operation
        if maker is None or maker.name != "math.fma" or maker.operands[2] != so_far or len(list(so_far.uses)) != 1:
            continue
        with ir.InsertionPoint(maker), maker.location:
            product = dialect("arith").MulFOp(maker.operands[0], maker.operands[1]).result
            terminator.operands[number] = dialect("arith").AddFOp(product, so_far).result
        if not list(maker.results[0].uses):
            maker.erase()
