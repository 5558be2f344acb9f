"""`mlir-gemm bench --paper`: the tables of the works that the project grew out of, beside ours."""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import os
from pathlib import Path

from mlir_gemm.bench import paper_report, paper_space
from mlir_gemm.bench.contenders import OURS
from mlir_gemm.bench.figures import Results, read
from mlir_gemm.bench.paper_data import PAPERS, Paper, paper
from mlir_gemm.bench.problems import Problem
from mlir_gemm.errors import Error
from mlir_gemm.progress import Progress
from mlir_gemm.runtime.auto import why_no_gpu
from mlir_gemm.tools.bench_output import CHECK_FAILED, REPORT, RESULTS, command, first_line, made, names, say
from mlir_gemm.tools.files import write_outputs
from mlir_gemm.usage import UsageError

RIVALS = ("torch", "cublaslt")
_NOT_WITH = ("group", "mnk", "random", "types", "layouts", "only", "schedule")


def run(arguments: argparse.Namespace) -> int:
    for option in _NOT_WITH:
        if getattr(arguments, option):
            raise UsageError(f"--paper has its own problems and schedules: leave out --{option}")
    papers = _papers(arguments.paper)
    wanted = paper_report.pins_of(papers)
    if arguments.list:
        for problem, pins in wanted.items():
            print(problem.name, *(f"  {each or 'the model chooses'}" for each in pins), sep="\n")
        return 0
    output = Path(arguments.output) if arguments.output else None
    only_data = output is not None and output.suffix == ".json"
    why = "" if arguments.report else why_no_gpu()
    if why and only_data:
        raise Error(f"nothing can be measured here: {why}; without -o FILE.json the tables come with predictions alone")
    space = None
    if arguments.report:
        results, space = _read(arguments.report)
    else:
        results = None if why else _measure(arguments, wanted, output)
    text = paper_report.markdown(papers, results, why, space)
    outputs: dict[str, str | bytes] = {}
    if output is not None and not only_data:
        outputs = {str(made(output) / REPORT): text + "\n"}
    if output is not None and results is not None:
        outputs |= {str(_data(output)): results.text()}
    write_outputs(outputs)
    print(text)
    if outputs:
        print(f"\nwrote {', '.join(outputs)}")
    return CHECK_FAILED if results is not None and any(entry.wrong for entry in results.entries) else 0


def _data(output: Path) -> Path:
    """Where results go, in a folder that is there now."""
    return made(output.parent) / output.name if output.suffix == ".json" else made(output) / RESULTS


def _papers(given: str) -> list[Paper]:
    wanted = names([given])
    return [paper(key) for key in (PAPERS if "all" in wanted else dict.fromkeys(wanted))]


def _read(paths: list[str]) -> tuple[Results, paper_space.Sample | None]:
    """The results of one run, and those of Hofstra's space if they are among the files."""
    spaces = {path: paper_space.sample(Path(path)) for path in paths if "space" in Path(path).name}
    others = [path for path in paths if not spaces.get(path)]
    if len(others) != 1 or len(paths) - len(others) > 1:
        raise UsageError("--paper with --report: the results of one run, and at most one file of Hofstra's space")
    results = read(others[0])
    if paper_report.PINS not in results.settings:
        raise Error(f"'{others[0]}' holds other results: --report with --paper takes what bench --paper has written")
    return results, next((each for each in spaces.values() if each), None)


def _measure(arguments: argparse.Namespace, wanted: dict[Problem, list[str]], output: Path | None) -> Results:
    """Measures every problem; what was measured is on disk after each, whatever happens to the next."""
    from mlir_gemm.bench.measure import Bench, Settings, require_gpu
    from mlir_gemm.bench.preparing import shared_cache
    from mlir_gemm.runtime.own_chip import default_chip
    from mlir_gemm.tile_model.chips import target

    torch = require_gpu()
    chip = arguments.chip or default_chip(0)
    target(chip)  # refuses a chip that there is not
    settings = Settings(
        rivals=RIVALS, rounds=arguments.rounds, bursts=arguments.bursts, seed=arguments.seed,
        jobs=arguments.jobs or os.cpu_count() or 1, seconds=float(arguments.seconds or 0),
    )  # fmt: skip
    with shared_cache():
        bench = Bench(settings, chip, torch)
        pins = {problem.name: several for problem, several in wanted.items()}
        found = Results(
            bench.machine, datetime.datetime.now().isoformat(timespec="seconds"), command(),
            settings.to_json() | {paper_report.PINS: pins}, [], [],
        )  # fmt: skip
        with Progress("problems measured") as progress:
            for number, (problem, several) in enumerate(wanted.items()):
                if bench.out_of_time:
                    say("stopped: --seconds are over")
                    break
                bench.settings = dataclasses.replace(settings, schedules=tuple(several))
                refused = bench.prepare([problem], lambda done, all_: None)
                found.refused.extend(refused)
                for _, schedule, reason in refused:
                    say(f"{problem.name} with {schedule or 'the model'}: refused: {reason}")
                try:
                    entry = bench.measure(problem, [schedule for _, schedule, _ in refused])
                except Exception as failure:
                    found.refused.append((problem, "", f"measuring it failed: {first_line(failure)}"))
                    say(f"{problem.name}: measuring it failed: {first_line(failure)}")
                    if not bench.is_alive:
                        say("the GPU takes no further work from this process; the rest is left out")
                        break
                    continue
                found.entries.append(entry)
                if output is not None:
                    write_outputs({str(_data(output)): found.text()})
                rate = entry.rate(OURS, "sustained")
                say(f"{problem.name}: {f'{rate / 1e12:.1f} TFLOP/s' if rate else 'not measured'}")
                progress(number + 1, len(wanted))
    return found
