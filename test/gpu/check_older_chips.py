"""Compiles random products for chips that are not here, and runs their code on the GPU of this machine, sm_90 or later.

    python check_older_chips.py [--count 250] [--seed 1] [--jobs N] [--chips sm_70,sm_75,sm_89,sm_120] [-o RESULTS.json]

A later GPU runs the PTX of an earlier one, so that what the tensor cores of Volta, Turing and Ada are asked to do can
be checked on Hopper: its numbers, not its speed. Code for sm_120 does not run on sm_90: the table of chips is given a
chip with all that sm_120 has, by the name of sm_90. Products are those that a chip multiplies in a way of its own, in
all layouts, batches, odd sizes and epilogues, as `check_products.py` draws and checks them. Exit status 1 where one is
refused or wrong.
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

from check_products import DTYPES, compile_one, run_one
from random_products import Product, drawn

from mlir_gemm.tile_model.chips import CHIPS

KINDS = {
    "sm_70": {"f16": 1},
    "sm_75": {"f16": 3, "i8": 2},
    "sm_89": {"f8": 2, "f16": 1},
    "sm_120": {"f8": 2, "f16": 1, "i8": 1},
}
"""How often each kind is drawn for a chip."""
HALVES = "precision=f16"
"""Of the products of f16 with f16 results, half may add up in f16."""
STAND_IN = "sm_90"


def cases(chip: str, seed: int, count: int) -> list[tuple[Product, str]]:
    """Products, each with the fields that are fixed."""
    found: list[tuple[Product, str]] = []
    for number, product in enumerate(drawn(seed, count, KINDS[chip])):
        fields = "precision=f8" if product.kind == "f8" else ""
        # Sums in f16 are exact where they are small: of products of numbers up to 2, over few steps of k.
        if number % 2 and product.kind == product.out == "f16" and product.k <= 128:
            fields = HALVES
        found.append((product, fields))
    return found


def stands_in(chip: str) -> str:
    """What to compile for: the chip, or one that has all that it has and whose code runs here."""
    if chip != "sm_120":
        return chip
    CHIPS[STAND_IN] = dataclasses.replace(CHIPS[chip], chip=STAND_IN, features="+ptx84")
    return STAND_IN


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=250, help="products for each chip")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 4)
    parser.add_argument("--chips", default=",".join(KINDS))
    parser.add_argument("--compile-only", action="store_true", help="without a GPU")
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    os.environ["MLIR_GEMM_CACHE"] = tempfile.mkdtemp()
    others: list[dict[str, Any]] = []
    counts, done = collections.Counter[str](), "compiled" if options.compile_only else "right"
    for chip in options.chips.split(","):
        listed, compiled_for, start = cases(chip, options.seed, options.count), stands_in(chip), time.perf_counter()
        with ProcessPoolExecutor(options.jobs) as pool:
            refused = list(pool.map(compile_one, [(p, compiled_for, text) for p, text in listed], chunksize=4))
        for number, ((product, fields), reason) in enumerate(zip(listed, refused, strict=True)):
            wrong = reason
            if not reason and not options.compile_only:
                wrong = _run(product, compiled_for, fields, number)
            counts[f"{chip} {'refused' if reason else 'wrong' if wrong else done}"] += 1
            if wrong is not None:
                others.append(dataclasses.asdict(product) | {"chip": chip, "fields": fields, "wrong": wrong})
                print("WRONG", chip, product, fields, wrong[:300], flush=True)
        print(f"{chip}: {len(listed)} in {time.perf_counter() - start:.0f} s, {dict(counts)}", flush=True)
    if options.output:
        import torch

        result = {"device": torch.cuda.get_device_name(0), "seed": options.seed, "counts": counts, "others": others}
        options.output.write_text(json.dumps(result, indent=0))
    return 1 if others else 0


def _run(product: Product, chip: str, fields: str, number: int) -> str | None:
    import torch

    try:
        return run_one(product, chip, fields, torch, number)
    except Exception as error:  # to be reported with its case
        return f"{type(error).__name__}: {error}"


DTYPES["f8E4M3FN"] = "float8_e4m3fn"


if __name__ == "__main__":
    sys.exit(main())
