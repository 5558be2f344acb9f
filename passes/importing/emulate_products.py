"""emulate-products: products of f32 become products of the parts of its elements, in a type of the tensor cores.

Expects linalg.generic on tensors, all work but the separation of results done. `precision`, else the `precision` of the
function's `tile.schedule`, names an emulation (`spec/emulation.py`), such as `3xtf32`: each f32 is a sum of two tf32,
the nearest one and that nearest to what is left. An elementwise operation in front of the product lays the parts of an
operand out along a new loop of k,

    A'[m, t, k] = lo(a), hi(a), hi(a)        B'[n, t, k] = hi(b), lo(b), hi(b)        for t = 0, 1, 2

and the product is one of 3 k steps, `sum over t, k of A'[m, t, k] B'[n, t, k]`. Operands of tf32 get k as their last
dimension, which the tensor cores need; bf16 ones keep the order that they have. The function's schedule then says
`precision` too, for the kernels. A second run changes nothing.

An infinite element gives 1 and then infinity, so that it times anything but zero is infinite; what is larger than the
largest tf32 or bf16 is that one and a rest. Refuses an f32 product whose operands are read at computed places.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import positions
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.clone import clone_slice
from mlir_gemm.dialect.emulation import asked, element, say, split
from mlir_gemm.dialect.linalg.generics import Generic, build, empty, erase_dead, generics, read
from mlir_gemm.dialect.linalg.products import Factor, Product, product_of
from mlir_gemm.dialect.locations import input_error
from mlir_gemm.dialect.walk import named
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.attributes import EMULATED
from mlir_gemm.spec.emulation import EMULATIONS, Emulation


@dataclass(frozen=True)
class EmulateProducts(Pass):
    """Multiply f32 by parts in a narrower type."""

    name: ClassVar[str] = "emulate-products"
    precision: str = ""
    """The emulation; empty for that of the function's `tile.schedule`, if it has one."""

    def run(self, module: Any) -> None:
        for function in named(module, "func.func"):
            emulation = EMULATIONS.get(asked(function, self.precision))
            if emulation is None:
                continue
            for operation in generics(function):
                product = product_of(operation)
                if product is not None and _is_emulated(product, emulation):
                    _rewrite(product, emulation)
            say(function, emulation.name)
            erase_dead(function)


def _is_emulated(product: Product, emulation: Emulation) -> bool:
    """Whether it multiplies the emulation's type, and is not pointwise, nor made by this pass."""
    types = {str(factor.core.type) for factor in (product.a, product.b)}
    if product.algebra is not None or product.is_pointwise or types != {emulation.of}:
        return False
    return EMULATED not in product.op.attributes


def _rewrite(product: Product, emulation: Emulation) -> None:
    generic = read(product.op)
    if generic is None:
        raise input_error(product.op, f"precision={emulation.name} for a product whose operands are read at computed "
                          "places; expected whole loops, or another precision")  # fmt: skip
    term = len(generic.sizes)
    shared = [loop for loop, added in enumerate(generic.reductions) if added]
    with ir.InsertionPoint(product.op), product.op.location:
        operands = [
            _laid_out(generic, factor, [terms[side] for terms in emulation.terms], shared, emulation)
            for side, factor in enumerate((product.a, product.b))
        ]
        maps = [tuple(term if loop < 0 else loop for loop in order) for _, order in operands]
        wide = ir.F32Type.get()

        def emit(arguments: list[Any]) -> list[Any]:
            arith = dialect("arith")
            x, y, total = arguments
            x, y = (each if each.type == wide else arith.ExtFOp(wide, each).result for each in (x, y))
            return [arith.AddFOp(total, arith.MulFOp(x, y).result).result]

        inputs = [tensor for tensor, _ in operands]
        made = build(inputs, generic.outputs, [*maps, *generic.output_maps], [*generic.reductions, True], emit)
    made.attributes[EMULATED] = ir.StringAttr.get(emulation.name)
    product.op.results[0].replace_all_uses_with(made.results[0])
    product.op.erase()


def _laid_out(
    generic: Generic, factor: Factor, parts: list[int], shared: list[int], emulation: Emulation
) -> tuple[Any, list[int]]:
    """A tensor of the parts of a factor, and the loops of its dimensions, -1 for that of the terms."""
    order = _order(generic, factor, shared, along_k=emulation.part == "tf32")
    place = {loop: at for at, loop in enumerate(order)}
    sizes = [len(parts) if loop < 0 else generic.sizes[loop] for loop in order]
    maps = [tuple(place.get(loop, loop) for loop in generic.maps[number]) for number in factor.operands]
    output = empty(sizes, element(emulation))
    terms = positions.make(ir.RankedTensorType.get([len(parts)], positions.number()))
    inputs = [*(generic.inputs[number] for number in factor.operands), terms]

    def emit(arguments: list[Any]) -> list[Any]:
        known = {generic.argument(n): value for n, value in zip(factor.operands, arguments, strict=False)}
        (value,) = clone_slice([factor.core], generic.block, known)
        return [_selected(split(value, emulation), parts, arguments[len(inputs) - 1])]

    identity = tuple(range(len(order)))
    made = build(inputs, [output], [*maps, (place[-1],), identity], [False] * len(order), emit)
    return made.results[0], order


def _order(generic: Generic, factor: Factor, shared: list[int], *, along_k: bool) -> list[int]:
    """The loops of a factor in the order of its dimensions, with -1 for the terms before those that are added up."""
    first = [loop for loop in generic.maps[factor.operands[0]] if loop >= 0]
    others = {loop for number in factor.operands for loop in generic.maps[number] if loop >= 0} - {*first}
    loops = [*sorted(others), *first]
    added = [loop for loop in loops if loop in shared]
    together = loops[loops.index(added[0]) :][: len(added)] == added
    if along_k or not together:
        return [*(loop for loop in loops if loop not in shared), -1, *added]
    at = loops.index(added[0])
    return [*loops[:at], -1, *loops[at:]]


def _selected(values: list[Any], parts: list[int], term: Any) -> Any:
    """The part that belongs to a term, an i64."""
    arith = dialect("arith")
    found = values[parts[-1]]
    for number in range(len(parts) - 2, -1, -1):
        this = arith.ConstantOp(positions.number(), ir.IntegerAttr.get(positions.number(), number)).result
        here = arith.CmpIOp(arith.CmpIPredicate.eq, term, this).result
        found = arith.SelectOp(here, values[parts[number]], found).result
    return found
