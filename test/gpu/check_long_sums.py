"""Compares products of a long k with float64 and with torch.mm, by error and by time, on the GPU of this machine.

    python check_long_sums.py [--only TEXT] [--schedule TEXT ...] [--jobs N] [-o RESULTS.json]

For each product and distribution of its operands: the relative error (Frobenius norm, over the first rows of the
result) of ours and of torch.mm, against sums in float64, and the time of both, launches back to back, in turn. Normal
numbers, and uniform positive ones; both are scaled so that f16 holds the result. Kernels are compiled by a pool of
processes into a cache in a temporary folder. Ends with 1 where an error is more than 1.2 times that of torch.mm.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import median
from typing import Any

from mlir_gemm.bench import modules, problems
from mlir_gemm.bench.problems import Problem

ROWS = 16
"""Rows of the result that are compared."""
CHUNK = 1 << 26
"""Elements of an operand that become float64 at a time."""
WORSE = 1.2
"""Times the error of torch.mm that ours may have."""
BURSTS, BURST_SECONDS, MOST_RUNS = 5, 0.004, 100
FIELDS = {"tf32": "precision=tf32", "fp8": "precision=f8"}
DTYPES = {
    "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64", "f8E4M3FN": "float8_e4m3fn",
    "i8": "int8", "i32": "int32",
}  # fmt: skip


def listed() -> Iterator[Problem]:
    """The products that are compared."""
    for n in (1, 3, 33, 64, 128, 256):
        for k in (10_000, 100_000, 1_000_000, 10_000_000):
            yield Problem("long", n, n, k, "f16", "f16", "NT")
    for n in (1, 3, 64):
        yield Problem("long", n, n, 50_000_000, "f16", "f16", "NT")
    yield Problem("long", 2, 2, 10_000_000, "f16", "f16", "NT")
    yield Problem("long", 1, 3, 1_000_000, "bf16", "f32", "NT")
    for dtype in ("f32", "f64"):
        yield Problem("long", 1, 1, 10_000_000, dtype, dtype, "NT")
    others = (
        (1, 1, 1_000_000), (3, 3, 1_000_000), (3, 3, 10_000_000), (33, 33, 500_000), (64, 64, 1_000_000),
        (256, 256, 100_000), (16, 256, 200_000), (1, 256, 1_000_000), (200, 7, 300_000), (100, 100, 40_000),
    )  # fmt: skip
    for m, n, k in others:
        yield Problem("long", m, n, k, "f16", "f16", "NN")
        yield Problem("long", m, n, k, "f16", "f16", "TN")
    yield Problem("long", 33, 33, 500_000, "f16", "f16", "NT")
    yield Problem("long", 3, 3, 1_000_003, "f16", "f16", "NN")
    yield Problem("long", 64, 64, 999_983, "f16", "f16", "NT")
    yield Problem("long", 512, 512, 1_000_000, "f16", "f16", "NT")
    for dtype in ("f16", "bf16"):
        for n, k in ((3, 10_000), (3, 100_000), (64, 10_000), (64, 100_000), (256, 100_000), (64, 1_000_000)):
            yield Problem("long", n, n, k, dtype, "f32", "NT")
    for dtype in ("bf16", "f32", "tf32", "f64", "fp8", "s8"):
        for n, k in ((64, 10_240), (64, 1_000_000), (256, 100_000)):
            yield Problem("long", n, n, k, dtype, "f32" if dtype == "fp8" else problems.RESULTS[dtype], "NT")


def compile_one(work: tuple[Problem, str, str]) -> str:
    """Compiles into the cache; what is wrong, if something is."""
    problem, schedule, chip = work
    import mlir_gemm

    try:
        mlir_gemm.compile(modules.module(problem), chip=chip, schedule=schedule or None)
    except mlir_gemm.Error as error:
        return str(error)
    return ""


def operands(problem: Problem, positive: bool, torch: Any) -> tuple[Any, Any]:
    """A as [m, k] and B as [k, n], lying in memory as the problem says."""
    generator = torch.Generator("cuda").manual_seed(problem.m + problem.k)
    a = _drawn((problem.m, problem.k), problem, positive, generator, torch, along_k=problem.layout[0] == "N")
    b = _drawn((problem.n, problem.k), problem, positive, generator, torch, along_k=problem.layout[1] == "T")
    return a, b.T


def _drawn(shape: tuple[int, int], problem: Problem, positive: bool, generator: Any, torch: Any, along_k: bool) -> Any:
    dtype = getattr(torch, DTYPES[problem.element])
    lying = shape if along_k else shape[::-1]
    if problem.dtype == "s8":
        made = torch.randint(-8, 8, lying, generator=generator, device="cuda", dtype=dtype)
        return made if along_k else made.T
    scale = 1.0
    if problem.dtype == "f16":  # sums of positive numbers near 1000 at most
        scale = 2.0 ** -max(0, math.ceil(math.log2(max(problem.k / 4000, 1)) / 2))
    made = torch.empty(lying, device="cuda", dtype=dtype)
    flat, step = made.view(-1), 1 << 28
    for start in range(0, flat.numel(), step):
        part = flat[start : start + step]
        wide = torch.empty(
            part.numel(), device="cuda", dtype=torch.float64 if problem.dtype == "f64" else torch.float32
        )
        wide = wide.uniform_(generator=generator) if positive else wide.normal_(generator=generator)
        part.copy_(wide.mul_(scale))
    return made if along_k else made.T


def reference(a: Any, b: Any, torch: Any) -> Any:
    """The first rows of the product, in float64."""
    rows = a[:ROWS]
    step = max(1, CHUNK // max(len(rows), b.shape[1]))
    if rows.dtype == torch.float64:  # in pieces, that torch.mm is not compared with itself
        step = min(step, 1 << 13)
    total = torch.zeros(len(rows), b.shape[1], dtype=torch.float64, device="cuda")
    for start in range(0, a.shape[1], step):
        total += rows[:, start : start + step].double() @ b[start : start + step].double()
    return total


def vendor(problem: Problem, a: Any, b: Any, torch: Any) -> Callable[[], Any]:
    """torch.mm on the operands, or what PyTorch has in its place."""
    out = getattr(torch, DTYPES[problem.out])
    if problem.dtype == "fp8":
        one = torch.ones((), device="cuda")
        return lambda: torch._scaled_mm(a, b, one, one, out_dtype=out, use_fast_accum=False)
    if problem.dtype == "s8":
        return lambda: torch._int_mm(a, b)
    torch.backends.cuda.matmul.allow_tf32 = problem.dtype == "tf32"
    if out != a.dtype:
        return lambda: torch.mm(a, b, out_dtype=out)
    result = torch.empty(problem.m, problem.n, dtype=out, device="cuda")
    return lambda: torch.mm(a, b, out=result)


def error_of(found: Any, wanted: Any) -> float:
    """Relative error in the Frobenius norm; infinite where a result is no number."""
    difference = float((found[:ROWS].double() - wanted).norm() / wanted.norm())
    return difference if math.isfinite(difference) else math.inf


def seconds(contenders: list[Callable[[], Any]], torch: Any) -> list[float]:
    """Seconds of one run of each, launches back to back: the median of bursts, in turn."""
    runs = [0] * len(contenders)
    taken: list[list[float]] = [[] for _ in contenders]
    for turn in range(BURSTS + 1):
        for number, run in enumerate(contenders):
            count = runs[number] or 3
            start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            torch.cuda._sleep(min(count, MOST_RUNS) * 60_000)  # all of a burst is queued before it starts
            start.record()
            for _ in range(count):
                run()
            end.record()
            torch.cuda.synchronize()
            each = start.elapsed_time(end) / 1e3 / count
            if turn:
                taken[number].append(each)
            runs[number] = max(2, min(MOST_RUNS, int(BURST_SECONDS / max(each, 1e-6))))
    return [median(each) for each in taken]


def compare(
    problem: Problem, schedule: str, chip: str, torch: Any, distributions: tuple[bool, ...] = (False, True)
) -> Iterator[dict[str, Any]]:
    """One product: a row of figures for each distribution of its operands, positive numbers or not."""
    import mlir_gemm

    kernel = mlir_gemm.compile(modules.module(problem), chip=chip, schedule=schedule or None)
    steps = [f"{each.problem} {each.schedule.mma} {'x'.join(map(str, each.schedule.block))} "
             f"promotion={each.schedule.promotion} cluster={each.schedule.cluster_m}x{each.schedule.cluster_n}"
             for each in kernel.kernels if each.problem and each.schedule]  # fmt: skip
    for positive in distributions if problem.dtype != "s8" else (False,):
        a, b = operands(problem, positive, torch)
        given = [a if problem.layout[0] == "N" else a.T, b if problem.layout[1] == "N" else b.T]
        result = torch.full((problem.m, problem.n), 0, dtype=getattr(torch, DTYPES[problem.out]), device="cuda")
        wanted = reference(a, b, torch)
        kernel(*given, result)
        row: dict[str, Any] = {
            "name": problem.name, "positive": positive, "schedule": schedule, "steps": steps,
            "launches": len(kernel.kernels), "error": error_of(result, wanted),
        }  # fmt: skip
        first = result.clone()
        kernel(*given, result)
        row["same bits"] = bool(torch.equal(first, result))
        contenders: list[Callable[[], Any]] = [lambda given=given, result=result: kernel(*given, result)]
        try:
            run = vendor(problem, a, b, torch)
            other = run()
            row["torch error"] = error_of(other, wanted)
            contenders.append(run)
        except Exception as error:  # what PyTorch does not have for these sizes
            row["torch"] = str(error).splitlines()[0][:120]
        row["us"], *others = (1e6 * each for each in seconds(contenders, torch))
        if others:
            row["torch us"] = others[0]
        yield row


def shown(row: dict[str, Any]) -> str:
    what = f"{row['name']} {'positive' if row['positive'] else 'normal'}"
    theirs = f"{row['torch error']:.2e} {row['torch us']:8.1f}" if "torch us" in row else f"{'-':>8} {'-':>8}"
    ratio = f"{row['torch us'] / row['us']:5.2f}" if "torch us" in row else "    -"
    same = "" if row["same bits"] else " OTHER BITS"
    return (
        f"{what:<40} {row['error']:.2e} {row['us']:8.1f}  {theirs}  {ratio}  {(row['steps'] or ['by warps'])[-1]}{same}"
    )


def is_worse(row: dict[str, Any]) -> bool:
    return row["error"] > max(WORSE * row.get("torch error", math.inf), 0) or not row["same bits"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="only problems whose names hold this text")
    parser.add_argument("--schedule", action="append", default=[], help="fields to fix; several times for several runs")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 4)
    parser.add_argument("--seconds", type=float, default=math.inf, help="begin no further product after so long")
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    os.environ["MLIR_GEMM_CACHE"] = tempfile.mkdtemp()
    begun = time.perf_counter()
    import torch

    from mlir_gemm.runtime.own_chip import default_chip

    chip = default_chip()
    chosen = [each for each in listed() if options.only in each.name]
    work = [(each, ",".join(filter(None, (FIELDS.get(each.dtype, ""), schedule))), chip)
            for each in chosen for schedule in options.schedule or [""]]  # fmt: skip
    with ProcessPoolExecutor(options.jobs) as pool:
        refused = list(pool.map(compile_one, work))
    print(f"{len(work)} compiled in {time.perf_counter() - begun:.0f} s", flush=True)
    rows: list[dict[str, Any]] = []
    for (problem, schedule, _), reason in zip(work, refused, strict=True):
        if time.perf_counter() - begun > options.seconds:
            break
        if reason:
            print(problem.name, schedule, "REFUSED", reason, flush=True)
            continue
        for row in compare(problem, schedule, chip, torch):
            rows.append(row)
            print(shown(row), flush=True)
        torch.cuda.empty_cache()
    ratios = [row["torch us"] / row["us"] for row in rows if "torch us" in row]
    worse = [row for row in rows if is_worse(row)]
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"{len(rows)} compared; torch.mm's time over ours {mean:.2f} in the geometric mean, {min(ratios):.2f} at "
              f"least; {len(worse)} with more than {WORSE} times its error")  # fmt: skip
    if options.output:
        driver = subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"],
                                capture_output=True, text=True, check=False).stdout.strip()  # fmt: skip
        head = {"device": torch.cuda.get_device_name(0), "driver": driver, "torch": torch.__version__,
                "date": time.strftime("%Y-%m-%d"), "command": sys.argv}  # fmt: skip
        options.output.write_text(json.dumps({**head, "rows": rows}, indent=0))
    return 1 if worse or any(refused) else 0


if __name__ == "__main__":
    sys.exit(main())
