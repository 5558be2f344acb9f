"""Products of bytes whose B runs along N and is transposed in shared memory: simulated against NumPy, with faults, and
through ptxas."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from assembled import usage
from group_products import GroupProduct

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.context import new_context
from mlir_gemm.dialect.parse import parse_module
from mlir_gemm.dialect.walk import named, users
from mlir_gemm.errors import Error
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.simulator.kernel import Options, Report, simulate
from mlir_gemm.simulator.stages import run_stage
from mlir_gemm.spec.schedule import Schedule

BYTES = "precision=f8,mma=wgmma,swap_ab=off,"
PRODUCTS = {
    "a warpgroup, a square": (
        GroupProduct(64, 128, 384, "f8E4M3FN", "f32", "km", "kn"), "block=64x128x128,warp=64x128x128"
    ),
    "two share a square, ragged": (
        GroupProduct(80, 112, 200, "f8E5M2", "f16", "km", "kn"), "block=128x128x128,warp=64x128x128"
    ),
    "a square each, A along k": (
        GroupProduct(128, 144, 144, "f8E4M3FN", "f32", "mk", "kn"), "block=128x256x128,warp=64x256x128"
    ),
    "ping-pong": (
        GroupProduct(256, 128, 256, "f8E4M3FN", "f32", "km", "kn"),
        "block=128x128x128,warp=128x128x128,ping_pong=on,persistent=1",
    ),
    "a cluster, two squares": (
        GroupProduct(128, 256, 144, "f8E4M3FN", "f32", "km", "kn"), "block=64x256x128,warp=64x256x128,cluster_m=2"
    ),
}  # fmt: skip
TYPES: dict[str, Any] = {"f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2}
PAIR = "two share a square, ragged"


@lru_cache
def compiled(name: str) -> Any:
    product, schedule = PRODUCTS[name]
    fields = Schedule.parse(BYTES + schedule)
    return compile_module(product.source(), chip="sm_90a", schedule=fields, until="lower", keep=("all",))


def arrays(name: str) -> tuple[list[Any], Any]:
    product, rng = PRODUCTS[name][0], np.random.default_rng(7)
    sizes = {"m": product.m, "n": product.n, "k": product.k}
    a, b = (rng.integers(-3, 4, [sizes[axis] for axis in order]).astype(np.float32) for order in (product.a, product.b))
    wanted = (a if product.a == "mk" else a.T) @ b
    out = np.full((product.m, product.n), np.nan, np.float16 if product.out == "f16" else np.float32)
    return [a.astype(TYPES[product.element]), b.astype(TYPES[product.element]), out], wanted


def lowered(name: str, without: str = "") -> tuple[Report, bool]:
    """A run of the kernel, perhaps without the operation of this name that comes after the first transposition."""
    module = parse_module(compiled(name).ir("lower"), "-", new_context())
    if without:
        stored = next(iter(named(module, "nvvm.stmatrix"))).operation
        inside = [each.operation for each in stored.block.operations]
        next(each for each in inside[inside.index(stored) :] if each.name == without).erase()
    memory, wanted = arrays(name)
    report = simulate(module, memory, Options(max_steps=200_000, first=bool(without)))
    return report, np.array_equal(memory[2].astype(np.float32), wanted.astype(memory[2].dtype).astype(np.float32))


@pytest.mark.parametrize("name", PRODUCTS)
def test_products_are_right(name: str):
    report, right = lowered(name)
    assert right and not report.findings, str(report)
    assert not [site for site in str(report.counters).splitlines() if "matrix:" in site]  # bank conflicts


@pytest.mark.parametrize("stage", ["pipeline", "distribute"])
def test_it_is_right_before_it_is_lowered(stage: str):
    memory, wanted = arrays(PAIR)
    text = compiled(PAIR).ir(stage)
    assert "tile.transpose" in text
    run_stage(text, memory)
    assert np.array_equal(memory[2].astype(np.float32), wanted.astype(np.float16).astype(np.float32))


@pytest.mark.parametrize("name", ["nvvm.fence.proxy", "nvvm.barrier"])
def test_two_warpgroups_wait_for_each_other(name: str):
    assert lowered(PAIR, name)[0].findings


def _early(transpose: Any, product: Any) -> None:
    wait = next(op.operation for op in transpose.block.operations if op.operation.name == "tile.consumer_wait")
    view = transpose.operands[0].owner.operation
    view.move_before(wait)
    transpose.move_before(wait)


def _late(transpose: Any, product: Any) -> None:
    product.operands[1] = transpose.operands[0]
    product.attributes["b"] = ir.StringAttr.get("kn")
    transpose.move_after(product)


@pytest.mark.parametrize(("change", "said"), [
    (_early, "reads a stage that no tile.consumer_wait has waited for"),
    (_late, "writes a stage that a product in flight reads"),
])  # fmt: skip
def test_a_transposition_at_another_time_is_found(change: Any, said: str):
    module = parse_module(compiled(PAIR).ir("pipeline"), "-", new_context())
    with module.context, ir.Location.unknown():
        transpose = named(module, "tile.transpose")[-1].operation
        change(transpose, users(transpose.results[0])[0].operation)
    with pytest.raises(Error, match=said):
        run_stage(str(module), arrays(PAIR)[0])


INTEGERS = """func.func @f(%A: memref<512x512xi8>, %B: memref<512x512xi8>, %C: memref<512x512xi32>) {
  %zero = arith.constant 0 : i32
  linalg.fill ins(%zero : i32) outs(%C : memref<512x512xi32>)
  linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>,
                                 affine_map<(m, n, k) -> (m, n)>]
      ins(%A, %B : memref<512x512xi8>, memref<512x512xi8>) outs(%C : memref<512x512xi32>)
  return
}"""
FLOATS = GroupProduct(512, 512, 512, "f8E4M3FN", "f32", "km", "kn").source()


@pytest.mark.parametrize("source", [INTEGERS, FLOATS], ids=["i8", "f8E4M3FN"])
def test_nothing_spills(source: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MLIR_GEMM_CACHE", "off")
    schedule = f"block=128x256x128,warp=64x256x128,mma=wgmma{',precision=f8' * (source == FLOATS)}"
    made = compile_module(source, chip="sm_90a", schedule=Schedule.parse(schedule))
    assert "stmatrix" in made.ptx
    assert not usage(made.ptx, "sm_90a").spill_bytes
