"""mma_sync: ldmatrix and mma.sync, a warp at a time.

Shapes and fragment layouts: PTX ISA, "Matrix multiply-accumulate operation using mma instruction"."""

from __future__ import annotations

from mlir_gemm.parts.base import Form, Mma
from mlir_gemm.parts.warp_level.clocks import tensor_core_rate
from mlir_gemm.parts.warp_level.cost import LANES
from mlir_gemm.parts.warp_level.registers import fragments, registers_needed
from mlir_gemm.parts.warp_level.search import searching
from mlir_gemm.spec.passes import at, step
from mlir_gemm.spec.problem import Problem, element_bytes

_F64 = frozenset({"mma.sync.f64"})


def by_matrix(problem: Problem, operand: str) -> bool:
    """Whether the fragments of an operand are loaded as 8x8 matrices: always for 16-bit elements, which ldmatrix can
    transpose; for 8 and 32 bits when neighbours lie along k; never for 64. The rest is loaded element by element."""
    size = element_bytes(problem, operand)
    along_k = problem.a_order == "mk" if operand == "a" else problem.b_order == "nk"
    return size == 2 or (along_k and size != 8)


PART = Mma(
    "mma_sync",
    rank=1,
    forms=(
        Form(("f16",), False, "f32", (16, 8, 16)),
        Form(("f16",), False, "f16", (16, 8, 16), "f16"),
        Form(("bf16",), False, "f32", (16, 8, 16)),
        Form(("f32",), False, "f32", (16, 8, 8), "tf32"),
        Form(("f64",), False, "f64", (16, 8, 16), needs=_F64),
        Form(("f64",), False, "f64", (16, 8, 8), needs=_F64),
        Form(("f64",), False, "f64", (8, 8, 4)),
        Form(("i8",), False, "i32", (16, 8, 32)),
    ),
    passes=lambda schedule, _: [at("lower", "mma", step("mma-to-sync", instruction=schedule.instruction))],
    search=searching("mma_sync"),
    family=LANES,
    rate=tensor_core_rate,
    registers=registers_needed,
    needs=frozenset({"mma.sync"}),
    reads_rings=True,
    stores_rows=True,
    rival=True,
    by_matrix=by_matrix,
    fragments=fragments,
)
