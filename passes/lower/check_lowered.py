"""check-lowered: refuses a kernel in which operations on tiles are left, or layouts that no pass has laid out.

Expects the output of `lower`. Leaves it unchanged. Upstream's conversions silently leave operations that they do not
know, and the translation to LLVM IR then fails without naming the cause.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.rings import BARRIERS, PANELS
from mlir_gemm.dialect.walk import named, operations
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.attributes import LAYOUT


@dataclass(frozen=True)
class CheckLowered(Pass):
    """Refuse kernels that still hold tile operations."""

    name: ClassVar[str] = "check-lowered"

    def run(self, module: Any) -> None:
        for kernel in named(module, "gpu.func"):
            for operation in operations(kernel):
                name = operation.operation.name
                if name.startswith("tile."):
                    raise pass_error(
                        operation, f"'{name}' is left after lowering; no pass of this schedule handles it here"
                    )
                layout = operation.operation.attributes.get(LAYOUT) if name.startswith("memref.") else None
                if layout is not None and layout.value not in (*PANELS, BARRIERS):  # which instructions know
                    why = f"a buffer of the layout {layout} is left; no pass of this schedule lays it out"
                    raise pass_error(operation, why)
                if name == "memref.alloc":
                    raise pass_error(
                        operation,
                        "a buffer is allocated in the kernel; expected shared memory at its top level (place-shared)",
                    )
