"""Has the model try operations that multiply in another order."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from mlir_gemm.parts import registry
from mlir_gemm.tile_model import select


def reorder(patch: pytest.MonkeyPatch, names: Sequence[str]) -> None:
    """Only these operations are tried, in this order."""
    found = registry.mmas()
    patch.setattr(registry, "mmas", lambda: {name: found[name] for name in names})
    patch.setattr("mlir_gemm.tile_model.select.mmas", registry.mmas)
    choose_anew(patch)


def choose_anew(patch: pytest.MonkeyPatch) -> None:
    """The model remembers no choice, neither one that was made before nor one that is made while it is patched."""
    remembering = vars(select)["_select"]
    patch.setattr(select, "_select", getattr(remembering, "__wrapped__", remembering))
