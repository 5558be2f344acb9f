"""select-split-k: the k of a product is multiplied in slices, side by side, where the user or the model wants that.

Expects a module as `import` leaves it, with what the user has fixed in `tile.schedule`. Asks the model for each product
whose sizes are constants, and runs `split-k-in-workspace` with the number of slices that it says. Raises ScheduleError
where `split_k_workspace` is fixed and the product cannot be divided.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.outlining import padding
from mlir_gemm.errors import Error
from mlir_gemm.passes.base import Pass
from mlir_gemm.passes.select.split_k_in_workspace import SplitKInWorkspace, cannot_divide
from mlir_gemm.pipeline.dynamic_problem import symbols_in
from mlir_gemm.pipeline.undecided import Undecided, undecided
from mlir_gemm.spec.attributes import SPLIT_K_WORKSPACE
from mlir_gemm.tile_model.dividing import check_division, divide_advice
from mlir_gemm.tile_model.long_sums import is_long


@dataclass(frozen=True)
class SelectSplitK(Pass):
    """Multiply slices of k side by side where that is predicted to pay."""

    name: ClassVar[str] = "select-split-k"

    def run(self, module: Any) -> None:
        for step in [_divide(kernel) for kernel in undecided(module)]:
            if step is not None:
                step.run(module)


def _divide(kernel: Undecided) -> SplitKInWorkspace | None:
    function = kernel.function
    if SPLIT_K_WORKSPACE in function.attributes:
        return None
    try:
        pinned = kernel.pinned()
        slices, depth = pinned.get("split_k_workspace", 1), 0
        if slices == 1 and not symbols_in(function) and not cannot_divide(function, 1):
            problem = kernel.problem()
            division = divide_advice(problem, kernel.target, pinned)
            if is_long(problem) or not padding.has_padding(function):
                slices, depth = division.parts, division.depth
        why = cannot_divide(function, slices, depth) if slices > 1 else ""
    except Error:  # select-schedule will say what is wrong with the kernel as it is
        return None
    with kernel.errors():
        check_division(pinned, why)
    return None if why or slices == 1 else SplitKInWorkspace(kernel=kernel.name, slices=slices, depth=depth)
