"""Modules with one product, any of whose sizes are known at run time only, and what they are in NumPy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mlir_gemm.spec.element_types import numpy_dtype

Sizes = Mapping[str, int]
"""Sizes by letter: b (batch), m, n, k."""
ROWS = """
func.func @main(%a: tensor<?x16xf16>, %b: tensor<16x24xf16>) -> tensor<?x24xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %a, %c0 : tensor<?x16xf16>
  %e = tensor.empty(%rows) : tensor<?x24xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x24xf32>) -> tensor<?x24xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<?x16xf16>, tensor<16x24xf16>)
                     outs(%f : tensor<?x24xf32>) -> tensor<?x24xf32>
  return %0 : tensor<?x24xf32>
}
"""
"""Rows of 16 times a 16x24 matrix: small enough for the simulator."""


@dataclass(frozen=True)
class DynamicProduct:
    """D[b, m, n] = A B, perhaps plus a bias for each column, rounded to the operands' type then."""

    fixed: Mapping[str, int]
    """The sizes that are constant; all others of m, n and k are dynamic, and b if `batched`."""
    batched: bool = False
    a: str = "mk"
    """The order of A's dimensions, after the batch."""
    b: str = "kn"
    element: str = "f16"
    acc: str = "f32"
    bias: bool = False

    @property
    def orders(self) -> tuple[str, ...]:
        """The dimensions of A, B, the bias if there is one, and D."""
        ahead = "b" if self.batched else ""
        return (ahead + self.a, ahead + self.b, *("n" if self.bias else ""), ahead + "mn")

    def source(self) -> str:
        """The module, on tensors, as torch-mlir writes it."""
        operands = [self._tensor(order, self.element) for order in self.orders[:-1]]
        *inputs, result = self.orders
        loops = ", ".join(f"d{letter}" for letter in (*("b" if self.batched else ""), *"mnk"))
        wide, narrow = self._tensor(result, self.acc), self._tensor(result, self.element)
        sizes = ", ".join(f"%size_{letter}" for letter in result if letter not in self.fixed)
        kind = "f" if self.acc.startswith("f") else "i"
        out = narrow if self.bias else wide
        maps = ", ".join(_map(loops, order) for order in (*inputs[:2], result))
        lines = [
            f"func.func @main(%A: {operands[0]}, %B: {operands[1]}{self._bias_argument()}) -> {out} {{",
            *self._sizes(),
            f"  %zero = arith.constant {'0.0' if kind == 'f' else '0'} : {self.acc}",
            f"  %empty = tensor.empty({sizes}) : {wide}",
            f"  %start = linalg.fill ins(%zero : {self.acc}) outs(%empty : {wide}) -> {wide}",
            f"  %product = linalg.generic {{indexing_maps = [{maps}],",
            f"      iterator_types = [{_iterators(len(result), 1)}]}}",
            f"      ins(%A, %B : {operands[0]}, {operands[1]}) outs(%start : {wide}) {{",
            f"  ^bb0(%x: {self.element}, %y: {self.element}, %sum: {self.acc}):",
            *self._extended("x"),
            *self._extended("y"),
            f"    %xy = arith.mul{kind} {self._wide('x')}, {self._wide('y')} : {self.acc}",
            f"    %next = arith.add{kind} %sum, %xy : {self.acc}",
            f"    linalg.yield %next : {self.acc}",
            f"  }} -> {wide}",
        ]
        if self.bias:
            loops = ", ".join(f"d{letter}" for letter in result)
            maps = ", ".join(_map(loops, order) for order in (result, "n", result))
            lines += [
                f"  %narrow = tensor.empty({sizes}) : {narrow}",
                f"  %result = linalg.generic {{indexing_maps = [{maps}],",
                f"      iterator_types = [{_iterators(len(result), 0)}]}}",
                f"      ins(%product, %bias : {wide}, {operands[2]}) outs(%narrow : {narrow}) {{",
                f"  ^bb0(%x: {self.acc}, %y: {self.element}, %old: {self.element}):",
                *self._extended("y"),
                f"    %added = arith.add{kind} %x, {self._wide('y')} : {self.acc}",
                f"    %rounded = arith.truncf %added : {self.acc} to {self.element}",
                f"    linalg.yield %rounded : {self.element}",
                f"  }} -> {narrow}",
            ]
        return "\n".join([*lines, f"  return %{'result' if self.bias else 'product'} : {out}", "}", ""])

    def arrays(self, sizes: Sizes, rng: Any) -> list[Any]:
        """Operands of small whole numbers, and memory for the result."""
        *inputs, result = self.orders
        made = [rng.integers(-4, 5, [sizes[letter] for letter in order]) for order in inputs]
        dtype = numpy_dtype(self.element)
        out = numpy_dtype(self.element if self.bias else self.acc)
        return [*(array.astype(dtype) for array in made), np.full([sizes[letter] for letter in result], 7, out)]

    def expected(self, arrays: Sequence[Any]) -> Any:
        """The result, exact, in its type."""
        a, b, result = self.orders[0], self.orders[1], self.orders[-1]
        exact = np.einsum(f"{a},{b}->{result}", arrays[0].astype(np.float64), arrays[1].astype(np.float64))
        return (exact + arrays[2] if self.bias else exact).astype(arrays[-1].dtype)

    def check(self, kernel: Any, *several: Sizes) -> None:
        """Compares what a kernel makes of random operands of some sizes with the result."""
        rng = np.random.default_rng(4)
        for sizes in several:
            arrays = self.arrays(sizes, rng)
            np.testing.assert_array_equal(kernel(*arrays[:-1]), self.expected(arrays))

    def _tensor(self, order: str, element: str) -> str:
        return f"tensor<{''.join(f'{self.fixed.get(letter, chr(63))}x' for letter in order)}{element}>"

    def _bias_argument(self) -> str:
        return f", %bias: {self._tensor('n', self.element)}" if self.bias else ""

    def _sizes(self) -> list[str]:
        lines: list[str] = []
        for letter in self.orders[-1]:
            if letter not in self.fixed:
                name, order = ("%A", self.orders[0]) if letter in self.orders[0] else ("%B", self.orders[1])
                lines += [
                    f"  %axis_{letter} = arith.constant {order.index(letter)} : index",
                    f"  %size_{letter} = tensor.dim {name}, %axis_{letter} : {self._tensor(order, self.element)}",
                ]
        return lines

    def _wide(self, name: str) -> str:
        return f"%{name}" if self.element == self.acc else f"%wide_{name}"

    def _extended(self, name: str) -> list[str]:
        extend = {"f": "arith.extf", "i": "arith.extsi"}[self.acc[0]]
        if self.element == self.acc:
            return []
        return [f"    %wide_{name} = {extend} %{name} : {self.element} to {self.acc}"]


def _map(loops: str, order: str) -> str:
    return f"affine_map<({loops}) -> ({', '.join(f'd{letter}' for letter in order)})>"


def _iterators(parallel: int, reduction: int) -> str:
    return ", ".join(['"parallel"'] * parallel + ['"reduction"'] * reduction)
