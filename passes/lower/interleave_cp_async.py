"""interleave-cp-async: asynchronous copies are issued one by one between the products of a step, not all before
them.

Expects a kernel function after `distribute-copies`, with nvgpu.device_async_copy in an scf.if, a tile.commit after it
and products (mma.sync, or multiply-adds of lanes) of the same step after that. Leaves the copies evenly between the
products (four at a time between multiply-adds), each with the condition as its number of elements (a copy of none reads
nothing and writes zeros to a stage that nobody reads), and the commit after the last one. Issued before the products
they would fill the queue that loads from shared memory wait in, and the tensor cores would wait for both. Steps whose
products are not unrolled in the same block, and copies that are followed by a barrier or a wait before the products,
are left alone. A second run changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.clone import attributes_of
from mlir_gemm.dialect.walk import body, in_block, named, users
from mlir_gemm.passes.base import Pass

MULTIPLY_ADDS = ("vector.fma",)
PRODUCTS = ("nvgpu.mma.sync", "nvvm.mma.sync", *MULTIPLY_ADDS)
AT_ONCE = 4
"""Copies that are issued together between multiply-adds, which are many: the assembler puts three empty loads in front
of each group on sm_90."""
ASSEMBLY, ASSEMBLED = "llvm.inline_asm", "mma.sync."
"""Products of which MLIR has no operation, and what their assembly begins with."""
COPY = "nvgpu.device_async_copy"
_ORDERED = ("gpu.barrier", "tile.await", "tile.commit", "nvgpu.device_async_wait", "scf.for", "scf.while")
"""What no copy is moved past."""
_PURE = ("gpu.thread_id", "memref.subview", "memref.dim", "memref.transpose", "memref.reinterpret_cast")
SOURCE_ELEMENTS = 4
"""The group of operands of a copy that says how many elements are read."""


@dataclass(frozen=True)
class InterleaveCpAsync(Pass):
    """Issue asynchronous copies between products."""

    name: ClassVar[str] = "interleave-cp-async"

    def run(self, module: Any) -> None:
        for kernel in named(module, "gpu.func"):
            for branch in named(kernel, "scf.if"):
                _spread(branch)


def _spread(branch: Any) -> None:
    copies = _copies_in(branch)
    after = in_block(branch.operation.block)
    after = after[after.index(branch) + 1 :]
    commit = next((op for op in after if op.operation.name in _ORDERED or _is_product(op)), None)
    if not copies or commit is None or commit.operation.name != "tile.commit":
        return
    products = _products_of(after[after.index(commit) + 1 :])
    if len(products) <= len(copies):
        return
    at_once = AT_ONCE if products[0].operation.name in MULTIPLY_ADDS else 1
    condition = branch.operation.operands[0]
    for operation in in_block(body(branch))[:-1]:
        operation.operation.move_before(branch.operation)
    last = commit
    groups = [copies[first : first + at_once] for first in range(0, len(copies), at_once)]
    for number, group in enumerate(groups, 1):
        last = products[number * len(products) // (len(groups) + 1)]
        for copy in group:
            last = _conditional(copy, condition, last)
    commit.operation.move_after(last)
    for copy in copies:
        copy.operation.erase()
    branch.operation.erase()


def _copies_in(branch: Any) -> list[Any]:
    """The copies in a branch that does nothing else; none for any other."""
    if list(branch.operation.results) or len(list(branch.operation.regions[1].blocks)):
        return []
    inside = in_block(body(branch))[:-1]
    copies = [op for op in inside if op.operation.name == COPY]
    others = [op.operation for op in inside if op.operation.name != COPY]
    pure = all(op.name.startswith(("arith.", "affine.apply")) or op.name in _PURE for op in others)
    return copies if pure and not any(users(copy.operation.results[0]) for copy in copies) else []


def _products_of(operations: list[Any]) -> list[Any]:
    """The products before the next thing that orders memory."""
    found: list[Any] = []
    for operation in operations:
        if operation.operation.name in _ORDERED:
            break
        if _is_product(operation):
            found.append(operation)
    return found


def _is_product(operation: Any) -> bool:
    op = operation.operation
    if op.name == ASSEMBLY:
        return ir.StringAttr(op.attributes["asm_string"]).value.startswith(ASSEMBLED)
    return op.name in PRODUCTS


def _conditional(copy: Any, condition: Any, product: Any) -> Any:
    """The same copy after a product, or after another copy, of no elements when the condition does not hold."""
    old = copy.operation
    segments = list(ir.DenseI32ArrayAttr(old.attributes["operandSegmentSizes"]))
    first = sum(segments[:SOURCE_ELEMENTS])
    whole = ir.IntegerAttr(old.attributes["dstElements"]).value
    with ir.InsertionPoint.after(product), old.location:
        elements = old.operands[first] if segments[SOURCE_ELEMENTS] else constants.index(whole)
        none = constants.index(0)
        read = dialect("arith").SelectOp(condition, elements, none).result
        segments[SOURCE_ELEMENTS] = 1
        attributes = attributes_of(old) | {"operandSegmentSizes": ir.DenseI32ArrayAttr.get(segments)}
        return ir.Operation.create(
            old.name,
            results=[result.type for result in old.results],
            operands=[*list(old.operands)[:first], read],
            attributes=attributes,
        )
