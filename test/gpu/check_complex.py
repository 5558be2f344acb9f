"""Runs complex products on the GPU of this machine next to PyTorch, and compares them with complex128.

    python test/gpu/check_complex.py [--size 4096] [-o RESULTS.json]

In full f32, by tf32, in f64 and in f16; data are random, results get memory that held NaN, calls are interleaved, times
the median of five rounds. Exit status 1 where an error is larger than it may be.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from launch_times import microseconds

CASES = {
    "complex64": ("complex64", None, False, 1e-5), "complex64 by tf32": ("complex64", "precision=tf32", True, 1e-3),
    "complex128": ("complex128", None, False, 1e-12), "complex half": ("complex32", None, False, 2e-3),
}  # fmt: skip
"""By name: PyTorch's type, our schedule, whether PyTorch may use tf32, and the largest error."""
SIZES = ((333, 257, 129), (64, 4096, 4096), (1000, 1000, 1000))
"""Further M, N, K."""
LAUNCHES = 10


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=4096)
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    os.environ["MLIR_GEMM_CACHE"] = tempfile.mkdtemp()
    import torch

    import mlir_gemm

    rows: list[dict[str, Any]] = []
    bad = 0
    for m, n, k in ((options.size,) * 3, *SIZES):
        for name, (dtype, schedule, tf32, most) in CASES.items():
            kind = getattr(torch, dtype)
            wide = torch.complex64 if dtype == "complex32" else kind
            a, b = (torch.randn(shape, dtype=wide, device="cuda").to(kind) for shape in ((m, k), (k, n)))
            torch.backends.cuda.matmul.allow_tf32 = tf32

            def ours(a: Any = a, b: Any = b, schedule: str | None = schedule) -> Any:
                return mlir_gemm.einsum("mk,kn->mn", a, b, schedule=schedule)

            def theirs(a: Any = a, b: Any = b) -> Any:
                return torch.mm(a, b)

            poison = torch.full((16 * m * n,), 0xFF, dtype=torch.uint8, device="cuda")
            del poison
            found = ours()
            wanted = a.to(torch.complex128) @ b.to(torch.complex128)
            error = float((found.to(torch.complex128) - wanted).norm() / wanted.norm())
            try:
                theirs()
                times = microseconds([ours, theirs], torch, LAUNCHES)
                their_error = float((theirs().to(torch.complex128) - wanted).norm() / wanted.norm())
            except RuntimeError as refused:
                print(f"{name}: PyTorch refuses: {str(refused).splitlines()[0]}")
                times, their_error = [microseconds([ours], torch, LAUNCHES)[0], float("nan")], float("nan")
            rate = 8 * m * n * k / times[0] / 1e6
            bad += error > most
            rows.append({"case": name, "m": m, "n": n, "k": k, "us": times[0], "torch_us": times[1], "error": error,
                         "torch_error": their_error, "tflops": rate})  # fmt: skip
            print(f"{name:18} {m}x{n}x{k}: {times[0]:9.1f} us {rate:6.1f} TFLOP/s, PyTorch {times[1]:9.1f} "
                  f"({times[1] / times[0]:.2f}), error {error:.1e}, PyTorch {their_error:.1e}"
                  f"{'  WRONG' if error > most else ''}", flush=True)  # fmt: skip
    if options.output:
        options.output.write_text(json.dumps({"device": torch.cuda.get_device_name(), "rows": rows}, indent=1))
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
