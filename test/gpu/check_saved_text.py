"""Saves modules after every stage, and runs what was saved on the GPU of this machine.

    python check_saved_text.py [--only TEXT] [--jobs N] [-o RESULTS.json]

Each run is `mlir-gemm run FILE --device gpu`, which compares the results with NumPy in float64. Ends with 1 where one
fails.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

MODULES = Path(__file__).parent.parent / "modules"
WGMMA = "mma=wgmma,block=128x128x64,warp=64x128x64"
TURNS = "mma=wgmma,block=128x128x64,warp=128x128x64"
PRODUCTS = (
    ("ping-pong", (1024, 2048, 512), "f16", "NN", f"{TURNS},persistent=8,ping_pong=on"),
    ("stream-k", (640, 512, 2048), "f16", "NT", f"{WGMMA},persistent=12,stream_k=4"),
    ("split-k in a cluster", (256, 256, 2048), "bf16", "NN", f"{WGMMA},split_k_cluster=4"),
    ("multicast", (512, 512, 512), "f16", "TN", f"{WGMMA},cluster_m=2,cluster_n=2"),
    ("promotion", (256, 256, 4096), "f16", "NT", f"{WGMMA},promotion=4,cluster_m=2"),
    ("promotion of 8 bits", (128, 128, 4096), "fp8", "NT", "precision=f8,mma=wgmma,promotion=1"),
    ("rows between vectors", (300, 301, 520), "f16", "NT", "mma=wgmma"),
    ("long sum by warps", (1, 1, 200_000), "f16", "NT", ""),
    ("long sum with a rest", (2, 1, 99_991), "f32", "NT", ""),
    ("long sum in parts", (64, 64, 200_000), "f16", "NT", ""),
    ("swapped", (48, 1024, 512), "f16", "NN", "mma=wgmma,swap_ab=on"),
    ("mma.sync", (200, 136, 264), "f16", "NN", "mma=mma_sync,mainloop=cp_async,stages=3"),
    ("wmma", (256, 256, 256), "f16", "NN", "mma=wmma"),
    ("double", (96, 80, 200), "f64", "NT", ""),
)  # fmt: skip
"""A name, m, n and k, a type, how A and B lie, and a schedule."""
PROGRAMS = (
    "attention_products", "conv_1x1", "dynamic_batch", "einsum_permuted", "int8", "linear_constant_weights", "lora",
    "matvec", "mlp_gelu_tanh", "grouped_heads", "qkv", "residual_scale", "scaled_rows", "swiglu", "two_products",
)  # fmt: skip


def saved(work: tuple[str, str, str, str, Path]) -> list[Path]:
    """Compiles one module, and writes a file for each stage that it went through."""
    from mlir_gemm.pipeline.driver import compile_module
    from mlir_gemm.spec.schedule import Schedule
    from mlir_gemm.spec.stages import STAGES

    name, text, schedule, chip, folder = work
    fields = Schedule.parse(schedule) if schedule else None
    compiled = compile_module(text, chip=chip, schedule=fields, keep=STAGES[:-1], until=STAGES[-2])
    files: list[Path] = []
    for stage in STAGES[:-1]:
        files.append(folder / f"{name.replace(' ', '_')}.{stage}.mlir")
        files[-1].write_text(compiled.ir(stage))
    return files


def ran(file: Path) -> tuple[int, str]:
    """The exit status of a run on the GPU, and what it said."""
    from mlir_gemm.tools.main import main

    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        status = main(["run", str(file), "--device", "gpu"])
    return status, said.getvalue()


def sources() -> list[tuple[str, str, str]]:
    """Names, texts and schedules."""
    from mlir_gemm.bench import modules, problems

    found: list[tuple[str, str, str]] = []
    for name, (m, n, k), dtype, layout, schedule in PRODUCTS:
        out = "f32" if dtype == "fp8" else problems.RESULTS[dtype]
        problem = problems.Problem("saved", m, n, k, dtype, out, layout)
        found.append((name, modules.module(problem), schedule))
    return [*found, *((name, (MODULES / f"{name}.mlir").read_text(), "") for name in PROGRAMS)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="only modules whose names hold this text")
    parser.add_argument("--jobs", type=int, default=min(os.cpu_count() or 4, 12))
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    from mlir_gemm.runtime.own_chip import default_chip

    os.environ["MLIR_GEMM_CACHE"] = tempfile.mkdtemp()
    folder, chip = Path(tempfile.mkdtemp()), default_chip()
    chosen = [each for each in sources() if options.only in each[0]]
    rows: list[dict[str, Any]] = []
    with ProcessPoolExecutor(options.jobs, multiprocessing.get_context("spawn")) as pool:
        files = list(pool.map(saved, [(*each, chip, folder) for each in chosen]))
        answers = pool.map(ran, [file for each in files for file in each])
        for (name, _, _), each in zip(chosen, files, strict=True):
            failed: dict[str, str] = {}
            for file in each:
                status, said = next(answers)
                if status:
                    failed[file.suffixes[-2][1:]] = said
            rows.append({"name": name, "stages": len(each), "failed": failed})
            print(f"{name}: {len(each) - len(failed)} of {len(each)} stages run", flush=True)
            for stage, said in failed.items():
                print(f"  {stage}: {said.strip()[-400:]}", flush=True)
    if options.output:
        driver = subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"],
                                capture_output=True, text=True, check=False).stdout.strip()  # fmt: skip
        head = {"chip": chip, "driver": driver, "date": time.strftime("%Y-%m-%d"), "command": sys.argv}
        options.output.write_text(json.dumps({**head, "rows": rows}, indent=0))
    return 1 if any(row["failed"] for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
