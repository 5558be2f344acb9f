"""Operands that are constant along diagonals: Toeplitz, Hankel and circulant matrices, exact on whole numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from draws import draws

import mlir_gemm
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.simulator.program import simulate_launch

TYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "i8": np.int8}


@dataclass(frozen=True)
class Diagonal:
    """A product of a matrix `v[index]` [m, k] and a matrix [k, n]; the other way round where `second`."""

    m: int
    n: int
    k: int
    index: str
    """Of m and k, as MLIR and Python write it but for `mod` and `%`."""
    element: str = "f16"
    batch: int = 0
    second: bool = False
    order: str = "k, n"

    @property
    def places(self) -> Any:
        m, k = np.arange(self.m)[:, None], np.arange(self.k)
        formula = self.index.replace("mod", "%").replace("floordiv", "//")
        return eval(formula, {}, {"m": m, "k": k})  # one of this file's

    @property
    def sums(self) -> str:
        return {"f16": "f32", "i8": "i32"}.get(self.element, self.element)

    def text(self) -> str:
        b = "b, " if self.batch else ""
        loops = f"({b}m, n, k)"
        maps = [f"{loops} -> ({b}{self.index})", f"{loops} -> ({self.order})", f"{loops} -> ({b}m, n)"]
        sizes = {"m": self.m, "n": self.n, "k": self.k}
        x = "x".join([str(self.batch)] * bool(self.batch))
        x = f"{x}x" if x else ""
        vector = f"tensor<{x}{int(self.places.max()) + 1}x{self.element}>"
        matrix = "tensor<" + "".join(f"{sizes[each]}x" for each in self.order.split(", ")) + f"{self.element}>"
        result = f"tensor<{x}{self.m}x{self.n}x{self.sums}>"
        given = [("%v", vector), ("%b", matrix)]
        if self.second:
            maps[:2], given = maps[1::-1], given[::-1]
        kinds = ", ".join(['"parallel"'] * (2 + bool(self.batch)) + ['"reduction"'])
        extend = {"f16": "arith.extf", "i8": "arith.extsi"}.get(self.element)
        body = [f"%{name} = {extend} %{name}0 : {self.element} to {self.sums}" for name in "xy"] if extend else []
        own = ("%x0", "%y0") if extend else ("%x", "%y")
        add, multiply = ("addi", "muli") if self.element == "i8" else ("addf", "mulf")
        return f"""
        func.func @product({", ".join(f"{name}: {type_}" for name, type_ in given)}, %c: {result}) -> {result} {{
          %d = linalg.generic {{indexing_maps = [{", ".join(f"affine_map<{each}>" for each in maps)}],
              iterator_types = [{kinds}]}} ins({", ".join(name for name, _ in given)} :
              {", ".join(type_ for _, type_ in given)}) outs(%c : {result}) {{
          ^bb0({own[0]}: {self.element}, {own[1]}: {self.element}, %s: {self.sums}):
            {chr(10).join(body)}
            %p = arith.{multiply} %x, %y : {self.sums}
            %t = arith.{add} %s, %p : {self.sums}
            linalg.yield %t : {self.sums}
          }} -> {result}
          return %d : {result}
        }}"""

    def run(self, chip: str, fields: str | None = None) -> Any:
        """Checks the product on the simulator; what was compiled."""
        random, type_ = np.random.default_rng(7), TYPES[self.element]
        wide = TYPES.get(self.sums, np.int32)
        lead = (self.batch,) * bool(self.batch)
        v = random.integers(-3, 4, (*lead, int(self.places.max()) + 1)).astype(type_)
        b = random.integers(-3, 4, (self.k, self.n)).astype(type_)
        c = random.integers(-9, 10, (*lead, self.m, self.n)).astype(wide)
        compiled = compile_module(self.text(), chip=chip, schedule=fields)
        out = np.full(c.shape, -77).astype(wide)
        lies = b if self.order == "k, n" else np.ascontiguousarray(b.T)
        given = [lies, v] if self.second else [v, lies]
        report = simulate_launch(compiled.ir("lower"), compiled.launch, [*given, c, out])
        assert not report.findings
        wanted = v.astype(np.float64)[..., self.places] @ b.astype(np.float64) + c
        assert np.array_equal(out, wanted)
        return compiled


CASES = [
    (Diagonal(256, 16, 200, "m + k"), "sm_80"),
    (Diagonal(256, 8, 204, "m - k + 203", second=True), "sm_90a"),
    (Diagonal(256, 8, 200, "(m - k) mod 256", order="n, k"), "sm_90a"),
    (Diagonal(256, 8, 200, "(k - m + 7) mod 300", element="f32"), "sm_80"),
    (Diagonal(256, 8, 208, "m - k + 207", element="i8", batch=2), "sm_90a"),
    (Diagonal(256, 8, 200, "m - k + 199", element="f64"), "sm_80"),
]


@pytest.mark.parametrize(("case", "chip"), CASES, ids=str)
def test_from_copies(case: Diagonal, chip: str) -> None:
    """No matrix is in memory: the kernel in front writes shifted copies of the vector."""
    compiled = case.run(chip)
    assert "strided<[" in compiled.ir("import")
    assert f"memref.alloc() : memref<{case.m}x{case.k}x" not in compiled.ir("import")


@pytest.mark.parametrize("case", [
    Diagonal(24, 16, 40, "(m + k) mod 40"), Diagonal(100, 16, 60, "m - k + 59"), Diagonal(70, 16, 40, "m + k * 2"),
    Diagonal(33, 16, 40, "(m - k * 5) mod 17"), Diagonal(64, 16, 64, "(m * 2 - k + 70) floordiv 3 + 5"),
], ids=str)  # fmt: skip
def test_written_out(case: Diagonal) -> None:
    """What does not pay or fit is a matrix in memory."""
    assert "strided<[" not in case.run("sm_80").ir("import")


def test_random() -> None:
    random = np.random.default_rng(11)
    for _ in range(draws(3)):
        m, k = 8 * int(random.integers(16, 36)), int(random.integers(20, 240))
        a, b, n = int(random.integers(-2, 3)) or 1, int(random.choice([-1, 1])), int(random.integers(1, 20))
        distance = int(random.integers(0, 9)) - min(0, a * (m - 1)) - min(0, b * (k - 1))
        index = f"m * {a} + k * {b} + {distance}"
        if random.random() < 0.5:
            index = f"({index}) mod {int(random.integers(1, 2 * (m + k)))}"
        element = str(random.choice(list(TYPES)))
        second, chip = bool(random.random() < 0.5), str(random.choice(["sm_80", "sm_90a"]))
        Diagonal(m, n, k, index, element, second=second).run(chip)


SIM: dict[str, Any] = {"chip": "sm_90a", "device": "simulator", "out": "f32"}


def test_from_python() -> None:
    random = np.random.default_rng(3)
    b = random.integers(-3, 4, (200, 24)).astype(np.float16)
    v = random.integers(-3, 4, 455).astype(np.float16)
    i, j = np.arange(256)[:, None], np.arange(200)
    got = mlir_gemm.matmul(mlir_gemm.toeplitz(v, (256, 200)), b, **SIM)
    assert np.array_equal(got, v[i - j + 199].astype(np.float64) @ b.astype(np.float64))
    got = mlir_gemm.einsum("nk,mk->nm", np.ascontiguousarray(b.T), mlir_gemm.hankel(v, (256, 200)), **SIM)
    assert np.array_equal(got, (v[i + j].astype(np.float64) @ b.astype(np.float64)).T)
    got = mlir_gemm.einsum("mk,kn->mn", mlir_gemm.circulant(v[:200]), b, epilogue=lambda d: 2 * d, **SIM)
    assert np.array_equal(got, 2 * v[(np.arange(200)[:, None] - j) % 200].astype(np.float64) @ b.astype(np.float64))


def test_computed_from_positions() -> None:
    """Elements that are a function of their position have no memory."""
    b = np.random.default_rng(4).integers(-3, 4, (72, 24)).astype(np.float16)
    i, j = np.arange(50)[:, None], np.arange(72)
    matrix = mlir_gemm.computed((50, 72), lambda i, j: (i * 3 + j) % 7 - 3, "f16")
    got = mlir_gemm.matmul(matrix, b, **SIM)
    assert np.array_equal(got, ((i * 3 + j) % 7 - 3).astype(np.float64) @ b.astype(np.float64))
    got = mlir_gemm.einsum("nk,mk->nm", np.ascontiguousarray(b.T), matrix, **SIM)
    assert np.array_equal(got, (((i * 3 + j) % 7 - 3).astype(np.float64) @ b.astype(np.float64)).T)


@pytest.mark.parametrize(("make", "why"), [
    (lambda: mlir_gemm.toeplitz(np.zeros(9), (4, 5)), "from an array of shape (9,); expected 8 elements"),
    (lambda: mlir_gemm.hankel(np.zeros(9), (10,)), "expected two sizes"),
    (lambda: mlir_gemm.circulant(np.zeros((3, 3))), "expected one dimension"),
    (lambda: mlir_gemm.computed((0, 3), lambda i, j: i, "f16"), "expected at least one size"),
    (lambda: mlir_gemm.matmul(mlir_gemm.computed((4, 4), lambda i, j: None, "f16"), np.zeros((4, 4), np.float16),
                              **SIM), "what computes A gives a NoneType; expected an element"),
    (lambda: mlir_gemm.einsum("mk,kn->mn", mlir_gemm.hankel(np.zeros(7), (4, 4)), np.zeros((4, 4)), algebra="dual"),
     "A is no array, with the algebra 'dual'"),
])  # fmt: skip
def test_refused(make: Any, why: str) -> None:
    with pytest.raises(mlir_gemm.InputError) as error:
        make()
    assert why in str(error.value)
