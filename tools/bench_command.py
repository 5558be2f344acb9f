"""`mlir-gemm bench`: products side by side with cuBLAS and others, measured on the GPU of this machine; or the report
of an earlier run."""

from __future__ import annotations

import argparse
import datetime
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlir_gemm.bench import functions, plots, problems
from mlir_gemm.bench.contenders import RIVALS
from mlir_gemm.bench.figures import Entry, Results, merge, read
from mlir_gemm.bench.problems import Problem
from mlir_gemm.bench.report import markdown
from mlir_gemm.bench.summary import shown, summary, table
from mlir_gemm.errors import Error
from mlir_gemm.progress import Progress
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.tools import bench_functions, bench_papers
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

if TYPE_CHECKING:
    from mlir_gemm.bench.measure import Bench


def run(arguments: argparse.Namespace) -> int:
    if arguments.paper:
        return bench_papers.run(arguments)
    if arguments.report:
        status = bench_functions.report(arguments) if len(arguments.report) == 1 else None
        return _report(arguments) if status is None else status
    of_functions = bench_functions.wanted(arguments)
    if of_functions:
        return bench_functions.run(arguments, of_functions)
    chosen = _chosen(arguments)
    if arguments.list:
        _list(chosen)
        return 0
    return _measure(arguments, chosen)


def _chosen(arguments: argparse.Namespace) -> list[Problem]:
    if arguments.only:
        raise UsageError("--only is for --group rows and --group blocks")
    groups, types, layouts = (names(each) for each in (arguments.group, arguments.types, arguments.layouts))
    given = [name for name in ("mnk", "random", "group") if getattr(arguments, name)]
    if len(given) > 1:
        raise UsageError(f"--{given[0]} takes the place of the list of problems: leave out --{given[1]}")
    try:
        if arguments.random:
            return problems.drawn(arguments.random, arguments.seed, types, layouts)
        if arguments.mnk:
            return problems.custom(arguments.mnk, types, layouts)
        return problems.select(groups, types, layouts)
    except Error as problem:
        raise UsageError(problem.message) from None


def _list(chosen: list[Problem]) -> None:
    rows = [[each.group, each.name, f"{each.flops / 1e9:.1f}", f"{each.bytes / 2**20:.1f}"] for each in chosen]
    print(table(["group", "problem", "GFLOP", "MiB"], rows))
    if any(each not in problems.PROBLEMS for each in chosen):
        return
    print(f"\n{len(chosen)} of {len(problems.PROBLEMS)} problems; see --group, --types and --layouts")
    for name, what in {**problems.GROUPS, **functions.GROUPS}.items():
        print(f"  {name}: {what}")


def _report(arguments: argparse.Namespace) -> int:
    """Tables and plots of what was measured earlier, beside the file if nothing else is said."""
    if len(arguments.report) > 1 and not arguments.output:
        raise UsageError("--report of several files writes their results together: say where with -o DIR")
    several = [read(path) for path in arguments.report]
    results = several[0] if len(several) == 1 else merge(several)
    folder = Path(arguments.output or Path(arguments.report[0]).parent)
    _write(results, folder, with_data=len(several) > 1 or bool(arguments.output))
    return _status(results)


def _measure(arguments: argparse.Namespace, chosen: list[Problem]) -> int:
    from mlir_gemm.bench.measure import Bench, Settings, require_gpu
    from mlir_gemm.bench.preparing import shared_cache
    from mlir_gemm.runtime.own_chip import default_chip
    from mlir_gemm.tile_model.chips import target

    schedules = tuple(arguments.schedule or ("",))
    for schedule in filter(None, schedules):
        Schedule.parse(schedule)
    rivals = _rivals(arguments.against)
    torch = require_gpu()
    chip = arguments.chip or default_chip(0)
    target(chip)  # refuses a chip that there is not
    settings = Settings(
        rivals=rivals,
        schedules=schedules,
        rounds=arguments.rounds,
        bursts=arguments.bursts,
        seed=arguments.seed,
        jobs=arguments.jobs or os.cpu_count() or 1,
        seconds=float(arguments.seconds or 0),
        debug_info=arguments.debug_info,
    )
    folder = Path(arguments.output or f"bench-{re.sub('[:,=]', '-', chip)}-{datetime.date.today().isoformat()}")
    with shared_cache():
        bench = Bench(settings, chip, torch)
        with Progress("kernels compiled") as progress:
            refused = bench.prepare(chosen, progress)
        for problem, schedule, reason in refused:
            say(f"{problem.name}{f' with {schedule}' if schedule else ''}: refused: {reason}")
        results = Results(
            bench.machine,
            datetime.datetime.now().isoformat(timespec="seconds"),
            command(),
            settings.to_json(),
            [],
            refused,
        )
        _measure_all(bench, chosen, results, folder)
    _write(results, folder)
    return _status(results)


def _rivals(against: str) -> tuple[str, ...]:
    given = names([against])
    for name in given:
        if name not in (*RIVALS, "all"):
            raise UsageError(f"--against {name}: expected all, or some of {', '.join(RIVALS)}")
    return tuple(RIVALS) if "all" in given else tuple(name for name in RIVALS if name in given)


def _measure_all(bench: Bench, chosen: list[Problem], results: Results, folder: Path) -> None:
    """Adds an entry for each problem; what was measured is on disk after each, whatever happens to the next."""
    try:
        with Progress("problems measured") as progress:
            for number, problem in enumerate(chosen):
                if bench.out_of_time:
                    say(f"stopped after {number} of {len(chosen)} problems: --seconds are over")
                    return
                refused = [schedule for other, schedule, _ in results.refused if other == problem]
                try:
                    results.entries.append(bench.measure(problem, refused))
                except Exception as failure:
                    results.refused.append((problem, "", f"measuring it failed: {first_line(failure)}"))
                    say(f"{problem.name}: measuring it failed: {first_line(failure)}")
                    if not bench.is_alive:
                        say("the GPU takes no further work from this process; the rest is left out")
                        return
                    continue
                say(_line(results.entries[-1]))
                write_outputs({str(made(folder) / RESULTS): results.text()})
                progress(number + 1, len(chosen))
    except KeyboardInterrupt:
        say("interrupted: the report is of what was measured so far")


def _line(entry: Entry) -> str:
    """One problem, as it is done."""
    rate = entry.rate("ours", "cold")
    if rate is None:
        return f"{entry.problem.name}: not measured; {'; '.join(entry.absent)}"
    wrong = f"  WRONG: {', '.join(entry.wrong)}" if entry.wrong else ""
    ratios = ", ".join(f"{shown(entry.ratio(regime))} {regime}" for regime in ("cold", "sustained"))
    return f"{entry.problem.group} {entry.problem.name}: {rate / 1e12:.1f} TFLOP/s, of the library's {ratios}{wrong}"


def _write(results: Results, folder: Path, with_data: bool = True) -> None:
    """Report, plots and results into the folder, and the summary to stdout."""
    drawn: dict[str, tuple[str, bytes]] = {}
    if plots.available():
        drawn = plots.draw(results)
    text = markdown(results, {title: name for title, (name, _) in drawn.items()})
    made(folder)
    outputs: dict[str, Any] = {str(folder / RESULTS): results.text()} if with_data else {}
    outputs |= {str(folder / REPORT): text}
    outputs |= {str(folder / name): data for name, data in drawn.values()}
    write_outputs(outputs)
    print(f"\n{summary(results)}\n")
    print(f"wrote {', '.join(outputs)}")
    if not plots.available():
        print(without_plots(folder), file=sys.stderr)


def _status(results: Results) -> int:
    return CHECK_FAILED if any(entry.wrong for entry in results.entries) else 0
