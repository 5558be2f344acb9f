"""A kernel of one's own, tile by tile: D = max(A B + F G + bias, 0), two products with sums over k of different lengths
in one kernel, whose sums never leave registers.

No single product of linear algebra says this; cuBLAS takes two calls, of which the second reads and writes D again.
Tiles are projected, parallelised and joined as in Faingnaert's thesis; the compiler's passes do the rest. Runs on a
GPU, or on the simulator.
"""

from __future__ import annotations

import numpy as np

import mlir_gemm
from mlir_gemm import Tile, TileKernel


def two_products(m: int, n: int, k: int, other_k: int, chip: str = "sm_80") -> TileKernel:
    """The kernel for A of [m, k], B of [k, n], F of [m, other_k], G of [n, other_k], and a bias of [n]."""
    block = Tile(m=64, n=64, k=32)
    kernel = TileKernel("two_products", Tile(m=m, n=n, k=k), block, chip=chip)
    a, b = kernel.reads("A", "mk", (m, k)), kernel.reads("B", "kn", (k, n))
    f, g = kernel.reads("F", "mk", (m, other_k)), kernel.reads("G", "nk", (n, other_k))
    bias = kernel.reads("bias", "n", (n,), "f32")
    d = kernel.writes("D", "mn", (m, n), "f16")
    for tile in kernel.parallelise(Tile(m=m, n=n), by=block.project("mn")):
        total = kernel.zeros(tile)
        for left, right, length in ((a, b, k), (f, g, other_k)):
            for step in kernel.walk(Tile(k=length), by=block.project("k")):
                total.add_product(left, right, tile.join(step))
        value = total.value + kernel.load(bias, tile)
        kernel.store(value.maximum(0.0), d, tile)
    return kernel


def main() -> None:
    m, n, k, other_k = 200, 136, 96, 72
    random = np.random.default_rng(0)
    shapes = ((m, k), (k, n), (m, other_k), (n, other_k))
    a, b, f, g = (random.standard_normal(shape).astype(np.float16) for shape in shapes)
    bias = random.standard_normal(n).astype(np.float32)
    kernel: mlir_gemm.Kernel = two_products(m, n, k, other_k).compile()
    wanted = np.maximum(a.astype(np.float64) @ b + f.astype(np.float64) @ g.T + bias, 0)
    error = np.abs(kernel(a, b, f, g, bias) - wanted).max() / wanted.max()
    print(f"D = max(A B + F G + bias, 0) for {m}x{n}, k {k} and {other_k}: largest error {error:.1e} of the largest")


if __name__ == "__main__":
    main()
