"""The part: traits, types, shapes and passes of WMMA."""

from __future__ import annotations

from collections.abc import Iterable

from mlir_gemm.parts.base import Form, Mma, Rules
from mlir_gemm.parts.mma.wmma import rules
from mlir_gemm.parts.mma.wmma.registers import registers_needed, uneven_vectors
from mlir_gemm.parts.mma.wmma.search import proposals
from mlir_gemm.parts.warp_level.clocks import tensor_core_rate
from mlir_gemm.parts.warp_level.cost import FRAGMENTS
from mlir_gemm.spec.element_types import ELEMENT_BYTES
from mlir_gemm.spec.passes import Placed, at, step
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target

EPILOGUE_PAD = 4
"""f32 elements added to each row of the epilogue's scratch, against bank conflicts."""


def _passes(schedule: Schedule, _: Target) -> Iterable[Placed]:
    instruction = schedule.instruction
    yield at("accumulate", "initialise", step("sink-init"))
    yield at("lower", "mma", step("wmma-epilogue", rows=instruction[0]), step("mma-to-wmma", instruction=instruction))


def _scratch(problem: Problem, schedule: Schedule) -> int:
    """Rows of a fragment for each warp, where the result is not stored as it was accumulated."""
    if problem.out == problem.acc:
        return 0
    return schedule.warps * schedule.instruction[0] * (schedule.warp[1] + EPILOGUE_PAD) * ELEMENT_BYTES[problem.acc]


def _features(schedule: Schedule, target: Target) -> str:
    """The other shapes came with PTX 6.1, and LLVM writes 6.0 for sm_70. 6.3 is the oldest that it takes for all chips
    whose fragments hold elements twice; for later chips it writes newer ones anyway."""
    return "+ptx63" if schedule.instruction != rules.SHAPES[0] and "wmma.replicated" in target.capabilities else ""


def _preferred(problem: Problem, legal: list[Schedule]) -> list[Schedule]:
    """Tiles that the threads cannot copy evenly are left out when there are others: their addresses take registers that
    are hard to estimate."""
    return [schedule for schedule in legal if not uneven_vectors(problem, schedule)] or legal


PART = Mma(
    "wmma",
    rank=2,
    forms=tuple(Form(("f16",), False, "f32", shape) for shape in rules.SHAPES),
    passes=_passes,
    search=proposals,
    family=FRAGMENTS,
    rate=tensor_core_rate,
    registers=registers_needed,
    needs=frozenset({"wmma.mma"}),
    rules=Rules(
        problem=(rules.whole_sizes, rules.plain_product),
        shape=(rules.block_divides_problem, rules.unaccumulated, rules.stride),
        resource=(rules.copies_even,),
    ),
    results=("f16", "f32"),
    default=True,
    opaque=True,
    whole_tiles=True,
    by_matrix=lambda _, __: True,
    features=_features,
    scratch=_scratch,
    preferred=_preferred,
)
