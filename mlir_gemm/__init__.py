"""mlir-gemm: a compiler from matrix products in MLIR to GPU kernels, written in Python on the MLIR bindings.

`compile` turns a module into something callable, one kernel or a program of several; see `Kernel`. Names are imported
on first use, so that importing this package costs a few milliseconds.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from mlir_gemm.errors import (
    ArgumentError,
    BindingsError,
    DeviceError,
    Error,
    FindingsError,
    InputError,
    PassError,
    ScheduleError,
    TargetError,
)
from mlir_gemm.version import __version__

if TYPE_CHECKING:
    from mlir_gemm.parts.base import Layout, Mainloop, Mma, Part, Raster
    from mlir_gemm.runtime.kernel import Kernel, compile
    from mlir_gemm.runtime.sparse import Sparse24, sparse24
    from mlir_gemm.spec.bilinear import Bilinear
    from mlir_gemm.spec.element_types import ElementType
    from mlir_gemm.spec.extension_points import FrontEnd, PassAt, Rewrites, Selector
    from mlir_gemm.spec.extensions import register, unregister
    from mlir_gemm.spec.fields import Field
    from mlir_gemm.spec.schedule import Schedule
    from mlir_gemm.tracing.computed import circulant, computed, hankel, toeplitz
    from mlir_gemm.tracing.einsum import einsum, matmul
    from mlir_gemm.tracing.tile_kernels import TileKernel
    from mlir_gemm.tracing.tiling import Tile

__all__ = [
    "ArgumentError",
    "Bilinear",
    "BindingsError",
    "DeviceError",
    "ElementType",
    "Error",
    "Field",
    "FindingsError",
    "FrontEnd",
    "InputError",
    "Kernel",
    "Layout",
    "Mainloop",
    "Mma",
    "Part",
    "PassAt",
    "PassError",
    "Raster",
    "Rewrites",
    "Schedule",
    "ScheduleError",
    "Selector",
    "Sparse24",
    "TargetError",
    "Tile",
    "TileKernel",
    "__version__",
    "circulant",
    "compile",
    "computed",
    "einsum",
    "hankel",
    "matmul",
    "register",
    "sparse24",
    "toeplitz",
    "unregister",
]

_HOMES = {
    "Bilinear": "spec.bilinear",
    "ElementType": "spec.element_types",
    "Field": "spec.fields",
    "FrontEnd": "spec.extension_points",
    "Kernel": "runtime.kernel",
    "Layout": "parts.base",
    "Mainloop": "parts.base",
    "Mma": "parts.base",
    "Part": "parts.base",
    "PassAt": "spec.extension_points",
    "Raster": "parts.base",
    "Rewrites": "spec.extension_points",
    "Schedule": "parts.fields",
    "Selector": "spec.extension_points",
    "Sparse24": "runtime.sparse",
    "Tile": "tracing.tiling",
    "TileKernel": "tracing.tile_kernels",
    "circulant": "tracing.computed",
    "compile": "runtime.kernel",
    "computed": "tracing.computed",
    "einsum": "tracing.einsum",
    "hankel": "tracing.computed",
    "matmul": "tracing.einsum",
    "register": "spec.extensions",
    "sparse24": "runtime.sparse",
    "toeplitz": "tracing.computed",
    "unregister": "spec.extensions",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'mlir_gemm' has no attribute '{name}'")
    return getattr(importlib.import_module(f"mlir_gemm.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
