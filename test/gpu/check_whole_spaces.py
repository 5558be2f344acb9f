"""Measures whole spaces of schedules on the GPU of this machine: how near the tuner and the model come to the best.

    python check_whole_spaces.py -o RESULTS.jsonl --seed N [--seconds 280] [--jobs N]    # problems nobody has seen
    python check_whole_spaces.py -o RESULTS.jsonl --dry --part-one 2 --part-two 4 --best 10 --sample 5   # no GPU

Part one: problems that are in no list. Of the legal schedules that are predicted within a factor of two of the best all
are measured, or the best 150 and a random sample of 90 of the others. Then the sampler `expected` takes 50 trials of
the whole space; what it takes is measured if it was not. Part two: random problems with some 45 likely schedules each,
for `mlir-gemm tune --fit`. At the end what came out, as `space_report.py` says it.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
import threading
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import space_worker
from space_problems import KNOWN, ONE, drawn, large, named, of_each_kind
from space_report import read, report
from space_times import Compilers, Explored, Measurer, Request, Results, Row, Table, explored, in_parallel

TRIALS, TOGETHER = 50, 8
ASKED = "asked: expected after 50 trials 1.01 in the mean, 1.05 at worst; two: the choice 1.03, 1.2"


def likely(found: Explored, count: int) -> list[str]:
    """Schedules of which one may be the best: of each kind that the model would choose, and variants of the first."""
    texts = {trial.schedule: trial for trial in found.trials}
    taken: dict[str, None] = {found.trials[0].schedule: None}
    kinds: set[tuple[Any, ...]] = set()
    names = ("mma", "mainloop", "block_m", "block_n", "block_k", "warp_m", "warp_n", "cluster_m", "cluster_n",
             "split_k_cluster", "stream_k", "ping_pong", "swap_ab")  # fmt: skip
    for trial in found.trials:
        kind = tuple(trial.at[name] for name in names)
        if len(kinds) < 0.55 * count and kind not in kinds:
            kinds.add(kind)
            taken[trial.schedule] = None
    for text in list(taken)[:4]:
        for one, other in (("on", "off"), ("off", "on")):
            changed = text.replace(f"early_trigger={one}", f"early_trigger={other}")
            if changed in texts:
                taken[changed] = None
    for name, least, most in (("stream_k", 1, 6), ("split_k_cluster", 2, 5), ("persistent", 1, 3)):
        own = [trial.schedule for trial in found.trials if int(trial.at[name]) >= least]
        taken |= dict.fromkeys(own[:most])
    for mma in {str(trial.at["mma"]) for trial in found.trials}:
        own = [trial.schedule for trial in found.trials if trial.at["mma"] == mma]
        taken |= dict.fromkeys(own[:3])
    for trial in found.trials:
        if len(taken) >= count:
            break
        taken[trial.schedule] = None
    return list(taken)


class Run:
    """All of it."""

    def __init__(self, options: argparse.Namespace, results: Results, chip: str, gpu: str) -> None:
        self.options, self.results, self.chip = options, results, chip
        live = max(1, options.jobs // 5)
        self.compilers = Compilers(max(1, options.jobs - live), chip, gpu, not options.dry)
        self.few = Compilers(live, chip, gpu, not options.dry)
        self._left, self._lock, self._compiled = 0, threading.Lock(), threading.Event()
        self.measurer = Measurer(space_worker.pretend if options.dry else space_worker.serve, options.limit)

    @property
    def is_over(self) -> bool:
        return self.results.now > self.options.seconds

    def measured(self, found: Explored, compilers: Compilers, schedules: Sequence[str], begun: Any = None) -> Table:
        begun = begun or compilers.begin(found, schedules)
        ended = compilers.ended(found, begun)
        if compilers is self.compilers:
            self.compiled()
        right = tuple((text, file) for text, file, why in ended if not why)
        predicted = {trial.schedule: trial.predicted for trial in found.trials} if self.options.dry else {}
        library = schedules[0] == found.trials[0].schedule
        table = Table()
        if right and not self.is_over:
            table = self.measurer.table(Request(found.row, found.source, self.chip, right, predicted, library))
        table.failed |= {text: why for text, _, why in ended if why}
        return table

    def compiled(self) -> None:
        """A problem is compiled: waits until all are, as processes that load kernels take time slices of the GPU."""
        with self._lock:
            self._left -= 1
            if self._left <= 0:
                self.compilers.close()
                self._compiled.set()
        self._compiled.wait(max(0.0, 0.6 * self.options.seconds - self.results.now))

    def write(self, part: str, found: Explored, table: Table, within: int, kinds: dict[str, str], **more: Any) -> None:
        predicted = {trial.schedule: trial.predicted for trial in found.trials}
        rows = [
            {"schedule": text, "us": 1e6 * seconds, "predicted": 1e6 * predicted[text], "err": table.errors.get(text),
             "rounds": table.rounds.get(text), "of": kinds.get(text, ""),
             "places": [1e6 * each for each in table.places.get(text, [])]}
            for text, seconds in sorted(table.seconds.items(), key=lambda each: each[1])
        ]  # fmt: skip
        self.results.add(
            "table", part=part, name=found.name, row=found.row, chip=self.chip, problem=vars(found.problem),
            decided=vars(found.decided), rewrites=found.rewrites, space=len(found.trials), within=within, rows=rows,
            failed=table.failed, cublas_us=1e6 * table.library or None, choice=found.trials[0].schedule,
            explored=found.seconds, measured=table.taken, ramp=table.ramp,
            **more,
        )  # fmt: skip
        if rows:
            choice = next((row["us"] for row in rows if row["schedule"] == found.trials[0].schedule), None)
            print(
                f"{self.results.now:4.0f} s  {part} {found.name:32} {len(rows):4} of {len(found.trials):5}, failed "
                f"{len(table.failed)}; choice {choice or 0:8.2f} us, best {rows[0]['us']:8.2f}, "
                f"{(choice or 0) / rows[0]['us']:.3f}; cuBLAS {1e6 * table.library:8.2f}", flush=True,
            )  # fmt: skip

    def one(self, future: Any, submitted: threading.Event) -> None:
        """A problem of part one."""
        try:
            found: Explored = future.result()
            least = min(trial.predicted for trial in found.trials)
            within = [trial.schedule for trial in found.trials if trial.predicted < 2 * least]
            best, rest = within[: self.options.best], within[self.options.best :]
            sample = random.Random(found.name).sample(rest, min(len(rest), self.options.sample))
            begun = self.compilers.begin(found, [*best, *sample])
        finally:
            submitted.set()
        table = self.measured(found, self.compilers, [*best, *sample], begun)
        kinds = {**dict.fromkeys(best, "best"), **dict.fromkeys(sample, "sample")}
        self.write("one", found, table, len(within), kinds)
        if table.seconds and not self.is_over:
            self.live(found, table)

    def live(self, found: Explored, table: Table) -> None:
        """Fifty trials of `expected` on the whole space, of which what is not in the table is measured."""
        import numpy as np

        from mlir_gemm.tuner.expectation import Expectation

        trials, expectation = found.trials, Expectation(found.trials)
        anchor = min(table.seconds, key=lambda text: table.seconds[text])
        known: dict[int, float | None] = {}
        extra: dict[str, float] = {}
        while len(known) < min(TRIALS, len(trials)) and not self.is_over:
            asked = [] if known else [0]
            while len(asked) < min(TOGETHER, TRIALS - len(known), len(trials) - len(known)):
                improvements = expectation.improvements(known, asked)
                improvements[[*known, *asked]] = -np.inf
                asked.append(int(np.argmax(improvements)))
            texts = [trials[place].schedule for place in asked]
            missing = [text for text in texts if text not in table.seconds and text not in table.failed]
            if missing:
                more = self.measured(found, self.few, [*missing, anchor])
                drift = table.seconds[anchor] / more.seconds.get(anchor, table.seconds[anchor])
                new = {text: seconds * drift for text, seconds in more.seconds.items() if text in missing}
                table.seconds |= new
                extra |= new
                table.failed |= {text: more.failed.get(text, "not measured") for text in missing if text not in new}
            known |= {place: table.seconds.get(text) for place, text in zip(asked, texts, strict=True)}
        order = [[trials[place].schedule, seconds and 1e6 * seconds] for place, seconds in known.items()]
        times = [seconds for seconds in known.values() if seconds]
        best = min(table.seconds.values())
        self.results.add("live", name=found.name, row=found.row, order=order, extra=len(extra))
        print(
            f"{self.results.now:4.0f} s  live {found.name:32} {len(known)} trials, {len(extra)} not in the table: "
            f"{min(times, default=0) / best:.4f} of the best of all", flush=True,
        )  # fmt: skip

    def two(self, row: Row, after: threading.Event) -> None:
        """A problem of part two."""
        after.wait()
        found: Explored = self.compilers.submit(explored, row, self.chip).result()
        schedules = likely(found, self.options.count)
        least = min(trial.predicted for trial in found.trials)
        within = sum(trial.predicted < 2 * least for trial in found.trials)
        self.write("two", found, self.measured(found, self.compilers, schedules), within, {})

    def run(self) -> None:
        options = self.options
        first, others = (of_each_kind(options.seed), []) if options.seed else (ONE, list(KNOWN))
        one = list(first)[: options.part_one]
        two = [*others, *drawn(40, options.seed or 22)][: options.part_two]
        two += large(options.large, options.seed or 7)
        two += [named(text) for text in options.problem]
        self._left = len(one) + len(two)
        self.measurer.start()
        submitted = [threading.Event() for _ in one] or [threading.Event()]
        futures = [self.compilers.submit(explored, row, self.chip) for row in one]
        if not one:
            submitted[0].set()
        calls = [partial(self.one, *each) for each in zip(futures, submitted, strict=False)]
        calls += [partial(self.two, row, submitted[at * len(submitted) // len(two)]) for at, row in enumerate(two)]
        runner = threading.Thread(target=in_parallel, args=(calls,), daemon=True)
        runner.start()
        runner.join(options.seconds + 12)
        self.results.add("end", busy=self.measurer.busy, restarts=self.measurer.restarts, over=runner.is_alive())
        print(f"{self.results.now:.0f} s, of which measuring {self.measurer.busy:.0f}", flush=True)
        self.compilers.close()
        self.few.close()
        self.measurer.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=280)
    parser.add_argument("--part-one", type=int, default=len(ONE), help="problems of part one")
    parser.add_argument("--part-two", type=int, default=43, help="problems of part two")
    parser.add_argument("--large", type=int, default=0, help="further problems of part two, large ones")
    parser.add_argument("--problem", nargs="*", default=[], help="further ones, as 256x1024x16384:f16:NT")
    parser.add_argument("--best", type=int, default=150, help="schedules by prediction, of part one")
    parser.add_argument("--sample", type=int, default=90, help="further ones at random")
    parser.add_argument("--count", type=int, default=45, help="schedules of a problem of part two")
    parser.add_argument("--seed", type=int, default=0, help="draws all problems; 0: those of the recorded results")
    parser.add_argument("--jobs", type=int, default=max(2, (os.cpu_count() or 2) - 2))
    parser.add_argument("--limit", type=float, default=15, help="seconds after which a kernel counts as hanging")
    parser.add_argument("--dry", action="store_true", help="no GPU: predicted times with errors, kernels that fault")
    parser.add_argument("-o", "--output", type=Path, required=True)
    options = parser.parse_args()
    os.environ.setdefault("MLIR_GEMM_CACHE", tempfile.mkdtemp(prefix="mlir-gemm-spaces-"))
    os.environ.setdefault("CUDA_CACHE_PATH", tempfile.mkdtemp(prefix="mlir-gemm-spaces-"))
    os.environ |= {"CUDA_CACHE_MAXSIZE": str(4 << 30), "MLIR_GEMM_TUNED": "off", "OMP_NUM_THREADS": "1"}
    from mlir_gemm.tile_model.chips import target

    if options.dry:
        chip = "sm_90a"
        gpu = target(chip).name
    else:
        from mlir_gemm.runtime.own_chip import default_chip
        from mlir_gemm.runtime.tuned_files import this_gpu

        chip, gpu = default_chip(), this_gpu()[1]
    start = time.strftime("%H:%M:%S")
    results = Results(options.output, device=gpu, chip=chip, start=start, options=vars(options) | {"output": ""})
    Run(options, results, chip, gpu).run()
    report(read(str(options.output)), each=False)
    print(ASKED, flush=True)
    os._exit(0)  # threads may still wait for what was ended


if __name__ == "__main__":
    main()
