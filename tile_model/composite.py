"""Whether a product should read elements with components as they lie, or numbers that a kernel in front lays out.

Read as they lie, each component goes through memory once, and no buffer is written: B is a fraction of the numbers that
are multiplied. Numbers that are laid out can be multiplied in any way, by `wgmma` too, and are loaded as matrices.
"""

from __future__ import annotations

import dataclasses
from math import inf

from mlir_gemm.errors import Error
from mlir_gemm.parts.traffic import operand_bytes
from mlir_gemm.parts.warp_level.constants import FragmentConstants
from mlir_gemm.parts.wording import shown_time
from mlir_gemm.spec.element_types import ELEMENT_BYTES
from mlir_gemm.spec.passes import step
from mlir_gemm.spec.problem import Problem, element_bytes
from mlir_gemm.spec.target import Target
from mlir_gemm.tile_model.dividing import typical_part
from mlir_gemm.tile_model.rewriting import Alternative, Case
from mlir_gemm.tile_model.select import is_less, select

WIDEST = 128
"""Bits of the widest access."""
THROUGH_REGISTERS = {(16, 8, 16): 1.3, (8, 8, 4): 1.12}
"""How many times its predicted time a product of f64 takes whose numbers are made in registers, by the tensor cores'
instruction: complex ones of 1000^3, 2048^3 and 4096^3 take 247, 1500 and 13,200 to 13,700 us on an H100, predicted
were 161, 1323 and 10,430, and four real products take 10,200 (2026-11-28-h100-complex-algorithms.json.xz); by the
narrower instruction 19,970 us laid out 18,180 (H200, 2026-11-27-h200-components.json.xz). f32 is predicted to 3 %."""


def offer(case: Case) -> Alternative | None:
    """The product on the elements, where that is predicted to take less time than the kernel in front and the product
    after it; of planes, which import has brought together for that, always. None where nothing lays B out."""
    problem, target, pinned = case.problem, case.target, case.pinned
    if not problem.laid_out:
        return None
    read = reading(problem)
    try:
        after = _reading_seconds(read, case)
    except Error:
        return None
    try:
        typical = typical_part(problem, target, pinned) if case.divisible else problem
        product = select(typical, target, pinned).cost.total * (problem.flops / typical.flops)
    except Error:  # whatever is fixed allows only the other
        product = inf
    if not read.planes and not is_less(after, product + laying_out_seconds(problem, target)):
        return None

    def why() -> list[str]:
        apart = shown_time(laying_out_seconds(problem, target))
        would = f"take {shown_time(product)}" if product < inf else "have no legal schedule"
        return [
            f"elements  of {read.composite} components of B are read as they lie, not laid out by a kernel of its own,",
            f"          which would take {apart}; after it the product would {would}",
        ]

    note = f"elements of {read.composite} components of B are read as they lie, and become its numbers in registers"
    return Alternative(case.changed(read), step("read-components"), why, note=note)


def _reading_seconds(read: Problem, case: Case) -> float:
    found = select(read, case.target, case.pinned)
    schedule, total = found.schedule, found.cost.total
    launch = case.target.constants(FragmentConstants).launch
    return launch + (total - launch) * (THROUGH_REGISTERS.get(schedule.instruction, 1.0) if read.b == "f64" else 1.0)


def reading(problem: Problem) -> Problem:
    """The product on the elements of which its B is laid out."""
    count, order, *planes = problem.laid_out.split()
    row = {"k": problem.k, "n": problem.n}[order[1]] if order[1] not in problem.dynamic else int(count)
    row *= element_bytes(problem, "b") * 8
    return dataclasses.replace(
        problem,
        composite=int(count),
        laid_out="",
        planes="abd" if planes else "",
        b_order=order,
        b_vector=min(WIDEST, row & -row),
    )


def laying_out_seconds(problem: Problem, target: Target) -> float:
    """Seconds of the kernel in front: a launch, one read of the elements and one write of the numbers; of planes of
    the kernels around the product too."""
    count, _, *planes = problem.laid_out.split()
    moved, launches = operand_bytes(problem, "b") + operand_bytes(reading(problem), "b"), 1
    if planes:  # A is put together in front, and the result is taken apart by a kernel for each plane
        result = problem.batch * problem.m * problem.n * ELEMENT_BYTES[problem.out]
        moved, launches = moved + 2 * operand_bytes(problem, "a") + 2 * result, launches + 1 + int(count)
    return launches * target.constants(FragmentConstants).launch + moved / target.dram_bytes_s
