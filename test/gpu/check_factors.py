"""Factors of operands that move past a product, on the GPU of this machine: with the passes, without them, and PyTorch.

    python test/gpu/check_factors.py [--only "rms weights"] [-o RESULTS.json]

`apart` are the moved ones with each kernel launched by itself (without `share-launches`). Scaled rows, an RMS norm
without and with weights, and weights of bytes with scales, each before a linear layer, on random data, compared with
float64. Times are of launches back to back, in turn, the median of five rounds. Exit status 1 where one is wrong, or
rounds more than PyTorch.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import torch

os.environ["MLIR_GEMM_CACHE"] = "off"  # the same source is compiled in two ways

import mlir_gemm
from mlir_gemm.pipeline import driver, importing
from mlir_gemm.runtime import cache

SIZES = ((2048, 4096, 6144), (16384, 4096, 1024), (16384, 1024, 512), (512, 4096, 4096), (16, 4096, 4096))
"""m, k, n."""
ROUNDS, LAUNCHES = 5, 40
WORSE = 1.1
"""Times PyTorch's error that is still right."""
KINDS = ("scaled", "rms", "rms weights", "bytes")
PASSES = ("move-k-factors", "move-row-factors")

HEAD = """\
#e = affine_map<(i, j) -> (i, j)>
#r = affine_map<(i, j) -> (i)>
#c = affine_map<(i, j) -> (j)>
#v = affine_map<(i) -> (i)>
func.func @f({arguments}, %W: tensor<{n}x{k}x{w}>) -> tensor<{m}x{n}x{t}> {{
  %z = arith.constant 0.0 : f32
"""
MAP = """\
  {to}e = tensor.empty() : tensor<{rows}x{k}x{t}>
  {to} = linalg.generic {{indexing_maps = [#e, {map}, #e], iterator_types = ["parallel", "parallel"]}}
      ins({x}, {y} : tensor<{rows}x{k}x{given}>, tensor<{size}x{other}>) outs({to}e : tensor<{rows}x{k}x{t}>) {{
  ^bb0(%a: {given}, %b: {other}, %o: {t}):
    {body}
    linalg.yield %g : {t}
  }} -> tensor<{rows}x{k}x{t}>
"""
FACTOR = """\
  %re = tensor.empty() : tensor<{m}xf32>
  %r0 = linalg.fill ins(%z : f32) outs(%re : tensor<{m}xf32>) -> tensor<{m}xf32>
  %s = linalg.generic {{indexing_maps = [#e, #r], iterator_types = ["parallel", "reduction"]}}
      ins(%x : tensor<{m}x{k}x{t}>) outs(%r0 : tensor<{m}xf32>) {{
  ^bb0(%a: {t}, %o: f32):
    %f = arith.extf %a : {t} to f32
    %q = arith.mulf %f, %f : f32
    %p = arith.addf %q, %o : f32
    linalg.yield %p : f32
  }} -> tensor<{m}xf32>
  %i = linalg.generic {{indexing_maps = [#v, #v], iterator_types = ["parallel"]}}
      ins(%s : tensor<{m}xf32>) outs(%re : tensor<{m}xf32>) {{
  ^bb0(%a: f32, %o: f32):
    %k = arith.constant {k}.0 : f32
    %q = arith.divf %a, %k : f32
    %p = math.rsqrt %q : f32
    linalg.yield %p : f32
  }} -> tensor<{m}xf32>
"""
PRODUCT = """\
  %we = tensor.empty() : tensor<{m}x{n}xf32>
  %w0 = linalg.fill ins(%z : f32) outs(%we : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  %p = linalg.matmul
    indexing_maps = [affine_map<(i, j, l) -> (i, l)>, affine_map<(i, j, l) -> (j, l)>, affine_map<(i, j, l) -> (i, j)>]
    ins({a}, {b} : tensor<{m}x{k}x{t}>, tensor<{n}x{k}x{t}>) outs(%w0 : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  %de = tensor.empty() : tensor<{m}x{n}x{t}>
  %d = linalg.generic {{indexing_maps = [#e, #e], iterator_types = ["parallel", "parallel"]}}
      ins(%p : tensor<{m}x{n}xf32>) outs(%de : tensor<{m}x{n}x{t}>) {{
  ^bb0(%a: f32, %o: {t}):
    %g = arith.truncf %a : f32 to {t}
    linalg.yield %g : {t}
  }} -> tensor<{m}x{n}x{t}>
  return %d : tensor<{m}x{n}x{t}>
}}
"""
TIMES, WIDE = (
    "%g = arith.mulf %a, %b : {t}",
    ("%f = arith.extf %a : {t} to f32\n    %q = arith.mulf %f, %b : f32\n    %g = arith.truncf %q : f32 to {t}"),
)
BYTES = "%f = arith.sitofp %a : i8 to {t}\n    %g = arith.mulf %f, %b : {t}"


def source(kind: str, m: int, k: int, n: int) -> tuple[str, str]:
    """The text of a case, and the type that it computes in."""
    t = "bf16" if kind.startswith("rms") else "f16"
    sizes = {"m": m, "k": k, "n": n, "t": t, "w": "i8" if kind == "bytes" else t}
    second = {"scaled": f"%y: tensor<{m}x{t}>", "bytes": f"%y: tensor<{n}x{t}>", "rms weights": f"%y: tensor<{k}x{t}>"}
    text = HEAD.format(arguments=", ".join(filter(None, (f"%x: tensor<{m}x{k}x{t}>", second.get(kind)))), **sizes)

    def step(to: str, x: str, y: str, map_: str, body: str, rows: int, size: int, given: str, other: str) -> str:
        return MAP.format(to=to, x=x, y=y, map=map_, body=body.format(t=t), rows=rows, size=size, given=given,
                          other=other, k=k, t=t)  # fmt: skip

    a, b = "%x", "%W"
    if kind == "scaled":
        text, a = text + step("%h", "%x", "%y", "#r", TIMES, m, m, t, t), "%h"
    elif kind == "bytes":
        text, b = text + step("%h", "%W", "%y", "#r", BYTES, n, n, "i8", t), "%h"
    else:
        text, a = text + FACTOR.format(**sizes) + step("%h", "%x", "%i", "#r", WIDE, m, m, t, "f32"), "%h"
        if kind == "rms weights":
            text, a = text + step("%l", "%h", "%y", "#c", TIMES, m, k, t, t), "%l"
    return text + PRODUCT.format(a=a, b=b, **sizes), t


def operands(kind: str, m: int, k: int, n: int, type_: Any) -> list[Any]:
    rows = {"scaled": m, "bytes": n, "rms weights": k}
    x = torch.randn(m, k, device="cuda").to(type_)
    w = torch.randint(-127, 128, (n, k), device="cuda", dtype=torch.int8)
    w = w if kind == "bytes" else torch.randn(n, k, device="cuda").to(type_)
    given = [(torch.rand(rows[kind], device="cuda") / 100 + 1e-3).to(type_)] if kind in rows else []
    return [x, *given, w]


def eager(kind: str, type_: Any, x: Any, *rest: Any) -> Any:
    """What the module says, in a type; float64 for the reference."""
    *given, w = rest
    w = w.to(type_)
    if kind == "bytes":
        return x @ (w * given[0].to(type_)[:, None]).T
    if kind == "scaled":
        return (x * given[0].to(type_)[:, None]) @ w.T
    wide = x.double() if type_ == torch.float64 else x.float()
    h = (wide * torch.rsqrt(wide.square().mean(1, keepdim=True))).to(type_)
    return (h * given[0].to(type_) if given else h) @ w.T


def compiled(text: str, moved: bool, together: bool = True) -> mlir_gemm.Kernel:
    """A kernel with or without the passes that move factors, and with kernels launched `together` or not."""
    original, select = importing.normalise_passes, driver.select_passes
    if not together:
        driver.select_passes = lambda *given, **more: [
            each for each in select(*given, **more) if each.name != "share-launches"
        ]
    if not moved:
        importing.normalise_passes = lambda *given: [each for each in original(*given) if each.name not in PASSES]
    try:
        cache.forget()
        return mlir_gemm.compile(text, device="gpu")
    finally:
        importing.normalise_passes, driver.select_passes = original, select


def times(calls: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """Microseconds of each, in turn."""
    found: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(ROUNDS):
        for name, call in calls.items():
            call()
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            torch.cuda._sleep(2_000_000)
            start.record()
            for _ in range(LAUNCHES):
                call()
            end.record()
            end.synchronize()
            found[name].append(1e3 * start.elapsed_time(end) / LAUNCHES)
    return {name: median(each) for name, each in found.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("-o", type=Path)
    parser.add_argument("--only", choices=KINDS, nargs="*", default=KINDS)
    options = parser.parse_args()
    out = options.o
    rows: list[dict[str, Any]] = []
    for kind in options.only:
        for m, k, n in SIZES:
            text, name = source(kind, m, k, n)
            type_ = {"f16": torch.float16, "bf16": torch.bfloat16}[name]
            given = operands(kind, m, k, n, type_)
            wanted = eager(kind, torch.float64, *(each.double() for each in given))
            kernels = {"moved": compiled(text, True), "as written": compiled(text, False)}
            if "beside it" in " ".join(each.note for each in kernels["moved"].kernels):
                kernels["apart"] = compiled(text, True, together=False)
            calls = {each: (lambda kernel=kernel, given=given: kernel(*given)) for each, kernel in kernels.items()}
            calls["torch"] = lambda: eager(kind, type_, *given)  # noqa: B023 - called in this turn
            errors = {each: float((call().double() - wanted).norm() / wanted.norm()) for each, call in calls.items()}
            took = times(calls)
            rows.append({"case": kind, "m": m, "k": k, "n": n, "us": took, "errors": errors,
                         "kernels": {each: len(kernel.launch.steps) for each, kernel in kernels.items()}})  # fmt: skip
            shown = "  ".join(f"{each} {took[each]:8.1f} us {errors[each]:.1e}" for each in calls)
            print(f"{kind:12s} {m:6d}x{k}x{n}  {shown}  {rows[-1]['kernels']}")
    if out:
        out.write_text(json.dumps({"device": torch.cuda.get_device_name(), "rows": rows}, indent=1))
    wrong = [row for row in rows if not row["errors"]["moved"] <= WORSE * row["errors"]["torch"]]
    print(*(f"wrong: {row['case']} {row['m']}x{row['k']}x{row['n']}" for row in wrong), sep="\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
