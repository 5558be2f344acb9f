"""The tile dialect's operation for matrices whose elements have components in memory of their own (planes)."""

# pyright: reportInvalidTypeForm=false, reportGeneralTypeIssues=false, reportCallIssue=false
# pyright: reportUnknownMemberType=false, reportUntypedBaseClass=false, reportUnknownVariableType=false
# The bindings build operations from annotations that no type checker knows.

from collections.abc import Sequence
from typing import Any

from mlir_gemm.dialect import rules
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.tile import Tile
from mlir_gemm.dialect.verifier import verifier
from mlir_gemm.spec.launch import dense

ext: Any = dialect("ext")

NAME = "tile.planes"


def type_of(plane: Any, count: int) -> Any:
    """The type of so many planes beside each other."""
    shape, steps = _beside(plane, count)
    layout = None if steps == list(dense(tuple(shape))) else ir.StridedLayoutAttr.get(0, steps)
    return ir.MemRefType.get(shape, plane.element_type, layout=layout, memory_space=plane.memory_space)


def _beside(plane: Any, count: int) -> tuple[list[int], list[int]]:
    """Sizes and strides of so many planes beside each other."""
    *outer, columns = plane.shape
    *strides, _ = plane.get_strides_and_offset()[0]
    return [*outer, columns * count], [*(step * count for step in strides), 1]


def plane_of(whole: Any, count: int) -> Any:
    """The type of each of so many planes that are beside each other in memory of a type."""
    shape, (strides, _) = list(whole.shape), whole.get_strides_and_offset()
    shape[-1] //= count
    steps = [*(step // count for step in strides[:-1]), 1]
    layout = None if steps == list(dense(tuple(shape))) else ir.StridedLayoutAttr.get(0, steps)
    return ir.MemRefType.get(shape, whole.element_type, layout=layout, memory_space=whole.memory_space)


def _verify(op: Any) -> str:
    planes, result = [each.type for each in op.operands], op.results[0].type
    if len(planes) < 2 or any(each != planes[0] for each in planes):
        return f"planes are {', '.join(map(str, planes))}; expected two or more of one type"
    strides, offset = planes[0].get_strides_and_offset()
    if not strides or strides[-1] != 1 or offset:
        return f"planes are {planes[0]}; expected rows of neighbours, from the first element on"
    shape, steps = _beside(planes[0], len(planes))
    right = isinstance(result, ir.MemRefType) and (
        list(result.shape) == shape
        and result.get_strides_and_offset() == (steps, 0)
        and result.element_type == planes[0].element_type
        and str(result.memory_space) == str(planes[0].memory_space)
    )
    wanted = f"{'x'.join(map(str, shape))}x{planes[0].element_type} of strides {steps}"
    return "" if right else f"result is {result}; expected a memref of {wanted}"


class Planes(Tile.Operation, name="planes"):
    """Matrices of elements with components of which each lies in one of `planes`, seen as one with the components
    beside each other: its element [..., x * count + i] is element [..., x] of plane i, also where it is stored to.
    Nothing is moved: accesses become accesses of the planes (`split-planes`)."""

    planes: Sequence[ext.Operand[Any]]
    result: ext.Result[Any]
    verify_invariants = verifier(rules.ranked(0, "planes", space=rules.GLOBAL), _verify)


def beside(planes: Sequence[Any]) -> Any:
    """A tile.planes at the insertion point; its value."""
    return ir.Operation.create(
        NAME, results=[type_of(planes[0].type, len(planes))], operands=list(planes)
    ).results[0]  # fmt: skip


def is_planes(value: Any) -> bool:
    """Whether memory is that of several planes."""
    return getattr(value.owner, "name", "") == NAME
