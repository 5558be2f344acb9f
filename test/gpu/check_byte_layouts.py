"""Products of bytes whose A and B both run across k (TN), on the GPU of this machine, against float64.

    python test/gpu/check_byte_layouts.py [--sizes 2048 4096 8192] [--random 24] [--chip h100] [-o RESULTS.json]
    python test/gpu/check_byte_layouts.py --types i8 f8E4M3FN f8E5M2 u8 --layouts    # NN and TT too
    python test/gpu/check_byte_layouts.py --variants --sizes 2048    # TN in place in other tiles
    python test/gpu/check_byte_layouts.py --copies --sizes 3072    # TN with other copies in front
    python test/gpu/check_byte_layouts.py --dry    # small and random ones in the simulator, without times

i8 and f8E4M3FN, or the types that are named. At each size TN is compiled in two ways: B transposed in shared memory
(`tile.transpose`), and one operand copied by a kernel in front, whichever of the two the model would take; both are
timed beside our own NT, calls interleaved, medians of five rounds; NT as it is chosen for `--chip` (`sm_90a` has the
figures of an H200), and in the larger blocks of WIDE. Times are the GPU's: it is held until all launches of a round are
queued, since a call from Python takes as long as a product of 2048x2048x2048; times of calls stand beside them. Random
products have m and n of 16 elements each, any k, and in turn B transposed, in tiles of all forms, and one operand
copied. All hold whole numbers and must be exact, where the result had held nothing like it. Exit status 1 where one is
not.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from launch_times import microseconds

sys.path.insert(0, str(Path(__file__).resolve().parent))

_FLOAT = ("f32", "arith.extf", "arith.mulf", "arith.addf", "0.0", "precision=f8")
TYPES = {"i8": ("i32", "arith.extsi", "arith.muli", "arith.addi", "0", ""),
         "u8": ("i32", "arith.extui", "arith.muli", "arith.addi", "0", ""),
         "f8E4M3FN": _FLOAT, "f8E5M2": _FLOAT}  # fmt: skip
"""Of a type: that of the sum, how it is extended, multiplied and added, zero, and what is fixed of the schedule."""
USUAL = ("i8", "f8E4M3FN")
TILES = ("", "block=128x256x128,warp=64x256x128", "block=64x128x128,warp=64x128x128",
         "block=128x128x128,warp=64x128x128", "block=64x256x128,warp=64x256x128",
         "block=256x128x128,warp=128x128x128", "block=128x128x128,warp=128x128x128,ping_pong=on,persistent=132",
         "block=128x256x128,warp=64x256x128,cluster_m=2",
         "block=128x128x128,warp=64x128x128,split_k_cluster=2")  # fmt: skip
"""Of random products."""
WIDE = ("block=128x256x128,warp=64x256x128", "block=256x128x128,warp=128x128x128")
IN_PLACE, COPIED = 0.0, 1e9
"""`relayout.WORTH`, the part of the time that a kernel in front must save, with which none does, and with which any."""


IN_TURNS = "block=128x128x128,warp=128x128x128,ping_pong=on,persistent=132"
VARIANTS = ("block=128x256x128,warp=64x256x128", "block=256x128x128,warp=128x128x128", IN_TURNS,
            "block=128x128x128,warp=64x128x128", "block=128x256x128,warp=64x256x128,smem_epilogue=off",
            "block=64x256x128,warp=64x256x128")  # fmt: skip
"""Of TN in place, with `--variants`."""
COPIES = {"8 and 4 lanes": (8, 4), "4 and 8 lanes": (4, 8)}
"""Of copies, with `--copies`: threads of a warp along rows of the copy and of the operand, in place of 16 and 2. A copy
that starts while the kernel before it ends, and lets the product start early (programmatic dependent launch), was
slower: 57.6 us at 3072^3, 54.7 without (H100, 2026-11-28-h100-byte-copies.json.xz)."""
QUEUED, SLEEP_CYCLES_S = 60, 1.9e9
"""Most launches of a round, and clocks of a second in which the GPU is held."""


class Job(NamedTuple):
    """A product, and how it is compiled."""

    m: int
    n: int
    k: int
    element: str
    orders: tuple[str, str] = ("km", "kn")
    schedule: str = ""
    worth: float | None = None
    chip: str = "sm_90a"
    copy: str = ""


def source(job: Job) -> str:
    """The product as MLIR."""
    into, extend, times, plus, zero, _ = TYPES[job.element]
    element = job.element.replace("u", "i")  # MLIR's integers have no signs
    size = {"m": job.m, "n": job.n, "k": job.k}
    a, b = (f"tensor<{'x'.join(str(size[axis]) for axis in order)}x{element}>" for order in job.orders)
    maps = ", ".join(f"affine_map<(m, n, k) -> ({', '.join(order)})>" for order in (*job.orders, "mn"))
    d = f"tensor<{job.m}x{job.n}x{into}>"
    return f"""func.func @product(%A: {a}, %B: {b}) -> {d} {{
  %zero = arith.constant {zero} : {into}
  %empty = tensor.empty() : {d}
  %init = linalg.fill ins(%zero : {into}) outs(%empty : {d}) -> {d}
  %d = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%A, %B : {a}, {b}) outs(%init : {d}) {{
  ^bb0(%x: {element}, %y: {element}, %c: {into}):
    %u = {extend} %x : {element} to {into}
    %v = {extend} %y : {element} to {into}
    %p = {times} %u, %v : {into}
    %t = {plus} %c, %p : {into}
    linalg.yield %t : {into}
  }} -> {d}
  return %d : {d}
}}
"""


def compiled(job: Job, head: str = "", **on: Any) -> Any:
    """The kernel. What is decided first is asked with the part that a kernel in front must save set to the job's;
    `head` is put before what is compiled, so that it is not the same as something else."""
    import mlir_gemm
    from mlir_gemm.pipeline.driver import compile_module
    from mlir_gemm.spec.schedule import Schedule
    from mlir_gemm.tile_model import relayout

    if job.copy:
        return _with_copy(job, **on)
    fields = ",".join(filter(None, [TYPES[job.element][-1], job.schedule, "mma=wgmma" * bool(job.schedule)]))
    text, before = source(job), relayout.WORTH
    if job.worth is not None:
        relayout.WORTH = job.worth
        try:
            schedule = Schedule.parse(fields) if fields else None
            text = compile_module(text, chip=job.chip, schedule=schedule, until="select").ir("select")
        finally:
            relayout.WORTH = before
        return mlir_gemm.compile(head + text, job.chip, **on)
    return mlir_gemm.compile(text, job.chip, schedule=fields or None, **on)


def _with_copy(job: Job, **on: Any) -> Any:
    """The same with a copy in front as COPIES says."""
    from mlir_gemm.dialect.elementwise import patches

    before = patches.OUT_LANES, patches.IN_LANES
    patches.OUT_LANES, patches.IN_LANES = COPIES[job.copy]
    try:
        return compiled(job._replace(copy=""), f"// {job.copy}\n", **on)
    finally:
        patches.OUT_LANES, patches.IN_LANES = before


def by_kernel(call: Any, torch: Any) -> dict[str, float]:
    """Microseconds of each kernel of a call, as the profiler has them: the mean of ten calls."""
    call()
    torch.cuda.synchronize()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as found:
        for _ in range(10):
            call()
        torch.cuda.synchronize()
    return {each.key: each.device_time_total / 10 for each in found.key_averages() if each.device_time_total}


def randomly(count: int, seed: int, largest: int) -> Iterator[Job]:
    """Products of ragged sizes: in turn B transposed, in tiles of all forms, and one operand copied."""
    draw = random.Random(seed)
    for number in range(count):
        tile = "" if number % 2 else TILES[number // 2 % len(TILES)]
        most = largest // 16
        m, n = (16 * draw.randint(1, most) for _ in range(2))
        k = draw.randint(17, 2 * largest)
        if "cluster" in tile:  # what these need: two tiles, two steps of k for each part
            m, k = max(m, 144), max(k, 600)
        yield Job(m, n, k, draw.choice(USUAL), ("km", "kn"), tile, COPIED if number % 2 else IN_PLACE)


def warm(job: Job) -> str:
    """Compiles one, so that it is in the cache; what is wrong, if anything."""
    try:
        compiled(job)
    except Exception as failed:
        return f"{job}: {type(failed).__name__} {failed}"
    return ""


def operands(job: Job, seed: int) -> tuple[Any, Any]:
    """Whole numbers whose sums are exact: tensor cores add up 8-bit floats in about 14 bits."""
    import ml_dtypes

    rng, size = np.random.default_rng(seed), {"m": job.m, "n": job.n, "k": job.k}
    low, high = {"i8": (-128, 127), "u8": (0, 255)}.get(job.element, (-1, 1))
    dtype: Any = {"f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2}.get(job.element, np.int8)
    a, b = (rng.integers(low, high + 1, [size[axis] for axis in order], np.int16) for order in job.orders)
    return a.astype(dtype), b.astype(dtype)


def along(a: Any, b: Any, job: Job) -> tuple[Any, Any]:
    """Both as matrices that multiply."""
    return a if job.orders[0] == "mk" else a.T, b if job.orders[1] == "kn" else b.T


def wide(array: Any, job: Job) -> Any:
    """An operand's numbers in float64."""
    return (array.view(np.uint8) if job.element == "u8" else array).astype(np.float64)


def check_dry(job: Job) -> bool:
    """A product in the simulator."""
    a, b = operands(job, 3)
    found = np.asarray(compiled(job, device="simulator")(a, b))
    left, right = along(wide(a, job), wide(b, job), job)
    return bool(np.array_equal(found.astype(np.float64), left @ right))


def on_gpu(array: Any, torch: Any) -> Any:
    """An array of this type on the GPU."""
    if array.dtype == np.int8:
        return torch.from_numpy(array).cuda()
    kind = torch.float8_e5m2 if "e5m2" in array.dtype.name else torch.float8_e4m3fn
    return torch.from_numpy(array.view(np.uint8)).cuda().view(kind)


def queued(calls: list[Any], torch: Any) -> list[float]:
    """Microseconds of the GPU for each call, launches queued before it begins, in turn: the median of the rounds."""
    return microseconds(calls, torch, QUEUED, lambda: torch.cuda._sleep(int(60e-6 * QUEUED * SLEEP_CYCLES_S)))


def check(jobs: dict[str, Job], torch: Any) -> dict[str, Any]:
    """Products of the same sizes: whether each is exact, and their times where there are several."""
    import check_spaces

    row: dict[str, Any] = {"jobs": {name: job._asdict() for name, job in jobs.items()}, "bad": []}
    calls: dict[str, Any] = {}
    for name, job in jobs.items():
        given = operands(job, 3)
        a, b = (on_gpu(each, torch) for each in given)
        left, right = along(*(torch.from_numpy(wide(each, job)).cuda() for each in given), job)
        wanted = left @ right
        poison = torch.full((job.m, job.n), -77777, dtype=torch.int32, device="cuda")
        del poison
        kernel = compiled(job)
        if not torch.equal(kernel(a, b).double(), wanted):
            row["bad"].append(name)
        row.setdefault("schedules", {})[name] = [str(each.schedule) for each in kernel.kernels]
        calls[name] = lambda kernel=kernel, a=a, b=b: kernel(a, b)
    if len(jobs) > 1:
        row["us"] = dict(zip(calls, queued(list(calls.values()), torch), strict=True))
        row["kernels"] = {name: by_kernel(call, torch) for name, call in calls.items() if "copied" in name}
        row["us of calls"] = dict(zip(calls, check_spaces.microseconds(list(calls.values()), torch), strict=True))
    return row


def of_size(size: int, element: str, options: Any) -> dict[str, Job]:
    """The products of a size that are timed beside each other."""
    tn, nt = Job(size, size, size, element), Job(size, size, size, element, ("mk", "nk"))
    found = {"NT": nt, "TN in place": tn._replace(worth=IN_PLACE), "TN copied": tn._replace(worth=COPIED), "TN": tn}
    if options.layouts:
        found |= {"NN": tn._replace(orders=("mk", "kn")), "TT": tn._replace(orders=("km", "nk"))}
    found |= {f"NT {tiles}": nt._replace(schedule=tiles) for tiles in WIDE}
    if options.copies:
        found |= {f"TN copied, {name}": tn._replace(worth=COPIED, copy=name) for name in COPIES}
    if options.variants:
        found |= {f"TN {tiles}": tn._replace(schedule=tiles, worth=IN_PLACE) for tiles in VARIANTS}
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="*", default=[1024, 2048, 4096, 8192])
    parser.add_argument("--random", type=int, default=36)
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--dry", action="store_true", help="in the simulator, small, without times")
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--chip", default="sm_90a", help="whose figures choose, such as h100")
    parser.add_argument("--jobs", type=int, default=14)
    parser.add_argument("--types", nargs="*", default=list(USUAL), choices=list(TYPES))
    parser.add_argument("--layouts", action="store_true", help="NN and TT too")
    parser.add_argument("--copies", action="store_true", help="TN with other copies in front")
    parser.add_argument("--variants", action="store_true", help="TN in place in all tiles of VARIANTS")
    options = parser.parse_args()
    if options.dry:
        wrong = [job for job in randomly(options.random, options.seed, 300) if not check_dry(job)]
        print(f"{options.random} products in the simulator, {len(wrong)} wrong", *wrong, sep="\n")
        return int(bool(wrong))
    cases = [of_size(size, element, options) for element in options.types for size in options.sizes]
    cases = [{name: job._replace(chip=options.chip) for name, job in case.items()} for case in cases]
    cases += [{"random": job} for job in randomly(options.random, options.seed, 1500)]
    with ProcessPoolExecutor(options.jobs) as pool:
        for problem in filter(None, pool.map(warm, [job for case in cases for job in case.values()])):
            print(problem, flush=True)
    import torch

    rows: list[dict[str, Any]] = []
    for case in cases:
        job = next(iter(case.values()))
        try:
            row = check(case, torch)
        except Exception as failed:
            row = {"jobs": str(job), "bad": [f"{type(failed).__name__} {str(failed)[:400]}"]}
        rows.append(row)
        if "us" in row or row["bad"]:
            print(f"{job.element} {job.m}x{job.n}x{job.k} {job.schedule}:", *row["bad"], flush=True)
            for name, us in row.get("us", {}).items():
                rate, calls = 2e-6 * job.m * job.n * job.k / us, row["us of calls"][name]
                part = row["us"]["NT"] / us
                each = (f"{kernel} {time:.1f}" for kernel, time in row["kernels"].get(name, {}).items())
                told = f"    {name:44} {us:7.1f} us, {rate:5.0f} TFLOP/s, {part:.2f} of NT; calls {calls:7.1f} us"
                print(told, *each, flush=True)
    if options.output:
        options.output.write_text(json.dumps({"device": torch.cuda.get_device_name(), "rows": rows}, indent=1))
    bad = sum(bool(row["bad"]) for row in rows)
    print(f"{len(rows)} cases, {bad} wrong", flush=True)
    return int(bad > 0)


if __name__ == "__main__":
    raise SystemExit(main())
