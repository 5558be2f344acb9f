"""The elementary functions on all numbers: `python test/gpu/check_math.py`. Exit status 1 if an error is too large.

Applies each function of `dialect/functions/approximations.py` to all 2^32 numbers of f32 on the GPU and prints the
largest error in units of the last place, against CUDA's functions in f64. Infinities, NaN and the signs of zeros must
be right. Takes about 15 s on an H200. Needs a GPU, PyTorch, and mlir-gemm installed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import torch

import mlir_gemm

COUNT = 1 << 26
"""Numbers of one launch."""
LARGEST_ANGLE = 2.0**30
REFERENCES: dict[str, tuple[Callable[[Any], Any], float]] = {
    "exp": (torch.exp, 1.0), "exp2": (torch.exp2, 1.0), "expm1": (torch.expm1, 1.5), "log": (torch.log, 1.0),
    "log2": (torch.log2, 2.0), "log10": (torch.log10, 1.1), "log1p": (torch.log1p, 1.5), "tanh": (torch.tanh, 2.1),
    "erf": (torch.erf, 1.5), "rsqrt": (torch.rsqrt, 1.5), "sin": (torch.sin, 1.6), "cos": (torch.cos, 1.6),
    "sqrt": (torch.sqrt, 0.5), "floor": (torch.floor, 0.0), "roundeven": (torch.round, 0.0),
}  # fmt: skip
"""Each function in f64, and the error allowed."""


def kernel(name: str) -> Any:
    """A kernel that applies a function of the dialect math to COUNT numbers."""
    return mlir_gemm.compile(f"""#map = affine_map<(i) -> (i)>
func.func @apply(%x: memref<{COUNT}xf32>, %y: memref<{COUNT}xf32>) {{
  linalg.generic {{indexing_maps = [#map, #map], iterator_types = ["parallel"]}}
      ins(%x : memref<{COUNT}xf32>) outs(%y : memref<{COUNT}xf32>) {{
  ^bb0(%in: f32, %out: f32):
    %r = math.{name} %in : f32
    linalg.yield %r : f32
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
        if name in ("sin", "cos"):
            refused = torch.where(torch.isnan(y), 0.0, float("inf"))
            distance = torch.where(x.abs() <= LARGEST_ANGLE, distance, refused)
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
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
