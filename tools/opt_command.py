"""`mlir-gemm opt`: applies passes one after another and prints the IR, to see or test each on its own."""

from __future__ import annotations

import argparse
import re
import sys

from mlir_gemm.errors import Error
from mlir_gemm.pipeline.registry import describe
from mlir_gemm.pipeline.runner import run_passes
from mlir_gemm.tools.files import read_input, write_outputs
from mlir_gemm.usage import UsageError


def run(arguments: argparse.Namespace) -> int:
    if arguments.list:
        stages: list[str] = []
        for stage, name, options, summary in describe():
            if stage not in stages:
                print(f"{stage}:")
                stages.append(stage)
            print(f"  {name}{{{options}}}" if options else f"  {name}")
            print(f"      {summary}")
        return 0
    if arguments.input is None:
        raise UsageError("name an INPUT and passes, or --list")
    text = read_input(arguments.input)
    parts = _parts(text) if arguments.split_input_file else [text]
    results: list[str] = []
    for part in parts:
        try:
            result = run_passes(part, arguments.passes, filename=arguments.input)
            results.append(result if result.endswith("\n") else result + "\n")
        except Error as error:
            if len(parts) == 1:
                raise
            print(error, file=sys.stderr)
    write_outputs({arguments.output: "// -----\n".join(results)} if results else {})
    return 0 if len(results) == len(parts) else 1


def _parts(text: str) -> list[str]:
    """What stands between lines that start with `// -----`, each after as many empty lines as keep its places."""
    marks = [(mark.start(), mark.end()) for mark in re.finditer(r"^// -----.*$", text, re.MULTILINE)]
    starts, ends = [0, *(end for _, end in marks)], [*(start for start, _ in marks), len(text)]
    return ["\n" * text.count("\n", 0, start) + text[start:end] for start, end in zip(starts, ends, strict=True)]
