"""The attributes of a function's arguments: their roles and names, and what else a stage records about them."""

from __future__ import annotations

from typing import Any

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.walk import body, named


def argument_attributes(function: Any) -> list[dict[str, Any]]:
    """The attributes of each argument of a function, as dicts that may be changed."""
    count = len(body(function).arguments)
    if "arg_attrs" not in function.attributes:
        return [{} for _ in range(count)]
    return [
        {named_.name: named_.attr for named_ in ir.DictAttr(d)} for d in ir.ArrayAttr(function.attributes["arg_attrs"])
    ]


def marked_arguments(module: Any, mark: str) -> list[tuple[Any, Any]]:
    """The arguments that have an attribute, each after its function, of all functions with a body."""
    return [
        (function, argument)
        for function in named(module, "func.func")
        if len(function.regions[0].blocks)
        for argument, attributes in zip(body(function).arguments, argument_attributes(function), strict=True)
        if mark in attributes
    ]


def set_argument_attributes(function: Any, attributes: list[dict[str, Any]]) -> None:
    """Replaces the attributes of all arguments of a function."""
    function.attributes["arg_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(each) for each in attributes])
