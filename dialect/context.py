"""Contexts that know the tile dialect."""

from __future__ import annotations

from typing import Any

from mlir_gemm.dialect import tile
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.plain_values import keep_plain


def new_context() -> Any:
    """A context that knows the tile dialect."""
    context = ir.Context()
    keep_plain(context)
    tile.register(context)
    return context
