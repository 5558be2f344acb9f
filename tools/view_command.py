"""`mlir-gemm view`: a compilation as one page for a browser."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping
from typing import Any

from mlir_gemm.dialect.context import without_collection
from mlir_gemm.errors import Error
from mlir_gemm.pipeline.assembler import Usage
from mlir_gemm.pipeline.codes import usages
from mlir_gemm.pipeline.compilation import Compilation
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.pipeline.saved import promises_in
from mlir_gemm.runtime.kernel import compile as compile_kernel
from mlir_gemm.runtime.own_chip import default_chip
from mlir_gemm.simulator.random_inputs import random_arrays
from mlir_gemm.spec.attributes import CHIP
from mlir_gemm.spec.kernel_record import KernelRecord
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.tile_model.decisions import Decisions
from mlir_gemm.tools.explain_command import decisions_of
from mlir_gemm.tools.files import STDIO, read_input, write_outputs
from mlir_gemm.tools.report import chip_in_words, kernel_rows, launch_rows, resource_rows
from mlir_gemm.tools.run_simulator import counted
from mlir_gemm.usage import UsageError
from mlir_gemm.viewer.page import KernelPage, kernel_page, render
from mlir_gemm.viewer.trace import Trace


def run(arguments: argparse.Namespace) -> int:
    output: str = arguments.output or _default_output(arguments.input)
    if STDIO not in (output, arguments.input) and os.path.realpath(output) == os.path.realpath(arguments.input):
        raise UsageError(f"output '{output}' is the input; name another with -o")
    source = read_input(arguments.input)
    wanted = Schedule.parse(arguments.schedule) if arguments.schedule else {}
    write_outputs({output: page_of(arguments, source, wanted)})
    if output != STDIO:
        print(f"wrote {output}", file=sys.stderr)
    return 0


def page_of(arguments: argparse.Namespace, source: str, wanted: Mapping[str, Any]) -> str:
    """The page of a source, as text. `arguments` are those of the command."""
    trace = Trace(source)
    asked: dict[str, Any] = {"hints": arguments.sizes, "divisors": arguments.divisors}
    compilation = compile_module(
        source,
        filename=arguments.input,
        chip=arguments.chip if arguments.chip is not None or CHIP in source else default_chip(),
        schedule=wanted or None,
        entry=arguments.entry,
        hooks=(trace,),
        **{name: values for name, values in asked.items() if values},
    )
    with without_collection():
        note = trace.finish(compilation.ptx or "")
    decisions = {} if compilation.stages[0] != "import" else decisions_of(arguments, source, wanted)
    found = usages(compilation.target, compilation.code)
    pages = [_kernel(each, compilation, decisions, found) for each in compilation.kernels]
    about = [("chip", chip_in_words(compilation)), ("kernels", str(len(pages)))]
    if compilation.launch is not None:
        about += launch_rows(compilation.launch) if compilation.launch.is_program else []
    counters = ""
    if arguments.counters:
        counters = _counters(arguments, source, wanted)
    title = os.path.basename(arguments.input) if arguments.input != STDIO else "stdin"
    return render(title, about, pages, trace.snapshots, _seconds(trace, compilation), counters, note)


def _kernel(
    record: KernelRecord, compilation: Compilation, decisions: Mapping[str, Decisions], found: dict[str, Usage] | None
) -> KernelPage:
    launch = compilation.launch
    rows = kernel_rows(record, launch)
    if launch is not None and not launch.is_program:
        rows = [*rows, *launch_rows(launch)]
    if launch is not None and record.step is not None:
        rows = [*rows, *resource_rows(found, launch.steps[record.step].entry)]
    chosen = decisions.get(record.name, decisions.get("") if len(compilation.kernels) == 1 else None)
    return kernel_page(record, compilation.target, rows, chosen)


def _counters(arguments: argparse.Namespace, source: str, wanted: Mapping[str, Any]) -> str:
    kernel = compile_kernel(
        source, chip=arguments.chip, device="simulator", schedule=dict(wanted) or None, entry=arguments.entry
    )
    if kernel.symbols:
        sizes: dict[str, int] = arguments.sizes or {}
        missing = [name for name in kernel.symbols if name not in sizes]
        if missing:
            raise Error(f"--counters needs a number for {', '.join(missing)}: --sizes {missing[0]}=...")
        kernel = kernel.at(**sizes)
    return counted(kernel, source, random_arrays(kernel.launch.arguments, 0, promises_in(source)))


def _seconds(trace: Trace, compilation: Compilation) -> dict[str, float]:
    """The time of each stage's passes; of PTX, that of the stage."""
    found = dict.fromkeys(compilation.timings, 0.0)
    for each in trace.snapshots:
        if each.spec is not None:
            found[each.stage] = found.get(each.stage, 0.0) + each.seconds
    return {**found, "ptx": compilation.timings.get("ptx", 0.0)}


def _default_output(input_: str) -> str:
    return STDIO if input_ == STDIO else os.path.splitext(input_)[0] + ".html"
