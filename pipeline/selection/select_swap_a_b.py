"""select-swap-a-b: A and B change places where the user or the model wants that.

Expects a module as `import` leaves it, with what the user has fixed in `tile.schedule`. Runs `swap-a-b` on the kernel
of each product whose transpose is predicted to take less time, says so in its `tile.note`, and fixes `swap_ab`; with
`batch_invariant`, also the fields that follow from the product as it was. Raises ScheduleError where `swap_ab` is
fixed and the sides cannot change places.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.outlining import kernel_modules
from mlir_gemm.passes.base import Pass
from mlir_gemm.passes.select.swap_a_b import SwapAB, cannot_swap
from mlir_gemm.pipeline.undecided import Undecided, undecided
from mlir_gemm.spec.problem import Problem
from mlir_gemm.tile_model.dividing import divided_fields
from mlir_gemm.tile_model.invariance import invariant
from mlir_gemm.tile_model.swap import FEWEST_ROWS, check_exchange, should_swap


@dataclass(frozen=True)
class SelectSwapAB(Pass):
    """Swap A and B where that is predicted to pay."""

    name: ClassVar[str] = "select-swap-a-b"

    def run(self, module: Any) -> None:
        for kernel in undecided(module):
            with kernel.errors():
                _decide(kernel)


def _decide(kernel: Undecided) -> None:
    given = kernel.pinned()
    pinned = {**divided_fields(kernel.divided), **given}
    problem = kernel.problem()
    pinned = invariant(problem, kernel.target, pinned)
    if should_swap(problem, kernel.target, pinned) and _can_swap(kernel, pinned):
        SwapAB().run(kernel.module)
        kernel_modules.add_note(
            kernel.module,
            f"A and B have changed places: the product is {problem}, and is computed as its transpose, "
            f"{_sizes(kernel.problem())}, {_reason(problem, 'swap_ab' in pinned)}",
        )
        pinned["swap_ab"] = True
    if pinned != given:
        kernel.pin(pinned)


def _can_swap(kernel: Undecided, pinned: Mapping[str, Any]) -> bool:
    why = cannot_swap(kernel.function)
    check_exchange(pinned, why)
    return not why


def _reason(problem: Problem, asked: bool) -> str:
    """Why the sides of a product changed places."""
    if asked:
        return "as the schedule says"
    if problem.m < FEWEST_ROWS:
        return "because wgmma has tiles of few columns but none of few rows"
    return "because there are better tiles for it"


def _sizes(problem: Problem) -> str:
    return f"{problem.m}x{problem.n}x{problem.k}"
