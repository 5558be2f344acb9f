"""simt: fused multiply-adds of ordinary arithmetic, for every type. Operands are extended to the accumulator's type
before they are multiplied. Other algebras than that of numbers are computed here too (`spec/algebra.py`)."""

from __future__ import annotations

from dataclasses import replace
from math import gcd

from mlir_gemm.parts.base import Form, Mma, Rules
from mlir_gemm.parts.warp_level.cost import LANES
from mlir_gemm.parts.warp_level.registers import fragments, registers_needed
from mlir_gemm.parts.warp_level.search import searching
from mlir_gemm.parts.wording import shown_tile
from mlir_gemm.spec.algebra import parse
from mlir_gemm.spec.passes import at, step
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule, Tile
from mlir_gemm.spec.target import Target

INSTRUCTION: Tile = (1, 1, 1)


SLOW = 0.5
"""Part of the rate of additions at which minima, maxima, logic and comparisons of 32 bits run ("Arithmetic
Instructions" in NVIDIA's CUDA programming guide: 64 in a clock of an SM, where additions are 128)."""
_FULL = ("add", "sub", "mul")


def _rate(problem: Problem, target: Target) -> float:
    if problem.algebra:
        full = _rate(replace(problem, algebra=""), target)
        names = [name.partition(".")[2] for name in parse(problem.algebra).operations]
        return full / sum(1 if name.startswith(_FULL) and name.endswith("f") else 1 / SLOW for name in names)
    rates = target.rates
    found = {"f64": rates.fma_f64, "i32": rates.fma_i32, "i64": rates.fma_i32 / 4}
    return found.get(problem.acc, rates.fma_f32)


def divides_numbers(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    """Slices of k are added up as numbers are."""
    if not problem.algebra or schedule.split_k_workspace == 1:
        return None
    return f"split_k_workspace={schedule.split_k_workspace} with {problem.algebra}: expected split_k_workspace=1"


def ends_with_k(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    """Operands that go on with something else than zeros beyond the end of k are loaded and completed; those that are
    copied as they are end with it."""
    if problem.pads_with_zeros or problem.a_memory or problem.b_memory or problem.k % schedule.block[2] == 0:
        return None
    return (
        f"block={shown_tile(schedule.block)} with {problem.algebra}: tiles of {schedule.block[2]} along k do not divide "
        f"k={problem.k}; the nearest: {gcd(problem.k, schedule.block[2])}"
    )


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
    rules=Rules(shape=(divides_numbers, ends_with_k)),
    registers=registers_needed,
    lanes=(4, 8),
    any_algebra=True,
    tensor_cores=False,
    fragments=fragments,
)
