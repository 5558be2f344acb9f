"""select-joins: products of the same A become one kernel where the model predicts that to be faster.

Expects a module as `import` leaves it, with what the user has fixed in `tile.schedule`. Asks the model of kernels that
`join-products` can join, up to `most` at once, whether one kernel takes less time than all of them one after another:
it loads A once, has more and larger tiles, and does not write what only its own epilogue reads; but its tiles are
shared by the matrices. Runs `join-products` where it does; where a matrix that would be written and read again stays
in registers, it may be predicted to take a little longer. Either way `tile.note` says what both are predicted to take.
Products of few rows, whose tiles are better those of the transposed product, may take much less time if they are
launched at once: those are left to `select-side-by-side`.
Sizes that are known at run time only are taken as if nobody had said anything of them, so that a module has the same
kernels for all of them. Kernels whose schedules were found by measuring, or are fixed in different ways, stay apart,
and so do all with `batch_invariant=on`, since the choice would follow the number of rows. A second run changes
nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any, ClassVar, NamedTuple

from mlir_gemm.dialect.outlining import joined_products, kernel_modules, programs
from mlir_gemm.dialect.outlining.joined_products import Member
from mlir_gemm.errors import Error
from mlir_gemm.parts.wording import shown_time
from mlir_gemm.passes.base import Pass
from mlir_gemm.passes.select.join_products import JoinProducts
from mlir_gemm.pipeline.dynamic_problem import Variant
from mlir_gemm.pipeline.program import note_of
from mlir_gemm.pipeline.selection.select_rewrite import is_divisible, refused
from mlir_gemm.pipeline.undecided import Undecided, undecided
from mlir_gemm.spec.backends import NVPTX
from mlir_gemm.spec.problem import Problem
from mlir_gemm.tile_model.decisions import decide
from mlir_gemm.tile_model.select import is_less, select
from mlir_gemm.tile_model.side_by_side import together

WORTH = 0.97
"""Part of the time of products one after another within which one kernel must be: predictions are off by as much."""
KEPT = 1.1
"""The same where what one of them writes only another one reads: that costs more than predicted. Seven gated products
of 64 to 4096 rows took 0.59 to 0.93 of the time as one kernel on an H100, predicted 0.65 to 1.09, and six without a
gate 0.54 to 1.02, predicted 0.50 to 1.02 (`2026-11-28-h100-joins.json.xz`)."""
AT_ONCE = 0.8
"""Part of the time of one kernel within which products that are launched at once must be, for them to stay apart."""
TUNED = "tuned for"
"""How the note on a kernel begins whose schedule was found by measuring."""
AFTER = 1e-6
"""Seconds of each kernel after the first, whose start overlaps the end of the one before it."""


@dataclass(frozen=True)
class SelectJoins(Pass):
    """Multiply one A by several matrices in one kernel where that is predicted to pay."""

    name: ClassVar[str] = "select-joins"
    most: int = 3
    """Kernels in one."""

    def run(self, module: Any) -> None:
        for group in joined_products.groups_of(module):
            left = [each.name for each in group]
            while len(left) > 1:
                taken = self._join_first(module, left)
                left = [name for name in left if name not in taken]

    def _join_first(self, module: Any, names: Sequence[str]) -> Sequence[str]:
        """Joins the first of some kernels with others, if that pays; those of which no more is to be asked."""
        kernels = {each.name: each for each in undecided(module)}
        members = {each.name: each for group in joined_products.groups_of(module) for each in group}
        known = [name for name in names if name in kernels and name in members]
        apart: list[tuple[_Times, str]] = []
        for wanted in _combinations(known, self.most):
            chosen = [members[name] for name in wanted]
            if not joined_products.why_apart(module, chosen):
                worth = KEPT if joined_products.inner_buffers(module, chosen) else WORTH
                times = _times(module, [kernels[name] for name in wanted])
                if times is None or _is_faster_at_once(chosen, [kernels[name] for name in wanted], times.together):
                    continue
                if is_less(times.together, worth * times.apart):
                    JoinProducts(kernels=",".join(wanted)).run(module)
                    note = f"it is predicted to take {times}"
                    kernel_modules.add_note(programs.kernel_modules(module)[wanted[0]], note)
                    return wanted
                apart.append((times, f"not one kernel with {', '.join(wanted[1:])}, which would take {times}"))
        if apart:
            _, note = min(apart, key=lambda each: each[0].together / each[0].apart)
            inner = programs.kernel_modules(module)[known[0]]
            if note not in note_of(inner):  # from a run before
                kernel_modules.add_note(inner, note)
        return names[:1]


def _combinations(names: Sequence[str], most: int) -> Iterator[Sequence[str]]:
    """The first of some names with others: as many as allowed, then each of them alone."""
    if len(names) > 2:
        yield names[:most]
    for other in names[1 : most + 1]:
        yield [names[0], other]


class _Times(NamedTuple):
    """What kernels are predicted to take as one, and one after another, in seconds."""

    together: float
    apart: float

    def __str__(self) -> str:
        return f"{shown_time(self.together)}, a kernel for each {shown_time(self.apart)}"


def _times(module: Any, kernels: Sequence[Undecided]) -> _Times | None:
    """What one kernel and all one after another are predicted to take; None where they stay apart in any case."""
    pinned, target = kernels[0].pinned(), kernels[0].target
    tuned = any(note_of(each.module).startswith(TUNED) for each in kernels)
    apart_by_wish = tuned or pinned.get("batch_invariant") or any(each.pinned() != pinned for each in kernels)
    if target.backend != NVPTX or apart_by_wish:
        return None
    names = [each.name for each in kernels]
    trial = module.operation.clone()
    JoinProducts(kernels=",".join(names)).run(trial)
    together = next(each for each in undecided(trial) if each.name == names[0])
    try:
        seconds = select(_problem(together), target, pinned).cost.on_gpu
        return _Times(seconds, sum(map(_seconds, kernels)) + AFTER * (len(kernels) - 1))
    except Error:  # no schedule for one kernel; or for one of them alone, of which its own choice will say so
        return None


def _is_faster_at_once(members: Sequence[Member], kernels: Sequence[Undecided], seconds: float) -> bool:
    """Whether products, none of which waits for another, take much less time than in one kernel if launched at once."""
    if any(one.uses.waits(other.uses) for one, other in combinations(members, 2)):
        return False
    try:
        found = together([_problem(each) for each in kernels], kernels[0].target, kernels[0].pinned())
    except Error:
        return False
    return found is not None and is_less(found.seconds, AT_ONCE * seconds)


def _seconds(kernel: Undecided) -> float:
    """What a product of its own is predicted to take, with what is done to it first."""
    function = kernel.function
    problem, pinned, refuses = _problem(kernel), kernel.pinned(), partial(refused, function)
    found = decide(problem, kernel.target, pinned, refuses, is_divisible(function))
    return found.choice.cost.on_gpu + sum(each.seconds for each in found.rewrites.values())


def _problem(kernel: Undecided) -> Problem:
    """What a kernel computes, for whichever sizes it is compiled."""
    return Variant().problem_of(kernel.function)
