"""How fast a chip multiplies each type beside its memory: what fewer multiplications of elements with components are
worth (`spec/bilinear_plans.py`)."""

from __future__ import annotations

from mlir_gemm.parts.registry import mmas_on
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.target import Target

_SUMS = {"f16": "f32", "bf16": "f32", "f32": "f32", "f64": "f64", "i8": "i32"}
_REACHED = 0.46
"""Part of the bandwidth that kernels reach which rearrange components: 548 us for 1.2 GB, around a product of complex
numbers by three of tf32 at 4096^3 on an H200 (`2026-11-23-h200-composite.json.xz`)."""
_SIZE = 4096
"""A product of tiles enough for any mma."""


def operations_per_byte(precision: str, target: Target) -> dict[str, float]:
    """Operations of the fastest mma of a chip, at a precision, in the time in which a kernel that rearranges components
    moves a byte; by the type of the operands."""
    found: dict[str, float] = {}
    for element, acc in _SUMS.items():
        problem = Problem(_SIZE, _SIZE, _SIZE, element, element, acc, acc, False)
        able = [mma for mma in mmas_on(target) if mma.forms_of(problem, precision, target)]
        if able:
            fastest = max(mma.rate(problem, target) for mma in able)
            found[element] = fastest * target.clock_hz * target.sms / (_REACHED * target.dram_bytes_s)
    return found


def as_option(rates: dict[str, float]) -> str:
    """The rates as `expand-algebras` takes them."""
    return ",".join(f"{name}:{rate:.0f}" for name, rate in rates.items())
