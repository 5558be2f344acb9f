"""Has the model try operations that multiply in another order."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from mlir_gemm.parts import registry


def reorder(patch: pytest.MonkeyPatch, names: Sequence[str]) -> None:
    """Only these operations are tried, in this order."""
    found = registry.mmas()
    patch.setattr(registry, "mmas", lambda: {name: found[name] for name in names})
    patch.setattr("mlir_gemm.tile_model.select.mmas", registry.mmas)
