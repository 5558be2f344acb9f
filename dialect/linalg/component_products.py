"""The ways in which a product of elements with components is computed by products of real numbers
(`spec/bilinear_plans.py`), as operations of linalg on tensors at the insertion point."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from mlir_gemm.dialect import algebra_marks
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.linalg import components, generics
from mlir_gemm.dialect.linalg.components import at, component, computed, weighted
from mlir_gemm.spec.attributes import ALGEBRA
from mlir_gemm.spec.bilinear import Number, Steps, Table, exchanged, terms_of
from mlir_gemm.spec.bilinear_plans import Rows, groups_of, is_exact, laid_before, rows_of

ANY_ORDER = 16
"""Bits of the types of which tensor cores multiply matrices with either dimension along memory."""


@dataclass(frozen=True)
class Factor:
    """An operand: its components lie along its last dimension."""

    value: Any
    loops: tuple[int, ...]
    """The loop along each of its other dimensions."""
    planes: tuple[Any, ...] = ()
    """Its components where each lies in a tensor of its own, without that last dimension; `value` is one of them."""

    @property
    def rank(self) -> int:
        return len(self.loops)

    def part(self, number: int) -> Any:
        """One component."""
        return self.planes[number] if self.planes else component(self.value, {self.rank: number})


@dataclass(frozen=True)
class ComponentProduct:
    """A product of elements with components."""

    a: Factor
    b: Factor
    start: Any
    """What its result starts from."""
    loops: tuple[int, ...]
    """The loop along each dimension of the result, but for the last."""
    sizes: tuple[int, ...]
    parallel: tuple[bool, ...]
    table: Table
    rounded: Any = None
    """The type to which what reads the result rounds it first; None where it does not."""

    def swapped(self) -> ComponentProduct:
        """The same with its operands in each other's place."""
        return replace(self, a=self.b, b=self.a, table=exchanged(self.table))

    @property
    def count(self) -> int:
        return len(self.table)

    @property
    def steps(self) -> list[int]:
        """The loops that are summed up, in the order in which A has them."""
        return [loop for loop in self.a.loops if not self.parallel[loop]]

    @property
    def batch(self) -> list[int]:
        return [loop for loop in self.loops if loop in self.a.loops and loop in self.b.loops]

    @property
    def rows(self) -> list[int]:
        return [loop for loop in self.loops if loop not in self.b.loops]

    @property
    def columns(self) -> list[int]:
        return [loop for loop in self.loops if loop not in self.a.loops]

    @property
    def sum_type(self) -> Any:
        return sum_type(self.start.type.element_type)

    @property
    def part_type(self) -> Any:
        """The type in which components of the result are kept that are put together by a kernel after the product: its
        own, or that to which it is rounded next, unless something is added to them."""
        if not is_zero(self.start):
            return self.sum_type
        return self.rounded or self.start.type.element_type

    @property
    def b_as_lies(self) -> bool:
        """Whether B is laid out with k first, since it lies so and tensor cores take that too."""
        return self.parallel[self.b.loops[-1]] and self.b.value.type.element_type.width == ANY_ORDER

    def shape(self, loops: Sequence[int]) -> list[int]:
        return [self.sizes[loop] for loop in loops]


def sum_type(element: Any) -> Any:
    """The type in which sums are kept between kernels."""
    narrow = isinstance(element, ir.FloatType) and element.width < 32
    return ir.F32Type.get() if narrow else element


def rounded_to(op: Any) -> Any:
    """The narrower type to which the only reader of a result rounds each element first; None where it does not."""
    readers = [use.owner.operation for use in op.results[0].uses]
    if len(readers) != 1 or readers[0].name != "linalg.generic":
        return None
    reader = readers[0]
    argument = reader.regions[0].blocks[0].arguments[list(reader.operands).index(op.results[0])]
    types = [use.owner.results[0].type for use in argument.uses if use.owner.operation.name == "arith.truncf"]
    return types[0] if len(types) == len(list(argument.uses)) > 0 and len(set(map(str, types))) == 1 else None


def laid(product: ComponentProduct) -> Any:
    """A as it lies, and B with a column for each component of the result."""
    every = tuple(range(product.count))
    turned = bool(product.loops) and product.loops[-1] not in product.b.loops
    if not turned:
        b, b_loops = _laid_out(product, every, every)
        return _multiplied(product, product.a.value, b, b_loops, product.start, product.loops)
    order = [*product.batch, *product.rows, *product.columns]
    b, b_loops = _laid_out(product, every, every)
    shape = [*product.shape(order), product.count]
    start = generics.zero(shape, product.sum_type)
    found = _multiplied(product, product.a.value, b, b_loops, start, order)
    places = [product.loops.index(loop) for loop in order]
    rank = len(product.loops)

    return _finished(product, [(found, [*places, rank])], lambda values: values[0])


def _laid_out(
    product: ComponentProduct, to: Sequence[int], needed: Sequence[int], apart: bool = False
) -> tuple[Any, list[int]]:
    """B as a tensor of its columns, components of the result, steps, and components of A, these in front of the steps
    if `apart`; and the loops along its dimensions, those for components after all others. The steps are first where B
    has them so and tensor cores take that too: elements then move less far."""
    b, count = product.b, len(product.sizes)
    columns = [loop for loop in product.loops if loop in b.loops]
    beside = [loop for loop in columns if loop not in product.batch]
    along = [*beside, count]
    down = [count + 1, *product.steps] if apart else [*product.steps, count + 1]
    order = [*product.batch, *(down + along if product.b_as_lies else along + down)]
    extra = {count: len(to), count + 1: len(needed)}
    shape = [extra[loop] if loop in extra else product.sizes[loop] for loop in order]
    terms = terms_of(product.table)
    used = sorted({j for l_ in to for i in needed for j, _ in terms.get((i, l_), [])})
    read = [(b.part(j), [order.index(loop) for loop in b.loops]) for j in used]
    element = b.value.type.element_type

    def build(values: list[Any]) -> Any:
        given = dict(zip(used, values, strict=True))
        cells = [
            [weighted([(given[j], number) for j, number in terms.get((i, l_), [])], element) for i in needed]
            for l_ in to
        ]
        return at(order.index(count), [at(order.index(count + 1), row) for row in cells])

    return computed(read, shape, element, build), order


def _multiplied(
    product: ComponentProduct, a: Any, b: Any, b_loops: Sequence[int], start: Any, order: Sequence[int]
) -> Any:
    """The product of A, with a loop over its components, and of B as `_laid_out` gives it."""
    count = len(product.sizes)
    return components.product(
        (a, [*product.a.loops, count + 1]), (b, b_loops), (start, [*order, count]), [*product.parallel, True, False]
    )


def groups(product: ComponentProduct) -> Any:
    """As `laid`, for each group of components of the result that need the same ones of A. Groups that need fewer read
    parts of what is laid out for the others."""
    found: dict[int, tuple[Any, int]] = {}
    rank = len(product.loops)
    order = [*product.batch, *product.rows, *product.columns]
    read = _Parts(product)
    for to, needed in sorted(groups_of(product.table), key=lambda group: -len(group[1])):
        (left, left_loops), (right, right_loops) = read.of_a(needed), read.of_b(to, needed)
        start = generics.zero([*product.shape(order), len(to)], product.part_type)
        count = len(product.sizes)
        sums = components.product((left, left_loops), (right, right_loops), (start, [*order, count]),
                                  [*product.parallel, True, False])  # fmt: skip
        found.update({each: (sums, number) for number, each in enumerate(to)})
    places = [product.loops.index(loop) for loop in order]
    parts = [(component(found[each][0], {rank: found[each][1]}), places) for each in range(product.count)]
    return _finished(product, parts, lambda values: at(rank, values))


@dataclass
class _Parts:
    """What groups of components read of A and B. Where rows of B are not along k, both keep an element's components
    beside each other; else components lie apart, one row of k after another, so that a part of them is rows too."""

    product: ComponentProduct
    planes: Any = None
    """A with its components apart."""
    made: list[tuple[Any, list[int], Rows]] = field(default_factory=list[tuple[Any, list[int], Rows]])
    """What is laid out of B, the loop along each dimension, and what it holds."""

    def of_a(self, needed: Sequence[int]) -> tuple[Any, list[int]]:
        """The components of A that a group needs, and the loop along each dimension."""
        product, loop = self.product, len(self.product.sizes) + 1
        a = product.a
        if product.b_as_lies:
            if len(needed) == product.count:
                return a.value, [*a.loops, loop]
            read = [(component(a.value, {a.rank: i}), list(range(a.rank))) for i in needed]
            shape = [*product.shape(a.loops), len(needed)]
            copied = computed(read, shape, a.value.type.element_type, lambda values: at(a.rank, values))
            return copied, [*a.loops, loop]
        own = [each for each in product.loops if each in a.loops]
        order = [*own, loop, *product.steps]
        if self.planes is None:
            read = [(a.part(i), [order.index(each) for each in a.loops]) for i in range(product.count)]
            shape = [*product.shape(own), product.count, *product.shape(product.steps)]
            place = order.index(loop)
            self.planes = computed(read, shape, a.value.type.element_type, lambda values: at(place, values))
        return components.part(self.planes, order.index(loop), needed[0], len(needed)), order

    def of_b(self, to: Sequence[int], needed: Sequence[int]) -> tuple[Any, list[int]]:
        """B for a group, laid out, or as a part of what is; and the loop along each dimension."""
        loop, rows = len(self.product.sizes) + 1, rows_of(self.product.table, to, needed)
        for value, loops, held in self.made:
            start = laid_before(rows, held)
            if start is not None:
                return components.part(value, loops.index(loop), start, len(rows)), loops
        value, loops = _laid_out(self.product, to, needed, apart=not self.product.b_as_lies)
        self.made.append((value, loops, rows))
        return value, loops


def _finished(
    product: ComponentProduct, read: Sequence[tuple[Any, Sequence[int]]], build: Callable[[list[Any]], Any]
) -> Any:
    """The result, element by element, from tensors that are read with the loops of the result and one of components."""
    element, rank = product.start.type.element_type, len(product.loops)
    starts = is_zero(product.start)
    given = read if starts else [*read, (product.start, list(range(rank + 1)))]

    def element_of(values: list[Any]) -> Any:
        found = build(values[: len(read)])
        if not starts:
            found = weighted([(_converted(values[-1], found.type), 1), (found, 1)], found.type)
        return _converted(found, element)

    return computed(given, [*product.shape(product.loops), product.count], element, element_of)


def _converted(value: Any, type_: Any) -> Any:
    arith = components.dialect("arith")
    if value.type == type_:
        return value
    wider = type_.width > value.type.width
    return (arith.ExtFOp if wider else arith.TruncFOp)(type_, value).result


def is_zero(value: Any) -> bool:
    """Whether a tensor is filled with zeros."""
    scalar = generics.scalar_of(value) or _generalised_fill(value)
    owner = generics.owner_of(scalar) if scalar is not None else None
    return owner is not None and owner.name == "arith.constant" and owner.attributes["value"].value == 0


def _generalised_fill(value: Any) -> Any | None:
    """What a linalg.generic puts everywhere that has nothing but a number; None for anything else."""
    owner = generics.owner_of(value)
    if owner is None or owner.name != "linalg.generic" or len(owner.operands) != 2:
        return None
    block = owner.regions[0].blocks[0]
    plain = len(list(block.operations)) == 1 and block.operations[0].operands[0] == block.arguments[0]
    return owner.operands[0] if plain and not isinstance(owner.operands[0].type, ir.ShapedType) else None


def outer(product: ComponentProduct) -> Any:
    """Every component of A with every one of B; the constants add them up."""
    count = len(product.sizes)
    a, a_loops = _beside(product, product.a, count)
    b, b_loops = _beside(product, product.b, count + 1)
    order = [*product.batch, *product.rows, count, *product.columns, count + 1]
    shape = [*product.shape(product.batch), *product.shape(product.rows), product.count,
             *product.shape(product.columns), product.count]  # fmt: skip
    start = generics.zero(shape, product.sum_type)
    sums = components.product((a, a_loops), (b, b_loops), (start, order), [*product.parallel, True, True])
    kept = [product.loops.index(loop) for loop in order if loop < count]
    terms = [(i, j) for i in range(product.count) for j in range(product.count) if any(product.table[i][j])]
    places = order.index(count), order.index(count + 1)
    read = [(component(sums, {places[0]: i, places[1]: j}), kept) for i, j in terms]

    def build(values: list[Any]) -> Any:
        given = [(value, product.table[i][j]) for value, (i, j) in zip(values, terms, strict=True)]
        return _combined(product, given)

    return _finished(product, read, build)


def _combined(product: ComponentProduct, given: Sequence[tuple[Any, Sequence[Number]]]) -> Any:
    """The component of the result that a loop is at: of each value so much as its numbers say."""
    cells = [
        weighted([(value, numbers[l_]) for value, numbers in given if numbers[l_]], product.sum_type)
        for l_ in range(product.count)
    ]
    return at(len(product.loops), cells)


def _beside(product: ComponentProduct, factor: Factor, loop: int) -> tuple[Any, list[int]]:
    """A factor whose components lie beside its rows or columns: as it is, or laid out; and the loops along its
    dimensions."""
    if product.parallel[factor.loops[-1]]:
        return factor.value, [*factor.loops, loop]
    own = [each for each in product.loops if each in factor.loops]
    order = [*own, loop, *product.steps]
    shape = [*product.shape(own), product.count, *product.shape(product.steps)]
    read = [(component(factor.value, {factor.rank: number}), [order.index(each) for each in factor.loops])
            for number in range(product.count)]  # fmt: skip
    return computed(read, shape, factor.value.type.element_type, lambda values: at(len(own), values)), order


def steps(product: ComponentProduct, algorithm: Steps, along_k: bool = True) -> Any:
    """The products of sums that an algorithm names, and what it makes of them. Sums lie along k, or else as the operand
    does."""
    count = len(product.sizes)
    a, a_loops = _sums(product, product.a, algorithm.left, count, along_k)
    b, b_loops = _sums(product, product.b, algorithm.right, count, along_k)
    order = [count, *product.batch, *product.rows, *product.columns]
    start = generics.zero([algorithm.count, *product.shape(order[1:])], product.sum_type)
    sums = components.product((a, a_loops), (b, b_loops), (start, order), [*product.parallel, True])
    kept = [product.loops.index(loop) for loop in order[1:]]
    read = [(component(sums, {0: number}), kept) for number in range(algorithm.count)]

    def build(values: list[Any]) -> Any:
        columns = [[row[number] for row in algorithm.result] for number in range(algorithm.count)]
        return _combined(product, list(zip(values, columns, strict=True)))

    return _finished(product, read, build)


def _sums(
    product: ComponentProduct, factor: Factor, numbers: Sequence[Sequence[Number]], loop: int, along_k: bool
) -> tuple[Any, list[int]]:
    """Sums of the components of a factor, one after another along a first dimension; the loops along its dimensions."""
    rest = [*(each for each in product.loops if each in factor.loops), *product.steps]
    if not along_k and list(factor.loops[: len(product.batch)]) == list(product.batch):
        rest = list(factor.loops)
    shape = [len(numbers), *product.shape(rest)]
    element = factor.value.type.element_type
    read = [(component(factor.value, {factor.rank: number}), [1 + rest.index(each) for each in factor.loops])
            for number in range(product.count)]  # fmt: skip

    def build(values: list[Any]) -> Any:
        return at(0, [weighted([(value, number) for value, number in zip(values, row, strict=True) if number], element)
                      for row in numbers])  # fmt: skip

    return computed(read, shape, element, build), [loop, *rest]


def scale(value: Any, parts: Sequence[Sequence[Number]]) -> bool:
    """Has a product with `tile.algebra` give other components: of each as much of what it gave as its row of `parts`
    says. False, and no change, where the value is no such product that starts from zeros, or narrow numbers would be
    rounded."""
    op = generics.owner_of(value)
    if op is None or ALGEBRA not in op.attributes or not is_zero(op.operands[2]):
        return False
    marked = algebra_marks.read(op)
    table = tuple(tuple(tuple(_sum(parts[to], cell) for to in range(len(parts))) for cell in row)
                  for row in marked.table)  # fmt: skip
    if not is_exact(table, str(op.operands[0].type.element_type)):
        return False
    steps = marked.steps
    if steps is not None:
        columns = list(zip(*steps.result, strict=True))
        result = tuple(tuple(_sum(row, column) for column in columns) for row in parts)
        steps = replace(steps, result=result)
    op.attributes[ALGEBRA] = algebra_marks.mark(table, steps, algebra_marks.asked_algorithm(op))
    return True


def _sum(numbers: Sequence[Number], parts: Sequence[Number]) -> Number:
    return sum(number * part for number, part in zip(numbers, parts, strict=True))
