"""Tunes problems that are in no list on the GPU of this machine, beside random search with as many trials.

    python check_tuner.py [--trials 30] [--seconds 150] [--problems N] [--jobs N] -o RESULTS.json

For each problem two studies, which begin with the model's choice: the sampler `expected`, and `random`. Then the best
of both and the model's choice are measured once more, in turn. Needs optuna. Results are written after each problem.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import tempfile
import time
import traceback
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

PROBLEMS = (
    ("small", 200, 328, 456, "f16", "f16", "NT", "none"),
    ("skinny", 24, 6144, 3584, "bf16", "bf16", "NT", "none"),
    ("epilogue", 1152, 2304, 1728, "f16", "f16", "NN", "bias_gelu"),
    ("odd", 1234, 2345, 1111, "f16", "f16", "NN", "none"),
    ("deep", 192, 320, 24576, "f16", "f16", "NT", "none"),
    ("bytes", 1408, 1792, 2944, "s8", "i32", "NT", "none"),
    ("f32", 520, 776, 904, "f32", "f32", "NN", "none"),
    ("f64", 448, 832, 704, "f64", "f64", "NN", "none"),
    ("one row", 1, 5120, 13824, "f16", "f16", "NN", "none"),
    ("wide", 3456, 1920, 2176, "bf16", "bf16", "TN", "none"),
    ("gate", 640, 3712, 1536, "bf16", "bf16", "NT", "silu_mul"),
    ("fp8", 896, 2688, 3328, "fp8", "bf16", "NT", "none"),
)


def explored(row: tuple[Any, ...], chip: str) -> tuple[str, Any]:
    from mlir_gemm.bench.modules import module
    from mlir_gemm.bench.problems import Problem
    from mlir_gemm.tuner.products import products_of

    source = module(Problem(*row))
    (product,) = products_of(source, "-", chip)
    return source, dataclasses.replace(product.space, decisions=None)  # those do not travel between processes


def tune(row: tuple[Any, ...], source: str, space: Any, options: Any, chip: str, compilers: Any) -> dict[str, Any]:
    from mlir_gemm.runtime.tuned_files import this_gpu
    from mlir_gemm.tuner.gpu import OnGpu, Wanted
    from mlir_gemm.tuner.study import Budget, Search
    from mlir_gemm.tuner.worker import Setup

    found: dict[str, Any] = {"problem": list(row), "space": len(space.trials)}
    folder = tempfile.mkdtemp()
    start = time.perf_counter()
    measurer = OnGpu(Setup(source, chip), Wanted(space.problem, chip, this_gpu()[1]), compilers, limit=30)
    try:
        best: dict[str, str] = {}
        for sampler in ("expected", "random"):
            begun = time.perf_counter()
            storage = f"{folder}/{sampler}.journal"
            search = Search(space, measurer, storage, sampler, sampler=sampler, seed=1, side_by_side=options.together)
            result = search.run(Budget(trials=options.trials))
            best[sampler] = result.schedule
            trials = [
                {
                    "place": space.places.get(each.user_attrs.get("schedule", "")), "state": each.state.name,
                    "schedule": each.user_attrs.get("schedule"),
                    "value": each.value if each.value is not None else each.intermediate_values.get(0),
                    "reason": each.user_attrs.get("reason"), "error": each.user_attrs.get("error"),
                }
                for each in search.trials()
            ]  # fmt: skip
            found[sampler] = {**dataclasses.asdict(result), "seconds": time.perf_counter() - begun, "trials": trials}
        choice = space.trials[0].schedule
        found["expected / model"] = measurer.compare(best["expected"], choice)
        found["expected / random"] = measurer.compare(best["expected"], best["random"])
    except Exception as error:
        found["failed"] = f"{type(error).__name__}: {error}"
        traceback.print_exc()
    finally:
        measurer.close()
    found["seconds"] = time.perf_counter() - start
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=150)
    parser.add_argument("--problems", type=int, default=len(PROBLEMS))
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--together", type=int, default=0, help="schedules of a batch (default: one for each job)")
    parser.add_argument("-o", "--output", type=Path, required=True)
    options = parser.parse_args()
    options.together = options.together or options.jobs
    os.environ.setdefault("MLIR_GEMM_CACHE", tempfile.mkdtemp())
    os.environ["MLIR_GEMM_TUNED"] = "off"
    from mlir_gemm.runtime.own_chip import default_chip
    from mlir_gemm.runtime.tuned_files import this_gpu
    from mlir_gemm.tuner.compiling import Compilers

    start, chip, rows = time.perf_counter(), default_chip(), PROBLEMS[: options.problems]
    data: dict[str, Any] = {"device": this_gpu()[1], "chip": chip, "command": vars(options) | {"output": ""}}
    data |= {"date": time.strftime("%Y-%m-%d %H:%M"), "problems": []}
    with ProcessPoolExecutor(options.jobs) as pool:
        spaces = list(pool.map(partial(explored, chip=chip), rows))
    print(f"{len(rows)} spaces in {time.perf_counter() - start:.0f} s", flush=True)
    compilers = Compilers(options.jobs)
    for row, (source, space) in zip(rows, spaces, strict=True):
        if time.perf_counter() - start > options.seconds:
            break
        found = tune(row, source, space, options, chip, compilers)
        data["problems"].append(found)
        options.output.write_text(json.dumps(data))
        shown = {name: found.get(name) for name in ("failed", "expected / model", "expected / random")}
        print(f"{time.perf_counter() - start:.0f} s", row, found["space"], shown, flush=True)
        for sampler in ("expected", "random"):
            each = found.get(sampler, {})
            names = ("value", "model_value", "done", "pruned", "failed", "why", "seconds")
            print("   ", sampler, {name: each.get(name) for name in names}, flush=True)
    compilers.close()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
