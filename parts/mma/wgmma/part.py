"""The part: traits, types, shapes and passes of wgmma."""

from __future__ import annotations

from collections.abc import Iterable

from mlir_gemm.parts.base import Form, Mma, Rules
from mlir_gemm.parts.mma.wgmma import rules
from mlir_gemm.parts.mma.wgmma.cost import FAMILY
from mlir_gemm.parts.mma.wgmma.search import proposals
from mlir_gemm.spec.element_types import ELEMENT_BYTES
from mlir_gemm.spec.passes import Placed, at, step
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target

FLOPS = 4096
"""f16 operations in one clock of one SM (Hopper white paper: 989 TFLOP/s dense on 132 SMs at 1.83 GHz). The instruction
reads 32 bytes of k of each type in the same time."""
SPARSE = (64, 16, 32)
"""The instruction with a 2:4 sparse A, whose tiles are of columns that 16 divides. No other has this shape."""
BYTES = 32
"""The k of an instruction of elements of a byte."""
THREADS, ADDRESSING = 128, 40
"""Threads of a warpgroup, and registers of a thread beside its accumulators."""


def _rate(problem: Problem, _: Target) -> float:
    return FLOPS * 2 / ELEMENT_BYTES[problem.a] * (2 if problem.sparse else 1)


def _registers(_: Problem, schedule: Schedule, __: Target) -> int:
    return schedule.warp[0] * schedule.warp[1] // THREADS + ADDRESSING


def _features(schedule: Schedule, target: Target) -> str:
    """Sparse products, and bytes of which one operand has no sign and the other has, need a newer PTX than LLVM writes
    for sm_90a (PTX manual, wgmma.mma_async, "PTX ISA Notes"). A schedule does not tell signs: all bytes get it."""
    if schedule.instruction == SPARSE:
        return "+ptx82"
    return "+ptx84" if schedule.instruction[2] == BYTES and schedule.precision != "f8" else ""


def _passes(schedule: Schedule, _: Target) -> Iterable[Placed]:
    yield at("tensorize", "tensorize", step("compress-operand"))
    bytes_ = schedule.instruction[2] == BYTES
    if bytes_:
        yield at("pipeline", "mainloop", step("transpose-operand"))
    yield at("lower", "mma", step("mma-to-wgmma"))
    if bytes_:
        yield at("lower", "mma", step("lower-transposes"))
    yield at("lower", "positions", step("sink-positions"))


PART = Mma(
    "wgmma",
    rank=0,
    # N is the unit of the tile's N; an instruction has the N of the warp tile.
    forms=(
        Form(("f16",), False, "f32", (64, 8, 16)),
        Form(("f16",), False, "f16", (64, 8, 16), "f16"),
        Form(("bf16",), False, "f32", (64, 8, 16)),
        Form(("f32",), False, "f32", (64, 8, 8), "tf32"),
        Form(("i8",), False, "i32", (64, 8, BYTES)),
        Form(("f8E4M3FN", "f8E5M2"), True, "f32", (64, 8, BYTES), "f8"),
        Form(("f16",), False, "f32", SPARSE, sparse=True),
        Form(("bf16",), False, "f32", SPARSE, sparse=True),
    ),
    passes=_passes,
    search=proposals,
    family=FAMILY,
    rate=_rate,
    registers=_registers,
    features=_features,
    needs=frozenset({"wgmma.mma_async"}),
    rules=Rules(shape=(rules.orders, rules.sparse_operand, rules.warpgroup_tiles, rules.transposed_tiles)),
    unit="warpgroup",
    asynchronous=True,
    by_descriptor=True,
    reads_rings=True,
    stores_rows=True,
)
