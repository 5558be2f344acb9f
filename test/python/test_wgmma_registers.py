"""Products whose A comes to wgmma through registers: simulated at stage `lower` against NumPy, and what is chosen."""

from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from group_products import GroupProduct

from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.simulator.errors import SimulationError
from mlir_gemm.simulator.kernel import Options, Report, simulate
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tile_model.decisions import decide

H200 = target("sm_90a")
TYPES: dict[str, Any] = {"f32": np.float32, "f16": np.float16, "f8E4M3FN": ml_dtypes.float8_e4m3fn,
                         "f8E5M2": ml_dtypes.float8_e5m2}  # fmt: skip
INTEGERS = """#a = affine_map<(m, n, k) -> ({a})>
func.func @f(%A: memref<{k}x{m}xi8>, %B: memref<{n}x{k}xi8>, %C: memref<{m}x{n}xi32>) {{
  %zero = arith.constant 0 : i32
  linalg.fill ins(%zero : i32) outs(%C : memref<{m}x{n}xi32>)
  linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (n, k)>,
                                 affine_map<(m, n, k) -> (m, n)>]
      ins(%A, %B : memref<{k}x{m}xi8>, memref<{n}x{k}xi8>) outs(%C : memref<{m}x{n}xi32>)
  return
}}"""


def lowered(source: str, schedule: str) -> str:
    made = compile_module(source, chip="sm_90a", schedule=Schedule.parse(schedule), until="lower", keep=("lower",))
    return made.ir("lower")


def simulated(text: str, product: GroupProduct) -> tuple[Report, bool]:
    rng = np.random.default_rng(5)
    sizes = {"m": product.m, "n": product.n, "k": product.k}
    a, b = (
        rng.integers(-3, 4, [sizes[axis] for axis in order]).astype(np.float32).astype(TYPES[product.element])
        for order in (product.a, product.b)
    )
    result = np.full((product.m, product.n), np.nan, TYPES[product.out])
    report = simulate(text, [a, b, result], Options(max_steps=200_000))
    left, right = a.astype(np.float32), b.astype(np.float32)
    wanted = (left if product.a == "mk" else left.T) @ (right if product.b == "kn" else right.T)
    return report, np.array_equal(result.astype(np.float32), wanted.astype(TYPES[product.out]).astype(np.float32))


WORDS, BYTES = "precision=tf32,mma=wgmma,", "precision=f8,mma=wgmma,"
PRODUCTS = {
    "words": (GroupProduct(128, 64, 96, "f32", "f32", "km", "nk"), WORDS + "block=128x64x32,warp=64x64x32"),
    "words, over edges": (
        GroupProduct(68, 44, 72, "f32", "f32", "km", "nk"), WORDS + "block=128x48x32,warp=128x48x32"
    ),
    "words, swapped": (
        GroupProduct(48, 128, 64, "f32", "f32", "mk", "kn"), WORDS + "swap_ab=on,block=64x48x32,warp=64x48x32"
    ),
    "words into halves, swapped": (
        GroupProduct(64, 64, 64, "f32", "f16", "mk", "kn"), WORDS + "swap_ab=on,block=64x64x32,warp=64x64x32"
    ),
    "words into halves": (
        GroupProduct(64, 64, 64, "f32", "f16", "km", "nk"), WORDS + "block=64x64x32,warp=64x64x32"
    ),
    "words, two panels of k": (
        GroupProduct(64, 32, 128, "f32", "f32", "km", "nk"), WORDS + "block=64x32x64,warp=64x32x64"
    ),
    "bytes, half a panel": (
        GroupProduct(128, 32, 384, "f8E4M3FN", "f32", "km", "nk"), BYTES + "block=128x32x128,warp=64x32x128"
    ),
    "bytes, whole panels": (
        GroupProduct(128, 32, 128, "f8E5M2", "f16", "km", "nk"), BYTES + "block=128x32x128,warp=128x32x128"
    ),
    "bytes, narrow panels, swapped": (
        GroupProduct(32, 64, 256, "f8E4M3FN", "f16", "mk", "kn"), BYTES + "swap_ab=on,block=64x32x128,warp=64x32x128"
    ),
    "bytes, words out, swapped": (
        GroupProduct(32, 128, 128, "f8E4M3FN", "f32", "mk", "kn"), BYTES + "swap_ab=on,block=128x32x128,warp=64x32x128"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PRODUCTS)
def test_products_are_right(name: str):
    product, schedule = PRODUCTS[name]
    text = lowered(product.source(), schedule)
    assert "wgmma.mma_async.sync" in text and "nvvm.wgmma.mma_async" not in text
    report, right = simulated(text, product)
    assert right and not report.findings, str(report)


def test_integers_are_exact():
    m, n, k = 64, 16, 256
    text = lowered(INTEGERS.format(a="k, m", m=m, n=n, k=k), "mma=wgmma,block=64x16x128,warp=64x16x128")
    assert ".s32.s8.s8" in text
    rng = np.random.default_rng(6)
    a, b = (rng.integers(-128, 128, shape).astype(np.int8) for shape in ((k, m), (n, k)))
    c = np.full((m, n), 77, np.int32)
    report = simulate(text, [a, b, c], Options(max_steps=200_000))
    assert not report.findings, str(report)
    assert np.array_equal(c, a.T.astype(np.int32) @ b.T.astype(np.int32))


def test_words_are_loaded_without_bank_conflicts():
    product, schedule = PRODUCTS["words"]
    text = lowered(product.source(), schedule)
    report, _ = simulated(text, product)
    assert "llvm.load" in text
    assert not [site for site in str(report.counters).splitlines() if "llvm.load:" in site]


MUTATIONS: dict[str, tuple[str, str, str]] = {
    "another word of A": (r"(s8|tf32\.tf32) \{([^}]*)\}, \{\$(\d+), \$(\d+)", r"\1 {\2}, {$\4, $\3", "in order"),
    "no such shape": (r"m64n64k8\.f32\.tf32", "m64n64k16.f32.tf32", "is not what the machine has"),
    "no such assembly": (r"setp\.ne\.b32 p, 1, 0; wgmma", "setp.ne.b32 p, 2, 0; wgmma", "expected one wgmma"),
    "without effects": (r"has_side_effects (\"\{ \.reg \.pred)", r"\1", "must have side effects"),
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_other_assembly_is_refused(name: str):
    product, schedule = PRODUCTS["words"]
    pattern, replacement, said = MUTATIONS[name]
    text, count = re.subn(pattern, replacement, lowered(product.source(), schedule))
    assert count
    with pytest.raises(SimulationError, match=said):
        simulated(text, product)


@pytest.mark.parametrize(("orders", "passes"), [
    (("mk", "nk"), []), (("km", "nk"), []), (("mk", "kn"), ["swap_ab"]), (("km", "kn"), ["relayout", "swap_ab"]),
])  # fmt: skip
def test_operands_across_k_need_no_kernel_in_front_unless_both_are(orders: tuple[str, str], passes: list[str]):
    a, b = orders
    given = Problem(4096, 4096, 4096, a="f32", b="f32", out="f32", reads_c=False, a_order=a, b_order=b)
    found = decide(given, H200, {"precision": "tf32"})
    assert list(found.rewrites) == passes
    assert found.choice.schedule.mma == "wgmma"
    if orders != ("mk", "nk"):
        # Instructions of 256 columns by two warpgroups at once: others take longer with A in registers.
        assert found.choice.schedule.warp[:2] == (64, 256) and not found.choice.schedule.ping_pong


def test_what_has_no_schedule_as_it_is_is_swapped():
    given = Problem(256, 384, 640, a="f8E4M3FN", b="f8E4M3FN", out="f32", reads_c=False)
    assert list(decide(given, H200, {"precision": "f8"}).rewrites) == ["swap_ab"]
    both = Problem(256, 384, 640, a="f8E4M3FN", b="f8E4M3FN", out="f32", reads_c=False, a_order="km")
    assert not decide(both, H200, {"precision": "f8"}).rewrites  # B is transposed in shared memory
    large = Problem(8192, 8192, 8192, a="f8E4M3FN", b="f8E4M3FN", out="f32", reads_c=False, a_order="km")
    assert "relayout" in decide(large, H200, {"precision": "f8"}).rewrites
