"""open-steps: a loop over k walks as many steps as its tile needs, from the first of them on.

Expects k loops of a known number of steps, from 0, which fill shared memory or registers by tile.copy and tile.load.
Leaves them counting from 0 to a number that tile.step_range gives, and all that depended on the step depending on the
sum of it and the first one. So whatever pipelines them afterwards need not know where a tile begins; `bound-steps`
says it, once tiles are parallel. Accesses along k are no longer known to be in bounds, as copies are made ahead.
Refuses loops whose numbers of steps are not known. A second run changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import affine, tile
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.walk import body, in_block, named, parents
from mlir_gemm.dialect.walked_steps import NAME, step_range
from mlir_gemm.passes.base import Pass


@dataclass(frozen=True)
class OpenSteps(Pass):
    """Let k loops begin and end where their tiles do."""

    name: ClassVar[str] = "open-steps"

    def run(self, module: Any) -> None:
        if named(module, NAME):
            return
        for loop in named(module, "affine.for"):
            if affine.level_of(loop) == "k":
                _open(loop)


def _open(loop: Any) -> None:
    steps = affine.bound_of(loop)
    if not isinstance(steps, int) or steps < 1:
        raise pass_error(loop, "a k loop that does not count from 0 in steps of 1 to a known number of at least 1")
    old = loop.operation
    inits = list(old.operands)[len(old.operands) - len(old.results) :]
    for op in (each.operation for each in in_block(body(loop))):
        if op.name in ("tile.copy", "tile.load"):
            _guard(op, affine.induction_variable(loop))
    function = next(each.operation for each in parents(loop) if each.operation.name == "func.func")
    with ir.InsertionPoint.at_block_begin(body(function)), old.location:
        first, count = step_range(steps)
    with ir.InsertionPoint(old), old.location:
        new = affine.make_for(count, "k", inits)
        with ir.InsertionPoint(body(new)):
            step = affine.linear([(1, body(new).arguments[0]), (1, first)])
    for op in in_block(body(loop)):
        body(new).append(op)
    body(loop).arguments[0].replace_all_uses_with(step)
    for before, after in zip(list(body(loop).arguments)[1:], list(body(new).arguments)[1:], strict=True):
        before.replace_all_uses_with(after)
    for before, after in zip(list(old.results), list(new.operation.results), strict=True):
        before.replace_all_uses_with(after)
    old.erase()


def _guard(op: Any, step: Any) -> None:
    """Says of an access that nothing is known of its ends along k."""
    place = tile.place_of(op)
    known = [inside and not affine.linear_of(offset).coefficient(step)
             for offset, inside in zip(place.offsets, place.in_bounds, strict=True)]  # fmt: skip
    if known != list(place.in_bounds):
        op.attributes[tile.IN_BOUNDS] = ir.DenseBoolArrayAttr.get(known)
