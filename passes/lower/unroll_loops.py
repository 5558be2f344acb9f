"""unroll-loops: loops of one level are unrolled, completely or by a factor.

Expects scf.for loops labelled `tile.loop = LEVEL` with constant bounds. Leaves their bodies, one after another, with
the induction variable a constant; inner loops first. With `by` there is a loop with so many bodies in each iteration,
without the label, so that a second run changes nothing; `by` of all iterations leaves no loop. Refuses a labelled loop
whose bounds are not constant, one of more than 4096 iterations, and a number of them that `by` does not divide.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.affine import level_of
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.clone import clone
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.walk import body, in_block, named
from mlir_gemm.errors import PassError
from mlir_gemm.passes.base import Pass

MOST = 4096
"""Iterations that are unrolled: those over k in a tile are 128 at most."""


@dataclass(frozen=True)
class UnrollLoops(Pass):
    """Unroll all loops of a level."""

    name: ClassVar[str] = "unroll-loops"
    level: str = "warp_k"
    """The loops to unroll: those whose `tile.loop` is this."""
    by: int = 0
    """Iterations that become one; 0 for all."""

    def run(self, module: Any) -> None:
        if self.by < 0:
            raise PassError(f"pass '{self}': expected by=0, for all iterations, or at least 1")
        for loop in reversed(named(module, "scf.for")):  # unrolling an outer loop would clone, then erase, inner ones
            if level_of(loop) == self.level:
                _unroll(loop, self.by)


def _unroll(loop: Any, by: int) -> None:
    bounds = [constants.integer_of(value) for value in list(loop.operation.operands)[:3]]
    if None in bounds:
        raise pass_error(loop, "a loop whose bounds are not constant cannot be unrolled")
    lower, upper, step = (bound or 0 for bound in bounds)
    if step < 1:
        raise pass_error(loop, f"a loop in steps of {step} cannot be unrolled; expected at least 1")
    if len(range(lower, upper, step)) > MOST:
        raise pass_error(
            loop, f"a loop from {lower} to {upper} in steps of {step} is too long; at most {MOST} are unrolled"
        )
    count = len(range(lower, upper, step))
    if by and count % by:
        raise pass_error(loop, f"a loop of {count} iterations is not unrolled by {by}; expected a divisor of {count}")
    carried = list(loop.operation.operands)[3:]
    with ir.InsertionPoint(loop), loop.location:
        if not by or by == count:
            carried = _repeated(loop, (_constant(loop, i) for i in range(lower, upper, step)), carried)
        else:
            bounds = [*list(loop.operation.operands)[:2], _constant(loop, step * by)]
            shorter = dialect("scf").ForOp(*bounds, carried)
            with ir.InsertionPoint(shorter.body):
                first = shorter.induction_variable
                each = [
                    first,
                    *(dialect("arith").AddIOp(first, _constant(loop, step * n)).result for n in range(1, by)),
                ]
                dialect("scf").YieldOp(_repeated(loop, each, list(shorter.body.arguments)[1:]))
            carried = list(shorter.results)
    for old, new in zip(list(loop.operation.results), carried, strict=True):
        old.replace_all_uses_with(new)
    loop.operation.erase()


def _constant(loop: Any, number: int) -> Any:
    return dialect("arith").ConstantOp(body(loop).arguments[0].type, number).result


def _repeated(loop: Any, iterations: Iterable[Any], carried: list[Any]) -> list[Any]:
    """The loop's body at the insertion point, once for each value of its variable; what is carried after them."""
    *inside, terminator = in_block(body(loop))
    for iteration in iterations:
        values = dict(zip(body(loop).arguments, [iteration, *carried], strict=True))
        for operation in inside:
            clone(operation, values)
        carried = [values.get(value, value) for value in terminator.operation.operands]
    return carried
