"""buffer-accesses: guarded loads and stores of global memory become accesses of AMD's buffers, which check bounds.

Expects gpu.func kernels with scf.if that loads a number or a vector where a condition holds, and gives zero elsewhere,
or that stores where one holds; the memory is an argument of constant dense sizes, of at most 2 GB. Leaves
amdgpu.raw_buffer_load and raw_buffer_store without a branch: where the condition does not hold the first index is that
of the row after the last one, from which a buffer loads zeros and to which it stores nothing (AMD's instruction set
manuals, "Buffer Addressing"). Leaves other branches as they are, those of elements of 64 bits among them. Refuses
nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.walk import in_block, named
from mlir_gemm.passes.base import Pass

_LOADS = ("memref.load", "vector.load")
_STORES = ("memref.store", "vector.store")
_MOST_BYTES = 1 << 31
"""Of memory that offsets of 32 bits reach, whatever their sign."""
_ELEMENTS = ("f16", "bf16", "f32", "i8", "i32")
_BITS = (8, 16, 32, 64, 128)
"""That an access moves."""


@dataclass(frozen=True)
class BufferAccesses(Pass):
    """Turn guarded accesses into accesses of buffers."""

    name: ClassVar[str] = "buffer-accesses"

    def run(self, module: Any) -> None:
        _ = module.context.dialects["amdgpu"]  # loads it: contexts have it only where it is used
        for kernel in named(module, "gpu.func"):
            for branch in named(kernel, "scf.if"):
                _rewrite(branch.operation)


def _rewrite(branch: Any) -> None:
    then = [operation.operation for operation in in_block(branch.regions[0].blocks[0])]
    others = list(branch.regions[1].blocks)
    otherwise = [operation.operation for operation in in_block(others[0])] if others else []
    if len(then) != 2 or len(otherwise) > 1:
        return
    access, end = then
    if access.name in _LOADS and len(branch.results) == 1 and otherwise:
        memory, *indices = access.operands
        if list(end.operands) == list(access.results) and _is_zero(otherwise[0].operands[0]):
            _load(branch, access, memory, indices)
    elif access.name in _STORES and not branch.results and not otherwise:
        value, memory, *indices = access.operands
        _store(branch, value, memory, indices)


def _load(branch: Any, access: Any, memory: Any, indices: list[Any]) -> None:
    type_ = access.results[0].type
    if not _reached(memory, type_):
        return
    with ir.InsertionPoint(branch), branch.location:
        places = _places(branch.operands[0], memory, indices)
        loaded = dialect("amdgpu").RawBufferLoadOp(type_, memory, places, boundsCheck=True).operation.results[0]
    branch.results[0].replace_all_uses_with(loaded)
    branch.erase()


def _store(branch: Any, value: Any, memory: Any, indices: list[Any]) -> None:
    if not _reached(memory, value.type):
        return
    with ir.InsertionPoint(branch), branch.location:
        places = _places(branch.operands[0], memory, indices)
        dialect("amdgpu").RawBufferStoreOp(value, memory, places, boundsCheck=True)
    branch.erase()


def _is_zero(value: Any) -> bool:
    """Whether a number or a vector is zero of either kind: of floating point the positive one."""
    owner = value.owner
    if hasattr(owner, "operations") or owner.name != "arith.constant":
        return False
    number: Any = constants.splat_of(value) if isinstance(value.type, ir.VectorType) else owner.attributes["value"]
    if isinstance(number, ir.FloatAttr):
        return str(number.value) == "0.0"
    return isinstance(number, ir.IntegerAttr) and number.value == 0


def _reached(memory: Any, type_: Any) -> bool:
    """Whether a buffer can stand for the memory in an access of this type."""
    element = getattr(type_, "element_type", type_)
    count = type_.shape[0] if isinstance(type_, ir.VectorType) else 1
    known = memory.type
    if not hasattr(memory.owner, "operations") or not known.has_static_shape or known.memory_space is not None:
        return False
    strides, offset = known.get_strides_and_offset()
    shape = list(known.shape)
    dense = offset == 0 and strides == [prod(shape[axis + 1 :]) for axis in range(len(shape))]
    if not dense or not shape or str(element) not in _ELEMENTS or element.width * count not in _BITS:
        return False
    return prod(shape) * element.width // 8 + 16 <= _MOST_BYTES


def _places(condition: Any, memory: Any, indices: list[Any]) -> list[Any]:
    """The indices as a buffer takes them; the first beyond the last where the condition does not hold."""
    arith, i32 = dialect("arith"), ir.IntegerType.get_signless(32)
    numbers = [arith.IndexCastUIOp(i32, index).result for index in indices]
    beyond = arith.ConstantOp(i32, memory.type.shape[0]).result
    return [arith.SelectOp(condition, numbers[0], beyond).result, *numbers[1:]]
