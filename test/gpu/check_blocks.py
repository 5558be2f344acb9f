"""Compares blocks of models with float64 and with PyTorch, by error and by time, on the GPU of this machine.

    python check_blocks.py [--only TEXT] [-o RESULTS.json]

The modules are those of `examples/blocks`, as torch-mlir exported them. Random data; the same blocks in eager PyTorch
and under torch.compile; everyone in turn, cold and sustained. Errors are relative, by Frobenius norm, against the block
in float64. Ends with 1 where an error is more than 1.1 times that of eager PyTorch.
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
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import mlir_gemm
from mlir_gemm.bench.block_functions import BLOCKS
from mlir_gemm.bench.timing import Timer

FOLDER = Path(__file__).parents[2] / "examples" / "blocks"
WORSE = 1.1


def compile_one(work: tuple[str, str]) -> str:
    """Compiles into the cache; what is wrong, if something is."""
    name, chip = work
    try:
        mlir_gemm.compile(Path(FOLDER, f"{name}.mlir"), chip=chip)
    except mlir_gemm.Error as error:
        return str(error)
    return ""


def error_of(results: Any, exact: Any) -> float:
    """The largest relative error of the results."""
    pairs = zip(results if isinstance(results, tuple) else (results,), exact if isinstance(exact, tuple) else (exact,),
                strict=True)  # fmt: skip
    found = [float((got.double() - right.double()).norm() / right.double().norm()) for got, right in pairs]
    return max(found) if all(map(math.isfinite, found)) else math.inf


def measure(name: str, chip: str, timer: Timer, torch: Any) -> dict[str, Any]:
    """One block."""
    block = BLOCKS[name]
    generator = torch.Generator("cuda").manual_seed(1)
    dtype = getattr(torch, block.dtype)
    scale = [1.0 if len(shape) != 2 or number == 0 else shape[-1] ** -0.5 for number, shape in enumerate(block.shapes)]
    given = [
        (torch.randn(shape, generator=generator, device="cuda") * factor).to(dtype)
        for shape, factor in zip(block.shapes, scale, strict=True)
    ]
    kernel = mlir_gemm.compile(Path(FOLDER, f"{name}.mlir"), chip=chip)
    compiled = torch.compile(lambda *arguments: block.function(torch, *arguments))
    with torch.no_grad():
        exact = block.function(torch, *(each.double() for each in given))
        ours, eager = kernel(*given), block.function(torch, *given)
        errors = {"ours": error_of(ours, exact), "eager": error_of(eager, exact)}
        del exact
        compiled(*given)
        runs = {"ours": lambda: kernel(*given), "eager": lambda: block.function(torch, *given),
                "compile": lambda: compiled(*given)}  # fmt: skip
        host = timer.host(list(runs.values()))
        cold = timer.cold(list(runs.values()), host)
        warm, _ = timer.sustained(list(runs.values()), [each.median for each in cold], host, lambda: None)
    return {
        "name": name, "kernels": len(kernel.launch.steps), "errors": errors,
        "right": errors["ours"] <= WORSE * errors["eager"],
        "cold us": {who: each.median * 1e6 for who, each in zip(runs, cold, strict=True)},
        "us": {who: each.median * 1e6 for who, each in zip(runs, warm, strict=True)},
    }  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="blocks with this in their name")
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    os.environ["MLIR_GEMM_CACHE"] = tempfile.mkdtemp()
    import torch

    chip = "sm_{}{}a".format(*torch.cuda.get_device_capability())
    names = [name for name in BLOCKS if options.only in name]
    with ProcessPoolExecutor(len(names)) as pool:
        refused = dict(zip(names, pool.map(compile_one, [(name, chip) for name in names]), strict=True))
    timer = Timer(torch, rounds=8, bursts=4, burst_seconds=0.015)
    rows: list[dict[str, Any]] = []
    for name in names:
        if refused[name]:
            print(f"{name}: {refused[name]}")
            continue
        rows.append(measure(name, chip, timer, torch))
        row = rows[-1]
        us, cold, errors = row["us"], row["cold us"], row["errors"]
        wrong = "" if row["right"] else "WRONG "
        print(f"{name:14s} {row['kernels']} kernels {wrong}error {errors['ours']:.1e} ({errors['eager']:.1e})  "
              f"ours {us['ours']:.1f} us, eager {us['eager']:.1f}, compile {us['compile']:.1f}; "
              f"to the better {min(us['eager'], us['compile']) / us['ours']:.2f}, cold "
              f"{min(cold['eager'], cold['compile']) / cold['ours']:.2f}", flush=True)  # fmt: skip
    if options.output:
        smi = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
        driver = subprocess.run(smi, capture_output=True, text=True, check=False).stdout.split("\n")[0]
        found = {"device": torch.cuda.get_device_name(), "driver": driver, "torch": torch.__version__,
                 "date": time.strftime("%Y-%m-%d"), "command": sys.argv, "rows": rows}  # fmt: skip
        options.output.write_text(json.dumps(found, indent=0))
    return int(any(refused.values()) or not all(row["right"] for row in rows))


if __name__ == "__main__":
    sys.exit(main())
