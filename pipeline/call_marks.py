"""What a function's arguments say about calls: which are numbers, passed by value, which have open strides, which are
complex."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mlir_gemm.dialect.locations import input_error
from mlir_gemm.spec.attributes import CHECKS, COMPLEX, LEAST, MOST, OPEN_STRIDES, SCALAR


def marks_of(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of a launch's argument, from the attributes of the function's."""
    return {
        "scalar": SCALAR in attributes, "open_strides": OPEN_STRIDES in attributes, "complex": COMPLEX in attributes,
        "checks": tuple(each.value for each in attributes[CHECKS]) if CHECKS in attributes else (),
        "least": tuple(int(each.value or 0) for each in attributes[LEAST]) if LEAST in attributes else (),
        "most": tuple(int(each.value or -1) for each in attributes[MOST]) if MOST in attributes else (),
    }  # fmt: skip


def number_of(launch: Any, value: Any, arguments: list[Any]) -> int:
    """The number of the argument that a number passed by value is loaded from."""
    owner = value.owner
    if getattr(owner, "name", "") == "arith.extui":
        owner = owner.operands[0].owner
    if getattr(owner, "name", "") != "memref.load" or owner.operands[0] not in arguments:
        raise input_error(launch, "the kernel takes a number that is not loaded from an argument of the function")
    return arguments.index(owner.operands[0])
