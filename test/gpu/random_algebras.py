"""Random products by other algebras than plus and times of numbers: their MLIR, their inputs, and what NumPy makes of
them. Inputs are small whole numbers, so that every result is exact.

One list serves the simulator in the tests and the GPU (`check_algebras.py`).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

SIZES = (2, 3, 8, 15, 16, 17, 31, 33, 64, 65, 100, 128, 129)
DEPTHS = (1, 2, 7, 16, 31, 32, 33, 64, 70, 100, 128, 130, 256, 300)


@dataclass(frozen=True)
class Algebra:
    """A plus and a times, as lines of a body on `%x` and `%y` of the accumulator's type, which make `%t`."""

    plus: str
    times: tuple[str, ...]
    combine: Callable[[Any, Any, Any], Any]
    """What NumPy makes of c, a and b."""
    types: tuple[tuple[str, str], ...]
    """Element types of operands and accumulator."""


def _absolute(c: Any, a: Any, b: Any) -> Any:
    return c + np.abs(a - b)


def _hamming(c: Any, a: Any, b: Any) -> Any:
    return c + np.bitwise_count((a ^ b).view(np.uint32))


FLOATS = (("f32", "f32"), ("f16", "f32"), ("f64", "f64"), ("f16", "f16"), ("bf16", "f32"), ("bf16", "bf16"))
WHOLE = (("i32", "i32"), ("i8", "i32"), ("i64", "i64"), ("i16", "i16"))
ALGEBRAS = {
    "min_plus": Algebra("arith.minimumf", ("%t = arith.addf %x, %y : {t}",),
                        lambda c, a, b: np.minimum(c, a + b), FLOATS),
    "max_plus": Algebra("arith.maximumf", ("%t = arith.addf %x, %y : {t}",),
                        lambda c, a, b: np.maximum(c, a + b), FLOATS),
    "max_times": Algebra("arith.maxnumf", ("%t = arith.mulf %y, %x : {t}",),
                         lambda c, a, b: np.maximum(c, a * b), FLOATS),
    "bottleneck": Algebra("arith.minimumf", ("%t = arith.maximumf %x, %y : {t}",),
                          lambda c, a, b: np.minimum(c, np.maximum(a, b)), FLOATS),
    "l1": Algebra("arith.addf", ("%d = arith.subf %x, %y : {t}", "%t = math.absf %d : {t}"), _absolute, FLOATS[:3]),
    "l2": Algebra("arith.addf", ("%d = arith.subf %x, %y : {t}", "%t = arith.mulf %d, %d : {t}"),
                  lambda c, a, b: c + (a - b) ** 2, FLOATS[:3]),
    "min_plus_i": Algebra("arith.minsi", ("%t = arith.addi %x, %y : {t}",),
                          lambda c, a, b: np.minimum(c, a + b), WHOLE),
    "max_minus_i": Algebra("arith.maxsi", ("%t = arith.subi %y, %x : {t}",),
                           lambda c, a, b: np.maximum(c, b - a), WHOLE),
    "or_and": Algebra("arith.ori", ("%t = arith.andi %x, %y : {t}",), lambda c, a, b: c | (a & b),
                      (*WHOLE, ("i8", "i8"))),
    "xor_and": Algebra("arith.xori", ("%t = arith.andi %x, %y : {t}",), lambda c, a, b: c ^ (a & b),
                       (*WHOLE, ("i8", "i8"))),
    "hamming": Algebra("arith.addi", ("%d = arith.xori %x, %y : {t}", "%t = math.ctpop %d : {t}"),
                       _hamming, WHOLE[:1]),
    "larger_wins": Algebra(
        "arith.addf", ("%p = arith.cmpf ogt, %x, %y : {t}", "%n = arith.constant -2.0 : {t}",
                       "%t = arith.select %p, %x, %n : {t}"),
        lambda c, a, b: c + np.where(a > b, a, -2.0), (("f32", "f32"),),
    ),
}  # fmt: skip
"""By name. `larger_wins` has no numbers that add nothing, so that it is no product in tiles; it must be right all the
same."""
SHAPES = {"a": {"mk": ("m", "k"), "km": ("k", "m")}, "b": {"kn": ("k", "n"), "nk": ("n", "k")}}


@dataclass(frozen=True)
class Case:
    """D[m, n] = C combined with A[m, k] times B[k, n] for every k."""

    name: str
    operand: str
    acc: str
    m: int
    n: int
    k: int
    a_order: str = "mk"
    b_order: str = "kn"
    batch: int = 0
    negated: bool = False
    """Whether results are negated by an epilogue, where they are floating-point numbers."""

    @property
    def algebra(self) -> Algebra:
        """Its algebra."""
        return ALGEBRAS[self.name]

    def shape(self, axes: str) -> list[int]:
        """Sizes of an operand by its axes."""
        sizes = {"m": self.m, "n": self.n, "k": self.k}
        return ([self.batch] if self.batch else []) + [sizes[axis] for axis in axes]

    def module(self) -> str:
        """The MLIR source: D starts from C, an argument."""
        extends = {"f": "arith.extf", "i": "arith.extsi", "b": "arith.extf"}[self.operand[0]]
        wide = self.operand != self.acc
        lines = [f"%{to} = {extends} %{of} : {self.operand} to {self.acc}" for of, to in ("ax", "by") if wide]
        lines += [line.format(t=self.acc) for line in self.algebra.times]
        lines += [f"%r = {self.algebra.plus} %c, %t : {self.acc}", f"linalg.yield %r : {self.acc}"]
        names = ("a", "b") if wide else ("x", "y")
        a, b, c = (self._type(axes, of) for axes, of in
                   ((self.a_order, self.operand), (self.b_order, self.operand), ("mn", self.acc)))  # fmt: skip
        loops = ["z"] * bool(self.batch) + ["m", "n", "k"]
        maps = ", ".join(f"affine_map<({', '.join(loops)}) -> ({', '.join([*loops[:-3], *axes])})>"
                         for axes in (self.a_order, self.b_order, "mn"))  # fmt: skip
        kinds = ", ".join(['"parallel"'] * (len(loops) - 1) + ['"reduction"'])
        inside = "\n      ".join(lines)
        negated, given = "", "%d"
        if self.negated:
            identity = f"affine_map<({', '.join(loops[:-1])}) -> ({', '.join(loops[:-1])})>"
            given, negated = (
                "%e",
                f"""
  %e = linalg.generic {{indexing_maps = [{identity}, {identity}],
      iterator_types = [{", ".join(['"parallel"'] * (len(loops) - 1))}]}} ins(%d : {c}) outs(%C : {c}) {{
    ^bb0(%v: {self.acc}, %o: {self.acc}):
      %w = arith.negf %v : {self.acc}
      linalg.yield %w : {self.acc}
  }} -> {c}""",
            )
        return f"""
func.func @f(%A: {a}, %B: {b}, %C: {c}) -> {c} {{
  %d = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}
      ins(%A, %B : {a}, {b}) outs(%C : {c}) {{
    ^bb0(%{names[0]}: {self.operand}, %{names[1]}: {self.operand}, %c: {self.acc}):
      {inside}
  }} -> {c}{negated}
  return {given} : {c}
}}
"""

    def _type(self, axes: str, element: str) -> str:
        return f"tensor<{'x'.join(map(str, self.shape(axes)))}x{element}>"

    def inputs(self, seed: int) -> list[Any]:
        """A, B and C as whole numbers, in the types of the module."""
        generator = np.random.default_rng(seed)
        shapes = ((self.a_order, self.operand), (self.b_order, self.operand), ("mn", self.acc))
        return [generator.integers(-4, 5, self.shape(axes)).astype(numpy_type(of)) for axes, of in shapes]

    def reference(self, a: Any, b: Any, c: Any) -> Any:
        """What NumPy computes, in the accumulator's type, which holds it exactly."""
        wide = np.float64 if self.acc[0] in "fb" else numpy_type(self.acc)
        a, b, result = (each.astype(wide) for each in (a, b, c))
        a = np.swapaxes(a, -1, -2) if self.a_order == "km" else a
        b = np.swapaxes(b, -1, -2) if self.b_order == "nk" else b
        for k in range(self.k):
            result = self.algebra.combine(result, a[..., :, k : k + 1], b[..., k : k + 1, :])
        return (-result if self.negated else result).astype(numpy_type(self.acc))


def numpy_type(element: str) -> Any:
    """NumPy's type of an element."""
    from mlir_gemm.spec.element_types import numpy_dtype

    return numpy_dtype(element)


def drawn(seed: int, count: int) -> Iterator[Case]:
    """So many cases, each algebra as often as the others."""
    generator = random.Random(seed)
    for number in range(count):
        name = list(ALGEBRAS)[number % len(ALGEBRAS)]
        operand, acc = generator.choice(ALGEBRAS[name].types)
        yield Case(
            name, operand, acc, generator.choice(SIZES), generator.choice(SIZES), generator.choice(DEPTHS),
            generator.choice(("mk", "km")), generator.choice(("kn", "nk")), generator.choice((0, 0, 0, 2)),
            acc[0] in "fb" and generator.random() < 0.3,
        )  # fmt: skip
