"""drop-empty: sizes of 0 leave nothing to compute, or nothing to add up.

Expects one function on tensors. An operation without elements becomes a tensor.empty, and a reduction over nothing what
it starts from. Anything else is left alone. A second run changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.linalg import structured
from mlir_gemm.dialect.walk import named
from mlir_gemm.passes.base import Pass


@dataclass(frozen=True)
class DropEmpty(Pass):
    """Replace operations over sizes of 0."""

    name: ClassVar[str] = "drop-empty"

    def run(self, module: Any) -> None:
        done: list[Any] = []
        for op in [each.operation for each in named(module, "linalg.generic", "linalg.matmul", "linalg.fill")]:
            if not len(op.results) or not all(ir.ShapedType(result.type).has_static_shape for result in op.results):
                continue
            if all(0 in ir.ShapedType(result.type).shape for result in op.results):
                with ir.InsertionPoint(op), op.location:
                    for result in op.results:
                        type_ = ir.ShapedType(result.type)
                        result.replace_all_uses_with(dialect("tensor").EmptyOp(type_.shape, type_.element_type).result)
                done.append(op)
            elif op.name != "linalg.fill" and _adds_nothing(op):
                generic = structured.read(op)
                for result, start in zip(op.results, generic.outputs, strict=True):
                    result.replace_all_uses_with(start)
                done.append(op)
        for op in reversed(done):
            op.erase()


def _adds_nothing(op: Any) -> bool:
    generic = structured.read(op)
    sizes = structured.sizes_of(generic)
    return any(size == 0 and not parallel for size, parallel in zip(sizes, generic.parallel, strict=True))
