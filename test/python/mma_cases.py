"""Kernels of one block whose products an mma lowers, and their run on the simulator against NumPy."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np

from mlir_gemm.pipeline.runner import run_passes
from mlir_gemm.simulator.kernel import simulate
from mlir_gemm.simulator.options import Options
from mlir_gemm.spec.threads import UNITS

NUMPY = {
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64, "i8": np.int8,
    "i32": np.int32, "f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2,
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
    unit: str = "warp"
    """Who multiplies a tile together."""

    def text(self) -> str:
        """The module, as it stands in front of the mma's pass."""
        (bm, bn, bk), (wm, wn, _) = self.block, self.warp
        acc = self.tile(self.acc)
        arguments = self.arguments()
        threads = 32 * UNITS[self.unit] * (bm // wm) * (bn // wn)
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
        text = f"""module attributes {{gpu.container_module}} {{
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
      %unit = "tile.unit_id"() {{unit = "{self.unit}"}} : () -> index
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
        return text.replace('scope = "warp"', f'scope = "{self.unit}"')

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
    """The mmas that can lower a case, with their options."""
    m, n, k = instruction or SYNC.get(case.operand_type, (0, 0, 0))
    sync = f"mma-to-sync{{instruction={m},{n},{k}}}"
    wmma = f"mma-to-wmma{{instruction={m},{n},{k}}}" if instruction else "mma-to-wmma"
    waves = "MFMA" if case.unit == "wave" else "WMMA"
    mfma = f"mma-to-mfma{{instruction={m},{n},{k} kind={waves}}}"
    return {
        "mma-to-mfma": mfma,
        "mma-to-sync": sync,
        "mma-to-fma": "mma-to-fma",
        "mma-to-dp4a": "mma-to-dp4a",
        "mma-to-wmma": wmma,
    }


def check(
    case: Case,
    mma: str,
    expected: Any = None,
    instruction: tuple[int, int, int] | None = None,
    **arrays: np.ndarray,
) -> str:
    """Lowers and simulates a case, and compares with NumPy; `expected` is a function of the sum and the inputs."""
    text = lowered(case, passes(case, instruction)[mma])
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
