"""dp4a: bytes on chips whose tensor cores are not used for them."""

from __future__ import annotations

import numpy as np
import pytest
from mma_cases import Case, check

import mlir_gemm
from mlir_gemm.errors import ScheduleError
from mlir_gemm.parts.registry import mmas
from mlir_gemm.pipeline.assembler import usage
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.tile_model.chips import CHIPS, target
from mlir_gemm.tile_model.select import select

SQUARE = Problem(1024, 1024, 1024, a="i8", b="i8", acc="i32", out="i32", reads_c=False)
LOOPS = {"m": "d0", "n": "d1", "k": "d2"}


def product(m: int, n: int, k: int, a: str, b: str) -> str:
    """A product of signed bytes, its operands in these orders."""
    sizes = {"m": m, "n": n, "k": k}
    types = [f"tensor<{sizes[order[0]]}x{sizes[order[1]]}xi8>" for order in (a, b)]
    maps = [f"affine_map<(d0, d1, d2) -> ({LOOPS[order[0]]}, {LOOPS[order[1]]})>" for order in (a, b, "mn")]
    out = f"tensor<{m}x{n}xi32>"
    return f"""func.func @f(%a: {types[0]}, %b: {types[1]}) -> {out} {{
      %zero = arith.constant 0 : i32
      %empty = tensor.empty() : {out}
      %start = linalg.fill ins(%zero : i32) outs(%empty : {out}) -> {out}
      %sum = linalg.generic {{
        indexing_maps = [{", ".join(maps)}], iterator_types = ["parallel", "parallel", "reduction"]
      }} ins(%a, %b : {types[0]}, {types[1]}) outs(%start : {out}) {{
      ^bb0(%x: i8, %y: i8, %s: i32):
        %left = arith.extsi %x : i8 to i32
        %right = arith.extsi %y : i8 to i32
        %product = arith.muli %left, %right : i32
        %more = arith.addi %s, %product : i32
        linalg.yield %more : i32
      }} -> {out}
      return %sum : {out}
    }}"""


ORDERS = pytest.mark.parametrize("orders", [("mk", "kn"), ("km", "kn"), ("mk", "nk"), ("km", "nk")])


@ORDERS
@pytest.mark.parametrize("unsigned", ["", "a", "b", "ab"])
@pytest.mark.parametrize("shared", [True, False])
def test_signs_and_orders(orders: tuple[str, str], unsigned: str, shared: bool) -> None:
    case = Case("i8", "i32", "i32", (32, 32, 32), (32, 16, 16), orders=orders, shared=shared, unsigned=unsigned, pad=16)
    assert "nvvm.dot.accumulate.4way" in check(case, "mma-to-dp4a")


@pytest.mark.parametrize("size", [(31, 30), (17, 9), (1, 32), (32, 1)])
def test_edges(size: tuple[int, int]) -> None:
    check(Case("i8", "i32", "i32", (32, 32, 32), (32, 16, 8), size=size, pad=16), "mma-to-dp4a")


def test_is_chosen_where_bytes_have_no_tensor_cores_of_ours() -> None:
    for name, chip in CHIPS.items():
        chosen = select(SQUARE, chip).schedule.mma
        assert (chosen == "dp4a") == (chip.generation < 75), name


def test_its_rate_is_four_multiply_adds_of_32_bits() -> None:
    chip = target("sm_70")
    assert mmas()["dp4a"].rate(SQUARE, chip) == 4 * mmas()["simt"].rate(SQUARE, chip) == 512
    times = [select(SQUARE, chip, {"mma": name}).cost.total for name in ("dp4a", "simt")]
    assert times[0] < times[1] / 2


def test_a_warp_tile_is_a_multiple_of_four_in_k() -> None:
    with pytest.raises(ScheduleError, match="warp"):
        select(SQUARE, target("sm_70"), {"mma": "dp4a", "block": (64, 64, 64), "warp": (32, 32, 2)})


@ORDERS
def test_a_product_of_odd_sizes_is_exact(orders: tuple[str, str]) -> None:
    m, n, k = 33, 50, 37
    text = product(m, n, k, *orders)
    random = np.random.default_rng(3)
    a, b = (random.integers(-128, 128, shape).astype(np.int8) for shape in ((m, k), (k, n)))
    kernel = mlir_gemm.compile(text, chip="sm_70", device="simulator")
    assert isinstance(kernel.schedule, Schedule) and kernel.schedule.mma == "dp4a"
    lying = (a if orders[0] == "mk" else a.T, b if orders[1] == "kn" else b.T)
    got = kernel(*map(np.ascontiguousarray, lying))
    np.testing.assert_array_equal(got, a.astype(np.int32) @ b.astype(np.int32))


@pytest.mark.parametrize("tiles", ["", "block=128x128x32,warp=64x32x8", "block=64x64x64,warp=64x64x8"])
def test_assembles_without_spills(tiles: str) -> None:
    schedule = ",".join(filter(None, ("mma=dp4a", tiles)))
    ptx = compile_module(product(1024, 1024, 1024, "mk", "nk"), chip="sm_75", schedule=Schedule.parse(schedule)).ptx
    assert ptx is not None and "dp4a.s32.s32" in ptx and "prmt" not in ptx
    assert usage(ptx, "sm_75").spill_bytes == 0
