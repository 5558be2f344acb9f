"""Recognising products: a reduction that multiplies two operands and adds up, whatever it is called.

A product is a linalg.generic (or linalg.matmul) with the body `c + ea * eb`, in floating point or integers. `ea` and
`eb` are any arithmetic on elements of the operands; what `ea` reads is A, what `eb` reads is B. Each loop has a part:

| part | used by A | used by B | used by D |
|---|---|---|---|
| batch | yes | yes | yes |
| m | yes | | yes |
| n | | yes | yes |
| k (the reduction) | yes | yes | |

Any part may have no loop, or several, except that there must be a reduction. Which of the two factors is called A is
told by the order of the multiplication.

Other operations may take the place of the addition and of the multiplication (`spec/algebra.py`), such as a minimum of
sums: then there must be an m and an n, and A is the factor whose m comes first. What has only one of them reads each
element once: it is a reduction along rows, which tiles do not help.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from mlir_gemm.dialect import algebras
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.linalg import structured
from mlir_gemm.dialect.linalg.structured import Generic
from mlir_gemm.dialect.locations import input_error
from mlir_gemm.dialect.walk import body, in_block, operations
from mlir_gemm.spec.algebra import Algebra, padding
from mlir_gemm.spec.element_types import ELEMENT_BYTES, FORMATS

_MULTIPLICATIONS = {"arith.mulf": "arith.addf", "arith.muli": "arith.addi"}
"""Each with the addition that goes with it."""
_EXACT = ("arith.extf", "arith.extsi", "arith.extui")
"""Extensions: the value stays the same."""


@dataclass(frozen=True)
class Factor:
    """One side of the multiplication."""

    value: Any
    """What is multiplied: a value in the body."""
    operands: tuple[int, ...]
    """The numbers of the operands that it is computed from; the first is the one with the most loops."""
    extended: bool = False
    """Whether an extension belongs to what is computed, and not to the multiplication."""

    @property
    def core(self) -> Any:
        """The value before it was extended, exactly, to the type of the multiplication."""
        value = self.value
        while not self.extended and getattr(value.owner, "name", "") in _EXACT and is_multiplied(value.owner):
            value = value.owner.operands[0]
        return value

    @property
    def plain(self) -> bool:
        """Whether nothing but extensions is between memory and the multiplication."""
        return hasattr(self.core.owner, "operations")

    @property
    def unsigned(self) -> bool:
        """Whether the factor is an integer that was extended with zeros."""
        value, last = self.value, ""
        while getattr(value.owner, "name", "") in _EXACT:
            value, last = value.owner.operands[0], value.owner.name
        return last == "arith.extui"


@dataclass(frozen=True)
class Product:
    """A product, taken apart. Loops and operands are given by their numbers in `generic`."""

    generic: Generic
    batch: tuple[int, ...]
    m: tuple[int, ...]
    n: tuple[int, ...]
    k: tuple[int, ...]
    a: Factor
    b: Factor
    multiplication: Any
    addition: Any
    algebra: Algebra | None = None
    """What adds up and multiplies, where it is not an addition and a multiplication of numbers."""

    def swap_factors(self) -> None:
        """Makes the other factor A, where the order of the multiplication decides that."""
        if self.algebra is None:
            left, right = self.multiplication.operands
            self.multiplication.operands[0], self.multiplication.operands[1] = right, left

    @property
    def op(self) -> Any:
        """The operation."""
        return self.generic.op

    @property
    def accumulator(self) -> Any:
        """D: the tensor or memref that is added to."""
        return self.generic.outputs[0]

    @property
    def is_pointwise(self) -> bool:
        """Whether this is only a sum for each batch element, which tiles do not help: M and N are 1."""
        sizes = structured.sizes_of(self.generic)
        tiled = any(sizes[loop] > 1 for loop in (*self.m, *self.n))
        return not tiled and any(sizes[loop] > 1 for loop in self.batch)

    @property
    def unsigned(self) -> str:
        """Which of the integer factors are unsigned: `a`, `b`, `ab`, or none."""
        return "a" * self.a.unsigned + "b" * self.b.unsigned


def is_multiplied(extension: Any) -> bool:
    """Whether some mma multiplies what an extension takes as it is: not 8-bit floats that are extended to f16
    first (by extend-operands) or to bf16 (for a result of that type), which is left to be computed, as sums of them in
    tensor cores are less exact."""
    op = extension.operation
    return not (str(op.operands[0].type) in FORMATS and str(op.results[0].type) in ("f16", "bf16"))


def product_of(operation: Any) -> Product | None:
    """The product that a linalg.generic or linalg.matmul is; None for anything else, `why_no_product` tells why."""
    found = _analyse(operation)
    return None if isinstance(found, str) else found


def why_no_product(operation: Any) -> str | None:
    """What keeps an operation from being a product, None if it is one."""
    found = _analyse(operation)
    return found if isinstance(found, str) else None


def the_product(function: Any) -> Product:
    """The one product of a kernel, with one m, n and k, or the first of several that multiply the same A
    (`join-products`). Raises InputError if there is none, or another one.

    The loops of a kernel are [batch..., m, n, k]; a batch loop need not be used by both A and B.
    """
    inside = in_block(body(function))
    products = [product for product in map(product_of, inside) if product is not None]
    for other in products[1:]:
        if not alike(products[0], other):
            raise input_error(other.op, "a second product; expected one in a kernel, or all of one A, with loops and "
                              "B alike")  # fmt: skip
    if products:
        return _by_place(products[0])
    reasons = [why_no_product(each) for each in inside if structured.is_generic(each)]
    found = f" ({'; '.join(dict.fromkeys(reason for reason in reasons if reason))})" if reasons else ""
    raise input_error(function, f"the function holds no product{found}; expected a linalg.generic or linalg.matmul "
                      "that adds up products of two operands")  # fmt: skip


def the_products(function: Any) -> list[Product]:
    """All products of a kernel: one, or several of the same A."""
    return [product for product in map(product_of, in_block(body(function))) if product is not None]


def alike(one: Product, other: Product) -> bool:
    """Whether two products multiply the same A by matrices that lie alike, all as they are in memory, in the same
    loops: what one kernel can do in the same steps."""
    return one.generic.inputs[0] == other.generic.inputs[0] and same_form(one, other)


def same_form(one: Product, other: Product) -> bool:
    """The same, of operands that lie like those of the other product."""
    if not all(is_single(each) for each in (one, other)):
        return False
    forms = [
        (
            [str(map_) for map_ in each.generic.maps], structured.sizes_of(each.generic), each.generic.inputs[0].type,
            _lying(each.generic.inputs[1].type), each.accumulator.type, each.multiplication.results[0].type,
            each.unsigned,
        )
        for each in (one, other)
    ]  # fmt: skip
    return forms[0] == forms[1]


def _lying(type_: Any) -> tuple[Any, ...]:
    """How a matrix lies in memory, wherever it starts there."""
    return list(type_.shape), type_.element_type, type_.get_strides_and_offset()[0]


def is_single(product: Product) -> bool:
    """Whether a product reads one element of each of two operands, and nothing is computed from these."""
    numbers = (product.a.operands, product.b.operands)
    plain = product.algebra is None and product.a.plain and product.b.plain
    return plain and len(product.generic.inputs) == 2 and numbers == ((0,), (1,))


def _by_place(product: Product) -> Product:
    """A product whose last three loops are an m, an n and its k: all others are its batch. Else it stays as it is."""
    loops = tuple(range(len(product.generic.parallel)))
    ends = loops[-3:]
    if len(ends) < 3 or ends[0] not in product.m or ends[1] not in product.n or ends[2:] != product.k:
        return product
    return replace(product, batch=loops[:-3], m=ends[:1], n=ends[1:2], k=ends[2:])


def _analyse(operation: Any) -> Product | str:
    if not structured.is_generic(operation):
        return f"'{operation.operation.name}' is no linalg.generic"
    generic = structured.read(operation)
    if generic.elementwise:
        return "it has no reduction"
    if structured.is_free(operation):
        return "it reads at places that it computes, or checks something"
    if len(generic.outputs) != 1:
        return f"it has {len(generic.outputs)} results; a product has one"
    for map_ in generic.maps:
        if not map_.is_projected_permutation:
            return f"indexing map {map_} is no projected permutation"
    return _of_body(generic)


def _of_body(generic: Generic) -> Product | str:
    plain = _of_numbers(generic)
    if not isinstance(plain, str) and (plain.m or plain.n):
        return plain
    other = _of_algebra(generic)  # of a square of differences, too, whose factors have both operands
    return plain if isinstance(other, str) else other


def _of_algebra(generic: Generic) -> Product | str:
    """A product whose plus and times are other operations than those of numbers."""
    combiner = _owner(generic.yielded[0], generic)
    accumulator = generic.body.arguments[len(generic.inputs)]
    if combiner is None or len(list(accumulator.uses)) != 1:
        return "it does not combine what it has so far"
    inputs = list(generic.body.arguments)[: len(generic.inputs)]

    def leaves(value: Any) -> frozenset[int]:
        return frozenset(number for number in _factor(value, generic).operands if number < len(inputs))

    found = algebras.read(combiner, accumulator, lambda value: _owner(value, generic), leaves)
    if isinstance(found, str):
        return found
    a, b = (_factor(value, generic) for value in (found.a, found.b))
    if accumulator in {generic.body.arguments[number] for side in (a, b) for number in side.operands}:
        return "it combines what it has so far in another way too"
    if _MULTIPLICATIONS.get(found.algebra.times.op) == combiner.name and found.algebra.times.arguments == ("a", "b"):
        return "numbers are multiplied and added up, which is no other algebra"
    product = _with_parts(generic, a, b, combiner, combiner)
    if isinstance(product, str):
        return product
    sizes = structured.sizes_of(generic)
    if not all(any(sizes[loop] != 1 for loop in loops) for loops in (product.m, product.n)):
        return "it has no m or no n: it is a reduction along rows"
    product = replace(product, algebra=found.algebra)
    return _padded(_swapped(product, found.algebra) if max(product.m) > max(product.n) else product)


def _swapped(product: Product, algebra: Algebra) -> Product:
    """The same with A and B in each other's place."""
    return replace(product, m=product.n, n=product.m, a=product.b, b=product.a, algebra=algebra.swapped())


def _padded(product: Product) -> Product | str:
    """A product of another algebra, with operands of types that have a padding value beyond the end of k: the
    multiplied types, or else the accumulator's, to which operands are extended before they are staged."""
    element = str(product.generic.body.arguments[len(product.generic.inputs)].type)
    if element not in ELEMENT_BYTES or element == "i1":
        return f"its elements are of type {element}"
    for extended in (False, True):
        a, b = (replace(side, extended=extended) for side in (product.a, product.b))
        types = [element_of(side) for side in (a, b)]
        if any(each not in ELEMENT_BYTES or each == "i1" for each in types):
            continue
        if padding(str(product.algebra), *types, element) is not None:
            return replace(product, a=a, b=b)
    return "no element is known that what it adds up could go on with beyond the end of k"


def _of_numbers(generic: Generic) -> Product | str:
    addition = _owner(generic.yielded[0], generic)
    if addition is None or addition.name not in _MULTIPLICATIONS.values():
        return f"it combines by {_name(addition)}, not by an addition"
    accumulator = generic.body.arguments[len(generic.inputs)]
    terms = [value for value in addition.operands if value != accumulator]
    if len(terms) != 1 or len(list(accumulator.uses)) != 1:
        return "it does not add one term to what it has so far"
    multiplication = _owner(terms[0], generic)
    if multiplication is None:
        return "it adds up single elements, not products"
    if _MULTIPLICATIONS.get(multiplication.name) != addition.name:
        return f"what it adds up is made by {_name(multiplication)}, not by a multiplication of the same kind"
    if multiplication.operands[0] == multiplication.operands[1]:
        return "it adds up squares, which is a reduction along rows"
    a, b = (_factor(value, generic) for value in multiplication.operands)
    if "i1" in (element_of(a), element_of(b)):
        return "it multiplies truth values (i1), which no mma does"
    return _with_parts(generic, a, b, multiplication, addition)


def _with_parts(generic: Generic, a: Factor, b: Factor, multiplication: Any, addition: Any) -> Product | str:
    in_a, in_b = (set[int]().union(*(loops_of(generic, each) for each in side.operands)) for side in (a, b))
    in_d = loops_of(generic, len(generic.inputs))
    parts: dict[str, list[int]] = {"batch": [], "m": [], "n": [], "k": []}
    names = {(True, True, True): "batch", (True, False, True): "m", (False, True, True): "n", (True, True, False): "k"}
    for loop in range(len(generic.parallel)):
        name = names.get((loop in in_a, loop in in_b, loop in in_d))
        if name is None:
            return _misfit(loop, loop in in_a, loop in in_b, loop in in_d)
        if generic.parallel[loop] == (name == "k"):
            return f"loop d{loop} is a {'parallel one' if name == 'k' else 'reduction'}, but the maps say otherwise"
        parts[name].append(loop)
    batch, m, n, k = (tuple(parts[name]) for name in ("batch", "m", "n", "k"))
    return Product(generic, batch, m, n, k, a, b, multiplication, addition)


def _misfit(loop: int, in_a: bool, in_b: bool, in_d: bool) -> str:
    users = [name for name, used in (("A", in_a), ("B", in_b), ("the result", in_d)) if used]
    return f"loop d{loop} is used by {' and '.join(users) or 'nothing'} only"


def loops_of(generic: Generic, operand: int) -> set[int]:
    """The loops that a projected permutation uses."""
    return {expression.position for expression in generic.maps[operand].results if hasattr(expression, "position")}


def _owner(value: Any, generic: Generic) -> Any | None:
    """The operation of the body that makes a value, None for an argument or a value from outside."""
    owner = value.owner
    return owner.operation if not hasattr(owner, "operations") and owner.operation.block == generic.body else None


def _name(operation: Any | None) -> str:
    return f"'{operation.name}'" if operation is not None else "no operation"


def _factor(value: Any, generic: Generic) -> Factor:
    arguments = list(generic.body.arguments)
    found: set[int] = set()
    pending = [value]
    seen: list[Any] = []
    while pending:
        current = pending.pop()
        if current in seen:
            continue
        seen.append(current)
        if current in arguments:
            found.add(arguments.index(current))
            continue
        owner = _owner(current, generic)
        if owner is not None:
            pending += [v for each in [owner, *operations(owner)] for v in each.operation.operands]
    order = sorted(found, key=lambda number: (-len(loops_of(generic, number)), number))
    return Factor(value, tuple(order))


def element_of(factor: Factor) -> str:
    """The element type that the mma multiplies: before the exact extension to the type of the multiplication."""
    return str(ir.Type(factor.core.type))
