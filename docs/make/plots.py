"""Draws docs/images/random-h200.png from saved results, and portability-predicted.png with the model. `mlir-gemm bench
--report` draws blocks-h200.png.

python docs/make/plots.py    # needs matplotlib
"""

from __future__ import annotations

import json
import lzma
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "bench/results"
IMAGES = ROOT / "docs/images"
RANDOM = "2026-11-22-h200-random-14.json.xz"


def random_sizes(plt: Any) -> None:
    """Each product of sizes that nobody chose: its size, and how many times as fast as cuBLAS it is."""
    entries = json.loads(lzma.decompress((RESULTS / RANDOM).read_bytes()))["entries"]
    figure, axes = plt.subplots(figsize=(7, 3.4))
    for even, label, colour in ((True, "N a multiple of 8", "#1f5fc4"), (False, "other N", "#e08a2e")):
        mine = [each for each in entries if (each["problem"]["n"] % 8 == 0) == even]
        sizes = [2e-9 * each["problem"]["m"] * each["problem"]["n"] * each["problem"]["k"] for each in mine]
        times = [[each["figures"][who]["sustained"]["median"] for who in ("torch", "ours")] for each in mine]
        axes.scatter(sizes, [theirs / ours for theirs, ours in times], s=9, label=label, color=colour, alpha=0.75)
    axes.axhline(1.0, color="gray", linewidth=0.8)
    axes.set(xscale="log", yscale="log", xlabel="GFLOP", ylabel="times as fast as cuBLAS")
    axes.set_yticks([0.8, 1, 1.5, 2, 3, 5], ["0.8", "1", "1.5", "2", "3", "5"])
    axes.minorticks_off()
    axes.legend(frameon=False)
    axes.set_title("260 random sizes on an H200, launches back to back")
    figure.tight_layout()
    figure.savefig(IMAGES / "random-h200.png", dpi=110)


def portability(plt: Any) -> None:
    """What each GPU's best schedule of one product is worth on the others, as `mlir-gemm tune --plots` draws it."""
    from mlir_gemm.spec.problem import Problem
    from mlir_gemm.tuner import pictures
    from mlir_gemm.tuner.portability import matrix

    figure = pictures.portability(matrix(Problem(2048, 2048, 2048, out="f16", reads_c=False)), plt)
    figure.savefig(IMAGES / "portability-predicted.png", dpi=72)


def main() -> int:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    random_sizes(pyplot)
    portability(pyplot)
    return 0


if __name__ == "__main__":
    sys.exit(main())
