"""Contexts that know the tile dialect."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from mlir_gemm.dialect import tile
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.plain_values import keep_plain
from mlir_gemm.spec import extensions
from mlir_gemm.spec.extension_points import PassAt

DIALECTS = (
    "affine", "arith", "bufferization", "cf", "complex", "func", "gpu", "irdl", "linalg", "llvm", "math", "memref",
    "nvgpu", "nvvm", "scf", "tensor", "vector",
)  # fmt: skip
"""Those that our passes make operations of. MLIR loads others where text names them or a pass needs them; to load all,
transform above all, takes 5 ms, these 2."""
LATER = ("amdgpu", "spirv")
"""Those that the passes that need them load: no other kernels pay for them."""


def new_context() -> Any:
    """A context that knows the tile dialect. It has all dialects of MLIR where a registered pass may ask for them."""
    dialect("linalg")  # a context would load it by itself, and NumPy with it
    context = ir.Context(load_on_create_dialects=None if extensions.of(PassAt) else DIALECTS)
    keep_plain(context)
    tile.register(context)
    return context


@contextmanager
def by_threads(context: Any) -> Generator[None]:
    """Has MLIR run passes on modules beside each other by threads of its own, one for each core. There must be nothing
    of this dialect in them: its rules and effects are asked of Python, and this thread holds the interpreter."""
    context.enable_multithreading(True)
    try:
        yield
    finally:
        context.enable_multithreading(False)


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
