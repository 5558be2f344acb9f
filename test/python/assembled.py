"""Kernels through ptxas, which the test extra installs: without it a test fails, instead of being passed over."""

from __future__ import annotations

from mlir_gemm.pipeline import assembler
from mlir_gemm.pipeline.assembler import Usage


def usage(ptx: str, chip: str) -> Usage:
    """The resources that the one kernel of `ptx` takes on `chip`."""
    found = assembler.usage(ptx, chip)
    assert found is not None, f"no ptxas that knows {chip}: the test extra's packages are not installed"
    return found
