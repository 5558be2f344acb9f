"""Rules of `tma` and `wgmma`: warpgroups multiply what a warp copies into a ring of stages, as wholes with `wgmma`,
each warp for itself with `mma_sync`."""

from __future__ import annotations

from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target
from mlir_gemm.tile_model.grid import steps
from mlir_gemm.tile_model.layout import NARROWEST, buffer, panel_of
from mlir_gemm.tile_model.operators import element_bytes
from mlir_gemm.tile_model.wording import multiples, shown_tile

PANEL = 128
"""Bytes of a row of a panel of `swizzle128`: what an operand with k along its rows has."""
WIDEST, MOST_GROUPS = 256, 3
"""Columns of a warpgroup's tile, and warpgroups that multiply."""
ACCUMULATORS, MOST_ACCUMULATORS = 160, 192
"""Registers of accumulators in a thread: with two warpgroups or more, and with one."""
MOST_BLOCKS, MOST_CLUSTER = 8, 4
"""Blocks of a cluster in all, and of those below or beside each other that share copies."""
TMA_BITS = 128
"""What rows in global memory must be multiples of for the copy engine."""
ALSO = ("mma_sync",)
"""Operators beside `wgmma` that read what the copy engine brings."""
WARPS = 4
"""Warps of a warpgroup."""


def together(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    """One copy and one layout that come together, with `wgmma` or `mma_sync`, and fields that they have no use for."""
    parts = {"operator": "wgmma", "copy": "tma", "layout": "swizzle128"}
    given = {name: getattr(schedule, name) for name in parts}
    asked = [name for name, value in parts.items() if given[name] == value]
    if not asked:
        for name in ("persistent", "pace", "stream", "cluster_m", "cluster_n", "split", "turns", "keep_a", "keep_b"):
            if getattr(schedule, name) != getattr(Schedule, name):
                return f"{name}={getattr(schedule, name)}: expected {getattr(Schedule, name)} without copy=tma"
        return None
    for name, value in parts.items():
        if given[name] != value and given[name] not in ALSO:
            shown = " or ".join([value, *ALSO]) if name == "operator" else value
            return f"{name}={given[name]} with {asked[0]}={parts[asked[0]]}: expected {name}={shown}"
    for name, wanted in (("promote", True), ("accumulate", True), ("pad", 0)):
        if getattr(schedule, name) != wanted:
            shown = {True: "on", False: "off"}.get(getattr(schedule, name), getattr(schedule, name))
            asking = "operator=wgmma" if schedule.operator == "wgmma" else "copy=tma"
            return f"{name}={shown} with {asking}: expected {name}={'on' if wanted is True else wanted}"
    return None


def copy_engine(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    if schedule.copy != "tma":
        return None
    for name, memory in (("A", problem.a_memory), ("B", problem.b_memory)):
        if memory:
            return (
                f"copy=tma: {name} is computed from {memory} on its way to shared memory, and the copy engine passes "
                "no registers; expected prefetch or plain"
            )
    for name, bits in (("A", problem.a_vector), ("B", problem.b_vector)):
        if bits < TMA_BITS:
            return (
                f"copy=tma: the rows of {name} start at multiples of {bits} bits only, the copy engine needs "
                f"{TMA_BITS}; expected copy=cp_async or prefetch"
            )
    return None


def group_orders(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    if schedule.operator != "wgmma" or element_bytes(problem, "a") == 2:
        return None
    if (problem.a_order, problem.b_order) == ("mk", "nk"):
        return None
    return (
        f"operands of {problem.a} in the orders {problem.a_order} and {problem.b_order}: wgmma transposes elements of "
        "16 bits only; expected mk and nk, or operator=mma_sync"
    )


def warps_of_groups(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    """What `mma_sync` needs where the copy engine copies for it: whole warpgroups, whose registers can be more than
    those of the one that copies, and rows of whole panels."""
    if schedule.operator not in ALSO or schedule.copy != "tma":
        return None
    for name in ("split", "turns", "stream", "pace"):
        given, least = getattr(schedule, name), getattr(Schedule, name)
        if given != least:
            return f"{name}={given} with operator={schedule.operator}: expected {least}, or operator=wgmma"
    if schedule.warps % WARPS or schedule.groups > MOST_GROUPS:
        return (
            f"block={shown_tile(schedule.block)}, warp={shown_tile(schedule.warp)}: {schedule.warps} warps with "
            f"copy=tma; expected {WARPS} to {WARPS * MOST_GROUPS}, in whole warpgroups of {WARPS}"
        )
    for operand in "ab":
        lying = buffer(problem, schedule, operand)
        if not lying.panel:
            return (
                f"block={shown_tile(schedule.block)}: rows of {operand.upper()} have {lying.row} bytes in shared "
                f"memory; with copy=tma expected a multiple of {NARROWEST}"
            )
    return None


def group_tiles(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    if schedule.operator != "wgmma":
        return None
    m, n, k = schedule.warp
    depth = PANEL // element_bytes(problem, "a")
    shown = f"warp={shown_tile(schedule.warp)}"
    if k != schedule.block[2]:
        return f"{shown}: a warpgroup multiplies the whole block tile's k; expected {schedule.block[2]}"
    if k % depth:
        nearest = multiples(k, depth)
        return f"block={shown_tile(schedule.block)}: its k must be a multiple of {depth}; the nearest: {nearest}"
    if n > WIDEST:
        return f"{shown}: its n of {n} is at most {WIDEST}"
    if schedule.groups > MOST_GROUPS:
        return f"block={shown_tile(schedule.block)}, {shown}: {schedule.groups} warpgroups; expected 1 to {MOST_GROUPS}"
    if schedule.turns > 1 and (schedule.turns > 2 or schedule.warps > 1 or not schedule.persistent):
        return (
            f"turns={schedule.turns}: expected 1, or 2 with persistent blocks and tiles of one warpgroup each "
            f"(persistent={schedule.persistent}, {schedule.warps} warpgroups)"
        )
    most = ACCUMULATORS if schedule.groups > 1 else MOST_ACCUMULATORS
    if m * n > 128 * most:
        return f"{shown}: {m * n // 128} accumulators a thread; expected at most {most}"
    for name, size, part, along_k in (
        ("m", schedule.block[0], m, problem.a_order == "mk"),
        ("n", schedule.block[1], n, problem.b_order == "nk"),
    ):
        why = "" if along_k else _no_panels(name, size, part, element_bytes(problem, "b"))
        if why:
            return f"{shown}: neighbours of an operand lie along {name}, so its {name} must be a multiple of {why}"
    return None


def _no_panels(name: str, size: int, part: int, element: int) -> str:
    """What the part of a block tile that a warpgroup has must be a multiple of where neighbours lie along it, if it is
    not."""
    panel = panel_of(size * element) // element
    if not panel:
        return str(NARROWEST // element)
    if part % panel:
        return f"{panel}, as the panels of a block's {name} of {size} are wide"
    return ""


def clusters(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    """Clusters divide what they copy together, and have whole tiles, or tiles outside the result where there are edges
    at which stores are tested."""
    if schedule.split > 1:
        why = _split(problem, schedule)
        if why:
            return why
    group = schedule.cluster_m * schedule.cluster_n
    if group == 1:
        return None
    shown = f"cluster_m={schedule.cluster_m}, cluster_n={schedule.cluster_n}"
    if max(schedule.cluster_m, schedule.cluster_n) > MOST_CLUSTER or schedule.cluster > MOST_BLOCKS:
        return f"{shown}: expected at most {MOST_CLUSTER} of each, and {MOST_BLOCKS} blocks in a cluster"
    if problem.dynamic:
        return f"{shown}: sizes known at run time only ({', '.join(problem.dynamic)}) need not divide into clusters"
    sides = ("m", problem.m, schedule.cluster_m), ("n", problem.n, schedule.cluster_n)
    for (name, extent, part), block in zip(sides, schedule.block[:2], strict=True):
        size = -(-extent // block)
        if size < part:
            return f"cluster_{name}={part}: expected at most the {size} tiles along {name}"
        if size % part and extent % block == 0:
            return f"cluster_{name}={part}: expected a divisor of the {size} tiles along {name}, which have no edge"
    if schedule.persistent % schedule.cluster:
        return f"persistent={schedule.persistent}: expected a multiple of the cluster's {schedule.cluster} blocks"
    for operand, sharing in (("a", schedule.cluster_n), ("b", schedule.cluster_m)):
        rows = buffer(problem, schedule, operand).rows
        if sharing > 1 and rows % (8 * sharing):
            return f"{shown}: the {rows} rows of a tile of {operand.upper()} do not divide into parts of whole 8 rows"
    return None


def shared_steps(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    """What the steps of the last tiles being shared among all blocks asks for."""
    shown = f"stream={schedule.stream}"
    if not schedule.stream:
        return None
    if not schedule.persistent:
        return f"{shown}: blocks that walk no tiles have no steps to share; expected persistent blocks, or stream=0"
    for name in ("split", "turns"):
        if getattr(schedule, name) > 1:
            return f"{shown}: each block has steps of its own; expected {name}=1"
    why = _whole(problem)
    if why:
        return f"{shown}: {why}; expected stream=0"
    if schedule.batch_invariant:
        return f"{shown}: which steps are added up apart depends on M; expected stream=0 with batch_invariant=on"
    if steps(problem, schedule) < 2 * schedule.stream:
        return f"{shown}: {steps(problem, schedule)} k steps; expected at least two for each block that shares a tile"
    return None


def _whole(problem: Problem) -> str:
    """Why the steps of a sum cannot be divided among blocks, if they cannot."""
    if problem.dynamic:
        return f"sizes known at run time only ({', '.join(problem.dynamic)})"
    return "the sum starts from what is in memory, which every part would add" if problem.reads_c else ""


def _split(problem: Problem, schedule: Schedule) -> str | None:
    shown = f"split={schedule.split}"
    if schedule.cluster > MOST_BLOCKS or schedule.persistent:
        return f"{shown}: expected at most {MOST_BLOCKS} blocks in a cluster, and persistent=0"
    why = _whole(problem)
    if why:
        return f"{shown}: {why}; expected split=1"
    if steps(problem, schedule) < 2 * schedule.split:
        return f"{shown}: {steps(problem, schedule)} k steps; expected at least two for each part"
    if schedule.warp[1] % (8 * schedule.split):
        return f"{shown}: the warp tile's n of {schedule.warp[1]} must be a multiple of {8 * schedule.split}"
    return None
