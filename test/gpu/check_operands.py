"""Runs products of operands that are no plain matrices in memory on the GPU of this machine, against float64.

    python test/gpu/check_operands.py [-o RESULTS.json] [--compile-only]

- Toeplitz, Hankel and circulant operands of a vector, and operands computed from positions, beside PyTorch's product of
  the matrix, which it has in memory already, and beside making the matrix and multiplying it;
- triangular and banded operands without a ring (`space=k_range` with mma_sync, simt and f64's mma_sync), and lists of
  blocks beside a triangle, beside all steps (`space=all`);
- 2:4 sparse operands by `mma.sp`, of ragged sizes and both orders of B, and large ones beside a dense product by
  mma.sync, a sparse one by wgmma, PyTorch's dense one and its `_cslt_sparse_mm`.

Small ones hold whole numbers and must be exact; large ones are random. Results get memory that held NaN. Calls are
interleaved, times the median of five rounds. Exit status 1 where a result is wrong. `--compile-only` needs no GPU.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent))

from check_spaces import microseconds

ERRORS = {"f16": 1e-3, "bf16": 5e-3, "f32": 2e-5, "f64": 1e-12}
"""The largest error of a type, relative to the largest element."""
TORCH = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64", "i8": "int8"}
SUMS = {"f64": "f64", "i8": "i32"}


class Job(NamedTuple):
    """A product: what A is, sizes, type, schedule."""

    kind: str
    m: int
    n: int
    k: int
    element: str
    schedule: str = ""
    order: str = "kn"
    exact: bool = False


DIAGONALS = [
    *(Job(kind, 512, 136, 520, t, exact=True) for kind in ("toeplitz", "hankel") for t in ("f16", "bf16", "i8")),
    Job("circulant", 768, 264, 768, "f16", exact=True),
    Job("circulant", 768, 64, 768, "f16", "mma=mma_sync", exact=True),
    Job("toeplitz", 1280, 72, 900, "f32", exact=True), Job("hankel", 640, 72, 700, "f64", exact=True),
    Job("toeplitz", 1000, 136, 520, "f16", order="nk", exact=True), Job("toeplitz", 77, 136, 520, "f16", exact=True),
    Job("computed", 300, 136, 520, "f16", exact=True),
    Job("toeplitz", 4096, 4096, 4096, "f16"), Job("hankel", 4096, 4096, 4096, "bf16"),
    Job("circulant", 8192, 8192, 8192, "bf16"), Job("toeplitz", 8192, 512, 8192, "f16"),
]  # fmt: skip
"""Small ones first."""
RANGES = [
    Job("lower", 700, 264, 700, "f16", "mma=mma_sync,mainloop=cp_async", exact=True),
    Job("lower", 700, 264, 700, "f16", "mma=mma_sync,mainloop=register_prefetch", exact=True),
    Job("band", 700, 264, 700, "f32", "mma=simt", exact=True),
    Job("listed", 4096, 4096, 4096, "bf16"),
    Job("listed", 4096, 4096, 4096, "f16", "mma=mma_sync,mainloop=cp_async"),
    Job("lower", 700, 264, 704, "f16", "mma=mma_sync,mainloop=tma", exact=True),
    Job("lower", 4096, 4096, 4096, "f16", "mma=mma_sync,mainloop=cp_async"),
    Job("lower", 4096, 4096, 4096, "f32"),
    Job("band", 4096, 4096, 4096, "f32"),
    Job("lower", 2048, 2048, 2048, "f64"),
]
PROMISES = {
    "lower": 'tile.triangular = "lower"', "band": "tile.banded = array<i64: 300, 200>",
    "listed": "tile.blocks = {size = array<i64: 512, 512>, rows = array<i64: 0, 0, 1, 2, 3, 4, 5, 6, 7, 7>, "
    "columns = array<i64: 0, 5, 3, 2, 7, 1, 0, 6, 4, 5>}",
}  # fmt: skip
SPARSE_SIZES = ((128, 128, 64), (130, 136, 192), (1, 8, 64), (333, 40, 704), (1000, 264, 448))
SPARSE = [
    *(Job("sparse", *size, t, "mma=mma_sync", order, exact=True)
      for size in SPARSE_SIZES for t in ("f16", "bf16") for order in ("kn", "nk")),
    Job("sparse", 256, 256, 256, "f16", "mma=mma_sync,mainloop=register_prefetch", exact=True),
    *(Job("sparse", size, size, size, t, "mma=mma_sync", "nk") for size in (4096, 8192) for t in ("f16", "bf16")),
]  # fmt: skip


def text_of(job: Job, dense: bool = False) -> str:
    """A product whose A is promised to be zero at places, or sparse, as MLIR."""
    a, s = f"tensor<{job.m}x{job.k}x{job.element}>", SUMS.get(job.element, "f32")
    b = f"tensor<{job.k}x{job.n}x{job.element}>" if job.order == "kn" else f"tensor<{job.n}x{job.k}x{job.element}>"
    given = "" if dense else ' {tile.sparse = "2:4"}' if job.kind == "sparse" else f" {{{PROMISES[job.kind]}}}"
    other = ' {tile.triangular = "upper"}' if job.kind == "listed" and not dense else ""
    d, wide = f"tensor<{job.m}x{job.n}x{s}>", job.element not in ("f32", "f64")
    extend = "".join(f"    %{x} = arith.extf %{x}0 : {job.element} to {s}\n" for x in "xy") if wide else ""
    x, y = ("%x0", "%y0") if wide else ("%x", "%y")
    return f"""func.func @product(%A: {a}{given}, %B: {b}{other}) -> {d} {{
  %zero = arith.constant 0.0 : {s}
  %empty = tensor.empty() : {d}
  %init = linalg.fill ins(%zero : {s}) outs(%empty : {d}) -> {d}
  %d = linalg.generic {{indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
      affine_map<(m, n, k) -> ({", ".join(job.order)})>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}} ins(%A, %B : {a}, {b}) outs(%init : {d}) {{
  ^bb0({x}: {job.element}, {y}: {job.element}, %c: {s}):
{extend}    %p = arith.mulf %x, %y : {s}
    %t = arith.addf %c, %p : {s}
    linalg.yield %t : {s}
  }} -> {d}
  return %d : {d}
}}
"""


def compiled(job: Job, fields: str | None = None, dense: bool = False) -> Any:
    """The kernel of a product by promise."""
    import mlir_gemm

    wanted = job.schedule if fields is None else fields
    return mlir_gemm.compile(text_of(job, dense), "sm_90a", schedule=wanted or None)


def others(job: Job) -> list[tuple[str, str, bool]]:
    """What a large product by promise is compared with: a name, a schedule, whether its A is dense."""
    if job.exact:
        return []
    if job.kind == "sparse":
        return [("wgmma", "mma=wgmma", False), ("dense by mma.sync", "mma=mma_sync", True), ("dense", "", True)]
    fields = f"{job.schedule}," * bool(job.schedule)
    return [("all steps", f"{fields}space=all", False)]


def warm(job: Job) -> str:
    """Compiles one, so that it is in the cache; what is wrong, if anything."""
    try:
        if job.kind in PROMISES or job.kind == "sparse":
            compiled(job)
            for _, fields, dense in others(job):
                compiled(job, fields, dense)
        else:
            made(job, *(_placeholder(shape, job.element) for shape in shapes(job)), device="simulator", run=False)
    except Exception as failed:
        return f"{job}: {type(failed).__name__} {failed}"
    return ""


def _placeholder(shape: tuple[int, ...], element: str) -> Any:
    import numpy as np

    known: dict[str, Any] = {"i8": np.int8, "f32": np.float32, "f64": np.float64}
    if element == "bf16":
        import ml_dtypes

        return np.zeros(shape, ml_dtypes.bfloat16)
    return np.zeros(shape, known.get(element, np.float16))


def shapes(job: Job) -> list[tuple[int, ...]]:
    """Of the vector, and of B."""
    length = job.m if job.kind == "circulant" else job.m + job.k - 1
    return [(length,), (job.k, job.n) if job.order == "kn" else (job.n, job.k)]


def made(job: Job, v: Any, b: Any, device: str = "auto", run: bool = True) -> Any:
    """The product of an operand that is made here."""
    import mlir_gemm

    size = (job.m, job.k)
    a = {
        "toeplitz": lambda: mlir_gemm.toeplitz(v, size), "hankel": lambda: mlir_gemm.hankel(v, size),
        "circulant": lambda: mlir_gemm.circulant(v),
        "computed": lambda: mlir_gemm.computed(size, lambda i, j: (i * 3 + j) % 7 - 3, job.element),
    }[job.kind]()  # fmt: skip
    if not run:
        from mlir_gemm.pipeline.driver import compile_module
        from mlir_gemm.tracing.contraction import Contraction, Operand

        own = Operand("A", "mk", size, job.element, index=getattr(a, "index", ""),
                      computed=getattr(a, "function", None))  # fmt: skip
        text = Contraction((own, Operand("B", job.order, tuple(b.shape), job.element)), "mn").module()
        return compile_module(text, chip="sm_90a", schedule=_fields(job.schedule))
    return mlir_gemm.einsum(
        f"mk,{job.order}->mn", a, b, chip="sm_90a", device=device, schedule=job.schedule or None,
        out=SUMS.get(job.element, "f32"),
    )  # fmt: skip


def _fields(text: str) -> dict[str, str] | None:
    return dict(each.split("=") for each in text.split(",")) if text else None


def matrix_of(job: Job, v: Any, torch: Any) -> Any:
    """The matrix that a vector stands for."""
    i, j = torch.arange(job.m, device=v.device)[:, None], torch.arange(job.k, device=v.device)
    if job.kind == "computed":
        return ((i * 3 + j) % 7 - 3).to(v.dtype)
    at = {"toeplitz": i - j + job.k - 1, "hankel": i + j, "circulant": (i - j) % job.m}[job.kind]
    return v[at]


def operand_of(job: Job, torch: Any, seed: int) -> tuple[Any, Any]:
    """A with its zeros, and B."""
    torch.manual_seed(seed)
    dtype = getattr(torch, TORCH[job.element])
    size = (job.k, job.n) if job.order == "kn" else (job.n, job.k)
    a, b = (
        torch.randint(-2, 3, each, device="cuda").to(dtype)
        if job.exact
        else torch.randn(each, device="cuda", dtype=torch.float32).to(dtype)
        for each in ((job.m, job.k), size)
    )
    i, j = torch.arange(job.m, device="cuda")[:, None], torch.arange(job.k, device="cuda")
    if job.kind == "sparse":
        kept = a.abs().float().add(torch.rand_like(a, dtype=torch.float32) * 1e-3).reshape(job.m, job.k // 4, 4)
        a = a * torch.zeros_like(kept).scatter_(2, kept.topk(2, dim=2).indices, 1.0).reshape(job.m, job.k).to(dtype)
    elif job.kind == "lower":
        a = a.tril()
    elif job.kind == "band":
        a = a * ((j <= i + 200) & (j >= i - 300))
    else:
        listed = torch.zeros(8, 8, dtype=torch.bool, device="cuda")
        for row, column in zip((0, 0, 1, 2, 3, 4, 5, 6, 7, 7), (0, 5, 3, 2, 7, 1, 0, 6, 4, 5), strict=True):
            listed[row, column] = True
        a, b = a * listed[i // 512, j // 512], b.triu()
    return a, b


def compare(got: Any, wanted: Any, job: Job, row: dict[str, Any], torch: Any) -> bool:
    """Whether a result is right; notes its error."""
    row["error"] = float((got.double() - wanted).abs().max() / wanted.abs().max().clamp_min(1))
    right = bool(torch.equal(got.double(), wanted)) if job.exact else row["error"] <= ERRORS[job.element]
    if not right:
        print(f"WRONG: {job}: {row['error']}", flush=True)
    return right


def poison(job: Job, torch: Any) -> None:
    """Leaves memory of the result's size that held NaN to the allocator."""
    kind = torch.int32 if job.element == "i8" else torch.float64 if job.element == "f64" else torch.float32
    value = -77777 if job.element == "i8" else float("nan")
    held = torch.full((job.m, job.n), value, dtype=kind, device="cuda")
    del held


def check_made(job: Job, torch: Any) -> tuple[bool, dict[str, Any]]:
    """An operand of a vector, or of positions."""
    torch.manual_seed(1)
    row: dict[str, Any] = {"job": job._asdict()}
    dtype = getattr(torch, TORCH[job.element])
    v, b = (
        torch.randint(-2, 3, shape, device="cuda").to(dtype)
        if job.exact
        else torch.randn(shape, device="cuda").to(dtype)
        for shape in shapes(job)
    )
    a = matrix_of(job, v, torch)
    right = b if job.order == "kn" else b.T
    wanted = a.double() @ right.double()
    poison(job, torch)
    good = compare(made(job, v, b), wanted, job, row, torch)
    if good and not job.exact:
        calls: dict[str, Callable[[], object]] = {
            "here": lambda: made(job, v, b), "torch": lambda: a @ right,
            "torch, with the matrix made": lambda: matrix_of(job, v, torch) @ right,
        }  # fmt: skip
        row["us"] = dict(zip(calls, microseconds(list(calls.values()), torch), strict=True))
    return good, row


def check_promised(job: Job, torch: Any) -> tuple[bool, dict[str, Any]]:
    """An operand that is zero at places, by promise, or sparse."""
    import mlir_gemm

    row: dict[str, Any] = {"job": job._asdict()}
    a, b = operand_of(job, torch, 2)
    right = b if job.order == "kn" else b.T
    wanted = a.double() @ right.double()
    kernel = compiled(job)
    row["schedule"] = str(kernel.kernels[-1].schedule)
    first = mlir_gemm.sparse24(a).packed if job.kind == "sparse" else a
    poison(job, torch)
    good = compare(kernel(first, b), wanted, job, row, torch)
    if good and not job.exact:
        calls: dict[str, Callable[[], object]] = {"here": lambda: kernel(first, b), "torch": lambda: a @ right}
        for name, fields, dense in others(job):
            other = compiled(job, fields, dense)
            given = a if dense or job.kind != "sparse" else first
            calls[name] = lambda other=other, given=given: other(given, b)
        try:
            if job.kind == "sparse":
                packed = torch._cslt_compress(a)
                torch._cslt_sparse_mm(packed, right)
                calls["cusparselt"] = lambda: torch._cslt_sparse_mm(packed, right)
        except Exception as failed:
            row["cusparselt"] = f"{type(failed).__name__} {str(failed)[:200]}"
        row["us"] = dict(zip(calls, microseconds(list(calls.values()), torch), strict=True))
    return good, row


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("-o", "--out", type=Path)
    parser.add_argument("--compile-only", action="store_true")
    parser.add_argument("--jobs", type=int, default=14)
    arguments = parser.parse_args()
    jobs = [*DIAGONALS, *RANGES, *SPARSE]
    with ProcessPoolExecutor(arguments.jobs) as pool:
        problems = [problem for problem in pool.map(warm, jobs) if problem]
    for problem in problems:
        print(problem, flush=True)
    if arguments.compile_only:
        return int(bool(problems))
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False
    rows: list[dict[str, Any]] = []
    result = {"device": torch.cuda.get_device_name(), "torch": torch.__version__, "rows": rows}
    bad = 0
    for job in jobs:
        try:
            good, row = (check_promised if job.kind in PROMISES or job.kind == "sparse" else check_made)(job, torch)
        except Exception as failed:
            good, row = False, {"job": job._asdict(), "failed": f"{type(failed).__name__} {failed}"}
            print(f"{job}: {row['failed'][:500]}", flush=True)
        bad += not good
        rows.append(row)
        if "us" in row:
            times = ", ".join(f"{name} {time:.1f}" for name, time in row["us"].items())
            print(f"{job.kind} {job.m}x{job.n}x{job.k} {job.element}: {times} us; error {row['error']:.2g}", flush=True)
        if arguments.out:
            arguments.out.write_text(json.dumps(result, indent=1))
    print(f"{len(rows)} products, {bad} wrong", flush=True)
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
