"""local-barriers: barriers of kernels whose threads hand nothing over in global memory wait for shared memory only.

Expects gpu.func kernels. Leaves `memfence [#gpu.address_space<workgroup>]` on the gpu.barrier of those that store to no
global memory that they also load from: on AMD's chips a barrier waits otherwise for all loads that are in flight, those
of the next step among them. Refuses nothing: it leaves the barriers of other kernels, and those of which something is
said.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.memory import in_shared
from mlir_gemm.dialect.walk import named, operations
from mlir_gemm.lowering.memory_order import root_of
from mlir_gemm.passes.base import Pass

_LOADS = ("memref.load", "vector.load")
_STORES = ("memref.store", "vector.store")
_BARRIER = "gpu.barrier"
_FENCED = "address_spaces"


@dataclass(frozen=True)
class LocalBarriers(Pass):
    """Have barriers order shared memory only."""

    name: ClassVar[str] = "local-barriers"

    def run(self, module: Any) -> None:
        for kernel in named(module, "gpu.func"):
            barriers = named(kernel, _BARRIER)
            if not barriers or _communicates(kernel):
                continue
            for barrier in barriers:
                if _FENCED not in barrier.operation.attributes:
                    space = ir.Attribute.parse("[#gpu.address_space<workgroup>]")
                    barrier.operation.attributes[_FENCED] = space


def _communicates(kernel: Any) -> bool:
    """Whether one thread may load from global memory what another one stored, or does something else to memory than
    loading and storing."""
    accesses = named(kernel, *_LOADS, *_STORES)
    loaded: dict[Any, None] = {}
    stored: dict[Any, None] = {}
    for access in accesses:
        operation = access.operation
        stores = operation.name in _STORES
        memory = operation.operands[1 if stores else 0]
        if not in_shared(memory):
            (stored if stores else loaded)[root_of(memory)] = None
    others = any(
        operation.name not in _KNOWN and _touches(operation)
        for operation in (each.operation for each in operations(kernel))
    )
    return others or any(memory in loaded for memory in stored)


_KNOWN = (*_LOADS, *_STORES, "memref.subview", "memref.view", "memref.cast", "memref.get_global", "memref.dim",
          "memref.reinterpret_cast", "memref.extract_strided_metadata", "memref.collapse_shape",
          "memref.expand_shape", "memref.alloca", "arith.select", "scf.if", "scf.for", "scf.while", "scf.yield",
          "gpu.func")  # fmt: skip
"""Operations on memrefs that a kernel may have."""


def _touches(operation: Any) -> bool:
    return any(isinstance(value.type, ir.MemRefType) for value in operation.operands)
