"""Narrow panels: operands of wgmma with rows along M or N that are no whole 128 bytes, from the formula of their layout
to products in the simulator, and the products of few columns that they are for."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from assembled import usage
from group_products import GroupProduct
from hypothesis import given
from hypothesis import strategies as st

import mlir_gemm
from mlir_gemm.bench.modules import module
from mlir_gemm.bench.problems import Problem
from mlir_gemm.dialect.rings import PANELS
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.simulator.elements import ELEMENTS
from mlir_gemm.simulator.kernel import simulate
from mlir_gemm.simulator.memory import Buffer, View
from mlir_gemm.simulator.tensor_maps import TensorMap
from mlir_gemm.simulator.wgmma import Descriptor
from mlir_gemm.spec.schedule import Schedule

CHIP = "sm_90a"
MODES = {128: 1, 64: 2, 32: 3}
"""The swizzle mode of a descriptor, by the bytes of a panel."""
BITS = {128: 3, 64: 2, 32: 1}
"""Bits of an address, from bit 4 on, that the copy engine changes by as many from bit 7 on."""


def place(row: int, byte: int, rows: int, panel: int) -> int:
    """Where `docs/special-kernels.md` says that a byte of a row of a stage lies."""
    turn = {128: row % 8, 64: row // 2 % 4, 32: row // 4 % 2}[panel]
    return byte // panel * rows * panel + row * panel + (byte % panel ^ turn * 16)


@given(st.sampled_from(list(MODES)), st.integers(1, 32), st.data())
def test_the_formula_is_an_xor_of_address_bits(panel: int, eights: int, data: st.DataObject):
    rows = 8 * eights
    row, byte = data.draw(st.integers(0, rows - 1)), data.draw(st.integers(0, 4 * panel - 1))
    plain = byte // panel * rows * panel + row * panel + byte % panel
    mask = (1 << BITS[panel]) - 1
    assert place(row, byte, rows, panel) == plain ^ (plain >> 7 & mask) << 4


@given(st.sampled_from(list(MODES)), st.integers(1, 8), st.integers(0, 9))
def test_the_simulated_copy_engine_writes_panels_so(panel: int, eights: int, start: int):
    rows, base = 8 * eights, start * 8 * panel
    view = View(Buffer("x", "global", rows * panel), 0, (rows, panel // 2), (panel // 2, 1), ELEMENTS["f16"])
    map_ = TensorMap(view, (rows, panel // 2), str(panel))
    assert map_.problem() is None
    assert map_.alignment == 8 * panel
    want = [base + place(row, byte, rows, panel) for row in range(rows) for byte in range(0, panel, 16)]
    np.testing.assert_array_equal(map_.chunks(base), want)


@pytest.mark.parametrize("panel", MODES)
@pytest.mark.parametrize("panels", [1, 3])
def test_a_descriptor_says_where_a_step_of_k_lies(panel: int, panels: int):
    """16 rows of k of all columns: `leading` from one panel to the next, `stride` from one 8 rows to the next."""
    rows, base, columns = 64, 4096, panels * panel // 2
    for step in range(rows // 16):
        start = base + step * 16 * panel
        bits = MODES[panel] << 62 | 8 * panel >> 4 << 32 | rows * panel >> 4 << 16 | start >> 4
        want = [
            [base + place(step * 16 + k, 16 * chunk, rows, panel) for k in range(16)] for chunk in range(columns // 8)
        ]
        np.testing.assert_array_equal(Descriptor.of(bits).addresses(columns, 2, False), want)


def run(product: GroupProduct, schedule: str) -> None:
    """Runs a product in the simulator with all checks, and compares the numbers, which are exact."""
    kernel = mlir_gemm.compile(
        product.source(), chip=CHIP, device="simulator", schedule=f"mma=wgmma,stages=2,{schedule}"
    )
    random = np.random.default_rng(7)
    element: Any = {"f16": np.float16, "bf16": ml_dtypes.bfloat16}[product.element]
    a, b = (random.integers(-3, 4, shape).astype(element) for shape in ((product.m, product.k), (product.k, product.n)))
    d = np.full((product.m, product.n), np.nan, np.float32)
    stored = [
        each if order in ("mk", "kn") else np.ascontiguousarray(each.T)
        for each, order in zip((a, b), (product.a, product.b), strict=True)
    ]
    kernel(*stored, d)  # raises on any finding of the checks
    assert np.array_equal(d, a.astype(np.float32) @ b.astype(np.float32))


ORDERS = {"NN": ("mk", "kn"), "NT": ("mk", "nk"), "TN": ("km", "kn"), "TT": ("km", "nk")}


@pytest.mark.parametrize("layout", ORDERS)
@pytest.mark.parametrize(("n", "element"), [(16, "f16"), (32, "bf16"), (96, "f16"), (160, "bf16")])
def test_tiles_of_any_sixteen_columns(layout: str, n: int, element: str):
    a, b = ORDERS[layout]
    run(GroupProduct(128, 2 * n, 192, element, "f32", a, b), f"block=64x{n}x64,warp=64x{n}x64")


TOGETHER = {
    "a cluster that shares B": ((256, 32, 192), "block=64x32x64,warp=64x32x64,cluster_m=2"),
    "a cluster of four": ((256, 16, 192), "block=64x16x64,warp=64x16x64,cluster_m=4"),
    "a cluster that shares A": ((64, 96, 192), "block=64x48x64,warp=64x48x64,cluster_n=2"),
    "slices of k": ((128, 32, 512), "block=64x32x64,warp=64x32x64,split_k_cluster=2"),
    "slices of k and a cluster": ((128, 96, 512), "block=64x96x64,warp=64x96x64,split_k_cluster=2,cluster_m=2"),
    "ping_pong": ((256, 96, 192), "block=64x32x64,warp=64x32x64,ping_pong=on,persistent=2"),
    "two warpgroups beside each other": ((64, 192, 192), "block=64x96x64,warp=64x32x64"),
    "two warpgroups below each other": ((256, 80, 192), "block=128x80x64,warp=64x80x64,persistent=1"),
    "two rows of instructions": ((128, 96, 128), "block=128x96x128,warp=128x96x128"),
    "edges": ((100, 40, 104), "block=64x32x64,warp=64x32x64"),
    "columns beyond the edge only": ((64, 8, 72), "block=64x96x64,warp=64x96x64"),
}


@pytest.mark.parametrize("layout", ["NN", "TN"])
@pytest.mark.parametrize("name", TOGETHER)
def test_narrow_panels_go_with_everything_else(name: str, layout: str):
    (m, n, k), schedule = TOGETHER[name]
    a, b = ORDERS[layout]
    run(GroupProduct(m if a == "mk" else -(-m // 8) * 8, n, k, out="f32", a=a, b=b), schedule)


def test_the_buffer_and_the_map_of_a_narrow_operand():
    product = GroupProduct(128, 96, 192, out="f32")
    fields = Schedule.parse("mma=wgmma,block=64x96x64,warp=64x96x64,stages=2")
    compiled = compile_module(product.source(), chip=CHIP, schedule=fields, until="lower", keep=("all",))
    staged = compiled.ir("describe")
    assert 'tile.layout = "swizzle64"' in staged
    assert 'box = array<i64: 64, 32>, swizzle = "64"' in staged


@pytest.mark.parametrize(("old", "new"), [("64", "none"), ("64", "128")])
def test_a_map_of_another_swizzle_gives_wrong_numbers(old: str, new: str):
    product = GroupProduct(64, 32, 64, out="f32")
    fields = Schedule.parse("mma=wgmma,block=64x32x64,warp=64x32x64,stages=2")
    text = compile_module(product.source(), chip=CHIP, schedule=fields, until="lower", keep=("lower",)).ir("lower")
    random = np.random.default_rng(7)
    a, b = (random.integers(-3, 4, shape).astype(np.float16) for shape in ((64, 64), (64, 32)))
    want = a.astype(np.float32) @ b.astype(np.float32)
    for changed, right in ((text, True), (text.replace(f'swizzle = "{old}"', f'swizzle = "{new}"'), False)):
        d = np.full((64, 32), np.nan, np.float32)
        simulate(changed, [a, b, d])
        assert np.array_equal(d, want) == right


@pytest.mark.parametrize(("dtype", "out", "precision"), [("tf32", "f32", "tf32"), ("s8", "i32", "full")])
def test_elements_along_k_keep_whole_panels(dtype: str, out: str, precision: str):
    text = compile_module(
        module(Problem("x", 128, 48, 256, dtype, out, "NT")), chip=CHIP,
        schedule={"mma": "wgmma", "precision": precision, "smem_epilogue": False}, until="describe", keep=("describe",),
    ).ir("describe")  # fmt: skip
    assert 'swizzle = "128"' in text
    assert not any(f'"{name}"' in text for name in PANELS if name != "swizzle128")


FEW = [
    (8192, 32, 8192, "NN", (64, 32, 128)), (8192, 32, 8192, "TN", (64, 32, 128)), (16, 8192, 8192, "TN", (64, 16, 64)),
    (32, 28672, 8192, "TN", None),
]  # fmt: skip


@pytest.mark.parametrize(("m", "n", "k", "layout", "block"), FEW)
def test_products_of_few_rows_or_columns_assemble(m: int, n: int, k: int, layout: str, block: Any):
    kernel = mlir_gemm.compile(module(Problem("x", m, n, k, layout=layout)), chip=CHIP)
    assert block is None or kernel.schedule.block == block
    found = usage(kernel.ptx, CHIP)
    assert (found.spill_bytes, found.warnings) == (0, ())


def test_sides_are_exchanged_where_few_rows_lie_beside_each_other():
    product = GroupProduct(16, 256, 512, out="f32", a="km")
    kernel = mlir_gemm.compile(product.source(), chip=CHIP, device="simulator", schedule={"swap_ab": True})
    assert (kernel.problem.m, kernel.problem.n, kernel.schedule.block[1]) == (256, 16, 16)
    random = np.random.default_rng(7)
    a, b = (random.integers(-3, 4, shape).astype(np.float16) for shape in ((16, 512), (512, 256)))
    d = np.full((16, 256), np.nan, np.float32)
    kernel(np.ascontiguousarray(a.T), b, d)
    assert np.array_equal(d, a.astype(np.float32) @ b.astype(np.float32))
