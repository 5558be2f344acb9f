"""select-rewrite: a product is computed in another way where the user or the model wants that.

Expects a module as `import` leaves it, with what the user has fixed in `tile.schedule`. Asks the model for each product
what one of the rewrites of `tile_model/decisions.py` offers: `components`, `materialize`, `relayout`,
`split_k_workspace` or `swap_ab`. Runs the pass of the rewrite that is offered, says so in the kernel's `tile.note`, and
fixes the schedule fields that go with it. Raises ScheduleError where the user has fixed what the program does not
allow.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from mlir_gemm.dialect.outlining import kernel_modules, padding
from mlir_gemm.errors import PassError
from mlir_gemm.passes.base import Pass, Rewrite
from mlir_gemm.passes.select.split_k_in_workspace import SplitKInWorkspace
from mlir_gemm.pipeline.registry import pass_of
from mlir_gemm.pipeline.undecided import Undecided, undecided
from mlir_gemm.spec.passes import PassSpec
from mlir_gemm.tile_model.decisions import REWRITES
from mlir_gemm.tile_model.dividing import divided_fields
from mlir_gemm.tile_model.invariance import invariant
from mlir_gemm.tile_model.rewriting import Alternative, Case


@dataclass(frozen=True)
class SelectRewrite(Pass):
    """Compute products in another way where that is predicted to pay."""

    name: ClassVar[str] = "select-rewrite"
    rewrite: str = ""
    """`components`, `materialize`, `relayout`, `split_k_workspace` or `swap_ab`."""

    def run(self, module: Any) -> None:
        if self.rewrite not in REWRITES:
            *most, last = REWRITES
            raise PassError(f"pass '{self}': expected rewrite={', '.join(most)} or {last}")
        found = [(kernel, self._offer(kernel)) for kernel in undecided(module)]  # first all: a pass adds kernels
        for kernel, offer in found:
            if offer is not None:
                dataclasses.replace(_rewrite(offer.step), kernel=kernel.name).run(module)
                _bring(module, offer)
                if offer.note:
                    kernel_modules.add_note(kernel.module, offer.note)

    def _offer(self, kernel: Undecided) -> Alternative | None:
        """What is to be done to a kernel's product, if anything; fixes the fields that go with it."""
        with kernel.errors():
            problem, given, function = kernel.problem(), kernel.pinned(), kernel.function
            pinned = invariant(problem, kernel.target, {**divided_fields(kernel.divided), **given})
            divisible, relaid = is_divisible(function), padding.has_padding(function)
            case = Case(problem, kernel.target, pinned, divisible, relaid, kernel.divided)
            found = None if problem.sparse and self.rewrite != "swap_ab" else REWRITES[self.rewrite](case)
            if found is not None and found.refused(partial(refused, function)):
                found = None
            fixed = _fixed_before(found) if found is not None else pinned
            if fixed != given:
                kernel.pin(fixed)
            return found


def _fixed_before(offer: Alternative) -> dict[str, Any]:
    """The fields that are fixed on a kernel before the pass runs, which all kernels keep that come of it."""
    return {name: value for name, value in offer.case.pinned.items() if name not in offer.brings}


def _bring(module: Any, offer: Alternative) -> None:
    """Writes the fields that go with a rewrite on the product that has come of it, below what is fixed."""
    for kernel in undecided(module) if offer.brings else ():
        found, wanted = kernel.problem(), offer.case.problem
        if kernel.divided == offer.case.slices and (found.batch, found.k) == (wanted.batch, wanted.k):
            kernel.pin({**offer.brings, **kernel.pinned()})


def refused(function: Any, step: PassSpec) -> str:
    """Why the pass of a rewrite does not take the product of a kernel's function; empty where it does."""
    return _rewrite(step).refuses(function)


def is_divisible(function: Any) -> bool:
    """Whether the k of the product of a kernel's function can be multiplied in slices."""
    return not SplitKInWorkspace(slices=1).refuses(function)


def _rewrite(step: PassSpec) -> Rewrite:
    made = pass_of(step)
    assert isinstance(made, Rewrite)
    return made
