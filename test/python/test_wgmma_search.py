"""Where the choice of a schedule looks with `wgmma`: which tiles, clusters and stages are proposed."""

from __future__ import annotations

from typing import Any

import pytest

from mlir_gemm.parts.mma.wgmma.search import MOST_STAGES, NARROW
from mlir_gemm.parts.mma.wgmma.search import proposals as wgmma_proposals
from mlir_gemm.parts.resources import smem_bytes
from mlir_gemm.spec.problem import Problem
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tile_model.rules import violations

H200 = target("sm_90a")


def square(**fields: Any) -> Problem:
    return Problem(**{"m": 1024, "n": 1024, "k": 1024, "reads_c": False, **fields})


@pytest.mark.parametrize("b_order", ["kn", "nk"])
@pytest.mark.parametrize("n", [8, 16, 24, 32])
def test_few_columns_have_tiles_of_few_columns(n: int, b_order: str) -> None:
    proposals = list(wgmma_proposals(Problem(8192, n, 8192, reads_c=False, b_order=b_order), H200, {}, wide=False))
    assert max(schedule.block[1] for schedule in proposals if schedule.block[0] < 256) == (16 if n <= 16 else 32)


@pytest.mark.parametrize(("rows", "wider"), [(1064, {(32, 4), (64, 8)}), (1792, {(32, 4)}), (8192, set())])
def test_few_tiles_of_few_columns_are_shared_by_more_blocks_if_they_are_wider(
    rows: int, wider: set[tuple[int, int]]
) -> None:
    """Each block of a tile ends 8 columns, so that one of 16 has two."""
    proposals = wgmma_proposals(Problem(rows, 7, 4856, reads_c=False, b_order="nk"), H200, {}, wide=False)
    low = [schedule for schedule in proposals if schedule.block[0] == 64]
    assert {(each.block[1], each.split_k_cluster) for each in low if each.block[1] > 16} == wider


def test_high_tiles_of_few_columns() -> None:
    """A tile of 256 rows has no fewer than 32 columns; it stands alone, or in clusters of four."""
    proposals = list(wgmma_proposals(Problem(20064, 7, 1408, reads_c=False), H200, {}, wide=False))
    high = [schedule for schedule in proposals if schedule.block[0] == 256]
    assert {schedule.block[1] for schedule in high} == {32}
    assert {schedule.cluster_m for schedule in high} == {1, 4}


@pytest.mark.parametrize("n", [40, 64, 80, 96, 160, 1024])
def test_more_columns_fill_whole_panels(n: int) -> None:
    proposals = wgmma_proposals(Problem(8192, n, 8192, reads_c=False), H200, {}, wide=False)
    assert all(schedule.block[1] % 64 == 0 for schedule in proposals)


def test_nothing_is_proposed_that_nobody_asked_for() -> None:
    assert not any(schedule.stream_k for schedule in wgmma_proposals(square(), H200, {}, wide=True))
    asked = list(wgmma_proposals(square(), H200, {"stream_k": 2}, wide=False))
    assert asked
    assert all((schedule.stream_k, schedule.split_k_cluster) == (2, 1) for schedule in asked)
    assert {each.persistent for each in asked} == {132}


@pytest.mark.parametrize(("rows", "chip", "shares"), [
    (1920, "sm_90a:h100sxm", {0, 2}), (1920, "sm_90a", {0}),
    (8192, "sm_90a:h100sxm", {0}), (1024, "sm_90a:h100sxm", {0}),
])  # fmt: skip
def test_two_blocks_share_narrow_tiles_where_clusters_are_slow(rows: int, chip: str, shares: set[int]) -> None:
    thin = Problem(rows, 11, 5568, reads_c=False, b_order="nk")
    proposed = list(wgmma_proposals(thin, target(chip), {}, wide=False))
    assert {each.stream_k for each in proposed} == shares
    assert all((each.persistent, each.split_k_cluster) == (132, 1) for each in proposed if each.stream_k)


def test_more_than_pairs_are_proposed_where_rows_start_between_lines() -> None:
    def proposed(k: int) -> dict[int, set[int]]:
        """Persistent blocks by blocks of a cluster, of tiles that are not narrow."""
        every = wgmma_proposals(square(m=4000, n=4000, k=k, b_order="nk"), H200, {}, wide=False)
        found = [each for each in every if each.block[1] > NARROW]
        return {size: {each.persistent for each in found if each.cluster == size} - {0} for size in (1, 2, 4, 8)}

    assert proposed(4096) == {1: {132}, 2: {132}, 4: set(), 8: set()}
    assert proposed(4088) == {1: {132}, 2: {132}, 4: {120}, 8: {120}}


@pytest.mark.parametrize("problem", [square(), Problem(64, 8192, 8192, reads_c=False), square(b_order="nk", out="f16")])
def test_proposals_are_of_one_kind_and_some_are_legal(problem: Problem) -> None:
    proposals = list(wgmma_proposals(problem, H200, {}, wide=True))
    for schedule in proposals:
        assert (schedule.mma, schedule.mainloop, schedule.layout) == ("wgmma", "tma", "swizzle128")
        assert 2 <= schedule.stages <= MOST_STAGES
    assert len(set(proposals)) == len(proposals)
    legal = [schedule for schedule in proposals if not violations(problem, schedule, H200)]
    assert legal
    assert all(smem_bytes(problem, schedule) <= H200.smem_block for schedule in legal)


def test_proposals_keep_what_is_given() -> None:
    given = {"block": (128, 192, 64), "stages": 3, "persistent": 7, "smem_epilogue": False}
    proposals = list(wgmma_proposals(square(), H200, given, wide=False))
    assert proposals
    for schedule in proposals:
        assert {name: getattr(schedule, name) for name in given} == given
        assert schedule.warp == (64, 192, 64)


@pytest.mark.parametrize(
    ("m", "k", "dtype", "depths"),
    [
        (592704, 96, "f16", {64, 128}),
        (592704, 144, "i8", {128, 256}),
        (592704, 128, "f16", {64}),  # rows of whole lines
        (592704, 136, "f16", {64}),  # more than two panels
        (8192, 96, "f16", {64}),  # L2 holds the result
    ],
)
def test_one_step_holds_rows_that_lie_between_lines(m: int, k: int, dtype: str, depths: set[int]) -> None:
    """Each line of rows of 192 bytes is asked for once where the result takes the place of lines of A in L2."""
    acc, out = ("i32", "i32") if dtype == "i8" else ("f32", dtype)
    problem = square(m=m, n=96, k=k, a=dtype, b=dtype, acc=acc, out=out, b_order="nk")
    proposals = wgmma_proposals(problem, H200, {}, wide=False)
    assert {each.block[2] for each in proposals if each.block[:2] == (256, 128)} == depths
