"""Blocks and warpgroups that work together: clusters that share copies and the steps of k at once, and turns."""

from __future__ import annotations

import numpy as np
import pytest
from group_products import GroupProduct

import mlir_gemm
from mlir_gemm.tools import main

SCHEDULES = (
    "block=64x128x64,warp=64x128x64,split_k_cluster=2,cluster_m=2",
    "block=64x128x64,warp=64x128x64,split_k_cluster=4,cluster_m=2",
    "block=128x64x64,warp=64x64x64,split_k_cluster=2,cluster_n=2",
    "block=64x48x64,warp=64x48x64,split_k_cluster=3",
    "block=64x64x64,warp=64x64x64,cluster_m=2,cluster_n=2",
    "block=64x64x64,warp=64x64x64,cluster_m=4,cluster_n=2,persistent=8",
    "block=64x64x64,warp=64x64x64,cluster_m=2,cluster_n=4",
    "block=64x64x64,warp=64x64x64,cluster_m=2,cluster_n=2,split_k_cluster=2",
    "block=128x96x64,warp=64x96x64,split_k_cluster=3,cluster_m=2",
    "block=128x128x64,warp=128x128x64,ping_pong=on,persistent=3",
    "block=64x128x64,warp=64x128x64,ping_pong=on,persistent=4,cluster_m=2,stages=3",
)


IN_BOTH_ORDERS = (0, 3, 4, 7, 10)
"""Of the schedules: clusters along m, both ways, with the steps of k, steps of k alone, and turns."""


@pytest.mark.parametrize(
    ("orders", "schedule"),
    [
        (orders, schedule)
        for number, schedule in enumerate(SCHEDULES)
        for each, orders in enumerate([("mk", "kn"), ("km", "nk")])
        if number in IN_BOTH_ORDERS or number % 2 == each
    ],
    ids=lambda given: given if isinstance(given, str) else "-".join(given),
)
def test_results_are_exact_and_nothing_is_found(schedule: str, orders: tuple[str, str]):
    """Where blocks walk over tiles they come round to the first buffers again with the second tile."""
    n = 512 if "persistent" in schedule else 256
    check(GroupProduct(256, n, 704, out="f32", a=orders[0], b=orders[1]), schedule)


EDGES = (
    "block=64x64x64,warp=64x64x64,cluster_m=4",
    "block=64x64x64,warp=64x64x64,cluster_n=4,raster=snake,raster_group=3",
    "block=64x64x64,warp=64x64x64,cluster_m=4,cluster_n=2,persistent=8",
    "block=128x64x64,warp=64x64x64,cluster_m=2,cluster_n=4,raster=row",
    "block=64x64x64,warp=64x64x64,cluster_m=2,cluster_n=2,split_k_cluster=2",
    "block=64x64x64,warp=64x64x64,ping_pong=on,persistent=4,cluster_m=2,cluster_n=2,stages=3",
)
"""Clusters whose last row or column has blocks with tiles outside a result of 264 by 312."""


@pytest.mark.parametrize(
    ("out", "schedule"),
    [
        *(("f16" if number % 2 else "f32", each) for number, each in enumerate(EDGES)),
        ("f16", EDGES[2]),
        ("f32", EDGES[5]),
    ],
)
def test_clusters_reach_over_edges(schedule: str, out: str):
    check(GroupProduct(264, 312, 264, out=out, b="kn" if out == "f16" else "nk"), schedule)


@pytest.mark.parametrize("schedule", EDGES[:4])
def test_in_a_batch_clusters_reach_over_the_edges_of_each_product(schedule: str):
    a, b, d = (f"memref<2x{sizes}>" for sizes in ("264x136xf16", "136x312xf16", "264x312xf32"))
    source = f"""func.func @f(%A: {a}, %B: {b}, %D: {d}) {{
      %zero = arith.constant 0.0 : f32
      linalg.fill ins(%zero : f32) outs(%D : {d})
      linalg.batch_matmul ins(%A, %B : {a}, {b}) outs(%D : {d})
      return
    }}"""
    kernel = mlir_gemm.compile(source, chip="sm_90a", device="simulator", schedule=f"mma=wgmma,{schedule}")
    random = np.random.default_rng(0)
    left, right = (random.integers(-2, 3, shape).astype(np.float16) for shape in ((2, 264, 136), (2, 136, 312)))
    found = np.full((2, 264, 312), np.nan, np.float32)
    kernel(left, right, found)
    np.testing.assert_array_equal(found, left.astype(np.float32) @ right.astype(np.float32))


def test_clusters_reach_over_no_edge_where_stores_are_not_tested():
    with pytest.raises(mlir_gemm.ScheduleError, match="divisor of the 3 tiles along n, which have no edge"):
        check(GroupProduct(264, 192, 264), "block=64x64x64,warp=64x64x64,cluster_n=2")


@pytest.mark.parametrize("out", ["f16", "f32"])
@pytest.mark.parametrize("schedule", [
    "block=64x96x64,warp=64x96x64", "block=128x32x64,warp=64x32x64",
    "block=128x160x64,warp=128x160x64,ping_pong=on,persistent=3",
])  # fmt: skip
def test_rows_of_results_that_are_no_whole_lines_leave_by_the_copy_engine(schedule: str, out: str):
    check(GroupProduct(264, 336, 200, out=out, a="mk", b="nk"), schedule)


def test_rows_have_the_same_bits_whatever_m_is_when_asked_for():
    random = np.random.default_rng(0)
    a, b = (random.standard_normal(shape).astype(np.float16) for shape in ((300, 448), (448, 256)))
    rows: list[bytes] = []
    for m in (16, 64, 130, 300):
        kernel = mlir_gemm.compile(
            GroupProduct(m, 256, 448).source(), chip="sm_90a", device="simulator",
            schedule="mma=wgmma,batch_invariant=on",
        )  # fmt: skip
        d = np.full((m, 256), np.nan, np.float16)
        kernel(a[:m].copy(), b, d)
        rows.append(d[:16].tobytes())
    assert len(set(rows)) == 1


def check(product: GroupProduct, schedule: str, mma: str = "wgmma", chip: str = "sm_90a") -> None:
    """The result is exact, and the simulator finds nothing."""
    kernel = mlir_gemm.compile(product.source(), chip=chip, device="simulator", schedule=f"mma={mma},{schedule}")
    m, n, k = product.m, product.n, product.k
    random = np.random.default_rng(7)
    a, b = (random.integers(-3, 4, shape).astype(np.float16) for shape in ((m, k), (k, n)))
    d = np.full((m, n), np.nan, {"f16": np.float16, "f32": np.float32}[product.out])
    stored = [
        each if order in ("mk", "kn") else np.ascontiguousarray(each.T)
        for each, order in zip((a, b), (product.a, product.b), strict=True)
    ]
    kernel(*stored, d)  # raises on any finding of the checks
    assert np.array_equal(d, (a.astype(np.float32) @ b.astype(np.float32)).astype(d.dtype))


@pytest.mark.parametrize("schedule", [SCHEDULES[0], SCHEDULES[4], SCHEDULES[7], SCHEDULES[-1]])
def test_every_stage_computes_the_same(schedule: str, tmp_path, capsys: pytest.CaptureFixture[str]):
    source = tmp_path / "product.mlir"
    source.write_text(GroupProduct(128, 256, 512, a="mk", b="nk").source())
    arguments = ["run", str(source), "--chip", "sm_90a", "--device", "simulator", "--bisect"]
    assert main.main([*arguments, "--schedule", f"mma=wgmma,{schedule}".replace("=4,", "=2,")]) == 0
    assert "every stage computes the right numbers" in capsys.readouterr().out


@pytest.mark.parametrize("out", ["f16", "f32"])
@pytest.mark.parametrize("columns", [48, 80, 112, 144, 224])
def test_rows_that_no_wide_panel_divides_leave_in_several_narrow_ones(columns: int, out: str):
    check(GroupProduct(200, 304, 136, out=out, a="mk", b="nk"), f"block=64x{columns}x64,warp=64x{columns}x64")
