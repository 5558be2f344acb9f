"""Reading and making linalg operations: loops, indexing maps and bodies, on tensors and memrefs alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from mlir_gemm.dialect import affine
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.clone import clone
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.walk import body, in_block, operations

_MATMUL = ("(d0, d1, d2) -> (d0, d2)", "(d0, d1, d2) -> (d2, d1)", "(d0, d1, d2) -> (d0, d1)")
_PARALLEL, _REDUCTION = "parallel", "reduction"


FREE = ("tensor.extract", "memref.load", "cf.assert")
"""Operations of a body other than arithmetic on its elements: reads at computed places, and checks. Such an
operation is a kernel of its own."""


@dataclass(frozen=True)
class Generic:
    """A linalg.generic, linalg.matmul or linalg.copy, read."""

    op: Any
    inputs: tuple[Any, ...]
    outputs: tuple[Any, ...]
    maps: tuple[Any, ...]
    """One for each operand, the inputs' first."""
    parallel: tuple[bool, ...]
    """Whether each loop is parallel; a reduction otherwise."""
    body: Any

    @property
    def operands(self) -> tuple[Any, ...]:
        """Inputs, then outputs."""
        return (*self.inputs, *self.outputs)

    @property
    def elementwise(self) -> bool:
        """Whether no loop is a reduction."""
        return all(self.parallel)

    @property
    def yielded(self) -> tuple[Any, ...]:
        """The values that the body computes, one for each output."""
        return tuple(in_block(self.body)[-1].operation.operands)

    def reads(self, position: int) -> bool:
        """Whether the body uses the old value of an operand."""
        return any(True for _ in self.body.arguments[position].uses)


def is_generic(operation: Any) -> bool:
    """Whether `read` takes an operation."""
    return operation.operation.name in ("linalg.generic", "linalg.matmul", "linalg.copy")


def read(operation: Any) -> Generic:
    """A linalg.generic, linalg.matmul or linalg.copy as what it consists of."""
    op = operation.operation
    operands = tuple(op.operands)
    count = ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])[0]
    if "indexing_maps" in op.attributes:
        maps = tuple(map_.value for map_ in ir.ArrayAttr(op.attributes["indexing_maps"]))
    elif op.name == "linalg.copy":
        maps = (ir.AffineMap.get_identity(len(operands[0].type.shape)),) * 2
    else:
        maps = tuple(ir.AffineMapAttr(ir.Attribute.parse(f"affine_map<{text}>")).value for text in _MATMUL)
    if op.name == "linalg.generic":
        parallel = tuple(_PARALLEL in str(kind) for kind in op.attributes["iterator_types"])
    elif op.name == "linalg.copy":
        parallel = (True,) * maps[0].n_dims
    else:
        parallel = (True, True, False)
    return Generic(op, operands[:count], operands[count:], maps, parallel, body(op))


def is_free(operation: Any) -> bool:
    """Whether the body of a linalg operation reads at computed places, or checks what it computes."""
    return any(inner.operation.name in FREE for inner in in_block(body(operation)))


def read_anywhere(operation: Any) -> list[Any]:
    """The tensors or memrefs that a body reads at places that it computes, each once."""
    found = [inner.operation.operands[0] for inner in in_block(body(operation)) if inner.operation.name in FREE[:2]]
    return list(dict.fromkeys(found))


def sources(operation: Any) -> list[Any]:
    """All that an operation of linalg takes: its operands, and what its body reads."""
    return [*operation.operation.operands, *read_anywhere(operation)]


def linear_accesses(generic: Generic) -> list[list[affine.Linear]]:
    """For each operand its index along each dimension, as a sum over the loops, which are named by their numbers.

    Raises PassError for an index that is no such sum (a quotient, or one that runs backwards).
    """
    loops = [affine.Linear({number: 1}) for number in range(len(generic.parallel))]
    found: list[list[affine.Linear]] = []
    for map_ in generic.maps:
        indices = [affine.linear_of_expr(expression, loops) for expression in map_.results]
        good = [index for index in indices if index is not None and min(index.terms.values(), default=0) >= 0]
        if len(good) != len(indices):
            raise pass_error(generic.op, f"indexing map {map_}; expected indices that are sums of loops")
        found.append(good)
    return found


def sizes_of(generic: Generic) -> tuple[int, ...]:
    """The trip count of each loop. Raises PassError when the operands do not tell them."""
    sizes: dict[int, int] = {}
    for operand, indices in zip(generic.operands, linear_accesses(generic), strict=True):
        shape = ir.ShapedType(operand.type).shape if isinstance(operand.type, ir.ShapedType) else ()
        for size, index in zip(shape, indices, strict=True):
            if list(index.terms.values()) == [1] and not index.constant:
                sizes.setdefault(next(iter(index.terms)), size)
    missing = [f"d{number}" for number in range(len(generic.parallel)) if number not in sizes]
    if missing:
        raise pass_error(generic.op, f"no operand has a dimension of the size of {', '.join(missing)} alone")
    return tuple(sizes[number] for number in range(len(generic.parallel)))


def make(
    inputs: Sequence[Any], outputs: Sequence[Any], maps: Sequence[Any], parallel: Sequence[bool]
) -> tuple[Any, Any]:
    """A linalg.generic at the insertion point; the operation and its block, which is still empty."""
    kinds = [_PARALLEL if each else _REDUCTION for each in parallel]
    results = [value.type for value in outputs if isinstance(value.type, ir.RankedTensorType)]
    generic = ir.Operation.create(
        "linalg.generic",
        results=results,
        operands=[*inputs, *outputs],
        attributes={
            "indexing_maps": ir.ArrayAttr.get([ir.AffineMapAttr.get(map_) for map_ in maps]),
            "iterator_types": ir.ArrayAttr.get([ir.Attribute.parse(f"#linalg.iterator_type<{k}>") for k in kinds]),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(inputs), len(outputs)]),
        },
        regions=1,
    )
    return generic, generic.regions[0].blocks.append(*(element_of(value) for value in (*inputs, *outputs)))


def element_of(value: Any) -> Any:
    """The type of what a body sees of an operand: an element, or the scalar itself."""
    return ir.ShapedType(value.type).element_type if isinstance(value.type, ir.ShapedType) else value.type


def clone_body(block: Any, source: Generic, values: dict[Any, Any]) -> None:
    """Clones the body of `source` to the end of the empty `block` of another linalg.generic.

    `values` says what its arguments become, and is added to. Constants, from inside or around `source`, are cloned in
    front of the new operation.
    """
    inside = [inner for inner in in_block(source.body) if inner.operation.name == "arith.constant"]
    with ir.InsertionPoint(block.owner):
        for owner in [*(value.owner for value in captured(source)), *inside]:
            if owner.operation.results[0] not in values:
                clone(owner, values)
    with ir.InsertionPoint(block):
        for inner in in_block(source.body):
            if inner.operation.name == "tensor.extract":
                _load(inner.operation, values)
            elif inner.operation.name != "arith.constant":
                clone(inner, values)


def _load(extract: Any, values: dict[Any, Any]) -> None:
    """A tensor.extract as a load, where the tensor has become a memref."""
    memory, *indices = (values.get(value, value) for value in extract.operands)
    if isinstance(memory.type, ir.MemRefType):
        with extract.location:
            loaded = ir.Operation.create("memref.load", [extract.results[0].type], [memory, *indices])
        values[extract.results[0]] = loaded.results[0]
    else:
        clone(extract, values)


def captured(source: Generic) -> Iterator[Any]:
    """The values from outside that a body uses. Raises PassError for one that is not a constant."""
    inside = {value for inner in operations(source.op) for value in inner.operation.results}
    inside |= set(source.body.arguments)
    for inner in operations(source.op):
        for value in inner.operation.operands:
            if value in inside or isinstance(value.type, ir.RankedTensorType | ir.MemRefType):
                continue
            if getattr(value.owner, "name", "") != "arith.constant":
                raise pass_error(inner, f"'{inner.operation.name}' uses a value from outside its linalg.generic")
            yield value


def yield_(values: Sequence[Any]) -> None:
    """The terminator of a linalg body."""
    ir.Operation.create("linalg.yield", operands=list(values))


def make_copy(source: Any, target: Any) -> Any:
    """A linalg.generic at the insertion point that copies all of a tensor or memref to one of the same shape."""
    rank = len(ir.ShapedType(target.type).shape)
    identity = ir.AffineMap.get_identity(rank)
    generic, block = make([source], [target], [identity, identity], [True] * rank)
    with ir.InsertionPoint(block):
        yield_([block.arguments[0]])
    return generic


def make_named(name: str, source: Any, target: Any) -> Any:
    """A linalg.fill or linalg.copy of memrefs at the insertion point."""
    segments = ir.DenseI32ArrayAttr.get([1, 1])
    op = ir.Operation.create(name, operands=[source, target], attributes={"operandSegmentSizes": segments}, regions=1)
    block = op.regions[0].blocks.append(element_of(source), element_of(target))
    with ir.InsertionPoint(block):
        yield_([block.arguments[0]])
    return op
