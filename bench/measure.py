"""Checks and times the kernels of an archive made by `bench/prepare.py` on the GPU of this machine.

    python bench/measure.py ARCHIVE -o RESULTS.json

Needs PyTorch, NumPy and cuda-python, and ptxas on the PATH or in PTXAS. Every kernel runs on random normal data with
the output filled with NaN first, then on small integers, whose result must be exact; both are compared with a float64
product. Timing interleaves each kernel with the vendor's library: L2 flushed before each run, medians.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import torch
from cuda.bindings import driver

BOUNDS = {"f32": 1e-5, "f16": 5e-4}
"""Largest relative Frobenius error allowed, by output type."""
DTYPES = {"f16": torch.float16, "f32": torch.float32}
RUNS = int(os.environ.get("RUNS", "12"))


def assemble(folder: Path, entry: dict[str, Any]) -> None:
    """PTX to cubin, with the resources that ptxas reports."""
    source = folder / entry["ptx"]
    ptxas = os.environ.get("PTXAS") or shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas"
    done = subprocess.run(
        [ptxas, "-arch=sm_90", "-v", str(source), "-o", str(source.with_suffix(".cubin"))],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    entry["registers"] = int(re.search(r"Used (\d+) registers", done.stderr)[1])
    entry["spills"] = int(re.search(r"(\d+) bytes spill stores", done.stderr)[1])


def check(result: Any) -> Any:
    """The values of a driver call; raises for a failure."""
    status, *values = result
    if int(status):
        raise RuntimeError(f"driver: {status}")
    return values[0] if values else None


class Kernel:
    """A loaded kernel and how to launch it."""

    def __init__(self, folder: Path, entry: dict[str, Any]):
        self.launch = entry["launch"]
        image = (folder / entry["ptx"]).with_suffix(".cubin").read_bytes()
        self.module = check(driver.cuModuleLoadData(image))
        self.function = check(driver.cuModuleGetFunction(self.module, self.launch["entry"].encode()))
        shared = self.launch["shared_bytes"]
        if shared > 48 * 1024:
            attribute = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            check(driver.cuFuncSetAttribute(self.function, attribute, shared))

    def bind(self, tensors: list[torch.Tensor]) -> Any:
        """A function without arguments that launches the kernel on these tensors."""
        pointers = np.array([tensors[i].data_ptr() for i in self.launch["parameters"]], dtype=np.uint64)
        slots = np.array([pointers.ctypes.data + 8 * i for i in range(len(pointers))], dtype=np.uint64)
        grid, block, shared = self.launch["grid"], self.launch["block"], self.launch["shared_bytes"]

        def run(keep: Any = (pointers, slots, tensors)) -> None:
            stream = torch.cuda.current_stream().cuda_stream
            check(driver.cuLaunchKernel(self.function, *grid, *block, shared, stream, slots.ctypes.data, 0))

        return run

    def unload(self) -> None:
        check(driver.cuModuleUnload(self.module))


def operands(entry: dict[str, Any], integers: bool, seed: int) -> list[torch.Tensor]:
    """One tensor for each argument; results are NaN. Integers are small enough that every sum is exact."""
    generator = torch.Generator("cuda").manual_seed(seed)
    tensors = []
    for argument in entry["launch"]["arguments"]:
        shape, dtype = argument["shape"], DTYPES[argument["dtype"]]
        if argument["role"] in ("result", "out"):
            tensors.append(torch.full(shape, float("nan"), dtype=dtype, device="cuda"))
        elif integers:
            tensors.append(torch.randint(-2, 3, shape, generator=generator, device="cuda").to(dtype))
        else:
            tensors.append(torch.randn(shape, generator=generator, device="cuda", dtype=torch.float32).to(dtype))
    return tensors


def error_of(kernel: Kernel, entry: dict[str, Any], integers: bool, seed: int) -> float:
    """Relative Frobenius error against float64; with integers the largest absolute error."""
    tensors = operands(entry, integers, seed)
    a, b = tensors[0].double(), tensors[1].double()
    reference = a @ b
    if len(tensors) > 2 and entry["launch"]["arguments"][2]["role"] in ("in", "inout"):
        reference += tensors[2].double()
    kernel.bind(tensors)()
    torch.cuda.synchronize()
    actual = tensors[-1].double()
    if integers:
        exact = reference.to(DTYPES[entry["out"]]).double()
        return float((actual - exact).abs().max())
    return float(torch.linalg.norm(actual - reference) / torch.linalg.norm(reference))


class Timing:
    """Times functions in turn, each after the L2 cache has been overwritten."""

    def __init__(self) -> None:
        self.flush = torch.empty(256 << 20, dtype=torch.int8, device="cuda")

    def quartiles(self, functions: list[Any], runs: int = RUNS) -> list[list[float]]:
        """First quartile, median and third quartile of the seconds of each function, interleaved."""
        for function in functions:
            function()
        events = [[[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in functions] for _ in range(runs)]
        for round_ in events:
            for function, (start, end) in zip(functions, round_, strict=True):
                self.flush.zero_()
                start.record()
                function()
                end.record()
        torch.cuda.synchronize()
        return [
            statistics.quantiles([round_[i][0].elapsed_time(round_[i][1]) / 1e3 for round_ in events])
            for i in range(len(functions))
        ]


def vendor(entry: dict[str, Any]) -> Any:
    """The vendor library's product of the same problem, as a function without arguments."""
    m, n, k = entry["m"], entry["n"], entry["k"]
    a = torch.randn(m, k, device="cuda", dtype=torch.float32).half()
    b = torch.randn(k, n, device="cuda", dtype=torch.float32).half()
    if entry["out"] == "f16":
        out = torch.empty(m, n, device="cuda", dtype=torch.float16)
        return lambda: torch.mm(a, b, out=out)
    return lambda: torch.mm(a, b, out_dtype=torch.float32)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archive", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--together", action="store_true", help="time all kernels of a problem in turn, not one by one")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 4)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp())
    with tarfile.open(options.archive) as archive:
        archive.extractall(folder, filter="data")
    entries = [entry for entry in json.loads((folder / "manifest.json").read_text()) if "ptx" in entry]
    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(lambda entry: assemble(folder, entry), entries))
    print(f"{len(entries)} kernels assembled, {sum(e['spills'] > 0 for e in entries)} with spills", flush=True)
    torch.cuda.init()
    torch.zeros(1, device="cuda")
    timing = Timing()
    library: dict[tuple[Any, ...], Any] = {}
    for number, entry in enumerate(entries):
        try:
            measure(folder, entry, number, timing, library, not options.together)
        except RuntimeError as failure:
            entry["failure"] = str(failure)
            print("FAILURE", entry["name"], entry["full_schedule"], failure, flush=True)
    if options.together:
        together(folder, entries, timing)
    report(entries)
    properties = torch.cuda.get_device_properties(0)
    result = {
        "device": properties.name,
        "driver": str(check(driver.cuDriverGetVersion())),
        "torch": torch.__version__,
        "date": datetime.date.today().isoformat(),
        "command": " ".join(sys.argv),
        "kernels": entries,
    }
    options.output.write_text(json.dumps(result, indent=0))
    return 0


def together(folder: Path, entries: list[dict[str, Any]], timing: Timing) -> None:
    """Times all kernels of each problem and the vendor's library in turn: equally warm, equally throttled."""
    problems: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for entry in (entry for entry in entries if entry["time"]):
        key = (entry["m"], entry["n"], entry["k"], entry["out"], entry["form"])
        problems.setdefault(key, []).append(entry)
    for group in problems.values():
        tensors = operands(group[0], False, 1)
        kernels = [Kernel(folder, entry) for entry in group]
        *ours, theirs = timing.quartiles([*(kernel.bind(tensors) for kernel in kernels), vendor(group[0])])
        for entry, kernel, quartiles in zip(group, kernels, ours, strict=True):
            entry.update(seconds=quartiles[1], quartiles=quartiles, vendor_seconds=theirs[1])
            kernel.unload()


def measure(
    folder: Path, entry: dict[str, Any], seed: int, timing: Timing, library: dict[tuple[Any, ...], Any], alone: bool
) -> None:
    """Fills in `error`, `integer_error`, `seconds` and `vendor_seconds` of an entry."""
    kernel = Kernel(folder, entry)
    if entry["check"]:
        entry["error"] = error_of(kernel, entry, False, seed)
        entry["integer_error"] = (
            error_of(kernel, entry, True, seed) if entry["k"] <= 2048 or entry["out"] == "f32" else 0.0
        )
        entry["right"] = entry["error"] < BOUNDS[entry["out"]] and entry["integer_error"] == 0.0
    if entry["time"] and alone:
        key = (entry["m"], entry["n"], entry["k"], entry["out"], entry["form"])
        if key not in library:
            library.clear()
            library[key] = (vendor(entry), operands(entry, False, 1))
        reference, tensors = library[key]
        ours, theirs = timing.quartiles([kernel.bind(tensors), reference])
        entry["seconds"], entry["vendor_seconds"] = ours[1], theirs[1]
        entry["quartiles"] = ours
    kernel.unload()


def report(entries: list[dict[str, Any]]) -> None:
    """Prints what was wrong, and the timed kernels, fastest first for each problem."""
    checked = [e for e in entries if "right" in e]
    wrong = [e for e in checked if not e["right"]]
    print(f"{len(checked)} checked, {len(wrong)} wrong")
    for e in wrong[:30]:
        print("WRONG", e["form"], e["out"], e["m"], e["n"], e["k"], e["full_schedule"], e["error"], e["integer_error"])
    problems: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for e in (e for e in entries if "seconds" in e):
        problems.setdefault((e["name"], e["m"], e["n"], e["k"], e["form"]), []).append(e)
    for (name, m, n, k, form), group in problems.items():
        group.sort(key=lambda e: e["seconds"])
        print(f"-- {name} {m}x{n}x{k} {form}: {len(group)} kernels")
        for e in group[:25]:
            flops = 2 * m * n * k
            print(
                f"{flops / e['seconds'] / 1e12:7.1f} TFLOP/s  {e['vendor_seconds'] / e['seconds']:.3f} of library "
                f"({flops / e['vendor_seconds'] / 1e12:.1f})  {e['registers']} regs  {e['schedule']}"
            )


if __name__ == "__main__":
    sys.exit(main())
