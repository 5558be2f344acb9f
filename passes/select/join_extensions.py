"""join-extensions: 8-bit floats are multiplied as they are.

Expects linalg.generic whose body multiplies 8-bit floats that were extended to f16, and from there further
(`extend-operands`). Leaves one extension, which an mma may take for its own: sums then keep as many bits as the
tensor cores have for these types, which is fewer than f32 has. It runs only where the schedule allows that
(`precision=f8`). Where one factor is something else, nothing multiplies both, and the other stays extended to f16. A
second run changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.walk import named, users
from mlir_gemm.passes.base import Pass


@dataclass(frozen=True)
class JoinExtensions(Pass):
    """Multiply 8-bit floats as they are."""

    name: ClassVar[str] = "join-extensions"

    def run(self, module: Any) -> None:
        for generic in named(module, "linalg.generic"):
            for product in [op.operation for op in named(generic, "arith.mulf")]:
                if all(_inner(operand) is not None for operand in product.operands):
                    for operand in dict.fromkeys(product.operands):
                        _join(operand.owner)


def _inner(value: Any) -> Any | None:
    """The 8-bit float that a value was extended from in two steps, or in one; None for any other value."""
    for _ in range(2):
        if getattr(value.owner, "name", "") == "arith.extf":
            value = value.owner.operands[0]
    return value if isinstance(value.type, ir.FloatType) and value.type.width == 8 else None


def _join(extension: Any) -> None:
    half = extension.operands[0]
    if getattr(half.owner, "name", "") == "arith.extf":
        extension.operands[0] = half.owner.operands[0]
        if not users(half):
            half.owner.erase()
