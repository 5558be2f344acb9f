"""The one list of problems and schedules that checks, sweeps and ablations use."""

from __future__ import annotations

import itertools
import json
import lzma
import random
from dataclasses import dataclass
from pathlib import Path

SQUARES = (1024, 2048, 4096, 8192)


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
    check: bool = True
    """Compare with float64."""
    time: bool = False
    """Time next to the vendor's library."""

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
        "stages=2", "copy=plain", "copy=plain,stages=2", "promote=off,copy=plain", "accumulate=off", "pad=0", "pad=16",
        "vector=16", "vector=32", "vector=64", "unroll=off", "unroll=off,copy=plain", "raster=row", "raster=column",
        "raster=grouped,group=3", "raster=grouped,group=1", "storage=dynamic", "accumulate=off,copy=plain",
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


def sanitize(chip: str) -> list[Case]:
    """Every fourth of the small ones of the correctness set, for compute-sanitizer."""
    return [case for case in correctness(chip) if case.m * case.n * case.k <= 256**3][::4]


def sweep(chip: str) -> list[Case]:
    """Every schedule of the model's own space at the four squares, f32 out."""
    from mlir_gemm.pipeline.problem import Problem
    from mlir_gemm.tile_model.chips import target
    from mlir_gemm.tile_model.select import candidates

    return [
        Case(f"sweep{n}", n, n, n, _tiles(schedule), form="tensor", check=False, time=True)
        for n in SQUARES
        for schedule in candidates(Problem(n, n, n, reads_c=False), target(chip), {})
    ]


def _tiles(schedule: object) -> str:
    fields = [part for part in str(schedule).split(",") if part.split("=")[0] in ("block", "warp", "stages", "vector")]
    return ",".join(fields)


ABLATIONS = (
    "", "copy=plain", "pad=0", "vector=64", "vector=32", "vector=16", "unroll=off", "accumulate=off,copy=plain",
    "accumulate=off", "promote=off,copy=plain", "raster=row", "raster=column", "stages=1", "stages=2",
    "group=2", "group=4", "group=16", "group=32",
)  # fmt: skip


def ablation(_chip: str) -> list[Case]:
    """The model's choice at 8192^3 and the paper's tile, with one optimisation off at a time."""
    found = []
    for tiles in ("block=128x256x64,warp=64x64x32", "block=128x128x64,warp=64x32x16"):
        for off in ABLATIONS:
            fields = ",".join(part for part in (tiles, off) if part)
            found.append(Case("ablation", 8192, 8192, 8192, fields, form="memref", check=True, time=True))
    return found


def rasters(_chip: str) -> list[Case]:
    """Rasters, loads, stages and warp tiles around the best block tiles, in random order."""
    found = []
    for n, tiles, stages, early, raster, form in itertools.product(
        (4096, 8192),
        ("block=128x256x64,warp=64x64x16", "block=128x256x64,warp=128x32x16", "block=256x128x64,warp=64x64x16"),
        (1, 2),
        ("on", "off"),
        ("row", "grouped,group=4", "grouped,group=8", "grouped,group=16"),
        ("tensor", "memref"),
    ):
        fields = f"{tiles},stages={stages},early={early},raster={raster}"
        found.append(Case("rasters", n, n, n, fields, form=form, check=False, time=True))
    random.Random(1).shuffle(found)
    return sorted(found, key=lambda case: (case.n, case.form))


def loads(chip: str) -> list[Case]:
    """The two places of the loads for the schedules that come first by the model at many sizes."""
    from mlir_gemm.pipeline.problem import Problem
    from mlir_gemm.tile_model.chips import target
    from mlir_gemm.tile_model.select import select

    found = []
    for n in SQUARES:
        for candidate in select(Problem(n, n, n, reads_c=False), target(chip), {}).ranking[:60]:
            for early in ("on", "off"):
                fields = f"{_tiles(candidate.schedule)},early={early}"
                found.append(Case(f"loads{n}", n, n, n, fields, form="tensor", check=False, time=True))
    return found


def duel(_chip: str) -> list[Case]:
    """The best candidates for large products, to be timed in turn (`measure.py --together`)."""
    tiles = (
        "block=128x256x64,warp=64x64x16,stages=2,group=16",
        "block=128x256x64,warp=64x64x16,stages=2,group=8",
        "block=128x256x64,warp=64x64x16,stages=1,group=16",
        "block=128x256x64,warp=64x64x16,stages=2,raster=row",
        "block=128x256x64,warp=64x64x16,stages=2,group=16,early=off",
        "block=128x256x64,warp=64x32x16,stages=2,group=16",
        "block=128x256x64,warp=128x32x16,stages=2,group=16",
        "block=256x128x64,warp=64x64x16,stages=2,group=8",
        "block=256x128x64,warp=64x64x16,stages=2,group=4",
        "block=256x128x64,warp=64x64x16,stages=1,group=8",
        "block=256x128x64,warp=64x64x16,stages=1,group=4",
        "block=128x128x64,warp=64x64x16,stages=2,group=12",
        "block=128x256x32,warp=64x64x16,stages=2,group=16",
    )
    return [
        Case("duel", n, n, n, fields, form=form, check=False, time=True)
        for n, form, fields in itertools.product((4096, 8192), ("tensor", "memref"), tiles)
    ]


def finals(_chip: str) -> list[Case]:
    """The model's own choice at the four squares, every form and output type, checked and timed."""
    return [
        Case("finals", n, n, n, "", out, form, time=True)
        for n, out, form in itertools.product(SQUARES, ("f32", "f16"), ("tensor", "memref"))
    ]


def alternate(_chip: str) -> list[Case]:
    """The best tiles at 8192^3, each alone in turn with the vendor's library (long runs, twice): power-limited."""
    tiles = [
        f"block={block},warp=64x64x16,stages={stages},{raster}"
        for block in ("128x256x64", "256x128x64")
        for stages in (1, 2)
        for raster in ("raster=row", "group=4", "group=8", "group=16")
    ]
    return [Case("alternate", 8192, 8192, 8192, t, form="tensor", check=False, time=True) for t in [*tiles, *tiles]]


SWEEP = Path(__file__).parent / "results" / "2026-11-21-h200-sweep.json.xz"
"""The exhaustive sweep whose leaders are timed again."""


def leaders(_chip: str) -> list[Case]:
    """The model's own choice and the twelve fastest of the sweep for each square, to be timed in turn."""
    kernels = json.loads(lzma.decompress(SWEEP.read_bytes()))["kernels"]
    found = []
    for n in SQUARES:
        swept = sorted((k for k in kernels if k["name"] == f"sweep{n}"), key=lambda kernel: kernel["seconds"])
        for schedule in dict.fromkeys(["", *(kernel["full_schedule"] for kernel in swept[:12])]):
            found.append(Case("leaders", n, n, n, schedule, form="tensor", check=False, time=True))
    return found


SETS = {
    "finals": finals,
    "alternate": alternate,
    "leaders": leaders,
    "correctness": correctness,
    "sanitize": sanitize,
    "sweep": sweep,
    "ablation": ablation,
    "rasters": rasters,
    "loads": loads,
    "duel": duel,
}
