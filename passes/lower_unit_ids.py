"""lower-unit-ids: tile.unit_id becomes the number of the thread's warp.

Expects kernels launched with threads along x only. Leaves gpu.thread_id divided by 32.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import indexing
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.walk import named
from mlir_gemm.passes.base import Pass

LANES = 32


@dataclass(frozen=True)
class LowerUnitIds(Pass):
    """Compute warp numbers from thread ids."""

    name: ClassVar[str] = "lower-unit-ids"

    def run(self, module: Any) -> None:
        gpu = dialect("gpu")
        for unit in named(module, "tile.unit_id"):
            with ir.InsertionPoint(unit), unit.location:
                warp = indexing.div(gpu.thread_id(gpu.Dimension.x), LANES)
            unit.operation.results[0].replace_all_uses_with(warp)
            unit.operation.erase()
