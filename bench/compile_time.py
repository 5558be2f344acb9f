"""How long the compiler takes, by the processor: `import` of a function of many operations, and modules whole.

    python -m mlir_gemm.bench.compile_time examples/blocks/encoder.mlir --chip sm_90a

A module is compiled once before it is timed: the first time in a process also loads passes and searches for schedules.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from mlir_gemm.pipeline.driver import compile_module

OPERATIONS = 30
"""Of the function whose import is timed: products, each with a bias and a ReLU."""


def chain(operations: int, size: int = 256) -> str:
    """A function of so many linalg operations on `size` x `size` f32 tensors, as MLIR."""
    tensor, point = f"tensor<{size}x{size}xf32>", "affine_map<(m, n) -> (m, n)>"
    lines = [f"  %e = tensor.empty() : {tensor}", "  %z = arith.constant 0.0 : f32"]
    value, count = "%x", 0
    while count < operations:
        number = count
        if number % 3 == 0:
            lines.append(f"  %s{number} = linalg.fill ins(%z : f32) outs(%e : {tensor}) -> {tensor}")
            result = f"linalg.matmul ins({value}, %w : {tensor}, {tensor}) outs(%s{number} : {tensor}) -> {tensor}"
        elif number % 3 == 1:
            result = f"linalg.add ins({value}, %b : {tensor}, {tensor}) outs(%e : {tensor}) -> {tensor}"
        else:
            result = (
                f'linalg.generic {{indexing_maps = [{point}, {point}], iterator_types = ["parallel", "parallel"]}} '
                f"ins({value} : {tensor}) outs(%e : {tensor}) {{\n  ^bb0(%i: f32, %o: f32):\n"
                f"    %m = arith.maximumf %i, %z : f32\n    linalg.yield %m : f32\n  }} -> {tensor}"
            )
        value, count = f"%v{number}", count + 1
        lines.append(f"  {value} = {result}")
    arguments = ", ".join(f"%{name}: {tensor}" for name in "xwb")
    return "\n".join([f"func.func @chain({arguments}) -> {tensor} {{", *lines, f"  return {value} : {tensor}", "}", ""])


def seconds(work: Callable[[], object], runs: int) -> list[float]:
    """Processor seconds of each run, after one that does not count."""
    work()
    found: list[float] = []
    for _ in range(runs):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the median and the least of each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("inputs", nargs="*", type=Path, metavar="INPUT", help="MLIR to compile as well")
    parser.add_argument("--chip", default="sm_90a")
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args(arguments)
    sources = [(f"a function of {OPERATIONS} operations", chain(OPERATIONS), "import")]
    for path in given.inputs:
        text = path.read_text()
        sources += [(str(path), text, until) for until in ("import", "ptx")]
    for name, text, until in sources:
        found = seconds(partial(compile_module, text, chip=given.chip, until=until), given.runs)
        print(f"{name}, up to {until}: {statistics.median(found):.3f} s, least {min(found):.3f}", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
