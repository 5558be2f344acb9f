"""Compiles and runs many random products on the GPU of this machine and compares them with float64.

    python check_products.py [--count 3000] [--seed 1] [--jobs N] [--schedule TEXT] [-o RESULTS.json]

Every argument lies between guard zones: those of inputs (and the padding of their rows) hold NaN, which would show in
the result if it were read, those of the result hold a pattern, which must be there afterwards. Results start as NaN.
Inputs are small integers, so that every sum is exact: the result must be equal to the reference rounded once.
Kernels are compiled by a pool of processes into a cache in a temporary folder.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import json
import os
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from random_products import Product, drawn, strides

GUARD = 4096
"""Elements before and after each argument."""
DTYPES = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64", "i8": "int8", "i32": "int32"}
PATTERN = 77


def compile_one(work: tuple[Product, str, str]) -> str | None:
    """Compiles into the cache; the error as text, if there is one."""
    product, chip, schedule = work
    import mlir_gemm

    try:
        mlir_gemm.compile(product.module(), chip=chip, schedule=schedule or product.schedule or None)
    except mlir_gemm.Error as error:
        return str(error)
    except Exception as error:  # a fault of the compiler, to be reported with its case
        return f"INTERNAL {type(error).__name__}: {error}"
    return None


def guarded(torch: Any, shape: list[int], dtype: str, pad: int | None, fill: float) -> tuple[Any, Any]:
    """A flat buffer full of `fill`, and the view of it in which the argument lies."""
    steps = strides(shape, pad)
    extent = 1 + sum((size - 1) * step for size, step in zip(shape, steps, strict=True))
    start = -(-GUARD // 16) * 16
    whole = torch.full((start + extent + GUARD,), fill, dtype=getattr(torch, DTYPES[dtype]), device="cuda")
    return whole, whole.as_strided(shape, steps, start)


def run_one(product: Product, chip: str, schedule: str, torch: Any, seed: int) -> str | None:
    """What is wrong with a product, or None."""
    import mlir_gemm

    kernel = mlir_gemm.compile(product.module(), chip=chip, schedule=schedule or product.schedule or None)
    generator = torch.Generator("cuda").manual_seed(seed)
    tensors: dict[str, Any] = {}
    for name, shape, dtype in product.arguments:
        poison = float("nan") if not dtype.startswith("i") else PATTERN
        _, view = guarded(torch, shape, dtype, product.pad, poison)
        view.copy_(torch.randint(-2, 3, shape, generator=generator, device="cuda"))
        tensors[name] = view
    whole, target = None, None
    if product.pad is None:
        result = kernel(*tensors.values())
    else:
        whole, target = guarded(torch, product.shape("mn"), product.out, product.pad, PATTERN)
        target.fill_(float("nan") if product.out[0] != "i" else -1)
        kernel(*tensors.values(), target)
        result = target
    torch.cuda.synchronize()
    expected = product.reference(tensors, torch).to(result.dtype)
    if not torch.equal(result, expected):
        wrong = (result != expected).nonzero()
        first = wrong[0].tolist()
        found, wanted = result[tuple(first)].item(), expected[tuple(first)].item()
        return f"{len(wrong)} of {result.numel()} wrong, first at {first}: {found} != {wanted}"
    if whole is not None and target is not None:
        target.fill_(PATTERN)
        if not bool((whole == PATTERN).all()):
            return "the memory around the result was written"
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 4)
    parser.add_argument("--schedule", default="", help="fields to fix in every case")
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    os.environ["MLIR_GEMM_CACHE"] = tempfile.mkdtemp()
    import torch

    from mlir_gemm.runtime.own_chip import default_chip

    chip = default_chip()
    products = drawn(options.seed, options.count)
    start = time.perf_counter()
    with ProcessPoolExecutor(options.jobs) as pool:
        refused = list(pool.map(compile_one, [(p, chip, options.schedule) for p in products], chunksize=4))
    print(
        f"{len(products)} compiled in {time.perf_counter() - start:.0f} s, {sum(map(bool, refused))} refused",
        flush=True,
    )
    for reason, count in collections.Counter(r[:160] for r in refused if r).most_common(12):
        print(count, reason)
    found: list[dict[str, Any]] = []
    right = 0
    start = time.perf_counter()
    for number, (product, reason) in enumerate(zip(products, refused, strict=True)):
        if reason is not None:
            found.append(dataclasses.asdict(product) | {"refused": reason})
            continue
        try:
            wrong = run_one(product, chip, options.schedule, torch, number)
        except Exception as error:
            wrong = f"{type(error).__name__}: {error}"
        right += wrong is None
        if wrong is not None:
            found.append(dataclasses.asdict(product) | {"wrong": wrong})
            print("WRONG", product, wrong, flush=True)
            if "CUDA" in wrong or "illegal" in wrong or "cuda" in wrong:
                break
    print(f"{right} right of {len(products)}, run in {time.perf_counter() - start:.0f} s")
    if options.output:
        device = torch.cuda.get_device_name(0)
        result = {"device": device, "seed": options.seed, "count": options.count, "right": right, "others": found}
        options.output.write_text(json.dumps(result, indent=0))
    return 0 if right == len(products) else 1


if __name__ == "__main__":
    sys.exit(main())
