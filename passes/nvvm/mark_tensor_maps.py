"""mark-tensor-maps: the parameters of a kernel that are tensor maps are passed by value, as the copy engine needs them.

Expects llvm.func kernels whose `tile.maps` (which `lower-mbarrier-pipeline` writes on the gpu.func) numbers these
parameters, in a convention that makes one parameter of each argument. Leaves their attributes: 128 bytes by value,
aligned to 64, the same for the whole grid.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.walk import named
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.attributes import MAPS

_ATTRIBUTES = "{llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant}"


@dataclass(frozen=True)
class MarkTensorMaps(Pass):
    """Pass tensor maps by value."""

    name: ClassVar[str] = "mark-tensor-maps"

    def run(self, module: Any) -> None:
        for kernel in named(module, "llvm.func"):
            if MAPS not in kernel.attributes:
                continue
            numbers = set(ir.DenseI64ArrayAttr(kernel.attributes[MAPS]))
            count = len(kernel.regions[0].blocks[0].arguments)
            old = list(ir.ArrayAttr(kernel.attributes["arg_attrs"])) if "arg_attrs" in kernel.attributes else [
                ir.DictAttr.get({})] * count  # fmt: skip
            marked = [ir.Attribute.parse(_ATTRIBUTES) if n in numbers else old[n] for n in range(count)]
            kernel.attributes["arg_attrs"] = ir.ArrayAttr.get(marked)
            del kernel.attributes[MAPS]
