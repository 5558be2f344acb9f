"""Which part a field of the schedule belongs to, which fields a schedule has, and a schedule in one line for people.

The tiles and what every kernel has are shared; all other fields belong to parts. A schedule has the fields of its parts
and of those that it could have; fields of other parts mean nothing and stay at their defaults.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from typing import Any

from mlir_gemm.parts.base import Layout, Mainloop, Mma, Part, Raster
from mlir_gemm.parts.registry import (
    layout_of,
    layouts,
    mainloop_of,
    mainloops,
    mma_of,
    mmas,
    optional_parts,
    raster_of,
    rasters,
)
from mlir_gemm.parts.wording import shown_tile, shown_value
from mlir_gemm.spec import extensions
from mlir_gemm.spec.fields import Field, named
from mlir_gemm.spec.part_names import own_field
from mlir_gemm.spec.schedule import FIELDS, QUIET, SHARED, Schedule, ask_parts

AnyPart = Mma | Mainloop | Layout | Raster | Part


def _every() -> list[AnyPart]:
    return [*mmas().values(), *mainloops().values(), *layouts().values(), *rasters().values(), *optional_parts()]


def owners(name: str) -> list[AnyPart]:
    """The parts that a field belongs to; none where all kernels have it."""
    return [part for part in _every() if name in named(part.fields)]


def field_of(name: str) -> Field | None:
    """A field by its name, that of a part from outside by `part.field`; None where there is no such."""
    return _fields().get(name) or own_field(name)


@lru_cache(maxsize=1)
def _fields() -> dict[str, Field]:
    return {field.name: field for field in [*SHARED, *(field for part in _every() for field in part.fields)]}


extensions.on_change(_fields.cache_clear)


def is_available(part: Part, schedule: Schedule) -> bool:
    """Whether a schedule could have a part that is there or not, given what else it is made of."""
    mma = mma_of(schedule)
    if part.on_ring and not mainloop_of(schedule).producer:
        return False
    if part.by_warpgroups and mma.unit != "warpgroup":
        return False
    return mma.stores_rows or not part.by_rows


def owned(schedule: Schedule) -> Iterator[str]:
    """The fields that a schedule has of its parts, and of those that it could have."""
    yield from named(mma_of(schedule).fields)
    yield from named(mainloop_of(schedule).fields)
    for operand in "ab":
        yield from named(layout_of(schedule, operand).fields)
    yield from named(raster_of(schedule).fields)
    for part in optional_parts():
        if is_available(part, schedule):
            yield from named(part.fields)


def meaningless(schedule: Schedule) -> tuple[str, ...]:
    """The fields of parts that a schedule does not have."""
    return _meaningless(schedule.mma, schedule.mainloop, schedule.layout, schedule.layout_b, schedule.raster)


@lru_cache(maxsize=256)
def _meaningless(mma: str, mainloop: str, layout: str, layout_b: str, raster: str) -> tuple[str, ...]:
    """The same by the names of parts: what else a schedule could have depends on these alone."""
    own = set(owned(Schedule(mma=mma, mainloop=mainloop, layout=layout, layout_b=layout_b, raster=raster)))
    return tuple(name for name in FIELDS if name not in own and owners(name))


@lru_cache(maxsize=256)
def _with_meaning(mma: str, mainloop: str, layout: str, layout_b: str, raster: str) -> tuple[str, ...]:
    """The other fields."""
    without = {*_meaningless(mma, mainloop, layout, layout_b, raster)}
    return tuple(name for name in FIELDS if name not in without)


_QUIET = {name: FIELDS[name] for name in QUIET}
extensions.on_change(_meaningless.cache_clear)
extensions.on_change(_with_meaning.cache_clear)


def fields_of(schedule: Schedule) -> list[str]:
    """The fields that a schedule has, shared ones and those of its parts, in their order; without those that say
    nothing unless they are set."""
    fields = vars(schedule)
    said = [
        name
        for name in _with_meaning(schedule.mma, schedule.mainloop, schedule.layout, schedule.layout_b, schedule.raster)
        if name not in _QUIET or fields[name] != _QUIET[name]
    ]
    return [*said, *dict(schedule.own)]


def normalised(schedule: Schedule, changes: Mapping[str, Any], pinned: Collection[str] = ()) -> Schedule:
    """The schedule with some changes: parts that it has by default are named, and fields without a meaning are at their
    defaults, unless they are pinned."""
    made = schedule.replace(
        mma=mma_of(schedule).name, mainloop=mainloop_of(schedule).name, layout=layout_of(schedule).name,
        raster=raster_of(schedule).name, **changes,
    )  # fmt: skip
    if made.layout_b == made.layout:
        made = made.replace(layout_b="")
    return made.replace(**{name: FIELDS[name] for name in meaningless(made) if name not in pinned})


def applying(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Some fields of a schedule, without those of parts that a schedule of these parts does not have."""
    without = set(meaningless(Schedule.make(fields)))
    return {name: value for name, value in fields.items() if name not in without}


def wanted_fields(schedule: Schedule) -> dict[str, Any]:
    """The fields that a whole schedule fixes: those that it has, and others that are not at their defaults, about which
    a rule will complain."""
    made = normalised(schedule, {}, pinned=FIELDS)
    found = {name: made.value(name) for name in fields_of(made)}
    return found | {name: made.value(name) for name in meaningless(made) if made.value(name) != FIELDS[name]}


def summary(schedule: Schedule) -> str:
    """A schedule in one line for people: its parts, its tiles, and what differs from the defaults."""
    named = {name: part.name for name, part in (
        ("mma", mma_of(schedule)), ("mainloop", mainloop_of(schedule)), ("layout", layout_of(schedule)),
        ("raster", raster_of(schedule)),
    )}  # fmt: skip
    tiles = [f"block {shown_tile(schedule.block)}", f"warp {shown_tile(schedule.warp)}"]
    usual = {**FIELDS, **named}
    others = [
        f"{name} {shown_value(schedule.value(name))}"
        for name in fields_of(schedule)
        if name not in ("block", "warp", "instruction", *named) and schedule.value(name) != usual.get(name)
    ]
    return ", ".join([named["mma"], named["mainloop"], *tiles, *others])


ask_parts(fields_of, field_of)
