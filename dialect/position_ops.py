"""The tile dialect's operations for numbers that are nowhere in memory: positions, and sizes that the call knows."""

# pyright: reportInvalidTypeForm=false, reportGeneralTypeIssues=false, reportCallIssue=false
# pyright: reportUnknownMemberType=false, reportUntypedBaseClass=false, reportUnknownVariableType=false
# The bindings build operations from annotations that no type checker knows.

from collections.abc import Sequence
from typing import Any

from mlir_gemm.dialect import rules
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.tile import Tile
from mlir_gemm.dialect.verifier import verifier, word

ext: Any = dialect("ext")


class Position(Tile.Operation, name="position"):
    """A tensor or memref in which each element is its own linear index: the offset, plus the index along each dimension
    times that dimension's stride. Nothing is stored: a read computes the value and costs no access, and a view of
    positions is again positions. `sizes` are those that are known at run time only. One without dimensions is a number;
    with `size`, a size that is known at run time only, it is that, and the operand, once there is one, its value."""

    sizes: Sequence[ext.Operand[ir.IndexType]]
    result: ext.Result[Any]
    verify_invariants = verifier(rules.positions, size=word())


class Size(Tile.Operation, name="size"):
    """A size that no argument of a kernel's function tells, but a call of the program around it: the expression
    `size` of its symbols, such as `s0` or `(s0+s1)`."""

    result: ext.Result[ir.IndexType]
    size: ir.StringAttr
    verify_invariants = verifier(size=word())
