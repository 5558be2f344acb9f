"""Scatters that add up on a GPU, beside PyTorch's: `python test/gpu/check_scatter.py [-o OUT.json]`.

The gradient of an embedding and counts, against float64, outputs poisoned before; a second call must give the same
bits. Microseconds of calls in turn, the GPU held until they are queued. Exit status 1 if anything is wrong. Needs a GPU
and PyTorch.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from launch_times import microseconds, printed, writing

import mlir_gemm

TYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
TOLERANCE = {"f32": 1e-6, "f16": 1e-3, "bf16": 8e-3}
PROBLEMS = (  # updates, places, elements of a place, type; updates go to so many places
    (4096, 50257, 1024, "f32", 50257), (4096, 50257, 1024, "f32", 40), (4096, 32000, 4096, "bf16", 32000),
    (2048, 512, 768, "f16", 512), (65536, 64, 1, "f32", 64), (4000, 65, 3, "f32", 2),
)  # fmt: skip


def module(updates: int, places: int, width: int, element: str) -> str:
    """`x.index_put((at,), rows, accumulate=True)`."""
    x = f"tensor<{places}x{width}x{element}>"
    rows, at = f"tensor<{updates}x1x{width}x{element}>", f"tensor<{updates}x1xi64>"
    given = f"ins(%rows, %at : {rows}, {at}) outs(%x : {x})"
    return f"""func.func @main(%x: {x}, %at: {at}, %rows: {rows}) -> {x} {{
  %0 = tm_tensor.scatter {{dimension_map = array<i64: 0>}} unique_indices(false) {given} {{
  ^bb0(%a: {element}, %b: {element}):
    %1 = arith.addf %b, %a : {element}
    tm_tensor.yield %1 : {element}
  }} -> {x}
  return %0 : {x}
}}
"""


def checked(problem: tuple[int, int, int, str, int]) -> dict[str, Any]:
    """Runs one; what it found."""
    updates, places, width, element, used = problem
    type_, on = TYPES[element], {"device": "cuda"}
    kernel = mlir_gemm.compile(module(updates, places, width, element), device="gpu")
    x = torch.randn(places, width, dtype=type_, **on)
    rows = torch.randn(updates, 1, width, dtype=type_, **on)
    at = torch.randint(0, used, (updates, 1), **on)
    poisoned = [torch.full_like(x, float("nan")) for _ in range(2)]
    del poisoned
    found, again = kernel(x, at, rows), kernel(x, at, rows)
    wanted = x.double().index_put_((at[:, 0],), rows[:, 0].double(), accumulate=True)
    error = float((found.double() - wanted).norm() / wanted.norm())
    calls = [lambda: kernel(x, at, rows), lambda: x.index_put((at[:, 0],), rows[:, 0], accumulate=True)]
    own, theirs = microseconds(calls, torch, 10, writing(torch))
    right = error <= TOLERANCE[element] and torch.equal(found, again)
    return {"problem": problem, "right": right, "error": error, "same_bits": torch.equal(found, again),
            "us": own, "torch_us": theirs, "launches": len(kernel.launch.steps)}  # fmt: skip


if __name__ == "__main__":
    raise SystemExit(printed(__doc__, (checked(problem) for problem in PROBLEMS), torch))
