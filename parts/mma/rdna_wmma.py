"""rdna_wmma: the matrix instructions of AMD's RDNA 3 (WMMA), a wave of 32 lanes at a time.

Shapes, types and fragments: AMD's "RDNA 3" instruction set manual, "Wave Matrix Multiply Accumulate"."""

from __future__ import annotations

from mlir_gemm.parts.base import Form, Mma
from mlir_gemm.parts.warp_level.clocks import tensor_core_rate
from mlir_gemm.parts.warp_level.cost import LANES
from mlir_gemm.parts.warp_level.search import searching
from mlir_gemm.parts.waves import registers_needed, wave_fragments
from mlir_gemm.spec.passes import at, step

_SHAPE = (16, 16, 16)

PART = Mma(
    "rdna_wmma",
    rank=1,
    forms=(
        Form(("f16",), False, "f32", _SHAPE),
        Form(("bf16",), False, "f32", _SHAPE),
        Form(("i8",), False, "i32", _SHAPE),
    ),
    passes=lambda schedule, _: [at("lower", "mma", step("mma-to-mfma", instruction=schedule.instruction, kind="WMMA"))],
    search=searching("rdna_wmma"),
    family=LANES,
    rate=tensor_core_rate,
    registers=registers_needed,
    needs=frozenset({"wmma.amd"}),
    rival=True,
    by_matrix=lambda problem, operand: (problem.a_order == "mk") if operand == "a" else (problem.b_order == "nk"),
    fragments=wave_fragments,
)
