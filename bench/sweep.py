"""Measures every schedule that the tile model proposes for some problems, each checked, in random order.

    python -m mlir_gemm.bench.sweep --group skinny,medium --layouts NN,NT -o sweep.json
    python -m mlir_gemm.bench.sweep --mnk 8192,8192,8192 --groups 4,8,16,32 --clusters --ping-pong
    python -m mlir_gemm.bench.sweep --group large --compile-only --chip sm_90a      # fills the cache; needs no GPU
    python -m mlir_gemm.bench.sweep --report sweep.json                             # needs no GPU

The result is on disk after every problem; `--resume` goes on with what is missing. docs/benchmarks.md describes how it
is measured and the file, `fit_wgmma_cost.py` fits the model's constants to it.
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import multiprocessing
import os
import random
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from mlir_gemm.bench import operands, problems
from mlir_gemm.bench.contenders import Contender, ours, rivals
from mlir_gemm.bench.preparing import Work, prepare, shared_cache
from mlir_gemm.bench.problems import Problem
from mlir_gemm.bench.sweep_measure import GpuBursts, Reference, Rounds, Watchdog, in_random_order
from mlir_gemm.bench.sweep_report import Entry, case_of, line_of, read, summary, write
from mlir_gemm.bench.sweep_space import Explored, Space, explore, precision_of
from mlir_gemm.errors import Error
from mlir_gemm.parts.registry import mmas
from mlir_gemm.progress import Progress
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.tile_model.chips import target
from mlir_gemm.usage import UsageError, matrix_sizes

WRONG = 3  # exit status
CHOICE = "the model's choice"
CHIP = "sm_90a"
"""Of reports of files that do not name one, and of compiling without a GPU."""


class FaultError(Exception):
    """A kernel after which the GPU takes no further work from this process."""


@dataclasses.dataclass(frozen=True)
class Settings:
    """How a sweep measures."""

    chip: str
    output: Path
    rounds: Rounds
    seed: int
    queued: bool
    seconds: float
    limit: float
    """Seconds after which a kernel counts as hanging."""


class Sweep:
    """The measuring part, on the GPU of this machine."""

    def __init__(self, settings: Settings, entries: list[Entry], torch: Any, monitor: Any) -> None:
        self.settings, self.entries = settings, entries
        self._torch, self._monitor = torch, monitor
        self._start = time.monotonic()
        self._skipped = Path(f"{settings.output}.skipped")
        self._skip = set(self._skipped.read_text().splitlines()) if self._skipped.exists() else set[str]()
        self._watchdog = Watchdog(settings.limit, self._note)
        self._device = torch.cuda.get_device_name(0)

    @property
    def is_over(self) -> bool:
        """Whether the time for measuring is."""
        return bool(self.settings.seconds) and time.monotonic() - self._start > self.settings.seconds

    def measure(self, explored: Explored, refused: dict[str, str]) -> Entry:
        """All schedules of one problem that compiled; adds the entry and writes the file."""
        torch, problem = self._torch, explored.problem
        torch.backends.cuda.matmul.allow_tf32 = problem.dtype == "tf32"
        drawn = operands.draw(problem, torch, seed=self.settings.seed)
        reference = Reference(drawn, torch)
        rng = random.Random(f"{self.settings.seed} {problem.name}")
        names, runs, errors, wrong = list[str](), list[Callable[[], Any]](), list[float](), list[Entry]()
        labels: dict[int, str] = {}
        for name, schedule in _asked(explored):
            label = f"{problem.name}|{name or CHOICE}"
            if name in refused or label in self._skip:
                continue
            try:
                contender = ours(0, drawn, self.settings.chip, schedule)
                verdict = self._checked(label, reference, contender)
            except Error as error:
                refused[name] = error.message
                continue
            if verdict.right:
                names.append(name)
                runs.append(contender.run)
                errors.append(verdict.error)
                labels[id(contender.run)] = label
            else:
                wrong.append({"schedule": name or CHOICE, "err": verdict.error, "largest": verdict.largest})
        # What it allocated is not needed while times are taken.
        del reference
        library = next((each for each in rivals(("torch",), drawn, _no_timer(), None, torch)), "")
        kept = [len(names) - 1] if names and names[-1] == "" else []
        if isinstance(library, Contender):
            kept.append(len(runs))
            runs.append(library.run)
        bursts = GpuBursts(torch, self.settings.queued, self._monitor.sample)

        def burst(run: Callable[[], Any], lead: int, count: int) -> float:
            label = labels.get(id(run), f"{problem.name}|cuBLAS")
            self._watchdog.now(label)
            try:
                return bursts(run, lead, count)
            except Exception as fault:
                raise self._fault(label, fault) from fault

        times = in_random_order(runs, kept, burst, self.settings.rounds, rng, lambda: self.is_over)
        self._watchdog.now("")
        rows: list[Entry] = [
            {"schedule": name, "us": 1e6 * statistics.median(each), "err": error, "rounds": len(each)}
            for name, each, error in zip(names, times, errors, strict=False)
        ]
        choice = next((row for row in rows if row["schedule"] == ""), None)
        if choice is not None:
            rows.remove(choice)
            choice |= {"schedule": explored.choice, "swapped": explored.swapped}
        entry: Entry = {
            "case": case_of(problem),
            "cublas_us": 1e6 * statistics.median(times[-1]) if isinstance(library, Contender) else None,
            "rows": sorted(rows, key=lambda row: row["us"]),
            "choice": choice,
            "wrong": wrong,
            "refused": [{"schedule": name or CHOICE, "why": why} for name, why in refused.items()],
            "problem": problem.name,
            "epilogue": problem.epilogue,
            "chip": self.settings.chip,
            "device": self._device,
            "order": "random",
            "settings": {**dataclasses.asdict(self.settings.rounds), "queued": self.settings.queued,
                         "seed": self.settings.seed},
            "state": self._monitor.summary(),
            "date": datetime.datetime.now().isoformat(timespec="seconds"),
        }  # fmt: skip
        self.entries.append(entry)
        write(self.settings.output, self.entries)
        return entry

    def _checked(self, label: str, reference: Reference, contender: Contender) -> operands.Verdict:
        """The check of a kernel. Faults are recorded: after one the process cannot go on."""
        self._watchdog.now(label)
        try:
            return reference.check(contender.run)
        except Error:
            raise
        except Exception as fault:
            raise self._fault(label, fault) from fault
        finally:
            self._watchdog.now("")

    def _fault(self, label: str, fault: Exception) -> FaultError:
        self._note(label)
        return FaultError(f"{label}: {type(fault).__name__}: {str(fault).partition(os.linesep)[0][:200]}")

    def _note(self, label: str) -> None:
        """Leaves a schedule out of what `--resume` measures."""
        with self._skipped.open("a") as file:
            file.write(f"{label}\n")


def _asked(explored: Explored) -> list[tuple[str, str]]:
    """Name in the file and fields to fix, of each schedule; after them those of the model's choice, as users get it,
    whose name is empty."""
    precision = ",".join(f"{name}={value}" for name, value in precision_of(explored.problem).items())
    return [*((schedule, schedule) for schedule in explored.schedules), ("", precision)]


def _no_timer() -> Any:
    """`rivals` needs none for PyTorch's product."""
    return None


def works_of(explored: Explored, chip: str, load: bool) -> list[tuple[str, Work]]:
    """What there is to compile for a problem, by the name in the file."""
    return [(name, Work(explored.problem, chip, schedule, load)) for name, schedule in _asked(explored)]


def run(arguments: argparse.Namespace) -> int:
    if arguments.report:
        entries = [entry for path in arguments.report for entry in read(path)]
        print(summary(entries, arguments.chip or CHIP, arguments.model))
        return WRONG if any(entry.get("wrong") for entry in entries) else 0
    chosen = _chosen(arguments)
    space = _space(arguments)
    output = Path(arguments.output)
    entries = read(str(output)) if arguments.resume and output.exists() else []
    if output.exists() and not arguments.resume and not arguments.compile_only:
        raise UsageError(f"'{output}' exists: go on with it by --resume, or name another file by -o")
    done = {entry.get("problem") for entry in entries}
    chosen = [problem for problem in chosen if problem.name not in done]
    jobs = arguments.jobs or os.cpu_count() or 1
    with shared_cache():
        if arguments.compile_only:
            compiled(chosen, arguments.chip or CHIP, space, jobs, load=False)
            return 0
        return _measure(arguments, chosen, space, jobs, output, entries)


def compiled(
    chosen: Sequence[Problem], chip: str, space: Space, jobs: int, load: bool
) -> list[tuple[Explored, dict[str, str]]]:
    """The schedules of each problem, compiled into the cache, and why some were refused."""
    target(chip)  # refuses a chip that there is not
    start = time.monotonic()
    works = [(problem, chip, space) for problem in chosen]
    with Progress("problems explored") as progress:
        found: list[Explored] = []
        for each in _mapped(works, jobs):
            found.append(each)
            progress(len(found), len(works))
    for each in found:
        if each.reason:
            print(f"{each.problem.name}: {each.reason}", flush=True)
    found = [each for each in found if each.choice]
    named = [(place, *work) for place, each in enumerate(found) for work in works_of(each, chip, load)]
    with Progress("kernels compiled") as progress:
        reasons = prepare([work for _, _, work in named], jobs, progress)
    refused: list[dict[str, str]] = [{} for _ in found]
    for (place, name, _), reason in zip(named, reasons, strict=True):
        if reason:
            refused[place][name] = reason
    count = sum(map(len, refused))
    print(f"{len(named)} kernels compiled in {time.monotonic() - start:.0f} s, {count} refused", flush=True)
    for reason in sorted({reason[:200] for each in refused for reason in each.values()})[:10]:
        print(f"  refused: {reason}", flush=True)
    return list(zip(found, refused, strict=True))


def _mapped(works: Sequence[tuple[Problem, str, Space]], jobs: int) -> Any:
    if jobs == 1 or len(works) < 2:
        return map(explore, works)
    pool = ProcessPoolExecutor(min(jobs, len(works)), multiprocessing.get_context("spawn"))
    with pool:
        return list(pool.map(explore, works))


def _measure(
    arguments: argparse.Namespace, chosen: list[Problem], space: Space, jobs: int, output: Path, entries: list[Entry]
) -> int:
    from mlir_gemm.bench.machine import Monitor
    from mlir_gemm.bench.measure import require_gpu
    from mlir_gemm.runtime.own_chip import default_chip

    torch = require_gpu()
    settings = Settings(
        chip=arguments.chip or default_chip(0),
        output=output,
        rounds=Rounds(arguments.rounds, arguments.burst_ms),
        seed=arguments.seed,
        queued=arguments.queued,
        seconds=arguments.seconds,
        limit=arguments.limit,
    )
    sweep = Sweep(settings, entries, torch, Monitor(torch))
    ready = compiled(chosen, settings.chip, space, jobs, load=True)
    with Progress("problems measured") as progress:
        for number, (explored, refused) in enumerate(ready):
            if sweep.is_over:
                print(f"stopped after {number} of {len(ready)} problems: --seconds are over", flush=True)
                break
            line = line_of(sweep.measure(explored, refused), settings.chip)
            if line:
                print(
                    f"{line.name}: {line.rows} kernels, {line.wrong} wrong; choice {line.choice or 0:.1f} us, best "
                    f"{line.best:.1f} ({line.fastest}), cuBLAS {line.cublas or 0:.1f}", flush=True,
                )  # fmt: skip
            progress(number + 1, len(ready))
    print(f"\n{summary(entries, settings.chip)}\nwrote {output}")
    return WRONG if any(entry.get("wrong") for entry in entries) else 0


def _chosen(arguments: argparse.Namespace) -> list[Problem]:
    groups, types, layouts = (_names(each) for each in (arguments.group, arguments.types, arguments.layouts))
    if arguments.mnk and groups:
        raise UsageError("--mnk takes the place of the list of problems: leave out --group")
    found = problems.custom(arguments.mnk, types, layouts) if arguments.mnk else problems.select(groups, types, layouts)
    if arguments.out:
        found = list(dict.fromkeys(dataclasses.replace(each, out=arguments.out) for each in found))
    return found


def _space(arguments: argparse.Namespace) -> Space:
    asked = tuple(_names([arguments.mmas]))
    for name in asked:
        if name not in mmas():
            raise UsageError(f"--mmas {name}: expected some of {', '.join(mmas())}")
    try:
        groups = tuple(int(group) for group in _names([arguments.groups]))
    except ValueError:
        raise UsageError(f"--groups {arguments.groups}: expected numbers joined by commas, such as 4,8,16") from None
    try:
        shares = tuple(int(share) for share in _names([arguments.stream_k]))
    except ValueError:
        raise UsageError(f"--stream-k {arguments.stream_k}: expected numbers joined by commas, such as 2,4") from None
    return Space(
        mmas=asked,
        pinned=Schedule.parse(arguments.schedule),
        groups=groups,
        leaders=arguments.leaders,
        ping_pong=arguments.ping_pong,
        clusters=arguments.clusters,
        stream_k=shares,
        wide=arguments.wide,
        most=arguments.most,
    )


def _names(given: Sequence[str]) -> list[str]:
    return [name.strip() for each in given for name in each.split(",") if name.strip()]


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="python -m mlir_gemm.bench.sweep",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = made.add_argument
    add("--group", action="append", default=[], metavar="NAMES", help="groups of the list of problems")
    add("--mnk", type=matrix_sizes, action="append", metavar="M,N,K", help="these sizes in place of the list")
    add("--types", action="append", default=[], metavar="NAMES", help="operand types (default: f16)")
    add("--layouts", action="append", default=[], metavar="NAMES", help="NN, NT, TN, TT (default: NN,NT)")
    add("--out", choices=sorted(operands.BOUNDS), help="the result's type, where not the usual one")
    add("--mmas", default="wgmma", metavar="NAMES", help="whose schedules are measured (default: wgmma)")
    add("--schedule", default="", metavar="FIELDS", help="fields to fix in every schedule")
    add("--groups", default="", metavar="NUMBERS", help="further groups of the raster, where there are many tiles ...")
    add("--leaders", type=int, default=8, metavar="N", help="... for so many schedules, the fastest predicted (8)")
    add("--ping-pong", action="store_true", help="also warpgroups that ping-pong")
    add("--clusters", action="store_true", help="also clusters of four")
    add("--stream-k", default="", metavar="NUMBERS", help="also these values of stream_k, where tiles fill no wave")
    add("--wide", action="store_true", help="also what the model's wide search proposes")
    add(
        "--most",
        type=int,
        default=0,
        metavar="N",
        help="only the N schedules predicted fastest, of each mma and order of the sides",
    )
    add("--rounds", type=int, default=Rounds.rounds, help=f"rounds (default: {Rounds.rounds})")
    add("--burst-ms", type=float, default=Rounds.burst_ms, help="length of a burst (default: 10)")
    add("--queued", action="store_true", help="hold the GPU until a burst is queued: what the host takes does not show")
    add("--seconds", type=float, default=0, metavar="N", help="end measuring after so long")
    add("--limit", type=float, default=30, metavar="N", help="seconds after which a kernel counts as hanging (30)")
    add("--seed", type=int, default=0)
    add("--jobs", type=int, default=0, help="processes that compile (default: one for each CPU)")
    add("--chip", default="", help="what to compile for (default: the GPU's)")
    add("--compile-only", action="store_true", help="fill the cache (MLIR_GEMM_CACHE), for a machine with a GPU")
    add("-o", "--output", default="sweep.json", help="the file (default: sweep.json)")
    add("--resume", action="store_true", help="go on with the file: measure the problems that it does not have")
    add("--report", nargs="+", metavar="FILE", help="print the summary of saved sweeps and end; needs no GPU")
    add("--model", action="store_true", help="with --report: judge the model as it is now, not the choice of then")
    return made


def main(given: Sequence[str] | None = None) -> int:
    arguments = parser().parse_args(given)
    try:
        return run(arguments)
    except Error as problem:
        print(problem, file=sys.stderr)
        return 1
    except UsageError as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2
    except FaultError as problem:
        print(f"error: {problem}\n  note: the file has what came before; --resume goes on without it", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
