"""The tile dialect's operation that transposes a tile in shared memory."""

# pyright: reportInvalidTypeForm=false, reportGeneralTypeIssues=false, reportCallIssue=false
# pyright: reportUnknownMemberType=false, reportUntypedBaseClass=false, reportUnknownVariableType=false
# The bindings build operations from annotations that no type checker knows.

from typing import Any

from mlir_gemm.dialect import constants, rules
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.tile import Tile
from mlir_gemm.dialect.verifier import verifier

ext: Any = dialect("ext")

NAME = "tile.transpose"


def _exchanged(op: Any) -> str:
    """The result is the same memory, with rows and columns exchanged: so rows must follow each other in both."""
    memory, type_ = op.operands[0].type, op.results[0].type
    rows, columns = memory.shape
    if memory.get_strides_and_offset()[0] != [columns, 1]:
        return f"memory is {memory}; expected rows that follow each other"
    if not isinstance(type_, ir.MemRefType) or not type_.has_rank or not type_.has_static_shape:
        return f"result is {type_}; expected a memref of {columns}x{rows}"
    same = type_.element_type == memory.element_type and str(type_.memory_space) == str(memory.memory_space)
    if same and list(type_.shape) == [columns, rows] and type_.get_strides_and_offset() == ([rows, 1], 0):
        return ""
    return f"result is {type_}; expected a dense {columns}x{rows} of the elements and the memory of {memory}"


class Transpose(Tile.Operation, name="transpose"):
    """A tile [R, C] in shared memory, transposed where it lies: `result` [C, R] is the same memory. All `consumers`
    warps that compute do so together, and none goes on before all have."""

    memory: ext.Operand[Any]
    result: ext.Result[Any]
    consumers: ir.IntegerAttr
    verify_invariants = verifier(rules.ranked(0, "memory", 2, space=rules.IN_SHARED), _exchanged, consumers=rules.WARPS)


def transpose(memory: Any) -> Any:
    """A tile.transpose at the insertion point, by one warp; its value."""
    (rows, columns), type_ = memory.type.shape, memory.type
    turned = ir.MemRefType.get([columns, rows], type_.element_type, memory_space=type_.memory_space)
    return Transpose(memory, turned, constants.integer(1)).operation.results[0]


def source_of(memory: Any) -> Any | None:
    """What was transposed, of the result of a tile.transpose; None of other memory."""
    return memory.owner.operation.operands[0] if getattr(memory.owner, "name", "") == NAME else None
