"""direct: copy, then multiply."""

from __future__ import annotations

from mlir_gemm.parts.base import Mainloop
from mlir_gemm.parts.common_fields import STAGES
from mlir_gemm.spec.passes import at, step

PART = Mainloop("direct", 3, lambda _, __: [at("pipeline", "mainloop", step("order-copies"))], fields=(STAGES,))
