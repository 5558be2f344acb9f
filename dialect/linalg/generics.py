"""Reading and building linalg.generic operations: which loop runs along which dimension of which operand.

A map is a tuple with, for each dimension of an operand, the loop that runs along it, or `ONE` where that dimension has
size 1 and no loop. Only maps in which each loop stands at most once (projected permutations) are read.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.clone import clone
from mlir_gemm.dialect.linalg.structured import is_free
from mlir_gemm.dialect.walk import body, in_block, named, operations

ONE = -1
"""In a map: a dimension of size 1 that no loop runs along."""

Map = tuple[int, ...]


@dataclass(frozen=True)
class Generic:
    """A linalg.generic, read. `maps` has one entry for each input, then for each output."""

    operation: Any
    inputs: tuple[Any, ...]
    outputs: tuple[Any, ...]
    maps: tuple[Map, ...]
    reductions: tuple[bool, ...]
    """For each loop, whether it is a reduction."""
    sizes: tuple[int, ...]
    """Trip counts of the loops."""

    @property
    def block(self) -> Any:
        return body(self.operation)

    @property
    def operands(self) -> tuple[Any, ...]:
        return (*self.inputs, *self.outputs)

    @property
    def results(self) -> list[Any]:
        return list(self.operation.results)

    @property
    def parallel(self) -> bool:
        """Whether no loop is a reduction."""
        return not any(self.reductions)

    @property
    def yielded(self) -> list[Any]:
        return list(in_block(self.block)[-1].operation.operands)

    @property
    def output_maps(self) -> tuple[Map, ...]:
        return self.maps[len(self.inputs) :]

    def argument(self, position: int) -> Any:
        """The block argument of an operand."""
        return self.block.arguments[position]

    def reads(self, position: int) -> bool:
        """Whether the body uses the element of an operand."""
        return bool(list(self.block.arguments[position].uses))


def read(operation: Any, *, free: bool = False) -> Generic | None:
    """A linalg.generic on tensors or memrefs of static sizes as a Generic; None for anything else, and unless `free`
    for one whose body reads at computed places, or checks something: those stay as they are."""
    operation = operation.operation
    if operation.name != "linalg.generic" or (is_free(operation) and not free):
        return None
    operands, attributes = tuple(operation.operands), operation.attributes
    affine, kinds, parts = (attributes[name] for name in ("indexing_maps", "iterator_types", "operandSegmentSizes"))
    key = hash(affine), hash(kinds), hash(parts), *[hash(operand.type) for operand in operands]
    known = _LOOPS.setdefault(operation.context, {})
    if key not in known:
        shapes = tuple(shape_of(operand) for operand in operands)
        loops = _loops([attribute.value for attribute in affine], kinds, shapes)
        known[key] = ir.DenseI32ArrayAttr(parts)[0], loops
    count, loops = known[key]
    return None if loops is None else Generic(operation, operands[:count], operands[count:], *loops)


_Loops = tuple[tuple[Map, ...], tuple[bool, ...], tuple[int, ...]]
_LOOPS: weakref.WeakKeyDictionary[Any, dict[tuple[int, ...], tuple[int, _Loops | None]]] = weakref.WeakKeyDictionary()
"""By context, what maps, kinds of loops, numbers of inputs and types come to, and the number of inputs: passes read the
same few again and again. Attributes and types live as long as their context and are hashed by their address, so the
hashes are what they are known by; a handle would keep the context."""


def _loops(affine: Sequence[Any], kinds: Any, shapes: Sequence[tuple[int, ...] | None]) -> _Loops | None:
    """The maps, which loops are reductions, and their sizes."""
    reductions = tuple("reduction" in str(kind) for kind in kinds)
    if any(shape is None for shape in shapes):
        return None
    sizes = _sizes(affine, shapes, len(reductions))
    if sizes is None:
        return None
    maps = [_map(map_, shape or (), sizes) for map_, shape in zip(affine, shapes, strict=True)]
    known = tuple(map_ for map_ in maps if map_ is not None)
    if len(known) < len(maps):
        return None
    return known, reductions, sizes


def shape_of(value: Any) -> tuple[int, ...] | None:
    """The sizes of a tensor or memref, () for a scalar, None where a size is dynamic."""
    if not isinstance(value.type, (ir.RankedTensorType, ir.MemRefType)):
        return ()
    return tuple(value.type.shape) if value.type.has_static_shape else None


def element_of(value: Any) -> Any:
    """The element type of a tensor or memref, the type itself of a scalar."""
    return value.type.element_type if isinstance(value.type, (ir.RankedTensorType, ir.MemRefType)) else value.type


def _sizes(maps: Sequence[Any], shapes: Sequence[Any], loops: int) -> tuple[int, ...] | None:
    sizes: dict[int, int] = {}
    for map_, shape in zip(maps, shapes, strict=True):
        for expression, size in zip(map_.results, shape, strict=True):
            if isinstance(expression, ir.AffineDimExpr):
                sizes[ir.AffineDimExpr(expression).position] = size
    return tuple(sizes[i] for i in range(loops)) if len(sizes) == loops else None


def _map(map_: Any, shape: Sequence[int], sizes: Sequence[int]) -> Map | None:
    loops: list[int] = []
    for expression, size in zip(map_.results, shape, strict=True):
        loop = _loop(expression, sizes)
        if loop is None or (loop == ONE and size != 1) or (loop != ONE and (loop in loops or size != sizes[loop])):
            return None
        loops.append(loop)
    return tuple(loops)


def _loop(expression: Any, sizes: Sequence[int]) -> int | None:
    """The one loop an expression stands for. In a sum (a convolution's `h + kh`), loops of one trip do not count."""
    if isinstance(expression, ir.AffineDimExpr):
        return ir.AffineDimExpr(expression).position
    if isinstance(expression, ir.AffineConstantExpr):
        return ONE if ir.AffineConstantExpr(expression).value == 0 else None
    if not isinstance(expression, ir.AffineAddExpr):
        return None
    sides = [_loop(side, sizes) for side in (ir.AffineAddExpr(expression).lhs, ir.AffineAddExpr(expression).rhs)]
    if None in sides:
        return None
    left = [side for side in sides if side is not None and side != ONE and sizes[side] != 1]
    return ONE if not left else left[0] if len(left) == 1 else None


def affine_map(map_: Map, loops: int) -> Any:
    """A map as the attribute of MLIR."""
    results = [ir.AffineConstantExpr.get(0) if d == ONE else ir.AffineDimExpr.get(d) for d in map_]
    return ir.AffineMapAttr.get(ir.AffineMap.get(loops, 0, results))


def build(
    inputs: Sequence[Any],
    outputs: Sequence[Any],
    maps: Sequence[Map],
    reductions: Sequence[bool],
    emit: Callable[[list[Any]], Sequence[Any]],
) -> Any:
    """A linalg.generic on tensors at the insertion point; `emit` writes its body and returns what it yields.

    Operands that are the same tensor read through the same map become one.
    """
    inputs, maps, places = _merged(list(inputs), list(maps), len(outputs))
    kinds = ["reduction" if reduction else "parallel" for reduction in reductions]
    generic = ir.Operation.create(
        "linalg.generic",
        results=[output.type for output in outputs],
        operands=[*inputs, *outputs],
        attributes={
            "indexing_maps": ir.ArrayAttr.get([affine_map(map_, len(kinds)) for map_ in maps]),
            "iterator_types": ir.ArrayAttr.get([ir.Attribute.parse(f"#linalg.iterator_type<{k}>") for k in kinds]),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(inputs), len(outputs)]),
        },
        regions=1,
    )
    block = generic.regions[0].blocks.append(*[element_of(operand) for operand in [*inputs, *outputs]])
    with ir.InsertionPoint(block):
        ir.Operation.create("linalg.yield", operands=list(emit([block.arguments[place] for place in places])))
    return generic


def _merged(inputs: list[Any], maps: list[Map], outputs: int) -> tuple[list[Any], list[Map], list[int]]:
    """Inputs and maps without repetition, and for each operand that there was the place where it is now."""
    kept: list[Any] = []
    kept_maps: list[Map] = []
    places: list[int] = []
    for value, map_ in zip(inputs, maps, strict=False):
        same = [i for i, other in enumerate(kept) if other == value and kept_maps[i] == map_]
        places.append(same[0] if same else len(kept))
        if not same:
            kept.append(value)
            kept_maps.append(map_)
    places += range(len(kept), len(kept) + outputs)
    return kept, [*kept_maps, *maps[len(inputs) :]], places


def inline(generic: Generic, values: Sequence[Any]) -> list[Any]:
    """Clones a generic's body to the insertion point with its block arguments replaced; returns what it yields."""
    known: dict[Any, Any] = dict(zip(generic.block.arguments, values, strict=True))
    for operation in in_block(generic.block)[:-1]:
        clone(operation, known)
    return [known.get(value, value) for value in generic.yielded]


def rebuild(
    generic: Generic,
    *,
    inputs: Sequence[Any] | None = None,
    outputs: Sequence[Any] | None = None,
    maps: Sequence[Map] | None = None,
    reductions: Sequence[bool] | None = None,
) -> Any:
    """The same body on other operands, maps or loops, before the old operation and with its location."""
    with ir.InsertionPoint(generic.operation), generic.operation.location:
        return build(
            generic.inputs if inputs is None else inputs,
            generic.outputs if outputs is None else outputs,
            generic.maps if maps is None else maps,
            generic.reductions if reductions is None else reductions,
            lambda arguments: inline(generic, arguments),
        )


def composed(map_: Map, written: Map, loops: Map) -> Map:
    """The map through which a consumer reads a producer's operand.

    `map_` is the operand's in the producer, which writes through `written` (a permutation of its loops) what the
    consumer reads through `loops`.
    """
    return tuple(ONE if loop == ONE else loops[written.index(loop)] for loop in map_)


def writes_once(generic: Generic) -> bool:
    """Whether a generic is elementwise and computes its one result, element by element, from its inputs alone."""
    return (
        generic.parallel
        and len(generic.outputs) == 1
        and sorted(generic.output_maps[0]) == list(range(len(generic.sizes)))
        and not generic.reads(len(generic.inputs))
    )


def fused(consumer: Generic, position: int, source: Generic) -> Any | None:
    """The consumer with an elementwise producer computed in its body, before it; None if a loop lost its bounds.

    `source` must be the producer of the input at `position`, and `writes_once`. Neither is erased.
    """
    loops, written = consumer.maps[position], source.output_maps[0]
    inputs = [*consumer.inputs[:position], *source.inputs, *consumer.inputs[position + 1 :]]
    own = [composed(map_, written, loops) for map_ in source.maps[:-1]]
    maps = [*consumer.maps[:position], *own, *consumer.maps[position + 1 :]]
    if len({loop for map_ in maps for loop in map_} - {ONE}) < len(consumer.sizes):
        return None

    def emit(arguments: list[Any]) -> list[Any]:
        end = position + len(source.inputs)
        value = inline(source, [*arguments[position:end], None])[0]
        return inline(consumer, [*arguments[:position], value, *arguments[end:]])

    with ir.InsertionPoint(consumer.operation), consumer.operation.location:
        return build(inputs, consumer.outputs, maps, consumer.reductions, emit)


def behind(value: Any) -> list[Any]:
    """The reductions whose results reach a tensor through elementwise generics alone, each once.

    A result that some reduction reads, or that leaves the function, is in memory: nothing is reached through it.
    """
    source = producer(value)
    if source is None:
        return []
    if not source.parallel:
        return [source.operation]
    found = [each for operand in source.inputs if not _stored(operand) for each in behind(operand)]
    return list(dict.fromkeys(found))


def _stored(value: Any) -> bool:
    """Whether an elementwise result is needed in memory."""
    source = producer(value)
    if source is None or not source.parallel:
        return False
    users = [read(use.owner.operation) for use in value.uses]
    return any(user is None or not user.parallel for user in users)


def replace(generic: Generic, new: Any) -> None:
    """Puts a new operation's results in place of a generic's, and erases the generic."""
    for old, result in zip(generic.results, new.results, strict=True):
        old.replace_all_uses_with(result)
    generic.operation.erase()


def empty(shape: Sequence[int], element: Any) -> Any:
    """A tensor.empty at the insertion point."""
    return dialect("tensor").EmptyOp(list(shape), element).result


def fill(shape: Sequence[int], element: Any, scalar: Any) -> Any:
    """A linalg.fill of a new tensor with a scalar value, at the insertion point."""
    output = empty(shape, element)
    operation = ir.Operation.create(
        "linalg.fill",
        results=[output.type],
        operands=[scalar, output],
        attributes={"operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 1])},
        regions=1,
    )
    block = operation.regions[0].blocks.append(scalar.type, element)
    with ir.InsertionPoint(block):
        ir.Operation.create("linalg.yield", operands=[block.arguments[0]])
    return operation.results[0]


def zero(shape: Sequence[int], element: Any) -> Any:
    """A tensor filled with zeros, at the insertion point."""
    value = ir.IntegerAttr.get(element, 0) if isinstance(element, ir.IntegerType) else ir.FloatAttr.get(element, 0.0)
    return fill(shape, element, dialect("arith").ConstantOp(element, value).result)


def generics(module: Any) -> list[Any]:
    """The linalg.generic operations on tensors of a module, in program order."""
    return [operation for operation in named(module, "linalg.generic") if len(operation.operation.results)]


def one_use(value: Any) -> bool:
    """Whether exactly one operand, of one operation, is this value."""
    return len(list(value.uses)) == 1


def owner_of(value: Any) -> Any | None:
    """The operation that makes a value; None for a block argument."""
    owner = value.owner
    return None if hasattr(owner, "operations") else owner.operation


def producer(value: Any) -> Generic | None:
    """The generic that makes a tensor, read; None if something else makes it."""
    owner = owner_of(value)
    return read(owner) if owner is not None and isinstance(value.type, ir.RankedTensorType) else None


def scalar_of(value: Any) -> Any | None:
    """The scalar value that a linalg.fill puts everywhere into a tensor; None if the tensor comes from elsewhere."""
    owner = owner_of(value)
    return owner.operands[0] if owner is not None and owner.name == "linalg.fill" else None


_PURE = ("arith.", "math.", "tensor.", "linalg.", "bufferization.to_tensor", "tile.position", "tile.windows")


def erase_dead(module: Any) -> None:
    """Erases operations on tensors and scalars whose results nobody uses. Hold no handles across this."""
    for operation in reversed(list(operations(module))):
        op = operation.operation
        if not op.name.startswith(_PURE) or not len(op.results):
            continue
        if not any(True for result in op.results for _ in result.uses):
            op.erase()
