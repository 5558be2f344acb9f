"""The 24 contractions of the TCCG benchmark: right, and how fast beside `torch.einsum`.

    python test/gpu/check_contractions.py [-o RESULTS.json] [--types f16,bf16,f32] [--random 40] [--workers 12]
        [--only EQUATION ...] [--pin SCHEDULE ...]

`torch.einsum` permutes the operands, multiplies them with bmm, and gives a view of what comes out.
`einsum(..., order="K")` does so too: it is what stands beside it. Where einsum's view is not in the order of the
equation, the time with `.contiguous()` stands beside that of the kernel that writes this order. All in turns, in the
sizes that the benchmark publishes. f32 is multiplied in f32 by both (no tf32). Results are compared with float64:
tensors of small whole numbers give exact sums, so that a rounded result may differ by half a unit in the last place;
the result holds NaN before. `--pin` measures further schedules of each contraction, beside the chosen one, for a
result in the order of a view. Exit status 1 where something is wrong.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import mlir_gemm

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parents[1] / "python"))

from contractions import Contraction, random_contraction, tccg

from mlir_gemm.runtime.own_chip import default_chip
from mlir_gemm.tracing.result_order import result_order

UNITS = {"f16": 2.0**-10, "bf16": 2.0**-7, "f32": 2.0**-23}


def compiled(case: Contraction, pin: str = "") -> str:
    """Compiles one contraction to the cache on disk, in a process of its own; what went wrong."""
    try:
        mlir_gemm.compile(case.text(), schedule=pin or None, chip=default_chip())
    except Exception as error:  # one that fails must not hide the others
        return f"{type(error).__name__}: {error}"
    return ""


def kept(case: Contraction) -> Contraction:
    """The contraction with its result in the order in which `einsum(..., order="K")` has it."""
    return replace(case, c=result_order([case.a, case.b], case.c, dict(case.sizes)))


def given(torch: Any, case: Contraction, whole: bool) -> list[Any]:
    """Both operands, of small whole numbers or of normal ones."""
    dtype = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32}[case.dtype]
    shapes = [case.shape(case.a), case.shape(case.b)]
    if whole:
        return [torch.randint(-2, 3, shape, device="cuda", dtype=torch.int8).to(dtype) for shape in shapes]
    return [torch.randn(shape, device="cuda", dtype=dtype) for shape in shapes]


def wrong(torch: Any, case: Contraction, kernel: Any) -> float:
    """The largest difference from float64, in units of the last place of the result."""
    a, b = given(torch, case, whole=True)
    poisoned = torch.full(case.shape(case.c), float("nan"), dtype=a.dtype, device="cuda")
    del poisoned  # the result comes to lie there
    out = kernel(a, b)
    torch.cuda.synchronize()
    wanted = torch.einsum(case.equation, a.double(), b.double())
    scale = torch.clamp(torch.exp2(torch.floor(torch.log2(wanted.abs().clamp(min=1e-30)))), min=1.0)
    scale *= UNITS[case.dtype]
    return float(torch.nan_to_num((out.double() - wanted).abs() / scale, nan=1e9).max())


def measure(torch: Any, case: Contraction, timer: Any, pins: list[str]) -> dict[str, Any]:
    """One contraction beside PyTorch, and other schedules of it."""
    kernel = mlir_gemm.compile(case.text())
    any_order = kept(case)
    view = mlir_gemm.compile(any_order.text()) if any_order != case else kernel
    pinned = [mlir_gemm.compile(any_order.text(), schedule=pin) for pin in pins]
    units = max(wrong(torch, each, of) for each, of in [(case, kernel), *((any_order, of) for of in (view, *pinned))])
    a, b = given(torch, case, whole=False)
    runs = [lambda: kernel(a, b), lambda: view(a, b), lambda: torch.einsum(case.equation, a, b)]
    if not torch.einsum(case.equation, a, b).is_contiguous():
        runs.append(lambda: torch.einsum(case.equation, a, b).contiguous())
    count = len(runs)
    runs += [lambda of=of: of(a, b) for of in pinned]
    host = timer.host(runs)
    cold = timer.cold(runs, host, rounds=3)
    found = [each.median * 1e6 for each in timer.sustained(runs, [e.median for e in cold], host, lambda: None)[0]]
    record = {
        "name": case.name, "equation": case.equation, "sizes": dict(case.sizes), "dtype": case.dtype, "units": units,
        "us": found[0], "view_us": found[1], "einsum_us": found[2], "contiguous_us": found[count - 1],
        "host_us": [each * 1e6 for each in host],
        "cold_us": [each.median * 1e6 for each in cold], "steps": [step.entry for step in kernel.launch.steps],
        "view": any_order.c, "view_steps": [step.entry for step in view.launch.steps],
        "schedules": [str(each.schedule) for of in (kernel, view) for each in of.kernels if each.schedule],
        "pins": dict(zip(pins, found[count:], strict=True)),
    }  # fmt: skip
    print(f"{case.name:26} {case.equation:22} {case.dtype:4} {found[1]:9.1f} us, einsum {found[2]:9.1f} "
          f"({found[2] / found[1]:5.2f}); in order {found[0]:9.1f}, {found[count - 1]:9.1f} "
          f"({found[count - 1] / found[0]:5.2f}); "
          f"{units:.2f} units, "
          f"{len(record['steps'])} kernels", flush=True)  # fmt: skip
    for pin, time_us in record["pins"].items():
        print(f"    {pin}: {time_us:.1f} us, of einsum {found[2] / time_us:.2f}", flush=True)
    return record


def summary(records: list[dict[str, Any]]) -> None:
    """Geometric means and the least, by type and of all."""
    for dtype in (*dict.fromkeys(each["dtype"] for each in records), ""):
        chosen = [each for each in records if dtype in ("", each["dtype"])]
        for name, ours in (("einsum_us", "view_us"), ("contiguous_us", "us")):
            ratios = [each[name] / each[ours] for each in chosen]
            mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
            print(f"{dtype or 'all':4} {name:14} geometric mean {mean:.3f}, least {min(ratios):.3f}, "
                  f"{sum(each < 0.95 for each in ratios)} of {len(ratios)} under 0.95", flush=True)  # fmt: skip


def main() -> int:
    """The check from the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("-o", dest="out")
    parser.add_argument("--types", default="f16,bf16,f32")
    parser.add_argument("--random", type=int, default=40)
    parser.add_argument("--workers", type=int, default=12)
    parser.add_argument("--only", nargs="*", default=[""], help="parts of equations; others are left out")
    parser.add_argument("--pin", nargs="*", default=[], help="further schedules of each contraction")
    options = parser.parse_args()
    types = options.types.split(",")
    cases = [case for dtype in types for case in tccg(dtype) if any(each in case.equation for each in options.only)]
    draws = [random_contraction(random.Random(seed), 40, types[seed % len(types)]) for seed in range(options.random)]
    every = [*dict.fromkeys([*cases, *map(kept, cases), *draws])]
    with ProcessPoolExecutor(options.workers) as pool:
        failures = dict(zip(every, pool.map(compiled, every), strict=True))
        tries = [(kept(case), pin) for case in cases for pin in options.pin]
        whys = pool.map(compiled, [case for case, _ in tries], [pin for _, pin in tries])
        refused = {each for each, why in zip(tries, whys, strict=True) if why}
    for case, pin in refused:
        print(case.equation, case.dtype, pin, "is refused", flush=True)
    for case, why in failures.items():
        if why:
            print(case.name, case.equation, case.dtype, why, flush=True)
    import torch

    from bench.timing import Timer

    torch.backends.cuda.matmul.allow_tf32 = False
    timer = Timer(torch, 3, 4, 0.008)
    asked = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    driver = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
    records: list[dict[str, Any]] = []
    checked: list[dict[str, Any]] = []
    failed = sum(map(bool, failures.values()))

    def write() -> None:
        if options.out:
            data = {"command": " ".join(sys.argv), "date": time.strftime("%Y-%m-%d"), "driver": driver,
                    "device": torch.cuda.get_device_name(), "torch": torch.__version__, "cuda": torch.version.cuda,
                    "records": records, "random": checked}  # fmt: skip
            Path(options.out).write_text(json.dumps(data, indent=1))

    for case in cases:
        if failures[case] or failures[kept(case)]:
            continue
        try:
            pins = [pin for pin in options.pin if (kept(case), pin) not in refused]
            records.append(measure(torch, case, timer, pins))
        except Exception as error:  # the next one may run
            failed += 1
            print(case.name, case.dtype, "failed:", error, flush=True)
        torch.cuda.empty_cache()
        write()
    for case in draws:
        if not failures[case]:
            checked.append({"case": str(case), "units": wrong(torch, case, mlir_gemm.compile(case.text()))})
    bad = [each for each in [*records, *checked] if not each["units"] <= 0.5]
    for each in bad:
        print("wrong:", each.get("case", each.get("name")), each.get("dtype"), each["units"], flush=True)
    print(f"{len(records)} contractions and {len(checked)} random ones, {len(bad)} wrong, {failed} failed", flush=True)
    if records:
        summary(records)
    write()
    return int(bool(bad or failed))


if __name__ == "__main__":
    sys.exit(main())
