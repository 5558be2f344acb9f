"""What holds a product back when it runs on and on, on the GPU of this machine: its own clocks, or the GPU's clock.

    python test/gpu/check_clocks.py [--sizes 2048 4096 8192] [--types i8 f8E4M3FN f16] [--chip h100] [-o RESULTS.json]

NT in blocks of 256x128, 128x256 and 128x128 (in turns), each for two seconds, while nvidia-smi says 20 times a second
at what clock the GPU runs and what power it draws. The time multiplied by the clock is how many clocks a product takes:
the same for two tiles where only power tells them apart. Results are compared with float64 first.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from statistics import mean
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from check_byte_layouts import Job, along, compiled, on_gpu, operands, wide
from random_products import Product

TILES = {
    "256x128": "block=256x128xK,warp=128x128xK",
    "128x256": "block=128x256xK,warp=64x256xK",
    "128x128 in turns": "block=128x128xK,warp=128x128xK,ping_pong=on,persistent=132",
}
SECONDS, FIRST = 2.0, 0.6
"""How long each runs, and the part at whose end the GPU has settled."""
SMI = ("nvidia-smi", "-i", "0", "--query-gpu=clocks.sm,power.draw", "--format=csv,noheader,nounits", "-lms", "50")


def watched(call: Any, torch: Any) -> dict[str, float]:
    """Microseconds of a call, the clock in MHz and the power in W meanwhile."""
    start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    for _ in range(10):
        call()
    stop.record()
    torch.cuda.synchronize()
    launches = max(10, int(SECONDS * 1e4 / start.elapsed_time(stop)))
    with subprocess.Popen(SMI, stdout=subprocess.PIPE, text=True) as smi:
        began, part = time.perf_counter(), max(1, launches // 8)
        events = [torch.cuda.Event(enable_timing=True) for _ in range(launches // part + 1)]
        events[0].record()
        for event in events[1:]:
            for _ in range(part):
                call()
            event.record()
            if time.perf_counter() - began < SECONDS / 2:
                event.synchronize()
        torch.cuda.synchronize()
        smi.terminate()
        said = smi.communicate()[0]
    rows = [[float(each) for each in line.split(",")] for line in said.splitlines() if line.count(",") == 1]
    settled = rows[int(len(rows) * FIRST / SECONDS) :] or rows
    half = len(events) // 2
    us = events[half].elapsed_time(events[-1]) * 1e3 / (part * (len(events) - 1 - half))
    return {"us": us, "MHz": mean(row[0] for row in settled), "W": mean(row[1] for row in settled)}


def made(element: str, size: int, tiles: str, chip: str, torch: Any) -> tuple[Any, bool]:
    """A call of a product, and whether it is right."""
    import mlir_gemm

    if element != "f16":
        job = Job(size, size, size, element, ("mk", "nk"), tiles.replace("K", "128"), None, chip)
        given = operands(job, 3)
        a, b = (on_gpu(each, torch) for each in given)
        left, right = along(*(torch.from_numpy(wide(each, job)).cuda() for each in given), job)
        kernel = compiled(job)
        return lambda: kernel(a, b), torch.equal(kernel(a, b).double(), left @ right)
    product = Product(size, size, size, "f16", out="f16", b_order="nk")
    kernel = mlir_gemm.compile(product.module(), chip, schedule=f"mma=wgmma,{tiles.replace('K', '64')}")
    a, b = (torch.randn(size, size, device="cuda").half() for _ in range(2))
    wanted = a.double() @ b.double().T
    right = (kernel(a, b).double() - wanted).abs().max() < 2e-3 * wanted.abs().max()
    return lambda: kernel(a, b), bool(right)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="*", default=[4096, 8192])
    parser.add_argument("--types", nargs="*", default=["i8", "f8E4M3FN", "f16"])
    parser.add_argument("--chip", default="h100")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    import torch

    start, rows = time.perf_counter(), list[dict[str, Any]]()
    for element in options.types:
        for size in options.sizes:
            for name, tiles in TILES.items():
                if time.perf_counter() - start > options.seconds:
                    continue
                call, right = made(element, size, tiles, options.chip, torch)
                row = {"element": element, "size": size, "tile": name, "right": right, **watched(call, torch)}
                row["clocks"] = row["us"] * row["MHz"]
                rows.append(row)
                print({key: round(value, 1) if isinstance(value, float) else value for key, value in row.items()},
                      flush=True)  # fmt: skip
    if options.output:
        options.output.write_text(json.dumps({"device": torch.cuda.get_device_name(), "rows": rows}, indent=1))
    return int(not all(row["right"] for row in rows))


if __name__ == "__main__":
    sys.exit(main())
