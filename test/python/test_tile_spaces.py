"""Spaces of tiles: symmetric and masked results, triangular operands, from MLIR and from Python."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest
from draws import draws

import mlir_gemm
from mlir_gemm.errors import ScheduleError
from mlir_gemm.simulator.random_inputs import holds_at
from mlir_gemm.spec import zeros
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.tile_space import folded, unfolded
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tile_model.explain import explain
from mlir_gemm.tile_model.select import select
from mlir_gemm.tracing.contraction import Contraction, Operand


class _Numbers:
    less, add, sub = operator.lt, operator.add, operator.sub

    @staticmethod
    def select(condition: Any, then: Any, otherwise: Any) -> Any:
        return then if condition else otherwise


@pytest.mark.parametrize("rows", [*range(1, 12), 64])
def test_each_tile_of_a_triangle_has_one_number(rows: int) -> None:
    high, wide = folded(rows)
    found = [unfolded(p, q, rows, _Numbers) for p in range(high) for q in range(wide)]
    assert sorted(found) == [(row, column) for row in range(rows) for column in range(row + 1)]


def _matrix(*shape: int, seed: int = 0, dtype: Any = np.float16) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def _kernel(contraction: Contraction, chip: str, schedule: str) -> Any:
    return mlir_gemm.compile(contraction.module(), chip=chip, device="simulator", schedule=schedule)


SQUARES = [
    ("h200", "block=64x64x64", (128, 96)),
    ("h200", "block=128x128x64,warp=128x128x64,ping_pong=on,persistent=2", (320, 128)),
    ("h200", "block=64x64x64,persistent=3,stream_k=2", (256, 320)),
    ("h200", "block=64x64x64,raster=snake,raster_group=2", (3, 136, 64)),
    ("sm_80", "block=32x32x32,warp=16x16x16,raster=column", (77, 33)),
    ("h200", "block=64x64x64,cluster_m=2,persistent=4", (384, 64)),
    ("h200", "block=64x64x64,cluster_n=2,raster=snake", (200, 96)),
    ("h200", "block=64x64x64,cluster_m=2,cluster_n=2,persistent=8,stream_k=2", (256, 320)),
    ("h200", "block=64x64x64,cluster_m=4,cluster_n=2", (2, 200, 64)),
    ("h200", "block=64x64x64,cluster_m=2,split_k_cluster=2", (128, 256)),
]


@pytest.mark.parametrize(("chip", "schedule", "shape"), SQUARES)
def test_a_product_with_its_own_transpose(chip: str, schedule: str, shape: tuple[int, ...]) -> None:
    a = _matrix(*shape)
    letters = "bmk"[-len(shape) :]
    own = Operand("A", letters, shape, "f16")
    other = Operand("B", letters.replace("m", "n"), shape, "f16", array="A")
    whole = Contraction((own, other), letters[:-1] + "n", epilogue=lambda d: d * 0.5)
    kernel = _kernel(whole, chip, f"space=triangle,{schedule}")
    assert kernel.problem.symmetric
    found = kernel(a).astype(np.float64)
    wide = a.astype(np.float64)
    wanted = 0.5 * wide @ np.swapaxes(wide, -1, -2)
    assert np.abs(found - wanted).max() <= 2e-3 * np.abs(wanted).max()
    below = np.tril(np.ones(found.shape[-2:], bool), -128)  # far from tiles on the diagonal, which NumPy multiplies
    assert (found[..., below] == np.swapaxes(found, -1, -2)[..., below]).all()


def test_arrays_that_are_the_same_are_one_argument() -> None:
    a, other = _matrix(64, 48), _matrix(64, 48, seed=1)
    options: dict[str, Any] = {"device": "simulator", "chip": "h200", "out": "f32"}
    for equation, left, right in (("mk,nk->mn", a, a), ("mk,kn->mn", a, a.T), ("km,kn->mn", a.T, a.T)):
        wanted = np.einsum(equation, left.astype(np.float64), right.astype(np.float64))
        assert np.abs(mlir_gemm.einsum(equation, left, right, **options) - wanted).max() < 1e-4
    assert np.abs(mlir_gemm.matmul(a, other.T, **options) - a.astype(np.float64) @ other.T).max() < 1e-4
    odd = mlir_gemm.einsum("mk,nk->mn", a, a, epilogue=lambda d, m: d + m, **options)
    assert np.abs(odd - (a.astype(np.float64) @ a.T + np.arange(64)[:, None])).max() < 1e-4


@pytest.mark.parametrize(("chip", "space", "cluster"), [
    ("h200", "lower", ""), ("h200", "upper", ""), ("sm_80", "upper", ""), ("h200", "lower", "cluster_m=2"),
    ("h200", "upper", "cluster_m=2,cluster_n=2"), ("h200", "upper", "cluster_n=2"),
    ("h200", "lower", "cluster_m=2,split_k_cluster=2"),
])  # fmt: skip
def test_masked_results(chip: str, space: str, cluster: str) -> None:
    depth = 264 if "split" in cluster else 64
    a, b = _matrix(200, depth), _matrix(200, depth, seed=1)
    sides = Operand("A", "mk", a.shape, "f16"), Operand("B", "nk", b.shape, "f16")

    def lower(m: Any, n: Any) -> Any:
        return n <= m

    def upper(m: Any, n: Any) -> Any:
        return m < n

    whole = Contraction(sides, "mn", mask=lower if space == "lower" else upper, fill=-7.0, epilogue=lambda d: d * 2.0)
    tiles = "block=64x64x64" if chip == "h200" else "block=32x32x32,warp=16x16x16"
    found = _kernel(whole, chip, ",".join(filter(None, [f"space={space}", tiles, cluster])))(a, b)
    m, n = np.arange(200)[:, None], np.arange(200)[None, :]
    kept = n <= m if space == "lower" else m < n
    wanted = np.where(kept, a.astype(np.float64) @ b.astype(np.float64).T, -7.0) * 2.0
    assert np.abs(found - wanted).max() <= 2e-3 * np.abs(wanted).max()


CLUSTERS = ("", "cluster_m=2", "cluster_n=2", "cluster_m=2,cluster_n=2", "split_k_cluster=2",
            "cluster_n=2,split_k_cluster=2", "cluster_m=2,persistent=4",
            "cluster_n=2,persistent=4,stream_k=2")  # fmt: skip
RASTERS = ("raster=row", "raster=snake", "raster=column", "raster=grouped,raster_group=2", "raster=diagonal")


def test_random_halves_in_clusters() -> None:
    """Whole numbers, so that results are exact; 144 rows are more than two tiles, with an edge."""
    random = np.random.default_rng(11)
    for number in range(draws(2)):
        space, cluster, raster = (
            str(random.choice(each)) for each in (("triangle", "lower", "upper"), CLUSTERS, RASTERS)
        )
        m, k = 8 * int(random.integers(17, 45)), 8 * int(random.integers(36, 60))
        m += 8 * (m % 64 == 0)
        a, b = (random.integers(-3, 4, (m, k)).astype(np.float16) for _ in range(2))
        symmetric = space == "triangle"
        sides = Operand("A", "mk", a.shape, "f16"), Operand("B", "nk", b.shape, "f16", array="A" if symmetric else "")
        masks: dict[str, Any] = {"lower": lambda m, n: n <= m, "upper": lambda m, n: m <= n}
        given = {} if symmetric else {"mask": masks[space], "fill": -7.0}
        whole = Contraction(sides, "mn", out="f32", **given)
        kernel = _kernel(whole, "h200", ",".join(filter(None, [f"space={space},block=64x64x64", raster, cluster])))
        wide = a.astype(np.float32)
        wanted = wide @ (a if symmetric else b).T.astype(np.float32)
        if not symmetric:
            wanted = np.where(masks[space](*np.indices((m, m))), wanted, -7.0)
        assert np.array_equal(kernel(a) if symmetric else kernel(a, b), wanted), (number, space, cluster, raster, m, k)


@pytest.mark.parametrize(("side", "half", "shape", "cluster"), [
    ("A", "lower", (328, 64, 328), ""), ("A", "upper", (200, 64, 328), ""), ("B", "lower", (64, 200, 328), ""),
    ("B", "upper", (64, 328, 328), ""), ("A", "lower", (264, 136, 328), ",cluster_n=2"),
    ("B", "upper", (200, 200, 328), ",cluster_m=4"), ("A", "lower", (328, 200, 328), ",persistent=7"),
    ("B", "lower", (264, 328, 328), ",ping_pong=on,persistent=4"),
    ("A", "upper", (264, 264, 328), ",cluster_n=2,persistent=4"),
    ("A", "lower", (328, 200, 328), ",persistent=7,stream_k=2"), ("A", "upper", (136, 64, 328), ",split_k_cluster=2"),
    ("A", "lower", (136, 136, 520), ",cluster_n=2,split_k_cluster=4"),
    ("B", "upper", (264, 264, 328), ",cluster_m=2,persistent=8,stream_k=1"),
])  # fmt: skip
def test_triangular_operands(side: str, half: str, shape: tuple[int, int, int], cluster: str) -> None:
    m, n, k = shape
    left, right = _matrix(m, k), _matrix(k, n, seed=1)
    triangle = np.tril if half == "lower" else np.triu
    text = Contraction((Operand("A", "mk", (m, k), "f16"), Operand("B", "kn", (k, n), "f16")), "mn", out="f32").module()
    type_ = f"%{side}: tensor<{m}x{k}xf16>" if side == "A" else f"%{side}: tensor<{k}x{n}xf16>"
    assert type_ in text
    text = text.replace(type_, f'{type_} {{tile.triangular = "{half}"}}', 1)
    schedule = f"space=k_range,block=64x64x64{cluster}"
    kernel = mlir_gemm.compile(text, chip="h200", device="simulator", schedule=schedule)
    left, right = (triangle(left), right) if side == "A" else (left, triangle(right))
    assert np.abs(kernel(left, right) - left.astype(np.float64) @ right).max() < 1e-3


BLOCKS = "{size = array<i64: 64, 64>, rows = array<i64: 0, 0, 1, 3>, columns = array<i64: 0, 2, 1, 4>}"
LISTED = ((0, 0), (0, 2), (1, 1), (3, 4))


def _listed(rows: Any, columns: Any) -> Any:
    return np.isin(rows // 64 * 100 + columns // 64, [100 * row + column for row, column in LISTED])


SHAPED = {
    "tile.banded = array<i64: 70, 3>": lambda i, j: (j <= i + 3) & (j >= i - 70),
    "tile.block_diagonal = array<i64: 48, 64>": lambda i, j: i // 48 == j // 64,
    f"tile.blocks = {BLOCKS}": _listed,
}


@pytest.mark.parametrize("side", ["A", "B"])
@pytest.mark.parametrize("mark", SHAPED)
def test_bands_and_blocks(mark: str, side: str) -> None:
    """What is promised to be zero is NaN where no step that is walked may read it."""
    m, n, k = (328, 64, 328) if side == "A" else (64, 328, 328)
    left, right = _matrix(m, k), _matrix(k, n, seed=1)
    text = Contraction((Operand("A", "mk", (m, k), "f16"), Operand("B", "kn", (k, n), "f16")), "mn", out="f32").module()
    type_ = f"%{side}: tensor<{m}x{k}xf16>" if side == "A" else f"%{side}: tensor<{k}x{n}xf16>"
    kernel = mlir_gemm.compile(
        text.replace(type_, f"{type_} {{{mark}}}", 1), chip="h200", device="simulator",
        schedule="space=k_range,block=64x64x64",
    )  # fmt: skip
    kept = SHAPED[mark](*np.indices((m, k) if side == "A" else (k, n)))
    left, right = (left * kept, right) if side == "A" else (left, right * kept)
    wanted = left.astype(np.float64) @ right
    shape = kept.T if side == "B" else kept
    tiles = np.pad(shape, [(0, -size % 64) for size in shape.shape]).reshape(6, 64, 6, 64).any((1, 3))
    tiles[~tiles.any(1), :] = True  # one step of a tile without any
    skipped = np.kron(~tiles, np.ones((64, 64), bool))[: shape.shape[0], : shape.shape[1]]
    (left if side == "A" else right)[skipped.T if side == "B" else skipped] = np.nan
    assert np.abs(kernel(left, right) - wanted).max() < 1e-3


MASKS = {
    "n>m, n<m-99": (lambda m, n: (n <= m) & (n > m - 100)),
    "n/32!=m/64": (lambda m, n: m // 64 == n // 32),
    "n<m-40, n>m+40": (lambda m, n: abs(m - n) <= 40),
    "n>m+4": (lambda m, n: n < m + 5),
}


@pytest.mark.parametrize("conditions", MASKS)
def test_masks_of_any_shape(conditions: str) -> None:
    a, b = _matrix(200, 136), _matrix(136, 264, seed=1)
    sides = Operand("A", "mk", a.shape, "f16"), Operand("B", "kn", b.shape, "f16")
    whole = Contraction(sides, "mn", out="f32", mask=MASKS[conditions], fill=-7.0)
    kernel = _kernel(whole, "h200", "space=k_range,block=64x64x64")
    assert kernel.problem.result_mask == conditions
    kept = MASKS[conditions](*np.indices((200, 264)))
    assert np.abs(kernel(a, b) - np.where(kept, a.astype(np.float64) @ b, -7.0)).max() < 1e-3


def test_a_band_that_is_computed_and_a_triangle_on_the_other_side() -> None:
    """What an operand's own function selects becomes a kernel in front; both sides bound the steps."""
    m = 264
    a, b = _matrix(m, m), np.triu(_matrix(m, m, seed=1))

    def band(x: Any, m: Any, k: Any) -> Any:
        return np.where((k <= m + 8) & (m < k + 9), x, 0.0)

    whole = Contraction((Operand("A", "mk", a.shape, "f16"), Operand("B", "kn", b.shape, "f16")), "mn", out="f32",
                        prologue=(band, None))  # fmt: skip
    type_ = f"%B: tensor<{m}x{m}xf16>"
    text = whole.module().replace(type_, f'{type_} {{tile.triangular = "upper"}}', 1)
    kernel = mlir_gemm.compile(text, chip="h200", device="simulator", schedule="space=k_range,block=64x64x64")
    assert kernel.kernels[-1].problem.zeros == "k>m+8, k<m-8, k>n"
    i, j = np.indices(a.shape)
    assert np.abs(kernel(a, b) - np.where(abs(i - j) <= 8, a, 0).astype(np.float64) @ b).max() < 1e-3


CONDITIONS = (
    "k>m", "k<m-7", "k>m+9, k<m-30", "k/16!=m/24", "k/16 not in m/24: 5 0 12", "k>m, k<n", "k/8 not in m/8: 1 2 4 8",
)  # fmt: skip


@pytest.mark.parametrize("text", CONDITIONS)
def test_steps_of_tiles_are_those_with_elements(text: str) -> None:
    size, depth, steps = 96, 8, 12
    places = np.indices((size, size))

    def held(side: str) -> Any:
        kept = np.ones((size, size), bool)
        for condition in zeros.parse(text):
            if condition.across == side:
                kept &= ~holds_at(condition, *places)
        return kept

    by_side = {side: held(side) for side in "mn"}
    for tile_m in (8, 24, 48):
        for row in range(-(-size // tile_m)):
            span = row * tile_m, (row + 1) * tile_m
            found = zeros.steps_of(text, "", span, span, depth, steps)
            there = [step for step in range(steps) if all(
                by_side[side][slice(*span), step * depth : (step + 1) * depth].any() for side in "mn"
            )]  # fmt: skip
            assert set(there) <= set(found) and len(found) >= 1
            if len(zeros.parse(text)) == 1:
                assert list(found) == there or (not there and len(found) == 1)
    assert zeros.text_of(zeros.parse(text)) == text
    assert zeros.swapped_zeros(zeros.swapped_zeros(text)) == text


def test_the_model_and_explain_know_of_it() -> None:
    chip = target("h200")
    plain = Problem(4096, 4096, 4096, a="bf16", b="bf16", out="bf16", reads_c=False, b_order="nk")
    whole = select(plain, chip).cost.total
    for fields, space, words in (
        ({"symmetric": True}, "triangle", "528 of 1024 tiles are computed"),
        ({"zeros": "k>m"}, "k_range", "51.6% of the k steps are computed"),
        ({"result_mask": "n<m"}, "upper", "528 of 1024 tiles are computed"),
        ({"zeros": "k>m+128, k<m-128"}, "k_range", "A is zero for k>m+128, k<m-128: 9."),
        ({"zeros": "k/128 not in n/128: 5 a0"}, "k_range", "B is zero for all but 4 blocks of 128x128"),
        ({"result_mask": "n>m, n<m-512"}, "k_range", "the result is masked for n>m, n<m-512"),
    ):
        problem = Problem(**{**vars(plain), **fields})
        choice = select(problem, chip)
        assert choice.schedule.space == space
        assert choice.cost.total < 0.62 * whole
        assert words in explain(problem, chip)
        assert select(problem, chip, {"space": "all"}).cost.total == pytest.approx(whole)


@pytest.mark.parametrize("chip", ["h100", "h200"])
def test_half_of_the_tiles_is_chosen_where_it_was_measured_to_pay(chip: str) -> None:
    """2048x2048 takes 1.26 and 1.02 times the time of all tiles, 3000x3000 and 4096x4096 0.64 and 0.53."""
    for size, space in ((2048, "all"), (3000, "triangle"), (4096, "triangle")):
        problem = Problem(size, size, size, a="bf16", b="bf16", out="bf16", b_order="nk", reads_c=False, symmetric=True)
        assert select(problem, target(chip)).schedule.space == space
        words = "but all tiles are computed: with space=triangle 0."
        assert (words in explain(problem, target(chip))) == (space == "all")
        assert select(problem, target(chip), {"space": "triangle"}).schedule.space == "triangle"


@pytest.mark.parametrize(("fields", "why"), [
    ({"space": "triangle"}, "not known to equal its transpose"),
    ({"space": "k_range"}, "no operand is known to be triangular"),
    ({"space": "lower"}, "not known to be masked"),
])  # fmt: skip
def test_what_is_not_known_is_refused(fields: dict[str, Any], why: str) -> None:
    with pytest.raises(ScheduleError, match=why):
        select(Problem(256, 256, 256, reads_c=False), target("h200"), fields)


@pytest.mark.parametrize(("zeros_of", "field"), [("k>m", "cluster_m"), ("k<n", "cluster_n"), ("k>m, k<n", "cluster_n")])
def test_blocks_with_other_steps_share_no_copies(zeros_of: str, field: str) -> None:
    problem = Problem(256, 256, 256, reads_c=False, zeros=zeros_of)
    with pytest.raises(ScheduleError, match=f"{field}=2 with space=k_range: expected 1"):
        select(problem, target("h200"), {"space": "k_range", field: 2})
