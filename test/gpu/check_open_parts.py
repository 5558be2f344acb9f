"""Slices, shifts and group norms of open sizes on a GPU: `python test/gpu/check_open_parts.py -o OUT.json`.

Each of them is one kernel since slices are read where they are used. Every one runs with several sizes, the smallest
among them, against float64, its outputs poisoned before; the largest is timed beside eager PyTorch and `torch.compile`
in the same run. Exit status 1 if anything is wrong. Needs a GPU and PyTorch.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import mlir_gemm
from bench.timing import Timer

TOLERANCE = {"f32": 1e-6, "f16": 1.5e-3, "bf16": 1.2e-2}
TYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
ID, LAST = "affine_map<(i, j, k) -> (i, j, k)>", "affine_map<(i, j, k) -> (k)>"
KINDS = 'iterator_types = ["parallel", "parallel", "parallel"]'


def difference(element: str, width: int) -> str:
    """`(x[:, 1:] - x[:, :-1]) * w`, of any batch and length."""
    x = f"tensor<?x?x{width}x{element}>"
    return f"""func.func @main(%x: {x}, %w: tensor<{width}x{element}>) -> {x} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %less = arith.constant -1 : index
  %b = tensor.dim %x, %c0 : {x}
  %t = tensor.dim %x, %c1 : {x}
  %n = arith.addi %t, %less : index
  %new = tensor.extract_slice %x[0, 1, 0] [%b, %n, {width}] [1, 1, 1] : {x} to {x}
  %old = tensor.extract_slice %x[0, 0, 0] [%b, %n, {width}] [1, 1, 1] : {x} to {x}
  %e = tensor.empty(%b, %n) : {x}
  %r = linalg.generic {{indexing_maps = [{ID}, {ID}, {LAST}, {ID}], {KINDS}}}
      ins(%new, %old, %w : {x}, {x}, tensor<{width}x{element}>) outs(%e : {x}) {{
  ^bb0(%p: {element}, %q: {element}, %s: {element}, %o: {element}):
    %d = arith.subf %p, %q : {element}
    %m = arith.mulf %d, %s : {element}
    linalg.yield %m : {element}
  }} -> {x}
  return %r : {x}
}}
"""


def joined(element: str, width: int) -> str:
    """`torch.cat([x, y], 1) + w`, of any batch and lengths: a cache that grows."""
    x = f"tensor<?x?x{width}x{element}>"
    return f"""func.func @main(%x: {x}, %y: {x}, %w: tensor<{width}x{element}>) -> {x} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %x, %c0 : {x}
  %t = tensor.dim %x, %c1 : {x}
  %u = tensor.dim %y, %c1 : {x}
  %n = arith.addi %t, %u : index
  %z = tensor.concat dim(1) %x, %y : ({x}, {x}) -> {x}
  %e = tensor.empty(%b, %n) : {x}
  %r = linalg.generic {{indexing_maps = [{ID}, {LAST}, {ID}], {KINDS}}}
      ins(%z, %w : {x}, tensor<{width}x{element}>) outs(%e : {x}) {{
  ^bb0(%p: {element}, %s: {element}, %o: {element}):
    %m = arith.addf %p, %s : {element}
    linalg.yield %m : {element}
  }} -> {x}
  return %r : {x}
}}
"""


def eager_difference(x: Any, w: Any) -> Any:
    return (x[:, 1:] - x[:, :-1]) * w


def eager_joined(x: Any, y: Any, w: Any) -> Any:
    return torch.cat([x, y], 1) + w


def eager_norm(x: Any, w: Any, b: Any) -> Any:
    return torch.nn.functional.group_norm(x, 2, w, b)


def eager_instances(x: Any) -> Any:
    return torch.nn.functional.instance_norm(x)


@dataclass(frozen=True)
class Case:
    """A program, what it computes, and the shapes of its arguments, the last of them timed."""

    name: str
    text: str
    element: str
    eager: Callable[..., Any]
    shapes: tuple[tuple[tuple[int, ...], ...], ...]
    sizes: tuple[tuple[str, int], ...] = ()
    """Typical sizes that the compiler is told."""


def cases() -> list[Case]:
    norm = (Path(__file__).resolve().parents[1] / "modules/front/open_group_norm.mlir").read_text()
    images = (((5, 6), (1, 1), (33, 64), (512, 512)), ((255, 257), (64, 64)), ((256, 256), (509, 511)))
    found = [
        Case(f"group norm {each[-1][0]}x{each[-1][1]}", norm, "f32", eager_norm,
             tuple(((2, 4, h, w), (4,), (4,)) for h, w in each))
        for each in images
    ]  # fmt: skip
    instances = (Path(__file__).resolve().parents[1] / "modules/front/open_instance_norm.mlir").read_text()
    for batch, channels, length in ((2, 32, 40960), (4, 32, 16384), (2, 4, 524288), (2, 4, 300001)):
        text = instances.replace("2x4x", f"{batch}x{channels}x")
        shapes = tuple(((batch, channels, each),) for each in (7, 4097, length))
        name = f"instance norm {batch * channels}x{length}"
        found.append(Case(name, text, "f32", eager_instances, shapes, (("s0", length),)))
    for element, width in (("f16", 512), ("f32", 512), ("bf16", 1000), ("f16", 77)):
        steps = ((1, 2), (3, 7), (2, 129), (8, 4096))
        shapes = tuple(((b, t, width), (width,)) for b, t in steps)
        found.append(Case(f"difference {width}", difference(element, width), element, eager_difference, shapes))
        cats = tuple(((b, t, width), (b, t // 2, width), (width,)) for b, t in steps)
        found.append(Case(f"cat {width}", joined(element, width), element, eager_joined, cats))
    return found


def check(case: Case, timer: Timer) -> dict[str, Any]:
    """One program at all its sizes, and timed at the last."""
    kernel, worst = mlir_gemm.compile(case.text, sizes=dict(case.sizes)), 0.0
    given: list[Any] = []
    for shapes in case.shapes:
        given = [torch.randn(shape, device="cuda").to(TYPES[case.element]) for shape in shapes]
        wanted = case.eager(*(each.double() for each in given))
        poisoned = torch.full(wanted.shape, float("nan"), dtype=TYPES[case.element], device="cuda")
        del poisoned  # the result comes to lie there
        got = kernel(*given).double()
        worst = max(worst, float((got - wanted).norm() / max(float(wanted.norm()), 1e-30)))
    compiled = torch.compile(case.eager)
    compiled(*given)
    runs = [lambda: kernel(*given), lambda: case.eager(*given), lambda: compiled(*given)]
    host = timer.host(runs)
    cold = timer.cold(runs, host)
    warm = timer.sustained(runs, [each.median for each in cold], host, lambda: None)[0]
    moved = sum(each.nbytes for each in given) + kernel(*given).nbytes
    names = ("us", "eager_us", "compiled_us")
    result = {
        "case": case.name, "element": case.element, "error": worst, "right": worst <= TOLERANCE[case.element],
        **{name: each.median * 1e6 for name, each in zip(names, warm, strict=True)},
        **{f"cold_{name}": each.median * 1e6 for name, each in zip(names, cold, strict=True)},
        "tb_per_s": moved / warm[0].median / 1e12, "kernels": len(kernel.kernels),
    }  # fmt: skip
    print(json.dumps(result), flush=True)
    return result


def main() -> int:
    """The check from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", dest="out")
    parser.add_argument("--only", default="", help="cases with this in their names")
    options = parser.parse_args()
    torch.manual_seed(0)
    timer = Timer(torch, 5, 5, 0.01)
    results = [check(case, timer) for case in cases() if options.only in case.name]
    if options.out:
        Path(options.out).write_text(json.dumps({"device": torch.cuda.get_device_name(), "results": results}, indent=1))
    return 0 if all(each["right"] for each in results) else 1


if __name__ == "__main__":
    raise SystemExit(main())
