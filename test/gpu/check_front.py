"""Runs the programs that PyTorch exported (`test/modules/front`) on the GPU of this machine, against float64.

    python check_front.py [-o RESULTS.json] [NAME...]

Memory that results and buffers will lie in is filled with NaN before each call, so that what is not written shows.
Programs with open sizes are called with several.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

PROGRAMS = Path(__file__).parent.parent / "modules" / "front"
TYPES = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "i64": "int64", "i1": "bool"}
POISONED = (1 << 12, 1 << 16, 1 << 20, 1 << 24)
"""Bytes of blocks that the allocator is left with, all NaN: it gives them out again."""
BLOCKS = 64


def cases() -> Any:
    """The table beside the modules."""
    spec = importlib.util.spec_from_file_location("front_cases", PROGRAMS / "cases.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def poison(torch: Any) -> None:
    """Leaves free memory full of ones: NaN in every floating-point type."""
    held = [
        torch.full((size,), 0xFF, dtype=torch.uint8, device="cuda")
        for size in POISONED
        for _ in range(BLOCKS if size < POISONED[-1] else 2)
    ]
    torch.cuda.synchronize()
    del held


def error(case: Any, kernel: Any, torch: Any, sizes: dict[tuple[int, int], int] | None = None) -> float:
    """The largest relative error of a program's results; infinite where one is no number."""
    rng = np.random.default_rng(len(case.name))
    made = [
        torch.from_numpy(np.asarray(case.made(number, rng, sizes))).to(getattr(torch, TYPES[case.dtype(number)]))
        for number in range(len(case.inputs))
    ]
    given = [x.cuda() for x in made]
    poison(torch)
    results = kernel(*given)
    torch.cuda.synchronize()
    wide = [x.double().numpy() if x.is_floating_point() else x.numpy() for x in made]
    wanted = case.reference(*wide)
    if not isinstance(wanted, tuple):
        results, wanted = (results,), (wanted,)
    found: list[float] = []
    for got, want in zip(results, wanted, strict=True):
        values, want = got.double().cpu().numpy(), np.asarray(want, np.float64)
        if values.shape != want.shape or not np.isfinite(values).all():
            return float("inf")
        found.append(float(np.linalg.norm(values - want) / (np.linalg.norm(want) or 1.0)))
    return max(found)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    import torch

    import mlir_gemm

    table = cases()
    rows: list[dict[str, Any]] = []
    for case in table.CASES:
        if options.names and case.name not in options.names:
            continue
        row: dict[str, Any] = {"name": case.name}
        rows.append(row)
        try:
            kernel = mlir_gemm.compile(PROGRAMS / f"{case.name}.mlir", device="gpu")
            found = [error(case, kernel, torch)]
            for size in case.sizes if case.open else ():
                found.append(error(case, kernel, torch, dict.fromkeys(case.open, size)))
        except mlir_gemm.Error as problem:
            row.update(refused=str(problem), ok=False)
            print("REFUSED", case.name, problem)
            continue
        row.update(errors=found, ok=max(found) <= case.tolerance)
        print("ok   " if row["ok"] else "WRONG", case.name, " ".join(f"{each:.1e}" for each in found))
    right = sum(row["ok"] for row in rows)
    print(f"{right} of {len(rows)} right")
    if options.output:
        options.output.write_text(json.dumps(rows, indent=1) + "\n")
    return int(right < len(rows))


if __name__ == "__main__":
    sys.exit(main())
