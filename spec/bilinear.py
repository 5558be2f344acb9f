"""Bilinear algebras: elements of several components, and the table by which two of them are multiplied.

The product of elements a and b has the components `(a b)_l = sum over i and j of s[i][j][l] a_i b_j`. The numbers s are
the structure constants: complex numbers, dual numbers, quaternions, and what a user registers
(`mlir_gemm.register(mlir_gemm.Bilinear("eisenstein", ...))`) are such tables. A product may be computed from fewer
products of sums of components, as Gauss computes a complex one from three; such an algorithm may come with the table.
"""

from __future__ import annotations

import difflib
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from mlir_gemm.errors import Error, InputError
from mlir_gemm.spec import extensions

Number = float | int
Table = tuple[tuple[tuple[Number, ...], ...], ...]
"""Structure constants: `table[i][j][l]` is how much of component l there is in e_i e_j."""
Matrix = tuple[tuple[Number, ...], ...]
MOST_COMPONENTS = 16
"""More make kernels too long to compile."""
AUTO, SCHOOLBOOK, FEWEST = "auto", "schoolbook", "fewest"
ALGORITHMS = (AUTO, SCHOOLBOOK, FEWEST)
"""What may be asked for: the faster of what the constants say and fewer multiplications where these are nearly as exact
(`LARGEST_GROWTH`; f32 and f64 in full); what the constants say; the faster of both whatever the type."""
LARGEST_GROWTH = 2.0
"""How many times as large the bound of an error may be with fewer multiplications that nobody asked for."""


@dataclass(frozen=True)
class Steps:
    """A bilinear algorithm: product r is `(sum of left[r][i] a_i) (sum of right[r][j] b_j)`, and component l of the
    result is the sum of `result[l][r]` times product r."""

    left: Matrix
    right: Matrix
    result: Matrix

    @property
    def count(self) -> int:
        """How many products of real numbers there are."""
        return len(self.left)

    def table(self) -> Table:
        """The structure constants that it computes."""
        sides = len(self.left[0]), len(self.right[0]), len(self.result)
        return tuple(tuple(tuple(_whole(sum(
            self.left[r][i] * self.right[r][j] * self.result[to][r] for r in range(self.count)
        )) for to in range(sides[2])) for j in range(sides[1])) for i in range(sides[0]))  # fmt: skip

    def growth(self, table: Table) -> float:
        """How many times as large the bound of a component's error is as by the constants `table`, for long sums and in
        terms of the magnitudes of whole elements: each product counts with the Euclidean norms of its two sums."""
        norms = [math.hypot(*left) * math.hypot(*right) for left, right in zip(self.left, self.right, strict=True)]
        grown = 0.0
        for to, row in enumerate(self.result):
            own = sum(abs(cell[to]) for cells in table for cell in cells)
            mixed = sum(abs(number) * norm for number, norm in zip(row, norms, strict=True))
            grown = max(grown, mixed / own if own else math.inf if mixed else 0.0)
        return grown


@dataclass(frozen=True)
class Bilinear:
    """A bilinear algebra, by its name. `mlir_gemm.register` makes one known; complex, dual, split-complex and
    quaternion are there."""

    name: str
    constants: Sequence[Sequence[Sequence[Number]]]
    """`constants[i][j][l]`: how much of component l there is in e_i e_j. Nested sequences or an array."""
    algorithm: tuple[Sequence[Sequence[Number]], Sequence[Sequence[Number]], Sequence[Sequence[Number]]] | None = None
    """`left`, `right` and `result` of an algorithm with fewer multiplications, if there is one. It is used where it is
    faster, in f32 and f64 in full where errors grow little (`Steps.growth`), in other types where it is asked for
    (`algorithm="fewest"`)."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "constants", _tuples(self.constants))
        object.__setattr__(self, "algorithm", None if self.algorithm is None else _tuples(self.algorithm))

    @property
    def table(self) -> Table:
        """The constants as tuples."""
        return cast("Table", self.constants)

    @property
    def components(self) -> int:
        """How many components an element has."""
        return len(self.table)

    @property
    def steps(self) -> Steps | None:
        """The algorithm with fewer multiplications."""
        return None if self.algorithm is None else Steps(*cast("tuple[Matrix, Matrix, Matrix]", self.algorithm))

    def check(self) -> None:
        """Raises Error where the constants are no table, or the algorithm computes another one."""
        where, count = f"algebra '{self.name}'", len(self.constants)
        table = self.table
        if not 1 <= count <= MOST_COMPONENTS:
            raise Error(f"{where} has {count} components; expected 1 to {MOST_COMPONENTS}")
        if [len(each) for row in ((table,), table, *table) for each in row] != [count] * (1 + count + count * count):
            raise Error(f"{where} has constants that are no table of {count} x {count} x {count} numbers")
        if not all(math.isfinite(each) for row in table for cell in row for each in cell):
            raise Error(f"{where} has constants that are not finite")
        steps = self.steps
        if steps is None:
            return
        shapes = ((len(each), {len(row) for row in each}) for each in (steps.left, steps.right, steps.result))
        if list(shapes) != [(steps.count, {count}), (steps.count, {count}), (count, {steps.count})]:
            raise Error(f"{where} has an algorithm whose parts are not {steps.count} x {count}, twice, and {count} x "
                        f"{steps.count} numbers")  # fmt: skip
        pairs = zip(_flat(table), _flat(steps.table()), strict=True)
        if any(abs(one - other) > 1e-9 * max(1.0, abs(one)) for one, other in pairs):
            raise Error(f"{where} has an algorithm that computes other products than its constants say")


def _tuples(given: object) -> object:
    """Nested sequences, or an array, as tuples of numbers."""
    if hasattr(given, "tolist"):
        given = cast("object", given.tolist())  # type: ignore[attr-defined]  # pyright: ignore
    if isinstance(given, (int, float)):
        return _whole(given)
    try:
        return tuple(_tuples(each) for each in cast("Sequence[object]", given))
    except TypeError:
        raise Error(f"{given!r} among the constants of an algebra; expected numbers") from None


def _whole(number: Number) -> Number:
    return int(number) if float(number).is_integer() else float(number)


def _flat(table: Table) -> list[Number]:
    return [each for row in table for cell in row for each in cell]


def _square(size: int, of: dict[tuple[int, int], tuple[tuple[int, int], ...]]) -> Table:
    """A table from what products of two units are: pairs of a component and its number."""
    return tuple(
        tuple(tuple(dict(of.get((i, j), ())).get(to, 0) for to in range(size)) for j in range(size))
        for i in range(size)
    )


def _with_square(number: int) -> Table:
    """The table of a + b e with a square of e that is a number."""
    return _square(2, {(0, 0): ((0, 1),), (0, 1): ((1, 1),), (1, 0): ((1, 1),), (1, 1): ((0, number),)})


_I, _J, _K = 1, 2, 3
BUILT_IN = (
    Bilinear("complex", _with_square(-1),
             (((1, 0), (0, 1), (1, 1)), ((1, 0), (0, 1), (1, 1)), ((1, -1, 0), (-1, -1, 1)))),
    Bilinear("dual", _with_square(0)),
    Bilinear("split-complex", _with_square(1), (((1, 1), (1, -1)), ((1, 1), (1, -1)), ((0.5, 0.5), (0.5, -0.5)))),
    Bilinear("quaternion", _square(4, {
        **{(0, each): ((each, 1),) for each in range(4)}, **{(each, 0): ((each, 1),) for each in range(4)},
        **{(each, each): ((0, -1),) for each in (_I, _J, _K)},
        (_I, _J): ((_K, 1),), (_J, _K): ((_I, 1),), (_K, _I): ((_J, 1),),
        (_J, _I): ((_K, -1),), (_K, _J): ((_I, -1),), (_I, _K): ((_J, -1),),
    })),
)  # fmt: skip
"""Three products for complex numbers, a c, b d and (a + b) (c + d): of the forms of Gauss's trick the one whose real
part is what the constants say (Higham, "Stability of a Method for Multiplying Complex Matrices with Three Real Matrix
Multiplications", 1992); two for split-complex ones, whose units (1 + e) / 2 and (1 - e) / 2 do not meet."""


def known() -> dict[str, Bilinear]:
    """All algebras, by name."""
    return {each.name: each for each in (*BUILT_IN, *extensions.of(Bilinear))}


def named(name: str) -> Bilinear:
    """The algebra of a name. Raises InputError where there is none."""
    table = known()
    if name in table:
        return table[name]
    (close,) = difflib.get_close_matches(name, table, n=1, cutoff=0)
    raise InputError(f"'{name}' is not an algebra; did you mean '{close}'? There are {', '.join(table)}, and what "
                     "mlir_gemm.register(mlir_gemm.Bilinear(...)) adds")  # fmt: skip


def terms_of(table: Table) -> dict[tuple[int, int], list[tuple[int, Number]]]:
    """By component of A and of the result: the components of B that meet there, and their numbers."""
    found: dict[tuple[int, int], list[tuple[int, Number]]] = {}
    for i, j, to in itertools.product(range(len(table)), range(len(table[0])), range(len(table[0][0]))):
        if table[i][j][to]:
            found.setdefault((i, to), []).append((j, table[i][j][to]))
    return found


def exchanged(table: Table) -> Table:
    """The table of products whose factors change places."""
    return tuple(tuple(table[j][i] for j in range(len(table))) for i in range(len(table[0])))


def with_signs(table: Table, signs: Sequence[Sequence[Number]]) -> Table:
    """The table of products whose factors have their components times some numbers first."""
    left, right = signs
    return tuple(
        tuple(tuple(number * left[i] * right[j] for number in cell) for j, cell in enumerate(row))
        for i, row in enumerate(table)
    )


def signed(steps: Steps, signs: Sequence[Sequence[Number]]) -> Steps:
    """An algorithm for factors that have their components times some numbers first."""
    left, right = (
        tuple(tuple(number * by for number, by in zip(row, given, strict=True)) for row in rows)
        for rows, given in zip((steps.left, steps.right), signs, strict=True)
    )
    return Steps(left, right, steps.result)
