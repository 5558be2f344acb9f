"""protect-inputs: tensor arguments are values, so bufferisation must not write into their buffers.

Expects functions on tensors. Leaves `bufferization.writable = false` on every tensor argument.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.walk import body, named
from mlir_gemm.passes.base import Pass


@dataclass(frozen=True)
class ProtectInputs(Pass):
    """Mark tensor arguments as read-only."""

    name: ClassVar[str] = "protect-inputs"

    def run(self, module: Any) -> None:
        for function in named(module, "func.func"):
            if len(function.regions[0].blocks):
                _protect(function)


def _protect(function: Any) -> None:
    arguments = body(function).arguments
    old = argument_attributes(function)
    for argument, attributes in zip(arguments, old, strict=True):
        if isinstance(argument.type, ir.RankedTensorType):
            attributes["bufferization.writable"] = ir.BoolAttr.get(False)
    set_argument_attributes(function, old)


def argument_attributes(function: Any) -> list[dict[str, Any]]:
    """The attributes of each argument of a function, as dicts that may be changed."""
    count = len(body(function).arguments)
    if "arg_attrs" not in function.attributes:
        return [{} for _ in range(count)]
    return [
        {named_.name: named_.attr for named_ in ir.DictAttr(d)} for d in ir.ArrayAttr(function.attributes["arg_attrs"])
    ]


def set_argument_attributes(function: Any, attributes: list[dict[str, Any]]) -> None:
    """Replaces the attributes of all arguments of a function."""
    function.attributes["arg_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(each) for each in attributes])
