"""The products of a module that can be tuned, each with its space."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from mlir_gemm.dialect.context import new_context
from mlir_gemm.dialect.parse import parse_module
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.pipeline.runner import Runner
from mlir_gemm.pipeline.selection.select_rewrite import is_divisible, refused
from mlir_gemm.pipeline.undecided import undecided
from mlir_gemm.spec.passes import step
from mlir_gemm.spec.problem import Problem
from mlir_gemm.tuner.space import FACTOR, Space, explore


@dataclass(frozen=True)
class Product:
    """One product of a module."""

    kernel: str
    """The name of its kernel; empty where the module is one kernel."""
    space: Space


def products_of(
    source: str, filename: str, chip: str | None, entry: str = "", factor: float = FACTOR, most: int = 0
) -> list[Product]:
    """The products of a module of which nothing is fixed, those of the same problem once, and those as one that the
    model makes one kernel of. Raises what the compiler and the model raise."""
    compilation = compile_module(source, filename=filename, chip=chip, entry=entry, until="import")
    module = parse_module(compilation.ir("import"), filename, new_context(), own=True)
    found: dict[Problem, Product] = {}
    with module.context:
        Runner().run(module, [step("select-joins")])
        for kernel in undecided(module):
            with kernel.errors():
                problem = kernel.problem()
                if kernel.pinned() or problem in found:
                    continue
                function = kernel.function
                space = explore(
                    problem, kernel.target, partial(refused, function), is_divisible(function), factor, most
                )
                found[problem] = Product(kernel.name, space)
    return list(found.values())
