"""tiles-to-lanes: loads, arithmetic and stores of warp tiles without a product become code of each lane.

Expects a kernel function after `mma-to-coop-matrix`, whose tiles come from tile.load with a `scope`, not from products.
Leaves vectors of a lane: the lanes are 4 x 8, each with rows of up to 4 neighbours, so that eight lanes take what lies
side by side. What is not known to lie within the memory (`in_bounds`) is guarded. Refuses tiles that are no multiples
of 4 x 8, and what `mma-to-fma` refuses of loads, stores and arithmetic.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.stores import STORES
from mlir_gemm.dialect.walk import named
from mlir_gemm.lowering.accumulator_lowering import lower_products
from mlir_gemm.lowering.fragments import Fragments
from mlir_gemm.lowering.layouts import Layout, simt
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.attributes import SCOPE

ACROSS, DOWN = 8, 4
"""Lanes side by side, and rows of them."""


@dataclass(frozen=True)
class TilesToLanes(Pass):
    """Lower tiles of warps to vectors of lanes."""

    name: ClassVar[str] = "tiles-to-lanes"

    def run(self, module: Any) -> None:
        for kernel in named(module, "gpu.func"):
            accesses = [op for op in named(kernel, "tile.load", *STORES) if SCOPE in op.operation.attributes]
            if accesses and not named(kernel, "tile.mma"):
                lower_products(kernel, _layout(accesses), _nothing)


def _layout(accesses: list[Any]) -> Layout:
    """As many neighbours as the narrowest tile has for eight lanes, up to four."""
    columns = min(
        (op.operands[0] if op.operation.name in STORES else op.operation.results[0]).type.shape[1] for op in accesses
    )
    return simt(1, next(width for width in (4, 2, 1) if width == 1 or columns % (ACROSS * width) == 0))


def _nothing(_: Fragments, run: list[Any]) -> None:
    assert not run
