"""Random products by WMMA with A and B in all orders, on the GPU of this machine, in code for sm_70, sm_75, sm_80 and
sm_90; then the times of the four orders of the same tiles, staged and with B or A read in place.

    python check_wmma_orders.py [--count 64] [--jobs N] [--seconds 25] [--compile-only] [-o RESULTS.jsonl]

Operands are small integers between guard zones of NaN, results start as NaN and must be exact (`check_products.py`).
Each line of the file is a product with what is wrong, or a kernel with its time. What is in place across k is turned in
registers (MOVM), what is along k is not. Exit status 1 where one is refused or wrong.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import json
import os
import random
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from check_products import compile_one, run_one
from launch_times import microseconds
from random_products import Product

ORDERS = tuple(itertools.product(("mk", "km"), ("kn", "nk")))
CHIPS = ("sm_70", "sm_75", "sm_80", "sm_90")
TILES = (
    "block=64x64x32,warp=32x32x16", "block=128x64x32,warp=32x64x16", "block=64x128x64,warp=64x32x16",
    "block=64x64x32,warp=32x32x16,instruction=32x8x16", "block=64x64x32,warp=32x32x16,instruction=8x32x16",
)  # fmt: skip
WAYS = (
    "mainloop=register_prefetch", "mainloop=register_prefetch,stages=2", "mainloop=direct",
    "mainloop=cp_async,stages=3", "mainloop=cp_async,stages=2",
)  # fmt: skip
MORE = ("", "promote_a=off", "promote_b=off", "pad=0,pad_b=16", "fragments_ahead=on", "tiles_per_block=2", "unroll=off")
SIDE = 4096
TIMED = ("", "promote_b=off", "promote_a=off")
TIMED_TILES = "mma=wmma,block=64x128x16,warp=64x32x16,stages=2,mainloop=cp_async,raster=row"
"""Hofstra's best on an RTX A4000, with B in place and B as [N, K]."""


def drawn(number: int) -> tuple[Product, str, str]:
    """A product, a chip and a schedule that it takes."""
    rng = random.Random(f"orders {number}")
    (a, b), chip = ORDERS[number % len(ORDERS)], CHIPS[number // len(ORDERS) % len(CHIPS)]
    way = rng.choice(WAYS if chip in ("sm_80", "sm_90") else WAYS[:3])
    m, n, k = (128 * rng.randint(1, 4) for _ in "mnk")
    out, epilogue = rng.choice((("f32", "none"), ("f16", "relu"), ("f32", "accumulate"), ("f16", "bias_n")))
    product = Product(m, n, k, "f16", out=out, a_order=a, b_order=b, pad=rng.choice((None, 8)), epilogue=epilogue)
    return product, chip, ",".join(filter(None, ("mma=wmma", rng.choice(TILES), way, rng.choice(MORE))))


def check(count: int, jobs: int, seconds: float, compile_only: bool) -> list[dict[str, Any]]:
    """A line for each product that was tried: `wrong` says why, or is None."""
    cases, found = [drawn(number) for number in range(count)], list[dict[str, Any]]()
    with ProcessPoolExecutor(jobs) as pool:
        refused = list(pool.map(compile_one, cases, chunksize=2))
    start = time.perf_counter()
    for number, ((product, chip, text), wrong) in enumerate(zip(cases, refused, strict=True)):
        if wrong is None and not compile_only:
            if time.perf_counter() - start > seconds:
                break
            wrong = _run(product, chip, text, number)
        found.append({**dataclasses.asdict(product), "chip": chip, "fields": text, "wrong": wrong})
        if wrong is not None:
            print("WRONG", chip, product, text, wrong[:300], flush=True)
    return found


def _run(product: Product, chip: str, text: str, number: int) -> str | None:
    import torch

    try:
        return run_one(product, chip, text, torch, number)
    except Exception as error:  # to be reported with its case
        return f"{type(error).__name__}: {error}"


def times() -> list[dict[str, Any]]:
    """Microseconds of the same tiles in the four orders, in turn, each compared with float64 first."""
    import torch

    import mlir_gemm

    found, calls = list[dict[str, Any]](), list[Any]()
    generator = torch.Generator("cuda").manual_seed(0)
    a, b = (torch.randn((SIDE, SIDE), generator=generator, device="cuda").half() / 8 for _ in "ab")
    for (a_order, b_order), more in itertools.product(ORDERS, TIMED):
        text = ",".join(filter(None, (TIMED_TILES, more)))
        product = Product(SIDE, SIDE, SIDE, "f16", out="f32", a_order=a_order, b_order=b_order)
        kernel = mlir_gemm.compile(product.module(), chip="sm_80", schedule=text)
        left, right = a if a_order == "mk" else a.T, b if b_order == "kn" else b.T
        want, got = left.double() @ right.double(), kernel(a, b)
        error = ((got.double() - want).abs().max() / want.abs().max()).item()
        found.append({"orders": f"{a_order},{b_order}", "fields": text, "error": error, "wrong": None})
        if error > 1e-5:
            found[-1]["wrong"] = f"error {error:.1e}"
        calls.append(lambda kernel=kernel: kernel(a, b))
    for row, each in zip(found, microseconds(calls, torch, 3), strict=True):
        row["us"] = each
        print(f"{row['orders']} {row['fields']}: {each:.0f} us, error {row['error']:.0e}", flush=True)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=64)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 4)
    parser.add_argument("--seconds", type=float, default=25.0, help="for running, without compiling")
    parser.add_argument("--compile-only", action="store_true", help="without a GPU")
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    os.environ["MLIR_GEMM_CACHE"] = tempfile.mkdtemp()
    rows = check(options.count, options.jobs, options.seconds, options.compile_only)
    bad = sum(row["wrong"] is not None for row in rows)
    print(f"{len(rows)} products, {bad} refused or wrong", flush=True)
    if not options.compile_only:
        rows += times()
    if options.output:
        options.output.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return 1 if any(row["wrong"] is not None for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
