"""All parts, by kind: those of the folders beside this file, found by their files, and those that are registered from
outside.

A file in one of the folders that has a `PART` is a part; nothing else lists it.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, TypeVar

from mlir_gemm.parts.base import Layout, Mainloop, Mma, Part, Raster
from mlir_gemm.spec import extensions
from mlir_gemm.spec.part_names import FOLDERS
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target

T = TypeVar("T")
Named = TypeVar("Named", Mma, Mainloop, Layout, Raster)


@lru_cache(maxsize=1)
def _own() -> tuple[Any, ...]:
    """Every `PART` of this package, folder by folder, file by file."""
    found: list[Any] = []
    for folder in FOLDERS:
        package = importlib.import_module(f"mlir_gemm.parts.{folder}")
        for each in pkgutil.iter_modules(package.__path__):
            part = getattr(importlib.import_module(f"{package.__name__}.{each.name}"), "PART", None)
            if part is not None:
                found.append(part)
    return tuple(found)


class _Found:
    """The parts by kind and name; the default of a kind goes by the empty name too. Built anew after registrations."""

    def __init__(self) -> None:
        self.mmas = _by_name(Mma, lambda part: part.rank)
        self.mainloops = _by_name(Mainloop, lambda part: part.rank)
        self.layouts = _by_name(Layout, lambda _: 0)
        self.rasters = _by_name(Raster, lambda _: 0)
        self.optional = tuple(sorted(_all(Part), key=lambda part: part.rank))
        self.beside = tuple(part for part in self.optional if part.beside)
        self.storing = tuple(part for part in self.optional if part.shared)
        self.mma_of = {**self.mmas, "": _default(self.mmas)}
        self.mainloop_of = {**self.mainloops, "": _default(self.mainloops)}
        self.layout_of = {**self.layouts, "": _default(self.layouts)}
        self.raster_of = {**self.rasters, "": _default(self.rasters)}


def _all(cls: type[T]) -> list[T]:
    return [*(each for each in _own() if isinstance(each, cls)), *extensions.of(cls)]


def _by_name(cls: type[Named], rank: Callable[[Named], int]) -> dict[str, Named]:
    return {each.name: each for each in sorted(_all(cls), key=rank)}


def _default(parts: Mapping[str, Named]) -> Named:
    """The part that a schedule has that names none of its kind."""
    return next(part for part in parts.values() if part.default)


_found: _Found | None = None


def _parts() -> _Found:
    global _found
    if _found is None:
        _found = _Found()
    return _found


def _forget() -> None:
    global _found
    _found = None


extensions.on_change(_forget)


def mmas() -> Mapping[str, Mma]:
    """The operations that multiply, by name, in the order in which the model tries them."""
    return _parts().mmas


def mainloops() -> Mapping[str, Mainloop]:
    """The main loops, by name, the preferred one of equals first."""
    return _parts().mainloops


def layouts() -> Mapping[str, Layout]:
    """The layouts of shared memory, by name."""
    return _parts().layouts


def rasters() -> Mapping[str, Raster]:
    """The orders of tiles, by name."""
    return _parts().rasters


def optional_parts() -> tuple[Part, ...]:
    """The parts that are there or not, in the order of their passes inside a slot."""
    return _parts().optional


def storing_parts() -> tuple[Part, ...]:
    """Ways in which results leave through shared memory."""
    return _parts().storing


def parts_beside() -> tuple[Part, ...]:
    """Parts that may have shared memory of their own beside a ring."""
    return _parts().beside


def mma_of(schedule: Schedule) -> Mma:
    """The operation that a schedule multiplies with."""
    return (_found or _parts()).mma_of[schedule.mma]


def mainloop_of(schedule: Schedule) -> Mainloop:
    """The main loop of a schedule."""
    return (_found or _parts()).mainloop_of[schedule.mainloop]


def layout_of(schedule: Schedule, operand: str = "a") -> Layout:
    """How operand `a` or `b` of a schedule lies in shared memory."""
    own = schedule.layout_b if operand == "b" else ""
    return (_found or _parts()).layout_of[own or schedule.layout]


def raster_of(schedule: Schedule) -> Raster:
    """The order in which a schedule's blocks walk the tiles."""
    return (_found or _parts()).raster_of[schedule.raster]


def parts_of(schedule: Schedule) -> Iterator[Part]:
    """The parts of a schedule that others do without."""
    return (part for part in optional_parts() if part.applies(schedule))


def has(part: Mma | Mainloop, target: Target) -> bool:
    """Whether a chip has what a part needs."""
    return part.needs <= target.capabilities


def mmas_on(target: Target) -> list[Mma]:
    """The operations that a chip has, in the order in which they are tried."""
    return [part for part in mmas().values() if has(part, target)]


def mainloops_on(target: Target) -> list[Mainloop]:
    """The main loops that a chip has."""
    return [part for part in mainloops().values() if has(part, target)]


def warpgroup_mma(target: Target) -> Mma | None:
    """The operation of a chip that warpgroups multiply with, if it has one."""
    return next((part for part in mmas_on(target) if part.unit == "warpgroup"), None)


def guarding_edges(problem: Problem, target: Target) -> str:
    """The operations of a chip's warps that take the problem's types, at some precision, and sizes that no tile
    divides; for messages."""
    found = (each for each in mmas_on(target) if not each.whole_tiles and not each.by_descriptor)
    return " or ".join(
        each.name
        for each in found
        if any(problem.a in form.operands and problem.acc == form.acc for form in each.forms)
    )


def unstaged() -> Mainloop:
    """The main loop of a schedule that stages nothing: one that does not load ahead."""
    return next(each for each in mainloops().values() if not each.ahead)


def padded() -> Layout:
    """The layout whose rows are padded, and keep the operands' order."""
    return next(each for each in layouts().values() if each.padded and not each.turns)


def turning() -> Layout:
    """The layout whose rows run along m and n whatever the operands' order."""
    return next(each for each in layouts().values() if each.turns)


def panelled() -> Layout:
    """The layout that the copy engine writes."""
    return next(each for each in layouts().values() if each.panels)


def chunks_swizzled() -> Layout:
    """The layout in which the chunks of a row change places, and which threads write."""
    return next(each for each in layouts().values() if each.swizzled and not each.panels)
