"""When A and B of a product are swapped, and what the model knows of it then."""

from __future__ import annotations

import dataclasses

import pytest
from group_products import GroupProduct

import mlir_gemm
from mlir_gemm.parts.epilogue.tma_store import leaves_transposed
from mlir_gemm.parts.mma.wgmma.search import is_proposed
from mlir_gemm.parts.mma.wgmma.search import proposals as wgmma_proposals
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tile_model.select import select
from mlir_gemm.tile_model.swap import as_computed, may_swap, should_swap, swapped

H200 = target("sm_90a")
UNEVEN = Problem(1536, 1536, 1536, out="f16", reads_c=False)
"""96 tiles of 128x192 as it is, 132 of 128x144 swapped."""


def test_a_product_is_exchanged_where_that_gives_better_tiles():
    assert should_swap(UNEVEN, H200, {})
    kernel = mlir_gemm.compile(GroupProduct(1536, 1536, 1536).source(), chip="sm_90a")
    assert kernel.schedule is not None and kernel.schedule.swap_ab
    assert kernel.problem == swapped(UNEVEN)


@pytest.mark.parametrize("change", [
    {"out": "f32"}, {"epilogue_matrices": 1}, {"reads_c": True}, {"out_vector": 64}, {"dynamic": "m"},
])  # fmt: skip
def test_what_threads_would_load_or_store_one_by_one_stays(change: dict[str, object]):
    assert not should_swap(dataclasses.replace(UNEVEN, **change), H200, {})


@pytest.mark.parametrize("pinned", [{"swap_ab": False}, {"block": (128, 128, 64)}, {"mma": "mma_sync"}])
def test_what_the_user_fixes_stays(pinned: dict[str, object]):
    assert not should_swap(UNEVEN, H200, pinned)


def test_few_rows_are_exchanged_whatever_is_stored():
    thin = Problem(16, 8192, 8192, out="f32", reads_c=False, epilogue_matrices=1)
    assert may_swap(thin) and should_swap(thin, H200, {})


def test_neighbours_across_k_in_both_decide_between_equals():
    across = Problem(1024, 1024, 8192, out="f16", reads_c=False, a_order="km", b_order="nk")
    assert should_swap(across, H200, {}) and not should_swap(swapped(across), H200, {})


def test_exchanging_twice_changes_nothing():
    odd = Problem(3, 5, 7, "i8", "f16", "f32", "f16", True, 4, 2, "km", "nk", 8, 64, 32, "i8", "", "a", "m", "mn", 3, 1)
    assert swapped(swapped(odd)) == odd != swapped(odd)
    assert as_computed(odd, Schedule()) == odd and as_computed(odd, Schedule(swap_ab=True)) == swapped(odd)
    assert swapped(odd).out_order == "nm" and swapped(odd).unsigned == "b"


def test_what_the_program_says_of_the_result_and_its_epilogue():
    def problem(*epilogue: str, wanted: bool) -> Problem:
        source = GroupProduct(256, 320, 64, epilogue=epilogue).source()
        kernel = mlir_gemm.compile(source, chip="sm_90a", schedule={"swap_ab": wanted})
        assert kernel.problem is not None
        return kernel.problem

    for wanted, order in ((False, "mn"), (True, "nm")):
        assert problem("bias", wanted=wanted).out_order == order
        assert problem("bias", wanted=wanted).epilogue_matrices == 0
        both = problem("bias", "residual", "gate", wanted=wanted)
        assert both.epilogue_matrices == 2 and leaves_transposed(both) == wanted


def test_of_mirror_images_the_low_one_is_taken():
    schedule = select(Problem(1024, 1024, 1024, out="f16", reads_c=False), H200).schedule
    assert (schedule.block[:2], schedule.cluster) == ((64, 128), 1)


@pytest.mark.parametrize("orders", [("mk", "kn"), ("mk", "nk"), ("km", "kn"), ("km", "nk")])
@pytest.mark.parametrize("sizes", [(1536, 1536, 1536), (96, 12288, 12288), (4096, 64, 4096), (8192, 8192, 8192)])
def test_the_search_proposes_what_it_says(orders: tuple[str, str], sizes: tuple[int, int, int]):
    m, n, k = sizes
    problem = Problem(m, n, k, out="f16", reads_c=False, a_order=orders[0], b_order=orders[1])
    proposed = list(wgmma_proposals(problem, H200, {}, False))
    assert proposed and all(map(is_proposed, proposed))
    assert not is_proposed(Schedule(block=(192, 192, 64), warp=(192, 96, 64), mma="wgmma"))
    assert not is_proposed(proposed[0].replace(cluster_m=3, cluster_n=2))
