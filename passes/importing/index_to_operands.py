"""index-to-operands: what bodies compute with positions becomes an operand, and index values become integers.

Expects linalg.generic on tensors (after raise-to-tensors). Leaves no linalg.index and no value of type index in any
body: a generic that uses the position of a loop reads it from a tensor of that loop's size in which each element is its
own place (`tile.position`), so that all that moves or reshapes operands moves it with them; index values are i64, and
arith.index_cast to or from other integers is an extension or a truncation. A tensor.empty that only says how often
such an operation's loops run (the window of a pooling) goes, and positions say it. Refuses a position in a body whose
maps are not projected permutations, and index values from outside a body that are not constants. A second run changes
nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import positions
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.clone import attributes_of, clone
from mlir_gemm.dialect.linalg.generics import ONE, Generic, Map, build, generics, owner_of, read, replace
from mlir_gemm.dialect.locations import input_error
from mlir_gemm.dialect.walk import in_block
from mlir_gemm.passes.base import Pass

_CASTS = ("arith.index_cast", "arith.index_castui")


@dataclass(frozen=True)
class IndexToOperands(Pass):
    """Make operands of positions."""

    name: ClassVar[str] = "index-to-operands"

    def run(self, module: Any) -> None:
        for operation in generics(module):
            _drop_dead(operation)
            inside = in_block(operation.operation.regions[0].blocks[0])
            if any(_has_index(inner.operation) for inner in inside):
                _rebuild(operation.operation)


def _drop_dead(operation: Any) -> None:
    for inner in reversed(in_block(operation.operation.regions[0].blocks[0])[:-1]):
        op = inner.operation
        if not op.regions and op.name != "cf.assert" and not any(list(result.uses) for result in op.results):
            op.erase()


def _has_index(op: Any) -> bool:
    return any(isinstance(value.type, ir.IndexType) for value in [*op.operands, *op.results])


def _rebuild(operation: Any) -> None:
    generic = read(operation, free=True)
    if generic is None:
        at = next(each for each in in_block(operation.regions[0].blocks[0]) if _has_index(each.operation))
        raise input_error(at, f"'{at.operation.name}' in a body whose operands are indexed by sums or quotients of "
                          "loops; expected maps that give each dimension one loop")  # fmt: skip
    dims = sorted({
        _dim(inner) for inner in in_block(generic.block)
        if inner.operation.name == "linalg.index" and generic.sizes[_dim(inner)] != 1
    })  # fmt: skip
    plain = _plain_reads(generic)
    count = len(generic.inputs)
    keep = [number for number in range(count) if not _only_sizes(generic, number)]
    told = {loop for number in (*keep, *range(count, len(generic.maps))) for loop in generic.maps[number]}
    lost = {loop for number in range(count) for loop in generic.maps[number]} - told - {ONE}
    dims = sorted({*dims, *lost})
    with ir.InsertionPoint(operation), operation.location:
        given = [positions.make(ir.RankedTensorType.get([generic.sizes[dim]], positions.number())) for dim in dims]
        given += [read_.operands[0] for read_ in plain]
        inputs = [generic.inputs[number] for number in keep]
        maps = [*(generic.maps[number] for number in keep), *((dim,) for dim in dims), *plain.values()]

        def emit(arguments: list[Any]) -> list[Any]:
            first, last = len(inputs), len(inputs) + len(given)
            own = dict(
                zip((*keep, *range(count, len(generic.maps))), arguments[:first] + arguments[last:], strict=True)
            )
            elements = dict(zip(plain, arguments[first + len(dims) :], strict=False))
            return _body(generic, own, dict(zip(dims, arguments[first:], strict=False)), elements)

        maps += generic.output_maps
        new = build([*inputs, *given], generic.outputs, maps, generic.reductions, emit)
    for name, attribute in attributes_of(operation).items():
        if name not in new.attributes:
            new.attributes[name] = attribute
    replace(generic, new)


def _only_sizes(generic: Generic, number: int) -> bool:
    """Whether an input only says how often loops run: it has no values, and the body does not read it."""
    owner = owner_of(generic.inputs[number])
    return not generic.reads(number) and owner is not None and owner.name == "tensor.empty"


def _plain_reads(generic: Generic) -> dict[Any, Map]:
    """The tensor.extract operations of a body that read each element of a tensor at the loops' own positions, with the
    map through which an operand does the same."""
    found: dict[Any, Map] = {}
    for inner in in_block(generic.block):
        op = inner.operation
        if op.name != "tensor.extract" or op.operands[0].type.rank == 0:
            continue
        tensor, *indices = op.operands
        loops = [_loop_at(index) for index in indices]
        sizes = [1 if loop == ONE else generic.sizes[loop] if loop is not None else -1 for loop in loops]
        if sizes == list(tensor.type.shape) and len({loop for loop in loops if loop != ONE}) == len(
            loops
        ) - loops.count(ONE):
            found[op] = tuple(loop for loop in loops if loop is not None)
    return found


def _loop_at(index: Any) -> int | None:
    """The loop whose position an index is, ONE for the constant 0; None for any other."""
    owner = index.owner
    if getattr(owner, "name", "") == "linalg.index":
        return _dim(owner)
    if getattr(owner, "name", "") == "arith.constant" and ir.IntegerAttr(owner.attributes["value"]).value == 0:
        return ONE
    return None


def _dim(inner: Any) -> int:
    return ir.IntegerAttr(inner.operation.attributes["dim"]).value


def _body(
    generic: Generic, arguments: Mapping[int, Any], at: Mapping[int, Any], elements: Mapping[Any, Any]
) -> list[Any]:
    """Clones a body to the insertion point, its index values as i64; what it yields. `arguments` are the elements of
    the operands with these numbers."""
    known: dict[Any, Any] = {generic.argument(number): value for number, value in arguments.items()}
    inside = in_block(generic.block)
    for inner in inside[:-1]:
        if inner.operation in elements:
            known[inner.operation.results[0]] = elements[inner.operation]
            continue
        with inner.operation.location:
            _operation(inner.operation, known, at)
    return [known.get(value, value) for value in inside[-1].operation.operands]


def _operation(op: Any, known: dict[Any, Any], at: Mapping[int, Any]) -> None:
    if not _has_index(op):
        clone(op, known)
        return
    result = op.results[0]
    if op.name == "linalg.index":
        known[result] = at[_dim(op)] if _dim(op) in at else _constant(0)
    elif op.name == "arith.constant":
        known[result] = _constant(ir.IntegerAttr(op.attributes["value"]).value)
    elif op.name == "tensor.extract":
        tensor, *indices = op.operands
        places = [dialect("arith").IndexCastOp(ir.IndexType.get(), _given(op, each, known)).result for each in indices]
        known[result] = dialect("tensor").ExtractOp(known.get(tensor, tensor), places).result
    elif op.name in _CASTS:
        known[result] = _cast(_given(op, op.operands[0], known), _as_integer(result.type), op.name)
    else:
        operands = [_given(op, value, known) for value in op.operands]
        types = [_as_integer(value.type) for value in op.results]
        made = ir.Operation.create(op.name, results=types, operands=operands, attributes=attributes_of(op))
        known.update(zip(op.results, made.results, strict=True))


def _given(op: Any, value: Any, known: dict[Any, Any]) -> Any:
    if value in known or not isinstance(value.type, ir.IndexType):
        return known.get(value, value)
    name = getattr(value.owner, "name", "")
    if not name.startswith(("arith.", "tensor.extract")) or name == "tensor.extract_slice":
        raise input_error(op, f"'{op.name}' in a body uses an index value that is computed outside it; expected a "
                          "constant, a position (linalg.index), or what is computed from elements")  # fmt: skip
    maker = value.owner.operation
    for operand in maker.operands:  # what is computed outside, of elements or numbers, is computed inside
        if not isinstance(operand.type, ir.RankedTensorType):
            known.setdefault(operand, _outside(operand, known))
    _operation(maker, known, {})
    return known[value]


def _outside(value: Any, known: dict[Any, Any]) -> Any:
    """A number that is computed outside a body, computed at the insertion point."""
    if isinstance(value.type, ir.IndexType):
        return _given(value.owner, value, known)
    name = getattr(value.owner, "name", "")
    if name == "arith.constant" or not name.startswith(("arith.", "tensor.extract")):
        return value
    for operand in value.owner.operands:
        if not isinstance(operand.type, ir.RankedTensorType):
            known.setdefault(operand, _outside(operand, known))
    _operation(value.owner.operation, known, {})
    return known[value]


def _constant(number: int) -> Any:
    return dialect("arith").ConstantOp(positions.number(), number).result


def _as_integer(type_: Any) -> Any:
    return positions.number() if isinstance(type_, ir.IndexType) else type_


def _cast(value: Any, type_: Any, name: str) -> Any:
    arith, before, after = dialect("arith"), value.type.width, type_.width
    if before == after:
        return value
    if before > after:
        return arith.TruncIOp(type_, value).result
    return (arith.ExtUIOp if name.endswith("ui") else arith.ExtSIOp)(type_, value).result
