"""A package whose subpackage is wanted now, and whose own code is run when somebody uses it."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import types
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from typing import Any

_OWN = ("__all__", "__version__")
"""Names with underscores that only the package itself can answer. Others are asked of every module by those who look
through `sys.modules`, such as `inspect`."""


def defer(package: str, child: str) -> bool:
    """Makes `package.child`, a folder without an `__init__.py`, and all in it importable without running the code of
    `package`. Returns whether there is such a folder. Changes nothing where `package` is loaded already.

    A stand-in for `package` stays in `sys.modules`: native code asks for it at any time, because `PyImport_Import`
    imports the outermost package with every module. It goes when somebody imports `package` and uses it, who then gets
    all of it, on the modules of `package.child` that are loaded by then. Native libraries are thus loaded once.
    """
    spec = importlib.util.find_spec(package)
    places = [] if spec is None else [os.path.join(each, child) for each in spec.submodule_search_locations or ()]
    places = [each for each in places if os.path.isdir(each)]
    if spec is None or not places:
        return False
    inner = ModuleSpec(f"{package}.{child}", None, is_package=True)
    inner.submodule_search_locations = places  # fixed, so that it does not depend on what stands for the package
    module = importlib.util.module_from_spec(inner)
    stand_in = _StandIn(package)
    vars(stand_in).update({**vars(importlib.util.module_from_spec(spec)), child: module})
    if sys.modules.setdefault(package, stand_in) is stand_in:
        sys.modules[inner.name] = module
        sys.meta_path.insert(0, _Finder(stand_in, child))
    return True


@contextmanager
def later(name: str) -> Generator[None]:
    """Inside, an import of the module `name` gives a stand-in, which loads it on first use. Changes nothing where the
    module is loaded already."""
    stand_in = _Later(name)
    if sys.modules.setdefault(name, stand_in) is not stand_in:
        yield
        return
    try:
        yield
    finally:
        stand_in.withdraw()


class _Later(types.ModuleType):
    """Stands in for a module whose importer may never use it."""

    def withdraw(self) -> None:
        """From here on others get the module itself."""
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]

    def __getattr__(self, name: str) -> Any:
        self.withdraw()
        return getattr(importlib.import_module(self.__name__), name)


class _StandIn(types.ModuleType):
    """Stands for a package that has not been imported yet. It hands everything on to the package."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name not in _OWN:
            raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")
        return getattr(_complete(self), name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(_complete(self), name, value)

    def __dir__(self) -> Iterable[str]:
        return dir(_complete(self))


def _complete(stand_in: _StandIn) -> types.ModuleType:
    """The package itself; imported if it was not yet."""
    name = stand_in.__name__
    if sys.modules.get(name) is stand_in:
        sys.modules.pop(name, None)
    try:
        package = importlib.import_module(name)
    except BaseException:
        sys.modules.setdefault(name, stand_in)
        raise
    for each in [each for each in sys.modules if each.rpartition(".")[0] == name]:
        # The import system makes a module an attribute of its parent only where it loads the parent first.
        vars(package).setdefault(each.rpartition(".")[2], sys.modules[each])
    return package


class _Finder:
    """Has the package complete before any other module of it is imported."""

    def __init__(self, stand_in: _StandIn, child: str) -> None:
        self._stand_in = stand_in
        self._others = f"{stand_in.__name__}."
        self._inner = f"{stand_in.__name__}.{child}."

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> ModuleSpec | None:
        if not name.startswith(self._others) or name.startswith(self._inner):
            return None
        if sys.modules.get(self._stand_in.__name__) is self._stand_in:
            _complete(self._stand_in)
            module = sys.modules.get(name)
            if module is not None:  # the import system would load it again, by the specification that it has
                module.__spec__ = ModuleSpec(name, _Loaded(module))
                return module.__spec__
        return None


class _Loaded(Loader):
    """Loads a module that the package has imported by itself in the meantime."""

    def __init__(self, module: types.ModuleType) -> None:
        self._module = module
        self._spec = module.__spec__

    def create_module(self, spec: ModuleSpec) -> types.ModuleType:
        return self._module

    def exec_module(self, module: types.ModuleType) -> None:
        module.__spec__ = self._spec
