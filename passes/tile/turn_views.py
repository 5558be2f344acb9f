"""turn-views: memory that a dimension walks backwards is walked forwards.

Expects a kernel after upstream's conversion to affine loops. An argument with a stride below 0 (a Toeplitz operand, as
`copy-diagonals` leaves it) becomes one whose strides are all at least 0, and the indices of its loads along such a
dimension count down from its end. Offsets of addresses are never negative from here on, which upstream's arithmetic on
them counts on. A second run changes nothing. Refuses such an argument that anything but affine.load uses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.linalg.source import is_row_major
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.outlining import padding
from mlir_gemm.dialect.walk import body, named, users
from mlir_gemm.passes.base import Pass


@dataclass(frozen=True)
class TurnViews(Pass):
    """Walk memory forwards."""

    name: ClassVar[str] = "turn-views"

    def run(self, module: Any) -> None:
        for function in named(module, "func.func"):
            if not len(function.regions[0].blocks):
                continue
            for argument in body(function).arguments:
                if isinstance(argument.type, ir.MemRefType) and _backwards(argument.type):
                    _turn(function, argument)


def _backwards(type_: Any) -> list[int]:
    """The dimensions that are walked backwards."""
    unknown = ir.ShapedType.get_dynamic_stride_or_offset()
    strides: list[int] = [] if is_row_major(type_) else type_.get_strides_and_offset()[0]
    return [axis for axis, stride in enumerate(strides) if stride < 0 and stride != unknown]


def _turn(function: Any, argument: Any) -> None:
    type_, turned = argument.type, _backwards(argument.type)
    strides, offset = type_.get_strides_and_offset()
    loads = [user.operation for user in users(argument)]
    other = next((load for load in loads if load.name != "affine.load"), None)
    if other is not None:
        raise pass_error(other, f"{type_} is walked backwards; expected affine.load to read it, and nothing else")
    for load in loads:
        load.attributes["map"] = ir.AffineMapAttr.get(_counted_down(load.attributes["map"].value, turned, type_.shape))
    start = offset + sum((type_.shape[axis] - 1) * strides[axis] for axis in turned)
    layout = ir.StridedLayoutAttr.get(start, [abs(stride) for stride in strides])
    padding.set_type(function, argument.arg_number, ir.MemRefType.get(type_.shape, type_.element_type, layout))


def _counted_down(map_: Any, turned: Sequence[int], shape: Sequence[int]) -> Any:
    """A map whose results for some dimensions count down from their ends."""
    results = [shape[axis] - 1 - each if axis in turned else each for axis, each in enumerate(map_.results)]
    return ir.AffineMap.get(map_.n_dims, map_.n_symbols, results)
