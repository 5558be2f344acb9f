"""Schedules between which the model was undecided, or which nobody had measured, beside each other: right, and how
fast.

    python check_rivals.py -o RESULTS.jsonl [--seconds 60] [--only f64] [--dry]

Each product by the model's choice and by fields of its own, in the rounds of `check_twins.py`, after a check of each
against float64. Small tiles of f64 have k steps of 16 and of 32 elements; long products other numbers of slices, and
tiles whose boxes lie partly outside the operands, which are predicted slower than they are (docs/tuning.md). A line for
each schedule says its time. `--dry` needs no GPU: what compiles for an H100.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from check_twins import Bench


def _tiles(m: int, n: int, k: int) -> dict[str, Any]:
    """The fields of a small tile of f64."""
    return {"block": (m, n, k), "warp": (16, 16, 16), "mainloop": "cp_async", "stages": 4, "fragments_ahead": True}


def _slices(*parts: int) -> tuple[dict[str, Any], ...]:
    """The model's choice, and `wgmma` in so many slices, which have to be even."""
    return ({}, *({"mma": "wgmma", "split_k_workspace": each} for each in parts))


F64 = ({}, _tiles(32, 32, 16), _tiles(32, 32, 32), _tiles(16, 32, 16), _tiles(16, 32, 32))
PRODUCTS: tuple[tuple[tuple[Any, ...], tuple[dict[str, Any], ...]], ...] = (
    (("f64", 680, 184, 1760, "f64", "f64", "NT", "none"), F64),
    (("f64", 512, 128, 5504, "f64", "f64", "TT", "none"), F64),
    (("f64", 128, 1024, 3712, "f64", "f64", "NT", "none"), F64),
    (("f64", 392, 648, 936, "f64", "f64", "NT", "none"), F64),
    (("f64", 1024, 1024, 1024, "f64", "f64", "NN", "none"), F64),
    (("long", 40, 24, 470912, "bf16", "bf16", "NN", "none"), _slices(104, 208)),
    (("long", 88, 112, 191232, "f16", "f16", "NN", "none"), _slices(48, 72, 96)),
    (("long", 40, 48, 235200, "f16", "f16", "NN", "none"), _slices(60, 75, 120)),
    (("thin", 11, 1920, 5568, "f16", "f16", "NN", "none"), ({}, {"stream_k": 1}, {"stream_k": 2})),
)  # fmt: skip
CHIP = "sm_90a:h100sxm"


def dry(row: tuple[Any, ...], fields: dict[str, Any]) -> str:
    """The schedule that the fields leave on an H100."""
    import mlir_gemm
    from mlir_gemm.bench.modules import module
    from mlir_gemm.bench.problems import Problem

    kernel = mlir_gemm.compile(module(Problem(*row)), chip=CHIP, schedule=dict(fields), tuned="off")
    return str(kernel.kernels[0].schedule)


def measured(row: tuple[Any, ...], variants: tuple[dict[str, Any], ...], torch: Any) -> list[dict[str, Any]]:
    """A line for each variant that has a schedule: what it is, whether it is right, its median time."""
    from mlir_gemm.errors import Error

    bench = Bench(row, torch)
    lines: list[dict[str, Any]] = []
    runs: list[Callable[[], object]] = []
    for fields in variants:
        try:
            kernel = bench.compiled(dict(fields))
        except Error as error:
            print(f"{bench.problem.name:24} {fields}: {error}")
            continue
        run = bench.runner(kernel.load(0))
        verdict = bench.right(run)
        schedule = str(kernel.kernels[0].schedule)
        lines.append({"name": bench.problem.name, "fields": str(fields), "schedule": schedule, "right": verdict.right})
        runs.append(run)
    for line, us in zip(lines, bench.times(runs), strict=True):
        line["us"] = us
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=60, help="no product begins later")
    parser.add_argument("--only", default="", help="products of this kind: f64, long, thin")
    parser.add_argument("--dry", action="store_true", help="no GPU: what compiles")
    options = parser.parse_args()
    start = time.perf_counter()
    with options.output.open("w") as file:
        for row, variants in PRODUCTS:
            if time.perf_counter() - start > options.seconds:
                break
            if options.only not in row[0]:
                continue
            if options.dry:
                for fields in variants:
                    print(row[1:4], fields, dry(row, fields))
                continue
            import torch

            for line in measured(row, variants, torch):
                print(f"{line['name']:24} {line['us']:8.2f} us {line['fields']:40} {'' if line['right'] else 'WRONG'}")
                file.write(json.dumps({**line, "device": torch.cuda.get_device_name()}) + "\n")
                file.flush()


if __name__ == "__main__":
    main()
