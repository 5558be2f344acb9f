"""select-relayout: operands are copied to where they are read faster, where the model finds that this pays.

Expects a module as `import` leaves it, with what the user has fixed in `tile.schedule`. Asks the model for each product
whose sizes are constants, and runs `pad-operands` with what it says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.errors import Error
from mlir_gemm.passes.base import Pass
from mlir_gemm.passes.select.pad_operands import PadOperands
from mlir_gemm.passes.select.split_k_in_workspace import cannot_divide
from mlir_gemm.pipeline.dynamic_problem import symbols_in
from mlir_gemm.pipeline.undecided import Undecided, undecided
from mlir_gemm.tile_model.dividing import typical_part
from mlir_gemm.tile_model.invariance import invariant
from mlir_gemm.tile_model.relayout import relaid, relayout_advice
from mlir_gemm.tile_model.select import select


@dataclass(frozen=True)
class SelectRelayout(Pass):
    """Copy operands to aligned rows where that is predicted to pay."""

    name: ClassVar[str] = "select-relayout"

    def run(self, module: Any) -> None:
        for step in [_relayout(kernel) for kernel in undecided(module)]:
            if step is not None:
                step.run(module)


def _relayout(kernel: Undecided) -> PadOperands | None:
    if symbols_in(kernel.function):
        return None
    try:
        pinned, problem = kernel.pinned(), kernel.problem()
        if not cannot_divide(kernel.function, 1):
            problem = typical_part(problem, kernel.target, pinned)
        pinned = invariant(problem, kernel.target, pinned)
        advice = relayout_advice(problem, kernel.target, pinned)
        if not advice:
            return None
        block = select(relaid(problem, advice), kernel.target, pinned).schedule.block
    except Error:  # select-schedule will say what is wrong with the kernel as it is
        return None
    return PadOperands(kernel=kernel.name, block=block, **advice)
