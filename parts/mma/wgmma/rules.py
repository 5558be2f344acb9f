"""Rules of wgmma: which operands it takes, and the tiles of warpgroups."""

from __future__ import annotations

from mlir_gemm.parts.block import MOST_CONSUMERS, consumer_warpgroups
from mlir_gemm.parts.layout import NARROWEST, panel_of
from mlir_gemm.parts.registry import mmas_on
from mlir_gemm.parts.sparse_rules import sparse_form, untried
from mlir_gemm.parts.wording import multiples, shown_tile
from mlir_gemm.spec.problem import Problem, by_registers, element_bytes, transposes_b
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target

PANEL = 128
"""Bytes of a row of a panel: what an operand with k along its rows has."""
WIDEST = 256
"""Columns of a warpgroup's tile."""
NOT_SPARSE = ("split_k_cluster", "split_k_workspace", "stream_k", "promotion", "space")
"""Fields that products with a 2:4 sparse operand have not been tried with."""
SPARSE_ROWS = 128
"""What rows of a block tile of a sparse A are a multiple of."""
MOST_TRANSPOSING = 2
"""Warpgroups that transpose B together: two share a square at most."""
ROWS = 64
"""Rows of an instruction."""
ACCUMULATORS, MOST_ACCUMULATORS = 160, 192
"""Registers of accumulators in a thread: with two warpgroups or more, and with one."""


def orders(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    if element_bytes(problem, "a") == 2 or problem.b_order == "nk" or transposes_b(problem):
        return None
    other = next(each.name for each in mmas_on(target) if each.rival)
    return (
        f"operands of {problem.a} in the orders {problem.a_order} and {problem.b_order}: wgmma takes B along k "
        f"only, but for elements of 8 and 16 bits; expected nk, or mma={other}"
    )


def sparse_operand(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    if not problem.sparse:
        return None
    if reason := sparse_form(problem):
        return reason
    least = SPARSE_ROWS * schedule.cluster_n  # blocks beside each other copy a part each
    if schedule.block[0] % least:
        near = multiples(schedule.block[0], least)
        return (
            f"block={shown_tile(schedule.block)} with a 2:4 sparse operand, whose metadata is swizzled in groups of 8 "
            f"rows that are for 16 each: its m must be a multiple of {least}; the nearest: {near}"
        )
    return untried(schedule, NOT_SPARSE)


def warpgroup_tiles(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    m, n, k = schedule.warp
    depth = PANEL // element_bytes(problem, "a")
    shown = f"warp={shown_tile(schedule.warp)}"
    warpgroups = consumer_warpgroups(schedule)
    if k != schedule.block[2]:
        return f"{shown}: a warpgroup multiplies the whole block tile's k; expected {schedule.block[2]}"
    if k % depth:
        nearest = multiples(k, depth)
        return f"block={shown_tile(schedule.block)}: its k must be a multiple of {depth}; the nearest: {nearest}"
    if n > WIDEST:
        return f"{shown}: its n of {n} is at most {WIDEST}"
    if warpgroups > MOST_CONSUMERS:
        return f"block={shown_tile(schedule.block)}, {shown}: {warpgroups} warpgroups; expected 1 to {MOST_CONSUMERS}"
    most = ACCUMULATORS if warpgroups > 1 else MOST_ACCUMULATORS
    if m * n > 128 * most:
        return f"{shown}: {m * n // 128} accumulators a thread; expected at most {most}"
    for name, size, part, along_k in (
        ("m", schedule.block[0], m, problem.a_order == "mk"),
        ("n", schedule.block[1], n, problem.b_order == "nk"),
    ):
        why = "" if along_k else _no_panels(name, size, part, element_bytes(problem, "b"))
        if name == "m" and part == ROWS and by_registers(problem):
            continue  # ldmatrix takes half a panel too
        if why:
            return f"{shown}: neighbours of an operand lie along {name}, so its {name} must be a multiple of {why}"
    return None


def transposed_tiles(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    """What B that is transposed in shared memory is: squares of 128 bytes, since each takes its own place again."""
    _, n, k = schedule.block
    if not transposes_b(problem):
        return None
    shown = f"block={shown_tile(schedule.block)} with B of bytes along n, which is transposed in shared memory"
    if k != PANEL:
        return f"{shown}: its k must be {PANEL}"
    if n % PANEL:
        return f"{shown}: its n must be a multiple of {PANEL}; the nearest: {multiples(n, PANEL)}"
    if consumer_warpgroups(schedule) > MOST_TRANSPOSING:
        return f"{shown} by {consumer_warpgroups(schedule)} warpgroups: expected at most {MOST_TRANSPOSING}"
    return None


def _no_panels(name: str, size: int, part: int, element: int) -> str:
    """What a warpgroup's part of a block tile must be a multiple of along the contiguous dimension; None where it
    is."""
    panel = panel_of(size * element) // element
    if not panel:
        return str(NARROWEST // element)
    if part % panel:
        return f"{panel}, as the panels of a block's {name} of {size} are wide"
    return ""
