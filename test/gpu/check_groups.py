"""Runs many random products on `mma=wgmma` under random legal schedules on the GPU of this machine.

    python test/gpu/check_groups.py [--count 2000] [--seed 1] [-o RESULTS.json]
    python test/gpu/check_groups.py --mode repeat --count 300      # the same bits in every run
    python test/gpu/check_groups.py --mode invariant --count 40    # the same bits of a row whatever M is
    python test/gpu/check_groups.py --mode warps --count 500       # `mma_sync` on stages that the copy engine fills
    python test/gpu/check_groups.py --compile-only --chip sm_90a --cache DIR    # ahead, without a GPU; then --cache DIR
    compute-sanitizer python test/gpu/check_groups.py --subset 40 --cache DIR   # few, small, in this process

`exact`, the mode without --mode: inputs are small integers, so that every sum is exact and the result must be equal to
the float64 reference rounded once (8-bit floats, whose sums keep fewer bits: to within a half). Arguments lie between
guard zones of NaN, results start as NaN, and what lies around the result must be untouched.

Kernels are compiled and loaded by a pool of processes first. A child process runs them; when it says nothing for
--limit seconds it is ended, the case counts as hung, and a new child goes on with the next one. The table at the end
has a command that runs each failure again.
"""

from __future__ import annotations

import argparse
import collections
import json
import multiprocessing
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from group_runs import MODES, run_numbers
from random_group_products import GroupCase, draw, invariant, varied
from random_warp_products import draw_warps

from mlir_gemm.errors import Error, TargetError
from mlir_gemm.progress import Progress
from mlir_gemm.tile_model.chips import target

START = 180.0
"""Seconds that a child has to import and to find the GPU."""
MOST_CHILDREN = 25
Outcome = dict[str, Any]
"""`number`, and `wrong` (None for right) and `note`."""


def compile_one(work: tuple[str, str, str, bool]) -> str:
    """Compiles a module into the cache, and loads it; the error as text, empty if there is none."""
    text, schedule, chip, load = work
    import mlir_gemm

    try:
        kernel = mlir_gemm.compile(text, chip=chip, schedule=schedule)
        if load:
            kernel.load(0)
    except mlir_gemm.Error as error:
        return str(error)
    except Exception as error:  # a fault of the compiler, to be reported with its case
        return f"INTERNAL {type(error).__name__}: {error}"
    return ""


def compile_all(works: Sequence[tuple[str, str, str, bool]], jobs: int) -> list[str]:
    """Every module by a pool. A process that LLVM ends takes the pool with it: what is left is compiled one by one."""
    reasons: dict[int, str] = {}
    context = multiprocessing.get_context("spawn")
    with Progress("kernels compiled") as progress:
        with ProcessPoolExecutor(max(1, jobs), context) as pool:
            futures = {pool.submit(compile_one, work): number for number, work in enumerate(works)}
            for future in as_completed(futures):
                with suppress(BrokenProcessPool):
                    reasons[futures[future]] = future.result()
                    progress(len(reasons), len(works))
        for number, work in enumerate(works):
            if number not in reasons:
                with ProcessPoolExecutor(1, context) as pool:
                    try:
                        reasons[number] = pool.submit(compile_one, work).result()
                    except BrokenProcessPool:
                        reasons[number] = "INTERNAL the process that compiles ended"
    return [reasons[number] for number in range(len(works))]


def supervised(
    command: Sequence[str], numbers: Sequence[int], limit: float, start: float = START, children: int = MOST_CHILDREN
) -> Iterator[Outcome]:
    """What each case gives that a child (`command`, with the numbers as JSON on its input) runs. A child that hangs or
    ends is replaced, without the case that it was at."""
    left = list(numbers)
    while left and children:
        children -= 1
        child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert child.stdin is not None
        child.stdin.write(json.dumps(left))
        child.stdin.close()
        lines: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=_forward, args=(child, lines), daemon=True).start()
        try:
            yield from _outcomes(child, lines, left, limit, start)
        finally:
            child.kill()
            child.wait()
    for number in left:
        yield {"number": number, "wrong": f"NOT RUN: {MOST_CHILDREN} children have hung or ended before"}


def _outcomes(
    child: subprocess.Popen[str], lines: queue.Queue[str | None], left: list[int], limit: float, start: float
) -> Iterator[Outcome]:
    """What one child gives, as long as it lives; takes the cases out of `left`."""
    at: int | None = None
    said = False
    while True:
        try:
            line = lines.get(timeout=limit if said else start)
        except queue.Empty:
            child.kill()
            if at is None:
                raise RuntimeError(f"a child said nothing for {start:.0f} s: is the GPU there?") from None
            left.remove(at)
            yield {"number": at, "wrong": f"HUNG: not ended after {limit:.0f} s"}
            return
        if line is None:
            status = child.wait()
            if at is not None:
                left.remove(at)
                yield {"number": at, "wrong": f"CRASHED: the process ended with status {status}"}
            elif not said:
                raise RuntimeError(f"a child ended with status {status} before its first case; see above")
            return
        said = True
        event = json.loads(line)
        if "begin" in event:
            at = event["begin"]
        elif "number" in event:
            left.remove(event["number"])
            at = None
            yield event


def _forward(child: subprocess.Popen[str], lines: queue.Queue[str | None]) -> None:
    """The child's lines that are events; others are its own messages."""
    assert child.stdout is not None
    for line in child.stdout:
        if line.startswith("{"):
            lines.put(line)
        else:
            print(line, end="", flush=True)
    lines.put(None)


def cases_of(mode: str, seed: int, number: int, chip: str) -> list[GroupCase]:
    """The kernels of a case."""
    if mode == "warps":
        return [draw_warps(seed, number, chip)]
    return invariant(seed, number) if mode == "invariant" else [draw(seed, number, chip)]


def again(options: argparse.Namespace, number: int) -> str:
    """The command that runs one case again."""
    return f"python {Path(__file__).name} --mode {options.mode} --seed {options.seed} --only {number}"


def report(options: argparse.Namespace, failures: Sequence[tuple[GroupCase, str]]) -> None:
    """A table of what failed, by what was found, and how to see it again."""
    for (kind, split), count in collections.Counter((case.kind, wrong[:60]) for case, wrong in failures).most_common():
        print(f"{count:5} {kind}: {split}")
    for case, wrong in failures[:40]:
        print(f"\ncase {case.number}: {case}\n  {case.schedule}\n  {wrong}\n  {again(options, case.number)}")
    if len(failures) > 40:
        print(f"\nand {len(failures) - 40} more: see -o")


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = made.add_argument
    add("--mode", choices=MODES, default="exact")
    add("--count", type=int, default=2000, help="cases (2000)")
    add("--seed", type=int, default=1)
    add("--only", type=int, nargs="+", metavar="NUMBER", help="only these cases of the seed")
    add("--subset", type=int, metavar="N", help="so many small cases of as many kinds, in this process")
    add("--limit", type=float, default=30, metavar="SECONDS", help="after which a case counts as hung (30)")
    add("--seconds", type=float, default=0, metavar="N", help="begin no further case after so long")
    add("--jobs", type=int, default=os.cpu_count() or 4, help="processes that compile")
    add("--cache", metavar="DIR", help="where compiled kernels are kept (default: a temporary folder)")
    add("--chip", default="", help="what to compile for (default: the GPU's)")
    add("--compile-only", action="store_true", help="fill the cache and end")
    add("-o", "--output", type=Path, metavar="FILE", help="outcomes as JSON")
    add("--child", action="store_true", help=argparse.SUPPRESS)
    return made


def _chip(options: argparse.Namespace) -> str:
    """What to compile for. Raises Error without a GPU, unless none is needed, and for a chip without the mma."""
    from mlir_gemm.runtime.device import open_gpu
    from mlir_gemm.runtime.own_chip import default_chip

    if not options.compile_only:
        open_gpu(0)
    chip = options.chip or default_chip()
    if "wgmma.mma_async" not in target(chip).capabilities:
        raise TargetError(f"{chip} has no mma=wgmma: expected sm_90a (--chip)")
    return chip


def child(options: argparse.Namespace) -> int:
    """Runs the cases whose numbers are on the input."""
    numbers = json.load(sys.stdin)

    def cases(number: int) -> list[GroupCase]:
        return cases_of(options.mode, options.seed, number, options.chip)

    for event in run_numbers(numbers, cases, options.mode, options.chip):
        print(json.dumps(event), flush=True)
        if event.get("fatal"):
            return 1
    return 0


def main(given: Sequence[str] | None = None) -> int:
    options = parser().parse_args(given)
    if options.child:
        return child(options)
    os.environ["MLIR_GEMM_CACHE"] = options.cache or tempfile.mkdtemp()
    try:
        options.chip = _chip(options)
    except Error as problem:
        print(problem, file=sys.stderr)
        return 1
    if options.subset:
        numbers = [case.number for case in varied(options.seed, options.subset, options.chip)]
    else:
        numbers = options.only or list(range(options.count))
    cases = {number: cases_of(options.mode, options.seed, number, options.chip) for number in numbers}
    start = time.perf_counter()
    flat = [case for each in cases.values() for case in each]
    load = not options.compile_only and not options.subset
    reasons = compile_all([(case.module(), case.schedule, options.chip, load) for case in flat], options.jobs)
    refused = [(case, f"REFUSED: {reason}") for case, reason in zip(flat, reasons, strict=True) if reason]
    print(f"{len(flat)} kernels compiled in {time.perf_counter() - start:.0f} s, {len(refused)} refused", flush=True)
    without = {case.number for case, _ in refused}
    runnable = [number for number in numbers if number not in without]
    if options.compile_only:
        report(options, refused)
        return 1 if refused else 0
    try:
        outcomes = run(options, runnable)
    except RuntimeError as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 1
    failures = refused + [(cases[each["number"]][0], each["wrong"]) for each in outcomes if each["wrong"]]
    report(options, failures)
    notes = collections.Counter(each["note"] for each in outcomes if each.get("note"))
    for note, count in notes.most_common(5):
        print(f"{count:5} {note}")
    right = sum(not each["wrong"] for each in outcomes)
    print(f"{right} right of {len(numbers)} cases ({options.mode}, seed {options.seed})")
    if options.output:
        found = [{"number": case.number, "case": str(case), "schedule": case.schedule, "wrong": wrong}
                 for case, wrong in failures]  # fmt: skip
        result = {"mode": options.mode, "seed": options.seed, "count": len(numbers), "right": right, "others": found}
        options.output.write_text(json.dumps(result, indent=0))
    return 1 if failures else 0


def run(options: argparse.Namespace, numbers: Sequence[int]) -> list[Outcome]:
    """The outcome of each case that was run."""
    start = time.perf_counter()
    events: Iterator[Outcome]
    if options.subset:

        def cases(number: int) -> list[GroupCase]:
            return cases_of(options.mode, options.seed, number, options.chip)

        events = (each for each in run_numbers(numbers, cases, options.mode, options.chip) if "number" in each)
    else:
        command = [sys.executable, __file__, "--child", "--mode", options.mode, "--seed", str(options.seed)]
        events = supervised([*command, "--chip", options.chip], numbers, options.limit)
    outcomes: list[Outcome] = []
    with Progress("cases run") as progress:
        for event in events:
            outcomes.append(event)
            progress(len(outcomes), len(numbers))
            if event["wrong"]:
                print(f"case {event['number']}: {event['wrong']}", flush=True)
            if options.seconds and time.perf_counter() - start > options.seconds:
                print(f"stopped after {len(outcomes)} of {len(numbers)} cases: --seconds are over", flush=True)
                break
    print(f"run in {time.perf_counter() - start:.0f} s", flush=True)
    return outcomes


if __name__ == "__main__":
    sys.exit(main())
