"""The elementary functions on all numbers: `python test/gpu/check_math.py`. Exit status 1 if an error is too large.

Applies each function to all 2^32 numbers of f32 on the GPU and prints the largest error in units of the last place,
against CUDA's functions in f64; then those of f64 to 2^26 numbers drawn by their bits and as many of middling size,
against CUDA's own, which are within 1 to 3 units themselves. Infinities, NaN and the signs of zeros must be right.
Takes about 20 s on an H200. Needs a GPU, PyTorch, and mlir-gemm installed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import torch

import mlir_gemm

COUNT = 1 << 26
"""Numbers of one launch."""
REFERENCES: dict[str, tuple[Callable[[Any], Any], float]] = {
    "exp": (torch.exp, 1.0), "exp2": (torch.exp2, 1.0), "expm1": (torch.expm1, 1.5), "log": (torch.log, 1.0),
    "log2": (torch.log2, 2.0), "log10": (torch.log10, 1.1), "log1p": (torch.log1p, 1.5), "tanh": (torch.tanh, 2.1),
    "erf": (torch.erf, 1.5), "rsqrt": (torch.rsqrt, 1.5), "sin": (torch.sin, 1.6), "cos": (torch.cos, 1.6),
    "sqrt": (torch.sqrt, 0.5), "floor": (torch.floor, 0.0), "roundeven": (torch.round, 0.0), "tan": (torch.tan, 0.52),
    "atan": (torch.atan, 0.52), "erfc": (torch.erfc, 0.52),
}  # fmt: skip
"""Each function in f64, and the error allowed."""
WIDE: dict[str, tuple[Callable[[Any], Any], float]] = {
    "exp2": (torch.exp2, 3), "expm1": (torch.expm1, 3), "log2": (torch.log2, 3), "log10": (torch.log10, 3),
    "log1p": (torch.log1p, 3), "sin": (torch.sin, 3), "cos": (torch.cos, 3), "tan": (torch.tan, 4),
    "atan": (torch.atan, 4), "asin": (torch.asin, 5), "acos": (torch.acos, 5), "sinh": (torch.sinh, 4),
    "cosh": (torch.cosh, 4), "asinh": (torch.asinh, 5), "acosh": (torch.acosh, 5), "atanh": (torch.atanh, 5),
    "erfc": (torch.erfc, 8), "exp": (torch.exp, 3), "log": (torch.log, 3), "tanh": (torch.tanh, 4),
}  # fmt: skip
"""Each function of f64 by CUDA, and the distance allowed: the errors of both."""


def kernel(name: str, type_: str = "f32") -> Any:
    """A kernel that applies a function of the dialect math to COUNT numbers."""
    return mlir_gemm.compile(f"""#map = affine_map<(i) -> (i)>
func.func @apply(%x: memref<{COUNT}x{type_}>, %y: memref<{COUNT}x{type_}>) {{
  linalg.generic {{indexing_maps = [#map, #map], iterator_types = ["parallel"]}}
      ins(%x : memref<{COUNT}x{type_}>) outs(%y : memref<{COUNT}x{type_}>) {{
  ^bb0(%in: {type_}, %out: {type_}):
    %r = math.{name} %in : {type_}
    linalg.yield %r : {type_}
  }}
  return
}}""")


def errors(got: Any, want: Any) -> Any:
    """Distances in units of the last place of the rounded exact value; infinite where a special value is wrong."""
    rounded = want.float()
    size = rounded.abs().clamp(max=torch.finfo(torch.float32).max).double()
    unit = torch.ldexp(torch.ones_like(want), (torch.frexp(size)[1] - 24).clamp(min=-149))
    special = ~torch.isfinite(got) | ~torch.isfinite(rounded)
    same = (torch.isnan(got) & torch.isnan(rounded)) | (got == rounded)
    distance = torch.where(special, torch.where(same, 0.0, float("inf")), (got.double() - want).abs() / unit)
    wrong_zero = (got == 0) & (want == 0) & (torch.signbit(got) != torch.signbit(want))
    return torch.where(wrong_zero, float("inf"), distance)


def worst(name: str, reference: Callable[[Any], Any]) -> tuple[float, float]:
    """The largest error of a function, and an argument that has it."""
    run, found = kernel(name), (0.0, 0.0)
    y = torch.empty(COUNT, device="cuda")
    for start in range(-(1 << 31), 1 << 31, COUNT):
        bits = torch.arange(start, start + COUNT, device="cuda", dtype=torch.int64)
        x = bits.to(torch.int32).view(torch.float32)
        run(x, y)
        distance = errors(y, reference(x.double()))
        at = int(distance.argmax())
        if float(distance[at]) > found[0]:
            found = float(distance[at]), float(x[at])
    return found


def worst_of_f64(name: str, reference: Callable[[Any], Any]) -> tuple[float, float]:
    """The largest distance from CUDA's own function of f64, and an argument that has it."""
    run, found = kernel(name, "f64"), (0.0, 0.0)
    y = torch.empty(COUNT, device="cuda", dtype=torch.float64)
    torch.manual_seed(0)
    bits = torch.randint(-(1 << 63), (1 << 63) - 1, (COUNT,), device="cuda", dtype=torch.int64)
    middling = torch.randn(COUNT, device="cuda", dtype=torch.float64)
    for x in (bits.view(torch.float64), middling * torch.exp2(10 * torch.rand_like(middling))):
        run(x, y)
        want = reference(x)
        unit = torch.ldexp(torch.ones_like(want), (torch.frexp(want.abs())[1] - 53).clamp(min=-1074))
        same = (torch.isnan(y) & torch.isnan(want)) | (y == want)
        distance = torch.where(same, 0.0, torch.where(torch.isfinite(y) & torch.isfinite(want), (y - want).abs() / unit,
                                                      float("inf")))  # fmt: skip
        at = int(distance.argmax())
        if float(distance[at]) > found[0]:
            found = float(distance[at]), float(x[at])
    return found


def main() -> int:
    wrong = 0
    for name, (reference, bound) in REFERENCES.items():
        error, argument = worst(name, reference)
        wrong += error > bound
        print(f"{name:10} {error:.3f} ulp at {argument!r}{'' if error <= bound else f'; expected at most {bound}'}")
    for name, (reference, bound) in WIDE.items():
        error, argument = worst_of_f64(name, reference)
        wrong += error > bound
        print(f"{name:10} {error:.3f} ulp of f64 from CUDA's at {argument!r}"
              f"{'' if error <= bound else f'; expected at most {bound}'}")  # fmt: skip
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
