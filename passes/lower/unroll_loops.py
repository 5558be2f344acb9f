"""unroll-loops: loops of one level are unrolled completely.

Expects scf.for loops labelled `tile.loop = LEVEL` with constant bounds. Leaves their bodies, one after another, with
the induction variable a constant; inner loops first. Refuses a labelled loop whose bounds are not constant,
and one of more than 4096 iterations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.affine import level_of
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.clone import clone
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.walk import body, in_block, named
from mlir_gemm.passes.base import Pass

MOST = 4096
"""Iterations that are unrolled: those over k in a tile are 128 at most."""


@dataclass(frozen=True)
class UnrollLoops(Pass):
    """Unroll all loops of a level."""

    name: ClassVar[str] = "unroll-loops"
    level: str = "warp_k"
    """The loops to unroll: those whose `tile.loop` is this."""

    def run(self, module: Any) -> None:
        for loop in reversed(named(module, "scf.for")):  # unrolling an outer loop would clone, then erase, inner ones
            if level_of(loop) == self.level:
                _unroll(loop)


def _unroll(loop: Any) -> None:
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
    carried = list(loop.operation.operands)[3:]
    *inside, terminator = in_block(body(loop))
    with ir.InsertionPoint(loop), loop.location:
        for i in range(lower, upper, step):
            iteration = dialect("arith").ConstantOp(body(loop).arguments[0].type, i).result
            values = dict(zip(body(loop).arguments, [iteration, *carried], strict=True))
            for operation in inside:
                clone(operation, values)
            carried = [values.get(value, value) for value in terminator.operation.operands]
    for old, new in zip(list(loop.operation.results), carried, strict=True):
        old.replace_all_uses_with(new)
    loop.operation.erase()
