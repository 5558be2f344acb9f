"""Products that read elements with components as they lie (`tile.composite`), on the GPU of this machine.

    python test/gpu/check_components.py [--sizes 256 1024 4096] [--repeat 6] [-o RESULTS.json]
    python test/gpu/check_components.py --only in_planes   # components in planes alone, about 60 products
    python test/gpu/check_components.py --only case --types f32 f64 --algebras complex --sizes 1024 2048 4096
    python test/gpu/check_components.py --dry   # sizes of 48 in the simulator, without times

Each product is compiled in two ways: B read as it lies, by one kernel, and laid out by a kernel in front; with its
components in planes by one kernel, and by a product for each pair of planes (512 and 1024). Both are
compared with float64 on random numbers, where the result had held NaN, and exactly on whole numbers of ragged sizes;
then timed, calls interleaved, complex ones beside torch.mm. Exit status 1 where something is wrong. A run without
arguments compiles about 170 products.
"""

from __future__ import annotations

import argparse
import importlib
import json
import re
import traceback
from pathlib import Path
from typing import Any

import numpy as np

TYPES = {"f16": ("float16", "", 2e-3), "tf32": ("float32", "precision=tf32", 1e-3), "f32": ("float32", "", 2e-6),
         "f64": ("float64", "", 1e-14)}  # fmt: skip
"""The type of components, what is fixed of the schedule, and the largest error."""
PLANES = (512, 1024)
"""Sizes of products of planes."""
RAGGED = (40, 56, 44)
"""M, N and K of the exact products."""


def module(m: int, n: int, k: int, element: str, algebra: str, order: str, count: int) -> str:
    """A product of elements with components."""
    b = f"{k}x{n}" if order == "kn" else f"{n}x{k}"
    left, right, result = (f"tensor<{sizes}x{count}x{element}>" for sizes in (f"{m}x{k}", b, f"{m}x{n}"))
    indices = ", ".join(order)
    return f"""
#a = affine_map<(m, n, k, p) -> (m, k, p)>
#b = affine_map<(m, n, k, p) -> ({indices}, p)>
#d = affine_map<(m, n, k, p) -> (m, n, p)>
func.func @f(%A: {left}, %B: {right}) -> {result} {{
  %z = arith.constant 0.0 : {element}
  %e = tensor.empty() : {result}
  %i = linalg.fill ins(%z : {element}) outs(%e : {result}) -> {result}
  %p = linalg.generic {{indexing_maps = [#a, #b, #d],
                       iterator_types = ["parallel", "parallel", "reduction", "parallel"],
                       tile.algebra = {{name = "{algebra}", algorithm = "schoolbook"}}}}
      ins(%A, %B : {left}, {right}) outs(%i : {result}) {{
  ^bb0(%x: {element}, %y: {element}, %s: {element}):
    %0 = arith.mulf %x, %y : {element}
    %1 = arith.addf %s, %0 : {element}
    linalg.yield %1 : {element}
  }} -> {result}
  return %p : {result}
}}"""


def kernels(text: str, schedule: str, on: dict[str, Any]) -> dict[str, Any]:
    """The product with B read as it lies, and with B laid out in front."""
    import mlir_gemm
    from mlir_gemm.dialect.bindings import ir
    from mlir_gemm.dialect.context import new_context
    from mlir_gemm.dialect.parse import parse_module
    from mlir_gemm.passes.select.read_components import ReadComponents
    from mlir_gemm.pipeline.driver import compile_module
    from mlir_gemm.runtime.own_chip import default_chip

    imported = compile_module(text, until="import", chip=on.get("chip") or default_chip()).ir("import")
    if "tile.laid_out" not in imported:
        raise ValueError("nothing lays B out here")
    context = new_context()
    with context, ir.Location.unknown():
        read = parse_module(imported, "-", context)
        ReadComponents().run(read)
    ways = {"read": str(read), "laid out": re.sub(r'tile\.laid_out = "[^"]*", ', "", imported)}
    return {name: mlir_gemm.compile(each, schedule=schedule or None, **on) for name, each in ways.items()}


def check(kernel: Any, arrays: Any, wanted: Any, torch: Any) -> float:
    """The largest error of a component, the last dimension of `wanted`, relative to all of it, where its result had
    held NaN. A kernel gives one array of them, or an array for each."""
    if torch is not None:
        poison = torch.full((wanted.size * 8,), 0xFF, dtype=torch.uint8, device="cuda")
        del poison
        arrays = [torch.from_numpy(each).cuda() for each in arrays]
    found = kernel(*arrays)
    planes = found if isinstance(found, (list, tuple)) else [found[..., n] for n in range(wanted.shape[-1])]
    got = [np.asarray(each if torch is None else each.cpu()).astype(float) for each in planes]
    errors = [np.linalg.norm(each - wanted[..., n]) / max(1e-30, np.linalg.norm(wanted[..., n]))
              for n, each in enumerate(got)]  # fmt: skip
    return float(max(errors)) if all(np.isfinite(each).all() for each in got) else float("inf")


def judged(row: dict[str, Any], product: Any, most: float, options: Any, torch: Any, rival: Any = None) -> None:
    """Adds to a row what is wrong, exact at ragged sizes, the errors at its size, the kernels of each way, and times,
    of a rival too. `product` gives operands, the result and kernels by name for M, N and K, of whole numbers or not."""
    size = row["size"]
    arrays, wanted, found = product(*RAGGED, True)
    row["bad"] += [f"{way}: not exact" for way, each in found.items() if check(each, arrays, wanted, torch) != 0]
    arrays, wanted, found = product(size, size, size, False)
    row["errors"] = {way: check(each, arrays, wanted, torch) for way, each in found.items()}
    row["bad"] += [f"{way}: {error:.1e}" for way, error in row["errors"].items() if not error <= most]
    products = {way: next(each for each in kernel.kernels if each.problem) for way, kernel in found.items()}
    row["schedules"] = {way: str(each.schedule) for way, each in products.items()}
    row["kernels"] = {way: len(each.kernels) for way, each in found.items()}
    if torch is not None:
        from launch_times import microseconds

        given = [torch.from_numpy(each).cuda() for each in arrays]
        calls: dict[str, Any] = {way: (lambda kernel=kernel: kernel(*given)) for way, kernel in found.items()}
        if rival is not None:
            calls["PyTorch"] = rival(given)
        row["us"] = dict(zip(calls, microseconds(list(calls.values()), torch, options.repeat), strict=True))


def case(
    name: str, algebra: str, order: str, size: int, options: Any, on: dict[str, Any], torch: Any
) -> dict[str, Any]:
    """One product: exact at ragged sizes, its errors and times at this one."""
    from mlir_gemm.spec.bilinear import named

    dtype, schedule, most = TYPES[name]
    count, element = named(algebra).components, "f32" if name == "tf32" else name
    table, rng = np.array(named(algebra).table, float), np.random.default_rng(size)
    row: dict[str, Any] = {"type": name, "algebra": algebra, "b": order, "size": size, "bad": []}

    def product(m: int, n: int, k: int, whole: bool) -> tuple[Any, Any, dict[str, Any]]:
        shapes = (m, k, count), (*((k, n) if order == "kn" else (n, k)), count)
        a, b = ((rng.integers(-2, 3, shape) if whole else rng.normal(size=shape)).astype(dtype) for shape in shapes)
        wide = a.astype(float), b.astype(float)
        wanted = np.zeros((m, n, count))
        for i, j, to in zip(*np.nonzero(table), strict=True):
            right = wide[1][..., j] if order == "kn" else wide[1][..., j].T
            wanted[..., to] += table[i, j, to] * (wide[0][..., i] @ right)
        return (a, b), wanted, kernels(module(m, n, k, element, algebra, order, count), schedule, on)

    def by_torch(given: list[Any]) -> Any:
        torch.backends.cuda.matmul.allow_tf32 = name == "tf32"
        a, b = (torch.view_as_complex(each) for each in given)
        return lambda: torch.mm(a, b)

    known = algebra == "complex" and order == "kn" and name != "f16"
    judged(row, product, most, options, torch, by_torch if known else None)
    return row


def in_planes(
    name: str, algebra: str, order: str, size: int, options: Any, on: dict[str, Any], torch: Any
) -> dict[str, Any]:
    """One product of components in planes: exact at ragged sizes, errors and times at this one, of both ways."""
    import mlir_gemm
    from mlir_gemm.pipeline import importing
    from mlir_gemm.spec.bilinear import named
    from mlir_gemm.tracing.composite import planes_module
    from mlir_gemm.tracing.contraction import Operand

    dtype, schedule, most = TYPES[name]
    count, element = named(algebra).components, "f32" if name == "tf32" else name
    table, rng = np.array(named(algebra).table, float), np.random.default_rng(size)
    row: dict[str, Any] = {"type": name, "algebra": algebra, "b": order, "planes": True, "size": size, "bad": []}

    def product(m: int, n: int, k: int, whole: bool) -> tuple[list[Any], Any, dict[str, Any]]:
        sizes = {"m": m, "n": n, "k": k}
        shapes = (m, k), tuple(sizes[letter] for letter in order)
        parts = [[(rng.integers(-2, 3, shape) if whole else rng.normal(size=shape)).astype(dtype) for _ in range(count)]
                 for shape in shapes]  # fmt: skip
        wanted = np.zeros((m, n, count))
        for i, j, to in zip(*np.nonzero(table), strict=True):
            right = parts[1][j].astype(float)
            wanted[..., to] += table[i, j, to] * (parts[0][i].astype(float) @ (right if order == "kn" else right.T))
        sides = [Operand("A", "mk", shapes[0], element), Operand("B", order, shapes[1], element)]
        text, found, asked = planes_module(named(algebra), sides, "mn", "", "", sizes), {}, importing.chip_options
        for way, options in (("together", asked), ("apart", lambda *_: {})):
            importing.chip_options = options
            found[way] = mlir_gemm.compile(f"// {way}\n{text}", schedule=schedule or None, **on)
        importing.chip_options = asked
        return [each for side in parts for each in side], wanted, found

    judged(row, product, most, options, torch)
    return row


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[256, 1024, 4096])
    parser.add_argument("--repeat", type=int, default=6)
    parser.add_argument("--dry", action="store_true", help="in the simulator, for sm_80, small and without times")
    parser.add_argument("--only", choices=["case", "in_planes"], help="components side by side, or in planes")
    parser.add_argument("--types", nargs="*", default=list(TYPES), choices=list(TYPES))
    parser.add_argument("--algebras", nargs="*", default=["complex", "dual", "quaternion"])
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    on: dict[str, Any] = {"device": "simulator", "chip": "sm_80"} if options.dry else {}
    torch: Any = None if options.dry else importlib.import_module("torch")
    rows: list[dict[str, Any]] = []
    planes = [(name, algebra, order) for name in TYPES for algebra, order in (("complex", "kn"), ("dual", "nk"))]
    cases: list[tuple[Any, str, str, str]] = [
        *((in_planes, *each) for each in planes), (in_planes, "f32", "quaternion", "kn"),
        *((case, name, algebra, "kn") for name in TYPES for algebra in ("complex", "dual")),
        *((case, name, "complex", "nk") for name in TYPES), (case, "f32", "quaternion", "kn"),
        (case, "tf32", "quaternion", "kn"),
    ]  # fmt: skip
    for check_, name, algebra, order in cases:
        if name not in options.types or algebra not in options.algebras:
            continue
        if options.only and check_.__name__ != options.only:
            continue
        sizes = options.sizes if check_ is case else PLANES
        for size in (48,) if options.dry else sizes:
            try:
                row = check_(name, algebra, order, size, options, on, torch)
            except Exception:  # a refusal or a fault: told, and the next one goes on
                row = {"type": name, "algebra": algebra, "b": order, "size": size,
                       "bad": [traceback.format_exc(limit=-3)]}  # fmt: skip
            rows.append(row)
            times = ", ".join(f"{way} {us:.1f} us" for way, us in row.get("us", {}).items())
            errors = ", ".join(f"{way} {error:.1e}" for way, error in row.get("errors", {}).items())
            where = "planes" if check_ is in_planes else ""
            print(
                f"{name:5} {algebra:10} {order} {size:5} {where}: {times or 'no times'}; {errors}",
                *row["bad"],
                flush=True,
            )
    if options.output:
        device = torch.cuda.get_device_name() if torch is not None else "simulator"
        options.output.write_text(json.dumps({"device": device, "rows": rows}, indent=1))
    return 1 if any(row["bad"] for row in rows) else 0


if __name__ == "__main__":
    raise SystemExit(main())
