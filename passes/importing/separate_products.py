"""separate-products: a body that adds up several products becomes one operation for each.

Expects linalg.generic operations on tensors (after `linalg-generalize-named-ops` and `raise-to-tensors`). One with
several results that are sums becomes one for each of them, where all are products of matrices; or, with `together`, all
are one product of real numbers, where that is expected to be faster: its A is what a kernel in front makes of planes,
its result is taken apart after it, and `read-components` does without both. A sum of several
products such as `c + a0 * b1 - a1 * b0` becomes a chain: products that are added start from what there is so far,
others are subtracted from it element by element. Sums of narrow floating-point numbers are f32 until the last. So
elements of components that lie in matrices of their own (planes) are multiplied where they lie, and a body that lacks
some of the products (dual numbers) costs less. A sum by math.fma becomes one of a product. A second run changes
nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.clone import clone_slice
from mlir_gemm.dialect.linalg import components, generics, planes, structured
from mlir_gemm.dialect.linalg.bilinear_forms import Term, terms_of
from mlir_gemm.dialect.linalg.component_products import is_zero, sum_type
from mlir_gemm.dialect.linalg.fused_sums import add_last
from mlir_gemm.dialect.linalg.planes import Rates
from mlir_gemm.dialect.linalg.products import product_of
from mlir_gemm.dialect.linalg.structured import Generic
from mlir_gemm.dialect.walk import body, in_block, named
from mlir_gemm.errors import PassError
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.attributes import ALGEBRA
from mlir_gemm.spec.bilinear_plans import LAUNCH


@dataclass(frozen=True)
class SeparateProducts(Pass):
    """Make products of matrices of bodies that add up several."""

    name: ClassVar[str] = "separate-products"
    together: str = ""
    """Operations in the time in which memory moves a byte, such as f16:140:230,f64:15:15, of products that read
    components where they lie and of others, and the bytes of a launch, such as launch:4.5e6, by which planes are
    multiplied by one product where that takes less time; empty for never."""

    def run(self, module: Any) -> None:
        rates = self._rates()
        for function in named(module, "func.func"):
            for op in in_block(body(function)) if len(function.regions[0].blocks) else ():
                if _may_hold_several(op.operation) and not (self.together and _is_together(op.operation, rates)):
                    _separate(op.operation)

    def _rates(self) -> Rates:
        parts = [each.split(":") for each in self.together.split(",") if each]
        try:
            launch = [float(number) for _, number in (each for each in parts if each[0] == LAUNCH)]
            each_type = (each for each in parts if each[0] != LAUNCH)
            return Rates({name: (float(one), float(other)) for name, one, other in each_type}, *launch)
        except (TypeError, ValueError):
            raise PassError(f"pass '{self}': expected two rates of types, such as together=f16:140:230") from None


def _is_together(op: Any, rates: Rates) -> bool:
    """Makes one product of planes, where that takes less time than one for each pair of them."""
    found = planes.read(structured.read(op), rates)
    if found is None:
        return False
    with ir.InsertionPoint(op), op.location:
        results = found.build()
    for old, new in zip(op.results, results, strict=True):
        old.replace_all_uses_with(new)
    op.erase()
    return True


def _may_hold_several(op: Any) -> bool:
    if op.name != "linalg.generic" or ALGEBRA in op.attributes or structured.is_free(op):
        return False
    add_last(structured.read(op))
    generic = structured.read(op)
    tensors = all(isinstance(value.type, ir.RankedTensorType) for value in generic.operands)
    if not tensors or generic.elementwise or len(generic.inputs) == 1:
        return False
    return len(generic.outputs) > 1 or not _is_product(generic)


def _is_product(generic: Generic) -> bool:
    """Whether an operation with one result multiplies two factors that read different operands."""
    product = product_of(generic.op)
    if product is None or (product.algebra is not None and terms_of(generic) is not None):
        return False
    sides = [set(side.operands) for side in (product.a, product.b)]
    return all(sides) and not sides[0] & sides[1]


def _separate(op: Any) -> None:
    generic = structured.read(op)
    with ir.InsertionPoint(op), op.location:
        parts = [_part(generic, number) for number in range(len(generic.outputs))]
        made = [structured.read(part) for part in parts if part is not None]
        sums = [None if _is_product(part) else terms_of(part) for part in made]
        wrong = [part for part, terms in zip(made, sums, strict=True) if terms is None and not _is_product(part)]
        if wrong or len(made) < len(parts):
            for part in made:
                part.op.erase()
            return
        for result, part, terms in zip(op.results, made, sums, strict=True):
            result.replace_all_uses_with(part.op.results[0] if terms is None else _chained(part, terms))
            if terms is not None:
                part.op.erase()
    op.erase()


def _part(generic: Generic, number: int) -> Any | None:
    """An operation for one of the results; None where that needs what another one is so far."""
    count = len(generic.inputs)
    arguments = list(generic.body.arguments)
    used = _arguments_of(generic.yielded[number], generic)
    if any(position >= count and position != count + number for position in used):
        return None
    kept = [position for position in range(count) if position in used]
    maps = [generic.maps[position] for position in (*kept, count + number)]
    loops = {each.position for map_ in maps for each in map_.results if isinstance(each, ir.AffineDimExpr)}
    if loops != set(range(len(generic.parallel))):
        return None
    made, block = structured.make(
        [generic.inputs[position] for position in kept], [generic.outputs[number]], maps, generic.parallel
    )
    values = dict(zip([arguments[position] for position in (*kept, count + number)], block.arguments, strict=True))
    with ir.InsertionPoint(block):
        structured.yield_(clone_slice([generic.yielded[number]], generic.body, values))
    return made


def _arguments_of(value: Any, generic: Generic) -> set[int]:
    arguments = list(generic.body.arguments)
    if value in arguments:
        return {arguments.index(value)}
    if hasattr(value.owner, "operations") or value.owner.operation.block != generic.body:
        return set()
    return {each for operand in value.owner.operation.operands for each in _arguments_of(operand, generic)}


def _chained(part: Generic, terms: list[Term]) -> Any:
    """The sum, product by product."""
    output = part.outputs[0]
    shape, element = list(output.type.shape), structured.element_of(output)
    wide = sum_type(element)
    loops = list(range(len(shape)))
    result = [each.position for each in part.maps[-1].results]
    found = output
    if wide != element:
        widened = dialect("arith").ExtFOp
        found = generics.zero(shape, wide) if is_zero(output) else components.computed(
            [(output, loops)], shape, wide, lambda values: widened(wide, values[0]).result
        )  # fmt: skip
    for term in sorted(terms, key=lambda each: each.times != 1):
        factors = [
            (part.inputs[number], [each.position for each in part.maps[number].results])
            for number in (term.left, term.right)
        ]
        start = found if term.times == 1 else generics.zero(shape, wide)
        sums = components.product(factors[0], factors[1], (start, result), part.parallel)
        if term.times == 1:
            found = sums
            continue
        number = term.times
        found = components.computed(
            [(found, loops), (sums, loops)], shape, wide,
            lambda values, number=number: components.weighted([(values[0], 1), (values[1], number)], wide),
        )  # fmt: skip
    if wide == element:
        return found
    cut = dialect("arith").TruncFOp
    return components.computed([(found, loops)], shape, element, lambda values: cut(element, values[0]).result)
