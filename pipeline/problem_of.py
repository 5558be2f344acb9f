"""Deriving the problem from the IR after `import`."""

from __future__ import annotations

from typing import Any

from mlir_gemm.dialect.walk import body, in_block
from mlir_gemm.passes.check_input import the_product
from mlir_gemm.pipeline.problem import ELEMENT_BYTES, Problem


def problem_of(function: Any) -> Problem:
    """The problem of a function on memrefs that holds one linalg.matmul and elementwise operations around it."""
    product = the_product(function)
    a, b, c = product.operation.operands
    m, k = a.type.shape
    n = b.type.shape[1]
    stores = _stored_outside(function)
    elements = [str(memory.type.element_type) for memory in stores]
    return Problem(
        m, n, k,
        a=str(a.type.element_type),
        b=str(b.type.element_type),
        acc=str(c.type.element_type),
        out=elements[-1] if elements else str(c.type.element_type),
        reads_c=not _filled_before(function, product, c),
        extra_bytes=sum(ELEMENT_BYTES.get(element, 4) for element in elements[:-1]),
    )  # fmt: skip


def _stored_outside(function: Any) -> list[Any]:
    """The function's arguments that some operation writes, in the order of the last writes."""
    written: dict[Any, None] = {}
    for operation in in_block(body(function)):
        operands = list(operation.operation.operands)
        if (
            operation.operation.name.startswith("linalg.")
            and operands
            and operands[-1] in list(body(function).arguments)
        ):
            written.pop(operands[-1], None)
            written[operands[-1]] = None
    return list(written)


def _filled_before(function: Any, product: Any, memory: Any) -> bool:
    """Whether the accumulator is filled with a constant just before the product."""
    filled = False
    for operation in in_block(body(function)):
        if operation.operation == product.operation:
            return filled
        operands = list(operation.operation.operands)
        if operands and operands[-1] == memory:
            filled = operation.operation.name == "linalg.fill"
    return filled
