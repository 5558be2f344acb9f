"""sink-init: an accumulator that starts from something computed starts from zero, and that is added at the end.

Expects a k loop that carries an accumulator. When its start is neither a constant nor a plain tile.load of the
accumulator's own type (say, an f16 tile extended to f32), mmas with opaque fragments cannot make it in registers.
Leaves the loop starting from zero and an arith.addf after it. The sum is the same up to the order of additions. A loop
that does anything to what it carries but tile.mma is left alone. A second run changes nothing. With `loads` every start
but a constant is added at the end, a plain tile.load too, and one of integers: for mmas whose fragments cannot be
loaded where a tile may reach over the edge.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import affine, constants, tile
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.walk import body, in_block, named, users
from mlir_gemm.passes.base import Pass


@dataclass(frozen=True)
class SinkInit(Pass):
    """Add computed accumulator starts after the k loop."""

    name: ClassVar[str] = "sink-init"
    loads: bool = False
    """Whether what is loaded is added at the end too, and integers are."""

    def run(self, module: Any) -> None:
        for loop in named(module, "affine.for"):
            if affine.level_of(loop) == "k" and len(loop.results) == 1 and _only_adds(loop, self.loads):
                _sink(loop, self.loads)


def _only_adds(loop: Any, integers: bool) -> bool:
    """Whether a loop yields what it carries, taken through nothing but tile.mma, and uses it for nothing else."""
    value = in_block(body(loop))[-1].operands[0]
    while value != body(loop).arguments[1]:
        if getattr(value.owner, "name", "") != "tile.mma" or len(users(value)) != 1 or tile.algebra_of(value.owner):
            return False
        value = value.owner.operands[2]
    return len(users(value)) == 1 and (integers or _is_float(value))


def _is_float(value: Any) -> bool:
    return isinstance(ir.VectorType(value.type).element_type, ir.FloatType)


def _sink(loop: Any, loads: bool) -> None:
    position = len(loop.operation.operands) - 1
    init = loop.operation.operands[position]
    if getattr(init.owner, "name", "") in ("arith.constant", *(() if loads else ("tile.load",))):
        return
    add = dialect("arith").AddFOp if _is_float(init) else dialect("arith").AddIOp
    with loop.location:
        with ir.InsertionPoint(loop):
            loop.operation.operands[position] = constants.zero(init.type)
        with ir.InsertionPoint.after(loop):
            total = add(loop.results[0], init)
    loop.results[0].replace_all_uses_except(total.result, [total.operation])
