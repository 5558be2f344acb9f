"""Reading MLIR that was printed with locations."""

from __future__ import annotations

from typing import Any

from mlir_gemm.dialect.context import new_context
from mlir_gemm.dialect.locations import readable
from mlir_gemm.dialect.parse import is_known, parse_module


def parsed(text: str, filename: str = "-") -> Any:
    """MLIR text as a module in a context of its own. Raises InputError."""
    return parse_module(readable(text), filename, new_context(), own=is_known(text))
