"""`mlir-gemm compile`: from a module to PTX, a cubin, LLVM IR or the IR of any stage."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from typing import Any

from mlir_gemm.dialect.reading import reading
from mlir_gemm.errors import Error, InputError, TargetError
from mlir_gemm.pipeline.codes import OTHERS
from mlir_gemm.pipeline.compilation import Compilation
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.runtime.line_info import wanted
from mlir_gemm.runtime.own_chip import default_chip
from mlir_gemm.runtime.tuned_files import database
from mlir_gemm.spec.attributes import CHIP
from mlir_gemm.spec.backends import BACKENDS, NVPTX, Backend
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.stages import stages_of
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tools.files import STDIO, read_input, write_outputs
from mlir_gemm.tools.json_output import report_data, text_of
from mlir_gemm.tools.pass_output import hooks_of
from mlir_gemm.tools.report import report
from mlir_gemm.tools.terminal import say, sum_up
from mlir_gemm.usage import UsageError, stage

CODES = {each.last: each.extension for each in BACKENDS.values()}
"""What back ends make, with its extension."""
BINARIES = {**CODES, **{kind: made.extension for outputs in OTHERS.values() for kind, made in outputs.items()}}
"""What can be emitted besides a stage's IR, with its extension. All need every stage."""

_WRITTEN = re.compile(re.escape(CHIP) + r' = "([^"]*)"')


def run(arguments: argparse.Namespace) -> int:
    unread: InputError | None = None
    try:
        source = read_input(arguments.input)
    except InputError as error:  # what is wrong with the command itself is said first
        source, unread = "", error
    # A file saved after a stage names its chip itself.
    chip: str | None = arguments.chip if arguments.chip is not None or CHIP in source else default_chip()
    backend = _backend(chip, source)
    order = stages_of(backend.name)
    emit: str = stage(arguments.emit or backend.last, order[:-1], "--emit", (backend.last, *OTHERS[backend.name]))
    until = backend.last if emit in BINARIES else emit
    printed = _printed_stages(arguments.print_after, order, until)
    if arguments.reading and not (printed or arguments.print_changes or arguments.changes_of):
        raise UsageError("--reading is how --print-after, --print-changes and --changes-of print; give one of them")
    output: str = arguments.output or _default_output(arguments.input, emit)
    launch_info: str | None = arguments.launch_info
    _check_outputs(arguments.input, output, launch_info)
    if arguments.json and not arguments.report:
        raise UsageError("--json is the form of a report; give --report too")
    if launch_info and until != backend.last:
        whole = ", ".join((backend.last, *OTHERS[backend.name]))
        raise UsageError(f"--launch-info needs a whole compilation: emit {' or '.join(whole.rsplit(', ', 1))}")

    if unread is not None:
        raise unread
    asked: dict[str, Any] = {"hints": arguments.sizes, "divisors": arguments.divisors}
    compilation = compile_module(
        source,
        filename=arguments.input,
        chip=chip,
        schedule=Schedule.parse(arguments.schedule) if arguments.schedule else None,
        entry=arguments.entry,
        until=until,
        lines=wanted(arguments.debug_info),
        tuned=None if arguments.schedule else database(arguments.tuned),
        keep={*printed, until, *((backend.converted,) if emit in OTHERS[backend.name] else ())},
        observe=lambda name, text: (
            _print_stage(name, reading(text) if arguments.reading else text) if name in printed else None
        ),
        hooks=hooks_of(arguments),
        **{name: values for name, values in asked.items() if values},
    )
    _check_symbols(compilation, asked)
    if arguments.print_after not in (None, "all") and arguments.print_after not in compilation.stages:
        compilation.ir(printed[0])  # the input was saved after this stage: says so
    if arguments.report:
        if arguments.json:
            print(text_of(report_data(compilation)), file=sys.stderr)
        else:
            say(report(compilation), sys.stderr)

    outputs: dict[str, str | bytes] = {output: compilation.emit(emit)}
    if launch_info:
        outputs[launch_info] = _launch_json(compilation)
    write_outputs(outputs)
    if not arguments.output and output != STDIO:
        print(f"wrote {output}", file=sys.stderr)
    if output != STDIO and not arguments.report:
        sum_up(_summary(compilation), sys.stderr)
    return 0


def _summary(compilation: Compilation) -> str:
    """What was compiled, in a line."""
    count, kinds = len(compilation.kernels), ", ".join(each.kind for each in compilation.kernels)
    made = f"{count} kernel{'' if count == 1 else 's'} for {compilation.target.chip}: {kinds or 'nothing to run'}"
    return f"{made} ({sum(compilation.timings.values()):.2f} s; --report tells more)"


def _check_symbols(compilation: Compilation, asked: dict[str, dict[str, int] | None]) -> None:
    if compilation.launch is None:
        return
    symbols = compilation.launch.symbols
    for option, values in (("--sizes", asked["hints"]), ("--divisors", asked["divisors"])):
        for name in values or ():
            if name not in symbols:
                known = ", ".join(symbols) or "none"
                raise UsageError(f"{option} {name}: the sizes of this module that are known at run time: {known}")


def _print_stage(name: str, text: str) -> None:
    print(f"// ----- after {name} -----\n{text.rstrip()}", file=sys.stderr)


def _backend(chip: str | None, source: str) -> Backend:
    """The back end of the chip that is asked for, or that saved text names."""
    written = _WRITTEN.search(source)
    named = chip or (written[1] if written else "")
    try:
        return BACKENDS[target(named).backend if named else NVPTX]
    except TargetError:  # the compiler says so, and where the chip is named
        return BACKENDS[NVPTX]


def _printed_stages(requested: str | None, order: tuple[str, ...], until: str) -> tuple[str, ...]:
    reached = order[: order.index(until) + 1]
    if requested is None:
        return ()
    if requested == "all":
        # What comes after the last MLIR stage is the output itself.
        return tuple(name for name in reached if name != order[-1])
    name = stage(requested, order, "--print-after", ("all",))
    if name not in reached:
        raise UsageError(f"--print-after {name}: that stage is not reached when '{until}' is emitted")
    return (name,)


def _default_output(input_: str, emit: str) -> str:
    if input_ == STDIO:
        return STDIO
    return os.path.splitext(input_)[0] + BINARIES.get(emit, f".{emit}.mlir")


def _check_outputs(input_: str, output: str, launch_info: str | None) -> None:
    names = [output, *([launch_info] if launch_info else [])]
    for name in names:
        if STDIO not in (name, input_) and os.path.realpath(name) == os.path.realpath(input_):
            raise UsageError(f"output '{name}' is the input; name another with -o")
    if len({os.path.realpath(name) for name in names}) < len(names):
        raise UsageError(f"-o and --launch-info both write to '{output}'")


def _launch_json(compilation: Compilation) -> str:
    if compilation.launch is None:
        raise Error("this compilation has no launch to describe")
    return json.dumps(compilation.launch.to_json(), indent=2) + "\n"
