"""Schedules in results that were measured before fields and main loops had the names that they have now."""

from __future__ import annotations

from mlir_gemm.parts.fields import normalised
from mlir_gemm.spec.former_names import FIELDS, MAINLOOPS
from mlir_gemm.spec.schedule import Schedule


def read_schedule(text: str) -> Schedule:
    """The schedule of a text with present or former names; fields that mean nothing have their defaults."""
    items: list[str] = []
    for item in filter(None, text.split(",")):
        name, _, value = item.partition("=")
        if name == "turns":
            value = "on" if value == "2" else "off"
        items.append(f"{FIELDS.get(name, name)}={MAINLOOPS.get(value, value)}")
    return normalised(Schedule.make(Schedule.parse(",".join(items))), {})
