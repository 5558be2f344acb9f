"""What a call costs the host, beside `torch.mm`, and how long a callable takes from the disk cache. `check_runtime.py`
runs them."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import runtime_maps
from runtime_products import PROGRAM, SIZE, in_place, library, returning

import mlir_gemm

CALLS, ROUNDS = 2000, 15


def median_us(call: Callable[[], Any], synchronize: Callable[[], None]) -> float:
    """Host time of one call in microseconds, with the GPU's queue emptied between rounds: it must never be full."""
    rounds: list[float] = []
    for _ in range(ROUNDS):
        synchronize()
        start = time.perf_counter()
        for _ in range(CALLS // 10):  # far fewer than the queue holds (1024)
            call()
        rounds.append((time.perf_counter() - start) / (CALLS // 10))
    return 1e6 * statistics.median(rounds)


def host_cost() -> None:
    torch = library("torch")
    kernel, maker = in_place(), returning()
    a = torch.ones(SIZE, SIZE, dtype=torch.float16, device="cuda")
    b, c, d = a.clone(), torch.zeros(SIZE, SIZE, device="cuda"), torch.zeros(SIZE, SIZE, device="cuda")
    half = torch.zeros_like(a)
    handle = torch.cuda.current_stream().cuda_stream
    turn = iter(range(10**9))
    calls: dict[str, Callable[[], Any]] = {
        "torch.mm(a, b, out=)": lambda: torch.mm(a, b, out=half),
        "kernel(a, b, c)": lambda: kernel(a, b, c),
        "kernel(a, b, c or d)": lambda: kernel(a, b, d if next(turn) % 2 else c),
        "kernel(a, b, c, stream=handle)": lambda: kernel(a, b, c, stream=handle),
        "torch.mm(a, b)": lambda: torch.mm(a, b),
        "kernel(a, b)": lambda: maker(a, b),
    }
    costs: dict[str, float] = {}
    for name, call in calls.items():
        call(), call()
        costs[name] = median_us(call, torch.cuda.synchronize)
        print(f"    {name:32s} {costs[name]:6.2f} us")
    program = mlir_gemm.compile(PROGRAM)
    two = {
        "torch.mm(torch.mm(a, b), b)": lambda: torch.mm(torch.mm(a, b), b),
        "program(a, b), two kernels": lambda: program(a, b),
    }
    for name, call in two.items():
        call(), call()
        costs[name] = median_us(call, torch.cuda.synchronize)
        print(f"    {name:32s} {costs[name]:6.2f} us")
    costs |= map_costs(torch)
    assert costs["kernel(a, b, c)"] <= costs["torch.mm(a, b, out=)"], "a call costs more than torch.mm"
    assert costs["kernel(a, b)"] <= costs["torch.mm(a, b)"], "a call with a result costs more than torch.mm"


def map_costs(torch: Any) -> dict[str, float]:
    """The same for kernels with two tensor maps; nothing on GPUs before sm_90."""
    if torch.cuda.get_device_capability() < (9, 0):
        return {}
    x, y = (torch.from_numpy(runtime_maps.array()).cuda() for _ in "xy")
    turn = iter(range(10**9))
    plain, overlapped = runtime_maps.writer(), runtime_maps.writer(overlap=True)
    calls: dict[str, Callable[[], Any]] = {
        "maps(x, y)": lambda: runtime_maps.call(plain, x, y),
        "maps(x, y), overlapping": lambda: runtime_maps.call(overlapped, x, y),
        "maps(x, y) and (y, x) in turn": lambda: runtime_maps.call(plain, *((y, x) if next(turn) % 2 else (x, y))),
    }
    costs: dict[str, float] = {}
    for name, call in calls.items():
        call(), call()
        costs[name] = median_us(call, torch.cuda.synchronize)
        print(f"    {name:32s} {costs[name]:6.2f} us")
    return costs


def cache_to_callable() -> None:
    from mlir_gemm.runtime import cache

    in_place()
    times: list[float] = []
    for _ in range(20):
        cache.forget()
        start = time.perf_counter()
        in_place()
        times.append(time.perf_counter() - start)
    print(
        f"    from the disk cache to a callable {1e3 * statistics.median(times):6.2f} ms (MLIR_GEMM_CACHE=off compiles)"
    )


CHECKS = (host_cost, cache_to_callable)
