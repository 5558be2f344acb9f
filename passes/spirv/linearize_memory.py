"""linearize-memory: every access is of one element of a buffer of one dimension.

Expects a kernel after `vulkan-interface`. Leaves memref.load and memref.store with one index: logical addressing has no
pointers to cast, so vectors are loaded and stored element by element, and buffers in shared memory, which were views of
bytes, become buffers of their own in the storage class Workgroup.

Refuses memory that is not an argument or in shared memory, views that it does not know, and more shared memory than
`limit` bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.spirv_kernels import buffer_type
from mlir_gemm.dialect.walk import body, named
from mlir_gemm.passes.base import Pass

_ACCESSES = ("memref.load", "memref.store", "vector.load", "vector.store")
_VIEWS = ("memref.reinterpret_cast", "memref.view", "memref.cast", "memref.get_global",
          "builtin.unrealized_conversion_cast")  # fmt: skip


@dataclass(frozen=True)
class LinearizeMemory(Pass):
    """Address buffers by one index, element by element."""

    name: ClassVar[str] = "linearize-memory"
    limit: int = 0
    """Most bytes of shared memory; 0 for no limit."""

    def run(self, module: Any) -> None:
        for kernel in named(module, "gpu.func"):
            found = _Views(kernel)
            for operation in named(kernel, *_ACCESSES):
                if not found.is_linear(operation.operation):
                    _replace(operation.operation, found)
            taken = sum(_bytes(each) for each in named(kernel, "memref.alloc"))
            if self.limit and taken > self.limit:
                raise pass_error(
                    kernel, f"{taken} bytes of shared memory; the chip has {self.limit} for a workgroup "
                    "(maxComputeSharedMemorySize): expected a smaller block or fewer stages"
                )  # fmt: skip
        for kernel in named(module, "gpu.func"):
            for operation in reversed(named(kernel, *_VIEWS)):
                if all(not list(result.uses) for result in operation.operation.results):
                    operation.operation.erase()
            if not named(kernel, "memref.get_global"):
                for declared in named(kernel.operation.parent, "memref.global"):
                    declared.operation.erase()


def _bytes(alloc: Any) -> int:
    type_ = alloc.operation.results[0].type
    return prod(type_.shape) * type_.element_type.width // 8


class _Views:
    """What the views in a kernel are views of."""

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel
        self.buffers: dict[Any, Any] = {}
        """Buffers of shared memory, by the view of bytes that they replace."""

    def is_linear(self, operation: Any) -> bool:
        """Whether an access is of a buffer with a storage class already."""
        memory = operation.operands[1 if operation.name.endswith("store") else 0]
        return "spirv.storage_class" in str(memory.type) and operation.name.startswith("memref.")

    def resolve(self, memory: Any) -> tuple[Any, list[Any], Any]:
        """The buffer, the strides (numbers or values) and the offset of a memref."""
        owner = memory.owner
        name = getattr(owner, "name", "")
        if name == "builtin.unrealized_conversion_cast":
            strides, offset = memory.type.get_strides_and_offset()
            return owner.operands[0], list(strides), offset
        if name == "memref.reinterpret_cast":
            buffer, _, _ = self.resolve(owner.operands[0])
            return buffer, *_of_cast(owner)
        if name == "memref.cast":
            return self.resolve(owner.operands[0])
        if name == "memref.view":
            return self._shared(owner), list(memory.type.get_strides_and_offset()[0]), 0
        raise pass_error(
            self.kernel, f"an access of {memory.type} from '{name}'; expected an argument or shared memory"
        )

    def _shared(self, view: Any) -> Any:
        found = self.buffers.get(view)
        if found is None:
            type_ = view.results[0].type
            count = prod(type_.shape)
            with ir.InsertionPoint.at_block_begin(body(self.kernel)), view.location:
                made = buffer_type(type_.element_type, "Workgroup", count)
                found = self.buffers[view] = dialect("memref").AllocOp(made, [], []).result
        return found


def _of_cast(cast: Any) -> tuple[list[Any], Any]:
    """The strides and the offset of a memref.reinterpret_cast."""
    dynamic = ir.ShapedType.get_dynamic_stride_or_offset()
    values = list(cast.operands)[1:]
    counts = list(ir.DenseI32ArrayAttr(cast.attributes["operandSegmentSizes"]))
    offsets, strides = values[: counts[1]], values[counts[1] + counts[2] :]
    static = list(ir.DenseI64ArrayAttr(cast.attributes["static_strides"]))
    (offset,) = ir.DenseI64ArrayAttr(cast.attributes["static_offsets"])
    given = iter(strides)
    found = [next(given) if each == dynamic else each for each in static]
    return found, offsets[0] if offset == dynamic else offset


def _replace(operation: Any, views: _Views) -> None:
    store = operation.name.endswith("store")
    first = 1 if store else 0
    buffer, strides, offset = views.resolve(operation.operands[first])
    element = operation.operands[first].type.element_type
    with ir.InsertionPoint(operation), operation.location:
        place = _place(list(operation.operands)[first + 1 :], strides, offset)
        vector = dialect("vector")
        value = operation.operands[0] if store else operation.results[0]
        is_vector = isinstance(value.type, ir.VectorType)
        count = prod(ir.VectorType(value.type).shape) if is_vector else 1
        places = [_added(place, number) for number in range(count)]
        if store:
            for number, at in enumerate(places):
                each = vector.ExtractOp(value, [], [number]).result if is_vector else value
                dialect("memref").StoreOp(_stored(each), buffer, [at])
        else:
            loaded = [_loaded(dialect("memref").LoadOp(buffer, [at]).result, element) for at in places]
            result = vector.FromElementsOp(value.type, loaded).result if is_vector else loaded[0]
            value.replace_all_uses_with(result)
    operation.erase()


def _stored(value: Any) -> Any:
    """A truth value as a byte; others as they are."""
    if str(value.type) != "i1":
        return value
    return dialect("arith").ExtUIOp(ir.IntegerType.get_signless(8), value).result


def _loaded(value: Any, element: Any) -> Any:
    if str(element) != "i1":
        return value
    arith = dialect("arith")
    return arith.CmpIOp(arith.CmpIPredicate.ne, value, arith.ConstantOp(value.type, 0).result).result


def _place(indices: list[Any], strides: list[Any], offset: Any) -> Any:
    """The number of an element in its buffer, as a value."""
    arith, total = dialect("arith"), None
    for index, stride in zip(indices, strides, strict=True):
        if isinstance(stride, int):
            term = index if stride == 1 else arith.MulIOp(index, constants.index(stride)).result
        else:
            term = arith.MulIOp(index, stride).result
        total = term if total is None else arith.AddIOp(total, term).result
    total = constants.index(0) if total is None else total
    return _added(total, offset)


def _added(value: Any, number: Any) -> Any:
    if isinstance(number, int):
        return dialect("arith").AddIOp(value, constants.index(number)).result if number else value
    return dialect("arith").AddIOp(value, number).result
