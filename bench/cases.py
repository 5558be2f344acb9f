"""Schedules of every kind on sizes of every kind: what is checked, not measured (`test/gpu/check_simulator.py`)."""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """One kernel: a problem, a form of input, and the schedule fields that are fixed."""

    name: str
    m: int
    n: int
    k: int
    schedule: str = ""
    out: str = "f32"
    form: str = "memref"
    """`memref` (C += A B in place), `tensor` (D = A B) or `add` (D = A B + C on tensors)."""

    def module(self) -> str:
        """The MLIR source of the problem."""
        return _FORMS[self.form](self.m, self.n, self.k, self.out)


def _memref(m: int, n: int, k: int, out: str) -> str:
    a, b, c = f"memref<{m}x{k}xf16>", f"memref<{k}x{n}xf16>", f"memref<{m}x{n}x{out}>"
    return f"""func.func @matmul(%A: {a}, %B: {b}, %C: {c}) {{
  linalg.matmul ins(%A, %B : {a}, {b}) outs(%C : {c})
  return
}}"""


def _tensor(m: int, n: int, k: int, out: str) -> str:
    a, b, d, r = f"tensor<{m}x{k}xf16>", f"tensor<{k}x{n}xf16>", f"tensor<{m}x{n}xf32>", f"tensor<{m}x{n}x{out}>"
    head = f"""func.func @matmul(%A: {a}, %B: {b}) -> {r} {{
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : {d}
  %init = linalg.fill ins(%zero : f32) outs(%empty : {d}) -> {d}
  %D = linalg.matmul ins(%A, %B : {a}, {b}) outs(%init : {d}) -> {d}
"""
    if out == "f32":
        return head + f"  return %D : {r}\n}}"
    return (
        "#id = affine_map<(i, j) -> (i, j)>\n"
        + head
        + f"""  %half = tensor.empty() : {r}
  %T = linalg.generic {{indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}}
      ins(%D : {d}) outs(%half : {r}) {{
    ^bb0(%x: f32, %y: f16):
      %t = arith.truncf %x : f32 to f16
      linalg.yield %t : f16
  }} -> {r}
  return %T : {r}
}}"""
    )


def _add(m: int, n: int, k: int, out: str) -> str:
    a, b, d = f"tensor<{m}x{k}xf16>", f"tensor<{k}x{n}xf16>", f"tensor<{m}x{n}x{out}>"
    return f"""func.func @matmul(%A: {a}, %B: {b}, %C: {d}) -> {d} {{
  %D = linalg.matmul ins(%A, %B : {a}, {b}) outs(%C : {d}) -> {d}
  return %D : {d}
}}"""


_FORMS = {"memref": _memref, "tensor": _tensor, "add": _add}


def correctness(_chip: str) -> list[Case]:
    """Schedules of every kind on sizes of every kind; more than 200 once the illegal ones are refused."""
    rng = random.Random(2)
    sizes = [16, 32, 48, 64, 80, 96, 128, 192, 256, 384, 512, 640, 1008, 1024]
    found: list[Case] = []
    for form, out in itertools.product(("memref", "tensor", "add"), ("f32", "f16")):
        for _ in range(14):
            m, n, k = (rng.choice(sizes) for _ in range(3))
            found.append(Case("model", m, n, k, out=out, form=form))
    blocks = [
        "64x64x32",
        "64x128x64",
        "128x64x32",
        "128x128x64",
        "128x256x64",
        "256x128x32",
        "32x64x64",
        "96x96x32",
        "48x80x16",
    ]
    warps = ["16x16x16", "32x32x16", "64x32x16", "32x64x32", "64x64x32", "48x48x16", "48x80x16", "32x96x32"]
    options = [
        "stages=2", "mainloop=direct", "mainloop=direct,stages=2", "promote=off,mainloop=direct", "accumulate=off",
        "pad=0", "pad=16", "vector=16", "vector=32", "vector=64", "unroll=off", "unroll=off,mainloop=direct",
        "raster=row", "raster=column", "raster=grouped,raster_group=3", "raster=grouped,raster_group=1",
        "storage=dynamic", "accumulate=off,mainloop=direct",
    ]  # fmt: skip
    for block, warp in itertools.product(blocks, warps):
        bm, bn, bk = map(int, block.split("x"))
        wm, wn, wk = map(int, warp.split("x"))
        if bm % wm or bn % wn or bk % wk or (bm // wm) * (bn // wn) > 32:
            continue
        for option in ["", *rng.sample(options, 5)]:
            form, out = rng.choice(["memref", "tensor", "add"]), rng.choice(["f32", "f16"])
            if "accumulate=off" in option:
                form, out = "memref", "f32"
            m, n, k = bm * rng.randint(1, 5), bn * rng.randint(1, 3), bk * rng.randint(1, 5)
            fields = f"block={block},warp={warp}" + (f",{option}" if option else "")
            found.append(Case("schedule", m, n, k, fields, out, form))
    return found
