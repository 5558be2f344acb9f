"""Measures whole spaces of schedules on the GPU of this machine: how near the tuner and the model come to the best.

    python check_whole_spaces.py -o RESULTS.jsonl [--seconds 280] [--jobs N]
    python check_whole_spaces.py -o RESULTS.jsonl --dry --part-one 2 --part-two 4 --best 10 --sample 5   # no GPU

Part one: problems that are in no list. Of the legal schedules that are predicted within a factor of two of the best all
are measured, or the best 150 and a random sample of 90 of the others. Then the sampler `expected` takes 50 trials of
the whole space; what it takes is measured if it was not. Part two: random problems with some 45 likely schedules each,
for `mlir-gemm tune --fit`. `python -m mlir_gemm.tuner.replay --tables RESULTS.jsonl` says what came out.
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
from space_times import Compilers, Explored, Measurer, Request, Results, Row, Table, explored, in_parallel

ONE: tuple[Row, ...] = (
    ("small", 184, 264, 520, "f16", "f16", "NN", "none"),
    ("small, epilogue", 96, 512, 768, "bf16", "bf16", "NT", "bias_gelu"),
    ("skinny", 12, 7168, 2560, "bf16", "bf16", "NT", "none"),
    ("skinny", 40, 3072, 8704, "f16", "f16", "NN", "none"),
    ("one row", 1, 6144, 10752, "f16", "f16", "NT", "none"),
    ("deep", 320, 448, 18944, "f16", "f16", "NT", "none"),
    ("odd", 1045, 1531, 907, "f16", "f16", "NN", "none"),
    ("epilogue", 1408, 1664, 2432, "f16", "f16", "NT", "bias_gelu"),
    ("gate", 704, 2944, 1792, "bf16", "bf16", "TN", "silu_mul"),
    ("bytes", 1216, 2048, 3200, "s8", "i32", "NT", "none"),
    ("f32", 456, 872, 1208, "f32", "f32", "NN", "none"),
    ("f64", 392, 648, 936, "f64", "f64", "NT", "none"),
)
KNOWN: tuple[Row, ...] = (
    ("known", 1, 5120, 13824, "bf16", "bf16", "NT", "none"),
    ("known", 448, 832, 704, "f64", "f64", "NN", "none"),
    ("known", 33, 33, 500000, "f16", "f16", "NT", "none"),
)
"""On which the model erred."""
TRIALS, TOGETHER = 50, 8
FEW_ROWS, LONG = 14, 6
LARGEST, MOST_FLOPS, LEAST_FLOPS = 1 << 28, 2**37, 2**26
"""Bytes and FLOPs of a problem of part two."""


def drawn(count: int, seed: int) -> list[Row]:
    """Random problems, sizes alike on a logarithmic scale: some with few rows, some with a long k, others of any
    kind."""
    rng = random.Random(seed)

    def size(low: int, high: int, grain: int) -> int:
        return max(grain, round(low * (high / low) ** rng.random() / grain) * grain)

    found: list[Row] = []
    while len(found) < count:
        place = len(found) % 20
        grain = rng.choice((1, 8, 8, 64, 64, 128))
        dtype, layout = rng.choice(("f16", "bf16")), rng.choice(("NN", "NT", "NT", "TN", "TT"))
        if place % 3 == 0 and place < 3 * FEW_ROWS // 2:
            m, n, k = size(1, 16, 1), size(1024, 24576, max(grain, 8)), size(1024, 16384, max(grain, 8))
            layout = rng.choice(("NN", "NT"))
        elif place in (1, 8, 13):
            m, n, k = size(8, 256, 8), size(8, 256, 8), size(100_000, 1_000_000, 64)
            layout = rng.choice(("NN", "NT"))
        else:
            m, n, k = size(16, 4096, grain), size(16, 8192, grain), size(64, 16384, grain)
            dtype = rng.choice(("f16", "f16", "bf16", "bf16", "f16", "f64", "s8", "f32"))
        flops, each = 2 * m * n * k, {"f64": 8, "f32": 4, "s8": 1}.get(dtype, 2)
        most = MOST_FLOPS / {"f64": 16, "f32": 16}.get(dtype, 1)
        if LEAST_FLOPS <= flops <= most and each * (m * k + k * n + m * n) <= LARGEST:
            found.append(("random", m, n, k, dtype, "i32" if dtype == "s8" else dtype, layout, "none"))
    return found


def large(count: int, seed: int) -> list[Row]:
    """Random problems of the sizes of language models, whose time tensor cores, power and L2 decide."""
    rng = random.Random(seed)
    found: list[Row] = []
    while len(found) < count:
        m, n, k = (
            round(low * (high / low) ** rng.random() / 8) * 8 for low, high in ((256, 8192), (768, 32768), (512, 16384))
        )
        m, n, k = (round(size / 256) * 256 if size > 512 and rng.random() < 0.7 else size for size in (m, n, k))
        if 2**33 <= 2 * m * n * k <= 2**41 and 2 * (m * k + k * n + m * n) <= 1 << 30:
            dtype, layout = rng.choice(("f16", "bf16")), rng.choice(("NN", "NT", "NT"))
            found.append(("large", m, n, k, dtype, dtype, layout, "none"))
    return found


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
             "rounds": table.rounds.get(text), "of": kinds.get(text, "")}
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
        one, two = ONE[: options.part_one], [*KNOWN, *drawn(40, 22)][: options.part_two]
        two += large(options.large, 7)
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
    parser.add_argument("--best", type=int, default=150, help="schedules by prediction, of part one")
    parser.add_argument("--sample", type=int, default=90, help="further ones at random")
    parser.add_argument("--count", type=int, default=45, help="schedules of a problem of part two")
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
    os._exit(0)  # threads may still wait for what was ended


if __name__ == "__main__":
    main()
