"""Runs apply-rewrites on a file with a rule registered: the logarithm of an exponential is what it was of."""

import sys
from pathlib import Path
from typing import Any

import mlir_gemm
from mlir_gemm.pipeline.runner import run_passes


def undo(op: Any, rewriter: Any) -> bool:
    """Replaces the logarithm."""
    inner = op.operands[0].owner
    if getattr(inner, "name", "") != "linalg.exp":
        return False
    rewriter.replace_op(op, [inner.operands[0]])
    return True


mlir_gemm.register(mlir_gemm.Rewrites("undo", {"linalg.log": undo}))
print(run_passes(Path(sys.argv[1]).read_text(), ["apply-rewrites"]))
