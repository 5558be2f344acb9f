"""Blocks and warpgroups that work together: clusters that share copies and the steps of k at once, and turns."""

from __future__ import annotations

import numpy as np
import pytest
from group_products import GroupProduct

import mlir_gemm
from mlir_gemm.tools import main

SCHEDULES = (
    "block=64x128x64,warp=64x128x64,split=2,cluster_m=2",
    "block=64x128x64,warp=64x128x64,split=4,cluster_m=2",
    "block=128x64x64,warp=64x64x64,split=2,cluster_n=2",
    "block=128x128x64,warp=128x128x64,turns=2,persistent=3",
    "block=64x128x64,warp=64x128x64,turns=2,persistent=4,cluster_m=2,stages=3",
)


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("orders", [("mk", "kn"), ("km", "nk")], ids="-".join)
def test_results_are_exact_and_nothing_is_found(schedule: str, orders: tuple[str, str]):
    product = GroupProduct(256, 512, 1088, out="f32", a=orders[0], b=orders[1])
    kernel = mlir_gemm.compile(
        product.source(), chip="sm_90a", device="simulator", schedule=f"operator=wgmma,{schedule}"
    )
    random = np.random.default_rng(7)
    a, b = (random.integers(-3, 4, shape).astype(np.float16) for shape in ((256, 1088), (1088, 512)))
    d = np.full((256, 512), np.nan, np.float32)
    stored = [
        each if order in ("mk", "kn") else np.ascontiguousarray(each.T)
        for each, order in zip((a, b), orders, strict=True)
    ]
    kernel(*stored, d)  # raises on any finding of the checks
    assert np.array_equal(d, a.astype(np.float32) @ b.astype(np.float32))


@pytest.mark.parametrize("schedule", [SCHEDULES[0], SCHEDULES[4]])
def test_every_stage_computes_the_same(schedule: str, tmp_path, capsys: pytest.CaptureFixture[str]):
    source = tmp_path / "product.mlir"
    source.write_text(GroupProduct(128, 256, 512, a="mk", b="nk").source())
    arguments = ["run", str(source), "--chip", "sm_90a", "--device", "simulator", "--bisect"]
    assert main.main([*arguments, "--schedule", f"operator=wgmma,{schedule}".replace("=4,", "=2,")]) == 0
    assert "every stage computes the right numbers" in capsys.readouterr().out
