"""`mlir-gemm opt`: applies passes one after another and prints the IR, to see or test each on its own."""

from __future__ import annotations

import argparse
import re
import sys

from mlir_gemm.dialect.reading import reading
from mlir_gemm.errors import Error
from mlir_gemm.pipeline.registry import describe
from mlir_gemm.pipeline.runner import Hook, Run, Watch, run_passes
from mlir_gemm.tools.files import read_input, write_outputs
from mlir_gemm.tools.opt_syntax import differences, input_and_passes
from mlir_gemm.tools.pass_output import hooks_of
from mlir_gemm.usage import UsageError


def run(arguments: argparse.Namespace) -> int:
    if arguments.list:
        _list()
        return 0
    if arguments.reading and (arguments.emit_bytecode or arguments.mlir_print_op_generic):
        raise UsageError("--reading is a form of its own: leave out --emit-bytecode and --mlir-print-op-generic")
    name, passes = input_and_passes(arguments.names, waiting=sys.stdin.isatty())
    text = read_input(name)
    parts = _parts(text) if arguments.split_input_file else [text]
    results: list[str | bytes] = []
    refused: list[Error | None] = []
    for part in parts:
        try:
            results.append(_transformed(part, passes, name, arguments))
            refused.append(None)
        except Error as error:
            if len(parts) == 1 and not arguments.verify_diagnostics:
                raise
            refused.append(error)
            if not arguments.verify_diagnostics:
                print(error, file=sys.stderr)
    if arguments.verify_diagnostics:
        wrong = [line for part, error in zip(parts, refused, strict=True) for line in differences(part, error, name)]
        print("\n".join(wrong), end="\n" if wrong else "", file=sys.stderr)
        return 1 if wrong else 0
    write_outputs({arguments.output: _joined(results)} if results else {})
    return 0 if len(results) == len(parts) else 1


def _list() -> None:
    stages: list[str] = []
    for stage, name, options, summary in describe():
        if stage not in stages:
            print(f"{stage}:")
            stages.append(stage)
        print(f"  {name}{{{options}}}" if options else f"  {name}")
        print(f"      {summary}")


def _transformed(part: str, passes: list[str], name: str, arguments: argparse.Namespace) -> str | bytes:
    hooks: list[Hook] = hooks_of(arguments)
    if arguments.mlir_print_ir_after_all:
        hooks.append(Watch(lambda _: True, _print_after))
    result = run_passes(
        part, passes, filename=name, hooks=hooks, generic=arguments.mlir_print_op_generic,
        longest_elements=arguments.mlir_elide_elementsattrs_if_larger, bytecode=arguments.emit_bytecode,
        unregistered=arguments.allow_unregistered_dialect,
    )  # fmt: skip
    if isinstance(result, bytes):
        return result
    if arguments.reading:
        return reading(result)
    return result if result.endswith("\n") else result + "\n"


def _print_after(run_: Run, text: str) -> None:
    print(f"// -----// IR Dump After {run_.spec} //----- //\n{text.rstrip()}\n", file=sys.stderr)


def _joined(results: list[str | bytes]) -> str | bytes:
    """Parts as one text; bytecode is of one module."""
    texts = [each for each in results if isinstance(each, str)]
    return "// -----\n".join(texts) if texts else results[0]


def _parts(text: str) -> list[str]:
    """The text between lines that start with `// -----`, each padded with empty lines so that line numbers stay
    right."""
    marks = [(mark.start(), mark.end()) for mark in re.finditer(r"^// -----.*$", text, re.MULTILINE)]
    starts, ends = [0, *(end for _, end in marks)], [*(start for start, _ in marks), len(text)]
    return ["\n" * text.count("\n", 0, start) + text[start:end] for start, end in zip(starts, ends, strict=True)]
