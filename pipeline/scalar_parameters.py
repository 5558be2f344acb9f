"""Parameters of kernels that are numbers: which argument of the function each is."""

from __future__ import annotations

from typing import Any

from mlir_gemm.dialect.locations import input_error


def number_of(launch: Any, value: Any, arguments: list[Any]) -> int:
    """The number of the argument that a number passed by value is loaded from."""
    owner = value.owner
    if getattr(owner, "name", "") == "arith.extui":
        owner = owner.operands[0].owner
    if getattr(owner, "name", "") != "memref.load" or owner.operands[0] not in arguments:
        raise input_error(launch, "the kernel takes a number that is not loaded from an argument of the function")
    return arguments.index(owner.operands[0])
