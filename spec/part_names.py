"""The names of parts. A part is named like its file, so that names can be listed and checked without loading any."""

from __future__ import annotations

import importlib.util
import pkgutil
from functools import lru_cache
from typing import Any

from mlir_gemm.spec import extensions
from mlir_gemm.spec.fields import Field

FOLDERS = (
    "mma", "mainloop", "smem_layout", "scheduler", "consumers", "cluster", "raster", "space", "epilogue",
    "memory", "launch",
)  # fmt: skip
"""Folders of `parts/`, a kind of part each."""
KINDS = {
    "mma": "mma", "mainloop": "mainloop", "layout": "smem_layout", "layout_b": "smem_layout", "raster": "raster",
}  # fmt: skip
"""The fields of a schedule that name a part, with its kind."""


@lru_cache
def own_names(kind: str) -> tuple[str, ...]:
    """The names of this package's parts of a kind."""
    found = importlib.util.find_spec(f"mlir_gemm.parts.{kind}")
    places = found.submodule_search_locations if found else None
    return tuple(sorted(each.name for each in pkgutil.iter_modules(places or [])))


def names(field: str) -> tuple[str, ...]:
    """The names that a field of a schedule may have: this package's parts of that kind, and those registered."""
    return (*own_names(KINDS[field]), *added(field))


def added(field: str) -> tuple[str, ...]:
    """Those that are registered."""
    return tuple(each.name for each in extensions.registered() if getattr(each.value, "kind", "") == KINDS[field])


def own_field(name: str) -> Field | None:
    """A field that a part from outside has of its own, `part.field`; None where there is no such."""
    part, _, wanted = name.rpartition(".")
    for each in extensions.registered() if part else ():
        if each.name == part:
            return next((field for field in getattr(each.value, "own_fields", ()) if field.name == wanted), None)
    return None


def own_default(name: str) -> Any:
    """The default of such a field; None where there is none."""
    field = own_field(name)
    return field.default if field else None
