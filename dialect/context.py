"""Contexts that know the tile dialect."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager
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


@contextmanager
def without_collection() -> Generator[None]:
    """Keeps the garbage collector from running: reference counting frees most objects of a compilation, and looking for
    cycles took a fifth of the time of a product of 4096 (60 of 280 ms)."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
