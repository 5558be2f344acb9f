"""simplify-generics: linalg.generic operations lose what they do not need.

Expects linalg.generic and linalg.fill on tensors. Afterwards no body depends on a scalar, filled or splat-constant
operand (the scalar stands in the body instead; a product keeps its two tensors), an output whose elements the body does
not read is a tensor.empty, inputs that the body does not use and results that nobody uses are gone, a generic that only
writes a scalar is a linalg.fill, and the loops of an elementwise generic run in the order of its output's dimensions. A
generic whose maps are not projected permutations is left as it is; a second run changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.linalg.generics import (
    ONE,
    Generic,
    Map,
    build,
    empty,
    erase_dead,
    fill,
    generics,
    inline,
    owner_of,
    read,
    replace,
    scalar_of,
)
from mlir_gemm.dialect.linalg.products import product_of
from mlir_gemm.dialect.walk import in_block
from mlir_gemm.passes.base import Pass


@dataclass(frozen=True)
class SimplifyGenerics(Pass):
    """Remove operands, results and loop orders that a generic does not need."""

    name: ClassVar[str] = "simplify-generics"

    def run(self, module: Any) -> None:
        erase_dead(module)
        for operation in reversed(generics(module)):
            generic = read(operation)
            if generic is not None:
                _drop_results(generic)
        erase_dead(module)
        for operation in generics(module):
            generic = read(operation)
            if generic is not None:
                _simplify(generic)
        erase_dead(module)


def _drop_results(generic: Generic) -> None:
    """Results without uses go, unless the body needs the running value of one for another result."""
    used = [bool(list(result.uses)) for result in generic.results]
    if all(used) or not any(used):
        return
    count = len(generic.inputs)
    needed = _arguments_needed(generic, [value for value, use in zip(generic.yielded, used, strict=True) if use])
    keep = [i for i, use in enumerate(used) if use or generic.argument(count + i) in needed]
    covered = {loop for i in range(count) for loop in generic.maps[i]}
    covered |= {loop for i in keep for loop in generic.output_maps[i]}
    if len(keep) == len(used) or covered - {ONE} != set(range(len(generic.sizes))):
        return

    _forget(generic, keep)

    def emit(arguments: list[Any]) -> list[Any]:
        kept = dict(zip(keep, arguments[count:], strict=True))
        yielded = inline(generic, [*arguments[:count], *(kept.get(i) for i in range(len(used)))])
        return [yielded[i] for i in keep]

    with ir.InsertionPoint(generic.operation), generic.operation.location:
        new = build(
            generic.inputs,
            [generic.outputs[i] for i in keep],
            [*generic.maps[:count], *(generic.output_maps[i] for i in keep)],
            generic.reductions,
            emit,
        )
    for position, result in zip(keep, new.results, strict=True):
        generic.results[position].replace_all_uses_with(result)
    generic.operation.erase()


def _arguments_needed(generic: Generic, values: list[Any]) -> list[Any]:
    """The block arguments on which values of the body depend."""
    found: list[Any] = []
    pending = list(values)
    while pending:
        value = pending.pop()
        owner = owner_of(value)
        if owner is None:
            found.append(value)
        elif owner.block == generic.block:
            pending += owner.operands
    return found


def _forget(generic: Generic, keep: list[int]) -> None:
    """Lets results that go yield their own running value, so that what computed them dies."""
    terminator = in_block(generic.block)[-1].operation
    for position in range(len(generic.outputs)):
        if position not in keep:
            terminator.operands[position] = generic.argument(len(generic.inputs) + position)
    for inner in reversed(in_block(generic.block)[:-1]):
        if not any(list(result.uses) for result in inner.operation.results):
            inner.operation.erase()


def _simplify(generic: Generic) -> None:
    count = len(generic.inputs)
    scalars = {i: value for i in range(count) if (value := _scalar(generic, i)) is not None}
    unread = [i for i, output in enumerate(generic.outputs) if _to_empty(generic, i, output)]
    keep = [i for i in range(count) if i not in scalars and generic.reads(i)]
    covered = {loop for i in (*keep, *range(count, len(generic.maps))) for loop in generic.maps[i]}
    if covered - {ONE} != set(range(len(generic.sizes))):
        keep = [i for i in range(count) if i not in scalars or _tensor(generic.inputs[i])]
        scalars = {i: value for i, value in scalars.items() if i not in keep}
    order = _order(generic)
    if _is_fill(generic, scalars):
        _to_fill(generic, scalars)
        return
    if len(keep) == count and not unread and order == tuple(range(len(order))):
        return
    _renew(generic, keep, scalars, unread, order)


def _renew(
    generic: Generic, keep: list[int], scalars: dict[int, Any], unread: list[int], order: tuple[int, ...]
) -> None:
    count = len(generic.inputs)

    def emit(arguments: list[Any]) -> list[Any]:
        kept = dict(zip(keep, arguments, strict=False))
        inputs = [scalars.get(i, kept.get(i)) for i in range(count)]
        return inline(generic, [*inputs, *arguments[len(keep) :]])

    with ir.InsertionPoint(generic.operation), generic.operation.location:
        outputs = [
            empty(output.type.shape, output.type.element_type) if i in unread else output
            for i, output in enumerate(generic.outputs)
        ]
        position = {loop: i for i, loop in enumerate(order)}
        maps: list[Map] = [
            tuple(loop if loop == ONE else position[loop] for loop in generic.maps[i])
            for i in (*keep, *range(count, len(generic.maps)))
        ]
        reductions = [generic.reductions[loop] for loop in order]
        new = build([generic.inputs[i] for i in keep], outputs, maps, reductions, emit)
    replace(generic, new)


def _tensor(value: Any) -> bool:
    return isinstance(value.type, ir.RankedTensorType)


def _scalar(generic: Generic, position: int) -> Any | None:
    """The scalar that an input has everywhere: it is one, or a filled tensor, or a splat constant."""
    value = generic.inputs[position]
    if not _tensor(value):
        return value
    if not generic.parallel and product_of(generic.operation) is not None:
        return None  # a product needs two tensors
    filled = scalar_of(value)
    if filled is not None:
        return filled
    owner = owner_of(value)
    if owner is None or owner.name != "arith.constant":
        return None
    attribute = owner.attributes["value"]
    if not isinstance(attribute, ir.DenseElementsAttr) or not ir.DenseElementsAttr(attribute).is_splat:
        return None
    if not list(value.type.shape) and not generic.reads(position):
        return None
    with ir.InsertionPoint(generic.operation), generic.operation.location:
        splat = ir.DenseElementsAttr(attribute).get_splat_value()
        return dialect("arith").ConstantOp(value.type.element_type, splat).result


def _to_empty(generic: Generic, position: int, output: Any) -> bool:
    """Whether an output is a tensor with values that the body does not read."""
    owner = owner_of(output)
    return not generic.reads(len(generic.inputs) + position) and (owner is None or owner.name != "tensor.empty")


def _order(generic: Generic) -> tuple[int, ...]:
    """The loops in the order in which they should run: that of the first output's dimensions, if all are parallel."""
    first = generic.output_maps[0]
    plain = tuple(range(len(generic.sizes)))
    return first if generic.parallel and sorted(first) == list(plain) else plain


def _is_fill(generic: Generic, scalars: dict[int, Any]) -> bool:
    if (
        len(generic.outputs) != 1
        or not generic.parallel
        or set(generic.output_maps[0]) - {ONE} != set(range(len(generic.sizes)))
    ):
        return False
    value = generic.yielded[0]
    owner = owner_of(value)
    if owner is None:
        return any(value == generic.argument(i) for i in scalars)
    return owner.name == "arith.constant"


def _to_fill(generic: Generic, scalars: dict[int, Any]) -> None:
    value = generic.yielded[0]
    output = generic.outputs[0]
    with ir.InsertionPoint(generic.operation), generic.operation.location:
        if owner_of(value) is None:
            scalar = next(scalars[i] for i in scalars if value == generic.argument(i))
        else:
            constant = owner_of(value)
            assert constant is not None
            scalar = constant.clone().results[0] if constant.block == generic.block else value
        filled = fill(output.type.shape, output.type.element_type, scalar)
    generic.results[0].replace_all_uses_with(filled)
    generic.operation.erase()
