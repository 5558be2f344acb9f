"""expand-algebras: products of elements with components become products of real numbers.

Expects linalg.generic operations on tensors (after `expand-complex`). One that has `tile.algebra` multiplies elements
whose components lie along the last dimension of each operand, all with the same last loop; its body is that of a sum of
products. The attribute is the name of an algebra, or its constants (`spec/bilinear.py`). Leaves one product of real
numbers or several and elementwise operations around them, in the way of `spec/bilinear_plans.py` that costs least. Most
often that is one product which reads one operand as it lies, with a step of k for each component, and the other one
laid out with a column for each component of the result: of complex numbers

    [  re(b)  im(b) ]
    [ -im(b)  re(b) ]

Where an algorithm with fewer multiplications is allowed, `tile.note` on the module says which way was chosen, why, and
what becomes of the error's bound.
A second run changes nothing. Refuses an attribute on what is no such product.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

from mlir_gemm.dialect import algebra_marks
from mlir_gemm.dialect.algebra_marks import Marked
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.linalg import bilinear_forms, component_products, structured
from mlir_gemm.dialect.linalg.component_products import Factor
from mlir_gemm.dialect.linalg.structured import Generic
from mlir_gemm.dialect.locations import input_error
from mlir_gemm.dialect.outlining import kernel_modules
from mlir_gemm.dialect.walk import body as body_of
from mlir_gemm.dialect.walk import in_block, named, operations
from mlir_gemm.errors import PassError
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec import bilinear_plans as plans
from mlir_gemm.spec.attributes import ALGEBRA, STAND_INS
from mlir_gemm.spec.bilinear import LARGEST_GROWTH
from mlir_gemm.spec.bilinear_plans import Side, Way, Work
from mlir_gemm.spec.element_types import ELEMENT_BYTES


@dataclass(frozen=True)
class ExpandAlgebras(Pass):
    """Multiply elements of several components."""

    name: ClassVar[str] = "expand-algebras"
    only: str = ""
    """The one way that is taken: laid, groups, outer or steps; by default the one that costs least."""
    rates: str = ""
    """Operations in the time in which memory moves a byte, such as f16:230,f64:15, and the bytes of a launch, such as
    launch:4.5e6, by which fewer multiplications are chosen where an algorithm with fewer is allowed; empty for those of
    `spec/bilinear_plans.py`."""
    unasked: str = ""
    """Types, such as f32,f64, of which fewer multiplications are taken though the source does not ask for them: where
    all sizes are known, they are faster, and the bound of errors is at most twice as large. They are multiplied in
    full, by what takes operands in any order: sums lie as these do."""

    def run(self, module: Any) -> None:
        for function in named(module, "func.func"):
            for op in in_block(body_of(function)) if len(function.regions[0].blocks) else ():
                if ALGEBRA in op.operation.attributes:
                    why = self._expand(op.operation, STAND_INS in module.operation.attributes)
                    if why:
                        kernel_modules.add_note(module, why)

    def _rates(self) -> dict[str, float]:
        pairs = [each.partition(":") for each in self.rates.split(",")]
        try:
            return {name: float(rate) for name, _, rate in pairs}
        except ValueError:
            raise PassError(f"pass '{self}': expected rates of types, such as rates=f16:230,f64:15") from None

    def _expand(self, op: Any, open_sizes: bool) -> str:
        """Replaces a product; what a reader should know of the way that was chosen."""
        marked = algebra_marks.read(op)
        generic = _read(op, len(marked.table))
        work = _work(generic)
        steps = marked.steps if marked.asked or (self._is_unasked(work, marked) and not open_sizes) else None
        rates = self._rates() if self.rates and steps is not None else plans.FLOPS_PER_BYTE
        way, why = plans.chosen(work, marked.table, steps, marked.asked, rates)
        if self.only:
            given = marked.steps if marked.asked else None
            only = (each for each in plans.ways(work, marked.table, given) if each.kind == self.only)
            wanted = min(only, key=lambda each: each.cost(work), default=None)
            way, why = (wanted, "") if wanted is not None else (way, why)
        with ir.InsertionPoint(op), op.location:
            result = _built(generic, marked, way, work.element not in self.unasked.split(","))
        op.results[0].replace_all_uses_with(result)
        op.erase()
        return why

    def _is_unasked(self, work: Work, marked: Marked) -> bool:
        """Whether fewer multiplications may be taken that are not asked for."""
        steps = marked.steps
        if steps is None or work.element not in self.unasked.split(","):
            return False
        return steps.growth(marked.table) <= LARGEST_GROWTH


def _read(op: Any, components: int) -> Generic:
    """The operation, which is a product of such elements."""
    wanted = "a linalg.generic whose body adds a product of two elements"
    if op.name != "linalg.generic" or not all(isinstance(each.type, ir.RankedTensorType) for each in op.operands):
        raise input_error(op, f"'{ALGEBRA}' on '{op.name}'; expected {wanted}, on tensors")
    generic = structured.read(op)
    last = len(generic.parallel) - 1
    for number, map_ in enumerate(generic.maps):
        where = [each.position for each in map_.results] if map_.is_projected_permutation else []
        if where[-1:] != [last] or last in where[:-1]:
            raise input_error(op, f"'{ALGEBRA}' with operand {number} through {map_}; expected whole loops, and the "
                              f"last one, d{last}, along the last dimension")  # fmt: skip
        size = list(generic.operands[number].type.shape)[-1]
        if size != components:
            raise input_error(op, f"'{ALGEBRA}' of {components} components with operand {number} of {size} along its "
                              "last dimension")  # fmt: skip
    terms = bilinear_forms.terms_of(_without_last(generic))
    sum_type = structured.element_of(generic.outputs[0])
    types = {str(structured.element_of(value)) for value in generic.inputs}
    if terms is None or len(terms) != 1 or terms[0].times != 1 or len(generic.inputs) != 2 or len(types) > 1:
        raise input_error(op, f"'{ALGEBRA}' on an operation with another body; expected {wanted} of one type, and "
                          "loops of rows, columns and k")  # fmt: skip
    inner = [each.operation.name for each in operations(op)]
    if "arith.subf" in inner or any(name not in ELEMENT_BYTES for name in (*types, str(sum_type))):
        raise input_error(op, f"'{ALGEBRA}' on elements of {', '.join(types)} and sums of {sum_type}; expected numbers")
    return generic


def _without_last(generic: Generic) -> Generic:
    """The same with maps that do not name the loop of the components."""
    loops = len(generic.parallel) - 1
    maps = tuple(ir.AffineMap.get(loops, 0, list(map_.results)[:-1]) for map_ in generic.maps)
    return Generic(generic.op, generic.inputs, generic.outputs, maps, generic.parallel[:-1], generic.body)


def _loops(generic: Generic, number: int) -> list[int]:
    return [each.position for each in list(generic.maps[number].results)[:-1]]


def _work(generic: Generic) -> Work:
    sizes = structured.sizes_of(generic)[:-1]
    loops = [_loops(generic, number) for number in range(3)]

    def side(where: list[int]) -> Side:
        return Side(prod(sizes[loop] for loop in where), not generic.parallel[where[-1]])

    last = loops[2][-1]
    owners = "".join(name for name, where in zip("ab", loops, strict=False) if last in where)
    element = str(structured.element_of(generic.inputs[0]))
    wide = ELEMENT_BYTES[str(component_products.sum_type(structured.element_of(generic.outputs[0])))]
    return Work(side(loops[0]), side(loops[1]), prod(sizes), prod(sizes[loop] for loop in loops[2]), owners, element,
                ELEMENT_BYTES[element], wide)  # fmt: skip


def _built(generic: Generic, marked: Marked, way: Way, along_k: bool) -> Any:
    sizes = structured.sizes_of(generic)[:-1]
    factors = [Factor(generic.inputs[number], tuple(_loops(generic, number))) for number in (0, 1)]
    product = component_products.ComponentProduct(
        factors[0], factors[1], generic.outputs[0], tuple(_loops(generic, 2)), sizes, generic.parallel[:-1],
        marked.table, component_products.rounded_to(generic.op.operation),
    )  # fmt: skip
    if way.swapped:
        product = product.swapped()
    if way.kind == plans.LAID:
        return component_products.laid(product)
    if way.kind == plans.GROUPS:
        return component_products.groups(product)
    if way.kind == plans.OUTER or marked.steps is None:
        return component_products.outer(product)
    return component_products.steps(product, marked.steps, along_k)
