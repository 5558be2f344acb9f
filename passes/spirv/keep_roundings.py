"""keep-roundings: drivers compute what is written, with the roundings that are written.

Expects spirv.modules for Vulkan after upstream's conversion. Leaves additions, subtractions and multiplications of
floating point with the decoration NoContraction in kernels that have an fma. Functions count on their roundings there:
the sum of a number and a large one, less the large one, is the nearest whole number. Mesa 22.3 gives the number itself
without the decoration. Leaves other modules as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.walk import named
from mlir_gemm.passes.base import Pass

_FMA = "spirv.GL.Fma"
_ROUNDED = ("spirv.FAdd", "spirv.FSub", "spirv.FMul")


@dataclass(frozen=True)
class KeepRoundings(Pass):
    """Decorate arithmetic whose roundings count."""

    name: ClassVar[str] = "keep-roundings"

    def run(self, module: Any) -> None:
        for kernel in named(module, "spirv.func"):
            if named(kernel, _FMA):
                for each in named(kernel, *_ROUNDED):
                    each.operation.attributes["no_contraction"] = ir.UnitAttr.get()
