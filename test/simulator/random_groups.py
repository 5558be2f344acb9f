"""Simulates random problems and schedules of wgmma and tensor copies, at every stage and with all checks, and prints a
summary.

Slow, so not among the tests: `python test/simulator/random_groups.py [COUNT] [SEED]`. Ends with status 1 when a result
is wrong or a check finds something, and shows what would run it again. Schedules that the compiler refuses are counted.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from mlir_gemm.errors import Error
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.simulator.expected import relative_error
from mlir_gemm.simulator.kernel import simulate
from mlir_gemm.simulator.stages import run_stage
from mlir_gemm.spec.schedule import Schedule

CHIP = "sm_90a"
DTYPES: dict[str, Any] = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32}
COLUMNS = (64, 64, 128, 192, 256, 32, 16, 48, 96, 160, 112, 144, 24)
"""Of a warpgroup's tile: whole panels of 128 bytes, and narrower ones where B lies row by row."""
CLUSTERS = (
    "cluster_m=2",
    "cluster_n=2",
    "cluster_n=4",
    "cluster_m=4",
    "cluster_m=2,cluster_n=2",
    "cluster_m=4,cluster_n=2",
    "cluster_m=2,cluster_n=4",
    "split_k_cluster=2",
    "split_k_cluster=3",
)
LIMITS = {"f32": 1e-5, "f16": 5e-4, "bf16": 4e-3}
COMMON = ("import", "select", "tile", "fuse", "promote", "tensorize", "accumulate")
"""Stages that are the same for every mma, and tested elsewhere."""


@dataclass(frozen=True)
class Case:
    """A product, and how it is computed."""

    size: tuple[int, int, int]
    element: str
    out: str
    transposed: tuple[bool, bool]
    adds: bool
    """Whether the result is added to C."""
    schedule: str

    @property
    def source(self) -> str:
        """The module."""
        m, n, _ = self.size
        a, b = ("x".join(map(str, shape)) + f"x{self.element}" for shape in self._shapes)
        maps = [
            f"affine_map<(m, n, k) -> ({order})>"
            for order in ("k, m" if self.transposed[0] else "m, k", "n, k" if self.transposed[1] else "k, n", "m, n")
        ]
        product = f"linalg.matmul indexing_maps = [{', '.join(maps)}]"
        if self.adds:
            return f"""func.func @f(%A: memref<{a}>, %B: memref<{b}>, %C: memref<{m}x{n}xf32>) {{
  {product} ins(%A, %B : memref<{a}>, memref<{b}>) outs(%C : memref<{m}x{n}xf32>)
  return
}}"""
        wide, narrow = f"tensor<{m}x{n}xf32>", f"tensor<{m}x{n}x{self.out}>"
        end = f"return %D : {wide}"
        if self.out != "f32":
            end = f"""%n = tensor.empty() : {narrow}
  %T = linalg.generic {{indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}}
      ins(%D : {wide}) outs(%n : {narrow}) {{
    ^bb0(%x: f32, %y: {self.out}):
      %t = arith.truncf %x : f32 to {self.out}
      linalg.yield %t : {self.out}
  }} -> {narrow}
  return %T : {narrow}"""
        return f"""#id = affine_map<(i, j) -> (i, j)>
func.func @f(%A: tensor<{a}>, %B: tensor<{b}>) -> {narrow} {{
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : {wide}
  %i = linalg.fill ins(%zero : f32) outs(%e : {wide}) -> {wide}
  %D = {product} ins(%A, %B : tensor<{a}>, tensor<{b}>) outs(%i : {wide}) -> {wide}
  {end}
}}"""

    @property
    def _shapes(self) -> tuple[tuple[int, int], tuple[int, int]]:
        m, n, k = self.size
        return ((k, m) if self.transposed[0] else (m, k)), ((n, k) if self.transposed[1] else (k, n))

    def arrays(self) -> tuple[list[Any], Any]:
        """A, B and the result's memory, and what is to be in it."""
        m, n, _ = self.size
        rng = np.random.default_rng(sum(self.size))
        a, b = (rng.standard_normal(shape).astype(DTYPES[self.element]) for shape in self._shapes)
        left, right = (each.T if turned else each for each, turned in zip((a, b), self.transposed, strict=True))
        want = left.astype(np.float64) @ right.astype(np.float64)
        c = np.full((m, n), np.nan, DTYPES[self.out])
        if self.adds:
            c = rng.standard_normal((m, n)).astype(np.float32)
            want = want + c
        return [a, b, c], want


def draw(rng: random.Random) -> Case:
    """A problem and a schedule that may be legal for it."""
    down, along = rng.choice(((1, 1), (2, 1), (2, 1), (1, 2), (3, 1)))
    warp = rng.choice((64, 64, 128)), rng.choice(COLUMNS), rng.choice((64, 64, 128))
    block = warp[0] * down, warp[1] * along, warp[2]
    size = [tile * rng.randint(1, most) for tile, most in zip(block, (3, 3, 5), strict=True)]
    if rng.random() < 0.4:
        less = rng.choice((0, 1, 7, 40)), 8 * rng.randint(0, 3), 8 * rng.randint(0, 3)
        size = [max(8, full - by) for full, by in zip(size, less, strict=True)]
    fields = [
        f"block={'x'.join(map(str, block))},warp={'x'.join(map(str, warp))},mma=wgmma,mainloop=tma,layout=swizzle128",
        f"pad=0,stages={rng.randint(2, 4)},raster={rng.choice(('grouped', 'snake', 'row', 'column'))}",
        f"raster_group={rng.choice((1, 2, 8))}",
    ]
    fields += [f"persistent={rng.choice((1, 2, 3, 4, 6))}"] if rng.random() < 0.4 else []
    fields += [rng.choice(CLUSTERS)] if rng.random() < 0.4 else []
    fields += ["swap_ab=on"] if rng.random() < 0.25 else []
    fields += ["smem_epilogue=false"] if rng.random() < 0.2 else []
    fields += [f"l2_keep_a={rng.choice((0, 5, 32))},l2_keep_b={rng.choice((0, 11))}"] if rng.random() < 0.2 else []
    adds = rng.random() < 0.3
    return Case(
        (size[0], size[1], size[2]),
        rng.choice(("f16", "f16", "bf16")),
        "f32" if adds else rng.choice(("f32", "f16", "bf16")),
        (rng.random() < 0.25, rng.random() < 0.5),
        adds,
        ",".join(fields),
    )


def wrong(case: Case) -> str | None:
    """What is wrong with a case, empty for nothing; None if the compiler refuses it."""
    try:
        schedule = Schedule.parse(case.schedule)
        compiled = compile_module(case.source, chip=CHIP, schedule=schedule, until="lower", keep=("all",))
    except Error:
        return None
    if len(compiled.kernels) > 1:  # operands are re-laid out first: not one launch
        return None
    for stage in compiled.stages:
        if stage in COMMON or (stage == "parallelize" and "split" in schedule):  # parts of sums
            continue
        memory, want = case.arrays()
        try:
            if stage == "lower":
                report = simulate(compiled.ir(stage), memory)
                if report.findings:
                    return f"{stage}: {report}"
            else:
                run_stage(compiled.ir(stage), memory)
        except Error as error:
            return f"{stage}: {error}"
        error = relative_error(memory[2], want)
        if not error <= LIMITS[case.out]:
            return f"{stage}: error {error:.2e}"
    return ""


def main(number: int, seed: int) -> int:
    """Runs `number` cases; the count of those that went wrong."""
    rng = random.Random(seed)
    counts = Counter[str]()
    for _ in range(number):
        case = draw(rng)
        found = wrong(case)
        counts["refused" if found is None else "wrong" if found else "right"] += 1
        if found:
            print(f"{case}\n{case.source}\n{found}", flush=True)
    print(f"{number} cases, seed {seed}: " + ", ".join(f"{times} {what}" for what, times in sorted(counts.items())))
    return counts["wrong"]


if __name__ == "__main__":
    arguments = [int(argument) for argument in sys.argv[1:]]
    sys.exit(1 if main(*[*arguments, *(200, 0)[len(arguments) :]]) else 0)
