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

if TYPE_CHECKING:
    from mlir_gemm.pipeline.schedule import Schedule
    from mlir_gemm.runtime.kernel import Kernel, compile

__version__ = "0.1.0"

__all__ = [
    "ArgumentError",
    "BindingsError",
    "DeviceError",
    "Error",
    "FindingsError",
    "InputError",
    "Kernel",
    "PassError",
    "Schedule",
    "ScheduleError",
    "TargetError",
    "compile",
]

_HOMES = {"Kernel": "runtime.kernel", "compile": "runtime.kernel", "Schedule": "pipeline.schedule"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'mlir_gemm' has no attribute '{name}'")
    return getattr(importlib.import_module(f"mlir_gemm.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
