"""`mlir-gemm explain`: which schedule the model chose for a problem, what it rejected and why."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from mlir_gemm.dialect.parse import new_context, parse_module
from mlir_gemm.passes.check_input import the_function
from mlir_gemm.pipeline.annotations import written_schedule
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.pipeline.problem import ELEMENT_BYTES, Problem
from mlir_gemm.pipeline.problem_of import problem_of
from mlir_gemm.runtime.device import default_chip
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tile_model.explain import explain
from mlir_gemm.tools.files import read_input
from mlir_gemm.tools.usage import UsageError

DEFAULT_TYPES = "f16,f16,f32"


def run(arguments: argparse.Namespace) -> int:
    if (arguments.input is None) == (arguments.mnk is None):
        raise UsageError("name either an INPUT or --mnk M,N,K")
    if arguments.types and arguments.mnk is None:
        raise UsageError("--types goes with --mnk; an INPUT has its own types")
    chip = target(arguments.chip or default_chip())
    pinned: Mapping[str, Any] = {}
    if arguments.mnk:
        problem = _problem(arguments.mnk, arguments.types or DEFAULT_TYPES)
    else:
        problem, pinned = _problem_of_input(arguments.input)
    print(explain(problem, chip, pinned))
    return 0


def _problem(sizes: tuple[int, int, int], types: str) -> Problem:
    names = types.split(",")
    unknown = [name for name in names if name not in ELEMENT_BYTES]
    if len(names) != 3 or unknown:
        raise UsageError(f"--types {types}: expected three of {', '.join(ELEMENT_BYTES)}, as in {DEFAULT_TYPES}")
    a, b, out = names
    return Problem(*sizes, a=a, b=b, out=out, reads_c=False)


def _problem_of_input(path: str) -> tuple[Problem, Mapping[str, Any]]:
    """The problem of a source file, and the schedule fields that it fixes."""
    imported = compile_module(read_input(path), filename=path, until="import").ir("import")
    module = parse_module(imported, path, new_context())  # kept: what is in it dies with it
    with module.context:
        function = the_function(module)
        return problem_of(function), written_schedule(function)
