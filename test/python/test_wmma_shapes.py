"""WMMA's 32x8x16 and 8x32x16, and A and B in all orders: right on the simulator with every option, assembled, and the
shapes proposed only when asked for."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from assembled import usage
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from mma_cases import Case, check
from test_other_tensor_cores import Product
from test_other_tensor_cores import check as exact
from test_simulator import CHIP, run, source

import mlir_gemm
from mlir_gemm.errors import ScheduleError
from mlir_gemm.parts.layout import bank_conflicts, buffer
from mlir_gemm.parts.mma.wmma.rules import SHAPES
from mlir_gemm.parts.mma.wmma.search import proposals
from mlir_gemm.parts.resources import smem_bytes
from mlir_gemm.parts.warp_level.clocks import shared_clocks
from mlir_gemm.parts.warp_level.constants import FragmentConstants
from mlir_gemm.passes.lower import mma_to_wmma
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule, Tile
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tile_model.rules import violations
from mlir_gemm.tile_model.select import select

TILES = {(32, 8, 16): "warp=32x16x16,instruction=32x8x16", (8, 32, 16): "warp=16x32x16,instruction=8x32x16"}
"""A warp tile of two fragments, for each of the shapes."""
OPTIONS = (
    "", "stages=2", "mainloop=direct", "promote=off,mainloop=direct", "accumulate=off",
    "pad=0", "pad=0,stages=2", "pad=16", "vector=32", "unroll=off",
)  # fmt: skip
CASES = [
    (form, out, option)
    for form, out in (("memref", "f32"), ("tensor", "f16"), ("add", "f16"))
    for option in OPTIONS
    if out == "f32" or option != "accumulate=off"  # partial sums are not kept in f16
]
WITHIN = ("0, 1", "true, true")
"""Tiles that are stored where they surely exist."""

BOTH = pytest.mark.parametrize("shape", TILES)


def test_the_part_and_the_pass_have_the_same_shapes():
    assert mma_to_wmma.SHAPES == SHAPES
    assert (Schedule.instruction, *TILES) == SHAPES


@BOTH
@pytest.mark.parametrize(("form", "out", "option"), CASES)
def test_every_option_is_right_and_finds_nothing(form: str, out: str, option: str, shape: Tile):
    report = run((64, 96, 64), form, out, f"block=32x32x32,{TILES[shape]},mma=wmma,{option}")
    assert not report.findings, str(report)
    assert report.blocks_run == report.blocks == 6


@BOTH
@pytest.mark.parametrize("out", ["f32", "f16"])
def test_a_warp_tile_of_one_fragment(out: str, shape: Tile):
    m, n, _ = shape
    report = run((64, 64, 32), "add", out, f"block={2 * m}x{2 * n}x32,warp={m}x{n}x16,instruction={m}x{n}x16,mma=wmma")
    assert not report.findings, str(report)


@BOTH
@pytest.mark.parametrize("pad, stages", [(0, 1), (8, 2)])
def test_an_epilogue_of_arithmetic(pad: int, stages: int, shape: Tile):
    relu = "%p = arith.maximumf %x, %zero : f32\n      %t = arith.truncf %p"
    text = source(64, 96, 64, "tensor", "f16").replace("%t = arith.truncf %x", relu)
    schedule = f"block=32x32x32,{TILES[shape]},mma=wmma,pad={pad},stages={stages}"
    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal(size).astype(np.float16) for size in ((64, 64), (64, 96)))
    d = mlir_gemm.compile(text, device="simulator", schedule=schedule)(a, b)
    want = np.maximum(a.astype(np.float64) @ b.astype(np.float64), 0)
    np.testing.assert_allclose(d, want, rtol=2.0**-10, atol=2.0**-12)


ORDERS = [("mk", "kn"), ("km", "kn"), ("mk", "nk"), ("km", "nk")]


@BOTH
@pytest.mark.parametrize("orders", ORDERS)
def test_orders(orders: tuple[str, str], shape: Tile):
    case = Case(block=(64, 64, 32), warp=(32, 32, 16), size=(64, 64), orders=orders, start=False, store=WITHIN)
    check(case, "mma-to-wmma", instruction=shape)


@BOTH
def test_operands_in_global_memory(shape: Tile):
    case = Case(warp=(32, 32, 16), shared=False, start=False, store=WITHIN)
    check(case, "mma-to-wmma", instruction=shape)


FRAGMENTS = st.integers(1, 3)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(
    st.sampled_from(list(TILES)), st.tuples(FRAGMENTS, FRAGMENTS, st.integers(1, 2)),
    st.tuples(*[st.integers(1, 3)] * 3), st.tuples(*[st.integers(1, 2)] * 3),
    st.sampled_from(("memref", "tensor", "add")), st.sampled_from(("f32", "f16")), st.sampled_from((0, 8, 16)),
    st.sampled_from((16, 32, 64, 128)), st.sampled_from(OPTIONS),
)  # fmt: skip
def test_legal_schedules_are_right(
    shape: Tile, fragments: Any, warps: Any, blocks: Any, form: str, out: str, pad: int, vector: int, option: str
):
    warp = tuple(size * number for size, number in zip(shape, fragments, strict=True))
    block = tuple(size * number for size, number in zip(warp, warps, strict=True))
    size = tuple(size * number for size, number in zip(block, blocks, strict=True))
    fields = {"block": block, "warp": warp, "instruction": shape, "mma": "wmma", "pad": pad, "vector": vector}
    fields["mainloop"] = "register_prefetch"
    schedule = Schedule(**fields | Schedule.parse(option))
    problem = Problem(*size, out=out, reads_c=form != "tensor")
    # A copy of C into D in vectors narrower than an element of f32: refused by a pass, not yet by a rule.
    assume(schedule.accumulate or form != "add" or vector >= 32)
    assume(np.prod(size) <= 96**3)
    assume(not violations(problem, schedule, target(CHIP)))
    report = run(size, form, out, str(schedule))
    assert not report.findings, str(report)


def ptx_of(shape: Tile, chip: str, form: str, out: str, more: str = "") -> str:
    m, n, k = shape
    schedule = f"block=64x64x32,warp=32x32x16,instruction={m}x{n}x{k},mma=wmma,{more}"
    return compile_module(source(256, 256, 256, form, out), chip=chip, schedule=Schedule.parse(schedule)).ptx or ""


@BOTH
@pytest.mark.parametrize("chip", ["sm_70", "sm_75", "sm_80", "sm_90"])
@pytest.mark.parametrize("form, out, more", [
    ("memref", "f32", "stages=2"), ("add", "f16", "pad=0"), ("memref", "f32", "promote=off,mainloop=direct"),
])  # fmt: skip
def test_kernels_assemble(form: str, out: str, more: str, chip: str, shape: Tile):
    ptx = ptx_of(shape, chip, form, out, more)
    m, n, k = shape
    assert set(re.findall(r"m\d+n\d+k\d+", ptx)) == {f"m{m}n{n}k{k}"}
    assert f"wmma.mma.sync.aligned.row.row.m{m}n{n}k{k}.f32.f32" in ptx
    assert usage(ptx, chip).spill_bytes == 0


@BOTH
def test_shared_memory_is_what_the_model_counts(shape: Tile):
    """The epilogue's scratch, which is larger than the operands here, has the rows of a fragment for each warp."""
    m, n, k = shape
    fields = Schedule.parse(f"block=64x64x32,warp=32x32x16,instruction={m}x{n}x{k},mma=wmma")
    problem = Problem(256, 256, 256, out="f16")
    counted = smem_bytes(problem, Schedule(**fields))
    assert counted >= 4 * 4 * m * (32 + 4)
    assert usage(ptx_of(shape, "sm_80", "add", "f16"), "sm_80").shared_bytes == counted


def test_only_the_shapes_that_need_it_ask_for_a_newer_ptx():
    """LLVM has no instruction for the others in PTX 6.0, and would end the process."""
    assert ".version 6.0" in ptx_of(SHAPES[0], "sm_70", "memref", "f32")
    assert ".version 6.3" in ptx_of(SHAPES[1], "sm_70", "memref", "f32")


class TestSearch:
    PROBLEM = Problem(512, 512, 512)

    def proposed(self, pinned: dict[str, Any], wide: bool) -> set[Tile]:
        return {schedule.instruction for schedule in proposals(self.PROBLEM, target("sm_80"), pinned, wide)}

    def test_the_others_are_proposed_when_asked_for(self):
        assert self.proposed({}, wide=False) == {SHAPES[0]}
        assert self.proposed({}, wide=True) == set(SHAPES)
        for wide in (False, True):
            assert self.proposed({"instruction": SHAPES[1]}, wide) == {SHAPES[1]}

    @BOTH
    @pytest.mark.parametrize("chip", ["sm_70", "sm_90a"])
    def test_a_pinned_shape_finds_tiles_and_the_operation(self, chip: str, shape: Tile):
        best = select(self.PROBLEM, target(chip), {"instruction": shape}).schedule
        assert (best.mma, best.instruction) == ("wmma", shape)
        assert all(size % unit == 0 for size, unit in zip(best.warp, shape, strict=True))

    def test_sizes_stay_multiples_of_16(self):
        with pytest.raises(ScheduleError, match="M=24 is not supported by mma=wmma: its sizes must be multiples of 16"):
            select(Problem(24, 64, 64), target("sm_80"), {"instruction": (8, 32, 16), "mma": "wmma"})


WAYS = (
    "stages=2", "mainloop=direct", "promote=off,mainloop=direct", "promote_a=off", "promote_b=off", "pad=0,pad_b=16",
    "vector=32", "unroll=off", "fragments_ahead=on", "tiles_per_block=2,mainloop=cp_async,stages=3",
    "promote_b=off,mainloop=cp_async,stages=2", "instruction=32x8x16,warp=32x16x16", "accumulate=off",
)  # fmt: skip


@pytest.mark.parametrize("orders", ORDERS[1:])
@pytest.mark.parametrize("way", WAYS)
def test_other_orders_are_exact(orders: tuple[str, str], way: str):
    """Epilogues in turn, and two kernels of each order for chips that hold elements twice."""
    number = WAYS.index(way) + ORDERS.index(orders)
    sums = "accumulate" in way
    out, epilogue = ("f32", "accumulate") if sums else (("f32", "none"), ("f16", "relu"), ("f16", "bias_n"))[number % 3]
    product = Product(64, 96, 64, out=out, a_order=orders[0], b_order=orders[1], epilogue=epilogue, pad=(None, 8)[sums])
    tiles = "mma=wmma,block=32x32x32" + ("" if "warp" in way else ",warp=16x16x16")
    ptx = exact(product, "sm_80" if "cp_async" in way or number % 2 else "sm_70", f"{tiles},{way}")
    loaded = {"row" if each in ("mk", "kn") else "col" for each in orders}
    assert set(re.findall(r"wmma\.load\.[ab]\.sync\.(?:aligned\.)?(row|col)", ptx)) == loaded


@pytest.mark.parametrize("orders", ORDERS[1:])
@pytest.mark.parametrize("chip", ["sm_70", "sm_75", "sm_80", "sm_90"])
def test_kernels_of_other_orders_assemble(orders: tuple[str, str], chip: str):
    """B in place once: his own layout."""
    text = Product(512, 512, 512, a_order=orders[0], b_order=orders[1], out="f16").module()
    more = ",promote_b=off" if orders == ORDERS[2] else ",stages=2"
    fields = Schedule.parse(f"mma=wmma,block=128x64x32,warp=64x32x16{more}")
    assert usage(compile_module(text, chip=chip, schedule=fields).ptx or "", chip).spill_bytes == 0


@pytest.mark.parametrize(("orders", "conflicts"), [(ORDERS[0], (8, 4)), (ORDERS[1], (4, 4)), (ORDERS[3], (4, 8))])
def test_the_model_counts_conflicts_by_how_rows_lie(orders: tuple[str, str], conflicts: tuple[int, int]):
    """Rows of 64 and 32 elements without pads, whichever dimension they run along; ldmatrix reads either way."""
    problem = Problem(512, 512, 512, a_order=orders[0], b_order=orders[1])
    schedule = Schedule(block=(32, 32, 64), warp=(16, 16, 16), pad=0, mma="wmma", mainloop="register_prefetch")
    lying = [buffer(problem, schedule, operand) for operand in "ab"]
    assert tuple(bank_conflicts(each.stride) for each in lying) == conflicts
    constants = target("sm_75").constants(FragmentConstants)
    padded, bare = (shared_clocks(problem, schedule.replace(pad=pad), constants) for pad in (8, 0))
    assert bare > padded


def test_a_pad_keeps_columns_at_16_bytes():
    """Of an operand that lies across k they are what WMMA loads."""
    problem, fields = Problem(64, 64, 64, a_order="km", b_order="nk"), {"block": (32, 64, 16), "warp": (16, 16, 16)}
    schedule = Schedule.make({**fields, "mma": "wmma", "mainloop": "direct", "pad": 4, "vector": 16})
    assert any("multiple of 8 elements" in reason for reason in violations(problem, schedule, target("sm_80")))
    assert not violations(problem, schedule.replace(pad=8), target("sm_80"))


BIASED = """func.func @biased(%A: memref<32x64xf16>, %B: memref<64x96xf16>, %bias: memref<{size}xf16{layout}>,
                  %D: memref<32x96xf16>) {{
  %zero = arith.constant 0.0 : f32
  %P = memref.alloc() : memref<32x96xf32>
  linalg.fill ins(%zero : f32) outs(%P : memref<32x96xf32>)
  linalg.matmul ins(%A, %B : memref<32x64xf16>, memref<64x96xf16>) outs(%P : memref<32x96xf32>)
  linalg.generic {{
      indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> ({dim})>, affine_map<(m, n) -> (m, n)>],
      iterator_types = ["parallel", "parallel"]}}
    ins(%P, %bias : memref<32x96xf32>, memref<{size}xf16{layout}>) outs(%D : memref<32x96xf16>) {{
  ^bb0(%x: f32, %b: f16, %old: f16):
    %w = arith.extf %b : f16 to f32
    %s = arith.addf %x, %w : f32
    %d = arith.truncf %s : f32 to f16
    linalg.yield %d : f16
  }}
  return
}}
"""


@pytest.mark.parametrize("instruction", SHAPES)
@pytest.mark.parametrize(("dim", "size", "layout"), [("n", 96, ""), ("m", 32, ""), ("m", 32, ", strided<[3]>")])
@pytest.mark.parametrize("chip", ["sm_70", "sm_75"])
def test_a_bias_of_columns_or_rows(chip: str, dim: str, size: int, layout: str, instruction: Tile):
    """As a linear layer has it: the chips before sm_80 multiply by WMMA where sizes allow."""
    text = BIASED.format(dim=dim, size=size, layout=layout)
    shape = "x".join(map(str, instruction))
    kernel = mlir_gemm.compile(text, chip=chip, device="simulator", schedule=f"mma=wmma,instruction={shape}")
    rng = np.random.default_rng(5)
    a, b = (rng.integers(-4, 5, each).astype(np.float16) for each in ((32, 64), (64, 96)))
    bias: Any = rng.integers(-9, 10, 3 * size).astype(np.float16)
    bias = bias[::3] if layout else bias[:size]
    result = np.full((32, 96), np.nan, np.float16)
    kernel(a, b, bias, result)
    wanted = a.astype(float) @ b.astype(float) + (bias if dim == "n" else bias[:, None])
    assert (result == wanted.astype(np.float16)).all()


def test_a_linear_layer_with_a_bias_is_taken_by_what_the_model_chooses():
    text = BIASED.format(dim="n", size=96, layout="")
    for chip in ("sm_70", "sm_75"):
        assert compile_module(text, chip=chip).ptx is not None
