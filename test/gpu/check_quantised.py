"""Quantised products and poolings: right, and how fast beside PyTorch.

    python test/gpu/check_quantised.py [-o RESULTS.json] [--random 60]

Random products of bytes less their zero points, exact; random poolings of small whole numbers, exact; results hold
other numbers before. Then layers of int8 as frameworks write them (dequantised, in f32) beside `torch._int_mm`, which
neither takes zero points nor scales anything, and beside PyTorch's f32 product of the dequantised matrices; and the
poolings of networks beside PyTorch's. Exit status 1 where something is wrong.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch

import mlir_gemm

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))

from launch_times import microseconds
from poolings import Pooling, random_pooling
from quantised import DEQUANTISED, Quantised

LAYERS = [(4096, 4096, 4096), (8192, 1024, 1024), (512, 4096, 4096), (197 * 64, 768, 3072)]
POOLINGS = [
    Pooling(32, (112, 112), 64, (3, 3), (2, 2), (1, 1), (1, 1), "max", True),
    Pooling(32, (112, 112), 64, (3, 3), (2, 2), (1, 1), (1, 1), "max", False),
    Pooling(32, (56, 56), 128, (2, 2), (2, 2), (1, 1), (0, 0), "sum", True),
    Pooling(32, (28, 28), 512, (3, 3), (1, 1), (1, 1), (1, 1), "sum", True),
]


def random_product(seed: int) -> Quantised:
    """One of any size, zero points, types and layouts."""
    rng = random.Random(seed)

    def size() -> int:
        return round(2 ** rng.uniform(4, 10))

    extensions = tuple(rng.choice(["extsi", "extui"]) for _ in "ab")
    points = tuple(rng.randint(0, 255) - (128 if each == "extsi" else 0) for each in extensions)
    given, orders = (
        (rng.random() < 0.5, rng.random() < 0.5),
        (rng.choice(["m, k", "k, m"]), rng.choice(["k, n", "n, k"])),
    )
    is_open = rng.random() < 0.3
    return Quantised(
        size(), size(), size(), (points[0], points[1]), given, (extensions[0], extensions[1]), orders, is_open
    )


def poison(shape: Any, dtype: Any, value: float) -> None:
    """Leaves the allocator memory that holds `value`, which the next result of this size comes to lie in."""
    torch.full(tuple(map(int, shape)), value, dtype=dtype, device="cuda")


def on_gpu(array: Any) -> Any:
    return torch.from_numpy(np.ascontiguousarray(array)).cuda()


def check_product(case: Quantised) -> dict[str, Any]:
    """How many elements of one product are wrong."""
    a, b, given, c = case.arrays(np.random.default_rng(0))
    kernel = mlir_gemm.compile(case.text())
    given = [on_gpu(a), on_gpu(b), *(int(each) for each in given), on_gpu(c)]
    poison(c.shape, torch.int32, -7)
    out = kernel(*given)
    return {"case": str(case), "wrong": int((out.cpu().numpy() != case.expected(a, b, c)).sum())}


def check_pooling(case: Pooling) -> dict[str, Any]:
    """How many elements of one pooling are wrong."""
    image = np.random.default_rng(0).integers(-9, 10, [case.n, *case.ordered(*case.size, case.c)]).astype(np.float32)
    kernel, image_on_gpu = mlir_gemm.compile(case.text()), on_gpu(image)
    poison([case.n, *case.ordered(*case.places, case.c)], torch.float32, float("nan"))
    out = kernel(image_on_gpu)
    return {"case": str(case), "wrong": int((out.cpu().numpy().astype(np.float64) != case.expected(image)).sum())}


def layer(m: int, n: int, k: int) -> dict[str, Any]:
    """One quantised layer beside PyTorch's products."""
    kernel = mlir_gemm.compile(DEQUANTISED.format(m=m, n=n, k=k, x="i8", extend="extsi", rows=""))
    x, w = (torch.randint(-128, 128, shape, dtype=torch.int8, device="cuda") for shape in ((m, k), (n, k)))
    scales = torch.rand(n, device="cuda") + 0.5
    poison((m, n), torch.float32, float("nan"))
    out = kernel(x, w, scales, 0.25)
    exact = (x.double() - 7) @ w.double().T * 0.25 * scales.double()
    error = float(((out.double() - exact).norm() / exact.norm()).item())
    wide = ((x.float() - 7) * 0.25, (w.float() * scales[:, None]).T.contiguous())
    columns = w.T
    times = microseconds(
        [lambda: kernel(x, w, scales, 0.25), lambda: torch._int_mm(x, columns), lambda: wide[0] @ wide[1]],
        torch, 20,
    )  # fmt: skip
    found = {"layer": [m, n, k], "error": error, "us": times[0], "int_mm_us": times[1], "f32_us": times[2]}
    print(found, flush=True)
    return found


def pooling(case: Pooling) -> dict[str, Any]:
    """One pooling beside PyTorch's."""
    kernel = mlir_gemm.compile(case.text())
    x = torch.randn([case.n, *case.ordered(*case.size, case.c)], device="cuda")
    seen = x.permute(0, 3, 1, 2) if case.last else x
    pool = torch.nn.functional.max_pool2d if case.kind == "max" else torch.nn.functional.avg_pool2d
    times = microseconds([lambda: kernel(x), lambda: pool(seen, case.window, case.stride, case.padding)], torch, 20)
    found = {"pooling": str(case), "us": times[0], "torch_us": times[1]}
    print(found, flush=True)
    return found


def main() -> int:
    """The check from the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("-o", dest="out")
    parser.add_argument("--random", type=int, default=60)
    options = parser.parse_args()
    checked = [check_product(random_product(seed)) for seed in range(options.random)]
    checked += [check_pooling(random_pooling(seed)) for seed in range(options.random)]
    bad = [each for each in checked if each["wrong"]]
    print(f"{len(checked)} run, {len(bad)} wrong", *bad, sep="\n", flush=True)
    layers = [layer(*each) for each in LAYERS]
    poolings = [pooling(each) for each in POOLINGS]
    if options.out:
        data = {"command": " ".join(sys.argv), "device": torch.cuda.get_device_name(), "torch": torch.__version__,
                "checked": checked, "layers": layers, "poolings": poolings}  # fmt: skip
        Path(options.out).write_text(json.dumps(data, indent=1))
    return int(bool(bad) or any(each["error"] > 1e-6 for each in layers))


if __name__ == "__main__":
    sys.exit(main())
