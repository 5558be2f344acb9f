"""join-extensions: 8-bit floats are multiplied as they are.

Expects linalg.generic whose body multiplies 8-bit floats that were extended to f16, and from there further
(`extend-operands`). Leaves one extension, which an operator may take for its own: sums then keep as many bits as the
tensor cores have for these types, which is fewer than f32 has. It runs only where the schedule allows that
(`precision=f8`). A second run changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.walk import named, operations, users
from mlir_gemm.passes.base import Pass


@dataclass(frozen=True)
class JoinExtensions(Pass):
    """Multiply 8-bit floats as they are."""

    name: ClassVar[str] = "join-extensions"

    def run(self, module: Any) -> None:
        for generic in named(module, "linalg.generic"):
            for op in [each.operation for each in operations(generic)]:
                inner: Any = op.operands[0].owner if op.name == "arith.extf" else None
                if getattr(inner, "name", "") == "arith.extf" and _is_eight(inner.operands[0].type):
                    half = op.operands[0]
                    op.operands[0] = inner.operands[0]
                    if not users(half):
                        inner.operation.erase()


def _is_eight(type_: Any) -> bool:
    return isinstance(type_, ir.FloatType) and type_.width == 8
