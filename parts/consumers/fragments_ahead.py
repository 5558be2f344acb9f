"""fragments_ahead: the first fragments of the next k tile are loaded before the last products of this one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mlir_gemm.parts.base import Part, Rules
from mlir_gemm.parts.layout import PAIR, copied
from mlir_gemm.parts.registry import mainloop_of, mma_of, mmas_on
from mlir_gemm.spec.backends import NVPTX
from mlir_gemm.spec.fields import Field
from mlir_gemm.spec.passes import at, step
from mlir_gemm.spec.problem import Problem, element_bytes
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target
from mlir_gemm.spec.tile_space import ALL


def loads_its_own(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    """Warps that load fragments themselves, in a loop over tiles that is unrolled inside."""
    mma = mma_of(schedule)
    if mma.by_descriptor:
        able = " or ".join(each.name for each in mmas_on(target) if not each.by_descriptor)
        return f"fragments_ahead=on with mma={mma.name}: expected fragments_ahead=off, or mma={able}"
    for name in ("unroll", "accumulate", "promote"):
        if not schedule.value(name):
            return f"fragments_ahead=on with {name}=off: expected {name}=on, or fragments_ahead=off"
    if schedule.unroll_by:
        return f"fragments_ahead=on with unroll_by={schedule.unroll_by}: expected unroll_by=0, or fragments_ahead=off"
    return None


def _offers(problem: Problem, schedule: Schedule, target: Target) -> Iterator[tuple[dict[str, Any], str]]:
    """On an H100 `mma_sync` is 1.03 times as fast with it in the mean of twelve products in code for sm_80, in code for
    sm_75 1.10 to 1.18 times where as many blocks fit an SM; `simt` as fast (`2026-11-24-h100-parameters.json.xz`). In
    f64, whose fragments are read one by one, 18 pairs on an H200 take 0.75 to 0.89 of the time, 0.83 in the mean; f32
    by `simt` 0.87 to 1.31 (`2026-11-27-h200-spaces.jsonl.xz`). Where registers load f16 one by one, which then must be
    there before the last products, four pairs take 0.97 to 1.17 (H200). Other elements, `wmma`, rings and steps
    known at run time only were not measured."""
    mma = mma_of(schedule)
    if mainloop_of(schedule).in_registers and any(copied(problem, schedule, side).vector < PAIR for side in "ab"):
        return
    if target.backend != NVPTX or mma.by_descriptor or mma.opaque or mainloop_of(schedule).producer:
        return
    counted = "k" not in problem.dynamic and schedule.space in ("", ALL)
    matrices = all(mma.by_matrix(problem, name) and element_bytes(problem, name) == 2 for name in "ab")
    doubles = mma.tensor_cores and problem.a == "f64"
    if counted and (matrices or doubles):
        yield {"fragments_ahead": True}, "tensor cores would wait for the first fragments after each barrier"


PART = Part(
    "fragments_ahead",
    lambda schedule: schedule.fragments_ahead,
    lambda _, __: [at("lower", "copies", step("load-fragments-ahead"))],
    fields=(
        Field(
            "fragments_ahead",
            "Load the first fragments of the next k tile before the last products of this one, so that no products "
            "wait for them after the barrier.",
        ),
    ),
    rules=Rules(shape=(loads_its_own,)),
    offers=_offers,
)
