"""mfma: AMD's matrix instructions of CDNA 2 and 3, a wave of 64 lanes at a time.

Shapes, types and fragments: AMD's "Instinct MI200" and "MI300" instruction set manuals, "Matrix Arithmetic
Instructions". f32 is multiplied as f32 and f64 as f64, exactly as fused multiply-adds would. CDNA 2 takes subnormal f16
and bf16 for zero.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mlir_gemm.parts.base import Form, Mma, Rules
from mlir_gemm.parts.warp_level.clocks import tensor_core_rate
from mlir_gemm.parts.warp_level.cost import LANES
from mlir_gemm.parts.warp_level.search import searching
from mlir_gemm.parts.waves import CHUNK, registers_needed, wave_fragments
from mlir_gemm.spec.passes import at, step
from mlir_gemm.spec.problem import Problem, element_bytes
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target

_SHORT, _LONG = frozenset({"mfma.i8x16"}), frozenset({"mfma.i8x32"})
_proposed = searching("mfma")


def signed_bytes(problem: Problem, _: Schedule, __: Target) -> str | None:
    """Bytes are multiplied as signed ones only."""
    if not problem.unsigned:
        return None
    return f"mma=mfma multiplies signed bytes only, and {' and '.join(problem.unsigned)} is unsigned; expected mma=simt"


def _search(problem: Problem, target: Target, pinned: Mapping[str, Any], wide: bool) -> Iterator[Schedule]:
    """Warp tiles whose steps of k take 16 bytes of each lane, where k runs along the rows of an operand: several
    instructions."""
    along_k = problem.a_order == "mk" or problem.b_order == "nk"
    for schedule in _proposed(problem, target, pinned, wide):
        m, _, k = schedule.instruction
        together = max(1, CHUNK * 64 // (m * k * element_bytes(problem, "a")))
        if "warp" not in pinned and along_k and schedule.block[2] % (k * together) == 0:
            yield schedule.replace(warp=(*schedule.warp[:2], k * together))
        else:
            yield schedule


PART = Mma(
    "mfma",
    rank=1,
    forms=(
        Form(("f16",), False, "f32", (16, 16, 16)),
        Form(("f16",), False, "f32", (32, 32, 8)),
        Form(("bf16",), False, "f32", (16, 16, 16)),
        Form(("bf16",), False, "f32", (32, 32, 8)),
        Form(("f32",), False, "f32", (16, 16, 4)),
        Form(("f32",), False, "f32", (32, 32, 2)),
        Form(("f64",), False, "f64", (16, 16, 4)),
        Form(("i8",), False, "i32", (16, 16, 32), needs=_LONG),
        Form(("i8",), False, "i32", (32, 32, 16), needs=_LONG),
        Form(("i8",), False, "i32", (16, 16, 16), needs=_SHORT),
        Form(("i8",), False, "i32", (32, 32, 8), needs=_SHORT),
    ),
    passes=lambda schedule, _: [at("lower", "mma", step("mma-to-mfma", instruction=schedule.instruction))],
    search=_search,
    family=LANES,
    rate=tensor_core_rate,
    registers=registers_needed,
    needs=frozenset({"mfma.amd"}),
    rules=Rules(problem=(signed_bytes,)),
    unit="wave",
    rival=True,
    by_matrix=lambda problem, operand: (problem.a_order == "mk") if operand == "a" else (problem.b_order == "nk"),
    fragments=wave_fragments,
)
