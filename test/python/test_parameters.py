"""Parameters of Hofstra's kernel and of others': the diagonal raster, pads of A and of B, partial unrolling."""

from __future__ import annotations

import numpy as np
import pytest
from dynamic_products import DynamicProduct
from test_other_tensor_cores import Product, check

import mlir_gemm
from mlir_gemm.errors import ScheduleError
from mlir_gemm.parts.fields import fields_of
from mlir_gemm.parts.layout import buffer
from mlir_gemm.parts.traffic import dram_bytes
from mlir_gemm.passes.parallelize.rasterize_diagonally import RasterizeDiagonally
from mlir_gemm.pipeline.assembler import usage
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tile_model.explain import explain
from mlir_gemm.tile_model.rules import violations
from mlir_gemm.tile_model.select import select
from mlir_gemm.tuner.space import explore, neighbours

SMALL = "block=32x32x32,warp=16x16x16"
KERNELS = {
    "mma_sync cp_async": ("sm_80", f"mma=mma_sync,mainloop=cp_async,stages=2,layout=pad,{SMALL}"),
    "mma_sync": ("sm_80", f"mma=mma_sync,mainloop=register_prefetch,stages=2,{SMALL}"),
    "simt": ("sm_80", "mma=simt,mainloop=direct,block=32x32x16,warp=16x32x4"),
    "sm_75": ("sm_75", "mma=mma_sync,mainloop=register_prefetch,block=32x32x32,warp=16x16x8"),
    "sm_70": ("sm_70", "mma=mma_m8n8k4,mainloop=direct,block=32x32x32,warp=16x16x4"),
}
WMMA = "mma=wmma,block=32x32x32,warp=16x16x16"


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("fields", ["raster=diagonal", "pad=8,pad_b=24", "unroll_by=1", "unroll_by=2"])
def test_products_are_exact(kernel: str, fields: str):
    chip, schedule = KERNELS[kernel]
    if fields == "unroll_by=2" and kernel in ("mma_sync cp_async", "mma_sync"):
        schedule = schedule.replace("32x32x32", "32x32x64")
    check(Product(70, 100, 90, b_order="nk" if "2" in fields else "kn"), chip, f"{schedule},{fields}")


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("number", range(2))
def test_several_tiles_a_block_are_exact(kernel: str, number: int):
    """Neighbours and tiles apart, a number of tiles that these divide and one that they do not, unaligned rows too."""
    chip, schedule = KERNELS[kernel]
    product = (
        Product(70, 100, 90, out="f16", epilogue="bias_relu_residual", batch=2, b_order="nk"),
        Product(64, 99, 64, out="f16", pad=1),
    )[number]
    check(product, chip, f"{schedule},{('tiles_per_block=2', 'tiles_per_block=5,sequential_tiles=off')[number]}")


@pytest.mark.parametrize("more", ["", ",sequential_tiles=off"])
def test_several_tiles_of_a_size_known_at_run_time_only(more: str):
    product = DynamicProduct({"n": 40}, bias=True)
    schedule = f"mma=mma_sync,mainloop=cp_async,stages=2,{SMALL},tiles_per_block=3{more}"
    kernel = mlir_gemm.compile(product.source(), chip="sm_80", device="simulator", schedule=schedule)
    product.check(kernel, {"m": 130, "n": 40, "k": 40}, {"m": 5, "n": 40, "k": 41})


RINGS = {
    "two warpgroups": "mma=wgmma,block=128x64x64,warp=64x64x64,stages=2",
    "ping-pong": "mma=wgmma,block=64x64x64,warp=64x64x64,stages=3,ping_pong=on",
    "cluster": "mma=wgmma,block=64x64x64,warp=64x64x64,stages=2,cluster_m=2",
    "mma_sync": "mma=mma_sync,mainloop=tma,block=64x64x64,warp=32x32x16,stages=2",
}


@pytest.mark.parametrize("ring", RINGS)
@pytest.mark.parametrize("number", range(2))
def test_several_tiles_of_a_block_with_a_ring_are_exact(ring: str, number: int):
    """Seven and eight tiles, or pairs of them, three a block."""
    product = Product((450, 256)[number] * (2 if ring == "cluster" else 1), 64 * (1 + number), 136, out="f16")
    walk = ("tiles_per_block=3", "tiles_per_block=3,sequential_tiles=off")[number]
    check(product, "sm_90a", f"{RINGS[ring]},{walk}")


@pytest.mark.parametrize("out", ["f32", "f16"])
@pytest.mark.parametrize("more", ["", ",sequential_tiles=off,raster=diagonal,promote_a=off"])
def test_wmma_walks_tiles(out: str, more: str):
    """His kernel: with arithmetic in the epilogue its scratch is there once, before the loop over tiles."""
    schedule = f"{WMMA},mainloop=cp_async,stages=2,tiles_per_block=4{more}"
    check(Product(96, 96, 64, out=out, epilogue="none" if out == "f32" else "relu"), "sm_80", schedule)


def test_without_the_barrier_between_tiles_the_simulator_finds_a_race(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("mlir_gemm.passes.parallelize.walk_tiles.end_tile", lambda: None)
    chip, schedule = KERNELS["mma_sync cp_async"]
    with pytest.raises(mlir_gemm.Error, match="race"):
        check(Product(64, 96, 96), chip, f"{schedule},tiles_per_block=2")


@pytest.mark.parametrize("fields", ["raster=diagonal", "pad=8,pad_b=16", "unroll_by=1"])
def test_wmma_is_exact(fields: str):
    check(Product(64, 96, 64), "sm_70", f"{WMMA},{fields}")


LAYOUTS = (
    ("mma_sync cp_async", "layout=xor,layout_b=pad,pad_b=24"), ("mma_sync", "layout=pad,pad=24,layout_b=xor"),
    ("sm_75", "layout=xor,layout_b=pad"), ("sm_70", "layout=pad,layout_b=xor"),
    ("lanes", "layout=mn_major,layout_b=pad"), ("lanes", "layout=xor,layout_b=mn_major"),
)  # fmt: skip


@pytest.mark.parametrize(("kernel", "layouts"), LAYOUTS)
@pytest.mark.parametrize("b_order", ["kn", "nk"])
def test_a_and_b_lie_in_different_ways(kernel: str, layouts: str, b_order: str):
    lanes = "sm_80", "mma=simt,mainloop=cp_async,stages=2,block=32x32x16,warp=16x32x4"
    chip, schedule = KERNELS.get(kernel, lanes)
    kind = "f32" if kernel == "lanes" else "f16"
    check(Product(70, 100, 90, kind, b_order=b_order), chip, f"{schedule.replace('layout=pad,', '')},{layouts}")


def test_a_layout_of_b_is_said_only_where_it_is_another():
    problem, row = Problem(512, 512, 512), target("sm_80")
    fields = {"mma": "mma_sync", "mainloop": "cp_async", "layout": "xor"}
    same, other = (select(problem, row, {**fields, "layout_b": name}).schedule for name in ("xor", "pad"))
    assert "layout_b" not in str(same) and "layout=xor,layout_b=pad,pad=" in str(other)
    assert buffer(problem, other, "a").swizzled and not buffer(problem, other, "b").swizzled


def test_a_diagonal_has_each_tile_once(monkeypatch: pytest.MonkeyPatch):
    """His figure 3b, row by row, and rectangles."""
    operations = {"rem": lambda a, b: a % b, "div": lambda a, b: a // b, "add": lambda a, b: a + b}
    for name, operation in operations.items():
        monkeypatch.setattr(f"mlir_gemm.dialect.indexing.{name}", operation)
    raster = RasterizeDiagonally()
    numbers = np.zeros((4, 4), int)
    for tile in range(16):
        numbers[raster.tile_at(tile, 4, 4)] = tile
    assert numbers.tolist() == [[0, 4, 8, 12], [13, 1, 5, 9], [10, 14, 2, 6], [7, 11, 15, 3]]
    for rows, columns in ((3, 7), (7, 3), (1, 5), (5, 1)):
        places = {raster.tile_at(tile, rows, columns) for tile in range(rows * columns)}
        assert len(places) == rows * columns


def test_a_wave_along_diagonals_is_predicted_to_read_more():
    problem, row = Problem(16384, 16384, 16384), target("sm_80")
    grouped = select(problem, row).schedule
    spread = grouped.replace(raster="diagonal")
    assert dram_bytes(problem, spread, row, 1) > 2 * dram_bytes(problem, grouped, row, 1)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ("unroll_by=3", "unroll_by=3: a block tile has 4 steps of k .*; expected 1 or 2 or 0, for all"),
        ("unroll_by=4", "unroll_by=4: a block tile has 4 steps"),
        ("unroll_by=2,unroll=off", "unroll_by=2 with unroll=off: expected unroll=on"),
        ("tiles_per_block=2,space=k_range", "tiles_per_block=2 with space=k_range|no operand is known"),
        ("layout=xor,pad_b=8", "pad_b=8: a field of layout=mn_major or layout=pad"),
        ("layout=pad,layout_b=xor,pad_b=8", "pad_b=8 with layout_b=xor, whose rows have no pad: expected pad_b=-1"),
        ("layout=xor,layout_b=swizzle128", "with layout_b=swizzle128: expected mainloop=tma"),
        ("layout=xor,layout_b=mn_major", "layout_b=mn_major with mma=mma_sync: expected layout_b=pad"),
        ("layout=pad,pad_b=3", "pad_b=3: the rows of B, 128 elements and the pad, must be multiples of 16 bytes"),
    ],
)
def test_refusals(fields: str, reason: str):
    pinned = Schedule.parse(f"mma=mma_sync,mainloop=cp_async,block=128x128x64,warp=64x32x16,stages=3,{fields}")
    with pytest.raises(ScheduleError, match=reason):
        select(Problem(1024, 1024, 1024), target("sm_80"), pinned)


def test_blocks_walk_tiles_in_one_way_only():
    for mma in ("wgmma", "mma_sync"):
        fields = {"mma": mma, "mainloop": "tma", "tiles_per_block": 2}
        assert select(Problem(4096, 4096, 4096), target("sm_90a"), fields).schedule.persistent == 0
    pinned = {"mma": "wgmma", "tiles_per_block": 2, "persistent": 132}
    with pytest.raises(ScheduleError, match=r"tiles_per_block=2 with persistent=132: .*expected persistent=0"):
        select(Problem(1024, 1024, 1024), target("sm_90a"), pinned)


def test_neighbouring_tiles_of_a_block_are_predicted_to_read_more_at_a_time():
    """Eight rows of tiles at a time: blocks whose four tiles are below each other have two rows and four times as many
    columns in flight."""
    problem, row = Problem(16384, 16384, 16384), target("sm_80")
    schedule = select(problem, row, {"raster_group": 8}).schedule.replace(tiles_per_block=4)
    near, apart = (dram_bytes(problem, schedule.replace(sequential_tiles=way), row, 1) for way in (True, False))
    assert near > 1.5 * apart
    lines = explain(problem, row, {"tiles_per_block": 4, "mma": "mma_sync"})
    assert "blocks, at most 4 each, neighbours in the raster's order" in lines


def test_fields_show_only_where_they_are_set():
    plain = select(Problem(512, 512, 512), target("sm_80"), {"layout": "pad"}).schedule
    assert not {"pad_b", "unroll_by", "tiles_per_block", "sequential_tiles"} & {*fields_of(plain)}
    assert "tiles_per_block=2," in str(plain.replace(tiles_per_block=2))
    assert "pad_b=24,vector" in str(plain.replace(pad_b=24)) and "unroll_by=2," in str(plain.replace(unroll_by=2))


def test_each_pad_is_that_of_its_operand():
    schedule = Schedule(block=(64, 128, 32), mma="mma_sync", layout="pad", pad=8, pad_b=24)
    strides = [buffer(Problem(512, 512, 512), schedule, operand).stride for operand in "ab"]
    assert strides == [2 * (32 + 8), 2 * (128 + 24)]


def test_partial_unrolling_leaves_a_loop_and_less_code():
    text = Product(1024, 1024, 1024).module()
    fields = "mma=mma_sync,block=128x128x64,warp=64x32x16,mainloop=cp_async,stages=3"
    whole, part = (
        compile_module(text, chip="sm_80", schedule=Schedule.parse(f"{fields}{more}")).ptx or ""
        for more in ("", ",unroll_by=2")
    )
    assert part.count("mma.sync") == whole.count("mma.sync") // 2
    taken = usage(part, "sm_80")
    assert taken is not None and taken.spill_bytes == 0


def test_the_tuner_tries_them():
    space = explore(Problem(33, 40, 256, reads_c=False), target("sm_70"))
    texts = [trial.schedule for trial in space.trials]
    fields = (
        "raster=diagonal",
        "unroll_by=",
        "tiles_per_block=2",
        "sequential_tiles=off",
        "layout_b=xor",
        "layout_b=pad",
    )
    for wanted in fields:
        assert any(wanted in text for text in texts), wanted


def test_the_tuner_walks_tiles_with_rings():
    problem, row = Problem(4096, 4096, 4096), target("sm_90a")
    chosen = select(problem, row).schedule
    walked = [each for each in neighbours(chosen, row) if each.tiles_per_block > 1]
    assert chosen.persistent and len(walked) == 4
    assert not any(violations(problem, each, row) for each in walked)
