"""The rules of `wgmma`: what each refuses, in its words, and the schedules that the model proposes."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from mlir_gemm.dialect.rings import PANELS, swizzle_of
from mlir_gemm.parts.cluster import multicast, split_k
from mlir_gemm.parts.consumers import ping_pong
from mlir_gemm.parts.grid import grid
from mlir_gemm.parts.layout import buffer, panel_of
from mlir_gemm.parts.mainloop import tma
from mlir_gemm.parts.mma.wgmma import rules as wgmma
from mlir_gemm.parts.scheduler import stream_k
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.tile_model import rules
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tile_model.rules import rules_of, violations
from mlir_gemm.tile_model.select import select

H200 = target("sm_90a")
LEGAL = Schedule(
    block=(128, 128, 64), warp=(64, 128, 64), instruction=(64, 8, 16), mma="wgmma", mainloop="tma",
    layout="swizzle128", pad=0, stages=4,
)  # fmt: skip


def square(**fields: Any) -> Problem:
    return Problem(**{"m": 1024, "n": 1024, "k": 1024, "reads_c": False, **fields})


def test_every_rule_is_asked() -> None:
    whole = LEGAL.replace(persistent=132, ping_pong=True, stream_k=1, split_k_cluster=2, cluster_m=2)
    asked = set(rules_of(whole))
    for module in (rules, tma, wgmma, multicast, split_k, ping_pong, stream_k):
        own = [
            rule for name, rule in vars(module).items()
            if callable(rule) and not name.startswith("_") and getattr(rule, "__module__", "") == module.__name__
            and list(inspect.signature(rule).parameters) == ["problem", "schedule", "target"]
            and inspect.signature(rule).return_annotation == "str | None"
        ]  # fmt: skip
        assert own
        assert set(own) <= asked, module.__name__


def test_the_schedule_that_the_cases_start_from_is_legal() -> None:
    assert violations(square(), LEGAL, H200) == []


TOGETHER = [
    ({"mainloop": "cp_async"}, "mainloop=cp_async with mma=wgmma: expected mainloop=tma"),
    ({"layout": "xor"}, "layout=xor with mma=wgmma: expected layout=swizzle128"),
    ({"mma": "simt"}, "mma=simt with mainloop=tma: expected mma=wgmma or mma_sync"),
    ({"mma": "mma_sync", "mainloop": "cp_async"}, "mainloop=cp_async with layout=swizzle128: expected mainloop=tma"),
    ({"mma": "mma_sync", "layout": "xor"}, "layout=xor with mainloop=tma: expected layout=swizzle128"),
    ({"promote": False}, "promote=off with mma=wgmma: expected promote=on"),
    ({"accumulate": False}, "accumulate=off with mma=wgmma: expected accumulate=on"),
]
ELSEWHERE = [
    ({"persistent": 132}, "persistent=132: expected 0 without mainloop=tma"),
    ({"cluster_m": 2}, "cluster_m=2: expected 1 without mainloop=tma"),
    ({"cluster_n": 2}, "cluster_n=2: expected 1 without mainloop=tma"),
    ({"split_k_cluster": 2}, "split_k_cluster=2: expected 1 without mainloop=tma"),
    ({"ping_pong": True}, "ping_pong=on: expected off without mainloop=tma"),
    ({"stream_k": 4}, "stream_k=4: expected 0 without mainloop=tma"),
]


@pytest.mark.parametrize(("fields", "said"), TOGETHER)
def test_what_only_goes_together(fields: dict[str, Any], said: str) -> None:
    assert rules.rings(square(), LEGAL.replace(**fields), H200) == said
    assert said in violations(square(), LEGAL.replace(**fields), H200)


@pytest.mark.parametrize("fields", [{"layout": "xor"}, {"accumulate": False}])
def test_one_rule_speaks_of_a_field_that_wgmma_does_not_take(fields: dict[str, Any]) -> None:
    assert len(violations(square(), LEGAL.replace(**fields), H200)) == 1


WARPS = LEGAL.replace(mma="mma_sync", block=(128, 256, 64), warp=(64, 64, 16), instruction=(16, 8, 16))


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"split_k_cluster": 2}, "split_k_cluster=2 with mma=mma_sync: expected 1, or mma=wgmma"),
        ({"ping_pong": True, "persistent": 132}, "ping_pong=on with mma=mma_sync: expected off, or mma=wgmma"),
        (
            {"block": (64, 128, 64)},
            "block=64x128x64, warp=64x64x16: 2 warps with mainloop=tma; expected 4 to 12, in whole warpgroups of 4",
        ),
        (
            {"block": (256, 256, 64)},
            "block=256x256x64, warp=64x64x16: 16 warps with mainloop=tma; expected 4 to 12, in whole warpgroups of 4",
        ),
        (
            {"block": (128, 72, 64), "warp": (32, 72, 16)},
            "block=128x72x64: rows of B have 144 bytes in shared memory; with mainloop=tma expected a multiple of 32",
        ),
        (
            {"block": (128, 256, 16)},
            "",
        ),
        ({"block": (192, 256, 64)}, "block=192x256x64, warp=64x64x16, mainloop=tma: about 202 registers a thread, but"),
    ],
)
def test_warps_that_multiply_what_the_copy_engine_brings(fields: dict[str, Any], said: str) -> None:
    assert violations(square(), WARPS, H200) == []
    found = violations(square(), WARPS.replace(**fields), H200)
    assert (found == []) == (not said)
    assert not said or any(said in each for each in found), found


def test_mma_sync_is_proposed_on_stages_that_the_copy_engine_fills() -> None:
    chosen = select(square(m=4096, n=4096, k=4096), H200, {"mma": "mma_sync"}).schedule
    assert (chosen.mainloop, chosen.layout, chosen.persistent) == ("tma", "swizzle128", H200.sms)
    assert select(square(a_vector=32), H200, {"mma": "mma_sync"}).schedule.mainloop == "cp_async"
    assert select(square(a="f64", b="f64", acc="f64", out="f64"), H200, {"mma": "mma_sync"}).schedule.mainloop != "tma"
    assert select(square(), target("sm_90"), {"mma": "mma_sync"}).schedule.mainloop == "cp_async"


@pytest.mark.parametrize(("fields", "said"), ELSEWHERE)
def test_fields_that_other_copies_have_no_use_for(fields: dict[str, Any], said: str) -> None:
    plain = Schedule(mma="mma_sync", instruction=(16, 8, 16), mainloop="cp_async", stages=3)
    assert rules.parts_on_rings(square(), plain, H200) is None
    assert rules.parts_on_rings(square(), plain.replace(**fields), H200) == said


@pytest.mark.parametrize(
    ("problem", "said"),
    [
        (
            square(a_memory="i8"),
            "mainloop=tma: A is computed from i8 on its way to shared memory, and the copy engine passes no registers; "
            "expected register_prefetch or direct",
        ),
        (
            square(b_memory="f8E4M3FN"),
            "mainloop=tma: B is computed from f8E4M3FN on its way to shared memory, and the copy engine passes no "
            "registers; expected register_prefetch or direct",
        ),
        (
            square(a_vector=64),
            "mainloop=tma: the rows of A start at multiples of 64 bits only, the copy engine needs 128; "
            "expected mainloop=cp_async or register_prefetch",
        ),
        (
            square(b_vector=16),
            "mainloop=tma: the rows of B start at multiples of 16 bits only, the copy engine needs 128; "
            "expected mainloop=cp_async or register_prefetch",
        ),
    ],
    ids=["A computed", "B computed", "rows of A", "rows of B"],
)
def test_what_the_copy_engine_cannot_copy(problem: Problem, said: str) -> None:
    assert tma.copy_engine(problem, LEGAL, H200) == said
    assert said in violations(problem, LEGAL, H200)
    assert said not in violations(problem, LEGAL.replace(mainloop="cp_async"), H200)


@pytest.mark.parametrize(("a", "b"), [("mk", "kn"), ("km", "kn")])
def test_orders_of_elements_that_wgmma_does_not_transpose(a: str, b: str) -> None:
    wide = square(a="f32", b="f32", a_order=a, b_order=b)
    schedule = LEGAL.replace(block=(128, 128, 32), warp=(64, 128, 32), instruction=(64, 8, 8), precision="tf32")
    said = (
        f"operands of f32 in the orders {a} and {b}: wgmma takes B along k only, but for elements of 8 and 16 bits; "
        "expected nk, or mma=mma_sync"
    )
    assert wgmma.orders(wide, schedule, H200) == said
    assert wgmma.orders(square(a_order=a, b_order=b), LEGAL, H200) is None
    for order in ("mk", "km"):
        assert violations(square(a="f32", b="f32", a_order=order, b_order="nk"), schedule, H200) == []


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (
            {"block": (128, 192, 128), "warp": (64, 192, 128)},
            "its n must be a multiple of 128; the nearest: 128 or 256",
        ),
        ({"block": (64, 128, 256), "warp": (64, 128, 256)}, "its k must be 128"),
        ({"block": (192, 128, 128), "warp": (64, 128, 128)}, "by 3 warpgroups: expected at most 2"),
    ],
)
def test_b_of_bytes_along_n_is_transposed_in_squares(fields: dict[str, Any], said: str) -> None:
    both = square(a="i8", b="i8", acc="i32", out="i32", a_order="km", b_order="kn", a_vector=128, b_vector=128)
    tiles = {"block": (128, 256, 128), "warp": (64, 256, 128), "instruction": (64, 8, 32), "stages": 2}
    schedule = LEGAL.replace(**tiles)
    assert violations(both, schedule, H200) == []
    refused = wgmma.transposed_tiles(both, schedule.replace(**fields), H200)
    assert refused is not None and refused.endswith(said) and "transposed in shared memory" in refused
    assert wgmma.transposed_tiles(square(b_order="kn"), schedule.replace(**fields), H200) is None


TILES = [
    ({"warp": (64, 128, 32)}, {}, "warp=64x128x32: a warpgroup multiplies the whole block tile's k; expected 64"),
    (
        {"block": (128, 128, 96), "warp": (64, 128, 96)}, {},
        "block=128x128x96: its k must be a multiple of 64; the nearest: 64 or 128",
    ),
    ({"block": (64, 512, 64), "warp": (64, 512, 64)}, {}, "warp=64x512x64: its n of 512 is at most 256"),
    (
        {"block": (256, 128, 64)}, {},
        "block=256x128x64, warp=64x128x64: 4 warpgroups; expected 1 to 3",
    ),
    (
        {"ping_pong": True, "block": (64, 128, 64)}, {},
        "ping_pong=on: expected persistent blocks and tiles of one warpgroup each (persistent=0, 1 warpgroups), or "
        "ping_pong=off",
    ),
    (
        {"block": (256, 256, 64), "warp": (128, 256, 64)}, {},
        "warp=128x256x64: 256 accumulators a thread; expected at most 160",
    ),
    (
        {"block": (128, 256, 64), "warp": (128, 256, 64)}, {},
        "warp=128x256x64: 256 accumulators a thread; expected at most 192",
    ),
    (
        {"block": (128, 24, 64), "warp": (64, 24, 64)}, {},
        "warp=64x24x64: neighbours of an operand lie along n, so its n must be a multiple of 16",
    ),
    (
        {"block": (64, 192, 64), "warp": (64, 96, 64)}, {},
        "warp=64x96x64: neighbours of an operand lie along n, so its n must be a multiple of 64, as the panels of a "
        "block's n of 192 are wide",
    ),
    (
        {"block": (64, 32, 64), "warp": (64, 16, 64)}, {"b_order": "kn"},
        "warp=64x16x64: neighbours of an operand lie along n, so its n must be a multiple of 32, as the panels of a "
        "block's n of 32 are wide",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("fields", "about", "said"), TILES)
def test_tiles_that_warpgroups_do_not_multiply(fields: dict[str, Any], about: dict[str, Any], said: str) -> None:
    problem, schedule = square(**about), LEGAL.replace(**fields)
    assert said in violations(problem, schedule, H200)


def test_tiles_along_k_need_no_whole_panels() -> None:
    narrow = LEGAL.replace(block=(128, 96, 64), warp=(64, 96, 64))
    assert violations(square(b_order="nk"), narrow, H200) == []


@pytest.mark.parametrize(("n", "part", "panel"), [
    (16, 16, 32), (32, 32, 64), (48, 16, 32), (48, 48, 32), (64, 64, 128), (96, 96, 64), (96, 32, 64), (160, 160, 64),
    (192, 64, 128), (240, 240, 32),
])  # fmt: skip
def test_tiles_along_n_have_the_widest_panels_that_divide_them(n: int, part: int, panel: int) -> None:
    schedule = LEGAL.replace(block=(64, n, 64), warp=(64, part, 64))
    assert violations(square(), schedule, H200) == []
    assert buffer(square(), schedule, "b").panel == panel
    assert buffer(square(), schedule, "a").panel == 128


def test_the_rules_count_the_panels_that_the_passes_make() -> None:
    for row in range(8, 1024, 8):
        layout = swizzle_of(row)
        assert panel_of(row) == (PANELS[layout] if layout else 0)


def test_one_warpgroup_may_have_more_accumulators_than_each_of_several() -> None:
    one = LEGAL.replace(block=(64, 256, 64), warp=(64, 256, 64))
    assert violations(square(), one, H200) == []
    three = LEGAL.replace(block=(192, 128, 64), warp=(64, 128, 64))
    assert violations(square(), three, H200) == []


CLUSTERS = [
    (
        {"cluster_m": 4, "cluster_n": 4}, {},
        "cluster_m=4, cluster_n=4: expected at most 4 of each, and 8 blocks in a cluster",
    ),
    ({"cluster_m": 8}, {}, "cluster_m=8, cluster_n=1: expected at most 4 of each, and 8 blocks in a cluster"),
    (
        {"cluster_n": 2}, {"dynamic": "mk"},
        "cluster_m=1, cluster_n=2: sizes known at run time only (m, k) need not divide into clusters",
    ),
    ({"cluster_m": 3}, {}, "cluster_m=3: expected a divisor of the 8 tiles along m, which have no edge"),
    ({"cluster_n": 4}, {"n": 768}, "cluster_n=4: expected a divisor of the 6 tiles along n, which have no edge"),
    ({"cluster_m": 4}, {"m": 300}, "cluster_m=4: expected at most the 3 tiles along m"),
    ({"cluster_m": 2, "persistent": 131}, {}, "persistent=131: expected a multiple of the cluster's 2 blocks"),
    (
        {"cluster_m": 4, "block": (128, 16, 64), "warp": (64, 16, 64)}, {"b_order": "nk"},
        "cluster_m=4, cluster_n=1: the 16 rows of a tile of B do not divide into parts of whole 8 rows",
    ),
    ({"split_k_cluster": 9}, {}, "split_k_cluster=9: expected at most 8 blocks in a cluster, and persistent=0"),
    (
        {"split_k_cluster": 8, "cluster_m": 2}, {},
        "split_k_cluster=8: expected at most 8 blocks in a cluster, and persistent=0",
    ),
    (
        {"split_k_cluster": 2, "persistent": 8}, {},
        "split_k_cluster=2: expected at most 8 blocks in a cluster, and persistent=0",
    ),
    (
        {"split_k_cluster": 2}, {"dynamic": "k"},
        "split_k_cluster=2: sizes known at run time only (k); expected split_k_cluster=1",
    ),
    (
        {"split_k_cluster": 2}, {"reads_c": True},
        "split_k_cluster=2: the sum starts from what is in memory, which every part would add; "
        "expected split_k_cluster=1",
    ),
    ({"split_k_cluster": 8}, {"k": 512}, "split_k_cluster=8: 8 k steps; expected at least two for each part"),
    (
        {"split_k_cluster": 4, "block": (128, 16, 64), "warp": (64, 16, 64)}, {"b_order": "nk"},
        "split_k_cluster=4: the warp tile's n of 16 must be a multiple of 32",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("fields", "about", "said"), CLUSTERS)
def test_clusters_that_do_not_divide(fields: dict[str, Any], about: dict[str, Any], said: str) -> None:
    problem, schedule = square(**about), LEGAL.replace(**fields)
    assert said in violations(problem, schedule, H200)


STREAMS = [
    (
        {"persistent": 0}, {},
        "stream_k=4: blocks that walk no tiles have no steps to share; expected persistent blocks, or stream_k=0",
    ),
    ({"split_k_cluster": 2}, {}, "stream_k=4: each block has steps of its own; expected split_k_cluster=1"),
    (
        {"ping_pong": True, "block": (64, 128, 64)}, {},
        "stream_k=4: each block has steps of its own; expected ping_pong=off",
    ),
    ({}, {"dynamic": "m"}, "stream_k=4: sizes known at run time only (m); expected stream_k=0"),
    (
        {}, {"reads_c": True},
        "stream_k=4: the sum starts from what is in memory, which every part would add; expected stream_k=0",
    ),
    (
        {"batch_invariant": True}, {},
        "stream_k=4: which steps are added up apart depends on M; expected stream_k=0 with batch_invariant=on",
    ),
    ({}, {"k": 448}, "stream_k=4: 7 k steps; expected at least two for each block that shares a tile"),
]  # fmt: skip


@pytest.mark.parametrize(("fields", "about", "said"), STREAMS)
def test_steps_that_cannot_be_shared(fields: dict[str, Any], about: dict[str, Any], said: str) -> None:
    problem, schedule = square(**about), LEGAL.replace(**{"persistent": 132, "stream_k": 4, **fields})
    assert said in violations(problem, schedule, H200)


@pytest.mark.parametrize("persistent", [1, 7, 64, 132, 1000])
def test_steps_that_can_be_shared(persistent: int) -> None:
    assert violations(square(), LEGAL.replace(persistent=persistent, stream_k=4), H200) == []


@pytest.mark.parametrize("fields", [{"cluster_m": 4}, {"cluster_n": 2, "persistent": 132}, {"split_k_cluster": 4}])
def test_clusters_that_do(fields: dict[str, Any]) -> None:
    assert violations(square(), LEGAL.replace(**fields), H200) == []


@pytest.mark.parametrize("fields", [{"cluster_m": 2}, {"cluster_n": 4}, {"cluster_m": 2, "cluster_n": 4}])
def test_clusters_reach_over_edges_at_which_stores_are_tested(fields: dict[str, Any]) -> None:
    edges = square(m=1000 + 128, n=648)
    assert violations(edges, LEGAL.replace(**fields), H200) == []
    down, along = fields.get("cluster_m", 1), fields.get("cluster_n", 1)
    rows, columns = grid(edges, LEGAL.replace(**fields))
    assert rows % down == columns % along == 0
    assert (rows, columns) == (-(-9 // down) * down, -(-6 // along) * along)


def test_only_sm_90a_has_it() -> None:
    reasons = violations(square(), LEGAL, target("sm_90"))
    assert "mma=wgmma: sm_90 has mma_sync, dp4a, wmma, simt" in reasons
    assert "mainloop=tma: sm_90 has cp_async, mixed_input, register_prefetch, direct" in reasons


@pytest.mark.parametrize(
    ("stages", "said"),
    [
        (1, "stages=1: expected 2 to 16 with mainloop=tma; the nearest: 2"),
        (17, "stages=17: expected 2 to 16 with mainloop=tma; the nearest: 16"),
    ],
)
def test_stages_of_a_ring(stages: int, said: str) -> None:
    assert said in violations(square(), LEGAL.replace(stages=stages), H200)


def test_registers_and_memory_are_asked_for_too() -> None:
    many = violations(square(), LEGAL.replace(stages=16), H200)
    assert len(many) == 1
    assert many[0].startswith("block=128x128x64, stages=16, pad=0: the block needs ")
    crowded = violations(
        square(), LEGAL.replace(stages=2, min_blocks=2, block=(128, 256, 64), warp=(64, 256, 64)), H200
    )
    assert any(reason.startswith("min_blocks=2, ") and "registers a thread" in reason for reason in crowded)
