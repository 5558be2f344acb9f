"""What each part is, in words: what its own file says in its docstring."""

from __future__ import annotations

import importlib
import pkgutil
import re
from functools import cache
from types import ModuleType

from mlir_gemm.parts.fields import AnyPart
from mlir_gemm.parts.registry import layout_of, mainloop_of, mma_of, optional_parts, raster_of
from mlir_gemm.spec.part_names import FOLDERS
from mlir_gemm.spec.schedule import Schedule


def parts_of(schedule: Schedule) -> list[AnyPart]:
    """Everything that a schedule is made of."""
    layouts = dict.fromkeys(layout_of(schedule, operand).name for operand in "ab")
    named: list[AnyPart] = [mma_of(schedule), mainloop_of(schedule), raster_of(schedule)]
    named[2:2] = [layout_of(schedule, operand) for operand, _ in zip("ab", layouts, strict=False)]
    return [*named, *(part for part in optional_parts() if part.applies(schedule))]


def description(part: AnyPart) -> str:
    """The paragraph that a part's file begins with, without the part's name; empty for a part from outside."""
    module = _modules().get(_key(part))
    text = " ".join((module.__doc__ or "").split("\n\n")[0].split()) if module else ""
    return text.removeprefix(f"{part.name}: ").rstrip(".")


def file_of(part: AnyPart) -> str:
    """Where a part stands, such as `parts/mainloop/tma.py`; empty for a part from outside."""
    module = _modules().get(_key(part))
    return "/".join(module.__name__.split(".")[1:]) + ("/" if hasattr(module, "__path__") else ".py") if module else ""


def sentence(part: AnyPart, schedule: Schedule) -> str:
    """The same with the values of the fields that it names."""

    def with_value(found: re.Match[str]) -> str:
        return f"{found[1]} ({schedule.value(found[1])})" if hasattr(schedule, found[1]) else found[1]

    return re.sub(r"`(\w+)`", with_value, description(part))


def kind_of(part: AnyPart) -> str:
    """The name of the folder of its kind, such as `mainloop` or `scheduler`; `part` for one from outside."""
    return file_of(part).split("/")[1] if _key(part) in _modules() else "part"


def _key(part: AnyPart) -> str:
    return f"{type(part).__name__} {part.name}"


@cache
def _modules() -> dict[str, ModuleType]:
    """The file, or the folder, of each part of the package, by kind and name."""
    found: dict[str, ModuleType] = {}
    for folder in FOLDERS:
        package = importlib.import_module(f"mlir_gemm.parts.{folder}")
        for each in pkgutil.iter_modules(package.__path__):
            module = importlib.import_module(f"{package.__name__}.{each.name}")
            part = getattr(module, "PART", None)
            if part is not None:
                found[_key(part)] = module
    return found
