"""Only the k steps in which an operand is not zero, with all but wgmma: every main loop and shape of zeros."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from draws import draws

import mlir_gemm
from mlir_gemm.spec.problem import Problem
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tile_model.select import select
from mlir_gemm.tracing.contraction import Contraction, Operand

TILES = "block=32x32x32,warp=16x16x16"
WAYS = {
    "copied ahead": ("sm_80", f"mainloop=cp_async,stages=3,{TILES}", "f16"),
    "one stage": ("sm_80", f"mainloop=register_prefetch,stages=1,{TILES}", "f16"),
    "two stages": ("sm_80", f"mainloop=register_prefetch,stages=2,{TILES}", "f16"),
    "direct": ("sm_80", f"mainloop=direct,{TILES}", "f16"),
    "lanes": ("sm_80", "mma=simt,block=32x32x16,warp=16x16x16", "f32"),
    "wmma": ("sm_70", f"mma=wmma,{TILES}", "f16"),
    "a ring, by warps": ("h200", f"mma=mma_sync,mainloop=tma,layout=swizzle128,stages=2,{TILES}", "f16"),
    "a ring that blocks walk": (
        "h200",
        f"mma=mma_sync,mainloop=tma,layout=swizzle128,stages=3,persistent=3,{TILES}",
        "f16",
    ),
    "blocks that walk": ("sm_80", f"mainloop=cp_async,stages=2,tiles_per_block=3,{TILES}", "f16"),
    "f64": ("h200", "mma=mma_sync,mainloop=cp_async,block=32x32x16,warp=16x16x16", "f64"),
}
TYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64}
SHAPES = {
    'tile.triangular = "lower"': lambda i, j: j <= i,
    'tile.triangular = "upper"': lambda i, j: j >= i,
    "tile.banded = array<i64: 20, 3>": lambda i, j: (j <= i + 3) & (j >= i - 20),
    "tile.block_diagonal = array<i64: 24, 32>": lambda i, j: i // 24 == j // 32,
}
BLOCKS = "tile.blocks = {size = array<i64: 32, 64>, rows = array<i64: 0, 0, 2>, columns = array<i64: 0, 1, 1>}"
LISTED = {BLOCKS: lambda i, j: np.isin(i // 32 * 10 + j // 64, [0, 1, 21])}


def _whole(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(np.float64)


def _check(way: str, mark: str, side: str, m: int, n: int, k: int) -> None:
    """What is promised to be zero is NaN where no step that is walked may read it."""
    chip, schedule, element = WAYS[way]
    a, b = _whole(m, k), _whole(k, n, seed=1)
    operands = Operand("A", "mk", a.shape, element), Operand("B", "kn", b.shape, element)
    text = Contraction(operands, "mn", out="f64" if element == "f64" else "f32").module()
    type_ = operands["AB".index(side)].type
    text = text.replace(f"%{side}: {type_}", f"%{side}: {type_} {{{mark}}}", 1)
    kernel = mlir_gemm.compile(text, chip=chip, device="simulator", schedule=f"space=k_range,{schedule}")
    one = a if side == "A" else b
    shapes = {**SHAPES, **LISTED}
    one *= shapes[mark](*np.indices(one.shape))
    wanted = a @ b
    high, deep = kernel.schedule.block[0 if side == "A" else 1], kernel.schedule.block[2]
    rows, steps = -(-(m if side == "A" else n) // high), -(-k // deep)
    places = np.indices((rows * high, steps * deep))  # rows beyond the end count too
    kept = shapes[mark](*(places if side == "A" else places[::-1]))
    held = kept.reshape(rows, high, steps, deep).any((1, 3))
    held[~held.any(1), :] = True  # one step of a tile without any
    skipped = np.kron(~held, np.ones((high, deep), bool))
    skipped = skipped if side == "A" else skipped.T
    one[skipped[: one.shape[0], : one.shape[1]]] = np.nan
    assert np.array_equal(kernel(a.astype(TYPES[element]), b.astype(TYPES[element])), wanted)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("mark", ['tile.triangular = "lower"', "tile.banded = array<i64: 20, 3>", BLOCKS])
def test_ways(way: str, mark: str) -> None:
    _check(way, mark, "A", 96, 64, 128)


def test_random() -> None:
    random = np.random.default_rng(5)
    for _ in range(draws(4)):
        way, mark, side = (str(random.choice(list(each))) for each in (WAYS, SHAPES, "AB"))
        m, n, k = (int(each) for each in random.integers(65, 120, 3))
        _check(way, mark, side, *((each // 32 * 32 for each in (m, n, k)) if way == "wmma" else (m, n, k)))


def test_a_masked_result_and_a_computed_operand() -> None:
    """A tile that is masked as a whole walks one step; so do loads that compute an operand."""
    a, b = _whole(100, 104), _whole(104, 120, seed=1)
    whole = Contraction(
        (Operand("A", "mk", a.shape, "f16"), Operand("B", "kn", b.shape, "i8")), "mn", out="f32",
        prologue=(None, lambda b: b.astype("f16")),
        mask=lambda m, n: n <= m + 3, fill=-7.0,
    )  # fmt: skip
    for fields in ("", "mainloop=mixed_input,", "mainloop=register_prefetch,"):
        kernel = mlir_gemm.compile(whole.module(), chip="sm_80", device="simulator",
                                   schedule=f"space=k_range,{fields}{TILES}")  # fmt: skip
        i, j = np.indices((100, 120))
        found = kernel(a.astype(np.float16), b.astype(np.int8))
        assert np.array_equal(found, np.where(j <= i + 3, a @ b, -7.0))


def test_the_model_takes_it_without_a_ring() -> None:
    problem, chip = Problem(4096, 4096, 4096, zeros="k>m", reads_c=False), target("sm_80")
    less, whole = select(problem, chip), select(problem, chip, {"space": "all"})
    assert less.schedule.space == "k_range" and less.cost.total < 0.65 * whole.cost.total


@pytest.mark.parametrize(("masked", "chip"), [(False, "h200"), (True, "h200"), (False, "sm_80"), (True, "sm_80")])
def test_a_list_beside_other_conditions(masked: bool, chip: str) -> None:
    """A list of blocks of A with a triangular B, or with a masked result."""
    a, b = _whole(200, 328), _whole(328, 264, seed=1)
    operands = Operand("A", "mk", a.shape, "f16"), Operand("B", "kn", b.shape, "f16")
    mask = {"mask": lambda m, n: n <= m, "fill": 5.0} if masked else {}
    text = Contraction(operands, "mn", out="f32", **mask).module()
    blocks = (
        "tile.blocks = {size = array<i64: 64, 64>, rows = array<i64: 0, 0, 3, 1>, columns = array<i64: 0, 4, 2, 5>}"
    )
    text = text.replace("%A: tensor<200x328xf16>", f"%A: tensor<200x328xf16> {{{blocks}}}", 1)
    if not masked:
        text = text.replace("%B: tensor<328x264xf16>", '%B: tensor<328x264xf16> {tile.triangular = "upper"}', 1)
        b = np.triu(b)
    i, j = np.indices(a.shape)
    a *= np.isin(i // 64 * 10 + j // 64, [0, 4, 32, 15])
    tiles = "block=64x64x64" if chip == "h200" else TILES
    kernel = mlir_gemm.compile(text, chip=chip, device="simulator", schedule=f"space=k_range,{tiles}")
    m, n = np.indices((200, 264))
    wanted = np.where((n <= m) | (not masked), a @ b, 5.0)
    assert np.array_equal(kernel(a.astype(np.float16), b.astype(np.float16)), wanted)


OPEN = """
func.func @product(%A: tensor<{m}x{k}xf16>{given}, %B: tensor<{k}x{n}xf16>, %C: tensor<{m}x{n}xf32>)
    -> tensor<{m}x{n}xf32> {{
  %0 = linalg.matmul ins(%A, %B : tensor<{m}x{k}xf16>, tensor<{k}x{n}xf16>) outs(%C : tensor<{m}x{n}xf32>)
      -> tensor<{m}x{n}xf32>
{rest}
}}"""
MASKED = """  %c = arith.constant 5.0 : f32
  %1 = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
      iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<?x?xf32>) outs(%C : tensor<?x?xf32>) {
  ^bb0(%x: f32, %old: f32):
    %m = linalg.index 0 : index
    %n = linalg.index 1 : index
    %kept = arith.cmpi ule, %n, %m : index
    %y = arith.select %kept, %x, %c : f32
    linalg.yield %y : f32
  } -> tensor<?x?xf32>
  return %1 : tensor<?x?xf32>"""


@pytest.mark.parametrize(("chip", "schedule"), [("h200", "block=64x64x64"), ("sm_80", TILES)])
@pytest.mark.parametrize("case", ["n open", "m and n open", "masked"])
def test_sizes_known_at_run_time_only(chip: str, schedule: str, case: str) -> None:
    m, n, k = 136, 72, 256
    masked, both = case == "masked", case != "n open"
    given = "" if masked else ' {tile.triangular = "lower"}' if not both else " {tile.banded = array<i64: 20, 3>}"
    rest = MASKED if masked else f"  return %0 : tensor<{'?' if both else m}x?xf32>"
    text = OPEN.format(m="?" if both else m, n="?", k=k, given=given, rest=rest)
    kernel = mlir_gemm.compile(text, chip=chip, device="simulator", schedule=f"space=k_range,{schedule}")
    a, b, c = _whole(m, k), _whole(k, n, seed=1), _whole(m, n, seed=2)
    i, j = np.indices(a.shape)
    if not masked:
        a *= SHAPES[given.strip(" {}")](i, j) if given else 1
    wanted = a @ b + c
    if masked:
        wanted = np.where(np.tril(np.ones((m, n), bool)), wanted, 5.0)
    assert np.array_equal(kernel(a.astype(np.float16), b.astype(np.float16), c.astype(np.float32)), wanted)


def test_a_k_known_at_run_time_only_is_walked_whole() -> None:
    text = OPEN.format(m="?", n=64, k="?", given=' {tile.triangular = "lower"}', rest="  return %0 : tensor<?x64xf32>")
    kernel = mlir_gemm.compile(text, chip="sm_80", device="simulator")
    assert not kernel.problem.zeros and kernel.schedule.space in ("", "all")


SYRK = """
func.func @syrk(%A: tensor<?x96xf16>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %A, %c0 : tensor<?x96xf16>
  %empty = tensor.empty(%m, %m) : tensor<?x?xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x?xf32>) -> tensor<?x?xf32>
  %d = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
      affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %A : tensor<?x96xf16>, tensor<?x96xf16>) outs(%init : tensor<?x?xf32>) {
  ^bb0(%a: f16, %b: f16, %c: f32):
    %x = arith.extf %a : f16 to f32
    %y = arith.extf %b : f16 to f32
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  return %d : tensor<?x?xf32>
}"""


@pytest.mark.parametrize(("chip", "schedule"), [("h200", "block=64x64x64"), ("sm_80", TILES)])
def test_half_of_a_symmetric_result_of_any_size(chip: str, schedule: str) -> None:
    """Triangles of even and odd numbers of tiles, and of one."""
    kernel = mlir_gemm.compile(SYRK, chip=chip, device="simulator", schedule=f"space=triangle,{schedule}")
    for m in (1, 72, 200):
        a = _whole(m, 96).astype(np.float16)
        assert np.array_equal(kernel(a), a.astype(np.float64) @ a.astype(np.float64).T)
