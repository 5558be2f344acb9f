"""An algebra of one's own: the Fourier transform of six points in whole numbers, by the Eisenstein integers.

An Eisenstein integer is a + b w, where w is a third root of one: w^2 = -1 - w. Sixth roots of one are among them, so
that a transform of six points needs no fractions, and there and back again gives the signal times 6, exactly. The
compiler has never heard of these numbers: what it is told is the product of two of them. Runs on a GPU, or on the
simulator.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import mlir_gemm

EISENSTEIN = mlir_gemm.Bilinear(
    "eisenstein",
    constants=[[[1, 0], [0, 1]],  # 1 * 1 = 1, 1 * w = w
               [[0, 1], [-1, -1]]],  # w * 1 = w, w * w = -1 - w
    # Three multiplications in place of four: a c, b d and (a + b) (c + d). Used where they are faster.
    algorithm=([[1, 0], [0, 1], [1, 1]], [[1, 0], [0, 1], [1, 1]], [[1, -1, 0], [-1, -2, 1]]),
)  # fmt: skip
POINTS = 6


def powers_of_a_sixth_root() -> np.ndarray:
    """-w^2 = 1 + w to the powers 0 to 5, [6, 2]."""
    found = [np.array([1, 0])]
    for _ in range(POINTS - 1):
        a, b = found[-1]
        found.append(np.array([a - b, a]))  # (a + b w) (1 + w) = a - b + a w
    return np.stack(found)


def transform(signals: np.ndarray, back: bool = False, **options: Any) -> np.ndarray:
    """The transforms of columns of Eisenstein integers, [6, columns, 2]; with `back` the other way, times 6."""
    exponents = np.outer(np.arange(POINTS), np.arange(POINTS)) % POINTS
    matrix = powers_of_a_sixth_root()[-exponents % POINTS if back else exponents].astype(np.float32)
    return mlir_gemm.einsum("fp,pc->fc", matrix, signals.astype(np.float32), algebra="eisenstein", **options)


def main() -> None:
    mlir_gemm.register(EISENSTEIN)
    signals = np.random.default_rng(0).integers(-20, 21, (POINTS, 100, 2))
    spectra = transform(signals)
    again = transform(spectra, back=True)
    print(f"largest part of a spectrum {spectra.max():.0f}; back again exactly: {bool(np.all(again == 6 * signals))}")


if __name__ == "__main__":
    main()
