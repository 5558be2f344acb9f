"""dp4a: each lane adds up four products of bytes in one instruction, in ordinary arithmetic (PTX ISA, `dp4a`; sm_61 and
later). For chips whose tensor cores are not used for bytes.

It runs at the rate of 32-bit multiply-adds ("Arithmetic Instructions" in NVIDIA's CUDA programming guide), with four
products in each. The rate here follows from that; it was not measured."""

from __future__ import annotations

from mlir_gemm.parts.base import Form, Mma
from mlir_gemm.parts.warp_level.cost import LANES
from mlir_gemm.parts.warp_level.registers import registers_needed
from mlir_gemm.parts.warp_level.search import searching
from mlir_gemm.spec.passes import at, step
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target

PRODUCTS = 4
"""Of one instruction, along k."""
ROWS, COLUMNS = 4, 8
"""Lanes of a warp."""


def _rate(_: Problem, target: Target) -> float:
    return PRODUCTS * target.rates.fma_i32


def _fragments(problem: Problem, schedule: Schedule) -> int:
    """Registers of what a lane has loaded along the warp tile's k: words, and the bytes from which a word is put
    together where k runs across rows."""
    words = max(1, schedule.warp[2] // PRODUCTS)
    held = 0
    for size, lanes, along_k in (
        (schedule.warp[0], ROWS, problem.a_order == "mk"), (schedule.warp[1], COLUMNS, problem.b_order == "nk"),
    ):  # fmt: skip
        held += size // lanes * (words if along_k else words + 1)
    return held


PART = Mma(
    "dp4a",
    rank=2,
    forms=(Form(("i8",), False, "i32", (1, 1, PRODUCTS)),),
    passes=lambda _, __: [at("lower", "mma", step("mma-to-dp4a"))],
    search=searching("dp4a"),
    family=LANES,
    rate=_rate,
    registers=registers_needed,
    needs=frozenset({"dp4a.s32"}),
    lanes=(ROWS, COLUMNS),
    tensor_cores=False,
    fragments=_fragments,
)
