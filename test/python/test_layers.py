"""The layers of the project: which folder may import from which, and no circle of modules anywhere.

All imports count, also those inside functions: a late import hides a circle, it does not undo it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BELOW: dict[str, tuple[str, ...]] = {
    "errors": (),
    "terminal": (),
    "spec": ("errors", "terminal"),
    "parts": ("spec",),
    "tile_model": ("parts",),
    "dialect": ("spec",),
    "lowering": ("dialect",),
    "passes": ("lowering",),
    "pipeline": ("passes", "tile_model"),
    "simulator": ("pipeline",),
    "runtime": ("simulator",),
    "bench": ("runtime",),
    "tuner": ("bench",),
    "viewer": ("runtime",),
    "tracing": ("runtime",),
    "tools": ("tuner", "viewer", "tracing"),
    "mlir_gemm": ("tools",),
}
"""What stands directly below each layer; what is below that may be used too."""
LOADS_NO_BINDINGS = ("errors", "spec", "parts", "tile_model")


def layer_of(module: str) -> str:
    """The layer of a module by its name below `mlir_gemm`."""
    first = module.split(".")[0]
    if first in ("progress", "usage", "version"):
        return "terminal"
    return first if first in BELOW else "mlir_gemm"


@cache
def modules() -> dict[str, Path]:
    """All modules by their names below `mlir_gemm`."""
    found: dict[str, Path] = {}
    folders = [path for path in ROOT.iterdir() if path.name in BELOW and path.is_dir()]
    for path in (path for folder in folders for path in folder.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        parts = parts[1:] if parts[0] == "mlir_gemm" else parts
        name = ".".join(part for part in parts if part != "__init__")
        found[name or "mlir_gemm"] = path
    return found


def imports(path: Path) -> Iterator[str]:
    """What a file imports from the project, also late, and by name (`import_module`)."""
    for node in ast.walk(ast.parse(path.read_text())):
        names: list[str] = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module") and node.args:
            first = node.args[0]
            names = [first.value] if isinstance(first, ast.Constant) and isinstance(first.value, str) else []
        for name in names:
            if name.startswith("mlir_gemm."):
                yield resolved(name.removeprefix("mlir_gemm."))


def resolved(name: str) -> str:
    """The module in which a name stands."""
    while name and name not in modules():
        name = name.rpartition(".")[0]
    return name or "mlir_gemm"


@cache
def arrows() -> dict[str, tuple[str, ...]]:
    """What each module imports."""
    return {name: tuple(dict.fromkeys(imports(path))) for name, path in modules().items()}


@cache
def below(layer: str) -> frozenset[str]:
    """The layers that a layer may use."""
    direct = BELOW[layer]
    return frozenset(direct).union(*(below(each) for each in direct))


@pytest.mark.parametrize("layer", BELOW)
def test_a_layer_imports_only_from_below(layer: str):
    wrong = [
        f"{name} imports {target}"
        for name, targets in arrows().items()
        for target in targets
        if layer_of(name) == layer and layer_of(target) != layer and layer_of(target) not in below(layer)
    ]
    assert wrong == []


def test_no_circle_of_modules():
    done: set[str] = set()
    way: list[str] = []
    circles: list[str] = []

    def visit(name: str) -> None:
        if name in way:
            circles.append(" -> ".join([*way[way.index(name) :], name]))
        elif name not in done:
            way.append(name)
            for target in arrows()[name]:
                if target != name and not name.startswith(f"{target}."):  # a package's own modules
                    visit(target)
            way.pop()
            done.add(name)

    for name in arrows():
        if name != "mlir_gemm":  # its public names are loaded on first use
            visit(name)
    assert circles == []


@pytest.mark.parametrize("layer", LOADS_NO_BINDINGS)
def test_the_model_loads_no_bindings(layer: str):
    reached: set[str] = set()
    waiting = [name for name in modules() if layer_of(name) == layer]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += arrows()[name]
    assert "dialect.bindings" not in reached
