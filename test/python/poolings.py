"""Poolings as MLIR, for tests and checks on a GPU; and what they are in float64."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np

COMBINE = {
    "max": ("arith.maximumf", "0xFF800000"),
    "min": ("arith.minimumf", "0x7F800000"),
    "sum": ("arith.addf", "0.0"),
}


@dataclass(frozen=True)
class Pooling:
    """Of `n` images of `size` pixels of `c` channels, which are second unless `last`."""

    n: int
    size: tuple[int, int]
    c: int
    window: tuple[int, int]
    stride: tuple[int, int]
    dilation: tuple[int, int]
    padding: tuple[int, int]
    kind: str
    last: bool

    @property
    def places(self) -> list[int]:
        return [
            (size + 2 * padding - dilation * (window - 1) - 1) // stride + 1
            for size, padding, dilation, window, stride in zip(
                self.size, self.padding, self.dilation, self.window, self.stride, strict=True
            )
        ]

    def ordered(self, rows: object, columns: object, channels: object) -> list[object]:
        return [rows, columns, channels] if self.last else [channels, rows, columns]

    def text(self) -> str:
        combine, start = COMBINE[self.kind]
        padded = [size + 2 * padding for size, padding in zip(self.size, self.padding, strict=True)]
        image, wide, out = (
            f"tensor<{'x'.join(map(str, [self.n, *self.ordered(*pixels, self.c)]))}xf32>"
            for pixels in (self.size, padded, self.places)
        )
        low = self.ordered(*self.padding, 0)
        steps = zip(self.stride, "ij", self.dilation, "uv", strict=True)
        read = self.ordered(*(f"{step} * {i} + {apart} * {u}" for step, i, apart, u in steps), "c")
        maps = [f"n, {', '.join(map(str, read))}", "u, v", f"n, {', '.join(map(str, self.ordered('i', 'j', 'c')))}"]
        indexing = ", ".join(f"affine_map<(n, i, j, c, u, v) -> ({each})>" for each in maps)
        return f"""
        func.func @pool(%x: {image}) -> {out} {{
          %start = arith.constant {start} : f32
          %p = tensor.pad %x low[0, {", ".join(map(str, low))}] high[0, {", ".join(map(str, low))}] {{
          ^bb0(%p0: index, %p1: index, %p2: index, %p3: index):
            tensor.yield %start : f32
          }} : {image} to {wide}
          %e = tensor.empty() : {out}
          %f = linalg.fill ins(%start : f32) outs(%e : {out}) -> {out}
          %w = tensor.empty() : tensor<{self.window[0]}x{self.window[1]}xf32>
          %r = linalg.generic {{indexing_maps = [{indexing}],
              iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}}
              ins(%p, %w : {wide}, tensor<{self.window[0]}x{self.window[1]}xf32>) outs(%f : {out}) {{
          ^bb0(%a: f32, %b: f32, %t: f32):
            %s = {combine} %t, %a : f32
            linalg.yield %s : f32
          }} -> {out}
          return %r : {out}
        }}"""

    def expected(self, image: np.ndarray) -> np.ndarray:
        """In float64, pixel by pixel of the window."""
        function, start = {"max": (np.maximum, -np.inf), "min": (np.minimum, np.inf), "sum": (np.add, 0)}[self.kind]
        x = image.astype(np.float64) if self.last else image.astype(np.float64).transpose(0, 2, 3, 1)
        (up, left), (rows, columns) = self.padding, self.places
        x = np.pad(x, ((0, 0), (up, up), (left, left), (0, 0)), constant_values=start)
        total = np.full((self.n, rows, columns, self.c), start, np.float64)
        for u in range(self.window[0]):
            for v in range(self.window[1]):
                part = x[:, u * self.dilation[0] :, v * self.dilation[1] :]
                total = function(total, part[:, :: self.stride[0], :: self.stride[1]][:, :rows, :columns])
        return total if self.last else total.transpose(0, 3, 1, 2)


def random_pooling(seed: int) -> Pooling:
    """One of small sizes."""
    rng = random.Random(seed)

    def pair(least: int, most: int) -> tuple[int, int]:
        return rng.randint(least, most), rng.randint(least, most)

    window = pair(1, 4)
    return Pooling(
        rng.randint(1, 3), pair(9, 14), rng.choice([3, 8, 20]), window, pair(1, 3), pair(1, 2),
        (rng.randint(0, window[0] - 1), rng.randint(0, window[1] - 1)), rng.choice([*COMBINE]), rng.random() < 0.6,
    )  # fmt: skip
