"""Operators on warp tiles, against NumPy: every type and order of the operands, guards at every edge, epilogues."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from mlir_gemm.errors import PassError
from mlir_gemm.passes.registry import run_passes
from mlir_gemm.pipeline.assembler import usage
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.pipeline.schedule import Schedule
from mlir_gemm.simulator.errors import SimulationError
from mlir_gemm.simulator.kernel import simulate
from mlir_gemm.simulator.options import Options

NUMPY = {
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64, "i8": np.int8,
    "i32": np.int32,
}  # fmt: skip
STEPS = ("distribute-copies", "place-shared", "fold-subviews", "lower-unit-ids", "canonicalize,cse", "check-lowered")
SYNC = {"f16": (16, 8, 16), "bf16": (16, 8, 16), "f32": (16, 8, 8), "f64": (8, 8, 4), "i8": (16, 8, 32)}
"""The instruction for a type of the operands."""


@dataclass
class Operand:
    """How a block's tile of A or B comes to be."""

    before: list[str]
    """In front of the loop."""
    inside: list[str]
    """At the head of the loop."""
    part: tuple[str, str, str, str]
    """Order, type of the tile, type and shape of a warp's part of it."""


@dataclass
class Case:
    """A kernel of one block: D = epilogue(C + A B), with C, D and vectors of any size up to the block tile."""

    operand_type: str = "f16"
    acc: str = "f32"
    out: str = "f32"
    block: tuple[int, int, int] = (32, 32, 32)
    warp: tuple[int, int, int] = (32, 16, 16)
    size: tuple[int, int] = (32, 32)
    depth: int = 64
    orders: tuple[str, str] = ("mk", "kn")
    shared: bool = True
    pad: int = 8
    unsigned: str = ""
    inputs: dict[str, tuple[str, str, str]] = field(default_factory=dict[str, tuple[str, str, str]])
    """Further arguments: type, dims, in_bounds of the load of a warp tile from (row, column) as far as dims go."""
    epilogue: str = ""
    """Operations from %sum (vector T of acc) and the tiles named as the inputs to %result (vector of out)."""
    store: tuple[str, str] = ("0, 1", "false, false")
    """dims and in_bounds of the store to D; with dims `1, 0` D is transposed."""
    start: bool = True
    """Whether C is added (the accumulator starts from it), else zero."""

    def text(self) -> str:
        """The module, as it stands in front of the operator's pass."""
        (bm, bn, bk), (wm, wn, _) = self.block, self.warp
        acc = self.tile(self.acc)
        arguments = self.arguments()
        threads = 32 * (bm // wm) * (bn // wn)
        host = ", ".join(
            f'%{name}: {type_} {{tile.role = "{"result" if name == "D" else "in"}"}}'
            for name, type_ in arguments.items()
        )
        views = {name: self.operand(name, arguments[name.upper()]) for name in "ab"}
        copies = [line for view in views.values() for line in view.inside]
        products, result = self.products({name: view.part for name, view in views.items()})
        barrier = ["gpu.barrier"] if self.shared else []
        loads = [self.load(name, *spec) for name, spec in self.inputs.items()]
        before = [line for view in views.values() for line in view.before]
        newline = "\n      "
        return f"""module attributes {{gpu.container_module}} {{
  func.func @main({host}) {{
    %c1 = arith.constant 1 : index
    %threads = arith.constant {threads} : index
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
        args({", ".join(f"%{name} : {type_}" for name, type_ in arguments.items())})
    return
  }}
  gpu.module @kernels {{
    gpu.func @kernel({", ".join(f"%{name}: {type_}" for name, type_ in arguments.items())})
        kernel attributes {{known_block_size = array<i32: {threads}, 1, 1>}} {{
      %c0 = arith.constant 0 : index
      %step = arith.constant {bk} : index
      %depth = arith.constant {self.depth} : index
      %across = arith.constant {bn // wn} : index
      %wm = arith.constant {wm} : index
      %wn = arith.constant {wn} : index
      %unit = "tile.unit_id"() : () -> index
      %down = arith.divui %unit, %across : index
      %along = arith.remui %unit, %across : index
      %row = arith.muli %down, %wm : index
      %column = arith.muli %along, %wn : index
      {newline.join([*before, *loads, self.begin(arguments["C"])])}
      %sum = scf.for %k = %c0 to %depth step %step iter_args(%in = %start_) -> ({acc}) {{
        {newline.join([*copies, *barrier, *products, *barrier])}
        scf.yield {result} : {acc}
      }}
      {self.epilogue.replace("T", f"{wm}x{wn}x")}
      {self.end(arguments["D"])}
      gpu.return
    }}
  }}
}}"""

    def tile(self, element: str) -> str:
        """The vector type of a warp tile."""
        return f"vector<{self.warp[0]}x{self.warp[1]}x{element}>"

    def arguments(self) -> dict[str, str]:
        """The kernel's arguments with their types."""
        m, n = self.size
        whole = {"m": self.block[0], "n": self.block[1], "k": self.depth}
        types = {
            name: f"memref<{whole[order[0]]}x{whole[order[1]]}x{self.operand_type}>"
            for name, order in zip("AB", self.orders, strict=True)
        }
        types["C"] = f"memref<{m}x{n}x{self.acc}>"
        types["D"] = f"memref<{n}x{m}x{self.out}>" if self.swapped else f"memref<{m}x{n}x{self.out}>"
        return types | {name: spec[0] for name, spec in self.inputs.items()}

    @property
    def swapped(self) -> bool:
        """Whether D is stored transposed."""
        return self.store[0] == "1, 0"

    def operand(self, name: str, source: str) -> Operand:
        """The block's tile of A or B: in shared memory, or where it lies in global memory."""
        order = self.orders["ab".index(name)]
        sides = dict(zip("mnk", self.block, strict=True))
        rows, columns = (sides[axis] for axis in order)
        at = ", ".join("%k" if axis == "k" else "%c0" for axis in order)
        if self.shared:
            type_ = f"memref<{rows}x{columns}x{self.operand_type}, strided<[{columns + self.pad}, 1]>, 3>"
            before = [f"%{name} = memref.alloc() : {type_}"]
            inside = [
                f'"tile.copy"(%{name}, %{name.upper()}, {at}) {{operandSegmentSizes = array<i32: 1, 1, 2>, in_bounds = '
                f"array<i1: true, true>}} : ({type_}, {source}, index, index) -> ()"
            ]
        else:
            stride = self.depth if order[1] == "k" else columns
            type_ = f"memref<{rows}x{columns}x{self.operand_type}, strided<[{stride}, 1], offset: ?>>"
            before = []
            shape = f"[{rows}, {columns}] [1, 1]"
            inside = [f"%{name} = memref.subview %{name.upper()}[{at}] {shape} : {source} to {type_}"]
        parts = dict(zip("mnk", self.warp, strict=True))
        rows, columns = (parts[axis] for axis in order)
        stride, space = type_.split("[")[1].split(",")[0], ", 3" if self.shared else ""
        part = f"memref<{rows}x{columns}x{self.operand_type}, strided<[{stride}, 1], offset: ?>{space}>"
        return Operand(before, inside, (order, type_, part, f"[{rows}, {columns}] [1, 1]"))

    def products(self, parts: dict[str, tuple[str, str, str, str]]) -> tuple[list[str], str]:
        """The products of a block's step, one for each step of the warp's K, and the last result."""
        lines: list[str] = []
        previous, acc = "%in", self.tile(self.acc)
        unsigned = f', unsigned = "{self.unsigned}"' if self.unsigned else ""
        for step in range(0, self.block[2], self.warp[2]):
            where = {"m": "%row", "n": "%column", "k": str(step)}
            for name, (order, whole, part, shape) in parts.items():
                at = ", ".join(where[axis] for axis in order)
                lines.append(f"%{name}{step} = memref.subview %{name}[{at}] {shape} : {whole} to {part}")
            lines.append(
                f'%p{step} = "tile.mma"(%a{step}, %b{step}, {previous}) {{a = "{self.orders[0]}", '
                f'b = "{self.orders[1]}", scope = "warp"{unsigned}}} : '
                f"({parts['a'][2]}, {parts['b'][2]}, {acc}) -> {acc}"
            )
            previous = f"%p{step}"
        return lines, previous

    def begin(self, type_: str) -> str:
        """Where the accumulator starts from."""
        if self.start:
            return self.load("C", type_, "0, 1", "false, false").replace("%C_", "%start_")
        zero = "dense<0>" if self.acc.startswith("i") else "dense<0.0>"
        return f"%start_ = arith.constant {zero} : {self.tile(self.acc)}"

    def load(self, name: str, type_: str, dims: str, known: str) -> str:
        """A load of a warp's tile as NAME_."""
        element = type_.rstrip(">").rsplit("x", 1)[1]
        at = [{"0": "%row", "1": "%column", "-1": "%c0"}[dim] for dim in dims.split(", ")]
        return (
            f'%{name}_ = "tile.load"(%{name}, {", ".join(at)}) {{operandSegmentSizes = array<i32: 1, {len(at)}>, '
            f'scope = "warp", dims = array<i64: {dims}>, in_bounds = array<i1: {known}>}} : '
            f"({type_}{', index' * len(at)}) -> {self.tile(element)}"
        )

    def end(self, type_: str) -> str:
        """The store of the result to D."""
        value = "%result" if self.epilogue else "%sum"
        at = "%column, %row" if self.swapped else "%row, %column"
        return (
            f'"tile.store"({value}, %D, {at}) {{operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warp", '
            f"dims = array<i64: {self.store[0]}>, in_bounds = array<i1: {self.store[1]}>}} : "
            f"({self.tile(self.out)}, {type_}, index, index) -> ()"
        )


def numbers(shape: tuple[int, ...], element: str, unsigned: bool, seed: int) -> np.ndarray:
    """Numbers that f16 products add up exactly enough: small multiples of 1/4; all of the range of integers."""
    random = np.random.default_rng(seed)
    if element == "i8":
        return random.integers(-128, 128, shape).astype(np.int8)
    if element == "i32":
        return random.integers(-(2**31), 2**31, shape).astype(np.int32)
    return (random.integers(-8, 9, shape) / 4).astype(NUMPY[element])


def lowered(case: Case, *steps: str) -> str:
    return run_passes(case.text(), [*steps, *STEPS])


def passes(case: Case, instruction: tuple[int, int, int] | None = None) -> dict[str, str]:
    """The operators that can lower a case, with their options."""
    m, n, k = instruction or SYNC.get(case.operand_type, (0, 0, 0))
    sync = f"mma-to-sync{{instruction={m},{n},{k}}}"
    return {"mma-to-sync": sync, "mma-to-fma": "mma-to-fma", "mma-to-wmma": "mma-to-wmma"}


def check(
    case: Case,
    operator: str,
    expected: Any = None,
    instruction: tuple[int, int, int] | None = None,
    **arrays: np.ndarray,
) -> str:
    """Lowers and simulates a case, and compares with NumPy; `expected` is a function of the sum and the inputs."""
    text = lowered(case, passes(case, instruction)[operator])
    (bm, bn, _), (m, n) = case.block, case.size
    shapes = {"m": bm, "n": bn, "k": case.depth}
    a, b = (
        numbers(tuple(shapes[axis] for axis in order), case.operand_type, side in case.unsigned, seed)
        for seed, (side, order) in enumerate(zip("ab", case.orders, strict=True))
    )
    c = numbers((m, n), case.acc, False, 2)
    d = np.zeros((n, m) if case.swapped else (m, n), NUMPY[case.out])
    report = simulate(text, [a, b, c, d, *arrays.values()], Options())
    assert not report.findings, report
    wide = np.int64 if case.acc.startswith("i") else np.float64
    left, right = (x.view(np.uint8) if s in case.unsigned else x for s, x in zip("ab", (a, b), strict=True))
    left = left.astype(wide) if case.orders[0] == "mk" else left.astype(wide).T
    right = right.astype(wide) if case.orders[1] == "kn" else right.astype(wide).T
    total = (left @ right)[:m, :n] + (c.astype(wide) if case.start else 0)
    want = expected(total, **arrays) if expected else total
    want = want.T if case.swapped else want
    if case.acc == "i32" and case.out == "i32":
        np.testing.assert_array_equal(d, want.astype(np.int64).astype(np.int32))
    else:
        exact = {"f16": 2e-3, "bf16": 2e-2}.get(case.out, 1e-5)
        np.testing.assert_allclose(d.astype(np.float64), want, rtol=exact, atol=exact)
    return text


TYPES = [
    ("f16", "f32", ""), ("f16", "f16", ""), ("bf16", "f32", ""), ("f32", "f32", ""), ("f64", "f64", ""),
    ("i8", "i32", ""), ("i8", "i32", "a"), ("i8", "i32", "b"), ("i8", "i32", "ab"),
]  # fmt: skip


@pytest.mark.parametrize("operator", ["mma-to-sync", "mma-to-fma"])
@pytest.mark.parametrize("types", TYPES)
@pytest.mark.parametrize("orders", [("mk", "kn"), ("km", "kn"), ("mk", "nk"), ("km", "nk")])
@pytest.mark.parametrize("shared", [True, False])
def test_types_and_orders(operator: str, types: tuple[str, str, str], orders: tuple[str, str], shared: bool):
    operand, acc, unsigned = types
    depth = 32 if operand == "i8" else 16
    case = Case(
        operand, acc, acc, (32, 32, 32), (32, 16, depth), orders=orders, shared=shared, unsigned=unsigned,
        pad=128 // {"f64": 64, "f32": 32, "i8": 8}.get(operand, 16),
    )  # fmt: skip
    check(case, operator)


@pytest.mark.parametrize("orders", [("mk", "kn"), ("km", "kn"), ("mk", "nk"), ("km", "nk")])
def test_orders_of_wmma(orders: tuple[str, str]):
    check(Case(orders=orders, start=False, store=("0, 1", "true, true")), "mma-to-wmma")


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


OPERATORS = pytest.mark.parametrize("operator", ["mma-to-sync", "mma-to-fma"])


@OPERATORS
@pytest.mark.parametrize("instruction", ["16,8,8", "16,8,16"])
@pytest.mark.parametrize("ahead", ["true", "false"])
def test_options(operator: str, instruction: str, ahead: str):
    case = Case(warp=(16, 24, 16), block=(32, 48, 32), size=(32, 48))
    check_text(case, f"mma-to-sync{{instruction={instruction} ahead={ahead}}}" if "sync" in operator else operator)


@OPERATORS
@pytest.mark.parametrize("m", [1, 2, 7, 8, 17, 31, 32])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 6, 8, 20, 31, 32])
def test_guards(operator: str, m: int, n: int):
    """C is read, and D written, only where they exist."""
    check(Case(size=(m, n)), operator)


@OPERATORS
@pytest.mark.parametrize("known", ["true, false", "false, true", "true, true"])
def test_known_bounds_are_not_guarded(operator: str, known: str):
    size = (32 if known.startswith("true") else 29, 32 if known.endswith("true") else 29)
    text = check(Case(size=size, store=("0, 1", known), start=False), operator)
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


@OPERATORS
@pytest.mark.parametrize("size", [(32, 32), (31, 30), (5, 7), (32, 1), (1, 32)])
@pytest.mark.parametrize("axis", ["0", "1"])
def test_bias(operator: str, size: tuple[int, int], axis: str):
    length = size[int(axis)]
    bias = numbers((length,), "f16", False, 7)
    case = Case(
        size=size, out="f16", inputs={"bias": (f"memref<{length}xf16>", axis, "false")}, epilogue=BIAS
    )  # fmt: skip

    def expected(total: np.ndarray, bias: np.ndarray) -> np.ndarray:
        along = bias.astype(np.float64)[:, None] if axis == "0" else bias.astype(np.float64)
        return np.maximum(total + along, 0) / 2

    text = check(case, operator, expected, bias=bias)
    # One fragment row or column of the warp tile of 32 x 16 has few distinct pieces; none is loaded twice.
    loads = [line for line in text.splitlines() if ("vector.load" in line or "memref.load" in line) and "f16" in line]
    assert len([line for line in loads if f"memref<{length}xf16>" in line]) <= 8


@OPERATORS
@pytest.mark.parametrize("size", [(32, 32), (9, 13)])
def test_scalar_and_transposed_inputs(operator: str, size: tuple[int, int]):
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
        Case(size=size, inputs=inputs, epilogue=epilogue), operator,
        lambda total, alpha, other, batch: total * alpha[0] + other.T - batch[0], **arrays,
    )  # fmt: skip
    assert len([line for line in text.splitlines() if "load" in line and "memref<1xf32>" in line]) == 1


@OPERATORS
@pytest.mark.parametrize("size", [(32, 32), (9, 13)])
def test_transposed_store(operator: str, size: tuple[int, int]):
    check(Case(size=size, store=("1, 0", "false, false")), operator)


def test_matrices_of_shared_memory_come_by_ldmatrix():
    text = lowered(Case(), "mma-to-sync")
    assert "nvgpu.ldmatrix" in text and "numTiles = 4" in text
    # A, B and what C is added to: no other loads than these.
    assert not [line for line in text.splitlines() if "memref.load" in line]


@OPERATORS
def test_products_far_from_a_warp_tile_are_refused(operator: str):
    with pytest.raises(PassError, match=r"expected|needs"):
        lowered(Case(warp=(32, 4, 16)), passes(Case())[operator])


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
    schedule = "operator=mma_sync,instruction=16x8x16,block=128x256x32,warp=64x64x16,stages=2,copy=prefetch"
    used = usage(compile_module(LARGE, chip="sm_90", schedule=Schedule.parse(schedule)).ptx, "sm_90")
    assert used is not None and used.spill_bytes == 0 and used.registers < 255, used


@pytest.mark.parametrize("warp", ["32x64", "64x32"])
@pytest.mark.parametrize("depth", [8, 16])
def test_f64_in_large_warp_tiles_does_not_spill(warp: str, depth: int):
    schedule = f"operator=mma_sync,instruction=16x8x{depth},block=128x128x16,warp={warp}x{depth},copy=cp_async,stages=3"
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
