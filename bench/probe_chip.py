"""Measures what the table of chips needs to know of the GPU of this machine, with kernels of this compiler.

    python -m mlir_gemm.bench.probe_chip [-o chip.json] [--seconds 60]

Prints a row in the form of `tile_model/chip_table.py`, and all figures as JSON; docs/benchmarks.md says how each is
measured. Takes about a minute. `--compile-only --chip sm_90a` only fills the cache, without a GPU.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import mlir_gemm
from mlir_gemm.bench import operands, probe_rates
from mlir_gemm.bench.chip_figures import Figures, limits, row
from mlir_gemm.bench.modules import module
from mlir_gemm.bench.problems import Problem
from mlir_gemm.bench.timing import SLEEP_CYCLES_S
from mlir_gemm.errors import Error
from mlir_gemm.runtime.device import checked
from mlir_gemm.runtime.own_chip import default_chip
from mlir_gemm.tile_model.chips import target

Run = Callable[[], Any]

WGMMA = "mma=wgmma,block={m}x{n}x64,warp={w}x{n}x64,stages=4,persistent=0,cluster_m=1,cluster_n=1,split_k_cluster=1"
DEEP = ((16384, 8192), (1536, 2816))
"""Two values of K, whose difference leaves out a kernel's start and end; and M, N: 132 tiles of 128x256, one wave on
the chip this was written for."""
L2_TILES = (("64x64x64", "32x32x64"), ("64x128x64", "32x64x64"), ("128x64x64", "64x32x64"))
"""Small blocks of mma.sync, which need more of L2 than of the tensor cores."""
CLUSTERS = {2: "cluster_m=2", 4: "cluster_n=4", 8: "split_k_cluster=8"}
COPY_ELEMENTS = 1 << 28
"""Of f32: 1 GB, many times any L2 cache."""
LAUNCHES = 200
SUSTAINED_SECONDS = 3.0
COPY = """func.func @copy(%A: memref<{n}x{n}xf32>, %B: memref<{n}x{n}xf32>) {{
  linalg.copy ins(%A : memref<{n}x{n}xf32>) outs(%B : memref<{n}x{n}xf32>)
  return
}}
"""
TINY = COPY.format(n=32)
WARPGROUP_PRODUCTS = "wgmma.mma_async"
"""The capability of chips whose warpgroups multiply."""


class Prober:
    """The measurements, one method each; what one of them cannot do on a chip is None in the figures."""

    def __init__(self, chip: str, torch: Any, monitor: Any) -> None:
        self.chip, self._torch, self._monitor = chip, torch, monitor
        properties = torch.cuda.get_device_properties(0)
        self.name, self.sms = properties.name, properties.multi_processor_count
        self.has_wgmma = WARPGROUP_PRODUCTS in target(chip).capabilities
        self.max_clock = 1e6 * (monitor.limits()["max_sm_mhz"] or 0)

    def device(self) -> Figures:
        """What the driver knows."""
        from mlir_gemm.runtime.device import find_driver

        driver = find_driver()
        names = driver.CUdevice_attribute
        asked = {
            "sms": "MULTIPROCESSOR_COUNT", "l2_bytes": "L2_CACHE_SIZE", "max_clock_khz": "CLOCK_RATE",
            "smem_block": "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN", "smem_sm": "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR",
            "smem_reserved": "RESERVED_SHARED_MEMORY_PER_BLOCK", "smem_static": "MAX_SHARED_MEMORY_PER_BLOCK",
            "registers_sm": "MAX_REGISTERS_PER_MULTIPROCESSOR", "threads_sm": "MAX_THREADS_PER_MULTIPROCESSOR",
            "blocks_sm": "MAX_BLOCKS_PER_MULTIPROCESSOR", "memory_clock_khz": "MEMORY_CLOCK_RATE",
            "memory_bus_bits": "GLOBAL_MEMORY_BUS_WIDTH",
        }  # fmt: skip
        found: Figures = {"name": self.name, "chip": self.chip, **self._monitor.limits()}
        for name, attribute in asked.items():
            number = getattr(names, f"CU_DEVICE_ATTRIBUTE_{attribute}")
            found[name] = int(checked(driver, driver.cuDeviceGetAttribute(number, 0), f"asking for {attribute}"))
        return found

    def dram(self) -> Figures:
        """A copy of 1 GB: bytes read and written; and a product of 16 rows, which only reads: the weights."""
        side = round(COPY_ELEMENTS**0.5)
        kernel = self._compiled(COPY.format(n=side))
        source = self._torch.ones((side, side), device="cuda")
        result = self._torch.empty_like(source)
        bytes_moved = 2 * 4 * side * side
        found: Figures = {
            "copy_bytes_s": bytes_moved / self._seconds(lambda: kernel(source, result), 10),
            "torch_copy_bytes_s": bytes_moved / self._seconds(lambda: result.copy_(source), 10),
        }
        problem = Problem("probe", 16, 65536, 8192, "f16", "f16", "NT")
        found["read_bytes_s"] = problem.bytes / self._seconds(self._product(problem, ""), 10)
        return found

    def tensor(self) -> Figures:
        """Operations a clock and SM on zeros, which keep the chip at its highest clock: products with one tile for each
        SM, of two depths."""
        found: Figures = {"mma_sync": self._issue("mma=mma_sync")}
        if self.has_wgmma:
            found["wgmma"] = self._issue(WGMMA.format(m=128, n=256, w=64))
        return found

    def _issue(self, schedule: str) -> Figures:
        (deep, shallow), (m, n) = DEEP
        m = m * self.sms // 132 // 128 * 128
        problems = [Problem("probe", m, n, k, "f16", "f16", "NT") for k in (deep, shallow)]
        self._monitor.summary()  # forgets what was noted before
        times = [self._seconds(self._product(each, schedule, zeros=True), 5) for each in problems]
        rate = (problems[0].flops - problems[1].flops) / (times[0] - times[1])
        tiles = -(-m // 128) * -(-n // 256)
        clock = self._clock() or self.max_clock
        each = rate / (clock * min(tiles, self.sms)) if clock else None
        return {"flops_s": rate, "clock_hz": clock, "flops_clock_sm": each, "tiles": tiles}

    def rates(self) -> Figures:
        """Operations a clock and SM of each type, on zeros, by whole products of two depths."""
        found: Figures = {}
        for each, schedule in probe_rates.rates_on(self.chip):

            def seconds(problem: Problem, schedule: str = schedule) -> float:
                return self._seconds(self._product(problem, schedule, zeros=True), 5)

            self._monitor.summary()
            rate = probe_rates.rate_of(each, seconds)
            clock = self._clock() or self.max_clock
            found.setdefault(each.mma, {})[each.name] = {
                "flops_s": rate, "clock_hz": clock, "flops_clock_sm": rate / (clock * self.sms) if clock else None,
            }  # fmt: skip
        return found

    def latencies(self) -> Figures:
        """Seconds of a load that waits for the one before it, from L1, from L2 and from memory."""
        l2_bytes = target(self.chip).l2_bytes

        def run(text: str, table: Any, start: Any) -> Run:
            kernel, at = self._compiled(text), [start]

            def follow() -> None:  # each run goes on where the one before has come
                at[0] = kernel(table, at[0])

            return follow

        def timed(each: Run) -> float:
            return self._seconds(each, 20, queued=True)

        sizes = {place: probe_rates.numbers_of(place, l2_bytes) for place in probe_rates.PLACES}
        return {
            f"{place}_s": probe_rates.latency(size, place != "dram", run, timed, self._torch)
            for place, size in sizes.items()
        }

    def l2(self) -> Figures:
        """Bytes from L2 to the SMs: the operands, once for each tile, of products of small tiles that stay in L2."""
        found: Figures = {}
        for block, warp in L2_TILES:
            schedule = f"mma=mma_sync,mainloop=cp_async,stages=3,block={block},warp={warp}"
            found[block] = self._l2_rate(2048, block, schedule)
        best = max((rate for rate in found.values() if rate), default=None)
        if self.has_wgmma:
            found["tma 64x64x64"] = self._l2_rate(2048, "64x64x64", WGMMA.format(m=64, n=64, w=64))
        return {"bytes_s": best, "by_tile": found}

    def _l2_rate(self, size: int, block: str, schedule: str) -> float | None:
        m, n, _ = map(int, block.split("x"))
        try:
            seconds = self._seconds(self._product(Problem("probe", size, size, size, "f16", "f16", "NT"), schedule), 40)
        except Error:
            return None
        return (size // m) * (size // n) * (m + n) * size * 2 / seconds

    def launches(self) -> Figures:
        """Seconds from one tiny kernel to the next when all are queued, and when a Python program launches them."""
        found: Figures = {}
        tiny = Problem("probe", 64, 64, 64, "f16", "f16", "NT")
        asked: dict[str, Callable[[], Run]] = {"points": self._tiny_copy}
        if self.has_wgmma:
            for overlap in ("on", "off"):
                asked[f"wgmma dependent_launch={overlap}"] = functools.partial(
                    self._product, tiny, f"mma=wgmma,dependent_launch={overlap}"
                )
        for name, make in asked.items():
            run = make()
            found[name] = {"queued_s": self._seconds(run, LAUNCHES, queued=True), "from_python_s": self._seconds(
                run, 20 * LAUNCHES)}  # fmt: skip
        return found

    def _tiny_copy(self) -> Run:
        kernel = self._compiled(TINY)
        a, b = (self._torch.ones((32, 32), device="cuda") for _ in range(2))
        return lambda: kernel(a, b)

    def load(self) -> Figures:
        """Clock and power while large products of random numbers run for seconds."""
        found: Figures = {}
        for size in (4096, 8192):
            run = self._product(Problem("probe", size, size, size, "f16", "f16", "NT"), "")
            self._monitor.summary()
            start, runs = time.monotonic(), 0
            began, ended = (self._torch.cuda.Event(enable_timing=True) for _ in range(2))
            began.record()
            while time.monotonic() - start < SUSTAINED_SECONDS:
                for _ in range(max(1, 20 * 4096**3 // size**3)):
                    run()
                    runs += 1
                # Half a second of warming up is not counted.
                if time.monotonic() - start > 0.5:
                    self._monitor.sample()
                self._torch.cuda.synchronize()
            ended.record()
            ended.synchronize()
            seconds = began.elapsed_time(ended) / 1e3 / runs
            found[str(size)] = {"flops_s": 2 * size**3 / seconds, **(self._monitor.summary() or {})}
        return found

    def clusters(self) -> Figures:
        """How many clusters run at a time, by their size: those of a kernel with as many stages as fit an SM."""
        if not self.has_wgmma:
            return {}
        from mlir_gemm.runtime.device import find_driver

        driver = find_driver()
        found: Figures = {}
        for size, field in CLUSTERS.items():
            kernel = self._compiled(module(_CLUSTERED), cluster_schedule(field))
            loaded = kernel.load(0)
            step = loaded.launch.steps[0]
            dimension = driver.CUlaunchAttribute()
            dimension.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
            for axis, extent in zip("xyz", step.cluster, strict=True):
                setattr(dimension.value.clusterDim, axis, extent)
            config = driver.CUlaunchConfig()
            config.gridDimX, config.gridDimY, config.gridDimZ = step.grid
            config.blockDimX, config.blockDimY, config.blockDimZ = step.block
            config.sharedMemBytes = step.shared_bytes
            config.attrs, config.numAttrs = [dimension], 1
            asking = f"asking how many clusters of {size} fit"
            count = checked(driver, driver.cuOccupancyMaxActiveClusters(loaded.functions[0], config), asking)
            found[str(size)] = {"clusters": int(count), "blocks": int(count) * size, "shared_bytes": step.shared_bytes}
        return found

    def _compiled(self, text: str, schedule: str = "") -> Any:
        return mlir_gemm.compile(text, chip=self.chip, schedule=schedule or None)

    def _product(self, problem: Problem, schedule: str, zeros: bool = False) -> Run:
        """A product, checked on random numbers first."""
        torch = self._torch
        drawn = operands.draw(problem, torch)
        kernel = self._compiled(module(problem), schedule)
        arguments = (*drawn.inputs, drawn.out)
        operands.poison(drawn.out)
        kernel(*arguments)
        if not operands.check(drawn, drawn.out, torch).right:
            raise Error(f"{problem.name} with '{schedule}': the result is wrong, so its time means nothing")
        if zeros:
            drawn.a.zero_()
            drawn.b.zero_()
        return lambda: kernel(*arguments)

    def _seconds(self, run: Run, count: int, queued: bool = False) -> float:
        """Of one run, the least of five bursts: with nothing else on the chip what is slower was disturbed."""
        torch = self._torch
        found: list[float] = []
        for _ in range(3):
            run()
        for _ in range(5):
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            if queued:
                torch.cuda._sleep(int(20e-6 * count * SLEEP_CYCLES_S))
            run()
            start.record()
            for _ in range(count):
                run()
            end.record()
            self._monitor.sample()
            end.synchronize()
            found.append(start.elapsed_time(end) / 1e3 / count)
        return min(found)

    def _clock(self) -> float | None:
        """Median clock since it was last asked, in Hz."""
        state = self._monitor.summary()
        return 1e6 * state["sm_mhz"][1] if state and state["sm_mhz"][1] else None


_CLUSTERED = Problem("probe", 4096, 4096, 4096, "f16", "f16", "NT")


def cluster_schedule(field: str) -> str:
    """A schedule of blocks that take an SM each, in clusters."""
    return f"mma=wgmma,block=128x128x64,warp=64x128x64,persistent=0,{field}"


MEASUREMENTS = ("device", "launches", "clusters", "dram", "latencies", "l2", "tensor", "rates", "load")
"""Methods of Prober in the order in which they run: what heats the chip comes last."""


def probe(prober: Prober, seconds: float, only: Sequence[str] = MEASUREMENTS) -> Figures:
    """All figures; one that fails is a text that says why, and none begins after `seconds`."""
    start = time.monotonic()
    found: Figures = {}
    for name in MEASUREMENTS:
        if name not in only:
            continue
        if seconds and time.monotonic() - start > seconds:
            found[name] = "not measured: --seconds are over"
            continue
        print(f"{name} ...", file=sys.stderr, flush=True)
        try:
            found[name] = getattr(prober, name)()
        except Exception as problem:  # the others are worth having
            found[name] = f"failed: {type(problem).__name__}: {str(problem)[:300]}"
    return found


def kernels(chip: str) -> list[tuple[str, str]]:
    """Module and schedule of everything that is run."""
    side = round(COPY_ELEMENTS**0.5)
    found = [(COPY.format(n=side), ""), (TINY, "")]
    found.append((module(Problem("probe", 16, 65536, 8192, "f16", "f16", "NT")), ""))
    schedules = ["mma=mma_sync"]
    tiles = [f"mma=mma_sync,mainloop=cp_async,stages=3,block={block},warp={warp}" for block, warp in L2_TILES]
    if WARPGROUP_PRODUCTS in target(chip).capabilities:
        schedules.append(WGMMA.format(m=128, n=256, w=64))
        tiles.append(WGMMA.format(m=64, n=64, w=64))
        tiny = module(Problem("probe", 64, 64, 64, "f16", "f16", "NT"))
        found += [(tiny, f"mma=wgmma,dependent_launch={overlap}") for overlap in ("on", "off")]
        found += [(module(_CLUSTERED), cluster_schedule(field)) for field in CLUSTERS.values()]
    (deep, shallow), (m, n) = DEEP
    m = m * target(chip).sms // 132 // 128 * 128
    for k in (deep, shallow):
        found += [(module(Problem("probe", m, n, k, "f16", "f16", "NT")), each) for each in schedules]
    found += [(module(Problem("probe", 2048, 2048, 2048, "f16", "f16", "NT")), each) for each in tiles]
    found += [(module(Problem("probe", size, size, size, "f16", "f16", "NT")), "") for size in (4096, 8192)]
    return found + probe_rates.kernels(chip)


def main(given: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m mlir_gemm.bench.probe_chip",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="the figures as JSON")
    parser.add_argument("--only", nargs="+", choices=MEASUREMENTS, default=list(MEASUREMENTS), help="some of them")
    parser.add_argument("--seconds", type=float, default=120, metavar="N", help="begin no other after so long (120)")
    parser.add_argument("--chip", default="", help="what to compile for (default: the GPU's)")
    parser.add_argument("--compile-only", action="store_true", help="fill the cache; needs no GPU")
    arguments = parser.parse_args(given)
    try:
        if arguments.compile_only:
            chip = arguments.chip or default_chip(0)
            for text, schedule in kernels(chip):
                mlir_gemm.compile(text, chip=chip, schedule=schedule or None)
            print(f"{len(kernels(chip))} kernels compiled for {chip}")
            return 0
        figures = measured(arguments.chip, arguments.seconds, arguments.only)
    except Error as problem:
        print(problem, file=sys.stderr)
        return 1
    print(json.dumps(figures, indent=1))
    print(f"\n{limits(figures)}\n{row(figures, figures['chip'])}")
    if arguments.output:
        arguments.output.write_text(json.dumps(figures, indent=1) + os.linesep)
    return 1 if any(isinstance(figures.get(name), str) for name in arguments.only) else 0


def measured(chip: str, seconds: float, only: Sequence[str]) -> Figures:
    """All figures of this machine's GPU. Raises Error without PyTorch and a GPU."""
    from mlir_gemm.bench.machine import Monitor
    from mlir_gemm.bench.measure import require_gpu

    torch = require_gpu()
    chip = chip or default_chip(0).partition(":")[0]
    prober = Prober(chip, torch, Monitor(torch))
    return {"chip": chip, **probe(prober, seconds, only)}


if __name__ == "__main__":
    sys.exit(main())
