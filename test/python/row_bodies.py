"""Reductions along rows by bodies of a user's own, as text on memrefs, with what NumPy says in float64."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from row_kernels import Array, Case, nothing


@dataclass(frozen=True)
class Body:
    """How elements `%x0`, `%x1`, ... are combined with `%a0`, `%a1`, ... to `%r0`, `%r1`, ..."""

    starts: Sequence[str]
    lines: Sequence[str]
    element: str = "f32"

    def text(self, m: int, n: int) -> str:
        """A function `rows` on as many m x n matrices as there are results, then the results, of m elements."""
        count, element = len(self.starts), self.element
        wide, narrow = f"memref<{m}x{n}x{element}>", f"memref<{m}x{element}>"
        numbers = range(count)
        names = {letter: ", ".join(f"%{letter}{number}" for number in numbers) for letter in "ABxar"}
        maps = ["affine_map<(m, n) -> (m, n)>"] * count + ["affine_map<(m, n) -> (m)>"] * count
        fills = [line for number, start in enumerate(self.starts) for line in (
            f"  %start{number} = arith.constant {start} : {element}",
            f"  linalg.fill ins(%start{number} : {element}) outs(%B{number} : {narrow})",
        )]  # fmt: skip
        arguments = [f"%{letter}{number}: {type_}" for letter, type_ in (("A", wide), ("B", narrow))
                     for number in numbers]  # fmt: skip
        own = [f"%{letter}{number}: {element}" for letter in "xa" for number in numbers]
        return "\n".join([
            f"func.func @rows({', '.join(arguments)}) {{", *fills,
            f'  linalg.generic {{indexing_maps = [{", ".join(maps)}], iterator_types = ["parallel", "reduction"]}}',
            f"    ins({names['A']} : {', '.join([wide] * count)})",
            f"    outs({names['B']} : {', '.join([narrow] * count)}) {{",
            f"  ^bb0({', '.join(own)}):", *(f"    {line}" for line in self.lines),
            f"    linalg.yield {names['r']} : {', '.join([element] * count)}", "  }", "  return", "}", "",
        ])  # fmt: skip


def _lines(element: str, *lines: str) -> list[str]:
    return [f"{line} : {element}" for line in lines]


_CHAN = (
    "%d = arith.subf %x1, %a1", "%dw = arith.mulf %d, %w", "%r1 = arith.addf %a1, %dw", "%s = arith.addf %a2, %x2",
    "%dd = arith.mulf %d, %d", "%e = arith.mulf %dd, %a0", "%f = arith.mulf %e, %w", "%r2 = arith.addf %s, %f",
)  # fmt: skip
BODIES: dict[str, Body] = {
    "magnitude": Body(["0.0"], _lines(
        "f32", "%b = math.absf %a0", "%c = math.absf %x0", "%r0 = arith.maximumf %b, %c")),
    "largest by magnitude": Body(["0.0"], _lines(
        "f32", "%p = arith.maximumf %a0, %x0", "%q = arith.minimumf %a0, %x0", "%n = arith.negf %q",
        "%t = arith.cmpf oge, %p, %n", "%r0 = arith.select %t, %p, %q")),
    "hypot": Body(["3.0"], _lines(
        "f32", "%p = arith.mulf %a0, %a0", "%q = arith.mulf %x0, %x0", "%s = arith.addf %p, %q", "%r0 = math.sqrt %s")),
    "complex product": Body(["1.0", "0.0"], _lines(
        "f32", "%a = arith.mulf %a0, %x0", "%b = arith.mulf %a1, %x1", "%r0 = arith.subf %a, %b",
        "%c = arith.mulf %a0, %x1", "%d = arith.mulf %a1, %x0", "%r1 = arith.addf %c, %d")),
    "counts, means, squares": Body(["0.0"] * 3, _lines(
        "f32", "%z = arith.constant 0.0", "%r0 = arith.addf %a0, %x0", "%q = arith.divf %x0, %r0",
        "%t = arith.cmpf oeq, %r0, %z", "%w = arith.select %t, %z, %q", *_CHAN)),
    "xor": Body(["0"], _lines("i32", "%r0 = arith.xori %a0, %x0"), "i32"),
    "equivalence": Body(["-1"], _lines(
        "i32", "%k = arith.constant -1", "%s = arith.xori %a0, %x0", "%r0 = arith.xori %s, %k"), "i32"),
    "saturated, unsigned": Body(["0"], _lines(
        "i32", "%s = arith.addi %a0, %x0", "%t = arith.cmpi ult, %s, %a0", "%k = arith.constant -1",
        "%r0 = arith.select %t, %k, %s"), "i32"),
}  # fmt: skip
"""Those that give the same in any order."""
_OTHERS: dict[str, tuple[Body, str]] = {
    "the first of the largest": (Body(["0.0"], _lines(
        "f32", "%b = math.absf %a0", "%c = math.absf %x0", "%t = arith.cmpf ogt, %c, %b",
        "%r0 = arith.select %t, %x0, %a0")), "exchanged"),  # 3 and -3
    "a maximum that drops some NaN": (Body(["0xFF800000"], _lines(
        "f32", "%t = arith.cmpf ogt, %x0, %a0", "%r0 = arith.select %t, %x0, %a0")), "NaN"),
    "a running mean": (Body(["0.0"], _lines(
        "f32", "%h = arith.constant 0.5", "%d = arith.addf %a0, %x0", "%r0 = arith.mulf %d, %h")), "order"),
    "a difference": (Body(["0.0"], _lines("f32", "%r0 = arith.subf %a0, %x0")), "exchanged"),
    "saturated": (Body(["0"], _lines(
        "i32", "%k = arith.constant 100000", "%l = arith.constant -100000", "%s = arith.addi %a0, %x0",
        "%t = arith.minsi %s, %k", "%r0 = arith.maxsi %t, %l"), "i32"), "order"),
    "saturated, in floats": (Body(["0.0"], _lines(
        "f32", "%k = arith.constant 1.0e+7", "%s = arith.addf %a0, %x0", "%r0 = arith.minimumf %s, %k")), "order"),
    "counts without a test for none": (Body(["0.0"] * 3, _lines(
        "f32", "%r0 = arith.addf %a0, %x0", "%w = arith.divf %x0, %r0", *_CHAN)), ""),
    "a quotient of integers": (Body(["1"], _lines(
        "i32", "%r0 = arith.divsi %a0, %x0"), "i32"), "does not evaluate"),
}  # fmt: skip
REFUSED = {name: (body, why) for name, (body, why) in _OTHERS.items()}
"""Those that do not, or are not known to, with a word of the reason."""


def _merged(counts: Array, means: Array, squares: Array) -> list[Array]:
    n = counts.sum(1)
    mean = (counts * means).sum(1) / n
    return [n, mean, (squares + counts * (means - mean[:, None]) ** 2).sum(1)]


def _product(real: Array, imaginary: Array) -> list[Array]:
    found = (real + 1j * imaginary).prod(1)
    return [found.real, found.imag]


def _largest(a: Array) -> list[Array]:
    return [np.take_along_axis(a, np.abs(a).argmax(1)[:, None], 1)[:, 0]]


_NUMPY: dict[str, Callable[..., list[Array]]] = {
    "magnitude": lambda a: [np.abs(a).max(1)],
    "largest by magnitude": _largest,
    "hypot": lambda a: [np.sqrt((a * a).sum(1) + 9)],
    "complex product": _product,
    "counts, means, squares": _merged,
    "xor": lambda a: [np.bitwise_xor.reduce(a, 1)],
    "equivalence": lambda a: [np.array([reduce(lambda one, other: ~(one ^ other), row, -1) for row in a])],
    "saturated, unsigned": lambda a: [np.minimum(a.sum(1), 2**32 - 1).astype(np.uint32).view(np.int32)],
}


def _inputs(name: str, m: int, n: int, rng: Any) -> list[Array]:
    if name == "complex product":
        size, angle = 1 + rng.standard_normal((m, n)) / n, rng.standard_normal((m, n))
        return [(size * part(angle)).astype(np.float32) for part in (np.cos, np.sin)]
    if name == "counts, means, squares":
        counts = rng.integers(0, 5, (m, n))
        counts[:, 0] += 1
        given = counts, 3 + rng.standard_normal((m, n)), rng.random((m, n))
        return [each.astype(np.float32) for each in given]
    if name == "saturated, unsigned":
        return [rng.integers(0, 2**31 // n * 3 if n > 1 else 2**31, (m, n)).astype(np.int32)]
    if BODIES[name].element == "i32":
        return [rng.integers(-(2**31), 2**31, (m, n)).astype(np.int32)]
    return [rng.standard_normal((m, n)).astype(np.float32)]


def by_body(name: str, m: int, n: int, seed: int = 0) -> Case:
    """Rows that are combined by a body, and what NumPy says."""
    body = BODIES[name]
    given = _inputs(name, m, n, np.random.default_rng([seed, m, n]))
    wide = [each.astype(np.int64 if body.element == "i32" else np.float64) for each in given]
    wanted = [each.astype(np.float64) for each in _NUMPY[name](*wide)]
    results = [nothing((m,), body.element) for _ in wanted]
    return Case(body.text(m, n), [*given, *results], wanted, 2**-16 if name == "complex product" else 2**-20)
