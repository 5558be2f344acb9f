"""What programs of one, two, three and six kernels cost the host on the GPU of this machine, beside `torch.mm(out=)`.

    python test/gpu/check_programs.py [-o RESULTS.json]

A program is a chain of products x w w ..., each rounded to f16, into memory of the caller's. `former` launches kernels
one by one with a workspace of PyTorch's for each call, `kept` one by one with a workspace that is kept, `graph` as one
launch. *Host* is what a call takes until it returns, with an empty queue; *GPU* what one takes of calls
that are all queued before the first runs. Results are compared with those of `torch.mm`, for random data, with memory
that changes from call to call, from two threads on one stream, and in a graph of the caller's. Exit status 1 where one
is wrong, or where with a graph a program of several kernels costs the host more than 1.5 us a kernel beyond one kernel.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import torch

import mlir_gemm
from mlir_gemm.runtime import graphs, program_launches

COUNTS, SIZES = (1, 2, 3, 6), (64, 512, 2048)
CALLS, ROUNDS = 100, 15
A_KERNEL_US = 1.5
WAYS = {
    "former": ("never", 0),
    "kept": ("never", program_launches.MOST_KEPT),
    "graph": ("always", program_launches.MOST_KEPT),
}
"""What `MLIR_GEMM_GRAPHS` is, and the largest workspace that is kept."""
PRODUCT = """\
  %p{step} = memref.alloc() : memref<{wide}>
  linalg.fill ins(%zero : f32) outs(%p{step} : memref<{wide}>)
  linalg.matmul ins({source}, %w : memref<{half}>, memref<{half}>) outs(%p{step} : memref<{wide}>)
  linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                   iterator_types = ["parallel", "parallel"]}}
      ins(%p{step} : memref<{wide}>) outs({to} : memref<{half}>) {{
  ^bb0(%a: f32, %o: f16):
    %r = arith.truncf %a : f32 to f16
    linalg.yield %r : f16
  }}
"""


def program(count: int, size: int) -> str:
    """A chain of products into the caller's memory, each a kernel of its own."""
    wide, half = f"{size}x{size}xf32", f"{size}x{size}xf16"
    text = f"func.func @chain(%x: memref<{half}>, %w: memref<{half}>, %y: memref<{half}>) {{\n"
    text += "  %zero = arith.constant 0.0 : f32\n"
    for step in range(count):
        source, to = f"%t{step - 1}" if step else "%x", f"%t{step}" if step < count - 1 else "%y"
        text += f"  {to} = memref.alloc() : memref<{half}>\n" if to != "%y" else ""
        text += PRODUCT.format(step=step, wide=wide, half=half, source=source, to=to)
    return text + "  return\n}\n"


def expected(x: Any, w: Any, count: int) -> Any:
    """The same by PyTorch."""
    for _ in range(count):
        x = x @ w
    return x


def check(kernel: mlir_gemm.Kernel, count: int, size: int) -> float:
    """The largest relative error (Frobenius) of calls with changing memory, from two threads, and in a graph."""
    errors: list[float] = []

    def compare(y: Any, x: Any, w: Any) -> None:
        wanted = expected(x, w, count).double()
        errors.append(float((y.double() - wanted).norm() / wanted.norm()))

    def many(seed: int) -> None:
        generator = torch.Generator("cuda").manual_seed(seed)
        xs = [torch.randn(size, size, generator=generator, device="cuda").half() for _ in range(3)]
        w = (torch.randn(size, size, generator=generator, device="cuda") / size**0.5).half()
        for call in range(40):
            y = torch.full_like(w, float("nan"))
            kernel(xs[call % 3], w, y)
            compare(y, xs[call % 3], w)

    many(0)
    threads = [threading.Thread(target=many, args=(seed,)) for seed in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(errors) == 120, "a thread failed"
    x, w = (torch.randn(size, size, device="cuda").half() / size**0.25 for _ in "xw")
    y = torch.full_like(w, float("nan"))
    torch.cuda.synchronize()
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        kernel(x, w, y)
    captured.replay()
    torch.cuda.synchronize()
    compare(y, x, w)
    return max(errors)


def host_us(call: Callable[[], Any]) -> float:
    """What a call takes until it returns, the median of rounds that start with an empty queue."""
    for _ in range(10):
        call()
    rounds: list[float] = []
    for _ in range(ROUNDS):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(CALLS):
            call()
        rounds.append((time.perf_counter() - start) / CALLS)
    return 1e6 * median(rounds)


def gpu_us(call: Callable[[], Any], host: float) -> float:
    """What one of calls takes that are all queued before the first runs."""
    rounds: list[float] = []
    for _ in range(ROUNDS):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        torch.cuda._sleep(int(3e3 * host * CALLS))  # twice the time at 1.5 cycles a ns
        start.record()
        for _ in range(CALLS):
            call()
        end.record()
        end.synchronize()
        rounds.append(1e3 * start.elapsed_time(end) / CALLS)
    return median(rounds)


def measure(size: int) -> list[dict[str, Any]]:
    x, w = (torch.randn(size, size, device="cuda").half() / size**0.25 for _ in "xw")
    y = torch.empty_like(x)
    rows: list[dict[str, Any]] = []

    def add(name: str, count: int, call: Callable[[], Any], error: float = 0.0) -> None:
        host = host_us(call)
        rows.append({"size": size, "name": name, "kernels": count, "host_us": host, "gpu_us": gpu_us(call, host)})
        rows[-1]["error"] = error
        times = f"host {host:6.2f} us  GPU {rows[-1]['gpu_us']:7.2f} us"
        print(f"  {size:5d} {name:18s} {count} kernels  {times}  {error:.1e}")

    add("torch.mm(out=)", 1, lambda: torch.mm(x, w, out=y))
    for count in COUNTS:
        for way, (wish, kept) in WAYS.items():
            os.environ[graphs.VARIABLE], program_launches.MOST_KEPT = wish, kept
            kernel = mlir_gemm.compile(program(count, size), device="gpu")
            assert len(kernel.launch.steps) == count, f"{len(kernel.launch.steps)} kernels"
            add(way, count, lambda kernel=kernel: kernel(x, w, y), check(kernel, count, size))
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("-o", type=Path)
    out = parser.parse_args().o
    rows = [row for size in SIZES for row in measure(size)]
    if out:
        out.write_text(json.dumps({"device": torch.cuda.get_device_name(), "rows": rows}, indent=1))
    failures = [
        f"{row['name']}, {row['kernels']} kernels of {row['size']}: {row['error']:.1e}"
        for row in rows
        if not row["error"] < 3e-3
    ]
    found = {(row["name"], row["kernels"]): row["host_us"] for row in rows if row["size"] == SIZES[0]}
    if found["graph", 1] > found["torch.mm(out=)", 1]:
        failures.append(
            f"one kernel costs the host {found['graph', 1]:.2f} us, torch.mm(out=) {found['torch.mm(out=)', 1]:.2f}"
        )
    for count in COUNTS[1:]:
        most = found["graph", 1] + A_KERNEL_US * (count - 1)
        if found["graph", count] > most:
            failures.append(
                f"{count} kernels cost the host {found['graph', count]:.2f} us, at most {most:.2f} are asked"
            )
    print(*failures, sep="\n")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
