"""How a product of elements with several components becomes products of real numbers, and which way is chosen.

Elements lie with their components side by side. What a way costs are the multiplications and the bytes that are moved
beside those of one product that reads A and B and writes D; the figures of `FLOPS_PER_BYTE` bring both together.

- `laid`: one operand is read as it lies, with a step of k for each component. The other one is laid out in front with
  a column for each component of the result, made of the constants. Where the result's neighbours are not its own, the
  result is transposed after that.
- `groups`: as `laid`, for each group of components of the result that need the same components of the operand that
  lies. A group that needs some of them reads a copy of these, or a part of one copy in which components lie apart; of
  the other operand it reads a part of what is laid out for a larger group, where that has the same numbers. The groups
  are put side by side after that.
- `outer`: every component of one operand is multiplied with every one of the other, which are read as they lie where
  components are beside rows or columns. The constants add the products up after that.
- `steps`: sums of components, as an algorithm names them, are laid out and multiplied; after that as `outer`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mlir_gemm.spec.bilinear import Number, Steps, Table, exchanged, terms_of

LAID, GROUPS, OUTER, STEPS = "laid", "groups", "outer", "steps"
FLOPS_PER_BYTE: Mapping[str, float] = {"f16": 230, "bf16": 230, "i8": 460}
"""Operations that are done while one byte goes through memory, by the type of the operands: by tensor cores of an H100,
and much alike on other chips. Others, f32 in full and f64 among them: `ELSE`."""
ELSE = 15.0
LAYING = 0.76
"""Time of a byte that is moved to lay B out, to that of one moved for sums of components: one kernel beside several (66
us for 0.2 GB in f16 and 145 for 0.4 GB in tf32 at 4096^3 on an H100, 0.97 of its memory's rate in the mean, to 0.74:
2026-11-28-h100-composite-kernels.txt)."""
FURTHER = 3
"""How many more kernels an algorithm with sums launches."""
LAUNCH = "launch"
"""Among rates: the bytes that memory moves in the time of a launch."""
LAUNCH_BYTES = 4_500_000
"""Those of an H100: 2 us at the part of 3 TB/s that kernels reach."""
WORTH = 0.9
"""Part of the time that an algorithm may take at most which nobody asked for: it takes memory, and the prediction is
rough."""


@dataclass(frozen=True)
class Side:
    """An operand."""

    elements: int
    steps_last: bool
    """Whether a step of k to the next one is a step in memory, but for components."""


@dataclass(frozen=True)
class Work:
    """A product of elements with components."""

    a: Side
    b: Side
    terms: int
    """How many pairs of elements are multiplied."""
    results: int
    last_in: str
    """Whose the loop is that the result's neighbours are apart by: `a`, `b`, or `ab`."""
    element: str
    """The type of components of A and B, by its name."""
    element_bytes: int
    sum_bytes: int


@dataclass(frozen=True)
class Way:
    """A way to multiply."""

    kind: str
    swapped: bool = False
    """Whether it is A that is laid out, not B."""
    products: float = 0
    """How many products of real numbers are computed for each pair of elements."""
    bytes: float = 0
    """What is moved beside what one product moves."""

    def cost(self, work: Work, rates: Mapping[str, float] = FLOPS_PER_BYTE) -> float:
        """Multiplications and bytes, as bytes. `rates` are those of a chip at a precision, where they are known."""
        return self.bytes + self.products * 2 * work.terms / rates.get(work.element, ELSE)


def groups_of(table: Table) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Components of the result that need the same components of A, and those."""
    terms, count = terms_of(table), len(table[0][0])
    found: dict[tuple[int, ...], list[int]] = {}
    for to in range(count):
        found.setdefault(tuple(i for i in range(len(table)) if (i, to) in terms), []).append(to)
    return [(tuple(to), needed) for needed, to in found.items()]


Rows = list[list[list[tuple[int, Number]]]]
"""What is laid out of B: for each component of A, and each of the result, the components of B, and how much of each."""


def rows_of(table: Table, to: Sequence[int], needed: Sequence[int]) -> Rows:
    """What is laid out of B for a group."""
    terms = terms_of(table)
    return [[terms.get((i, l_), []) for l_ in to] for i in needed]


def laid_before(rows: Rows, held: Rows) -> int | None:
    """Where rows begin that are laid out already; None where they are not."""
    starts = range(len(held) - len(rows) + 1)
    return next((start for start in starts if held[start : start + len(rows)] == rows), None)


def _laid_sizes(table: Table) -> Iterator[tuple[int, int]]:
    """Components of A, and numbers laid out of B that no other group has, of each group, the largest first."""
    held: list[Rows] = []
    for to, needed in sorted(groups_of(table), key=lambda group: -len(group[1])):
        rows = rows_of(table, to, needed)
        is_new = all(laid_before(rows, each) is None for each in held)
        held += [rows] * is_new
        yield len(needed), len(to) * len(needed) * is_new


def is_exact(table: Table, element: str) -> bool:
    """Whether laying B out by the constants changes no number: narrow types do not hold sums of components. f32 and f64
    round a sum as they round any."""
    if element in ("f32", "f64"):
        return True
    cells = terms_of(table).values()
    signs: tuple[Number, ...] = (1,) if element.startswith("i") else (1, -1)
    return all(len(cell) == 1 and cell[0][1] in signs for cell in cells)


def ways(work: Work, table: Table, steps: Steps | None) -> Iterator[Way]:
    """All ways that give what the constants say; one with `steps` only where they are given."""
    size, wide, count = work.element_bytes, work.sum_bytes, len(table)
    for swapped in (False, True):
        given = exchanged(table) if swapped else table
        if not is_exact(given, work.element):
            continue
        lies, laid = (work.b, work.a) if swapped else (work.a, work.b)
        found = groups_of(given)
        turned = 0 if ("a" if swapped else "b") in work.last_in else 2 * count * wide * work.results
        copied = 0 if lies.steps_last else 2 * count * size * lies.elements
        whole = (1 + count) * count * size * laid.elements
        yield Way(LAID, swapped, count * count, whole + copied + turned)
        if len(found) > 1:
            parts = list(_laid_sizes(given))
            some = sum(count + needed for needed, _ in parts if needed < count)
            in_place = size == 2 and not laid.steps_last
            moved = (some if in_place else 2 * count) * size * lies.elements + (copied if in_place else 0)
            moved += sum(count + numbers for _, numbers in parts if numbers) * size * laid.elements
            products = sum(len(to) * len(needed) for to, needed in found)
            yield Way(GROUPS, swapped, products, moved + 2 * count * size * work.results)
    sides = (work.a, work.b)
    moved = sum(2 * count * size * side.elements for side in sides if side.steps_last)
    yield Way(OUTER, False, count * count, moved + (2 * count * count + count) * wide * work.results)
    if steps is not None and not work.element.startswith("i"):
        moved = sum((count + steps.count) * size * side.elements for side in sides)
        yield Way(STEPS, False, steps.count, moved + (2 * steps.count + count) * wide * work.results)


def chosen(
    work: Work, table: Table, steps: Steps | None, asked: bool = True, rates: Mapping[str, float] = FLOPS_PER_BYTE
) -> tuple[Way, str]:
    """The way to take, and in words why, where there is one with fewer multiplications: the one of the others that
    costs least, unless the one with fewer is faster, by `1 - WORTH` where it is not asked for."""
    found = list(ways(work, table, steps))
    plain = min((way for way in found if way.kind != STEPS), key=lambda way: way.cost(work))
    fewer = next((way for way in found if way.kind == STEPS), None)
    if fewer is None or steps is None:
        return plain, ""
    least = 1.0 if asked else WORTH
    part = part_of(work, fewer, plain, rates, FURTHER * rates.get(LAUNCH, LAUNCH_BYTES))
    return fewer if part < least else plain, _why(plain, fewer, part, steps.growth(table), asked)


def part_of(work: Work, fewer: Way, plain: Way, rates: Mapping[str, float], launches: float = 0) -> float:
    """How many times the time of `plain` a way takes with fewer multiplications, of a chip's rates."""

    def moved(way: Way) -> float:
        return way.bytes * (LAYING if way.kind == LAID else 1)

    rate = rates.get(work.element, ELSE)
    times = (moved(way) + way.products * 2 * work.terms / rate for way in (fewer, plain))
    own, other = times
    return (own + launches) / other


def _why(plain: Way, fewer: Way, part: float, growth: float, asked: bool) -> str:
    if part < (1 if asked else WORTH):
        text = (
            f"{fewer.products} products of sums of components, not {plain.products} of components: with what is moved "
            f"for them {part:.2f} times the time; errors are relative to whole elements, their bound {growth:.3g} "
            "times that of the others"
        )
        return text if asked else f'{text} (algorithm = "schoolbook" on the product asks for these)'
    least = "" if asked else f', and without algorithm = "fewest" it must be below {WORTH}'
    return (
        f"{plain.products} products of components, though fewer are allowed: {fewer.products} of sums of components "
        f"would take {part:.2f} times the time, with what is moved for them{least}"
    )
