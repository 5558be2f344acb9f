"""What a package of one's own adds to mlir-gemm: a pass at a slot of a stage, a part, a selector, and an
element type.

Once it is installed (`pip install ./examples/plugin`), its entry point is found: `mlir-gemm info` and `mlir-gemm opt
--list` show what it registers, and every kernel is compiled with it. Nothing in mlir-gemm names it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import mlir_gemm
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.walk import named
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.passes import at, step
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target
from mlir_gemm.tile_model.select import select


@dataclass(frozen=True)
class CountProducts(Pass):
    """Write on each kernel how many products of tiles it has."""

    name: ClassVar[str] = "count-products"

    def run(self, module: Any) -> None:
        for function in named(module, "func.func"):
            count = len(named(function, "tile.mma"))
            if count:
                function.attributes["example.products"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), count)


COUNT = mlir_gemm.PassAt(CountProducts, stage="tensorize", slot="tensorize")
"""The pass runs after `tensorize`, which makes the products of tiles."""

THROTTLE = mlir_gemm.Part(
    "throttled_epilogue",
    lambda schedule: schedule.mma == "wgmma" and schedule.block[0] * schedule.block[1] >= 128 * 256,
    lambda schedule, _: (
        []
        if schedule.throttle
        else [at("lower", "epilogue", step("throttle-epilogue", chains=4, consumers=2 if schedule.ping_pong else 1))]
    ),
)
"""An epilogue that has few numbers in flight at a time, with large tiles, whatever the schedule says."""


def shallow(problem: Problem, target: Target, pinned: Mapping[str, Any]) -> Schedule | None:
    """Two stages for products of few k steps; the model decides the rest, and all other products."""
    if problem.k > 128 or "stages" in pinned or problem.dynamic:
        return None
    try:
        return select(problem, target, {**pinned, "stages": 2}).schedule
    except mlir_gemm.Error:  # no legal schedule has two stages
        return None


SELECTOR = mlir_gemm.Selector("shallow", shallow)


FINE = mlir_gemm.ElementType("f8E3M4", "float8_e3m4", "float", bytes=1, dlpack=7, tensor_map="UINT8", error=1.6e-2)
"""An 8-bit float with 4 bits of mantissa, up to 15.5."""


def register_all() -> None:
    """What the entry point names."""
    for each in (COUNT, THROTTLE, SELECTOR, FINE):
        mlir_gemm.register(each)
