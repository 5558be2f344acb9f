"""lower-unit-ids: tile.unit_id becomes the number of the thread's warp.

Expects kernel functions with threads along x only. Leaves gpu.thread_id divided by 32.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import indexing
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.walk import named
from mlir_gemm.passes.base import Pass
from mlir_gemm.passes.launch_blocks import LANES, threads_of


@dataclass(frozen=True)
class LowerUnitIds(Pass):
    """Compute warp numbers from thread ids."""

    name: ClassVar[str] = "lower-unit-ids"

    def run(self, module: Any) -> None:
        gpu = dialect("gpu")
        for kernel in named(module, "gpu.func"):
            for unit in named(kernel, "tile.unit_id"):
                threads_of(kernel)  # refuses threads along y or z
                with ir.InsertionPoint(unit), unit.location:
                    warp = indexing.div(gpu.thread_id(gpu.Dimension.x), LANES)
                unit.operation.results[0].replace_all_uses_with(warp)
                unit.operation.erase()
