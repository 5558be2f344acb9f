"""allow-contraction: in kernels whose results are rounded to 16 bits, a product and a sum may be one instruction.

Expects kernel functions. Leaves the flag `contract` on arith.mulf, arith.addf and arith.subf of f32, numbers and
vectors, that have no flags: LLVM makes fma.rn of a product that is added, which is not rounded then, so that the sum is
nearer. It does so once it knows what lies within the rows: between a square and its sum stands a choice of the neutral
element before. PyTorch's own kernels are compiled so (nvcc's -fmad=true). Kernels that store other numbers than floats
of 16 bits and fewer stay as they are: they give what the operations say, bit by bit. A second run changes nothing;
belongs before `expand-math`, whose formulas say themselves what is fused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.memory import rounds_to_halves
from mlir_gemm.dialect.walk import named
from mlir_gemm.passes.base import Pass

OPERATIONS = ("arith.mulf", "arith.addf", "arith.subf")
FLAGS = "fastmath"


@dataclass(frozen=True)
class AllowContraction(Pass):
    """Let a product and a sum be one instruction where results are rounded to 16 bits."""

    name: ClassVar[str] = "allow-contraction"

    def run(self, module: Any) -> None:
        for kernel in named(module, "gpu.func"):
            if not rounds_to_halves(kernel):
                continue
            none, contract = (ir.Attribute.parse(f"#arith.fastmath<{flag}>") for flag in ("none", "contract"))
            for view in named(kernel, *OPERATIONS):
                op = view.operation
                type_ = op.results[0].type
                plain = FLAGS not in op.attributes or op.attributes[FLAGS] == none
                if plain and str(getattr(type_, "element_type", type_)) == "f32":
                    op.attributes[FLAGS] = contract
