"""The tile dialect's operation for 2:4 sparse operands: of their values and metadata a tile, as products take it."""

# pyright: reportInvalidTypeForm=false, reportGeneralTypeIssues=false, reportCallIssue=false
# pyright: reportUnknownMemberType=false, reportUntypedBaseClass=false, reportUnknownVariableType=false
# The bindings build operations from annotations that no type checker knows.

from typing import Any

from mlir_gemm.dialect import rules, window_rules
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.tile import Tile
from mlir_gemm.dialect.verifier import verifier

ext: Any = dialect("ext")


class Sparse(Tile.Operation, name="sparse"):
    """A 2:4 sparse tile [M, K] in shared memory, as a product takes it: of its `values` [M, K / 2] and its `metadata`
    [M / 16, K], as `spec/sparse.py` has them. Nothing is moved."""

    values: ext.Operand[Any]
    metadata: ext.Operand[Any]
    result: ext.Result[Any]
    verify_invariants = verifier(
        rules.ranked(0, "values", 2, space=rules.IN_SHARED),
        rules.ranked(1, "metadata", 2, space=rules.IN_SHARED),
        window_rules.sparse,
    )


def sparse(values: Any, metadata: Any) -> Any:
    """A tile.sparse at the insertion point; its value."""
    (rows, half), type_ = values.type.shape, values.type
    whole = ir.MemRefType.get([rows, 2 * half], type_.element_type, memory_space=type_.memory_space)
    return Sparse(values, metadata, whole).operation.results[0]
