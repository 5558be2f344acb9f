"""Tensors before they have buffers: how each will lie in one, and what is only a view of another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mlir_gemm.dialect import windows
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.linalg import structured
from mlir_gemm.dialect.linalg.structured import Generic
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.outlining.kernels import Place
from mlir_gemm.dialect.outlining.views import View, given_view


def stripped(value: Any) -> Any:
    """A tensor before it was reshaped."""
    while getattr(value.owner, "name", "") in ("tensor.collapse_shape", "tensor.expand_shape"):
        value = value.owner.operands[0]
    return value


def place_of_tensor(value: Any, known: Mapping[Any, Place] | None = None) -> Place:
    """Where a tensor lies, when each that is computed gets a row-major buffer of its own, except those in `known`.

    Raises PassError for one that cannot be seen in its buffer without copying.
    """
    if known is not None and value in known:
        return known[value]
    owner = value.owner
    name = getattr(owner, "name", "")
    if name in ("tensor.collapse_shape", "tensor.expand_shape"):
        root, view = place_of_tensor(owner.operands[0], known)
        seen = reshaped(owner, view)
        if seen is None:
            raise pass_error(owner, f"{name} of elements that do not follow one another evenly; copy them first")
        return root, seen
    if name == "tensor.extract_slice":
        root, view = place_of_tensor(owner.operands[0], known)
        return root, slice_of(owner, view)
    if name == windows.NAME:
        root, view = place_of_tensor(owner.operands[0], known)
        if not (view.is_dense):
            raise pass_error(owner, f"{name} of a tensor that does not lie in its buffer without gaps")
        return root, windows_view(value)
    if name == "bufferization.to_tensor":
        return owner.operands[0], given_view(owner.operands[0].type, owner)
    return value, View.dense(ir.ShapedType(value.type).shape)


def windows_view(value: Any) -> View:
    """How a tensor or memref of windows lies in its source: each dimension by its one stride, or by its parts."""
    if windows.is_strided(value):
        return View(tuple(value.type.shape), tuple(one[0][1] for one in windows.parts_of(value)),
                    windows.offset_of(value))  # fmt: skip
    parts = tuple(windows.parts_of(value))
    strides = tuple(one[-1][1] for one in parts)
    joined = parts if any(len(one) > 1 for one in parts) else ()
    return View(tuple(value.type.shape), strides, windows.offset_of(value), windows.image_of(value), joined)


def reassociation(operation: Any) -> list[list[int]]:
    """The groups of dimensions of a tensor.collapse_shape or expand_shape."""
    groups = ir.ArrayAttr(operation.attributes["reassociation"])
    return [[ir.IntegerAttr(each).value for each in ir.ArrayAttr(group)] for group in groups]


def reshaped(operation: Any, view: View) -> View | None:
    """The view of a reshape's result, None where it needs a copy."""
    groups = reassociation(operation)
    if operation.name == "tensor.collapse_shape":
        return view.collapsed(groups)
    return view.expanded(groups, ir.ShapedType(operation.results[0].type).shape)


def before_reshape(operation: Any, view: View) -> View | None:
    """The view that a reshape's operand must have for its result to have `view`; None where there is none."""
    groups = reassociation(operation)
    if operation.name == "tensor.expand_shape":
        return view.collapsed(groups)
    return view.expanded(groups, ir.ShapedType(operation.operands[0].type).shape)


def slice_of(operation: Any, view: View) -> View:
    """The view of a tensor.extract_slice. Raises PassError where it depends on values."""
    if len(operation.operands) > 1:
        raise pass_error(operation, "tensor.extract_slice with dynamic offsets, sizes or strides; they must be static")
    names = ("static_offsets", "static_sizes", "static_strides")
    offsets, sizes, steps = (list(ir.DenseI64ArrayAttr(operation.attributes[name])) for name in names)
    return view.sliced(offsets, sizes, steps).without_units(ir.ShapedType(operation.results[0].type).shape)


def place_in_tensors(generic: Generic, number: int, known: Mapping[Any, Place] | None = None) -> Place | None:
    """`PlaceOf` for operations on tensors: the place of an output is the result's."""
    count, inputs = len(generic.operands), len(generic.inputs)
    value = generic.operands[number - len(generic.outputs) if number >= count else number]
    if not isinstance(value.type, ir.RankedTensorType):
        return None
    if number >= count:
        return None if generic.elementwise or start_of(value) is not None else place_of_tensor(value, known)
    if number >= inputs:
        value = generic.op.results[number - inputs]
    return place_of_tensor(value, known)


def start_of(value: Any) -> Any | None:
    """The constant that a tensor is filled with: an attribute, or of a linalg.fill a value; None if there is none."""
    base = stripped(value)
    owner = base.owner
    name = getattr(owner, "name", "")
    if name == "linalg.fill":
        return owner.operands[0]
    if name == "arith.constant" and isinstance(owner.attributes["value"], ir.DenseElementsAttr):
        attribute = ir.DenseElementsAttr(owner.attributes["value"])
        return attribute.get_splat_value() if attribute.is_splat else None
    return None


def is_start_of(value: Any, use: Any) -> bool:
    """Whether a use of a tensor is only as the start, or the shape, of what an operation computes."""
    op = use.owner.operation
    if op.name == "linalg.fill":
        return use.operand_number == 1
    return structured.is_generic(op) and use.operand_number >= len(structured.read(op).inputs)
