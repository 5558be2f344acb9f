"""A random part of Hofstra's space (`bench/paper_space.py`) on the GPU of this machine, for docs/papers-tuned.md.

    python test/gpu/check_papers_space.py [--count 240] [--few 60] [--seconds 100] [--jobs 16] [--compile-only]
                                          [-o bench/results/DATE-GPU-hofstra-space.json]

`--count` configurations of 4096 x 4096 x 4096 and `--few` of each smaller product of his, drawn from all that are legal
on the chip, each the same chance. Each is compared with float64 first, then all of a product are timed in turn
(`check_parameters.py`). For each product the rank correlation of measured and predicted times is printed, and the
table of his figures with what was measured. Exit status 1 where a result is wrong.
"""

from __future__ import annotations

import argparse
import datetime
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

from check_parameters import Timed, measure
from check_products import compile_one

from mlir_gemm.bench import paper_space
from mlir_gemm.bench.paper_report import spearman
from mlir_gemm.spec.schedule import Schedule

SMALL = 1e10
"""Floating-point operations under which the host takes longer to launch a kernel than the GPU to run it."""
QUEUED, HELD = 20, 3_000_000
"""Launches of such kernels in a burst, and cycles that the GPU is held until they are queued."""
CHUNK = 40
"""Kernels that are timed in turn: those of the first of each are in all of them, so that clocks can be compared."""


def drawn(size: tuple[int, int, int], count: int, chip: str) -> list[Timed]:
    """Configurations with their predicted times, the fastest of all by prediction first."""
    rates = paper_space.predicted(chip, size)
    first = max(rates, key=lambda fields: rates[fields])
    rest = random.Random(0).sample(sorted(each for each in rates if each != first), min(count, len(rates)) - 1)
    order = (*size, "kn")
    return [
        Timed(order, chip, "f16", "f32", fields, str(Schedule.make(Schedule.parse(fields))), rates[fields])
        for fields in (first, *rest)
    ]


def timed(group: list[Timed], torch: Any, end: float) -> list[dict[str, Any]]:
    """All of a group, in chunks that the first kernel has a part in; times are put in proportion to that kernel's."""
    found: list[dict[str, Any]] = []
    m, n, k, _ = group[0].size
    held = (lambda: torch.cuda._sleep(HELD), QUEUED) if 2 * m * n * k < SMALL else ()
    for start in range(1, len(group), CHUNK):
        if time.perf_counter() > end:
            print(f"stopped after {start} of {len(group)}: --seconds are over", flush=True)
            break
        rows = measure([group[0], *group[start : start + CHUNK]], torch, *held)
        scale = found[0]["us"] / rows[0]["us"] if found else 1.0
        for row in rows[1 if found else 0 :]:
            found.append({**row, "us": row["us"] * scale})
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chip", default="h100")
    parser.add_argument("--count", type=int, default=240)
    parser.add_argument("--few", type=int, default=60)
    parser.add_argument("--seconds", type=float, default=100)
    parser.add_argument("--jobs", type=int, default=16)
    parser.add_argument("--compile-only", action="store_true", help="without a GPU")
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    os.environ["MLIR_GEMM_CACHE"] = tempfile.mkdtemp()
    begun = time.perf_counter()
    sizes = dict.fromkeys(claim.size for claim in paper_space.claims())
    whole = paper_space.Claim.size
    groups = [drawn(size, options.count if size == whole else options.few, options.chip) for size in sizes]
    with ProcessPoolExecutor(options.jobs) as pool:
        works = [(each.product, each.chip, each.text) for group in groups for each in group]
        failed = [reason for reason in pool.map(compile_one, works) if reason]
    print(f"{len(works)} kernels at {time.perf_counter() - begun:.0f} s", *failed, sep="\n", flush=True)
    if options.compile_only or failed:
        return bool(failed)
    import torch

    rows: list[dict[str, Any]] = []
    for group in sorted(groups, key=len):
        found = timed(group, torch, begun + options.seconds)
        rho = spearman([row["predicted"] for row in found], [1 / row["us"] for row in found])
        wrong = [row["fields"] for row in found if not row["right"]]
        print(f"{group[0].size}: {len(found)} timed, rank correlation {rho:.3f}; wrong: {wrong or 'none'}", flush=True)
        rows += [
            {"size": row["size"][:3], "fields": row["fields"], "seconds": row["us"] / 1e6, "right": row["right"],
             "predicted": row["predicted"]}
            for row in found
        ]  # fmt: skip
        if options.output:
            data = {
                "command": " ".join(sys.argv), "device": torch.cuda.get_device_name(0),
                "date": datetime.date.today().isoformat(), "chip": options.chip, "rows": rows,
            }  # fmt: skip
            options.output.write_text(json.dumps(data, indent=0))
    if options.output:
        print("\n\n".join(paper_space.section(paper_space.sample(options.output))))
    return 0 if all(row["right"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
