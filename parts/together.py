"""Rules about two parts at once, by their traits: asynchronous products and rings, rings and what needs them."""

from __future__ import annotations

from mlir_gemm.parts.base import Part
from mlir_gemm.parts.block import WARPGROUP, consumer_warpgroups
from mlir_gemm.parts.layout import NARROWEST, buffer
from mlir_gemm.parts.registry import (
    layout_of,
    mainloop_of,
    mainloops,
    mma_of,
    mmas,
    panelled,
    parts_of,
)
from mlir_gemm.parts.wording import shown_tile, shown_value
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import FIELDS, Schedule
from mlir_gemm.spec.target import Target

MOST_CONSUMERS = 3
"""Warpgroups that multiply, beside the one that copies."""


def rings(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    """A ring, its layout and operations that read it come together."""
    mma, mainloop, layout = mma_of(schedule), mainloop_of(schedule), layout_of(schedule)
    if not (mma.by_descriptor or mainloop.producer or layout.panels):
        return None
    asked = "mma" if mma.by_descriptor else "mainloop" if mainloop.producer else "layout"
    given = f"{asked}={getattr(schedule, asked)}"
    if not mma.reads_rings:
        able = " or ".join(each.name for each in mmas().values() if each.reads_rings)
        return f"mma={mma.name} with {given}: expected mma={able}"
    if not mainloop.producer:
        able = " or ".join(each.name for each in mainloops().values() if each.producer)
        return f"mainloop={mainloop.name} with {given}: expected mainloop={able}"
    if not layout.panels:
        return f"layout={layout.name} with {given}: expected layout={panelled().name}"
    for name, wanted in (("promote", True), ("accumulate", True)):
        value = getattr(schedule, name)
        if value != wanted:
            asking = f"mma={mma.name}" if mma.by_descriptor else f"mainloop={mainloop.name}"
            return f"{name}={shown_value(value)} with {asking}: expected {name}={shown_value(wanted)}"
    return None


def parts_on_rings(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    """Parts that need a warp of its own that copies, or whole warpgroups that multiply."""
    mma, mainloop = mma_of(schedule), mainloop_of(schedule)
    for part in parts_of(schedule):
        if part.on_ring and not mainloop.producer:
            able = " or ".join(each.name for each in mainloops().values() if each.producer)
            name = _field(part, schedule)
            shown, usual = shown_value(getattr(schedule, name)), shown_value(FIELDS[name])
            return f"{name}={shown}: expected {usual} without mainloop={able}"
        if part.by_warpgroups and mma.unit != "warpgroup":
            able = " or ".join(each.name for each in mmas().values() if each.unit == "warpgroup")
            name = _field(part, schedule)
            shown, usual = shown_value(getattr(schedule, name)), shown_value(FIELDS[name])
            return f"{name}={shown} with mma={mma.name}: expected {usual}, or mma={able}"
    return None


def _field(part: Part, schedule: Schedule) -> str:
    """The field that asks for a part."""
    return next((name for name in part.fields if getattr(schedule, name) != FIELDS[name]), part.fields[0])


def warps_on_rings(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    """What warps that multiply each for itself need where another one copies: whole warpgroups, whose registers can be
    more than those of the one that copies, and rows of whole panels."""
    mma, mainloop = mma_of(schedule), mainloop_of(schedule)
    if mma.by_descriptor or not mainloop.producer:
        return None
    if schedule.warps % WARPGROUP or consumer_warpgroups(schedule) > MOST_CONSUMERS:
        return (
            f"block={shown_tile(schedule.block)}, warp={shown_tile(schedule.warp)}: {schedule.warps} warps with "
            f"mainloop={mainloop.name}; expected {WARPGROUP} to {WARPGROUP * MOST_CONSUMERS}, in whole warpgroups of "
            f"{WARPGROUP}"
        )
    for operand in "ab":
        lying = buffer(problem, schedule, operand)
        if not lying.panel:
            return (
                f"block={shown_tile(schedule.block)}: rows of {operand.upper()} have {lying.row} bytes in shared "
                f"memory; with mainloop={mainloop.name} expected a multiple of {NARROWEST}"
            )
    return None
