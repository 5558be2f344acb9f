"""The one place through which mlir-gemm imports MLIR.

The official package `mlir` is taken when it is installed and can emit PTX. Otherwise the upstream bindings inside
`numba-cuda-mlir` are used: they are the same bindings, but importing their parent package would pull in the whole
Numba compiler (1 s), so that is put off until somebody uses it. It makes no difference which of the two a process
imports first.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import sys
from typing import Any

from mlir_gemm.dialect.deferred_package import defer, later
from mlir_gemm.dialect.plain_values import exempt
from mlir_gemm.errors import BindingsError

_INSTALL_HINT = (
    "install either the official bindings (package 'mlir', built with the NVPTX back end) or "
    "'numba-cuda-mlir' (pip install numba-cuda-mlir), which ships them"
)


def _has_nvptx(package: str) -> bool:
    """Whether the bindings in `package` can turn a gpu.module into PTX. Asked only of packages that may lack it."""
    ir = importlib.import_module(f"{package}.ir")
    passmanager = importlib.import_module(f"{package}.passmanager")
    text = 'gpu.module @probe [#nvvm.target<chip = "sm_80">] { llvm.func @f() { llvm.return } }'
    with ir.Context() as context:
        context.emit_error_diagnostics = True
        try:
            module = ir.Module.parse(text)
            pipeline = "builtin.module(gpu-module-to-binary{format=isa})"
            passmanager.PassManager.parse(pipeline).run(module.operation)
        except Exception:  # any failure here means only that this package is not a candidate
            return False
    return True


def _find() -> str:
    if importlib.util.find_spec("mlir") is not None and importlib.util.find_spec("mlir._mlir_libs") is not None:
        try:
            if _has_nvptx("mlir"):
                return "mlir"
        except ImportError:
            pass
    if defer("numba_cuda_mlir", "_mlir"):
        return "numba_cuda_mlir._mlir"
    raise BindingsError(f"no MLIR Python bindings with the NVPTX back end were found: {_INSTALL_HINT}")


PACKAGE: str = _find()
"""Dotted name of the package that the bindings were found in."""


@functools.cache
def dialect(name: str) -> Any:
    """The bindings' module for a dialect, such as `dialect("affine")`. Imported on first use: some are slow."""
    with later("numpy"):
        return importlib.import_module(f"{PACKAGE}.dialects.{name}")


_used_before = f"{PACKAGE}.ir" in sys.modules
with later("numpy"):  # they take an eighth of the time of `opt`, for attribute builders that it does not use
    ir: Any = importlib.import_module(f"{PACKAGE}.ir")
passmanager: Any = importlib.import_module(f"{PACKAGE}.passmanager")
exempt(ir, importlib.import_module(f"{PACKAGE}._mlir_libs._mlir"), used_before=_used_before)
