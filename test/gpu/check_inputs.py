"""Runs loops, numbers as arguments and open strides on the GPU of this machine, against the source in float64.

    python check_inputs.py [-o RESULTS.json]

Loops and numbers are the modules of `test/modules/loops` and `test/modules/scalars`, which the simulator runs in CI;
each is called twice, with other numbers. A product of open strides is called with dense, padded, transposed and sliced
tensors. Then the host's time of a call with two numbers beside that of one with none.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

MODULES = Path(__file__).parent.parent / "modules"
TOLERANCE = {"float32": 2e-5, "float16": 5e-3, "int64": 0.0}
OPEN = {"s0": 70, "s1": 33}
CALLS = 2000
A, B, C = "strided<[?, 1], offset: ?>", "strided<[?, ?], offset: ?>", "strided<[?, 1]>"
STRIDED = f"""func.func @strided(%A: memref<200x320xf16, {A}>, %B: memref<320x240xf16, {B}>,
                   %C: memref<200x240xf32, {C}>) {{
  linalg.matmul ins(%A, %B : memref<200x320xf16, {A}>, memref<320x240xf16, {B}>) outs(%C : memref<200x240xf32, {C}>)
  return
}}"""
SCALED = """#mn = affine_map<(m, n) -> (m, n)>
func.func @scaled(%A: tensor<256x256xf16>, %B: tensor<256x256xf16>NUMBERS) -> tensor<256x256xf32> {
  %z = arith.constant dense<0.0> : tensor<256x256xf32>
  %one = arith.constant 1.0 : f32
  %p = linalg.matmul ins(%A, %B : tensor<256x256xf16>, tensor<256x256xf16>) outs(%z : tensor<256x256xf32>)
       -> tensor<256x256xf32>
  %r = linalg.generic {indexing_maps = [#mn, #mn], iterator_types = ["parallel", "parallel"]}
       ins(%p : tensor<256x256xf32>) outs(%z : tensor<256x256xf32>) {
  ^bb0(%x: f32, %o: f32):
    %u = arith.mulf %x, ALPHA : f32
    %v = arith.addf %u, BETA : f32
    linalg.yield %v : f32
  } -> tensor<256x256xf32>
  return %r : tensor<256x256xf32>
}"""


def numbers(argument: Any, rng: np.random.Generator) -> Any:
    """A random number, or a random array, for an argument."""
    dtype = {"i1": "bool"}.get(argument.dtype, argument.dtype.replace("f", "float").replace("i", "int"))
    if argument.scalar:
        return float(rng.standard_normal()) if dtype.startswith("float") else int(rng.integers(0, 2))
    return np.asarray(rng.standard_normal(argument.shape) * 4).astype(dtype)


def relative(found: Any, want: Any) -> float:
    found, want = np.asarray(found, np.float64), np.asarray(want, np.float64)
    if not np.isfinite(found).all():
        return float("inf")
    return float(np.linalg.norm(found - want) / (np.linalg.norm(want) or 1.0))


def module_errors(path: Path, torch: Any) -> Iterator[tuple[float, str]]:
    """For each result of two calls its error and type."""
    import mlir_gemm
    from mlir_gemm.simulator.reference import evaluate_all

    kernel = mlir_gemm.compile(path, device="gpu")
    for seed in range(2):
        rng = np.random.default_rng(seed)
        arguments = (kernel.at(**{name: OPEN[name] for name in kernel.symbols})).launch.arguments
        given = [numbers(each, rng) for each in arguments if each.role != "result"]
        on_gpu = [torch.from_numpy(each).cuda() if isinstance(each, np.ndarray) else each for each in given]
        wanted, results, written = evaluate_all(path.read_text(), given)
        made = kernel(*on_gpu)
        torch.cuda.synchronize()
        made = () if made is None else made if isinstance(made, tuple) else (made,)
        pairs = [(on_gpu[number], wanted[number]) for number in written] + list(zip(made, results, strict=True))
        for got, want in pairs:
            yield relative(got.cpu().numpy(), want), str(got.dtype).removeprefix("torch.")


def strided_errors(torch: Any) -> Iterator[tuple[float, str]]:
    """A product of open strides, with tensors of four kinds; twice each."""
    import mlir_gemm

    kernel = mlir_gemm.compile(STRIDED, device="gpu")
    wide, tall, out = (torch.randn(*shape, device="cuda") for shape in ((400, 656), (656, 496), (200, 512)))
    wide, tall = wide.half(), tall.half()
    calls = (
        (wide[:200, :320].contiguous(), tall[:320, :240].contiguous(), out[:, :240].contiguous()),
        (wide[:200, 8:328], torch.randn(240, 320, device="cuda").half().T, out[:, :240]),
        (wide[::2, 16:336], tall[:640:2, :480:2], out[:, 256:496]),
        (wide[:200, 8:328], torch.randn(240, 328, device="cuda").half()[:, :320].T, out[:, :240]),
    )
    for left, right, result in (*calls, *calls):
        want = result.double() + left.double() @ right.double()
        kernel(left, right, result)
        torch.cuda.synchronize()
        yield relative(result.double().cpu().numpy(), want.cpu().numpy()), "float32"


def host_times(torch: Any) -> dict[str, float]:
    """Microseconds of the host for a call with two numbers, and with none."""
    import mlir_gemm

    a, b = (torch.randn(256, 256, device="cuda").half() for _ in range(2))
    found: dict[str, float] = {}
    for name, source, more in (
        ("none", SCALED.replace("NUMBERS", "").replace("ALPHA", "%one").replace("BETA", "%one"), ()),
        ("two", SCALED.replace("NUMBERS", ", %a: f32, %b: f32").replace("ALPHA", "%a").replace("BETA", "%b"), (2.0, 3)),
    ):
        kernel = mlir_gemm.compile(source, device="gpu")
        best = float("inf")
        for _ in range(5):
            torch.cuda.synchronize()
            start = time.perf_counter()
            for _ in range(CALLS):
                kernel(a, b, *more)
            best = min(best, (time.perf_counter() - start) / CALLS)
        found[name] = 1e6 * best
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    import torch

    rows: list[dict[str, Any]] = []
    checks = [(path.stem, module_errors(path, torch)) for kind in ("loops", "scalars")
              for path in sorted((MODULES / kind).glob("*.mlir"))]  # fmt: skip
    for name, errors in [*checks, ("strided", strided_errors(torch))]:
        found = list(errors)
        right = bool(found) and all(each <= TOLERANCE[dtype] for each, dtype in found)
        rows.append({"name": name, "errors": [each for each, _ in found], "ok": right})
        print("ok   " if right else "WRONG", name, " ".join(f"{each:.1e}" for each, _ in found))
    times = host_times(torch)
    print(f"host, a call of 256x256x256: {times['none']:.2f} us without numbers, {times['two']:.2f} us with two")
    right = sum(row["ok"] for row in rows)
    print(f"{right} of {len(rows)} right")
    if options.output:
        options.output.write_text(json.dumps({"checks": rows, "host_us": times}, indent=1) + "\n")
    return int(right < len(rows))


if __name__ == "__main__":
    sys.exit(main())
