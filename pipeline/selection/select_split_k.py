"""select-split-k: the k of a product is multiplied in parts, side by side, where the user or the model wants that.

Expects a module as `import` leaves it, with what the user has fixed in `tile.schedule`. Asks the model for each product
whose sizes are constants, and runs `split-k-in-workspace` with the number of parts that it says. Raises ScheduleError
where `divide` is fixed and the product cannot be divided.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.outlining import padding
from mlir_gemm.errors import Error
from mlir_gemm.passes.base import Pass
from mlir_gemm.passes.select.split_k_in_workspace import SplitKInWorkspace, cannot_divide
from mlir_gemm.pipeline.dynamic_problem import symbols_in
from mlir_gemm.pipeline.selection.undecided import Undecided, undecided
from mlir_gemm.spec.attributes import DIVIDED
from mlir_gemm.tile_model.dividing import check_division, divide_advice
from mlir_gemm.tile_model.long_sums import is_long


@dataclass(frozen=True)
class SelectSplitK(Pass):
    """Multiply parts of k side by side where that is predicted to pay."""

    name: ClassVar[str] = "select-split-k"

    def run(self, module: Any) -> None:
        for step, fields in [_divide(kernel) for kernel in undecided(module)]:
            if step is not None:
                step.run(module)
                _pin(module, step, fields)


def _pin(module: Any, step: SplitKInWorkspace, fields: dict[str, Any]) -> None:
    """Writes the fields that go with a division on the product of the parts, below what is fixed."""
    for kernel in undecided(module) if fields else ():
        if kernel.divided == step.parts and kernel.problem().k == step.depth:
            kernel.pin({**fields, **kernel.pinned()})


def _divide(kernel: Undecided) -> tuple[SplitKInWorkspace | None, dict[str, Any]]:
    """How a product is divided, if it is, and the fields that go with that."""
    function, fields = kernel.function, dict[str, Any]()
    if DIVIDED in function.attributes:
        return None, fields
    try:
        pinned = kernel.pinned()
        parts, depth, by_warps = pinned.get("split_k_workspace", 1), 0, False
        if parts == 1 and not symbols_in(function) and not cannot_divide(function, 1):
            problem = kernel.problem()
            division = divide_advice(problem, kernel.target, pinned)
            if is_long(problem) or not padding.has_padding(function):
                parts, depth, by_warps = division.parts, division.depth, division.by_warps
                fields = dict(division.fields)
        why = cannot_divide(function, parts, depth) if parts > 1 else ""
    except Error:  # select-schedule will say what is wrong with the kernel as it is
        return None, {}
    with kernel.errors():
        check_division(pinned, why)
    if why or parts == 1:
        return None, {}
    return SplitKInWorkspace(kernel=kernel.name, parts=parts, depth=depth, by_warps=by_warps), fields
