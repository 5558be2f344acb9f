"""select-side-by-side: products of the same A are launched at once where the model predicts that to be faster.

Expects a module as `select-joins` leaves it, with what the user has fixed in `tile.schedule`. Asks the model of kernels
that multiply the same A, of which none waits for another, by matrices that may be of other widths, such as queries,
keys and values of grouped heads: whether one launch, in which the blocks of the one come after those of the other,
takes less time than one launch after another, each with its best tiles. Where it does, fixes the tiles that all have
then, and marks the kernels (`tile.launch_with`), of which `join-launches` makes one, with a branch for each; what
follows each product may differ. `tile.note` says what both are predicted to take, either way. At most `most` are
launched at once.

Sizes that are known at run time only are taken as if nobody had said anything of them, so that a module has the same
launches for all of them; the tiles are those for the sizes that are typical.

Left alone are kernels with operands that are better laid out or computed first, whose schedules were found by
measuring, or are fixed in different ways, with `batch_invariant=on`, and programs for other back ends than NVIDIA's. A
second run changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from mlir_gemm.dialect.linalg.products import the_product
from mlir_gemm.dialect.outlining import kernel_modules, programs, side_by_side
from mlir_gemm.dialect.outlining.side_by_side import Launches
from mlir_gemm.dialect.walk import body
from mlir_gemm.errors import Error
from mlir_gemm.parts.wording import shown_time
from mlir_gemm.passes.base import Pass
from mlir_gemm.pipeline.dynamic_problem import Variant
from mlir_gemm.pipeline.program import note_of
from mlir_gemm.pipeline.selection.select_joins import AFTER, TUNED
from mlir_gemm.pipeline.selection.select_rewrite import is_divisible, refused
from mlir_gemm.pipeline.undecided import Undecided, undecided
from mlir_gemm.spec.attributes import LAUNCH_WITH, SPLIT_K_WORKSPACE
from mlir_gemm.spec.backends import NVPTX
from mlir_gemm.spec.problem import Problem
from mlir_gemm.tile_model.decisions import Decisions, decide
from mlir_gemm.tile_model.select import is_less
from mlir_gemm.tile_model.side_by_side import go_together, together

WORTH = 0.995
"""Part of the time of products one after another within which one launch must be. What was predicted to take 0.46 to
0.55 of it took 0.66 to 0.73, and 0.92, 0.94 and 0.99 of it 0.92, 0.98 and 0.99 (H200, six cases of `check_joins.py`;
`2026-11-28-h200-side-by-side.json.xz`): large products have the same tiles either way, so that nothing is lost."""


@dataclass(frozen=True)
class _Member:
    """A product that others may be launched with."""

    kernel: Undecided
    problem: Problem
    """What it computes, for whichever sizes it is compiled."""
    typical: Problem
    """The same for the sizes that are typical of this compilation."""
    a: Any
    """The buffer of A."""


@dataclass(frozen=True)
class SelectSideBySide(Pass):
    """Launch products of one A at once where that is predicted to pay."""

    name: ClassVar[str] = "select-side-by-side"
    most: int = 4
    """Kernels in a launch."""

    def run(self, module: Any) -> None:
        modules = programs.kernel_modules(module)
        runs = programs.runs_of(programs.function_of(module)) if modules else []
        functions = {name: programs.function_of(each) for name, each in modules.items()}
        names = [programs.kernel_of(run) for run in runs]
        if len(runs) < 2 or len(set(names)) < len(names) or not all(side_by_side.fits(run, functions) for run in runs):
            return
        launches = Launches.of(runs, modules)
        for group in _groups(module, runs):
            while len(group) > 1:
                taken = self._take_first(group, launches)
                group = [each for each in group if each.kernel.name not in taken]

    def _take_first(self, group: Sequence[_Member], launches: Launches) -> Sequence[str]:
        """Launches the first of a group with others, if that pays; the names of those of which no more is asked."""
        found: list[tuple[float, float, Sequence[_Member]]] = []
        for members in _combinations(group, self.most):
            names = [each.kernel.name for each in members]
            trial = launches.with_one_of(names)
            whole = _together(members) if trial is not None else None
            if trial is None or whole is None:
                continue
            fields, at_once, apart = whole
            if is_less(at_once, WORTH * apart):
                launches.all = trial.all
                for member, pins in zip(members, fields, strict=True):
                    member.kernel.pin(pins)
                    side_by_side.mark(member.kernel.function, names[0], 0)
                note = f"launched at once with {', '.join(names[1:])}: predicted to take {shown_time(at_once)}, one "
                _note(members[0], f"{note}after another {shown_time(apart)}")
                return names
            found.append((at_once, apart, members))
        if found:
            at_once, apart, members = min(found, key=lambda each: each[0] / each[1])
            others = ", ".join(each.kernel.name for each in members[1:])
            _note(members[0], f"not launched at once with {others}, which would take {shown_time(at_once)}, one after "
                  f"another {shown_time(apart)}")  # fmt: skip
        return [group[0].kernel.name]


def _note(member: _Member, text: str) -> None:
    if text not in note_of(member.kernel.module):  # from a run before
        kernel_modules.add_note(member.kernel.module, text)


def _groups(module: Any, runs: Sequence[Any]) -> list[list[_Member]]:
    """Products of the same A that tiles of one suit, in the order in which they run."""
    kernels = {each.name: each for each in undecided(module)}
    found: list[list[_Member]] = []
    for run in runs:
        kernel = kernels.get(programs.kernel_of(run))
        member = _member(kernel, run) if kernel is not None else None
        if member is None:
            continue
        for group in found:
            if group[0].a == member.a and go_together([group[0].problem, member.problem]):
                group.append(member)
                break
        else:
            found.append([member])
    return found


def _member(kernel: Undecided, run: Any) -> _Member | None:
    attributes = kernel.function.attributes
    if kernel.target.backend != NVPTX or note_of(kernel.module).startswith(TUNED) or SPLIT_K_WORKSPACE in attributes:
        return None
    if LAUNCH_WITH in attributes or kernel.pinned().get("batch_invariant"):
        return None
    try:
        product, typical = the_product(kernel.function), kernel.problem()
        problem = Variant().problem_of(kernel.function)
    except Error:  # its own choice will say so
        return None
    if not product.a.operands:
        return None
    a = product.generic.inputs[product.a.operands[0]]
    arguments = list(body(kernel.function).arguments)
    return _Member(kernel, problem, typical, programs.buffers_of(run)[arguments.index(a)]) if a in arguments else None


def _combinations(group: Sequence[_Member], most: int) -> list[Sequence[_Member]]:
    """The first of a group with others: as many as allowed, then each of them alone."""
    pairs: list[Sequence[_Member]] = [[group[0], other] for other in group[1:most]]
    return [group[:most], *pairs] if len(group) > 2 else pairs


def _together(members: Sequence[_Member]) -> tuple[Sequence[Mapping[str, Any]], float, float] | None:
    """The fields of all where they are launched at once, and what they take then, and one after another, in seconds;
    None where they cannot be."""
    first = members[0].kernel
    pinned = first.pinned()
    if any(each.kernel.pinned() != pinned for each in members):
        return None
    try:
        whole = together([each.problem for each in members], first.target, pinned)
        if whole is None:
            return None
        for member, fields in zip(members, whole.pinned, strict=True):
            if {*_decided(member, fields).rewrites} != ({"swap_ab"} if fields["swap_ab"] else set()):
                return None
        apart = [_decided(each, pinned) for each in members]
        typical = together([each.typical for each in members], first.target, pinned) or whole
    except Error:  # no tiles suit all, or the program does not allow what goes with them
        return None
    seconds = sum(each.choice.cost.on_gpu + sum(one.seconds for one in each.rewrites.values()) for each in apart)
    return typical.pinned, whole.seconds, seconds + AFTER * (len(members) - 1)


def _decided(member: _Member, pinned: Mapping[str, Any]) -> Decisions:
    """What is decided of a product with fields that are fixed."""
    function, target = member.kernel.function, member.kernel.target
    return decide(member.problem, target, pinned, partial(refused, function), is_divisible(function))
