"""Which types an operation multiplies, in which instruction shapes, and how fast."""

from __future__ import annotations

from mlir_gemm.parts.base import Form, Mma
from mlir_gemm.parts.registry import mmas
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import PRECISIONS, Tile
from mlir_gemm.spec.target import Target


def forms_of(mma: Mma, problem: Problem, precision: str, target: Target) -> list[Form]:
    """The forms in which the operation multiplies the problem's types at this precision on the chip, the best first."""
    return [
        form
        for form in mma.forms
        if problem.acc == form.acc
        and problem.a in form.operands
        and problem.b in form.operands
        and (form.mixed or problem.a == problem.b)
        and form.precision in ("", precision)
        and form.needs <= target.capabilities
    ]


def shown_forms(mma: Mma) -> str:
    """The types that an operation takes, for messages."""
    shown: list[str] = []
    for form in mma.forms:
        types = f"any of {', '.join(form.operands)}" if form.mixed else f"{form.operands[0]},{form.operands[0]}"
        allowed = f" with precision={form.precision}" if form.precision else ""
        shown.append(f"{types} accumulated in {form.acc}{allowed}")
    return "; ".join(dict.fromkeys(shown))


def instruction_of(mma: Mma, problem: Problem, target: Target) -> Tile:
    """The instruction of the problem's types, at whatever precision allows them."""
    for precision in PRECISIONS:
        forms = forms_of(mma, problem, precision, target)
        if forms:
            return forms[0].instruction
    return mma.forms[0].instruction


def guarding_edges(problem: Problem) -> str:
    """The operations of warps that take the problem's types, at some precision, and sizes that no tile divides; for
    messages."""
    found = (each for each in mmas().values() if not each.whole_tiles and not each.by_descriptor)
    return " or ".join(
        each.name
        for each in found
        if any(problem.a in form.operands and problem.acc == form.acc for form in each.forms)
    )


def full_rate_seconds(mma: Mma, problem: Problem, target: Target) -> float:
    """Seconds of the problem's products where all SMs multiply at the full rate."""
    return problem.flops / (mma.rate(problem, target) * target.clock_hz * target.sms)


def tensor_core_rate(problem: Problem, target: Target) -> float:
    """Operations in one clock of an SM through mma.sync and WMMA, a multiplication and an addition being two."""
    rates = target.rates
    if problem.a == "f64":
        return rates.f64 or rates.fma_f64
    relative = {"f32": rates.tf32, "i8": rates.i8}.get(problem.a, 1.0)
    if problem.acc == "f16":
        relative = rates.f16_f16
    return target.tensor_flops_clock_sm * relative
