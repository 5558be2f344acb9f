"""Tiles with k steps of their own (`space=k_range`) in blocks that walk them, share their steps, or take turns."""

from __future__ import annotations

import numpy as np
import pytest
from draws import draws
from test_bounded_steps import OPEN

import mlir_gemm
from mlir_gemm.dialect.step_shares import Shares
from mlir_gemm.errors import ScheduleError
from mlir_gemm.parts.grid import busiest
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tile_model.select import select
from mlir_gemm.tracing.contraction import Contraction, Operand


@pytest.mark.parametrize("share", [1, 2, 5])
@pytest.mark.parametrize("seed", range(6))
def test_each_step_has_one_block_and_blocks_have_as_many(share: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    blocks, tiles = int(random.integers(2, 12)), int(random.integers(1, 40))
    tiles += tiles % blocks == 0  # whole waves share nothing
    lengths = sorted(random.integers(1, 30, tiles).tolist(), reverse=True)
    shares = Shares.of(lengths, blocks, share)
    done = [[0] * length for length in lengths]
    for item in range(shares.rounds):
        for block in range(blocks):
            tile = item * blocks + (blocks - 1 - block if item % 2 else block)
            done[tile] = [each + 1 for each in done[tile]]
    totals = [sum(lengths[item * blocks + (blocks - 1 - block if item % 2 else block)] for item in range(shares.rounds))
              for block in range(shares.blocks)]  # fmt: skip
    ends: dict[int, list[tuple[int, int]]] = {}
    for number in range(shares.ranges):
        block = shares.ranges - 1 - number
        row = shares.rows[block]
        for tile in range(row.tile, row.last + 1):
            first = row.first if tile == row.tile else 0
            stop = row.stop if tile == row.last else lengths[tile]
            assert 0 <= first < stop <= lengths[tile]
            ends.setdefault(tile, []).append((number, first))
            totals[block] += stop - first
            done[tile][first:stop] = [each + 1 for each in done[tile][first:stop]]
        assert row.items == shares.rounds + row.last - row.tile + 1
    assert all(each == 1 for tile in done for each in tile)
    for found in ends.values():  # the block that begins a tile knows how many others have the rest
        (number, first), *others = found
        assert first == 0 and [each for each, _ in others] == list(range(number + 1, number + 1 + len(others)))
        row = shares.rows[shares.ranges - 1 - number]
        assert not others or row.others == len(others)
    if share == 1:
        assert max(totals) <= max(max(lengths), -(-sum(lengths) // blocks)) + max(lengths)


LIST = "tile.blocks = {size = array<i64: 64, 96>, rows = array<i64: 0, 0, 1, 3>, columns = array<i64: 0, 2, 1, 1>}"
BAND = "tile.banded = array<i64: 70, 3>"
SHAPES = {
    'tile.triangular = "lower"': lambda i, j: j <= i,
    'tile.triangular = "upper"': lambda i, j: j >= i,
    BAND: lambda i, j: (j <= i + 3) & (j >= i - 70),
    "tile.block_diagonal = array<i64: 48, 64>": lambda i, j: i // 48 == j // 64,
    LIST: lambda i, j: np.isin(i // 64 * 10 + j // 96, [0, 2, 11, 31]),
}
WAYS = ("persistent=5", "persistent=4,cluster=2", "persistent=5,stream_k=1", "persistent=7,stream_k=3",
        "persistent=6,stream_k=1,cluster=2", "ping_pong=on,persistent=3", "split_k_cluster=2", "split_k_cluster=4",
        "split_k_cluster=2,cluster=2", "tiles_per_block=2", "tiles_per_block=3,ping_pong=on")  # fmt: skip


def _check(way: str, mark: str, side: str, shape: tuple[int, int, int], batch: int) -> None:
    m, n, k = shape
    random = np.random.default_rng(m * n + k)
    outer, group = ((batch,), "g") if batch > 1 else ((), "")
    a, b = (random.integers(-3, 4, (*outer, *each)).astype(np.float64) for each in ((m, k), (k, n)))
    operands = Operand("A", f"{group}mk", a.shape, "f16"), Operand("B", f"{group}kn", b.shape, "f16")
    text = Contraction(operands, f"{group}mn", out="f32").module()
    type_ = operands["AB".index(side)].type
    text = text.replace(f"%{side}: {type_}", f"%{side}: {type_} {{{mark}}}", 1)
    way = way.replace(",cluster=2", f",cluster_{'n' if side == 'A' else 'm'}=2")
    kernel = mlir_gemm.compile(text, chip="h200", device="simulator",
                               schedule=f"space=k_range,block=64x64x64,{way}")  # fmt: skip
    one = a if side == "A" else b
    one *= SHAPES[mark](*np.indices(one.shape[-2:]))
    assert np.array_equal(kernel(a.astype(np.float16), b.astype(np.float16)), a @ b), (way, mark, side, shape, batch)


@pytest.mark.parametrize("way", WAYS)
def test_random_operands(way: str) -> None:
    random = np.random.default_rng(WAYS.index(way))
    for _ in range(draws(1)):
        mark, side = str(random.choice(list(SHAPES))), str(random.choice(["A", "B"]))
        m, n, k = (8 * int(each) + 8 * (each % 8 == 0) for each in random.integers((25, 25, 58), (36, 36, 66)))
        _check(way, mark, side, (m, n, k), int(random.integers(1, 3)))


def test_a_masked_result_is_walked() -> None:
    a, b = (np.random.default_rng(seed).integers(-3, 4, (264, 200)).astype(np.float16) for seed in (0, 1))
    sides = Operand("A", "mk", a.shape, "f16"), Operand("B", "nk", b.shape, "f16")
    text = Contraction(sides, "mn", out="f32", mask=lambda m, n: (n <= m) & (n > m - 99), fill=-7.0).module()
    m, n = np.indices((264, 264))
    wanted = np.where((n <= m) & (n > m - 99), a.astype(np.float32) @ b.T.astype(np.float32), -7.0)
    for way in ("persistent=5,stream_k=2", "ping_pong=on,persistent=4"):
        kernel = mlir_gemm.compile(text, chip="h200", device="simulator",
                                   schedule=f"space=k_range,block=64x64x64,{way}")  # fmt: skip
        assert np.array_equal(kernel(a, b), wanted)


@pytest.mark.parametrize("way", ["ping_pong=on,persistent=3", "tiles_per_block=2"])
def test_rows_known_at_run_time_only(way: str) -> None:
    """In the order of the raster, without going back; a consumer computes the other one's steps all the same."""
    text = OPEN.format(m="?", n=72, k=256, given=f" {{{BAND}}}", rest="  return %0 : tensor<?x72xf32>")
    kernel = mlir_gemm.compile(text, chip="h200", device="simulator", schedule=f"space=k_range,block=64x64x64,{way}")
    for m in (40, 328):
        random = np.random.default_rng(m)
        a, b, c = (random.integers(-3, 4, shape).astype(np.float64) for shape in ((m, 256), (256, 72), (m, 72)))
        a *= SHAPES[BAND](*np.indices(a.shape))
        assert np.array_equal(kernel(a.astype(np.float16), b.astype(np.float16), c.astype(np.float32)), a @ b + c)


def test_the_model_counts_unequal_tiles() -> None:
    """One wave of a triangle takes as long as its longest tile. Blocks that walk several are faster: on an H100,
    with 4096 rows, 95.6 us for 104.3."""
    problem = Problem(2048, 2048, 2048, a="bf16", b="bf16", out="bf16", reads_c=False, zeros="k>m")
    chip, fields = target("h200"), {"space": "k_range", "block": (128, 256, 64)}
    alone, whole = (select(problem, chip, {**fields, **more}) for more in ({}, {"space": "all"}))
    assert alone.cost.total > 0.9 * whole.cost.total
    large = Problem(**{**vars(problem), "m": 4096, "n": 4096, "k": 4096})
    walked, each = (select(large, chip, {"space": "k_range", **more}) for more in ({}, {"persistent": 0}))
    assert walked.schedule.persistent and walked.cost.total < each.cost.total
    even = Schedule.make({"mma": "wgmma", "space": "k_range", "block": (64, 64, 64), "warp": (64, 64, 64)})
    small = Problem(256, 64, 256, reads_c=False, zeros="k>m")  # tiles of 1, 2, 3 and 4 steps
    assert busiest(small, even, 4) == pytest.approx(4 / 2.5)
    assert busiest(small, even, 2) == pytest.approx(5 / 2.5)
    assert busiest(small, even.replace(persistent=2), 2) == pytest.approx(5 / 2.5)
    assert busiest(small, even.replace(persistent=4, stream_k=1), 4) == pytest.approx(1)


def test_what_cannot_share_is_refused() -> None:
    problem = Problem(256, 256, 256, reads_c=True, zeros="k>m")
    with pytest.raises(ScheduleError, match="the sum starts from what is in memory"):
        select(problem, target("h200"), {"space": "k_range", "persistent": 4, "stream_k": 1})
