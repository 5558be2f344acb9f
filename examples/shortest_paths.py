"""Shortest paths between all places of a graph, by squaring its matrix of distances with minimum and plus.

After s squarings the matrix holds the shortest paths of at most 2^s steps. Runs on a GPU, or on the simulator.
"""

from __future__ import annotations

import numpy as np

import mlir_gemm


def shortest_paths(distances: np.ndarray, device: str = "auto") -> np.ndarray:
    """The lengths of the shortest paths, [places, places] in f32, infinity where there is none; 0 from each place to
    itself."""
    paths = distances.astype(np.float32)
    np.fill_diagonal(paths, 0)
    steps = 1
    while steps < len(paths) - 1:
        paths = mlir_gemm.einsum("ik,kj->ij", paths, paths, plus=np.minimum, times=np.add, device=device)
        steps *= 2
    return paths


def main() -> None:
    random = np.random.default_rng(0)
    places = 48
    distances = np.where(random.random((places, places)) < 0.08, random.integers(1, 20, (places, places)), np.inf)
    found = shortest_paths(distances)
    there = found[np.isfinite(found)]
    print(f"{len(there)} of {places**2} pairs have a path; the longest takes {there.max()}")


if __name__ == "__main__":
    main()
