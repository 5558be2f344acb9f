"""Modules for sm_90a that once went wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from assembled import usage
from group_products import GroupProduct

import mlir_gemm
from mlir_gemm.dialect import constants
from mlir_gemm.dialect.context import new_context
from mlir_gemm.dialect.parse import parse_module
from mlir_gemm.dialect.walk import named
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.simulator.reference import evaluate
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.tile_model.chips import target

CHIP = "sm_90a"
E4, E5 = "f8E4M3FN", "f8E5M2"


@pytest.fixture(autouse=True)
def _no_cache(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    monkeypatch.setenv("MLIR_GEMM_CACHE", "off")


def product(a: str, b: str, orders: tuple[str, str] = ("mk", "nk"), m: int = 128, n: int = 128, k: int = 128) -> str:
    """A product of two types, both extended to f32."""
    sizes = {"m": m, "n": n, "k": k}
    left, right = (f"tensor<{'x'.join(str(sizes[axis]) for axis in order)}x{element}>"
                   for order, element in zip(orders, (a, b), strict=True))  # fmt: skip
    maps = ", ".join(f"affine_map<(m, n, k) -> ({', '.join(order)})>" for order in (*orders, "mn"))
    return f"""func.func @main(%a: {left}, %b: {right}) -> tensor<{m}x{n}xf32> {{
      %zero = arith.constant dense<0.0> : tensor<{m}x{n}xf32>
      %0 = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "parallel", "reduction"]}}
          ins(%a, %b : {left}, {right}) outs(%zero : tensor<{m}x{n}xf32>) {{
      ^bb0(%x: {a}, %y: {b}, %o: f32):
        %1 = arith.extf %x : {a} to f32
        %2 = arith.extf %y : {b} to f32
        %3 = arith.mulf %1, %2 : f32
        %4 = arith.addf %o, %3 : f32
        linalg.yield %4 : f32
      }} -> tensor<{m}x{n}xf32>
      return %0 : tensor<{m}x{n}xf32>
    }}"""


def mma_of(text: str, chip: str = CHIP, **schedule: Any) -> str:
    kernels = compile_module(text, chip=chip, schedule=schedule, until="lower").kernels
    (found,) = [each.schedule.mma for each in kernels if each.schedule is not None]
    return found


@pytest.mark.parametrize(
    ("a", "b", "chip", "schedule", "expected"),
    [
        (E4, E5, CHIP, {}, "wgmma"),
        (E4, "f16", CHIP, {}, "mma_sync"),  # wgmma has no product of the two
        ("f16", E5, CHIP, {}, "mma_sync"),
        (E4, E4, "sm_80", {}, "mma_sync"),  # has no product of 8-bit floats at all
        (E4, E4, CHIP, {"mma": "mma_sync"}, "mma_sync"),  # nor has this mma
    ],
)
def test_precision_f8_allows_and_does_not_ask(
    a: str, b: str, chip: str, schedule: dict[str, Any], expected: str
) -> None:
    assert mma_of(product(a, b), chip, precision="f8", **schedule) == expected


@pytest.mark.parametrize(("m", "n", "k"), [(64, 256, 1), (1, 256, 64), (256, 1, 64), (64, 1, 8)])
@pytest.mark.parametrize("orders", [("km", "nk"), ("mk", "kn"), ("km", "kn")])
def test_dimensions_of_one_element_give_the_copy_engine_no_rows(
    m: int, n: int, k: int, orders: tuple[str, str]
) -> None:
    text = product("bf16", "bf16", orders, m, n, k)
    mma_of(text)  # which need not be wgmma: rows of one element are not aligned


def results(first: str, second: str) -> str:
    """A product with two results."""
    return f"""#mk = affine_map<(m, n, k) -> (m, k)>
    #nk = affine_map<(m, n, k) -> (n, k)>
    #mn = affine_map<(m, n, k) -> (m, n)>
    #id = affine_map<(m, n) -> (m, n)>
    func.func @main(%a: tensor<128x128xf16>, %b: tensor<384x128xf16>)
        -> (tensor<128x384x{first}>, tensor<128x384x{second}>) {{
      %zero = arith.constant dense<0.0> : tensor<128x384xf32>
      %e = tensor.empty() : tensor<128x384x{first}>
      %f = tensor.empty() : tensor<128x384x{second}>
      %0 = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%a, %b : tensor<128x128xf16>, tensor<384x128xf16>)
                         outs(%zero : tensor<128x384xf32>) -> tensor<128x384xf32>
      %1:2 = linalg.generic {{indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}}
          ins(%0 : tensor<128x384xf32>) outs(%e, %f : tensor<128x384x{first}>, tensor<128x384x{second}>) {{
      ^bb0(%x: f32, %y: {first}, %z: {second}):
        %2 = arith.truncf %x : f32 to {first}
        %3 = arith.truncf %x : f32 to {second}
        linalg.yield %2, %3 : {first}, {second}
      }} -> (tensor<128x384x{first}>, tensor<128x384x{second}>)
      return %1#0, %1#1 : tensor<128x384x{first}>, tensor<128x384x{second}>
    }}"""


@pytest.mark.parametrize("types", [("f16", E5), (E5, "f16"), ("bf16", E4)])
def test_memory_for_results_on_their_way_is_counted_for_whichever_result_leaves_so(types: tuple[str, str]) -> None:
    """With the stages that the model chooses the block had more shared memory than there is."""
    made = compile_module(results(*types), chip=CHIP, schedule={"mma": "wgmma", "block": (128, 192, 64)})
    assert made.launch is not None
    assert 0 < made.launch.shared_bytes <= target(CHIP).smem_block


WHOLE = f"""#id = affine_map<(m, n) -> (m, n)>
func.func @main(%a: tensor<16x32xi8>, %b: tensor<32x24xi8>, %c: tensor<16x24xi32>) -> tensor<16x24x{E5}> {{
  %e = tensor.empty() : tensor<16x24x{E5}>
  %0 = linalg.matmul ins(%a, %b : tensor<16x32xi8>, tensor<32x24xi8>) outs(%c : tensor<16x24xi32>) -> tensor<16x24xi32>
  %1 = linalg.generic {{indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}}
      ins(%0 : tensor<16x24xi32>) outs(%e : tensor<16x24x{E5}>) {{
  ^bb0(%x: i32, %y: {E5}):
    %2 = arith.sitofp %x : i32 to f32
    %3 = arith.truncf %2 : f32 to {E5}
    linalg.yield %3 : {E5}
  }} -> tensor<16x24x{E5}>
  return %1 : tensor<16x24x{E5}>
}}"""


@pytest.mark.parametrize("chip", ["sm_80", CHIP])
def test_whole_numbers_become_8_bit_floats(chip: str) -> None:
    """Canonicalisation makes one conversion of the two."""
    a, b = np.ones((16, 32), np.int8), np.eye(32, 24, dtype=np.int8)
    c = np.arange(16 * 24, dtype=np.int32).reshape(16, 24) % 4
    (wanted,) = evaluate(WHOLE, [a, b, c])
    got = mlir_gemm.compile(WHOLE, chip=chip, device="simulator")(a, b, c)
    np.testing.assert_array_equal(np.asarray(got).astype(np.float64), wanted)


CONSTANTS = """func.func @main() {
  %0 = arith.constant dense_resource<some> : vector<4xf32>
  %1 = arith.constant dense<2.0> : vector<4xf32>
  %2 = arith.constant dense<[1.0, 2.0]> : vector<2xf32>
  %3 = arith.constant 5 : i32
  %4 = arith.constant 5.0 : f32
  return
}
{-# dialect_resources: { builtin: { some: "0x040000000000803F0000803F0000803F0000803F" } } #-}"""


def test_constants_of_every_kind_are_looked_at() -> None:
    module = parse_module(CONSTANTS, "-", new_context())
    with module.context:
        values = [op.operation.results[0] for op in named(module, "arith.constant")]
        splats = [constants.splat_of(value) for value in values]
        assert [splat and splat.value for splat in splats] == [None, 2.0, None, None, None]
        assert [constants.integer_of(value) for value in values] == [None, None, None, 5, None]


@pytest.mark.parametrize("group", [8, 11, 16])
@pytest.mark.parametrize("element", ["f16", "bf16"])
def test_rows_that_are_not_aligned_do_not_serialise_products_by_turns(element: str, group: int) -> None:
    """Where a warpgroup passed its turn on between its loop and the last wait, the assembler moved the conversions of
    accumulators in front of the wait, and did all products one by one (C7514): unless a division stood in between."""
    source = GroupProduct(4095, 4095, 4096, element=element, out=element, a="mk", b="nk").source()
    fields = f"mma=wgmma,block=128x128x64,warp=128x128x64,ping_pong=on,persistent=132,raster_group={group}"
    used = usage(compile_module(source, chip=CHIP, schedule=Schedule.parse(fields)).ptx, CHIP)
    assert (used.spill_bytes, used.warnings) == (0, ())


@pytest.mark.parametrize("more", ["", ",smem_epilogue=off", ",persistent=1"])
def test_sums_over_an_edge_start_from_what_no_other_warpgroup_stores(more: str):
    """Of 48 columns 24 lie in the matrix: the second warpgroup has nothing to load, and must not load what the first
    one stores. (A load was moved back into the matrix, and what it gave was not used.)"""
    source = """func.func @f(%A: memref<64x72xf16>, %B: memref<24x72xf16>, %C: memref<64x24xf32>) {
      linalg.matmul indexing_maps = [
        affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>
      ] ins(%A, %B : memref<64x72xf16>, memref<24x72xf16>) outs(%C : memref<64x24xf32>)
      return
    }"""
    schedule = f"mma=wgmma,block=64x48x64,warp=64x24x64,stages=2{more}"
    kernel = mlir_gemm.compile(source, chip=CHIP, device="simulator", schedule=schedule)
    random = np.random.default_rng(0)
    a, b = (random.integers(-3, 4, shape).astype(np.float16) for shape in ((64, 72), (24, 72)))
    c = random.integers(-9, 9, (64, 24)).astype(np.float32)
    want = c + a.astype(np.float32) @ b.astype(np.float32).T
    kernel(a, b, c)
    np.testing.assert_array_equal(c, want)
