"""lower-tosa: operations of tosa become those of linalg, tensor and arith, by upstream's passes.

Expects a module as a framework wrote it. A module without operations of tosa is left alone. What upstream does not
lower stays, and check-module refuses it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import ir, passmanager
from mlir_gemm.dialect.locations import from_mlir
from mlir_gemm.dialect.walk import where
from mlir_gemm.passes.base import Pass

_PIPELINE = (
    "builtin.module(func.func(tosa-infer-shapes,tosa-to-linalg-named,canonicalize,tosa-to-linalg,tosa-to-arith{include-apply-rescale=true},"
    "tosa-to-tensor,canonicalize,cse))"
)


@dataclass(frozen=True)
class LowerTosa(Pass):
    """Turn tosa into linalg."""

    name: ClassVar[str] = "lower-tosa"

    def run(self, module: Any) -> None:
        if not where(module, lambda op: op.name.startswith("tosa.")):
            return
        try:
            passmanager.PassManager.parse(_PIPELINE).run(module.operation)
        except ir.MLIRError as error:
            raise from_mlir(error, "upstream's passes cannot lower this tosa") from None
