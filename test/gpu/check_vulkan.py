"""Kernels in SPIR-V on a GPU by its Vulkan driver: right, and how fast beside our own CUDA kernels.

    python test/gpu/check_vulkan.py [-o RESULTS.json] [--chip CHIP] [--random 500] [--elements f32,f16]
                                    [--only products,modules,speed]

Random products of small whole numbers in f32, f16 and other types, of any size, order, batch, end and with open sizes:
exact. Results hold other numbers before. They are compiled and run in as many processes as there are cores, each of
which opens the device once, since drivers compile with one core each. The modules of the tests: softmax, norms,
elementwise kernels, convolutions, beside the float64 reference. Then products whose kernels are timed beside those of
the same operators for CUDA (`simt` beside `simt`, `coop_matrix` beside `mma_sync` and beside what the model takes), in
one process, with nothing beside it; their kernels are compiled beforehand in these processes, into the cache.
Vulkan's times are differences of submissions with many and with few runs. Exit status 1 where something is wrong.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import multiprocessing
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))

from vulkan_products import Product, compiled, random_product, wrong_elements

MODULES = Path(__file__).parents[1] / "modules"
SPEED: list[tuple[int, int, int, str, str]] = [
    (16, 16, 16, "f32", "simt"),
    (512, 512, 512, "f32", "simt"),
    (1024, 1024, 1024, "f32", "simt"),
    (2048, 2048, 2048, "f32", "simt"),
    (4096, 4096, 4096, "f32", "simt"),
    (64, 4096, 4096, "f16", "coop_matrix"),
    (512, 512, 512, "f16", "coop_matrix"),
    (1024, 1024, 1024, "f16", "coop_matrix"),
    (2048, 2048, 2048, "f16", "coop_matrix"),
    (4096, 4096, 4096, "f16", "coop_matrix"),
    (4096, 4096, 4096, "f16", "simt"),
    (2048, 2048, 2048, "i8", "coop_matrix"),
]
"""M, N, K, the elements of A and B, and the operator. The first is what a launch costs."""
SOFTMAX = """func.func @f(%x: tensor<{m}x{n}x{t}>) -> tensor<{m}x{n}x{t}> {{
  %e = tensor.empty() : tensor<{m}x{n}x{t}>
  %s = linalg.softmax dimension(1) ins(%x : tensor<{m}x{n}x{t}>) outs(%e : tensor<{m}x{n}x{t}>) -> tensor<{m}x{n}x{t}>
  return %s : tensor<{m}x{n}x{t}>
}}"""
SUMS = """func.func @f(%x: tensor<{m}x{n}x{t}>, %c: tensor<{m}x{t}>) -> tensor<{m}x{t}> {{
  %s = linalg.reduce ins(%x : tensor<{m}x{n}x{t}>) outs(%c : tensor<{m}x{t}>) dimensions = [1]
    (%a: {t}, %b: {t}) {{
      %0 = arith.{add} %a, %b : {t}
      linalg.yield %0 : {t}
    }}
  return %s : tensor<{m}x{t}>
}}"""
ROWS = {
    f"{name} of {m}x{n} {element}": text.format(m=m, n=n, t=element, add="addi" if element == "i32" else "addf")
    for name, text, elements in (("softmax", SOFTMAX, ("f32", "f16")), ("sums", SUMS, ("f32", "f64", "i32")))
    for element in elements
    for m, n in ((33, 7), (64, 100), (17, 1000), (5, 5000))
    if element != "f16" or n < 5000  # softmax of more has subnormal numbers
}
"""Rows, whose lanes exchange numbers."""
BESIDE = {"simt": "simt", "coop_matrix": "mma_sync"}
"""The operator of the same kind for CUDA."""
TILES = ("block", "warp", "mainloop", "stages", "layout", "pad")
"""Fields of a schedule that CUDA's kernel gets as Vulkan's has them."""
ROUNDS, WANTED = 5, 4e-3
"""Rounds of which the median counts, and about how many seconds one has."""


def product_of(seed: int, elements: tuple[str, ...]) -> tuple[Product, dict[str, Any] | None]:
    """A random product, and the schedule that it is pinned to: every other one of f16 to ordinary arithmetic."""
    case = random_product(seed, elements)
    return case, {"mma": "simt"} if case.element == "f16" and seed % 4 == 0 else None


def speed_case(m: int, n: int, k: int, element: str) -> Product:
    """A plain product."""
    return Product(m, n, k, element, (False, element == "i8"))


def text_of(name: str) -> str:
    """A module of the tests, or one of rows."""
    return ROWS[name] if name in ROWS else (MODULES / name).read_text()


def prepare(job: tuple[str, Any, str]) -> str:
    """Compiles one kernel into the cache, in a process of its own; what was wrong, in one line."""
    import mlir_gemm

    kind, what, chip = job
    try:
        if kind == "module":
            mlir_gemm.compile(text_of(what), device="vulkan", chip=chip)
        else:
            *sizes, element, mma = what
            compiled(speed_case(*sizes, element), chip, {"mma": mma})
    except mlir_gemm.errors.Error as error:
        return str(error).splitlines()[0]
    return ""


def check_product(job: tuple[int, tuple[str, ...], str, float]) -> dict[str, Any]:
    """How many elements of one random product are wrong, in a process of its own; what failed instead, in one line; or
    nothing after a point of time."""
    import mlir_gemm

    seed, elements, chip, until = job
    if time.time() > until:
        return {}
    case, schedule = product_of(seed, elements)
    found: dict[str, Any] = {"seed": seed, "case": str(case)}
    try:
        kernel = compiled(case, chip, schedule)
    except mlir_gemm.errors.Error as error:
        return {**found, "refused": str(error).splitlines()[0]}
    try:
        wrong = wrong_elements(case, kernel, seed)
    except Exception as error:  # the others are checked all the same
        return {**found, "failed": f"{type(error).__name__}: {error}"[:600]}
    mma = ",".join(each.schedule.mma for each in kernel.kernels if each.schedule)
    return {**found, "mma": mma, "wrong": wrong}


def check_module(name: str, chip: str) -> dict[str, Any]:
    """The error of one module beside what is allowed."""
    import mlir_gemm
    from mlir_gemm.runtime.host_launcher import run_on
    from mlir_gemm.simulator.expected import limits, reference, relative_error
    from mlir_gemm.simulator.random_inputs import random_arrays

    text = text_of(name)
    kernel = mlir_gemm.compile(text, device="vulkan", chip=chip)
    if kernel.symbols:
        kernel = kernel.at(**dict.fromkeys(kernel.symbols, 24))
    before = random_arrays(kernel.launch.arguments, 0, {})
    after = [array.copy() for array in before]
    run_on(kernel.launcher.kernels, after)
    expected = reference(text, before)
    allowed = limits(kernel.launch.arguments, kernel.kernels, text, before, expected)
    errors = [float(relative_error(got, wanted)) for got, wanted in zip(after, expected, strict=True)]
    worst = max((error / limit if limit else float(error > 0) * 9 for error, limit in
                 zip(errors, allowed, strict=True)), default=0.0)  # fmt: skip
    return {"module": name, "errors": errors, "wrong": int(not worst <= 1)}


def vulkan_seconds(kernels: Any, numbers: dict[int, int]) -> float:
    """The time of one run among many of a submission."""

    def timed(count: int) -> float:
        start = time.perf_counter()
        kernels.run(numbers, repeat=count, fetch=False)
        return time.perf_counter() - start

    timed(2)
    guess = max(timed(9) - timed(1), 1e-6) / 8
    many = max(8, min(2000, round(WANTED / guess)))
    return statistics.median(max(timed(1 + many) - timed(1), 1e-9) / many for _ in range(ROUNDS))


def speed(row: tuple[int, int, int, str, str], chip: str) -> dict[str, Any]:
    """One product by Vulkan and by CUDA, which are both right."""
    import torch
    from launch_times import microseconds

    import mlir_gemm

    m, n, k, element, mma = row
    case = speed_case(m, n, k, element)
    kernel = compiled(case, chip, {"mma": mma})
    arrays = case.arrays(0)
    kernels = kernel.launcher.kernels
    for memory, array in zip(kernels.arguments, arrays, strict=False):
        memory.bytes[: array.nbytes] = array.tobytes()
    kernels.run({})
    some = np.linspace(0, m - 1, 16).astype(int)
    wanted = case.expected([arrays[0][some], arrays[1], arrays[2][some]])
    place = next(at for at, each in enumerate(kernels.launch.arguments) if each.role == "result")
    with kernels.written(place) as data:
        found = np.frombuffer(data, wanted.dtype, m * n).reshape(m, n)[some]
    wrong = int((found != wanted).sum())
    seconds = vulkan_seconds(kernels, {})
    result: dict[str, Any] = {"size": [m, n, k], "element": element, "mma": mma, "wrong": wrong,
                              "vulkan_us": seconds * 1e6, "tflops": 2e-12 * m * n * k / seconds,
                              "schedule": str(kernel.kernels[0].schedule)}  # fmt: skip
    given = [torch.from_numpy(array).cuda() for array in arrays]
    for name, schedule in cuda_schedules(mma, kernel.kernels[0].schedule).items():
        try:
            beside = mlir_gemm.compile(case.text(), device="gpu", schedule=schedule)
        except mlir_gemm.errors.Error as error:  # Vulkan's tiles, which this operator does not have
            result[f"{name}_refused"] = str(error).splitlines()[0]
            continue
        result["wrong"] += int((beside(*given).cpu().numpy()[some] != wanted).sum())
        launches = max(5, min(200, round(3e-3 / seconds)))
        (result[f"{name}_us"],) = microseconds([lambda f=beside: f(*given)], torch, launches)
        result[f"{name}_schedule"] = str(beside.kernels[0].schedule)
    print(f"{m}x{n}x{k} {element} {mma}: vulkan {result['vulkan_us']:.1f} us ({result['tflops']:.1f} Tflop/s), "
          f"{BESIDE[mma]} {result['cuda_us']:.1f}, with Vulkan's tiles {result.get('cuda_tiles_us', 0):.1f}, "
          f"chosen {result['cuda_chosen_us']:.1f}, wrong {result['wrong']}", flush=True)  # fmt: skip
    return result


def cuda_schedules(mma: str, schedule: Any) -> dict[str, dict[str, Any] | None]:
    """What CUDA's kernels are pinned to: the operator, that with Vulkan's tiles, and nothing."""
    tiles = {each: getattr(schedule, each) for each in TILES}
    return {"cuda": {"mma": BESIDE[mma]}, "cuda_tiles": {"mma": BESIDE[mma], **tiles}, "cuda_chosen": None}


def table(rows: list[dict[str, Any]]) -> str:
    """Times as a table in Markdown, with what makes Vulkan's longer, in microseconds."""
    launch = next((each["vulkan_us"] - each["cuda_us"] for each in rows if max(each["size"]) == 16), 0.0)
    head = ("M x N x K", "types", "operator", "Vulkan", "CUDA, the same", "CUDA, chosen", "of the same", "launch",
            "tiles, main loop", "code")  # fmt: skip
    lines = [head, ("---",) * len(head)]
    for each in rows:
        vulkan, cuda, tiles = each["vulkan_us"], each["cuda_us"], each.get("cuda_tiles_us")
        name = "`simt`" if each["mma"] == "simt" else f"`{each['mma']}`, `{BESIDE[each['mma']]}`"
        causes = ["", "", ""] if tiles is None else [launch, tiles - cuda, vulkan - tiles - launch]
        times = [f"{time:.3g}" for time in (vulkan, cuda, each["cuda_chosen_us"])]
        shown = [cause if isinstance(cause, str) else f"{cause:+.1f}" for cause in causes]
        lines.append(
            (" x ".join(map(str, each["size"])), each["element"], name, *times, f"{cuda / vulkan:.2f}", *shown)
        )
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def device_report() -> dict[str, Any]:
    """What the device says of itself."""
    from mlir_gemm.runtime.vulkan_device import open_device
    from mlir_gemm.runtime.vulkan_matrices import products_on

    device = open_device()
    return {"name": str(device), "version": device.version, "features": sorted(device.features),
            "subgroups": device.subgroups, "matrices": [str(each) for each in products_on(device)]}  # fmt: skip


def main() -> int:
    """The check from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", dest="out")
    parser.add_argument("--chip", default="vulkan-h200")
    parser.add_argument("--random", type=int, default=500)
    parser.add_argument("--only", default="products,modules,speed")
    parser.add_argument("--seconds", type=float, default=150, help="random products stop after so many")
    parser.add_argument("--elements", default="f32,f16,i8,bf16", help="of random products")
    parser.add_argument("--processes", type=int, default=min(12, os.cpu_count() or 1), help="that run products")
    options = parser.parse_args()
    start, parts, chip = time.perf_counter(), options.only.split(","), options.chip
    if "MLIR_GEMM_CACHE" not in os.environ:
        os.environ["MLIR_GEMM_CACHE"] = tempfile.mkdtemp()
    names = [*sorted(path.name for path in MODULES.glob("*.mlir")), *ROWS] if "modules" in parts else []
    rows = SPEED if "speed" in parts else []
    count = options.random if "products" in parts else 0
    elements = tuple(options.elements.split(","))
    jobs = [("speed", row, chip) for row in rows] + [("module", name, chip) for name in names]
    found: dict[str, Any] = {"products": [], "modules": [], "speed": [], "refused": [], "failed": []}
    context = multiprocessing.get_context("spawn")  # each with a driver of its own
    with concurrent.futures.ProcessPoolExecutor(options.processes, context) as pool:
        for job, refusal in zip(jobs, pool.map(prepare, jobs, chunksize=2), strict=True):
            if refusal:
                found["refused"].append([*map(str, job[:2]), refusal])
        begun = time.perf_counter()
        found["compiled_s"] = begun - start
        print(
            f"{len(jobs)} kernels compiled in {found['compiled_s']:.0f} s, {len(found['refused'])} refused", flush=True
        )
        every = [(seed, elements, chip, time.time() + options.seconds) for seed in range(count)]
        for each in filter(None, pool.map(check_product, every)):
            key = next((key for key in ("refused", "failed") if key in each), "")
            found[key or "products"].append(["product", each["case"], each[key]] if key else each)
        found["products_s"] = time.perf_counter() - begun
    wrong = [each for each in found["products"] if each["wrong"]]
    refusals = sum(each[0] == "product" for each in found["refused"])
    print(f"products: {len(found['products'])} checked in {found['products_s']:.0f} s, {len(wrong)} wrong, "
          f"{refusals} refused", *wrong[:5])  # fmt: skip
    found["device"] = device_report()
    refused = {tuple(each[:2]) for each in found["refused"]}
    for kind, key, call in (("speed", "speed", speed), ("module", "modules", check_module)):
        for _, what, _ in (job for job in jobs if job[0] == kind):
            if (kind, str(what)) in refused:
                continue
            try:
                found[key].append(call(what, chip))
            except Exception as error:  # the others are checked all the same
                found["failed"].append([kind, str(what), f"{type(error).__name__}: {error}"[:600]])
        wrong = [each for each in found[key] if each["wrong"]]
        print(f"{kind}: {len(found[key])} checked, {len(wrong)} wrong", *wrong[:5], flush=True)
    for each in [*found["failed"][:10], *found["refused"][:10]]:
        print(each)
    if found["speed"]:
        found["table"] = table(found["speed"])
        print(found["table"])
    found["seconds"] = time.perf_counter() - start
    print(f"{found['seconds']:.0f} s")
    if options.out:
        Path(options.out).write_text(json.dumps(found, indent=1) + "\n")
    return int(bool(found["failed"]) or any(each["wrong"] for key in ("products", "modules", "speed")
                                            for each in found[key]))  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
