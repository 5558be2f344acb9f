"""finish-spirv: the kernel in SPIR-V takes its place in the module that launches it.

Expects what upstream's convert-gpu-to-spirv and spirv-lower-abi-attrs left of `vulkan-interface`'s modules. Leaves the
spirv.module in the gpu.module that declares the kernel. Push constants lose the binding that upstream gives to every
variable.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.walk import body, in_block
from mlir_gemm.passes.base import Pass


@dataclass(frozen=True)
class FinishSpirv(Pass):
    """Put kernels in SPIR-V in their places."""

    name: ClassVar[str] = "finish-spirv"

    def run(self, module: Any) -> None:
        operations = in_block(body(module))
        holders = {_name(function): each for each in operations if each.operation.name == "gpu.module"
                   for function in in_block(body(each))}  # fmt: skip
        for nested in operations:
            if nested.operation.name != "builtin.module":
                continue
            inside = in_block(body(nested))
            made = [each for each in inside if each.operation.name == "spirv.module"]
            for each in made:
                for variable in in_block(body(each)):
                    if "PushConstant" in str(variable.operation.attributes.get("type", "")):
                        for name in ("binding", "descriptor_set"):
                            del variable.operation.attributes[name]
                body(holders[_name(each).removeprefix("__spv__")]).append(each)
            if made:
                nested.operation.erase()


def _name(operation: Any) -> str:
    attributes = operation.operation.attributes
    return ir.StringAttr(attributes["sym_name"]).value if "sym_name" in attributes else ""
