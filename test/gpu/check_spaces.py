"""Runs products of half the work on the GPU of this machine, and compares them with float64.

    python test/gpu/check_spaces.py [-o RESULTS.json]

Products with their own transposes, of which half of the tiles is computed, and both halves are stored; with triangles,
of which those k steps are walked in which these are not zero, as is promised (`tile.triangular`) or computed by a
comparison of positions (tril); with bands, blocks along the diagonal and lists of blocks, by promise; causal scores, of
which half of the tiles is stored as a constant, and windows of them; saturating sums of bytes; and a kernel that is
written tile by tile (examples/tiling.py). Data are random,
results get memory that held NaN, and symmetric ones must equal their transposes. Times beside all tiles (`space=all`),
a product of two arrays, and PyTorch's; calls are interleaved, times the median of five rounds. Exit status 1 where an
error is larger than it may be.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.timing import Timer

ERRORS = {"bfloat16": 4e-3, "float16": 5e-4, "float32": 1e-3, "float64": 1e-12}
"""The largest error of a type, relative to the largest element; f32 is multiplied by tf32."""
CASES = (
    ("bfloat16", 1024, 1024), ("bfloat16", 2048, 2048), ("bfloat16", 4096, 4096), ("bfloat16", 8192, 8192),
    ("bfloat16", 3001, 3001), ("bfloat16", 5120, 13824), ("bfloat16", 13824, 5120), ("float16", 4096, 4096),
    ("float32", 4096, 4096), ("float32", 3001, 3001), ("float64", 2048, 2048), ("float16", 1111, 333),
    ("bfloat16", 3000, 3000), ("bfloat16", 6008, 2040),
)  # fmt: skip
"""Types, rows and columns of A."""
TRIANGLES = (("bfloat16", 4096, 4096), ("bfloat16", 8192, 8192), ("bfloat16", 3001, 2999), ("float16", 1024, 1024),
             ("bfloat16", 3000, 3000), ("bfloat16", 2048, 2048))  # fmt: skip
"""Types, rows of the triangle, and columns of B."""
RIGHT = (("bfloat16", 4096), ("bfloat16", 2048))
"""Types, and rows of a square matrix times an upper triangle."""
MASKED = (("bfloat16", 4096, 128), ("bfloat16", 8192, 128), ("bfloat16", 4096, 4096), ("bfloat16", 3001, 128))
"""Types, rows, and k of masked products."""
SHAPED = (
    ("a band of 512 and 512", "tile.banded = array<i64: 512, 512>"),
    ("a band of 1000 and 0", "tile.banded = array<i64: 1000, 0>"),
    ("the diagonal", "tile.banded = array<i64: 0, 0>"),
    ("blocks of 512x512", "tile.block_diagonal = array<i64: 512, 512>"),
    ("blocks of 192x320", "tile.block_diagonal = array<i64: 192, 320>"),
    ("a tenth of the blocks of 128x128", ""),
)
"""Operands that are zero at known places; the last one gets a list of blocks that is drawn."""
SHAPED_SIZES = (("bfloat16", 4096, 4096), ("bfloat16", 8192, 8192), ("float16", 3001, 2999))
WINDOWS = (("bfloat16", 8192, 256, 1024), ("bfloat16", 8192, 4096, 1024), ("float16", 3001, 256, 500))
"""Types, rows, k (three steps at least, as k_range asks), and columns of a window."""
ROUNDS, LEAST = 5, 3e-3


def microseconds(calls: list[Callable[[], object]], torch: Any) -> list[float]:
    """The time of each call on the GPU, launches back to back, in turn."""
    timer = Timer(torch, ROUNDS, ROUNDS, LEAST)
    host = timer.host(calls)
    cold = [each.median for each in timer.cold(calls, host, rounds=2)]
    return [each.median * 1e6 for each in timer.sustained(calls, cold, host, lambda: None)[0]]


def module(m: int, k: int, element: str, twice: bool) -> str:
    """A times its transpose, or times the transpose of another matrix, as MLIR."""
    acc = "f64" if element == "f64" else "f32"
    wide = "" if element == acc else (
        f"    %x = arith.extf %a : {element} to {acc}\n    %y = arith.extf %b : {element} to {acc}\n"
    )  # fmt: skip
    x, y = ("a", "b") if element == acc else ("x", "y")
    a, d, s = f"tensor<{m}x{k}x{element}>", f"tensor<{m}x{m}x{element}>", f"tensor<{m}x{m}x{acc}>"
    last = ("  return %d : " + s + "\n") if element == acc else (
        f"""  %o = tensor.empty() : {d}
  %r = linalg.generic {{indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
      iterator_types = ["parallel", "parallel"]}} ins(%d : {s}) outs(%o : {d}) {{
  ^bb0(%v: {acc}, %w: {element}):
    %t = arith.truncf %v : {acc} to {element}
    linalg.yield %t : {element}
  }} -> {d}
  return %r : {d}
"""
    )  # fmt: skip
    return f"""func.func @syrk(%A: {a}{"" if twice else f", %B: {a}"}) -> {d} {{
  %zero = arith.constant 0.0 : {acc}
  %empty = tensor.empty() : {s}
  %init = linalg.fill ins(%zero : {acc}) outs(%empty : {s}) -> {s}
  %d = linalg.generic {{indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
      affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%A, {"%A" if twice else "%B"} : {a}, {a}) outs(%init : {s}) {{
  ^bb0(%a: {element}, %b: {element}, %c: {acc}):
{wide}    %p = arith.mulf %{x}, %{y} : {acc}
    %s = arith.addf %c, %p : {acc}
    linalg.yield %s : {acc}
  }} -> {s}
{last}}}
"""


def triangular(m: int, n: int, element: str, masked: bool, promise: str = 'tile.triangular = "lower"') -> str:
    """A lower triangle, or what else is promised, times a matrix, as MLIR: A says that it is one, or is made one."""
    a, b, d = f"tensor<{m}x{m}x{element}>", f"tensor<{m}x{n}x{element}>", f"tensor<{m}x{n}x{element}>"
    s = f"tensor<{m}x{n}xf32>"
    given = "" if masked else f" {{{promise}}}"
    same = "affine_map<(m, n) -> (m, n)>"
    tril = (
        ""
        if not masked
        else f"""  %none = arith.constant 0.0 : {element}
  %e = tensor.empty() : {a}
  %L = linalg.generic {{indexing_maps = [{same}, {same}], iterator_types = ["parallel", "parallel"]}}
      ins(%A : {a}) outs(%e : {a}) {{
  ^bb0(%v: {element}, %w: {element}):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %below = arith.cmpi uge, %i, %j : index
    %t = arith.select %below, %v, %none : {element}
    linalg.yield %t : {element}
  }} -> {a}
"""
    )
    return f"""func.func @trmm(%A: {a}{given}, %B: {b}) -> {d} {{
{tril}  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : {s}
  %init = linalg.fill ins(%zero : f32) outs(%empty : {s}) -> {s}
  %d = linalg.matmul ins({"%L" if masked else "%A"}, %B : {a}, {b}) outs(%init : {s}) -> {s}
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


ELEMENTS = {"bfloat16": "bf16", "float16": "f16", "float32": "f32", "float64": "f64"}


def _causal(m: Any, n: Any) -> Any:
    return n <= m


def shaped(m: int, promise: str) -> tuple[str, Any]:
    """A promise, drawn where there is none, and where a square matrix holds something by it."""
    import numpy as np

    if not promise:
        size = 128
        blocks = -(-m // size)
        rows, columns = np.nonzero(np.random.default_rng(0).random((blocks, blocks)) < 0.1)
        kept = np.zeros((blocks, blocks), bool)
        kept[rows, columns] = True
        lists = (f"array<i64: {', '.join(map(str, each))}>" for each in (rows, columns))
        text = "tile.blocks = {{size = array<i64: 128, 128>, rows = {}, columns = {}}}".format(*lists)
        return text, np.kron(kept, np.ones((size, size), bool))[:m, :m]
    first, second = (int(each) for each in promise.partition(": ")[2].rstrip(">").split(", "))
    i, j = np.arange(m)[:, None], np.arange(m)[None, :]
    if "banded" in promise:
        return promise, (j <= i + second) & (j >= i - first)
    return promise, i // first == j // second


def saturating(torch: Any, mlir_gemm: Any) -> int:
    """Saturating sums of bytes without a sign, exactly; how many are wrong."""
    import numpy as np

    m, n, k = 1000, 1032, 528
    a, b = (torch.randint(0, 4, shape, dtype=torch.int8, device="cuda") for shape in ((m, k), (k, n)))
    found = mlir_gemm.einsum(
        "mk,kn->mn", a, b, plus=lambda c, t: np.minimum(c + t, 1000),
        prologue=(lambda x: x.astype("i32") & 255, lambda x: x.astype("i32") & 255),
    )  # fmt: skip
    wanted = (a.to(torch.float64) @ b.to(torch.float64)).clamp(max=1000)
    wrong = int(not torch.equal(found.to(torch.float64), wanted))
    print(f"saturating sums {m}x{n}x{k}: {'WRONG' if wrong else 'exact'}", flush=True)
    return wrong


def tiled(torch: Any, m: int, n: int, k: int, other: int) -> int:
    """The kernel of examples/tiling.py on random data; 1 where it is wrong."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))
    from tiling import two_products

    shapes = ((m, k), (k, n), (m, other), (n, other))
    a, b, f, g = (torch.randn(shape, device="cuda").to(torch.float16) for shape in shapes)
    bias = torch.randn(n, device="cuda")
    kernel = two_products(m, n, k, other, chip="h200").compile(device="gpu")
    wide = [each.to(torch.float64) for each in (a, b, f, g, bias)]
    wanted = (wide[0] @ wide[1] + wide[2] @ wide[3].T + wide[4]).clamp(min=0)
    error = float((kernel(a, b, f, g, bias).to(torch.float64) - wanted).abs().max() / wanted.abs().max())
    calls: list[Callable[[], object]] = [
        lambda: kernel(a, b, f, g, bias),
        lambda: torch.addmm(a @ b, f, g.T).add_(bias).relu_(),
    ]
    own, theirs = microseconds(calls, torch)
    print(f"tile by tile {m}x{n}, k {k}, {other}: {own:.1f} us, PyTorch {theirs:.1f}; error {error:.1e}", flush=True)
    return int(not error <= ERRORS["float16"])


def measured(
    kernels: dict[str, tuple[Any, tuple[Any, ...]]], wanted: Any, row: dict[str, Any], torch: Any
) -> tuple[dict[str, Callable[[], object]], int]:
    """Runs each kernel on its arrays, compares, and writes errors into a row; what to time, and how many are wrong."""
    calls: dict[str, Callable[[], object]] = {}
    bad, dtype = 0, row["dtype"]
    for name, (kernel, given) in kernels.items():
        try:
            poison = torch.full(tuple(wanted.shape), float("nan"), dtype=given[0].dtype, device="cuda")
            del poison  # the allocator gives the result the same memory
            out = kernel(*given)
            error = float((out.to(torch.float64) - wanted).abs().max() / wanted.abs().max())
            wrong = not error <= ERRORS[dtype]
            if name == "triangle":
                row["is symmetric"] = bool(torch.equal(out, out.T))
                wrong = wrong or not row["is symmetric"]
            row[f"{name} error"] = error
            row[f"{name} schedule"] = str(kernel.kernels[-1].schedule)
            calls[name] = lambda kernel=kernel, given=given: kernel(*given)
            bad += wrong
            if wrong:
                print(f"WRONG: {name} of {row}", flush=True)
        except Exception as failed:
            bad += 1
            print(f"{name} of {row}: {type(failed).__name__} {failed}", flush=True)
    return calls, bad


def timed(calls: dict[str, Callable[[], object]], first: str, row: dict[str, Any], torch: Any) -> None:
    """Measures calls, and prints them beside the first."""
    for name, time in zip(calls, microseconds(list(calls.values()), torch), strict=True):
        row[f"{name} us"] = time
    own = row.get(f"{first} us", float("nan"))
    shown = ", ".join(f"{name} {row[f'{name} us']:.1f} ({row[f'{name} us'] / own:.2f})" for name in calls)
    print(f"{row['dtype']:9} {row['case']} {row['m']}x{row['k']}: {shown}; error {row.get(f'{first} error', 0):.1e}",
          flush=True)  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument(
        "--only", default="symmetric,triangular,right,shaped,masked,windows,sums,tiling", help="which cases"
    )
    parser.add_argument(
        "--schedules", nargs="*", default=[], help="further schedules of bf16 triangles; the first two of bf16 shapes"
    )
    parser.add_argument("--sizes", nargs="*", type=int, default=[], help="rows; other cases are left out")
    options = parser.parse_args()
    os.environ.setdefault("MLIR_GEMM_CACHE", tempfile.mkdtemp())
    import torch

    import mlir_gemm
    from mlir_gemm.tracing.contraction import Contraction, Operand

    def chosen(name: str, cases: Any) -> list[Any]:
        return [each for each in cases if name in options.only and each[1] in (options.sizes or [each[1]])]

    torch.backends.cuda.matmul.allow_tf32 = True
    rows: list[dict[str, Any]] = []
    bad = 0

    def drawn(rows: int, columns: int, dtype: str) -> Any:
        return torch.randn((rows, columns), dtype=torch.float64, device="cuda").to(getattr(torch, dtype))

    for dtype, m, k in chosen("symmetric", CASES):
        element = ELEMENTS[dtype]
        a, b = drawn(m, k, dtype), drawn(m, k, dtype)
        fixed = {"precision": "tf32"} if element == "f32" else {}
        one, two = module(m, k, element, twice=True), module(m, k, element, twice=False)
        kernels = {
            "triangle": (mlir_gemm.compile(one, schedule={**fixed, "space": "triangle"}), (a,)),
            "chosen": (mlir_gemm.compile(one, schedule=fixed), (a,)),
            "all": (mlir_gemm.compile(one, schedule={**fixed, "space": "all"}), (a,)),
            "two arrays": (mlir_gemm.compile(two, schedule=fixed), (a, a.clone())),
        }
        row: dict[str, Any] = {"case": "symmetric", "dtype": dtype, "m": m, "k": k}
        calls, wrong = measured(kernels, a.to(torch.float64) @ a.to(torch.float64).T, row, torch)
        bad += wrong
        calls["torch"] = lambda a=a: torch.mm(a, a.T)
        timed(calls, "triangle", row, torch)
        rows.append(row)
        del a, b, kernels, calls
    for dtype, m, n in chosen("triangular", TRIANGLES):
        element = ELEMENTS[dtype]
        a, b = drawn(m, m, dtype), drawn(m, n, dtype)
        low = a.tril().contiguous()
        one, made = triangular(m, n, element, masked=False), triangular(m, n, element, masked=True)
        kernels = {
            "k_range": (mlir_gemm.compile(one, schedule="space=k_range"), (low, b)),
            "chosen": (mlir_gemm.compile(one), (low, b)),
            "all": (mlir_gemm.compile(one, schedule="space=all"), (low, b)),
            "tril": (mlir_gemm.compile(made), (a, b)),
        }
        for each in options.schedules if element == "bf16" else ():
            kernels[each] = (mlir_gemm.compile(one, schedule=f"space=k_range,{each}"), (low, b))
        row = {"case": "triangular", "dtype": dtype, "m": m, "k": n}
        calls, wrong = measured(kernels, low.to(torch.float64) @ b.to(torch.float64), row, torch)
        bad += wrong
        calls["torch"] = lambda low=low, b=b: torch.mm(low, b)
        calls["torch tril"] = lambda a=a, b=b: torch.mm(a.tril(), b)
        timed(calls, "k_range", row, torch)
        rows.append(row)
    for dtype, m in chosen("right", RIGHT):
        a, b = drawn(m, m, dtype), drawn(m, m, dtype)
        upper = a.triu().contiguous()
        one = triangular(m, m, ELEMENTS[dtype], masked=False, promise='tile.triangular = "upper"')
        one = one.replace("ins(%A, %B :", "ins(%B, %A :")
        schedules = {"chosen": "", "k_range": "space=k_range", "all": "space=all"}
        schedules |= {each: f"space=k_range,{each}" for each in options.schedules}
        kernels = {name: (mlir_gemm.compile(one, schedule=each), (upper, b)) for name, each in schedules.items()}
        row = {"case": "right", "dtype": dtype, "m": m, "k": m}
        calls, wrong = measured(kernels, b.to(torch.float64) @ upper.to(torch.float64), row, torch)
        bad += wrong
        calls["torch"] = lambda upper=upper, b=b: torch.mm(b, upper)
        timed(calls, "k_range", row, torch)
        rows.append(row)
    for dtype, m, n in chosen("shaped", SHAPED_SIZES):
        for name, promise in SHAPED:
            text, kept = shaped(m, promise)
            a, b = drawn(m, m, dtype), drawn(m, n, dtype)
            a.mul_(torch.from_numpy(kept).cuda())
            one = triangular(m, n, ELEMENTS[dtype], masked=False, promise=text)
            kernels = {
                "k_range": (mlir_gemm.compile(one, schedule="space=k_range"), (a, b)),
                "chosen": (mlir_gemm.compile(one), (a, b)),
                "all": (mlir_gemm.compile(one, schedule="space=all"), (a, b)),
            }
            for each in options.schedules[:2] if dtype == "bfloat16" else ():
                kernels[each] = (mlir_gemm.compile(one, schedule=f"space=k_range,{each}"), (a, b))
            row = {"case": name, "dtype": dtype, "m": m, "k": n, "part": float(kept.mean())}
            calls, wrong = measured(kernels, a.to(torch.float64) @ b.to(torch.float64), row, torch)
            bad += wrong
            calls["torch"] = lambda a=a, b=b: torch.mm(a, b)
            timed(calls, "k_range", row, torch)
            rows.append(row)
    for dtype, m, k, wide in chosen("windows", WINDOWS):
        a, b = drawn(m, k, dtype), drawn(m, k, dtype)
        sides = Operand("A", "mk", (m, k), ELEMENTS[dtype]), Operand("B", "nk", (m, k), ELEMENTS[dtype])
        text = Contraction(sides, "mn", mask=lambda m, n, wide=wide: (n <= m) & (n > m - wide), fill=-1e4).module()
        kernels = {
            "k_range": (mlir_gemm.compile(text, schedule="space=k_range"), (a, b)),
            "chosen": (mlir_gemm.compile(text), (a, b)),
            "all": (mlir_gemm.compile(text, schedule="space=all"), (a, b)),
        }
        place = torch.arange(m, device="cuda")
        apart = place[:, None] - place[None, :]
        outside = (apart < 0) | (apart >= wide)
        row = {"case": f"a window of {wide}", "dtype": dtype, "m": m, "k": k}
        wanted = (a.to(torch.float64) @ b.to(torch.float64).T).masked_fill(outside, -1e4)
        calls, wrong = measured(kernels, wanted, row, torch)
        bad += wrong
        calls["torch"] = lambda a=a, b=b, outside=outside: torch.mm(a, b.T).masked_fill_(outside, -1e4)
        timed(calls, "k_range", row, torch)
        rows.append(row)
        del wanted, outside, apart
    bad += saturating(torch, mlir_gemm) if "sums" in options.only else 0
    for sizes in (
        ((4096, 4096, 4096, 2048), (1000, 1032, 96, 200), (65, 200, 8, 16)) if "tiling" in options.only else ()
    ):
        bad += tiled(torch, *sizes)
    for dtype, m, k in chosen("masked", MASKED):
        a, b = drawn(m, k, dtype), drawn(m, k, dtype)
        sides = Operand("A", "mk", (m, k), ELEMENTS[dtype]), Operand("B", "nk", (m, k), ELEMENTS[dtype])
        text = Contraction(sides, "mn", mask=_causal, fill=-1e4).module()
        kernels = {
            "lower": (mlir_gemm.compile(text, schedule="space=lower"), (a, b)),
            "chosen": (mlir_gemm.compile(text), (a, b)),
            "all": (mlir_gemm.compile(text, schedule="space=all"), (a, b)),
        }
        above = torch.ones((m, m), dtype=torch.bool, device="cuda").triu(1)
        row = {"case": "masked", "dtype": dtype, "m": m, "k": k}
        wanted = (a.to(torch.float64) @ b.to(torch.float64).T).masked_fill(above, -1e4)
        calls, wrong = measured(kernels, wanted, row, torch)
        bad += wrong
        calls["torch"] = lambda a=a, b=b, above=above: torch.mm(a, b.T).masked_fill_(above, -1e4)
        timed(calls, "lower", row, torch)
        rows.append(row)
        del wanted, above
    if options.output:
        options.output.write_text(json.dumps({"device": torch.cuda.get_device_name(), "rows": rows}, indent=1))
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
