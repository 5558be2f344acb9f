"""simt: fused multiply-adds of ordinary arithmetic, for every type."""

from __future__ import annotations

from mlir_gemm.parts.base import Mma
from mlir_gemm.spec.passes import at, step

PART = Mma("simt", lambda _, __: [at("lower", "mma", step("mma-to-fma"))], tensor_cores=False)
