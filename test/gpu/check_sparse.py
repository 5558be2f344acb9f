"""Runs products with a 2:4 sparse A on the GPU of this machine, and compares them with float64, and with dense ones.

    python test/gpu/check_sparse.py [-o RESULTS.json]

Small ones of ragged sizes and both orders of B hold whole numbers, so that results must be exact; large ones are
random. Results get memory that held NaN. Times beside our dense product, PyTorch's, and its `_cslt_sparse_mm` where it
has it: calls are interleaved, times the median of five rounds. Exit status 1 where a result is wrong.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from check_spaces import microseconds

ERRORS = {"bf16": 4e-3, "f16": 5e-4}
"""The largest error of a type, relative to the largest element."""
TORCH = {"f16": "float16", "bf16": "bfloat16"}
SMALL = (
    (128, 128, 64), (128, 256, 128), (1, 8, 64), (130, 136, 192), (64, 128, 320), (1000, 264, 448), (333, 40, 704),
    (640, 1008, 1088), (2048, 16, 512), (257, 520, 960),
)  # fmt: skip
"""m, n, k."""
LARGE = ((4096, 4096, 4096), (8192, 8192, 8192), (11008, 2048, 4096))
PINNED = (
    "", "block=128x256x64", "block=128x256x128", "block=256x128x64,cluster_n=2", "block=256x128x64,cluster_m=2",
    "block=128x256x64,cluster_m=2", "block=128x256x128,cluster_m=2",
    "block=256x128x128,cluster_n=2", "block=256x128x128", "block=128x192x128,cluster_m=2",
    "block=128x128x64,warp=128x128x64,ping_pong=on",
)  # fmt: skip
"""Schedules that are timed at 8192, in f16; the first is the model's."""


def module(shape: tuple[int, int, int], element: str, order: str, sparse: bool) -> str:
    """A product as MLIR, with A 2:4 sparse or dense, and B as `kn` or `nk`."""
    m, n, k = shape
    a, d, s = f"tensor<{m}x{k}x{element}>", f"tensor<{m}x{n}x{element}>", f"tensor<{m}x{n}xf32>"
    b = f"tensor<{k}x{n}x{element}>" if order == "kn" else f"tensor<{n}x{k}x{element}>"
    given = ' {tile.sparse = "2:4"}' if sparse else ""
    same = "affine_map<(m, n) -> (m, n)>"
    return f"""func.func @product(%A: {a}{given}, %B: {b}) -> {d} {{
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : {s}
  %init = linalg.fill ins(%zero : f32) outs(%empty : {s}) -> {s}
  %d = linalg.generic {{indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> ({", ".join(order)})>,
      affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%A, %B : {a}, {b}) outs(%init : {s}) {{
  ^bb0(%a: {element}, %b: {element}, %c: f32):
    %x = arith.extf %a : {element} to f32
    %y = arith.extf %b : {element} to f32
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }} -> {s}
  %o = tensor.empty() : {d}
  %r = linalg.generic {{indexing_maps = [{same}, {same}], iterator_types = ["parallel", "parallel"]}}
      ins(%d : {s}) outs(%o : {d}) {{
  ^bb0(%v: f32, %w: {element}):
    %t = arith.truncf %v : f32 to {element}
    linalg.yield %t : {element}
  }} -> {d}
  return %r : {d}
}}
"""


Job = tuple[tuple[int, int, int], str, str, bool, str]


def jobs() -> list[Job]:
    """What is compiled: shape, type, order of B, whether it is sparse, schedule."""
    found: list[Job] = [(shape, t, order, True, "") for shape in SMALL for t in TORCH for order in ("kn", "nk")]
    found += [(shape, t, "nk", sparse, "") for shape in LARGE for t in TORCH for sparse in (True, False)]
    found += [(LARGE[1], "f16", "nk", True, pinned) for pinned in PINNED[1:]]
    return [*found, (LARGE[1], "f16", "kn", True, "")]


def warm(job: Job) -> str:
    """Compiles one, so that it is in the cache; what is wrong, if anything."""
    import mlir_gemm

    shape, element, order, sparse, pinned = job
    try:
        mlir_gemm.compile(module(shape, element, order, sparse), "sm_90a", schedule=pinned or None)
    except Exception as failed:
        return f"{job}: {type(failed).__name__} {failed}"
    return ""


def operands(job: Job, torch: Any) -> tuple[Any, Any, Any]:
    """A with its zeros, B, and what they make in float64."""
    (m, n, k), element, order, _, _ = job
    dtype, whole = getattr(torch, TORCH[element]), max(m, n) <= max(map(max, SMALL))
    sizes = ((m, k), (k, n) if order == "kn" else (n, k))
    a, b = (torch.randint(-2, 3, size, device="cuda").to(dtype) if whole else torch.randn(size, device="cuda").to(dtype)
            for size in sizes)  # fmt: skip
    kept = a.abs().float().add(torch.rand_like(a, dtype=torch.float32) * 1e-3).reshape(m, k // 4, 4)
    a = a * torch.zeros_like(kept).scatter_(2, kept.topk(2, dim=2).indices, 1.0).reshape(m, k).to(dtype)
    right = (b if order == "kn" else b.T).double()
    return a, b, a.double() @ right


def run(job: Job, a: Any, b: Any, wanted: Any, torch: Any, row: dict[str, Any]) -> Callable[[], object] | None:
    """Runs a kernel and compares; its call, None where it is wrong."""
    import mlir_gemm

    shape, element, order, sparse, pinned = job
    try:
        kernel = mlir_gemm.compile(module(shape, element, order, sparse), "sm_90a", schedule=pinned or None)
        first = mlir_gemm.sparse24(a).packed if sparse else a
        poison = torch.full(tuple(wanted.shape), float("nan"), dtype=a.dtype, device="cuda")
        del poison  # the allocator gives the result the same memory
        out = kernel(first, b)
        row["error"] = float((out.double() - wanted).abs().max() / wanted.abs().max().clamp_min(1))
        row["schedule"] = str(kernel.kernels[-1].schedule)
        exact = float(wanted.abs().max()) <= 256 and max(shape) <= max(map(max, SMALL))
        right = bool(torch.equal(out.double(), wanted)) if exact else row["error"] <= ERRORS[element]
    except Exception as failed:
        print(f"{job}: {type(failed).__name__} {failed}", flush=True)
        return None
    row["exact"] = exact and right
    if not right:
        print(f"WRONG: {job}: {row['error']}", flush=True)
        return None
    return lambda: kernel(first, b)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("-o", "--out", type=Path)
    arguments = parser.parse_args()
    with ProcessPoolExecutor(14) as pool:
        for problem in filter(None, pool.map(warm, jobs())):
            print(problem, flush=True)
    import torch

    torch.manual_seed(0)
    rows: list[dict[str, Any]] = []
    result = {
        "device": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "command": " ".join(sys.argv),
        "rows": rows,
    }
    bad = 0

    def keep() -> None:
        if arguments.out:
            arguments.out.write_text(json.dumps(result, indent=1))

    for job in jobs()[: 2 * len(TORCH) * len(SMALL)]:
        row: dict[str, Any] = {"m, n, k": job[0], "type": job[1], "order": job[2]}
        bad += run(job, *operands(job, torch), torch, row) is None
        rows.append(row)
    print(f"{len(rows)} small ones, {bad} wrong", flush=True)
    keep()
    for shape in LARGE:
        for element in TORCH:
            a, b, wanted = operands((shape, element, "nk", True, ""), torch)
            calls: dict[str, Callable[[], object]] = {"torch": lambda a=a, b=b: a @ b.T}
            row = {"m, n, k": shape, "type": element}
            for name, sparse in (("sparse", True), ("dense", False)):
                own: dict[str, Any] = {}
                call = run((shape, element, "nk", sparse, ""), a, b, wanted, torch, own)
                bad += call is None
                row[name] = own
                if call is not None:
                    calls[name] = call
            if shape == LARGE[1] and element == "f16":
                for pinned in PINNED[1:]:
                    call = run((shape, element, "nk", True, pinned), a, b, wanted, torch, own := {})
                    bad += call is None
                    if call is not None:
                        calls[pinned] = call
            try:
                packed = torch._cslt_compress(a)
                torch._cslt_sparse_mm(packed, b.T)
                calls["cusparselt"] = lambda packed=packed, b=b: torch._cslt_sparse_mm(packed, b.T)
            except Exception as failed:
                row["cusparselt"] = f"{type(failed).__name__} {str(failed)[:200]}"
            row["us"] = dict(zip(calls, microseconds(list(calls.values()), torch), strict=True))
            print(json.dumps(row), flush=True)
            rows.append(row)
            keep()
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
