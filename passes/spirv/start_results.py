"""start-results: what a loop gives is what it starts from, where it runs no turn.

Expects modules in SPIR-V that upstream's convert-gpu-to-spirv made of scf.for with iter_args: it keeps the results of a
loop in variables that only its turns write. Leaves a store of what the loop starts from before it, and the variables at
the start of their function, where SPIR-V wants them. Refuses loops that are not made like that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.walk import in_block, named
from mlir_gemm.passes.base import Pass


@dataclass(frozen=True)
class StartResults(Pass):
    """Initialise the results of loops."""

    name: ClassVar[str] = "start-results"

    def run(self, module: Any) -> None:
        for function in named(module, "spirv.func"):
            for loop in named(function, "spirv.mlir.loop"):
                for variable, start in _results(loop.operation):
                    first = function.operation.regions[0].blocks[0].operations[0]
                    if first.operation != variable.owner.operation:
                        variable.owner.operation.move_before(first)
                    with ir.InsertionPoint(loop), loop.location:
                        ir.Operation.create("spirv.Store", [], [variable, start])


def _results(loop: Any) -> list[tuple[Any, Any]]:
    """The variables of a loop's results, each with what the loop starts from; none where it carries its counter
    only."""
    entry, header, *rest = loop.regions[0].blocks
    starts = list(in_block(entry)[-1].operation.operands)[1:]
    if not starts:
        return []
    for block in rest:
        *before, last = in_block(block)
        if last.operation.name != "spirv.Branch" or last.operation.successors[0] != header:
            continue
        again = list(last.operation.operands)[1:]
        stores = [each.operation for each in before if each.operation.name == "spirv.Store"][-len(starts) :]
        if len(stores) == len(starts) and [each.operands[1] for each in stores] == again:
            return [(store.operands[0], start) for store, start in zip(stores, starts, strict=True)]
    raise pass_error(loop, "a loop whose results are not stored at the end of its turns; expected one that "
                     "convert-gpu-to-spirv made")  # fmt: skip
