"""Arguments of kernels that are padded with zeros to whole rows and tiles, made by `pad-operands`."""

from __future__ import annotations

from typing import Any

from mlir_gemm.dialect.arguments import argument_attributes, set_argument_attributes
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.outlining.views import View, memref_type
from mlir_gemm.dialect.walk import body
from mlir_gemm.spec.attributes import PADDED


def buffer_shape(function: Any, number: int) -> tuple[int, ...] | None:
    """The sizes of an argument's padded buffer, None for an argument that is not padded.

    Raises PassError for sizes that do not fit the argument's type.
    """
    attribute = argument_attributes(function)[number].get(PADDED)
    if attribute is None:
        return None
    type_ = body(function).arguments[number].type
    if not isinstance(attribute, ir.DenseI64ArrayAttr) or not _fits(type_, list(attribute)):
        raise pass_error(
            function,
            f"'{PADDED}' is {attribute} on an argument of {type_}; expected the sizes of a dense buffer that it is the "
            "first part of",
        )
    return tuple(attribute)


def has_padding(function: Any) -> bool:
    """Whether some argument of a kernel's function is padded."""
    return any(PADDED in attributes for attributes in argument_attributes(function))


def _fits(type_: Any, shape: list[int]) -> bool:
    if not isinstance(type_, ir.MemRefType) or not type_.has_static_shape or len(shape) != len(type_.shape):
        return False
    strides, offset = type_.get_strides_and_offset()
    steps = View.dense(shape).strides
    close = all(n == 1 or s == step for n, s, step in zip(type_.shape, strides, steps, strict=True))
    return close and offset == 0 and all(n <= size for n, size in zip(type_.shape, shape, strict=True))


def set_padded(function: Any, number: int, shape: list[int], sizes: list[int]) -> None:
    """Makes an argument the first `sizes` elements of a padded buffer of a shape."""
    element = body(function).arguments[number].type.element_type
    set_type(function, number, memref_type(View(tuple(sizes), View.dense(shape).strides), element))
    attributes = argument_attributes(function)
    attributes[number][PADDED] = ir.DenseI64ArrayAttr.get(shape)
    set_argument_attributes(function, attributes)


def set_type(function: Any, number: int, type_: Any) -> None:
    """Changes the type of an argument, in the function's type too."""
    block = body(function)
    block.arguments[number].set_type(type_)
    types = [argument.type for argument in block.arguments]
    function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(types, []))
