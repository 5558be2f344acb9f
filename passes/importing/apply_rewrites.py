"""apply-rewrites: rules that a user has registered (`mlir_gemm.Rewrites`) rewrite a source before it is recognised.

Expects a module as a user wrote it, its loops raised to linalg. Applies the rules of all that is registered, or of
`only`, greedily until none applies: Python functions by the name of the operation that they match, and patterns in PDL.
MLIR folds constants and removes dead operations on the way. What rules leave must be a module that could be a source.
Refuses a name that is not registered, PDL that cannot be read, and rules that fail. Without rules it changes nothing.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import PACKAGE, ir
from mlir_gemm.dialect.locations import from_mlir, pass_error
from mlir_gemm.errors import Error, PassError
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec import extensions
from mlir_gemm.spec.attributes import STAGE
from mlir_gemm.spec.extension_points import Rewrites


@dataclass(frozen=True)
class ApplyRewrites(Pass):
    """Apply users' own rewrite rules."""

    name: ClassVar[str] = "apply-rewrites"
    only: str = ""
    """The registered rules to apply; all by default."""

    def run(self, module: Any) -> None:
        if STAGE in module.operation.attributes:
            return
        found = [each for each in extensions.of(Rewrites) if self.only in ("", each.name)]
        if self.only and not found:
            known = ", ".join(each.name for each in extensions.of(Rewrites)) or "none"
            raise PassError(f"no rules are registered as '{self.only}' (registered: {known})")
        for each in found:
            _apply(module, each)


def _apply(module: Any, rewrites: Rewrites) -> None:
    api = importlib.import_module(f"{PACKAGE}.rewrite")
    failures: list[Error] = []
    if rewrites.rules:
        patterns = api.RewritePatternSet()
        for root, rule in rewrites.rules.items():
            patterns.add(root, _guarded(rewrites.name, root, rule, failures))
        _run(api, module, patterns.freeze(), rewrites.name, failures)
    if rewrites.pdl:
        try:
            pattern = ir.Module.parse(rewrites.pdl)
            frozen = api.PDLModule(pattern).freeze()
        except ir.MLIRError as error:
            raise from_mlir(error, f"the PDL of the rules '{rewrites.name}' cannot be read") from None
        _run(api, module, frozen, rewrites.name, failures)


def _run(api: Any, module: Any, patterns: Any, name: str, failures: list[Error]) -> None:
    holder = module.operation
    try:
        api.apply_patterns_and_fold_greedily(holder, patterns)
    except ir.MLIRError as error:
        raise from_mlir(error, f"the rules '{name}' fail") from None
    except RuntimeError as error:
        if not failures:
            raise PassError(f"the rules '{name}' do not end: after ten rounds some still apply ({error})") from None
    if failures:
        raise failures[0]


def _guarded(
    name: str, root: str, rule: Callable[[Any, Any], bool], failures: list[Error]
) -> Callable[[Any, Any], bool]:
    """A rule as the bindings want it: true where it has not matched. What it raises is kept, as it must not go through
    C++."""

    def match(op: Any, rewriter: Any) -> bool:
        if failures:
            return True
        try:
            return not rule(op, rewriter)
        except Exception as problem:
            reason = str(problem).strip().partition("\n")[0]
            failures.append(
                pass_error(op, f"the rule of '{name}' for '{root}' failed: {type(problem).__name__}: {reason}")
            )
            return True

    return match
