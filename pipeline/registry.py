"""All passes by name: ours, by the stage in which they run, and upstream's. Reads them from text, describes them."""

from __future__ import annotations

import dataclasses
import difflib
import functools
import importlib
import importlib.util
import pkgutil
from collections.abc import Iterator, Sequence
from typing import Any

from mlir_gemm.dialect.bindings import ir, passmanager
from mlir_gemm.dialect.locations import from_mlir
from mlir_gemm.dialect.verifier import trusted
from mlir_gemm.errors import PassError
from mlir_gemm.passes.base import Pass
from mlir_gemm.pipeline.rehearsal import fatal_end
from mlir_gemm.spec import extensions, former_names
from mlir_gemm.spec.extension_points import PassAt
from mlir_gemm.spec.passes import UPSTREAM, PassSpec, shown
from mlir_gemm.spec.stages import ALL_STAGES

_PACKAGES = {
    "import": ("mlir_gemm.passes.importing",),
    "select": ("mlir_gemm.passes.select", "mlir_gemm.pipeline.selection"),
}
"""Where the passes of a stage lie if not in the package that is called like it: `import` is a keyword, and passes that
ask the tile model stand beside the pipeline, since no other pass knows of the model."""


@functools.cache
def modules() -> dict[str, dict[str, str]]:
    """By stage, in the order of the stages, and by name, alphabetically: the module of each of our passes. A pass is
    found by its file; nothing is imported for that but the packages."""
    return {stage: dict(sorted(_modules_of(stage))) for stage in ALL_STAGES}


def _modules_of(stage: str) -> Iterator[tuple[str, str]]:
    for package in _PACKAGES.get(stage, (f"mlir_gemm.passes.{stage}",)):
        found = importlib.util.find_spec(package)
        for each in pkgutil.iter_modules(found.submodule_search_locations if found else ()):
            yield each.name.replace("_", "-"), f"{package}.{each.name}"


def names() -> tuple[str, ...]:
    """The names of our passes, stage by stage."""
    return tuple(name for found in modules().values() for name in found)


def pass_class(name: str) -> type[Pass]:
    """The class of one of our passes, or of one that is registered. Modules are imported on first use. Raises PassError
    for other names."""
    module = next((found[name] for found in modules().values() if name in found), None)
    if module is None:
        added = next((each.cls for each in extensions.of(PassAt) if each.name == name), None)
        if added is None:
            raise PassError(_formerly(name) or f"there is no pass '{name}'")
        return added
    found = getattr(importlib.import_module(module), "".join(part.capitalize() for part in name.split("-")))
    assert issubclass(found, Pass)
    return found


@dataclasses.dataclass(frozen=True)
class Upstream(Pass):
    """Passes of MLIR itself, as the text of a pipeline over a module."""

    name = UPSTREAM
    pipeline: str = ""

    def run(self, module: Any, *, between: bool = True) -> None:
        """Runs the pipeline; with `between` the module is verified after each of its passes, without the rules of the
        dialect's operations, which MLIR's passes leave as they are."""
        try:
            manager = passmanager.PassManager.parse(f"builtin.module({self.pipeline})")
            manager.enable_verifier(between)
            with trusted():
                manager.run(module.operation)
        except ir.MLIRError as error:
            raise from_mlir(error, f"upstream pass '{self.pipeline}' failed") from None

    def __str__(self) -> str:
        return self.pipeline


def _formerly(name: str) -> str:
    """What to say of a name that a pass had in an earlier version; nothing for others."""
    return f"the pass '{name}' is now called '{former_names.PASSES[name]}'" if name in former_names.PASSES else ""


def known_names() -> tuple[str, ...]:
    """The names of all passes: ours, and those that are registered."""
    return (*names(), *(each.name for each in extensions.of(PassAt)))


def pass_of(spec: PassSpec) -> Pass:
    """The pass that a row of a list names."""
    cls = Upstream if spec.name == UPSTREAM else pass_class(spec.name)
    return cls(**dict(spec.options))


def parse_pass(text: str) -> PassSpec:
    """A pass from text: one of ours, `name{option=value ...}`, or anything that MLIR's own pass manager knows. Raises
    PassError for others, and for options that the pass does not have."""
    name, brace, rest = text.strip().partition("{")
    name = name.strip()
    if name not in known_names():
        if name in former_names.PASSES:
            raise PassError(_formerly(name))
        return _upstream(text.strip())
    if brace and not rest.endswith("}"):
        raise PassError(f"pass '{name}': options are not closed by a brace in '{text}'")
    made = pass_class(name).from_text(rest[:-1] if brace else "")
    fields = [field for field in dataclasses.fields(made) if getattr(made, field.name) != field.default]
    return PassSpec(name, tuple((field.name, getattr(made, field.name)) for field in fields))


@functools.cache
def _upstream(text: str) -> PassSpec:
    end = fatal_end("module {}", text)
    if end:
        raise PassError(f"MLIR does not take the pass '{text}': on an empty module it {end}")
    try:
        with ir.Context():
            passmanager.PassManager.parse(f"builtin.module({text})")
    except ValueError as error:
        reason, name = _reason(error), text.partition("{")[0]
        if f"'{name}'{_UNKNOWN}" not in reason:
            raise PassError(f"MLIR does not take the pass '{text}': {reason}") from None
        close = difflib.get_close_matches(name, known_names(), n=1)
        hint = f"; did you mean '{close[0]}'?" if close else ""
        raise PassError(f"'{text}' is neither a pass of ours nor one that MLIR knows{hint}") from None
    return PassSpec(UPSTREAM, (("pipeline", text),))


_UNKNOWN = " does not refer to a registered pass"


def _reason(error: ValueError) -> str:
    """What MLIR says is wrong with a pipeline: its first line, without the place in the text, which it points to in the
    lines that follow."""
    first = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    return first.rpartition("error: ")[2].removeprefix("<Pass-Options-Parser>: ")


def parse_passes(texts: Sequence[str]) -> list[PassSpec]:
    """Several passes from text."""
    return [parse_pass(text) for text in texts]


def describe() -> list[tuple[str, str, str, str]]:
    """(stage, name, options with their defaults, one line of what it does) of each pass."""
    rows = [_row(stage, name) for stage, found in modules().items() for name in found]
    added = [
        _row(f"{each.stage}, slot {each.slot}" if each.stage else "where a part names it", each.name)
        for each in extensions.of(PassAt)
    ]
    return [*rows, *added]


def about(name: str) -> tuple[str, str]:
    """The file of a pass, such as `passes/tile/tile_loops.py`, and what it does: the first paragraph of that file. Both
    are empty for a pass of MLIR's own, and the file for one that is registered."""
    module = next((found[name] for found in modules().values() if name in found), None)
    if module is None:
        added = next((each.cls for each in extensions.of(PassAt) if each.name == name), None)
        return "", (added.__doc__ or "").split("\n\n")[0] if added else ""
    text = " ".join((importlib.import_module(module).__doc__ or "").split("\n\n")[0].split())
    return "/".join(module.split(".")[1:]) + ".py", text.removeprefix(f"{name}: ")


def _row(stage: str, name: str) -> tuple[str, str, str, str]:
    cls = pass_class(name)
    options = " ".join(f"{field.name}={shown(field.default)}" for field in dataclasses.fields(cls))
    return stage, name, options, (cls.__doc__ or "").splitlines()[0]
