"""What every mma expects of products that make numbers of B from elements with components (`tile.composite`)."""

from __future__ import annotations

from mlir_gemm.parts.layout import layout_field
from mlir_gemm.parts.registry import layout_of, mainloop_of, mma_of
from mlir_gemm.parts.wording import shown_tile, shown_value
from mlir_gemm.spec.element_types import ELEMENT_BYTES
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import FIELDS, Schedule
from mlir_gemm.spec.target import Target

_UNTRIED = (
    "split_k_workspace", "stream_k", "space", "cluster_m", "cluster_n", "split_k_cluster", "tiles_per_block",
    "promote", "promote_a", "promote_b", "promote_c", "fragments_ahead", "swap_ab",
)  # fmt: skip
"""Fields that such products have not been tried with."""
_NEIGHBOURS, _BYTES = 4, 16
"""Columns of a row of the result that a lane of ordinary arithmetic holds beside each other, and their bytes, at
most."""


def whole_elements(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    """Tiles are of whole elements, and a lane holds all components of those of the result that are its own."""
    count = problem.composite
    if not count:
        return None
    what = f"with B of elements with {count} components"
    if problem.algebra or problem.b_memory or (problem.planes and set(problem.dynamic) & set("nk")):
        return f"{problem} {what}: expected products of numbers, in planes of known n and k, with B as it is in memory"
    for name in _UNTRIED:
        value, usual = getattr(schedule, name), FIELDS[name]
        if value != usual:
            return f"{name}={shown_value(value)} {what}: expected {shown_value(usual)}"
    if set(problem.planes) & set("ab") and mainloop_of(schedule).asynchronous:
        return f"mainloop={schedule.mainloop} {what} in planes: expected copies through registers"
    if mainloop_of(schedule).producer:
        return f"mainloop={schedule.mainloop} {what}: expected copies by threads to shared memory"
    if layout_of(schedule, "b").turns and problem.b_order == "nk":
        return f"{layout_field(schedule, 'b')} {what} along k: expected a layout that keeps the order of memory"
    if schedule.block[2] % count or schedule.warp[2] % count:
        return f"block={shown_tile(schedule.block)} {what}: expected a k of tiles that {count} divides"
    lanes = mma_of(schedule).lanes
    if not lanes:
        return None
    most = min(_NEIGHBOURS, _BYTES // ELEMENT_BYTES[problem.acc])
    if count > most:
        return f"mma={schedule.mma} {what} summed up in {problem.acc}: expected at most {most}"
    if schedule.warp[1] % (lanes[1] * count):
        return f"warp={shown_tile(schedule.warp)} {what}: expected columns that {lanes[1] * count} divides"
    return None
