"""lower-unit-ids: tile.unit_id becomes the number of the thread's warp, wave or warpgroup.

Expects kernel functions with threads along x only. Leaves gpu.thread_id divided by 32, 64 or 128. tile.rank becomes
the number of the block in its cluster, along x.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import indexing, rings
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.walk import named
from mlir_gemm.passes.base import Pass
from mlir_gemm.passes.launch.launch_blocks import threads_of
from mlir_gemm.spec.threads import LANES, UNITS


@dataclass(frozen=True)
class LowerUnitIds(Pass):
    """Compute warp numbers from thread ids."""

    name: ClassVar[str] = "lower-unit-ids"

    def run(self, module: Any) -> None:
        nvvm = dialect("nvvm")
        for kernel in named(module, "gpu.func"):
            found = named(kernel, "tile.rank", "tile.unit_id")
            ranks = [op for op in found if op.operation.name == "tile.rank"]
            units = [op for op in found if op.operation.name == "tile.unit_id"]
            for rank in ranks:
                with ir.InsertionPoint(rank), rank.location:
                    number = nvvm.BlockInClusterIdXOp(results=[ir.IntegerType.get_signless(32)]).operation.results[0]
                    value = dialect("arith").IndexCastUIOp(ir.IndexType.get(), number).result
                    axis = rings.Axis.of(rank)
                    value = indexing.div(value, axis.stride) if axis.stride > 1 else value
                    value = indexing.rem(value, axis.count) if axis.count else value
                rank.operation.results[0].replace_all_uses_with(value)
                rank.operation.erase()
            for unit in units:
                threads_of(kernel)  # refuses threads along y or z
                with ir.InsertionPoint(unit), unit.location:
                    warp = indexing.div(indexing.thread(), LANES * _warps_of(unit.operation))
                unit.operation.results[0].replace_all_uses_with(warp)
                unit.operation.erase()


def _warps_of(unit: Any) -> int:
    return UNITS[ir.StringAttr(unit.attributes["unit"]).value] if "unit" in unit.attributes else 1
