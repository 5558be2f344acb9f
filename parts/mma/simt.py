"""simt: fused multiply-adds of ordinary arithmetic, for every type. Operands are extended to the accumulator's type
before they are multiplied. Other algebras than that of numbers are computed here too (`spec/algebra.py`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import gcd
from typing import Any

from mlir_gemm.parts.base import Form, Mma, Rules
from mlir_gemm.parts.composite_rules import whole_elements
from mlir_gemm.parts.registry import mainloop_of, mainloops
from mlir_gemm.parts.warp_level.cost import LANES
from mlir_gemm.parts.warp_level.registers import fragments, registers_needed
from mlir_gemm.parts.warp_level.search import searching
from mlir_gemm.parts.wording import shown_tile
from mlir_gemm.spec.algebra import is_neutral, parse
from mlir_gemm.spec.backends import NVPTX
from mlir_gemm.spec.element_types import ELEMENT_BYTES
from mlir_gemm.spec.passes import Placed, at, step
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule, Tile
from mlir_gemm.spec.target import Target

INSTRUCTION: Tile = (1, 1, 1)
VECTORS = 64
"""Columns of a warp tile of which each lane has two vectors of four."""
_proposed = searching("simt")


ISSUED, LOGIC, COUNTED = 128, 64, 16
"""Operations on 32 bits that an SM does in one clock: of all kinds, with its four schedulers; minima, maxima, logic,
comparisons and sums of integers; counts of bits ("Arithmetic Instructions" in NVIDIA's CUDA programming guide). H200:
16.6 T/s of each of the second kind, 4.2 of the third (`2026-11-23-h200-algebras.json`)."""
_MULTIPLIERS = ("arith.addf", "arith.subf", "arith.mulf")
"""What the units do that multiply and add floating-point numbers."""
_LOGIC = ("arith.andi", "arith.ori", "arith.xori")
_MODIFIERS = ("math.absf", "arith.negf")
"""What the instruction does to its operand that takes the result."""
_PACKED = {"f16": 2, "bf16": 2, "i16": 2}
"""Elements of 16 bits in an instruction; of logic, as many as its 32 bits hold."""


def _terms(problem: Problem, target: Target) -> float:
    """Terms of another algebra that an SM combines in one clock."""
    names = [name for name in parse(problem.algebra).operations if name not in _MODIFIERS]
    plain = [name for name in names if name not in _MULTIPLIERS]
    merged = names[-2:] in (["arith.addi", "arith.minsi"], ["arith.addi", "arith.maxsi"]) or (
        len(names) > 1 and all(name in _LOGIC for name in names[-2:])
    )  # one instruction: VIADDMNMX, LOP3
    if problem.acc == "f64":
        return target.rates.fma_f64 / 2 / len(names)
    wide = ELEMENT_BYTES[problem.acc] / 4
    packed = 1 / wide if all(name in _LOGIC for name in names) else _PACKED.get(problem.acc, 1 / max(1.0, wide))
    counted = sum(name == "math.ctpop" for name in names)
    units = [(ISSUED, len(names) - merged), (LOGIC, len(plain) - merged), (COUNTED, counted)]
    return packed * min(rate / used for rate, used in units if used)


def _rate(problem: Problem, target: Target) -> float:
    if problem.algebra:
        return 2 * _terms(problem, target)
    rates = target.rates
    found = {"f64": rates.fma_f64, "i32": rates.fma_i32, "i64": rates.fma_i32 / 4}
    return found.get(problem.acc, rates.fma_f32)


def _search(problem: Problem, target: Target, pinned: Mapping[str, Any], wide: bool) -> Iterator[Schedule]:
    """For other algebras, warp tiles have two vectors for each lane where the block tile has that many columns, and
    block tiles have a power of two of rows: `xor` of bytes takes 4.5 ms by warp tiles of 48 columns, 2.3 by 32, 1.7 by
    64, and 2.4 where a block has 96 rows; a minimum of sums 7.0 by 48 columns and 5.6 by 64 (4096^3 on the H200)."""
    for schedule in _proposed(problem, target, pinned, wide):
        whole = schedule.warp[1] % VECTORS == 0 or schedule.block[1] < VECTORS
        even = schedule.block[0].bit_count() == 1
        if not problem.algebra or "warp" in pinned or "block" in pinned or (whole and even):
            yield schedule


def divides_numbers(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    """Slices of k are added up as numbers are."""
    if not problem.algebra or schedule.split_k_workspace == 1:
        return None
    return f"split_k_workspace={schedule.split_k_workspace} with {problem.algebra}: expected split_k_workspace=1"


def ends_with_k(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    """Operands that must be padded with something other than zeros beyond the end of k are loaded and completed in
    registers; an operand that is copied asynchronously must end with k."""
    if problem.pads_with_zeros or problem.a_memory or problem.b_memory or problem.k % schedule.block[2] == 0:
        return None
    return (
        f"block={shown_tile(schedule.block)} with {problem.algebra}: tiles of {schedule.block[2]} along k do not "
        f"divide k={problem.k}; the nearest: {gcd(problem.k, schedule.block[2])}"
    )


def some_k(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    """Where k may be 0 at run time, a main loop that computes a last step all the same combines with what fills it."""
    if "k" not in problem.dynamic or not problem.algebra or not mainloop_of(schedule).in_registers:
        return None
    if is_neutral(problem.algebra, problem.a, problem.b, problem.acc):
        return None
    others = [each.name for each in mainloops().values() if not (each.in_registers or each.producer)]
    return (
        f"mainloop={schedule.mainloop} with {problem.algebra} and a k known at run time only: nothing neutral is known "
        f"that it could go on with; expected {' or '.join(others)}"
    )


def _passes(_: Schedule, target: Target) -> Iterator[Placed]:
    """On NVIDIA's GPUs registers have two banks."""
    banked = target.backend == NVPTX
    yield at("tensorize", "tensorize", step("stage-components"))
    yield at("lower", "mma", step("mma-to-fma", singly=banked))
    if banked:
        yield at("lower", "mma", step("free-accumulators"))


PART = Mma(
    "simt",
    rank=4,
    forms=(
        Form(("f16", "bf16", "f32"), True, "f32", INSTRUCTION),
        Form(("f16", "bf16", "f32", "f64"), True, "f64", INSTRUCTION),
        Form(("i8", "i16", "i32"), True, "i32", INSTRUCTION),
        Form(("i8", "i16", "i32", "i64"), True, "i64", INSTRUCTION),
    ),
    passes=_passes,
    search=_search,
    family=LANES,
    rate=_rate,
    rules=Rules(shape=(divides_numbers, ends_with_k, some_k, whole_elements)),
    composites=True,
    registers=registers_needed,
    lanes=(4, 8),
    any_algebra=True,
    tensor_cores=False,
    fragments=fragments,
)
