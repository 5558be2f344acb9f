"""Runs products of elements with components on the GPU of this machine: exact ones over random algebras, and times.

    python test/gpu/check_composite.py [--size 4096] [--random 240] [--workers 10] [-o RESULTS.json]
    python test/gpu/check_composite.py --only dual --kernels --random 0   # and how long each kernel of a call takes

Random ones are of whole numbers and are compared with NumPy by the structure constants. Times are the median of five
rounds, calls interleaved: dual numbers and quaternions beside one real product of the same size, complex products with
few rows and by fewer multiplications beside PyTorch's, epilogues fused and not. Results get memory that held NaN. Exit
status 1 where something is wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import traceback
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from launch_times import microseconds

LAUNCHES = 6
ORDERS = (("mk", "kn", "mn"), ("mk", "nk", "mn"), ("km", "kn", "mn"), ("km", "nk", "nm"), ("bmk", "bkn", "bmn"))
TYPES = ("float16", "float32", "float64", "int8")
FEWEST = {"algorithm": "fewest"}


def random_algebra(rng: Any) -> Any:
    """One of those that are there, or whole numbers anywhere in a table of up to four components."""
    import mlir_gemm
    from mlir_gemm.spec.bilinear import BUILT_IN

    if rng.random() < 0.4:
        return BUILT_IN[rng.integers(len(BUILT_IN))]
    count = int(rng.integers(1, 5))
    table = rng.integers(-2, 3, (count,) * 3) * (rng.random((count,) * 3) < 0.4)
    table[0, 0, 0] = 1
    return mlir_gemm.Bilinear("random", table.tolist())


def random_product(seed: int) -> str:
    """What is wrong with a random product; empty for nothing."""
    import torch

    import mlir_gemm

    rng = np.random.default_rng(seed)
    algebra = random_algebra(rng)
    a_order, b_order, order = ORDERS[rng.integers(len(ORDERS))]
    dtype = TYPES[rng.integers(len(TYPES))]
    sizes = {letter: int(rng.integers(1, 130)) for letter in "mnk"} | {"b": int(rng.integers(1, 4))}
    count, planes = algebra.components, bool(rng.random() < 0.4)
    a, b = (rng.integers(-2, 3, (*(sizes[x] for x in each), count)).astype(dtype) for each in (a_order, b_order))
    table = np.array(algebra.table, float)
    wanted = np.einsum(f"{a_order}X,{b_order}Y,XYZ->{order}Z", a.astype(float), b.astype(float), table)
    given = [torch.from_numpy(each).cuda() for each in (a, b)]
    if planes:
        given = [tuple(each[..., n].contiguous() for n in range(count)) for each in given]
    options = FEWEST if not planes and algebra.steps is not None and dtype[0] == "f" else {}
    out = "f32" if dtype == "float16" else None
    where = f"seed {seed}: {algebra.name} {dtype} {a_order},{b_order}->{order} {sizes} {'planes' if planes else ''}"
    try:
        poison = torch.full((wanted.size * 8,), 0xFF, dtype=torch.uint8, device="cuda")
        del poison
        found = mlir_gemm.einsum(f"{a_order},{b_order}->{order}", *given, algebra=algebra, out=out, **options)
        got = torch.stack(found, -1) if planes else found
        same = np.array_equal(got.cpu().numpy().astype(float), wanted)
        return "" if same else f"{where}: WRONG"
    except Exception:  # a refusal or a fault: told, and the next one goes on
        return f"{where}: {traceback.format_exc(limit=-1)}"


def kernel_times(call: Callable[[], Any], torch: Any, calls: int = 5) -> dict[str, float]:
    """Microseconds of each kernel of a call, as the profiler has them; nothing where it has none."""
    try:
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
            for _ in range(calls):
                call()
            torch.cuda.synchronize()
        found = [(each.key, getattr(each, "device_time_total", 0.0) / calls) for each in profile.key_averages()]
        return {key: us for key, us in found if us}
    except Exception as error:  # no profiler on this machine
        return {f"no profiler: {error}": 0.0}


def dual_numbers(size: int, torch: Any, rows: list[dict[str, Any]], kernels: bool = False) -> int:
    """Dual numbers and quaternions beside one real product."""
    import mlir_gemm

    bad = 0
    for name, dtype, schedule, most in (
        ("f16", torch.float16, None, 2e-3), ("bf16", torch.bfloat16, None, 1.5e-2),
        ("tf32", torch.float32, "precision=tf32", 1e-3),
    ):  # fmt: skip
        torch.backends.cuda.matmul.allow_tf32 = name == "tf32"
        a, b = (torch.randn(size, size, 4, device="cuda").to(dtype) for _ in range(2))
        pa, pb = (tuple(each[..., n].contiguous() for n in range(2)) for each in (a, b))
        da, db = (each[..., :2].contiguous() for each in (a, b))

        def call(x: Any, y: Any, algebra: str | None, schedule: Any = schedule) -> Callable[[], Any]:
            return lambda: mlir_gemm.einsum("mk,kn->mn", x, y, algebra=algebra, schedule=schedule)

        calls = {
            "real product": call(pa[0], pb[0], None),
            "PyTorch, real product": lambda pa=pa, pb=pb: torch.mm(pa[0], pb[0]),
            "dual, planes": call(pa, pb, "dual"), "dual, side by side": call(da, db, "dual"),
            "quaternions": call(a, b, "quaternion"),
        }  # fmt: skip
        wanted = pa[0].double() @ pb[0].double(), pa[0].double() @ pb[1].double() + pa[1].double() @ pb[0].double()
        error = {}
        for case in ("dual, planes", "dual, side by side"):
            found = calls[case]()
            parts = [found[n] if isinstance(found, tuple) else found[..., n] for n in range(2)]
            error[case] = max(float((x.double() - y).norm() / y.norm()) for x, y in zip(parts, wanted, strict=True))
        found = calls["quaternions"]()[..., 3]
        p, q = ([each[..., n].double() for n in range(4)] for each in (a, b))
        third = p[0] @ q[3] + p[1] @ q[2] - p[2] @ q[1] + p[3] @ q[0]
        error["quaternions"] = float((found.double() - third).norm() / third.norm())
        del p, q, third, wanted, found
        bad += sum(each > most for each in error.values())
        times = dict(zip(calls, microseconds(list(calls.values()), torch, LAUNCHES), strict=True))
        for case, us in times.items():
            rows.append({"case": case, "type": name, "size": size, "us": us, "of_real": us / times["real product"],
                         "error": error.get(case)})  # fmt: skip
            print(f"{name:5} {case:22} {us:9.1f} us, {us / times['real product']:5.2f} real products, "
                  f"error {error.get(case, 0):.1e}", flush=True)  # fmt: skip
            if kernels and not case.startswith("PyTorch"):
                rows[-1]["kernels"] = kernel_times(calls[case], torch)
                print("     ", ", ".join(f"{key} {us:.1f}" for key, us in rows[-1]["kernels"].items()), flush=True)
    return bad


def complex_products(size: int, torch: Any, rows: list[dict[str, Any]], kernels: bool = False) -> int:
    """Few rows, and fewer multiplications, beside PyTorch."""
    import mlir_gemm

    bad = 0
    cases = {
        "complex64": ("complex64", None, False, 1e-5), "complex64 by tf32": ("complex64", "precision=tf32", True, 2e-3),
        "complex128": ("complex128", None, False, 1e-12), "complex half": ("complex32", None, False, 4e-3),
    }  # fmt: skip
    for m, n, k in ((64, size, size), (16, size, size), (1000, 1000, 1000), (size, size, size)):
        for name, (dtype, schedule, tf32, most) in cases.items():
            try:
                kind = getattr(torch, dtype)
                wide = torch.complex64 if dtype == "complex32" else kind
                a, b = (torch.randn(shape, dtype=wide, device="cuda").to(kind) for shape in ((m, k), (k, n)))
                torch.backends.cuda.matmul.allow_tf32 = tf32

                def ours(a: Any = a, b: Any = b, s: Any = schedule, **options: Any) -> Any:
                    return mlir_gemm.einsum("mk,kn->mn", a, b, schedule=s, **options)

                calls = {"ours": ours, "fewest": lambda ours=ours: ours(**FEWEST)}
                if dtype != "complex32":
                    calls["PyTorch"] = lambda a=a, b=b: torch.mm(a, b)
                wanted = a.to(torch.complex128) @ b.to(torch.complex128)
                errors = {each: float((call().to(torch.complex128) - wanted).norm() / wanted.norm())
                          for each, call in calls.items()}  # fmt: skip
                parts = {each: float((call().to(torch.complex128) - wanted).abs().max() / wanted.abs().max())
                         for each, call in calls.items()}  # fmt: skip
                times = dict(zip(calls, microseconds(list(calls.values()), torch, LAUNCHES), strict=True))
                bad += sum(error > most for error in errors.values())
                rows.append({"case": name, "m": m, "n": n, "k": k, "us": times, "errors": errors, "largest": parts})
                text = ", ".join(f"{each} {us:.1f} us ({errors[each]:.1e})" for each, us in times.items())
                print(f"{name:18} {m}x{n}x{k}: {text}", flush=True)
                if kernels:
                    rows[-1]["kernels"] = kernel_times(ours, torch)
                    print("     ", ", ".join(f"{key} {us:.1f}" for key, us in rows[-1]["kernels"].items()), flush=True)
            except Exception:
                bad += 1
                print(f"{name} {m}x{n}x{k}: {traceback.format_exc(limit=-2)}", flush=True)
    return bad


def epilogues(size: int, torch: Any, rows: list[dict[str, Any]], kernels: bool = False) -> int:
    """A bias and a complex factor in the product's kernel, and what is a kernel of its own."""
    import mlir_gemm

    a, b = (torch.randn(size, size, dtype=torch.complex64, device="cuda") for _ in range(2))
    v = torch.randn(size, dtype=torch.complex64, device="cuda")
    torch.backends.cuda.matmul.allow_tf32 = True

    def call(epilogue: Any, **extras: Any) -> Callable[[], Any]:
        return lambda: mlir_gemm.einsum("mk,kn->mn", a, b, schedule="precision=tf32", epilogue=epilogue, **extras)

    calls = {
        "product": call(None), "(d + v) (1 + 2i)": call(lambda d, v: (d + v) * (1 + 2j), v=("n", v)),
        "PyTorch, (d + v) (1 + 2i)": lambda: (a @ b + v) * (1 + 2j),
        "conj(d)": call(lambda d: d.conjugate()), "abs(d)": call(lambda d: abs(d)),
        "PyTorch, abs(d)": lambda: torch.abs(a @ b), "d / v": call(lambda d, v: d / v, v=("n", v)),
        "PyTorch, d / v": lambda: a @ b / v,
    }  # fmt: skip
    product = a.to(torch.complex128) @ b.to(torch.complex128)
    wanted = {"(d + v) (1 + 2i)": (product + v) * (1 + 2j), "conj(d)": product.conj(), "abs(d)": product.abs(),
              "d / v": product / v}  # fmt: skip
    errors = {each: float((calls[each]().to(whole.dtype) - whole).norm() / whole.norm())
              for each, whole in wanted.items()}  # fmt: skip
    for each, us in zip(calls, microseconds(list(calls.values()), torch, LAUNCHES), strict=True):
        rows.append({"case": f"epilogue {each}", "size": size, "us": us, "error": errors.get(each)})
        if kernels and not each.startswith("PyTorch"):
            rows[-1]["kernels"] = kernel_times(calls[each], torch)
        print(f"epilogue {each:28} {us:9.1f} us, error {errors.get(each, 0):.1e}", flush=True)
    return sum(error > 2e-3 for error in errors.values())


OPEN = """
#a = affine_map<(m, n, k, p) -> (m, k, p)>
#b = affine_map<(m, n, k, p) -> (ORDER, p)>
#d = affine_map<(m, n, k, p) -> (m, n, p)>
func.func @f(%A: LEFT, %B: RIGHT) -> RESULT {
  %0 = arith.constant 0 : index
  %axis = arith.constant AXIS : index
  %m = tensor.dim %A, %0 : LEFT
  %n = tensor.dim %B, %axis : RIGHT
  %z = arith.constant 0.0 : TYPE
  %e = tensor.empty(%m, %n) : RESULT
  %i = linalg.fill ins(%z : TYPE) outs(%e : RESULT) -> RESULT
  %p = linalg.generic {indexing_maps = [#a, #b, #d], tile.algebra = "ALGEBRA",
                       iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
      ins(%A, %B : LEFT, RIGHT) outs(%i : RESULT) {
  ^bb0(%x: TYPE, %y: TYPE, %s: TYPE):
    %t = arith.mulf %x, %y : TYPE
    %u = arith.addf %s, %t : TYPE
    linalg.yield %u : TYPE
  } -> RESULT
  return %p : RESULT
}"""
"""A product of elements with components of which m, n and k are known at run time only."""
OPEN_SIZES = ((1, 1, 1), (7, 40, 24), (64, 64, 64), (129, 33, 65), (512, 500, 508), (1000, 1, 300))


def open_module(algebra: str, count: int, element: str, order: str) -> str:
    """Such a product as MLIR."""
    wide = f"tensor<?x?x{count}x{element}>"
    text = OPEN.replace("ORDER", ", ".join(order)).replace("AXIS", str(order.index("n"))).replace("ALGEBRA", algebra)
    return text.replace("LEFT", wide).replace("RIGHT", wide).replace("RESULT", wide).replace("TYPE", element)


def open_sizes(size: int, torch: Any, rows: list[dict[str, Any]], kernels: bool = False) -> int:
    """Sizes known at run time only: whole numbers, exact."""
    import mlir_gemm
    from mlir_gemm.spec.bilinear import known

    bad = 0
    generator = torch.Generator(device="cuda").manual_seed(3)
    for algebra, element, order in (("complex", "f16", "kn"), ("complex", "f64", "nk"), ("dual", "f32", "kn"),
                                    ("quaternion", "f16", "nk")):  # fmt: skip
        table = torch.tensor(known()[algebra].table, dtype=torch.float64, device="cuda")
        count = len(table)
        dtype = {"f16": torch.float16, "f32": torch.float32, "f64": torch.float64}[element]
        kernel = mlir_gemm.compile(open_module(algebra, count, element, order))
        wrong: list[tuple[int, ...]] = []
        for m, n, k in OPEN_SIZES:
            shape = {"m": m, "n": n, "k": k}
            a, b = (torch.randint(-2, 3, (*sizes, count), device="cuda", generator=generator).to(dtype)
                    for sizes in ((m, k), tuple(shape[letter] for letter in order)))  # fmt: skip
            poison = torch.full((m * n * count * 8,), 0xFF, dtype=torch.uint8, device="cuda")
            del poison
            wanted = torch.einsum(f"mkX,{order}Y,XYZ->mnZ", a.double(), b.double(), table)
            if not torch.equal(kernel(a, b).double(), wanted.to(dtype).double()):
                wrong.append((m, n, k))
        bad += len(wrong)
        rows.append({"case": "open sizes", "algebra": algebra, "type": element, "b": order, "wrong": wrong})
        print(f"open sizes: {algebra} {element} {order}: {len(OPEN_SIZES)} sizes, wrong {wrong}", flush=True)
    return bad


PARTS = {"dual": dual_numbers, "complex": complex_products, "epilogues": epilogues, "open": open_sizes}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=4096)
    parser.add_argument("--random", type=int, default=240)
    parser.add_argument("--workers", type=int, default=10)
    parser.add_argument("--only", choices=list(PARTS), nargs="+", default=list(PARTS))
    parser.add_argument("--kernels", action="store_true", help="say how long each kernel takes")
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    os.environ["MLIR_GEMM_CACHE"] = tempfile.mkdtemp()
    import torch

    rows: list[dict[str, Any]] = []
    bad = 0
    for part in options.only:
        try:
            bad += PARTS[part](options.size, torch, rows, options.kernels)
        except Exception:
            bad += 1
            print(traceback.format_exc(limit=-3), flush=True)
    torch.cuda.empty_cache()
    wrong: list[str] = []
    if options.random:
        with ProcessPoolExecutor(options.workers, mp_context=get_context("spawn")) as pool:
            wrong = [each for each in pool.map(random_product, range(options.random), chunksize=4) if each]
    print(f"{options.random} random products, {len(wrong)} wrong", *wrong[:12], sep="\n", flush=True)
    rows.append({"case": "random products", "count": options.random, "wrong": wrong})
    if options.output:
        options.output.write_text(json.dumps({"device": torch.cuda.get_device_name(), "rows": rows}, indent=1))
    return 1 if bad or wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
