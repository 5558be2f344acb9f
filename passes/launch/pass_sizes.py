"""pass-sizes: a kernel takes bare addresses and the sizes that it needs, instead of memrefs of dynamic sizes.

Expects a gpu.launch in a function whose arguments say what their dynamic sizes are (`tile.symbols`), before outlining.
Leaves in front of the launch, for each such argument that the kernel uses, a memref.reinterpret_cast to one element,
which is passed as a pointer, and each size that it needs once; in the kernel these become the memref again, its strides
computed from the sizes. Index arithmetic in front of the launch that the kernel uses moves into it, so that nothing but
sizes is passed. What divides a size for sure (`tile.divisors` on the function promises it for symbols) is written so
that it can be seen: divided and multiplied again. Refuses sizes that no argument tells. A function of constant sizes is
left alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

from mlir_gemm.dialect import constants, indexing, symbols
from mlir_gemm.dialect.arguments import argument_attributes
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.clone import clone
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.sizes import NAME, argument_sizes, offset_of, size_value, sizes_of, strides_of, told
from mlir_gemm.dialect.symbols import Size
from mlir_gemm.dialect.walk import body, in_block, is_within, named, operations, users
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.attributes import DIVISORS

_ARITHMETIC = (
    "arith.constant", "arith.addi", "arith.subi", "arith.muli", "arith.divui", "arith.remui", "arith.minui",
    "arith.maxui", "arith.index_castui",
)  # fmt: skip


@dataclass(frozen=True)
class PassSizes(Pass):
    """Pass addresses and sizes to kernels."""

    name: ClassVar[str] = "pass-sizes"

    def run(self, module: Any) -> None:
        for function in named(module, "func.func"):
            if len(function.regions[0].blocks) and any(True for _ in argument_sizes(function)):
                for launch in named(function, "gpu.launch"):
                    _Launch(function, launch).run()


class _Launch:
    """One launch on its way to bare parameters."""

    def __init__(self, function: Any, launch: Any) -> None:
        self.function = function
        self.launch = launch.operation
        self.dims = {(argument, axis): size for argument, axis, size in argument_sizes(function)}
        self.values: dict[Size, Any] = {}
        attributes = function.operation.attributes
        self.divisors = symbols.integers(attributes[DIVISORS]) if DIVISORS in attributes else {}

    def run(self) -> None:
        """Rewrites the launch."""
        block = body(self.launch)
        inside = [each.operation for each in in_block(block)]
        with ir.InsertionPoint(inside[0]), self.launch.location:
            self._sink()
            for argument, attributes in zip(
                body(self.function).arguments, argument_attributes(self.function), strict=True
            ):
                uses = [user for user in users(argument) if is_within(user, self.launch)]
                if uses and any(at == argument for at, _ in self.dims):
                    self._replace(argument, attributes, uses)

    def _sink(self) -> None:
        """Moves index arithmetic that the kernel uses into it."""
        moved: dict[Any, Any] = {}
        for operation in list(operations(self.launch)):
            op = operation.operation
            for position, operand in enumerate(op.operands):
                if isinstance(operand.type, (ir.IndexType, ir.IntegerType)) and self._is_outside(operand):
                    op.operands[position] = self._moved(operand, moved)
            if op.name == "memref.dim" and (found := self._dim(op)) is not None:
                op.results[0].replace_all_uses_with(self._size(found))

    def _is_outside(self, value: Any) -> bool:
        owner = value.owner
        return not hasattr(owner, "operations") and not is_within(owner.operation, self.launch)

    def _dim(self, op: Any) -> Size | None:
        return self.dims.get((op.operands[0], constants.integer_of(op.operands[1]) or 0))

    def _moved(self, value: Any, moved: dict[Any, Any]) -> Any:
        if value in moved:
            return moved[value]
        op = value.owner.operation
        size = told(op) if op.name == NAME else self._dim(op) if op.name == "memref.dim" else None
        if size is not None:
            moved[value] = self._size(size)
            return moved[value]
        if op.name not in _ARITHMETIC:
            raise pass_error(op, f"the kernel uses what '{op.name}' computes in front of it; expected sizes")
        for operand in op.operands:
            self._moved(operand, moved)
        clone(op, moved)
        return moved[value]

    def _size(self, size: Size) -> Any:
        """A size as a value in the kernel."""
        if size not in self.values:
            self.values[size] = self._made(size)
        return self.values[size]

    def _made(self, size: Size) -> Any:
        if size.is_number:
            return constants.index(size.number)
        if size not in self.dims.values() and all(Size(1, (each,)) in self.dims.values() for each in size.symbols):
            return indexing.product([*(self._size(Size(1, (each,))) for each in size.symbols), size.number])
        with ir.InsertionPoint(self.launch):
            outside = size_value(self.function, size)
        divisor = size.number * prod(self.divisors.get(each, 1) for each in size.symbols)
        divisor &= -divisor
        return outside if divisor == 1 else indexing.mul(indexing.div(outside, divisor), divisor)

    def _replace(self, argument: Any, attributes: dict[str, Any], uses: list[Any]) -> None:
        type_ = argument.type
        sizes = sizes_of(self.function, type_, attributes)
        strides = strides_of(self.function, type_, attributes)
        offset = offset_of(self.function, type_, attributes)
        element = ir.MemRefType.get([1], type_.element_type, memory_space=type_.memory_space)
        with ir.InsertionPoint(self.launch):
            pointer = _cast(argument, element, [Size(1)], [Size(1)], Size(0), [])
        values = [self._size(size) for size in (offset, *sizes, *strides) if not size.is_number]
        memory = _cast(pointer, type_, sizes, strides, offset, values)
        for user in uses:
            for position, operand in enumerate(user.operands):
                if operand == argument:
                    user.operands[position] = memory


def _cast(source: Any, type_: Any, sizes: list[Size], strides: list[Size], offset: Size, values: list[Any]) -> Any:
    """A memref.reinterpret_cast at the insertion point; `values` are the dynamic offset, sizes and strides in order."""
    marker = ir.ShapedType.get_dynamic_size()
    counts = [sum(not size.is_number for size in each) for each in ([offset], sizes, strides)]
    return ir.Operation.create(
        "memref.reinterpret_cast",
        results=[type_],
        operands=[source, *values],
        attributes={
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, *counts]),
            "static_offsets": ir.DenseI64ArrayAttr.get([offset.number if offset.is_number else marker]),
            "static_sizes": ir.DenseI64ArrayAttr.get([s.number if s.is_number else marker for s in sizes]),
            "static_strides": ir.DenseI64ArrayAttr.get([s.number if s.is_number else marker for s in strides]),
        },
    ).result
