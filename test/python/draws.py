"""How many random cases a property is tried on: few in continuous integration, more where somebody asks for them."""

from __future__ import annotations

import os


def draws(usual: int) -> int:
    """`usual` times MLIR_GEMM_DRAWS, which is 1 if it is not set: `MLIR_GEMM_DRAWS=20 pytest -k random`."""
    return max(1, round(usual * float(os.environ.get("MLIR_GEMM_DRAWS", "1"))))
