"""Line information for profilers: whether a kernel is compiled with it, and how such a kernel is loaded.

`debug_info="line"` asks for it in Python, `--debug-info line` on the command line, and the environment variable
MLIR_GEMM_DEBUG_INFO wherever neither says anything, so that a script can be profiled as it is.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from mlir_gemm.errors import InputError

KINDS = ("none", "line")
"""What can be asked for."""
VARIABLE = "MLIR_GEMM_DEBUG_INFO"


def wanted(asked: str | None) -> bool:
    """Whether to compile with line information: as asked, else as the environment variable says. Raises InputError."""
    kind = asked if asked is not None else os.environ.get(VARIABLE) or "none"
    if kind not in KINDS:
        name = "debug_info" if asked is not None else VARIABLE
        raise InputError(f"{name}={kind!r}: expected {' or '.join(map(repr, KINDS))}")
    return kind == "line"


def object_code(core: Any, ptx: str, chip: Callable[[], str]) -> Any:
    """The code as cuda.core loads it. PTX with line information is assembled here, where a ptxas is installed that can:
    cuda.core does not ask the driver's compiler to keep the lines."""
    if "\t.loc\t" in ptx:
        from mlir_gemm.pipeline import assembler  # late: few kernels are profiled

        code = assembler.find_cubin(ptx, chip())
        if code is not None:
            return core.ObjectCode.from_cubin(code)
    return core.ObjectCode.from_ptx(ptx.encode())
