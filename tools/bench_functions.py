"""`mlir-gemm bench --group rows,blocks`: kernels of rows, and blocks of models, side by side with PyTorch."""

from __future__ import annotations

import argparse
import datetime
import os
import re
import sys
from pathlib import Path

from mlir_gemm.bench import function_report, function_results, functions, plots
from mlir_gemm.bench.contenders import RIVALS
from mlir_gemm.bench.function_results import OURS, Entry, Results
from mlir_gemm.bench.functions import GROUPS, Function
from mlir_gemm.bench.summary import NONE, shown, table
from mlir_gemm.errors import Error
from mlir_gemm.progress import Progress
from mlir_gemm.tools.bench_output import (
    CHECK_FAILED,
    REPORT,
    RESULTS,
    command,
    first_line,
    made,
    names,
    say,
    without_plots,
)
from mlir_gemm.tools.files import write_outputs
from mlir_gemm.usage import UsageError

BLOCKS = Path("examples", "blocks")
"""Where the exported blocks lie in the project; the command looks for it from where it is called, and beside itself."""


def wanted(arguments: argparse.Namespace) -> list[str]:
    """The requested groups that are of functions. Raises UsageError where they are mixed with groups, or options, of
    products."""
    groups = names(arguments.group)
    own = [name for name in groups if name in GROUPS]
    if not own:
        return []
    others = [name for name in groups if name not in GROUPS]
    if others:
        raise UsageError(f"--group {own[0]} measures functions, not products: leave out '{others[0]}'")
    for name in ("mnk", "random", "types", "layouts", "schedule"):
        if getattr(arguments, name):
            raise UsageError(f"--{name} is for products: leave it out with --group {own[0]}")
    return own


def run(arguments: argparse.Namespace, groups: list[str]) -> int:
    """Measures, or lists, the functions of groups."""
    chosen = [each for each in functions.select(groups, _folder()) if _matches(each, arguments.only)]
    if not chosen:
        raise UsageError(f"--only {arguments.only}: no function of {', '.join(groups)} has this in its name")
    if arguments.list:
        print(table(["group", "function", "MiB"], [[f.group, f.name, _mebibytes(f.bytes)] for f in chosen]))
        return 0
    return _measure(arguments, chosen)


def _mebibytes(count: int) -> str:
    return f"{count / 2**20:.1f}" if count else NONE


def report(arguments: argparse.Namespace) -> int | None:
    """The report of a file of results of functions; None where it holds others."""
    path = arguments.report[0]
    results = function_results.read(path)
    if results is None:
        return None
    _write(results, Path(arguments.output or Path(path).parent), with_data=bool(arguments.output))
    return _status(results)


def _matches(function: Function, text: str) -> bool:
    return text in f"{function.group} {function.name}"


def _folder() -> Path:
    here = Path(__file__).resolve().parents[1]
    return next((each / BLOCKS for each in (Path.cwd(), here, here.parent) if (each / BLOCKS).is_dir()), BLOCKS)


def _measure(arguments: argparse.Namespace, chosen: list[Function]) -> int:
    from mlir_gemm.bench.function_measure import FunctionBench
    from mlir_gemm.bench.measure import Settings, require_gpu
    from mlir_gemm.bench.preparing import shared_cache
    from mlir_gemm.runtime.own_chip import default_chip

    torch = require_gpu()
    settings = Settings(
        rivals=tuple(name for name in RIVALS if name in (*names([arguments.against]), "all")),
        rounds=arguments.rounds,
        bursts=arguments.bursts,
        seed=arguments.seed,
        jobs=arguments.jobs or os.cpu_count() or 1,
        seconds=float(arguments.seconds or 0),
        debug_info=arguments.debug_info,
    )
    chip = arguments.chip or default_chip(0)
    folder = Path(arguments.output or f"bench-{re.sub('[:,=]', '-', chip)}-{datetime.date.today().isoformat()}")
    with shared_cache():
        bench = FunctionBench(settings, chip, torch)
        with Progress("functions compiled") as progress:
            reasons = bench.prepare(chosen, progress)
        refused = [(f.group, f.name, reason) for f, reason in zip(chosen, reasons, strict=True) if reason]
        for _, name, reason in refused:
            say(f"{name}: refused: {reason.splitlines()[0]}")
        date = datetime.datetime.now().isoformat(timespec="seconds")
        results = Results(bench.machine, date, command(), settings.to_json(), [], refused)
        taken = [function for function, reason in zip(chosen, reasons, strict=True) if not reason]
        with Progress("functions measured") as progress:
            for number, function in enumerate(taken):
                if bench.out_of_time:
                    say(f"stopped after {number} of {len(taken)} functions: --seconds are over")
                    break
                try:
                    results.entries.append(bench.measure(function))
                except (Error, RuntimeError) as failure:  # RuntimeError: PyTorch's own, such as too little memory
                    results.refused.append((function.group, function.name, f"measuring it failed: {failure}"[:300]))
                    say(f"{function.name}: measuring it failed: {first_line(failure)}")
                    continue
                say(_line(results.entries[-1]))
                write_outputs({str(made(folder) / RESULTS): results.text()})
                progress(number + 1, len(taken))
    _write(results, folder)
    return _status(results)


def _line(entry: Entry) -> str:
    """One function, as it is done."""
    own = entry.seconds(OURS, "sustained")
    ratios = ", ".join(f"{shown(entry.ratio(regime))} {regime}" for regime in function_results.REGIMES)
    copied = f", of a copy {shown(entry.ratio('sustained', ('copy',)))}" if entry.bytes else ""
    wrong = "" if entry.right else "  WRONG"
    return f"{entry.name}: {(own or 0) * 1e6:.1f} us, to the better of PyTorch's {ratios}{copied}{wrong}"


def _write(results: Results, folder: Path, with_data: bool = True) -> None:
    """Report, plots and results into the folder, and the summary to stdout."""
    drawn = function_report.draw(results) if plots.available() else {}
    text = function_report.markdown(results, {title: name for title, (name, _) in drawn.items()})
    made(folder)
    outputs: dict[str, str | bytes] = {str(folder / RESULTS): results.text()} if with_data else {}
    outputs |= {str(folder / REPORT): text}
    outputs |= {str(folder / name): data for name, data in drawn.values()}
    write_outputs(outputs)
    print(f"\n{function_report.summary(results)}\n\nwrote {', '.join(outputs)}")
    if not plots.available():
        print(without_plots(folder), file=sys.stderr)


def _status(results: Results) -> int:
    return 0 if all(entry.right for entry in results.entries) else CHECK_FAILED
