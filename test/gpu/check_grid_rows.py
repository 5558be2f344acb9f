"""Rows that all blocks of a grid share, on the GPU of this machine: whether such kernels are right, and never wait for
ever.

    python test/gpu/check_grid_rows.py [--random N --seed S] [-o OUT]

Each kernel runs three times on outputs of NaN: compared with float64, and bit by bit with each other. Rows with NaN,
infinities, parts and wholes of nothing but -inf, and a large mean are compared with eager PyTorch. Then two kernels
run on two streams at once, hundreds of launches each, kernels that overlap their starts run between others, and calls
captured in graphs are launched on another stream. What takes longer than a minute is a deadlock: exit code 4. A kernel
with more blocks than fit must be refused with a message. A line of JSON for each.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import signal
import sys
import time
from pathlib import Path
from typing import Any

from check_row_schedules import pinned

import mlir_gemm
from mlir_gemm.bench.function_measure import error_of
from mlir_gemm.bench.functions import Rows, of_rows
from mlir_gemm.errors import DeviceError
from mlir_gemm.spec.rows import RowSchedule

CHIP, LIMIT = "sm_90a", 60
LISTED = [
    Rows("softmax", 8, 1000000, "f32"), Rows("softmax", 1, 10000000, "f32"), Rows("softmax", 1, 10000000, "f16"),
    Rows("layer_norm", 4, 2000000, "f32"), Rows("rms_norm", 3, 1000001, "bf16"), Rows("log_softmax", 5, 700001, "f16"),
    Rows("softmax", 1, 600000, "f32"), Rows("layer_norm", 12, 100000, "f32"), Rows("layer_norm", 1, 10000000, "f32"),
    Rows("softmax", 8, 400000, "f16"), Rows("softmax", 64, 100000, "f32"), Rows("softmax", 37, 1500001, "f16"),
    Rows("layer_norm", 100, 600000, "f32"),
]  # fmt: skip
SPECIAL = [
    Rows("softmax", 8, 400000, "f32"), Rows("softmax", 8, 1000000, "f32"), Rows("log_softmax", 8, 400001, "f16"),
    Rows("layer_norm", 8, 400000, "f32"), Rows("layer_norm", 12, 100000, "f32"), Rows("softmax", 64, 100000, "f32"),
]  # fmt: skip
KINDS = ["softmax", "log_softmax", "layer_norm", "layer_norm", "rms_norm"]
WORSE, NOISE = 1.1, 2.0**-22
OPEN = """func.func @softmax(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %r = linalg.softmax dimension(1) ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}"""
"""Rows whose number and length are known at run time only."""


def drawn(count: int, seed: int) -> list[Rows]:
    """Random rows that blocks of the grid share."""
    generator, found = random.Random(seed), list[Rows]()
    while len(found) < count:
        m, element = generator.randint(1, 12), generator.choice(["f32", "f16", "bf16"])
        n = int(2 ** generator.uniform(17, 23.5)) // m
        bytes_ = m * n * (4 if element == "f32" else 2)
        if 2 << 20 <= bytes_ <= 36 << 20:
            found.append(Rows(generator.choice(KINDS), m, n, element))
    return found


class Case:
    """A kernel with its arguments."""

    def __init__(self, torch: Any, rows: Rows) -> None:
        self.rows, self._torch = rows, torch
        self.kernel = mlir_gemm.compile(of_rows(rows).source, chip=CHIP)
        self.drawn = of_rows(rows).draw(torch, 0)
        self.arguments = [*self.drawn.inputs, *self.drawn.outputs]
        self.exact = self.drawn.exact()
        self.least = error_of([self.drawn.run()], self.exact)

    @property
    def grids(self) -> list[int]:
        return [each.rows.grid for each in self.kernel.kernels if each.rows is not None]

    @property
    def paired(self) -> bool:
        return any(each.rows.paired for each in self.kernel.kernels if each.rows is not None)

    def error(self) -> float:
        return error_of(self.drawn.outputs, self.exact)

    @property
    def is_right(self) -> bool:
        return self.error() <= max(WORSE * self.least, self.drawn.noise, NOISE)

    def poison(self) -> None:
        for out in self.drawn.outputs:
            out.fill_(math.nan)

    def run(self) -> None:
        self.kernel(*self.arguments)

    def check(self) -> dict[str, Any]:
        """Three runs."""
        bits: list[Any] = []
        right = True
        for _ in range(3):
            self.poison()
            self.run()
            right = right and self.is_right
            bits.append([out.clone() for out in self.drawn.outputs])
        same = all(self._torch.equal(a, b) for other in bits[1:] for a, b in zip(bits[0], other, strict=True))
        return {"case": self.rows.name, "grid": self.grids, "paired": self.paired, "error": self.error(),
                "least": self.least, "right": right, "same_bits": same}  # fmt: skip


def special(torch: Any, rows: Rows) -> dict[str, Any]:
    """Rows of which some have odd values: no numbers where eager PyTorch has none, and its error elsewhere."""
    case = Case(torch, rows)
    x = case.drawn.inputs[0]
    x[0, 5], x[1, rows.n - 7], x[2, 9] = math.nan, math.inf, -math.inf
    x[3], x[4, : rows.n // 2] = -math.inf, -math.inf
    x[5] += 100
    case.poison()
    case.run()
    (ours,), eager, (exact,) = case.drawn.outputs, case.drawn.run(), case.drawn.exact()
    same = torch.equal(ours.isnan(), eager.isnan())
    worst = 0.0
    for row in range(8):
        wanted, found, least = exact[row], ours[row].double(), eager[row].double()
        where = wanted.isfinite() & found.isfinite() & least.isfinite()
        if same and bool(where.any()):
            norm = wanted[where].norm().clamp_min(1e-300)
            error, usual = (float((each[where] - wanted[where]).norm() / norm) for each in (found, least))
            worst = max(worst, error / max(WORSE * usual, case.drawn.noise, NOISE))
    return {"case": f"{rows.name} with odd values", "grid": case.grids, "paired": case.paired, "same_nan": same,
            "worst": worst, "right": same and worst <= 1}  # fmt: skip


def together(torch: Any, one: Case, other: Case, launches: int) -> dict[str, Any]:
    """Two kernels on two streams at once."""
    streams = [torch.cuda.Stream() for _ in range(2)]
    for case in (one, other):
        case.poison()
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(launches):
        for case, stream in zip((one, other), streams, strict=True):
            with torch.cuda.stream(stream):
                case.run()
    torch.cuda.synchronize()
    seconds = time.perf_counter() - start
    return {"case": f"{one.rows.name} beside {other.rows.name}", "launches": 2 * launches, "seconds": round(seconds, 3),
            "right": one.is_right and other.is_right}  # fmt: skip


def between(torch: Any, case: Case, other: Case, launches: int) -> dict[str, Any]:
    """A kernel between launches of another on one stream, each of which may start while the one before it ends."""
    for each in (case, other):
        each.poison()
    for _ in range(launches):
        other.run()
        case.run()
        case.run()
    torch.cuda.synchronize()
    return {"case": f"{case.rows.name} between {other.rows.name}", "right": case.is_right and other.is_right}


def in_graph(torch: Any, case: Case, launches: int) -> dict[str, Any]:
    """Calls captured in two graphs, launched in turn on other streams."""
    graphs: list[Any] = []
    case.run()
    for _ in range(2):
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(4):
                case.run()
        graphs.append(graph)
    case.poison()
    streams = [torch.cuda.Stream() for _ in range(2)]
    torch.cuda.synchronize()
    for _ in range(launches):
        for graph, stream in zip(graphs, streams, strict=True):
            with torch.cuda.stream(stream):
                graph.replay()
    torch.cuda.synchronize()
    return {"case": f"{case.rows.name} in graphs", "right": case.is_right}


def of_open_sizes(torch: Any) -> list[dict[str, Any]]:
    """One kernel for rows of any number and length, some at a time: fewer than that, more, and short ones."""
    sizes, found = {"s0": 8, "s1": 1000000}, list[dict[str, Any]]()
    kernel = mlir_gemm.compile(OPEN, chip=CHIP, sizes=sizes, divisors={"s1": 4})
    for m, n in ((8, 1000000), (3, 700004), (40, 250000), (8, 1000000), (1, 8), (13, 300004), (100, 5000)):
        x = torch.randn(m, n, device="cuda")
        exact, bits, error = torch.softmax(x.double(), -1), list[Any](), 0.0
        for _ in range(2):
            poison = torch.full_like(x, math.nan)
            del poison  # the result comes to lie there
            bits.append(kernel(x).clone())
            error = max(error, error_of([bits[-1]], [exact]))
        least = error_of([torch.softmax(x, -1)], [exact])
        grids = [each.rows.grid for each in kernel.kernels if each.rows is not None]
        found.append({"case": f"softmax ?x?, {m}x{n} f32", "grid": grids, "error": error, "least": least,
                      "right": error <= max(WORSE * least, NOISE), "same_bits": torch.equal(*bits)})  # fmt: skip
    return found


def refused(torch: Any) -> dict[str, Any]:
    """More blocks than fit: the GPU's own count, found when the code is loaded."""
    schedule = RowSchedule(1024, 1024, 4, (1, 8192), grid=264)
    kernel = mlir_gemm.compile(pinned(of_rows(Rows("softmax", 1, 1 << 21, "f32")).source, schedule), chip=CHIP)
    x = torch.randn(1, 1 << 21, device="cuda")
    try:
        kernel(x, torch.empty_like(x))
    except DeviceError as problem:
        return {"case": "more blocks than fit", "right": "at once" in str(problem), "said": str(problem)}
    return {"case": "more blocks than fit", "right": False, "said": "nothing"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--random", type=int, default=6)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("-o", type=Path, default=None)
    options = parser.parse_args()
    import torch

    signal.signal(signal.SIGALRM, lambda *_: os._exit(4))
    found: list[dict[str, Any]] = []

    def note(entry: dict[str, Any]) -> None:
        signal.alarm(0)
        found.append(entry)
        print(json.dumps(entry), flush=True)
        if options.o is not None:
            options.o.write_text("".join(json.dumps(each) + "\n" for each in found), encoding="utf-8")
        signal.alarm(LIMIT)

    signal.alarm(LIMIT)
    cases = [Case(torch, rows) for rows in LISTED]
    for case in cases:
        note(case.check())
    for rows in SPECIAL:
        note(special(torch, rows))
    note(together(torch, cases[0], cases[3], 300))
    note(together(torch, cases[6], cases[7], 300))
    note(between(torch, cases[6], Case(torch, Rows("softmax", 4096, 1024, "f16")), 200))
    note(in_graph(torch, cases[0], 30))
    for rows in drawn(options.random, options.seed):
        note(Case(torch, rows).check())
    for entry in of_open_sizes(torch):
        note(entry)
    note(refused(torch))
    signal.alarm(0)
    wrong = [each["case"] for each in found if not each["right"] or not each.get("same_bits", True)]
    print(f"{len(found) - len(wrong)} of {len(found)} right" + (f"; wrong: {', '.join(wrong)}" if wrong else ""))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
