"""select-split-rows: few long rows are reduced in parts, side by side, where the model finds that this pays.

Expects a module as `import` leaves it. Asks the model for each kernel of rows of constant sizes, and runs
`split-rows-in-workspace` with what it says. A second run changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.passes.base import Pass
from mlir_gemm.passes.select.split_rows_in_workspace import SplitRowsInWorkspace, cannot_split
from mlir_gemm.pipeline.dynamic_problem import symbols_in
from mlir_gemm.pipeline.program import kind_of
from mlir_gemm.pipeline.row_problem import row_problem_of
from mlir_gemm.pipeline.undecided import Undecided, kernels_before_select
from mlir_gemm.spec.attributes import ROWS as WRITTEN
from mlir_gemm.spec.attributes import SPLIT_K_WORKSPACE
from mlir_gemm.spec.kernel_record import ROWS
from mlir_gemm.tile_model.row_parts import parts_of_rows


@dataclass(frozen=True)
class SelectSplitRows(Pass):
    """Reduce parts of rows side by side where that is predicted to pay."""

    name: ClassVar[str] = "select-split-rows"

    def run(self, module: Any) -> None:
        for step in [_split(kernel) for kernel in kernels_before_select(module)]:
            if step is not None:
                step.run(module)


def _split(kernel: Undecided) -> SplitRowsInWorkspace | None:
    function = kernel.function
    attributes = function.attributes
    if kind_of(function) != ROWS or SPLIT_K_WORKSPACE in attributes or WRITTEN in attributes or symbols_in(function):
        return None
    parts, depth = parts_of_rows(row_problem_of(function, {}), kernel.target)
    if parts < 2 or cannot_split(function, parts, depth):
        return None
    return SplitRowsInWorkspace(kernel=kernel.name, parts=parts, depth=depth)
