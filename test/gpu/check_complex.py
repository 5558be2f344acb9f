"""Runs complex products on the GPU of this machine next to PyTorch, and compares them with wider numbers.

    python test/gpu/check_complex.py [--sizes 4096] [--types complex64 complex128] [--no-further] [--three]
        [-o RESULTS.json]

In full f32, by tf32, in f64 and in f16: as the model chooses, by the schoolbook method and by fewest multiplications
where these are other kernels; with `--three` those are taken whatever is predicted. Errors, real and imaginary parts
apart, are those of some rows, to complex128 and of that to NumPy's longdouble. Data are random, results get memory that
held NaN, calls are interleaved, times the median of five rounds. Exit status 1 where an error is larger than it may be.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from launch_times import microseconds

CASES = {
    "complex64": ("complex64", None, False, 1e-5), "complex64 by tf32": ("complex64", "precision=tf32", True, 1e-3),
    "complex128": ("complex128", None, False, 1e-12), "complex half": ("complex32", None, False, 2e-3),
}  # fmt: skip
"""By name: PyTorch's type, our schedule, whether PyTorch may use tf32, and the largest error."""
SIZES = ((333, 257, 129), (64, 4096, 4096), (1000, 1000, 1000))
"""Further M, N, K."""
LAUNCHES = 10


ROWS = 4
"""Rows of which the error is measured."""


def errors_of(found: Any, a: Any, b: Any) -> dict[str, float]:
    """Relative errors of whole elements, of real and of imaginary parts, of the first rows."""
    wide = np.clongdouble if a.dtype == np.complex128 else np.complex128
    wanted = a[:ROWS].astype(wide) @ b.astype(wide)
    apart = found[:ROWS].astype(wide) - wanted
    parts = {"whole": (apart, wanted), "re": (apart.real, wanted.real), "im": (apart.imag, wanted.imag)}
    return {name: float(np.sqrt(np.sum(np.abs(x) ** 2) / np.sum(np.abs(y) ** 2))) for name, (x, y) in parts.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="*", default=[4096])
    parser.add_argument("--types", nargs="*", default=list(CASES), choices=list(CASES))
    parser.add_argument("--no-further", action="store_true", help="leave out the sizes of SIZES")
    parser.add_argument("--three", action="store_true", help="three products for `auto` and `fewest` at any size")
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    os.environ["MLIR_GEMM_CACHE"] = tempfile.mkdtemp()
    import torch

    import mlir_gemm
    from mlir_gemm.spec import bilinear_plans

    if options.three:
        bilinear_plans.part_of = lambda *_: 0.0

    rows: list[dict[str, Any]] = []
    bad = 0
    for m, n, k in (*((size,) * 3 for size in options.sizes), *(() if options.no_further else SIZES)):
        for name, (dtype, schedule, tf32, most) in ((each, CASES[each]) for each in options.types):
            kind = getattr(torch, dtype)
            wide = torch.complex64 if dtype == "complex32" else kind
            a, b = (torch.randn(shape, dtype=wide, device="cuda").to(kind) for shape in ((m, k), (k, n)))
            torch.backends.cuda.matmul.allow_tf32 = tf32
            calls: dict[str, Any] = {
                each: lambda a=a, b=b, s=schedule, each=each: mlir_gemm.einsum(
                    "mk,kn->mn", a, b, schedule=s, algorithm=each
                )
                for each in ("auto", "schoolbook", "fewest")
            }
            if dtype != "complex32":
                calls["PyTorch"] = lambda a=a, b=b: torch.mm(a, b)
            told = [each.to(wide).cpu().numpy() for each in (a, b)]
            errors: dict[str, dict[str, float]] = {}
            for each, call in calls.items():
                poison = torch.full((16 * m * n,), 0xFF, dtype=torch.uint8, device="cuda")
                del poison
                errors[each] = errors_of(call().to(wide).cpu().numpy(), *told)
            us = dict(zip(calls, microseconds(list(calls.values()), torch, LAUNCHES), strict=True))
            bad += any(each["whole"] > most for each in errors.values())
            rows.append({"case": name, "m": m, "n": n, "k": k, "us": us, "errors": errors})
            print(f"{name} {m}x{n}x{k}", flush=True)
            for each, time in us.items():
                told_errors = ", ".join(f"{part} {error:.1e}" for part, error in errors[each].items())
                print(f"    {each:10} {time:9.1f} us {8 * m * n * k / time / 1e6:6.1f} TFLOP/s, "
                      f"{us.get('PyTorch', float('nan')) / time:.2f} of PyTorch's speed, errors {told_errors}"
                      f"{'  WRONG' if errors[each]['whole'] > most else ''}", flush=True)  # fmt: skip
    if options.output:
        options.output.write_text(json.dumps({"device": torch.cuda.get_device_name(), "rows": rows}, indent=1))
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
