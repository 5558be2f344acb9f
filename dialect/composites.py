"""The tile dialect's operation for matrices of elements with components, as products of real numbers take them.

The components of an element lie side by side. Where elements are multiplied by the constants `s` of an algebra
(`spec/bilinear.py`), each element of B stands for a block of real numbers: for A as it lies, with a step of k for each
component i, and a column for each component l of the result, the block has `sum over j of s[i][j][l] b_j` at (i, l).
"""

# pyright: reportInvalidTypeForm=false, reportGeneralTypeIssues=false, reportCallIssue=false
# pyright: reportUnknownMemberType=false, reportUntypedBaseClass=false, reportUnknownVariableType=false
# The bindings build operations from annotations that no type checker knows.

from collections.abc import Sequence
from typing import Any

from mlir_gemm.dialect import rules
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.tile import Tile
from mlir_gemm.dialect.verifier import Kind, verifier
from mlir_gemm.spec.bilinear import Number, Table

ext: Any = dialect("ext")

NAME = "tile.composite"
_BLOCKS = Kind(
    lambda given: isinstance(given, ir.DenseElementsAttr) and len(set(given.type.shape)) == 1
    and len(given.type.shape) == 3 and str(given.type.element_type) == "f64",
    "the numbers of blocks, such as dense<...> : tensor<2x2x2xf64>",
)  # fmt: skip


def _verify(op: Any) -> str:
    source, result = op.operands[0].type, op.results[0].type
    if "constants" not in op.attributes:
        return f"has no constants; expected {_BLOCKS.wanted}"
    count, dynamic = op.attributes["constants"].type.shape[0], ir.ShapedType.get_dynamic_size()
    if source.rank not in (2, 3):
        return f"source is {source}; expected a matrix, or one for each index of a batch"
    (*batch, rows, columns), (strides, _) = source.shape, source.get_strides_and_offset()
    if (columns != dynamic and columns % count) or strides[-1] != 1:
        return f"source is {source}; expected rows of neighbours, of elements of {count} components"
    shape = [*batch, rows if rows == dynamic else rows * count, columns]
    if not isinstance(result, ir.MemRefType) or list(result.shape) != shape:
        sizes = "x".join("?" if size == dynamic else str(size) for size in shape)
        return f"result is {result}; expected a memref of {sizes}"
    same = result.element_type == source.element_type and str(result.memory_space) == str(source.memory_space)
    if same and result.get_strides_and_offset() == (_dense(shape), 0):
        return ""
    return f"result is {result}; expected a dense one of the elements and the memory of {source}"


def _dense(shape: Sequence[int]) -> list[int]:
    """The strides of dense memory: after a size that is known at run time only, none is known."""
    unknown, strides = ir.ShapedType.get_dynamic_stride_or_offset(), [1]
    for size in reversed(shape[1:]):
        open_ = size == ir.ShapedType.get_dynamic_size() or strides[0] == unknown
        strides.insert(0, unknown if open_ else strides[0] * size)
    return strides


class Composite(Tile.Operation, name="composite"):
    """A matrix of elements with components as a product of real numbers takes it, of a `source` [rows, columns] in
    which the components of an element are neighbours in a row: each element is a block of as many rows and columns,
    whose number at (x, y) is the sum over j of `constants[x][j][y]` times component j. A source [batch, rows, columns]
    gives such a matrix for each index of the batch. Nothing is moved, and only products and copies read it."""

    source: ext.Operand[Any]
    result: ext.Result[Any]
    verify_invariants = verifier(rules.ranked(0, "source", static=False), _verify, constants=_BLOCKS)


def composite(source: Any, constants: Any) -> Any:
    """A tile.composite at the insertion point; its value."""
    (*batch, rows, columns), count = source.type.shape, constants.type.shape[0]
    space, element = source.type.memory_space, source.type.element_type
    down = rows if rows == ir.ShapedType.get_dynamic_size() else rows * count
    whole = ir.MemRefType.get([*batch, down, columns], element, memory_space=space)
    made = Composite(source, whole).operation
    made.attributes["constants"] = constants
    return made.results[0]


def viewed(memory: Any) -> Any | None:
    """The tile.composite that memory is a view of, or its result; None for other memory."""
    while getattr(memory.owner, "name", "") == "memref.subview":
        memory = memory.owner.operation.operands[0]
    return memory.owner.operation if getattr(memory.owner, "name", "") == NAME else None


def numbers(table: Table) -> Any:
    """The attribute `constants`."""
    count = len(table)
    flat = [ir.FloatAttr.get(ir.F64Type.get(), float(each)) for row in table for cell in row for each in cell]
    return ir.DenseElementsAttr.get(flat, type=ir.RankedTensorType.get([count] * 3, ir.F64Type.get()))


def table_of(op: Any) -> Table:
    """The numbers of a tile.composite."""
    given = op.attributes["constants"]
    count = given.type.shape[0]
    flat: Sequence[Number] = [given[at] for at in range(count**3)]
    return tuple(
        tuple(tuple(flat[(x * count + j) * count : (x * count + j + 1) * count]) for j in range(count))
        for x in range(count)
    )
