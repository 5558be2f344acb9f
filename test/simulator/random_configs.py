"""Simulates random problems and schedules, legal by the model's rules, with all checks on, and prints a summary.

Slow, so not among the tests: `python test/simulator/random_configs.py [COUNT] [SEED]`. Ends with status 1 when a result
is wrong or a check finds something, and shows what would run it again.
"""

from __future__ import annotations

import collections
import random
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))

from test_simulator import CHIP, run

from mlir_gemm.errors import Error
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tile_model.rules import violations

MOST_PRODUCTS = 192**3
"""Multiplications in a problem: what is simulated in about a second."""


def draw(rng: random.Random) -> tuple[tuple[int, int, int], str, str, Schedule]:
    """A problem's size, form and result type, and a schedule that is legal for it."""
    while True:
        warp = tuple(rng.choice((16, 32, 48, 64, 96, 128)) for _ in range(3))
        block = tuple(tile * rng.choice((1, 1, 2, 3, 4)) for tile in warp)
        size = tuple(tile * rng.choice((1, 1, 2, 3, 4, 5)) for tile in block)
        if size[0] * size[1] * size[2] > MOST_PRODUCTS:
            continue
        form, out = rng.choice(("memref", "tensor", "add")), rng.choice(("f32", "f16"))
        schedule = Schedule(
            block=(block[0], block[1], block[2]),
            warp=(warp[0], warp[1], warp[2]),
            mainloop=rng.choice(("register_prefetch", "register_prefetch", "direct")),
            early=rng.random() < 0.5,
            stages=rng.choice((1, 2)),
            promote=rng.random() < 0.9,
            accumulate=rng.random() < 0.85,
            pad=rng.choice((0, 8, 8, 16, 24)),
            vector=rng.choice((16, 32, 64, 128, 128)),
            unroll=rng.random() < 0.7,
            raster=rng.choice(("grouped", "snake", "row", "column")),
            raster_group=rng.choice((1, 2, 3, 8)),
            storage=rng.choice(("auto", "static", "dynamic")),
        )
        problem = Problem(size[0], size[1], size[2], out=out, reads_c=form != "tensor")
        if not violations(problem, schedule, target(CHIP)):
            return (size[0], size[1], size[2]), form, out, schedule


def main(number: int, seed: int) -> int:
    """Runs `number` configurations; the count of those that went wrong."""
    rng = random.Random(seed)
    kinds: collections.Counter[str] = collections.Counter()
    wrong = refused = steps = blocks = 0
    start = time.perf_counter()
    for _ in range(number):
        size, form, out, schedule = draw(rng)
        for name in ("copy", "stages", "promote", "accumulate", "pad", "vector", "unroll", "raster", "storage"):
            kinds[f"{name}={getattr(schedule, name)}"] += 1
        kinds[f"{form} {out}"] += 1
        try:
            report = run(size, form, out, str(schedule))
            found = str(report) if report.findings else ""
            steps, blocks = steps + report.steps, blocks + report.blocks_run
        except Error as error:
            refused += 1
            found = ""
            print(f"refused: {'x'.join(map(str, size))} {form} {out} {schedule}\n{error}", flush=True)
        except AssertionError as error:
            found = f"wrong result: {str(error).splitlines()[0]}"
        if found:
            wrong += 1
            print(f"{'x'.join(map(str, size))} {form} {out} {schedule}\n{found}", flush=True)
    seconds = time.perf_counter() - start
    print(f"{number} configurations, seed {seed}: {wrong} with findings or wrong results, {refused} refused")
    print(f"{blocks} blocks, {steps} operations of warps, {seconds:.0f} s")
    print(", ".join(f"{kind} {times}" for kind, times in sorted(kinds.items())))
    return wrong


if __name__ == "__main__":
    arguments = [int(argument) for argument in sys.argv[1:]]
    sys.exit(1 if main(*[*arguments, *(500, 0)[len(arguments) :]]) else 0)
