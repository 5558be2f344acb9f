"""All passes by name, and running lists of them: ours and upstream's, mixed."""

from __future__ import annotations

import dataclasses
import difflib
import importlib
from collections.abc import Sequence
from typing import Any, cast

from mlir_gemm.dialect.bindings import ir, passmanager
from mlir_gemm.dialect.locations import from_mlir, relabelled
from mlir_gemm.dialect.parse import COMPILER, new_context, parse_module
from mlir_gemm.errors import PassError
from mlir_gemm.passes.base import Pass

NAMES = (
    "name-sizes", "check-module", "raise-to-tensors", "simplify-generics", "widen-accumulator", "drop-unit-dims",
    "propagate-reshapes", "fold-movement", "add-init-last", "fold-operands", "fuse-elementwise", "extend-operands",
    "separate-results", "drop-empty", "copy-operands", "copy-results", "group-kernels", "outline-kernels",
    "normalise-kernels", "inline-kernel", "describe-arguments", "free-sizes", "share-sizes", "pad-operands",
    "divide-steps", "join-extensions", "swap-sides", "reveal-padding", "tile-loops", "fuse-blocks", "promote-operands",
    "tensorize", "accumulate", "sink-init", "multi-buffer", "order-copies", "prefetch-copies", "stream-copies",
    "specialize-copies", "parallelize-blocks", "map-blocks", "stream-steps", "persist-blocks", "share-copies",
    "split-steps", "distribute-warps", "sum-parts", "stage-stores", "stage-rows", "describe-copies", "keep-lines",
    "launch-blocks", "pass-sizes", "point-loops", "launch-points", "limit-registers", "cluster-blocks", "apply-layouts",
    "unroll-loops", "stage-epilogue", "mma-to-wmma", "mma-to-sync", "mma-to-fma", "mma-to-wgmma", "distribute-copies",
    "spread-copies", "lower-async", "lower-rings", "lower-roles", "overlap-launches", "place-shared", "fold-subviews",
    "swizzle-accesses", "expand-fp8", "expand-math", "pace-epilogue", "lower-unit-ids", "sink-positions",
    "check-lowered", "select-math", "mark-maps",
)  # fmt: skip
"""Our passes, in the order in which the pipeline uses them."""


def pass_class(name: str) -> type[Pass]:
    """The class of one of our passes. Modules are imported on first use."""
    module = importlib.import_module(f"mlir_gemm.passes.{name.replace('-', '_')}")
    found = getattr(module, "".join(part.capitalize() for part in name.split("-")))
    assert issubclass(found, Pass)
    return found


def ours(name: str, **options: Any) -> Pass:
    """One of our passes, with options."""
    return pass_class(name)(**options)


@dataclasses.dataclass(frozen=True)
class Upstream(Pass):
    """Passes of MLIR itself, as the text of a pipeline over a module."""

    name = "upstream"
    pipeline: str = ""

    def run(self, module: Any) -> None:
        try:
            passmanager.PassManager.parse(f"builtin.module({self.pipeline})").run(module.operation)
        except ir.MLIRError as error:
            raise from_mlir(error, f"upstream pass '{self.pipeline}' failed") from None

    def __str__(self) -> str:
        return self.pipeline


def run_pass(module: Any, step: Pass) -> None:
    """Runs one pass on a module, in its context."""
    with module.context, ir.Location.unknown():
        step.run(module)


def parse_pass(spec: str) -> Pass:
    """A pass from text: one of ours, `name{option=value ...}`, or anything that MLIR's own pass manager knows."""
    name, brace, rest = spec.strip().partition("{")
    if name.strip() not in NAMES:
        return _upstream(spec.strip())
    if brace and not rest.endswith("}"):
        raise PassError(f"pass '{name}': options are not closed by a brace in '{spec}'")
    return pass_class(name.strip()).from_text(rest[:-1] if brace else "")


def _upstream(spec: str) -> Upstream:
    try:
        with ir.Context():
            passmanager.PassManager.parse(f"builtin.module({spec})")
    except ValueError as error:
        close = difflib.get_close_matches(spec.partition("{")[0], NAMES, n=1)
        hint = f"; did you mean '{close[0]}'?" if close else ""
        reason = str(error).splitlines()[-1].strip()
        raise PassError(f"'{spec}' is neither a pass of ours nor one that MLIR knows{hint} ({reason})") from None
    return Upstream(spec)


def run_passes(text: str, specs: Sequence[str], *, filename: str = "-") -> str:
    """Runs passes, given as text, on a module, given as text; verifies after each; returns the module as text.

    Raises InputError for a module that does not parse or that a pass refuses, PassError for a pass that does not exist.
    """
    steps = [parse_pass(spec) for spec in specs]
    with COMPILER, relabelled(filename):
        module = parse_module(text, filename, new_context())
        for step in steps:
            run_pass(module, step)
            verify(module, step)
    return str(module)


def verify(module: Any, step: Pass) -> None:
    """Raises PassError if a pass left a module that does not verify."""
    try:
        module.operation.verify()
    except ir.MLIRError as error:
        why = from_mlir(error, "it does not verify")
        message = f"after pass '{step}' the module does not verify: {why.message}"
        raise PassError(message, why.location, why.notes) from None


def describe() -> list[tuple[str, str, str]]:
    """(name, options with their defaults, one line of what it does) of each of our passes."""
    rows: list[tuple[str, str, str]] = []
    for name in NAMES:
        cls = pass_class(name)
        options = " ".join(f"{field.name}={_shown(field.default)}" for field in dataclasses.fields(cls))
        rows.append((name, options, (cls.__doc__ or "").splitlines()[0]))
    return rows


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(str, cast("tuple[Any, ...]", value))) if isinstance(value, tuple) else str(value)
