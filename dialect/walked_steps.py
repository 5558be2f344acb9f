"""The tile dialect's operation for steps of k that depend on the tile, before loops over tiles are parallel."""

# pyright: reportInvalidTypeForm=false, reportGeneralTypeIssues=false, reportCallIssue=false
# pyright: reportUnknownMemberType=false, reportUntypedBaseClass=false, reportUnknownVariableType=false
# The bindings build operations from annotations that no type checker knows.

from typing import Any

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.tile import Tile
from mlir_gemm.dialect.verifier import at_least, verifier

ext: Any = dialect("ext")

NAME = "tile.step_range"


class StepRange(Tile.Operation, name="step_range"):
    """The first step of k that a tile walks, and how many it walks, of `steps` in all: those of whichever tile it is
    that is computed. `bound-steps` puts what they are in their place."""

    first: ext.Result[ir.IndexType]
    count: ext.Result[ir.IndexType]
    steps: ir.IntegerAttr
    verify_invariants = verifier(steps=at_least(1))


def step_range(steps: int) -> tuple[Any, Any]:
    """A tile.step_range at the insertion point: its first step, and how many there are."""
    index = ir.IndexType.get()
    first, count = StepRange(index, index, constants.integer(steps)).operation.results
    return first, count
