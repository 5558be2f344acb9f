"""What is added from outside the package: passes at a slot of a stage, parts, selectors, front ends, rewrite rules,
element types, algebras.

Registered by a call, `mlir_gemm.register(...)`, or by an entry point of the group `mlir_gemm.parts`, which names one of
those things (`extension_points`, `parts.base`) or a function without arguments that registers some. Entry points are
read before the first use. Whoever makes use of a kind of extension asks for it here by its class.
"""

from __future__ import annotations

import inspect
import os
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from mlir_gemm.errors import Error
from mlir_gemm.spec.fields import Field

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

ENTRY_POINTS = "mlir_gemm.parts"
T = TypeVar("T")


@dataclass(frozen=True)
class Extension:
    """One registered thing."""

    kind: str
    """The name of its class: `PassAt`, `Part`, `Selector`, `FrontEnd`, `Rewrites`, `ElementType`, `Bilinear`."""
    name: str
    value: Any
    origin: str
    """The package that it comes from, with its version where that is known."""
    fingerprint: str
    """Stands for the sources of that package and for values that are plain data: compiled kernels are kept apart by
    it."""


class _Registry:
    def __init__(self) -> None:
        self.items: list[Extension] = []
        self.loaded = False
        self.listeners: list[Callable[[], None]] = []
        self.lock = threading.RLock()


_REGISTRY = _Registry()


def _tell() -> None:
    for forget in _REGISTRY.listeners:
        forget()


def register(value: Any) -> None:
    """Adds a thing for all that is compiled from here on in this process. Raises Error where it is not well formed, or
    its name is taken."""
    here = inspect.currentframe()
    caller = here.f_back if here is not None else None
    _add(value, caller.f_globals.get("__name__", "__main__") if caller is not None else "__main__")


def _add(value: Any, caller: str) -> None:
    if hasattr(value, "check"):
        value.check()
    kind, name = type(value).__name__, getattr(value, "name", None)
    if not isinstance(name, str) or not name:
        raise Error(
            f"{value!r} cannot be registered: expected a PassAt, a Part, a Selector, a FrontEnd, Rewrites, an "
            "ElementType or a Bilinear"
        )
    for each in (*getattr(value, "fields", ()), *getattr(value, "own_fields", ())):
        if not isinstance(each, Field):
            raise Error(f"{kind} '{name}': {each!r} is no field; expected mlir_gemm.Field(name, help, ...)")
    maker = _maker(value)
    origin, sources = _origin(maker or caller, "" if maker else repr(value))
    with _REGISTRY.lock:
        if any((item.kind, item.name) == (kind, name) for item in _REGISTRY.items):
            raise Error(f"{kind} '{name}' is registered already; unregister it first")
        _REGISTRY.items.append(Extension(kind, name, value, origin, sources))
        _tell()


def unregister(name: str) -> None:
    """Removes what is registered under a name. Raises Error where there is nothing."""
    with _REGISTRY.lock:
        kept = [item for item in registered() if item.name != name]
        if len(kept) == len(_REGISTRY.items):
            raise Error(f"nothing is registered as '{name}'")
        _REGISTRY.items[:] = kept
        _tell()


def registered() -> tuple[Extension, ...]:
    """All that is registered, in order."""
    with _REGISTRY.lock:
        if not _REGISTRY.loaded:
            _REGISTRY.loaded = True
            _load_entry_points()
        return tuple(_REGISTRY.items)


def on_change(forget: Callable[[], None]) -> None:
    """Has a function called whenever something is registered or taken away."""
    _REGISTRY.listeners.append(forget)


def of(cls: type[T]) -> tuple[T, ...]:
    """The registered things of a class, in order."""
    return tuple(item.value for item in registered() if isinstance(item.value, cls))


def so_far(cls: type[T]) -> tuple[T, ...]:
    """The things of a class that are registered by now: entry points are not read for it."""
    return tuple(item.value for item in _REGISTRY.items if isinstance(item.value, cls))


def fingerprint() -> str:
    """A text that identifies all that is registered; empty for nothing."""
    return " ".join(f"{item.kind}:{item.name}:{item.fingerprint}" for item in registered())


def _load_entry_points() -> None:
    if not any(_has_entry_points(folder or ".") for folder in sys.path):
        return
    import importlib.metadata  # late: it takes 20 ms to load and to ask, and few have something installed

    for point in importlib.metadata.entry_points(group=ENTRY_POINTS):
        _load(point)


def _has_entry_points(folder: str) -> bool:
    """Whether a package in a folder of the path has entry points of ours; True where that cannot be told."""
    if not os.path.isdir(folder):
        return os.path.exists(folder)  # an archive
    names = [name for name in os.listdir(folder) if name.endswith(("-info", ".egg"))]
    for path in (os.path.join(folder, name, "entry_points.txt") for name in names):
        if os.path.isfile(path) and f"[{ENTRY_POINTS}]" in Path(path).read_text(encoding="utf-8", errors="replace"):
            return True
    return any(name.endswith(".egg") for name in names)


def _load(point: EntryPoint) -> None:
    try:
        found = point.load()
    except Exception as problem:
        raise Error(
            f"the entry point '{point.name}' of {ENTRY_POINTS} ({point.value}) does not load: {problem}"
        ) from None
    found() if callable(found) and not hasattr(found, "name") else _add(found, point.module)


def _maker(value: Any) -> str | None:
    """The module whose code a thing is; None for plain data, which are whoever's registers them."""
    own: list[Any] = [getattr(value, "cls", None), *cast("dict[str, Any]", vars(value)).values()]
    own += [each for held in own if isinstance(held, Mapping) for each in cast("Mapping[str, Any]", held).values()]
    for each in own:
        module = getattr(each, "__module__", None)
        if callable(each) and isinstance(module, str) and not module.startswith(("mlir_gemm.spec", "builtins")):
            return module
    return None if type(value).__module__.startswith("mlir_gemm.") else type(value).__module__


def _origin(module: str, data: str) -> tuple[str, str]:
    """The package of a module, and what stands for its sources and for the data of what it registers."""
    import importlib.metadata  # late: most processes register nothing

    package = module.partition(".")[0]
    versions = importlib.metadata.packages_distributions().get(package, [])
    origin = f"{versions[0]} {importlib.metadata.version(versions[0])}" if versions else module
    import hashlib  # late: it takes 4 ms to load, and most processes register nothing

    digest = hashlib.blake2b((origin + data).encode(), digest_size=12)
    for path in _sources(sys.modules.get(package), sys.modules.get(module)):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return origin, digest.hexdigest()


def _sources(package: Any, module: Any) -> list[Path]:
    folders = [Path(each) for each in getattr(package, "__path__", ())]
    if folders:
        return sorted(path for folder in folders for path in folder.rglob("*.py"))
    file = getattr(module, "__file__", None)
    return [Path(file)] if file else []
