"""vulkan-memory-model: a module in SPIR-V goes by Vulkan's memory model, as cooperative matrices need.

Expects kernels after `finish-spirv`. Leaves accesses of buffers and of shared memory marked NonPrivatePointer, and
barriers that make what was written before them available and visible: without the marks this model says of each
invocation's accesses that no other one sees them ("Memory Model" in Vulkan's specification). Variables of a function
stay as they are. A second run changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.walk import named
from mlir_gemm.passes.base import Pass

_MODEL = "memory_model"
_ACCESSES = {
    "spirv.Load": "memory_access",
    "spirv.Store": "memory_access",
    "spirv.KHR.CooperativeMatrixLoad": "memory_operand",
    "spirv.KHR.CooperativeMatrixStore": "memory_operand",
}
"""Which attribute of an access says what it is for others."""
_SHARED = ("StorageBuffer", "Workgroup")


@dataclass(frozen=True)
class VulkanMemoryModel(Pass):
    """Go by Vulkan's memory model."""

    name: ClassVar[str] = "vulkan-memory-model"

    def run(self, module: Any) -> None:
        marked = ir.Attribute.parse("#spirv.memory_access<NonPrivatePointer>")
        for each in named(module, "spirv.module"):
            each.operation.attributes[_MODEL] = ir.Attribute.parse("#spirv.memory_model<Vulkan>")
            for access in named(each, *_ACCESSES):
                operation = access.operation
                if str(operation.operands[0].type).rstrip(">").endswith(_SHARED):
                    operation.attributes[_ACCESSES[operation.name]] = marked
            for barrier in named(each, "spirv.ControlBarrier"):
                barrier.operation.attributes["memory_semantics"] = ir.Attribute.parse(
                    "#spirv.memory_semantics<AcquireRelease|WorkgroupMemory|MakeAvailable|MakeVisible>"
                )
