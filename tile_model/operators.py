"""What each operator multiplies, as data: element types, instruction shapes, the tiles of a warp, the rate, and how
fragments come out of shared memory.

Shapes and fragment layouts: PTX ISA, "Matrix multiply-accumulate operation using mma instruction" and "wmma".
"""

from __future__ import annotations

from typing import NamedTuple

from mlir_gemm.spec.problem import ELEMENT_BYTES, Problem
from mlir_gemm.spec.schedule import Tile
from mlir_gemm.spec.target import Target


class Form(NamedTuple):
    """One way in which an operator multiplies."""

    operands: tuple[str, ...]
    """Element types of A and B."""
    mixed: bool
    """Whether A and B may be different ones of `operands`."""
    acc: str
    """Element type of the accumulator."""
    instruction: Tile
    precision: str = ""
    """The schedule's `precision` without which this form is not allowed; empty where it is exact."""
    since: int = 0
    """The first chip that has it, as the number in LLVM's name; 0: every chip that has the operator."""


SIMT: Tile = (1, 1, 1)
FORMS: dict[str, tuple[Form, ...]] = {
    "wmma": (Form(("f16",), False, "f32", (16, 16, 16)),),
    "mma_sync": (
        Form(("f16",), False, "f32", (16, 8, 16)),
        Form(("f16",), False, "f16", (16, 8, 16), "f16"),
        Form(("bf16",), False, "f32", (16, 8, 16)),
        Form(("f32",), False, "f32", (16, 8, 8), "tf32"),
        Form(("f64",), False, "f64", (16, 8, 16), since=90),
        Form(("f64",), False, "f64", (16, 8, 8), since=90),
        Form(("f64",), False, "f64", (8, 8, 4)),
        Form(("i8",), False, "i32", (16, 8, 32)),
    ),
    "wgmma": (
        Form(("f16",), False, "f32", (64, 8, 16)),
        Form(("f16",), False, "f16", (64, 8, 16), "f16"),
        Form(("bf16",), False, "f32", (64, 8, 16)),
        Form(("f32",), False, "f32", (64, 8, 8), "tf32"),
        Form(("i8",), False, "i32", (64, 8, 32)),
        Form(("f8E4M3FN", "f8E5M2"), True, "f32", (64, 8, 32), "f8"),
    ),
    "simt": (
        Form(("f16", "bf16", "f32"), True, "f32", SIMT),
        Form(("f16", "bf16", "f32", "f64"), True, "f64", SIMT),
        Form(("i8", "i16", "i32"), True, "i32", SIMT),
        Form(("i8", "i16", "i32", "i64"), True, "i64", SIMT),
    ),
}
"""The forms of each operator; where several take a type, the best first. `simt` extends its operands to the
accumulator's type before it multiplies. N of `wgmma` is what N is a multiple of."""
WMMA_OUTPUTS = ("f16", "f32")
GROUP_FLOPS = 4096
"""f16 operations in one clock of one SM through `wgmma` (Hopper white paper: 989 TFLOP/s dense on 132 SMs at 1.83 GHz).
Its instruction reads 32 bytes of k of each type in the same time."""
LANES = (4, 8)
"""Rows and columns of the lanes of a warp in `simt`: the smallest warp tile."""
SYNC_OPERATORS = ("mma_sync", "simt")
"""The operators that guard ragged edges and take any layout; `wmma` is for plain aligned products."""


def forms_of(operator: str, problem: Problem, precision: str, target: Target) -> list[Form]:
    """The forms in which the operator multiplies the problem's types at this precision on the chip, the best first."""
    return [
        form
        for form in FORMS[operator]
        if problem.acc == form.acc
        and problem.a in form.operands
        and problem.b in form.operands
        and (form.mixed or problem.a == problem.b)
        and form.precision in ("", precision)
        and form.since <= target.generation
    ]


def operators_for(precision: str, target: Target) -> list[str]:
    """The operators of a chip that can make use of a `precision` other than full."""
    return [name for name in target.operators if any(form.precision == precision for form in FORMS[name])]


def shown_forms(operator: str) -> str:
    """The types that an operator takes, for messages."""
    shown: list[str] = []
    for form in FORMS[operator]:
        types = f"any of {', '.join(form.operands)}" if form.mixed else f"{form.operands[0]},{form.operands[0]}"
        allowed = f" with precision={form.precision}" if form.precision else ""
        shown.append(f"{types} accumulated in {form.acc}{allowed}")
    return "; ".join(dict.fromkeys(shown))


def instruction_of(operator: str, problem: Problem, target: Target) -> Tile:
    """The instruction of the problem's types, at whatever precision allows them."""
    for precision in ("full", "tf32", "f16", "f8"):
        forms = forms_of(operator, problem, precision, target)
        if forms:
            return forms[0].instruction
    return FORMS[operator][0].instruction


def warp_unit(operator: str, instruction: Tile) -> Tile:
    """What the sizes of a warp tile must be multiples of."""
    return (*LANES, 1) if operator == "simt" else instruction


def by_matrix(operator: str, problem: Problem, operand: str) -> bool:
    """Whether the fragments of operand `a` or `b` are loaded as 8x8 matrices (ldmatrix): always for 16-bit elements,
    which it can transpose; for 8 and 32 bits when neighbours lie along k; never for 64. The rest is loaded element by
    element."""
    if operator != "mma_sync":
        return operator == "wmma"
    size = element_bytes(problem, operand)
    along_k = problem.a_order == "mk" if operand == "a" else problem.b_order == "nk"
    return size == 2 or (along_k and size != 8)


def element_bytes(problem: Problem, operand: str) -> int:
    """Bytes of an element of A or B in shared memory: as the operator takes it."""
    return ELEMENT_BYTES[problem.a if operand == "a" else problem.b]


def memory_bytes(problem: Problem, operand: str) -> int:
    """Bytes of an element of A or B in global memory, in front of a prologue where there is one."""
    if operand == "a":
        return ELEMENT_BYTES[problem.a_memory or problem.a]
    return ELEMENT_BYTES[problem.b_memory or problem.b]


def full_rate_seconds(operator: str, problem: Problem, target: Target) -> float:
    """Seconds of the problem's products where all SMs multiply at the full rate."""
    return problem.flops / (flops_clock_sm(operator, problem, target) * target.clock_hz * target.sms)


def flops_clock_sm(operator: str, problem: Problem, target: Target) -> float:
    """Operations that an SM does in one clock for the problem's types, a multiplication and an addition being two."""
    rates = target.rates
    if operator == "wgmma":
        return GROUP_FLOPS * 2 / ELEMENT_BYTES[problem.a]
    if operator == "simt":
        return {"f64": rates.fma_f64, "i32": rates.fma_i32, "i64": rates.fma_i32 / 4}.get(problem.acc, rates.fma_f32)
    if problem.a == "f64":
        return rates.f64 or rates.fma_f64
    relative = {"f32": rates.tf32, "i8": rates.i8}.get(problem.a, 1.0)
    if problem.acc == "f16":
        relative = rates.f16_f16
    return target.tensor_flops_clock_sm * relative
