"""Mutants of all modules at hand, by bytes, lines and tokens: whatever they are, they compile or are refused.

    python test/python/fuzz_modules.py --count 50000 --jobs 2 --save build/fuzz

A mutant follows from its number alone. Workers go through ranges of numbers, so that one that dies is known by the
number that it was at; what it died of is saved with the module. `test_fuzz.py` runs a few hundred.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import random
import re
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from mutants import ROOT, Mutant, mutant

WHOLE = 10
"""One in so many mutants of a source goes through all stages, the others through `import`. One in so many of IR saved
after a stage goes through all that are left, the others through the next."""
HANGS = 300.0
"""Seconds after which a mutant counts as never ending. The compiler refuses what takes 5 s of the processor to read."""


def outcome(each: Mutant) -> str:
    """What becomes of a mutant: `compiled`, the kind of error with what it says, or `BUG` with what no user should see.

    Reads text as the command line does, but keeps bytes that are no UTF-8, for what it would refuse at once.
    """
    from mlir_gemm.dialect.parse import text_of
    from mlir_gemm.errors import Error
    from mlir_gemm.pipeline.driver import compile_module
    from mlir_gemm.pipeline.runner import run_passes
    from mlir_gemm.spec.stages import STAGES

    try:
        text = text_of(each.data, "-") if each.is_bytecode else each.data.decode(errors="surrogateescape")
        if each.seed.passes:
            run_passes(text, each.seed.passes)
        else:
            whole = random.Random(-each.number).randrange(WHOLE) == 0
            after = STAGES.index(each.seed.stage) + 1 if each.seed.stage else 0
            compile_module(text, until="ptx" if whole else STAGES[after])
    except Error as error:
        return f"{type(error).__name__}: {error.message}"
    except Exception as error:
        frame = error.__traceback__
        while frame is not None and frame.tb_next is not None:
            frame = frame.tb_next
        where = f"{Path(frame.tb_frame.f_code.co_filename).name}:{frame.tb_lineno}" if frame else "?"
        return f"BUG {type(error).__name__} at {where}: {error}"
    return "compiled"


def work() -> None:
    """A worker: takes numbers from stdin, a line each, and answers with a line of JSON each."""
    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        answers.write(json.dumps(outcome(mutant(int(line)))) + "\n")
        answers.flush()


@dataclass
class Campaign:
    """What became of the mutants so far."""

    counts: collections.Counter[str] = field(default_factory=collections.Counter[str])
    faults: dict[int, str] = field(default_factory=dict[int, str])
    """What must not happen, by the number of the mutant: a worker that died or hung, or an exception that is a bug."""

    def add(self, number: int, what: str) -> None:
        """Counts one."""
        self.counts[_kind(what)] += 1
        if what.startswith(("BUG", "DIED", "HUNG")):
            self.faults[number] = what


def _kind(what: str) -> str:
    """An outcome without what differs from one module to the next."""
    plain = re.sub(r"'[^']*'|\"[^\"]*\"|%[\w#]+|@\w+|[\w<>?]*x[fi]\d+\S*|-?\d[\w.]*", "_", what.splitlines()[0])
    return plain[:110]


class _Worker:
    """A process that goes through some of the numbers."""

    def __init__(self, numbers: Iterator[int], selector: selectors.BaseSelector, stderr: IO[bytes]) -> None:
        self.numbers = numbers
        self.selector = selector
        self.stderr = stderr
        self.process: subprocess.Popen[bytes] | None = None
        self.number = -1
        self.since = 0.0

    def next(self) -> bool:
        """Sends the next number; whether there was one."""
        self.number = next(self.numbers, -1)
        if self.number < 0:
            self.stop()
            return False
        if self.process is None:
            environment = {**os.environ, "MALLOC_PERTURB_": "165", "MALLOC_CHECK_": "3", "PYTHONFAULTHANDLER": "1"}
            command = [sys.executable, __file__, "--worker"]
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.stderr, env=environment
            )
            assert self.process.stdout is not None
            self.selector.register(self.process.stdout, selectors.EVENT_READ, self)
        assert self.process.stdin is not None
        self.process.stdin.write(b"%d\n" % self.number)
        self.process.stdin.flush()
        self.since = time.monotonic()
        return True

    def answer(self) -> str:
        """What the process says of the number, or how it ended."""
        assert self.process is not None and self.process.stdout is not None
        line = self.process.stdout.readline()
        if line:
            return str(json.loads(line))
        self.stop()
        status = self.status
        return f"DIED {signal.Signals(-status).name if status < 0 else status}"

    def stop(self) -> None:
        """Ends the process."""
        if self.process is not None:
            assert self.process.stdin is not None and self.process.stdout is not None
            self.selector.unregister(self.process.stdout)
            self.process.stdin.close()
            self.process.stdout.close()
            self.status = self.process.wait()
            self.process = None


def campaign(numbers: range, jobs: int, save: Path, progress: bool = False) -> Campaign:
    """Runs the mutants with these numbers in workers, and saves those that are faults with what stderr shows."""
    result, todo, selector = Campaign(), iter(numbers), selectors.DefaultSelector()
    save.mkdir(parents=True, exist_ok=True)
    began, done = time.monotonic(), 0
    with (save / "stderr.txt").open("ab") as stderr:
        workers = [_Worker(todo, selector, stderr) for _ in range(jobs)]
        busy = {worker for worker in workers if worker.next()}
        while busy:
            events = selector.select(timeout=1.0)
            for worker in {key.data for key, _ in events} | _late(busy):
                late = worker in _late({worker})
                if late and worker.process is not None:
                    worker.process.kill()
                what = worker.answer()
                what = f"HUNG after {HANGS:.0f} s" if late else what
                result.add(worker.number, what)
                if worker.number in result.faults:
                    _save(save, worker.number, what)
                done += 1
                if progress and done % 50 == 0:
                    _show(done, len(numbers), time.monotonic() - began, len(result.faults))
                if not worker.next():
                    busy.discard(worker)
    return result


def _late(workers: set[_Worker]) -> set[_Worker]:
    return {worker for worker in workers if time.monotonic() - worker.since > HANGS}


def _save(folder: Path, number: int, what: str) -> None:
    each = mutant(number)
    ending = "mlirbc" if each.is_bytecode else "mlir"
    (folder / f"{number}.{ending}").write_bytes(each.data)
    (folder / f"{number}.txt").write_text(f"{what}\n{each.seed.name} {each.how} {' '.join(each.seed.passes)}\n")


def _show(done: int, whole: int, seconds: float, faults: int) -> None:
    bar = "#" * (40 * done // whole)
    left = seconds / done * (whole - done)
    print(
        f"\r[{bar:<40}] {done}/{whole}, {faults} faults, {left / 60:.0f} min left ", end="", file=sys.stderr, flush=True
    )


def main() -> int:
    """The command line. Fails if there was a fault."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--first", type=int, default=0, help="number of the first mutant")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--save", type=Path, default=ROOT / "build" / "fuzz", metavar="DIR")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        work()
        return 0
    result = campaign(range(arguments.first, arguments.first + arguments.count), arguments.jobs, arguments.save, True)
    print(file=sys.stderr)
    for what, count in result.counts.most_common():
        print(f"{count:6} {what}")
    for number, what in result.faults.items():
        print(f"mutant {number}: {what}")
    return 1 if result.faults else 0


if __name__ == "__main__":
    sys.exit(main())
