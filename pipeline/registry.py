"""All passes by name: ours, by the stage in which they run, and upstream's. Reads them from text, describes them."""

from __future__ import annotations

import dataclasses
import difflib
import importlib
from collections.abc import Sequence
from typing import Any

from mlir_gemm.dialect.bindings import ir, passmanager
from mlir_gemm.dialect.locations import from_mlir
from mlir_gemm.dialect.verifier import trusted
from mlir_gemm.errors import PassError
from mlir_gemm.passes.base import Pass
from mlir_gemm.pipeline.rehearsal import fatal_end
from mlir_gemm.spec import extensions
from mlir_gemm.spec.extension_points import PassAt
from mlir_gemm.spec.passes import UPSTREAM, PassSpec, shown

BY_STAGE: dict[str, tuple[str, ...]] = {
    "import": (
        "name-sizes", "check-module", "raise-to-tensors", "simplify-generics", "widen-accumulator", "drop-unit-dims",
        "propagate-reshapes", "fold-movement", "add-init-last", "fold-operands", "fuse-elementwise", "extend-operands",
        "separate-results", "drop-empty", "copy-operands", "copy-results", "group-kernels", "outline-kernels",
        "normalise-kernels", "inline-kernel", "describe-arguments", "free-sizes",
    ),
    "select": (
        "pin-schedule", "select-precision", "join-extensions", "narrow-accumulator", "select-relayout", "pad-operands",
        "select-divide",
        "divide-steps", "select-swap", "swap-sides", "select-schedule",
    ),
    "tile": ("keep-reference", "share-sizes", "reveal-padding", "tile-loops", "point-loops"),
    "fuse": ("fuse-blocks",),
    "promote": ("promote-operands",),
    "tensorize": ("tensorize",),
    "accumulate": ("accumulate", "sink-init"),
    "pipeline": ("multi-buffer", "order-copies", "prefetch-copies", "stream-copies", "specialize-copies"),
    "parallelize": ("parallelize-blocks", "map-blocks", "stream-steps", "persist-blocks", "share-copies"),
    "distribute": ("split-steps", "distribute-warps", "sum-parts"),
    "describe": ("stage-stores", "stage-rows", "describe-copies", "keep-lines"),
    "launch": ("launch-blocks", "launch-points", "pass-sizes", "cluster-blocks", "limit-registers"),
    "lower": (
        "apply-layouts", "unroll-loops", "stage-epilogue", "mma-to-wmma", "mma-to-sync", "mma-to-fma", "mma-to-wgmma",
        "distribute-copies", "spread-copies", "lower-async", "lower-rings", "lower-roles", "overlap-launches",
        "place-shared", "fold-subviews", "swizzle-accesses", "expand-fp8", "expand-math", "pace-epilogue",
        "lower-unit-ids", "sink-positions", "check-lowered",
    ),
    "nvvm": ("select-math", "mark-maps"),
}  # fmt: skip
"""Our passes, by stage, in the order in which the pipeline uses them."""

NAMES = tuple(name for names in BY_STAGE.values() for name in names)

DECIDING = frozenset({"pin-schedule", "select-precision", "select-relayout", "select-divide", "select-swap",
                      "select-schedule"})  # fmt: skip
"""Passes that ask the tile model; they stand beside the pipeline, since no other pass knows of the model."""


def pass_class(name: str) -> type[Pass]:
    """The class of one of our passes, or of one that is registered. Modules are imported on first use."""
    if name not in NAMES:
        return next(each.cls for each in extensions.of(PassAt) if each.name == name)
    home = "pipeline.selection" if name in DECIDING else "passes"
    module = importlib.import_module(f"mlir_gemm.{home}.{name.replace('-', '_')}")
    found = getattr(module, "".join(part.capitalize() for part in name.split("-")))
    assert issubclass(found, Pass)
    return found


@dataclasses.dataclass(frozen=True)
class Upstream(Pass):
    """Passes of MLIR itself, as the text of a pipeline over a module."""

    name = UPSTREAM
    pipeline: str = ""

    def run(self, module: Any) -> None:
        try:
            with trusted():
                passmanager.PassManager.parse(f"builtin.module({self.pipeline})").run(module.operation)
        except ir.MLIRError as error:
            raise from_mlir(error, f"upstream pass '{self.pipeline}' failed") from None

    def __str__(self) -> str:
        return self.pipeline


def known_names() -> tuple[str, ...]:
    """The names of all passes: ours, and those that are registered."""
    return (*NAMES, *(each.name for each in extensions.of(PassAt)))


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
        return _upstream(text.strip())
    if brace and not rest.endswith("}"):
        raise PassError(f"pass '{name}': options are not closed by a brace in '{text}'")
    made = pass_class(name).from_text(rest[:-1] if brace else "")
    fields = [field for field in dataclasses.fields(made) if getattr(made, field.name) != field.default]
    return PassSpec(name, tuple((field.name, getattr(made, field.name)) for field in fields))


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
    rows = [_row(stage, name) for stage, names in BY_STAGE.items() for name in names]
    added = [_row(f"{each.stage}, slot {each.slot}", each.name) for each in extensions.of(PassAt)]
    return [*rows, *added]


def _row(stage: str, name: str) -> tuple[str, str, str, str]:
    cls = pass_class(name)
    options = " ".join(f"{field.name}={shown(field.default)}" for field in dataclasses.fields(cls))
    return stage, name, options, (cls.__doc__ or "").splitlines()[0]
