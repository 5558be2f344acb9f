"""simt: fused multiply-adds of ordinary arithmetic, for every type. Operands are extended to the accumulator's type
before they are multiplied."""

from __future__ import annotations

from mlir_gemm.parts.base import Form, Mma
from mlir_gemm.parts.warp_level.cost import LANES
from mlir_gemm.parts.warp_level.registers import fragments, registers_needed
from mlir_gemm.parts.warp_level.search import searching
from mlir_gemm.spec.passes import at, step
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Tile
from mlir_gemm.spec.target import Target

INSTRUCTION: Tile = (1, 1, 1)


def _rate(problem: Problem, target: Target) -> float:
    rates = target.rates
    found = {"f64": rates.fma_f64, "i32": rates.fma_i32, "i64": rates.fma_i32 / 4}
    return found.get(problem.acc, rates.fma_f32)


PART = Mma(
    "simt",
    rank=3,
    forms=(
        Form(("f16", "bf16", "f32"), True, "f32", INSTRUCTION),
        Form(("f16", "bf16", "f32", "f64"), True, "f64", INSTRUCTION),
        Form(("i8", "i16", "i32"), True, "i32", INSTRUCTION),
        Form(("i8", "i16", "i32", "i64"), True, "i64", INSTRUCTION),
    ),
    passes=lambda _, __: [at("lower", "mma", step("mma-to-fma"))],
    search=searching("simt"),
    family=LANES,
    rate=_rate,
    registers=registers_needed,
    lanes=(4, 8),
    tensor_cores=False,
    fragments=fragments,
)
