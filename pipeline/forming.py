"""The second half of `import`: from a function on tensors in normal form to kernels on memrefs."""

from __future__ import annotations

from typing import Any

from mlir_gemm.passes.registry import Upstream, ours

PASSES = (
    "drop-empty", "copy-operands", "copy-results", "group-kernels", "outline-kernels", "normalise-kernels",
    "inline-kernel", "describe-arguments",
)  # fmt: skip
"""Ours, in order."""


def kernel_passes() -> list[Any]:
    """The passes that make kernels: see docs/inputs.md."""
    return [*(ours(name) for name in PASSES), Upstream("cse"), ours("free-sizes")]
