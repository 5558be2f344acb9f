"""fix-strides: strides and offsets of arguments that the source leaves open become numbers.

Expects a module as a user wrote it. A memref argument whose layout has strides or an offset that are `?` gets those
that `strides` names (`0:48,1;2:24,1`, by the number of the argument), else those of dense memory, with what the source
fixes; its offset is 0, as the address that a caller gives is that of its first element. Views of it follow. Arguments
whose sizes are open too become dense ones. Leaves `tile.open_strides` on such arguments: whoever calls the function
must have the strides that were taken, or compile for others. Refuses strides that the source does not allow, layouts
that are open in part beside open sizes, and views whose layout does not follow. Other modules are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.arguments import argument_attributes, set_argument_attributes
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.linalg.memory_parts import kept_dimensions
from mlir_gemm.dialect.linalg.source import is_row_major
from mlir_gemm.dialect.locations import input_error
from mlir_gemm.dialect.walk import body, in_block, named, users
from mlir_gemm.errors import PassError
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.attributes import OPEN_STRIDES, STAGE

_GIVEN = re.compile(r"\d+:[\d,]*(;\d+:[\d,]*)*")
_FOLLOWING = ("memref.subview", "memref.transpose")


@dataclass(frozen=True)
class FixStrides(Pass):
    """Give numbers to strides that are open."""

    name: ClassVar[str] = "fix-strides"
    strides: str = ""
    """By the number of the argument its strides in elements: `0:48,1;2:24,1`; dense where nothing is said."""

    def run(self, module: Any) -> None:
        if STAGE in module.operation.attributes:
            return
        given = self._given()
        for function in named(module, "func.func"):
            if len(function.regions[0].blocks) != 1:
                continue
            if any(OPEN_STRIDES in each for each in argument_attributes(function)):
                raise input_error(function, f"'{OPEN_STRIDES}' on an argument: this pass writes that attribute itself")
            _fix(function, given)

    def _given(self) -> dict[int, list[int]]:
        if self.strides and not _GIVEN.fullmatch(self.strides):
            raise PassError(f"pass 'fix-strides': strides={self.strides}; expected numbers such as 0:48,1;2:24,1")
        pairs = [each.split(":") for each in self.strides.split(";") if each]
        return {int(number): [int(step) for step in steps.split(",") if step] for number, steps in pairs}


def _fix(function: Any, given: Mapping[int, Sequence[int]]) -> None:
    attributes = argument_attributes(function)
    changed = False
    for argument, each in zip(body(function).arguments, attributes, strict=True):
        if not isinstance(argument.type, ir.MemRefType) or not _is_open(argument.type):
            continue
        argument.set_type(_fixed(function, argument, given.get(argument.arg_number)))
        each[OPEN_STRIDES] = ir.UnitAttr.get()
        changed = True
        _follow(argument)
    if not changed:
        return
    set_argument_attributes(function, attributes)
    types = [argument.type for argument in body(function).arguments]
    results = [value.type for value in in_block(body(function))[-1].operation.operands]
    function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(types, results))


def _is_open(type_: Any) -> bool:
    if is_row_major(type_):
        return False
    try:
        strides, offset = type_.get_strides_and_offset()
    except Exception:  # a layout without strides is refused later
        return False
    return ir.ShapedType.get_dynamic_stride_or_offset() in (*strides, offset)


def _fixed(function: Any, argument: Any, wanted: Sequence[int] | None) -> Any:
    """The type with numbers for what is open."""
    type_ = argument.type
    marker = ir.ShapedType.get_dynamic_stride_or_offset()
    steps, offset = type_.get_strides_and_offset()
    if not type_.has_static_shape:
        open_ = all(step == marker for step in steps[:-1]) and steps[-1:] in ([marker], [1]) and offset in (marker, 0)
        if not open_:
            raise input_error(
                function, f"argument {argument.arg_number} has open sizes and a layout that is open in part "
                f"({type_}); expected all strides but the last as '?'",
            )  # fmt: skip
        return ir.MemRefType.get(list(type_.shape), type_.element_type, memory_space=type_.memory_space)
    if wanted is None:
        wanted = _dense(type_.shape, steps, marker)
    fits = len(wanted) == len(steps) and all(step in (marker, own) for step, own in zip(steps, wanted, strict=True))
    if not fits:
        raise input_error(function, f"argument {argument.arg_number} of {type_} with strides {list(wanted)}")
    start = 0 if offset == marker else offset
    plain = ir.MemRefType.get(list(type_.shape), type_.element_type, memory_space=type_.memory_space)
    if not start and list(wanted) == list(plain.get_strides_and_offset()[0]):
        return plain
    layout = ir.StridedLayoutAttr.get(start, list(wanted))
    return ir.MemRefType.get(list(type_.shape), type_.element_type, layout, type_.memory_space)


def _dense(shape: Sequence[int], steps: Sequence[int], marker: int) -> list[int]:
    """The least strides in the order of the dimensions, with those that the source fixes."""
    found: list[int] = []
    reach = 1
    for size, step in zip(reversed(shape), reversed(steps), strict=True):
        own = reach if step == marker else step
        found.append(own)
        reach = max(reach, own * max(size, 1))
    return found[::-1]


def _follow(value: Any) -> None:
    """Gives the views of a memref, and theirs, the layouts that follow."""
    for user in users(value):
        if not len(user.results) or not isinstance(user.results[0].type, ir.MemRefType) or user.operands[0] != value:
            continue
        result = user.results[0]
        if user.name not in _FOLLOWING or not _has_numbers(user):
            if _is_open(result.type) and user.name != "memref.cast":
                raise input_error(
                    user, f"'{user.name}' of memory whose strides are open; expected memref.subview, "
                    "memref.transpose and memref.cast",
                )  # fmt: skip
            continue
        if not _is_open(result.type):
            continue
        result.set_type(_view(user, value.type, result.type))
        _follow(result)


def _has_numbers(op: Any) -> bool:
    """Whether a view's sizes and steps are numbers; its offsets need not be."""
    marker = ir.ShapedType.get_dynamic_size()
    return op.name != "memref.subview" or not any(
        marker in list(ir.DenseI64ArrayAttr(op.attributes[f"static_{kind}"])) for kind in ("sizes", "strides")
    )


def _view(op: Any, source: Any, old: Any) -> Any:
    steps, start = source.get_strides_and_offset()
    if op.name == "memref.transpose":
        permutation = ir.AffineMapAttr(op.attributes["permutation"]).value
        order = [ir.AffineDimExpr(each).position for each in permutation.results]
        layout = ir.StridedLayoutAttr.get(start, [steps[axis] for axis in order])
        return ir.MemRefType.get(list(old.shape), old.element_type, layout, old.memory_space)
    offsets, strides = (list(ir.DenseI64ArrayAttr(op.attributes[f"static_{kind}"])) for kind in ("offsets", "strides"))
    marker = ir.ShapedType.get_dynamic_stride_or_offset()
    first = start + sum(at * step for at, step in zip(offsets, steps, strict=True))
    if marker in (start, *offsets):
        first = marker
    own = [step * stride for step, stride in zip(steps, strides, strict=True)]
    sizes = list(ir.DenseI64ArrayAttr(op.attributes["static_sizes"]))
    kept = kept_dimensions(sizes, list(old.shape))
    layout = ir.StridedLayoutAttr.get(first, [own[axis] for axis in kept])
    return ir.MemRefType.get(list(old.shape), old.element_type, layout, old.memory_space)
