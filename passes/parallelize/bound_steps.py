"""bound-steps: of a triangular operand only the steps of k are walked in which it is not all zero.

Expects an scf.parallel over (batch ..., tile rows, tile columns) in a function that says `tile.zeros`, with one
tile.warp_specialize: a loop over all k steps that fills a ring, and one that multiplies what is in it, which may be
shorter by steps that stand before it. Leaves both with bounds that depend on the tile: where A is zero for `k>m` they
end with the last step that the tile's rows reach, where it is zero for `k<m` they begin with the first one; `k>n` and
`k<n` mean B and the tile's columns. At least one step stays. Refuses other loops over k, and a second run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import constants, indexing, tile
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.walk import body, named, parents
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.attributes import ZEROS


@dataclass(frozen=True)
class BoundSteps(Pass):
    """Skip the k steps in which a triangular operand is zero."""

    name: ClassVar[str] = "bound-steps"

    def run(self, module: Any) -> None:
        for parallel in named(module, "scf.parallel"):
            function = next(each for each in parents(parallel) if each.operation.name == "func.func")
            if ZEROS in function.attributes:
                _bound(parallel, ir.StringAttr(function.attributes[ZEROS]).value)


def _bound(parallel: Any, zeros: str) -> None:
    filling, multiplying = (_loop(parallel, name) for name in ("tile.tma_load", "tile.mma"))
    steps, later = (constants.integer_of(loop.operands[1]) for loop in (filling, multiplying))
    if steps is None or later is None or not 0 <= steps - later < steps:
        raise pass_error(parallel, "loops over k whose numbers of steps are not known, or are bounded already")
    product = named(multiplying, "tile.mma")[0].operation
    operand, axis = ("a", "m") if zeros[-1] == "m" else ("b", "n")
    order = tile.order_of(product, operand)
    shape = dict(zip(order, product.operands[0 if operand == "a" else 1].type.shape, strict=True))
    number = list(body(parallel).arguments)[-2 if operand == "a" else -1]
    minimum = dialect("arith").MinUIOp
    first: Any = None
    last: Any = None
    with ir.InsertionPoint(filling), filling.location:
        first, last = _range(zeros, number, shape[axis], shape["k"], steps, minimum)
        if first is not None:
            filling.operands[0] = first
        if last is not None:
            filling.operands[1] = last
    with ir.InsertionPoint(multiplying), multiplying.location:
        first, last = _range(zeros, number, shape[axis], shape["k"], steps, minimum)
        end = constants.index(steps) if last is None else last
        done = constants.index(steps - later) if first is None else indexing.add(first, steps - later)
        multiplying.operands[1] = indexing.sub(end, done)


def _range(zeros: str, number: Any, height: int, depth: int, steps: int, minimum: Any) -> tuple[Any, Any]:
    """The first step of a tile and the one after its last, None for those of all tiles."""
    if zeros[1] == ">":
        reached = indexing.ceildiv(indexing.mul(indexing.add(number, 1), height), depth)
        return None, minimum(reached, constants.index(steps)).result
    below = indexing.div(indexing.mul(number, height), depth)
    return minimum(below, constants.index(steps - 1)).result, None


def _loop(parallel: Any, name: str) -> Any:
    """The only loop over k with an operation of that name."""
    found = list(dict.fromkeys(loop.operation for loop in named(parallel, "scf.for") if named(loop, name)))
    if len(found) != 1 or constants.integer_of(found[0].operands[0]) != 0:
        raise pass_error(parallel, f"expected one loop over k from 0 with '{name}', in a tile.warp_specialize")
    return found[0]
