"""What each mma makes of warp tiles, against NumPy: every type and order of the operands, guards at every edge,
epilogues."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from mma_cases import NUMPY, Case, check, lowered, numbers, passes

from mlir_gemm.errors import PassError
from mlir_gemm.pipeline.assembler import usage
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.simulator.errors import SimulationError
from mlir_gemm.simulator.kernel import simulate
from mlir_gemm.simulator.options import Options
from mlir_gemm.spec.schedule import Schedule

TYPES = [
    ("f16", "f32", ""), ("f16", "f16", ""), ("bf16", "f32", ""), ("f32", "f32", ""), ("f64", "f64", ""),
    ("i8", "i32", ""), ("i8", "i32", "a"), ("i8", "i32", "b"), ("i8", "i32", "ab"),
]  # fmt: skip


ORDERS = [("mk", "kn"), ("km", "kn"), ("mk", "nk"), ("km", "nk")]


def is_taken(mma: str, number: int, order: int, shared: bool) -> bool:
    """Whether types and an order meet in one of the two memories: all of mma.sync do, which loads by matrices from
    shared memory alone. What FMAs load element by element, and signs, of which only the instruction knows, take turns.
    """
    if TYPES[number][2]:
        return (number + order) % 4 == 2 * shared
    return mma == "mma-to-sync" or (number + order) % 2 == shared


@pytest.mark.parametrize(
    ("mma", "types", "orders", "shared"),
    [
        (mma, types, orders, shared)
        for mma in ("mma-to-sync", "mma-to-fma")
        for number, types in enumerate(TYPES)
        for order, orders in enumerate(ORDERS)
        for shared in (True, False)
        if is_taken(mma, number, order, shared)
    ],
)
def test_types_and_orders(mma: str, types: tuple[str, str, str], orders: tuple[str, str], shared: bool):
    operand, acc, unsigned = types
    depth = 32 if operand == "i8" else 16
    case = Case(
        operand, acc, acc, (32, 32, 32), (32, 16, depth), orders=orders, shared=shared, unsigned=unsigned,
        pad=128 // {"f64": 64, "f32": 32, "i8": 8}.get(operand, 16),
    )  # fmt: skip
    check(case, mma)


@pytest.mark.parametrize("orders", [("mk", "kn"), ("km", "kn"), ("mk", "nk"), ("km", "nk")])
def test_orders_of_wmma(orders: tuple[str, str]):
    check(Case(orders=orders, start=False, store=("0, 1", "true, true")), "mma-to-wmma")


OLDER = [
    (("f16", "f32", ""), (8, 8, 4)), (("f16", "f32", ""), (16, 8, 8)), (("f16", "f16", ""), (16, 8, 8)),
    (("i8", "i32", ""), (8, 8, 16)), (("i8", "i32", "a"), (8, 8, 16)), (("i8", "i32", "b"), (8, 8, 16)),
    (("f8E4M3FN", "f32", ""), (16, 8, 32)), (("f8E5M2", "f32", ""), (16, 8, 32)),
]  # fmt: skip
"""Instructions of sm_70, of sm_75, and of sm_89."""


@pytest.mark.parametrize("number", range(len(OLDER)))
@pytest.mark.parametrize("order", range(len(ORDERS)))
def test_instructions_of_other_chips(number: int, order: int):
    """Operands in shared memory where sizes are whole, else in global memory, in turns."""
    ((operand, acc, unsigned), instruction), orders = OLDER[number], ORDERS[order]
    size = (32, 32) if (number + order) % 2 else (31, 30)
    pad = 8 if operand == "f16" else 16
    case = Case(
        operand, acc, acc, (32, 32, 32), (32, 16, 32), size, orders=orders, shared=size == (32, 32), pad=pad,
        unsigned=unsigned,
    )  # fmt: skip
    check(case, "mma-to-sync", instruction=instruction)


DOUBLES = pytest.mark.parametrize("instruction", [(16, 8, 16), (16, 8, 8), (16, 8, 4)])


@DOUBLES
@pytest.mark.parametrize("orders", [("mk", "kn"), ("km", "kn"), ("mk", "nk"), ("km", "nk")])
@pytest.mark.parametrize("shared", [True, False])
def test_f64_with_16_rows(instruction: tuple[int, int, int], orders: tuple[str, str], shared: bool):
    check_double(Case(block=(32, 32, 32), warp=(32, 16, 16), orders=orders, shared=shared), instruction)


@DOUBLES
@pytest.mark.parametrize("size", [(32, 32), (31, 30), (17, 9), (1, 32), (32, 1), (8, 7)])
def test_f64_with_16_rows_at_the_edges(instruction: tuple[int, int, int], size: tuple[int, int]):
    epilogue = """%y = arith.addf %sum, %bias_ : vector<Tf64>
      %result = arith.mulf %y, %y : vector<Tf64>"""
    inputs = {"bias": (f"memref<{size[1]}xf64>", "1", "false")}
    bias = numbers((size[1],), "f64", False, 5)
    case = Case(size=size, inputs=inputs, epilogue=epilogue, store=("1, 0", "false, false"))
    text = check_double(case, instruction, lambda total, bias: (total + bias) ** 2, bias=bias)
    assert f"mma.sync.aligned.m16n8k{instruction[2]}.row.col.f64" in text


def check_double(case: Case, instruction: tuple[int, int, int], expected: Any = None, **arrays: np.ndarray) -> str:
    """A case in f64 by one of the instructions of sm_90."""
    case = replace(case, operand_type="f64", acc="f64", out="f64", pad=4)
    return check(case, "mma-to-sync", expected, instruction=instruction, **arrays)


MMAS = pytest.mark.parametrize("mma", ["mma-to-sync", "mma-to-fma"])


@MMAS
@pytest.mark.parametrize("instruction", ["16,8,8", "16,8,16"])
@pytest.mark.parametrize("double_buffer", ["true", "false"])
def test_options(mma: str, instruction: str, double_buffer: str):
    case = Case(warp=(16, 24, 16), block=(32, 48, 32), size=(32, 48))
    check_text(
        case,
        f"mma-to-sync{{instruction={instruction} double_buffer={double_buffer}}}" if "sync" in mma else mma,
    )


@MMAS
@pytest.mark.parametrize(
    ("m", "n"),
    [
        (m, n)
        for m in (1, 2, 7, 8, 17, 31, 32)
        for n in (1, 2, 3, 4, 6, 8, 20, 31, 32)
        if m in (7, 32) or n in (20, 31) or m == n
    ],
)
def test_guards(mma: str, m: int, n: int):
    """C is read, and D written, only where they exist. Rows have guards of their own: every size of one side meets one
    that is whole, and one that is not, of the other."""
    check(Case(size=(m, n)), mma)


@MMAS
@pytest.mark.parametrize("known", ["true, false", "false, true", "true, true"])
def test_known_bounds_are_not_guarded(mma: str, known: str):
    size = (32 if known.startswith("true") else 29, 32 if known.endswith("true") else 29)
    text = check(Case(size=size, store=("0, 1", known), start=False), mma)
    assert ("scf.if" in text) == ("false" in known)


BIAS = """%wide = arith.extf %bias_ : vector<Tf16> to vector<Tf32>
      %x = arith.addf %sum, %wide : vector<Tf32>
      %zero = arith.constant dense<0.0> : vector<Tf32>
      %positive = arith.cmpf ogt, %x, %zero : vector<Tf32>
      %relu = arith.select %positive, %x, %zero : vector<Ti1>, vector<Tf32>
      %half = arith.constant 0.5 : f32
      %halves = vector.broadcast %half : f32 to vector<Tf32>
      %scaled = arith.mulf %relu, %halves : vector<Tf32>
      %result = arith.truncf %scaled : vector<Tf32> to vector<Tf16>"""


@MMAS
@pytest.mark.parametrize("size", [(32, 32), (31, 30), (5, 7), (32, 1), (1, 32)])
@pytest.mark.parametrize("axis", ["0", "1"])
def test_bias(mma: str, size: tuple[int, int], axis: str):
    length = size[int(axis)]
    bias = numbers((length,), "f16", False, 7)
    case = Case(
        size=size, out="f16", inputs={"bias": (f"memref<{length}xf16>", axis, "false")}, epilogue=BIAS
    )  # fmt: skip

    def expected(total: np.ndarray, bias: np.ndarray) -> np.ndarray:
        along = bias.astype(np.float64)[:, None] if axis == "0" else bias.astype(np.float64)
        return np.maximum(total + along, 0) / 2

    text = check(case, mma, expected, bias=bias)
    # One fragment row or column of the warp tile of 32 x 16 has few distinct pieces; none is loaded twice.
    loads = [line for line in text.splitlines() if ("vector.load" in line or "memref.load" in line) and "f16" in line]
    assert len([line for line in loads if f"memref<{length}xf16>" in line]) <= 8


@MMAS
@pytest.mark.parametrize("size", [(32, 32), (9, 13)])
def test_scalar_and_transposed_inputs(mma: str, size: tuple[int, int]):
    m, n = size
    inputs = {
        "alpha": ("memref<1xf32>", "-1", "true"),
        "other": (f"memref<{n}x{m}xf32>", "1, 0", "false, false"),
        "batch": (f"memref<2x{m}x{n}xf32>", "-1, 0, 1", "true, false, false"),
    }
    epilogue = """%x = arith.mulf %sum, %alpha_ : vector<Tf32>
      %y = arith.addf %x, %other_ : vector<Tf32>
      %result = arith.subf %y, %batch_ : vector<Tf32>"""
    arrays = {
        "alpha": np.array([3], np.float32),
        "other": numbers((n, m), "f32", False, 5),
        "batch": numbers((2, m, n), "f32", False, 6),
    }
    text = check(
        Case(size=size, inputs=inputs, epilogue=epilogue), mma,
        lambda total, alpha, other, batch: total * alpha[0] + other.T - batch[0], **arrays,
    )  # fmt: skip
    assert len([line for line in text.splitlines() if "load" in line and "memref<1xf32>" in line]) == 1


@MMAS
@pytest.mark.parametrize("size", [(32, 32), (9, 13)])
def test_transposed_store(mma: str, size: tuple[int, int]):
    check(Case(size=size, store=("1, 0", "false, false")), mma)


def test_matrices_of_shared_memory_come_by_ldmatrix():
    text = lowered(Case(), "mma-to-sync")
    assert "nvgpu.ldmatrix" in text and "numTiles = 4" in text
    # A, B and what C is added to: no other loads than these.
    assert not [line for line in text.splitlines() if "memref.load" in line]


@MMAS
def test_products_far_from_a_warp_tile_are_refused(mma: str):
    with pytest.raises(PassError, match=r"expected|needs"):
        lowered(Case(warp=(32, 4, 16)), passes(Case())[mma])


@pytest.mark.parametrize(
    ("operand", "step", "pad"),
    [
        ("f32", "mma-to-fma", 4),
        ("f64", "mma-to-sync{instruction=16,8,16}", 4),
        ("f64", "mma-to-sync{instruction=16,8,8}", 4),
    ],
)
@pytest.mark.parametrize("orders", [("mk", "kn"), ("km", "kn"), ("mk", "nk"), ("km", "nk")])
def test_fragments_meet_in_no_bank(operand: str, step: str, pad: int, orders: tuple[str, str]):
    case = Case(operand, operand, operand, (32, 64, 16), (32, 64, 16), (32, 64), orders=orders, pad=pad)
    shapes = {"m": 32, "n": 64, "k": case.depth}
    a, b = (numbers(tuple(shapes[axis] for axis in order), operand, False, 0) for order in orders)
    c, d = numbers((32, 64), operand, False, 2), np.zeros((32, 64), NUMPY[operand])
    report = simulate(lowered(case, step), [a, b, c, d], Options(counters=True))
    loads = [access for access in report.counters.shared.values() if access.operation.endswith("load")]
    assert loads and sum(access.conflicts for access in loads) == 0


def check_text(case: Case, step: str) -> None:
    """A case by a pass with options."""
    text = lowered(case, step)
    (bm, bn, _), (m, n) = case.block, case.size
    a, b = numbers((bm, case.depth), "f16", False, 0), numbers((case.depth, bn), "f16", False, 1)
    c, d = numbers((m, n), "f32", False, 2), np.zeros((m, n), np.float32)
    report = simulate(text, [a, b, c, d], Options())
    assert not report.findings, report
    np.testing.assert_array_equal(d, (a.astype(np.float32) @ b.astype(np.float32) + c)[:m, :n])


LARGE = """func.func @matmul(%A: memref<512x512xf16>, %B: memref<512x512xf16>, %C: memref<512x512xf32>) {
  linalg.matmul ins(%A, %B : memref<512x512xf16>, memref<512x512xf16>) outs(%C : memref<512x512xf32>)
  return
}"""


def test_the_largest_warp_tile_needs_no_more_registers_than_there_are():
    schedule = "mma=mma_sync,instruction=16x8x16,block=128x256x32,warp=64x64x16,stages=2,mainloop=register_prefetch"
    used = usage(compile_module(LARGE, chip="sm_90", schedule=Schedule.parse(schedule)).ptx, "sm_90")
    assert used is not None and used.spill_bytes == 0 and used.registers < 255, used


@pytest.mark.parametrize("warp", ["32x64", "64x32"])
@pytest.mark.parametrize("depth", [8, 16])
def test_f64_in_large_warp_tiles_does_not_spill(warp: str, depth: int):
    schedule = f"mma=mma_sync,instruction=16x8x{depth},block=128x128x16,warp={warp}x{depth},mainloop=cp_async,stages=3"
    text = LARGE.replace("f16", "f64").replace("f32", "f64")
    ptx = compile_module(text, chip="sm_90", schedule=Schedule.parse(f"{schedule},layout=pad,pad=4")).ptx
    used = usage(ptx, "sm_90")
    assert used is not None and used.spill_bytes == 0 and used.registers < 255, used
    assert ptx.count(f"mma.sync.aligned.m16n8k{depth}.row.col.f64.f64.f64.f64") == 16 * 16 // depth


def test_f64_has_the_instructions_of_its_chip():
    text = LARGE.replace("f16", "f64").replace("f32", "f64")
    assert "mma.sync.aligned.m16n8k16.row.col.f64" in compile_module(text, chip="sm_90").ptx
    older = compile_module(text, chip="sm_80").ptx
    assert "mma.sync.aligned.m8n8k4.row.col.f64" in older and "m16n8k" not in older


def test_other_assembly_is_not_simulated():
    case = Case(operand_type="f64", acc="f64", out="f64", pad=4)
    text = lowered(case, "mma-to-sync{instruction=16,8,4}")
    arrays = [numbers(shape, "f64", False, 0) for shape in ((32, 64), (64, 32), (32, 32), (32, 32))]
    with pytest.raises(SimulationError, match=r"m16n8k5.* is not simulated; expected mma.sync of f64"):
        simulate(text.replace("m16n8k4", "m16n8k5"), arrays, Options())
    with pytest.raises(SimulationError, match="in order"):
        simulate(text.replace("{$4, $5}", "{$5, $4}"), arrays, Options())
