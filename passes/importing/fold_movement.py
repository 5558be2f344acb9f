"""fold-movement: transposes and broadcasts disappear into the maps of what is before or after them.

Expects linalg.generic on tensors with projected-permutation maps (after drop-unit-dims and propagate-reshapes). A
generic that only moves data, that is, yields its one input, is absorbed by
- the generic that makes its input, if nothing else reads that and the movement is a permutation: the result is written
  permuted (a product gets a permuted output map, an elementwise generic other loops);
- the generics that read it: they read its input through the composed map.
Where a product makes its input and products read what it moves, along one loop each of k and of their own rows or
columns, the readers come first: heads are batches of what reads them, but columns of the product that makes them.
Likewise, if the only reader of a result is elementwise and reads it permuted, the result is written permuted. Some
movements stay, and become copies: one that is returned as it is; one whose operand alone says how often a loop runs;
one without which a product would no longer be recognised as one; and one that has weights run along the windows of an
image (`tile.windows`) as these lie.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.linalg.generics import (
    ONE,
    Generic,
    Map,
    behind,
    empty,
    erase_dead,
    fill,
    fused,
    generics,
    one_use,
    owner_of,
    producer,
    read,
    rebuild,
    replace,
    scalar_of,
    writes_once,
)
from mlir_gemm.dialect.linalg.images import runs_as_windows
from mlir_gemm.dialect.linalg.products import product_of
from mlir_gemm.passes.base import Pass


@dataclass(frozen=True)
class FoldMovement(Pass):
    """Fold transposes and broadcasts into indexing maps."""

    name: ClassVar[str] = "fold-movement"

    def run(self, module: Any) -> None:
        changed = True
        while changed:
            folded = [_fold(operation.operation) for operation in generics(module)]
            changed = any(folded)
            erase_dead(module)


def is_movement(generic: Generic) -> bool:
    """Whether a generic only moves data: all loops parallel, one input and one output, and it yields the input."""
    return (
        generic.parallel
        and len(generic.inputs) == len(generic.outputs) == 1
        and generic.yielded[0] == generic.argument(0)
        and isinstance(generic.inputs[0].type, ir.RankedTensorType)
        and writes_once(generic)
    )


def _fold(operation: Any) -> bool:
    """Folds what this generic reads into it, then this into what makes its input; whether anything changed."""
    position = 0
    changed = False
    while (generic := read(operation)) is not None and position < len(generic.inputs):
        folded = _reading_through(generic, position)
        if folded is None:
            position += 1
        else:
            operation, changed = folded, True
    generic = read(operation)
    if generic is None or not generic.parallel:
        return changed
    return (_write_moved(generic) if is_movement(generic) else _write_as_read(generic)) or changed


def _reading_through(generic: Generic, position: int) -> Any | None:
    """The generic with one input read from before the movement that makes it; None if that must stay, or is none."""
    movement = producer(generic.inputs[position])
    if movement is None or not is_movement(movement):
        return None
    new = fused(generic, position, movement)
    if new is None:
        return None
    lost = product_of(generic.operation) is not None and product_of(new) is None
    if lost or not runs_as_windows(generic, new, position):
        new.erase()
        return None
    replace(generic, new)
    if not list(movement.results[0].uses):
        movement.operation.erase()
    return new


def _write_moved(movement: Generic) -> bool:
    """A permutation of a result that nothing else reads is done where the result is made."""
    source = producer(movement.inputs[0])
    if source is None or not one_use(movement.inputs[0]) or len(source.outputs) != 1 or _is_read_in_place(movement):
        return False
    read_by, written = movement.maps[0], movement.output_maps[0]
    if len(read_by) != len(movement.sizes) or ONE in read_by or ONE in written:
        return False
    new = _permuted(source, [read_by.index(d) for d in written])
    if new is None:
        return False
    replace(movement, new)
    source.operation.erase()
    return True


def _is_read_in_place(movement: Generic) -> bool:
    """Whether a product makes what is moved, and all that read it are products that can as well read it as it was."""
    if not any(product_of(each) is not None for each in behind(movement.inputs[0])):
        return False
    before, after = movement.maps[0], movement.output_maps[0]
    neighbours = None if ONE in before else after.index(before[-1])
    return neighbours is not None and _is_read_along(movement, neighbours)


def _is_read_along(movement: Generic, neighbours: int) -> bool:
    """Whether all that read a result, perhaps moved on, are products with one loop along k and one along the rows or
    columns of this operand, of which one runs along a dimension of the result in which neighbours lie."""
    uses = list(movement.results[0].uses)
    for use in uses:
        reader, number = read(use.owner.operation), int(use.operand_number)
        if reader is None or number >= len(reader.inputs):
            return False
        loops = reader.maps[number]
        if is_movement(reader):
            written = reader.output_maps[0]
            if loops[neighbours] not in written or not _is_read_along(reader, written.index(loops[neighbours])):
                return False
        elif not _runs_along(reader, number, loops[neighbours]):
            return False
    return bool(uses)


def _runs_along(reader: Generic, number: int, neighbours: int) -> bool:
    product = product_of(reader.operation)
    if product is None:
        return False
    across = product.m if number in product.a.operands else product.n
    loops = reader.maps[number]
    own = [loop for loop in loops if loop in product.k], [loop for loop in loops if loop in across]
    return [len(each) for each in own] == [1, 1] and (neighbours in own[0] or neighbours == own[1][0] == loops[-1])


def _write_as_read(reader: Generic) -> bool:
    """A result that only an elementwise generic reads, permuted, is written in the order of that generic's loops."""
    for position, value in enumerate(reader.inputs):
        source = producer(value)
        loops = reader.maps[position]
        if source is None or not one_use(value) or len(source.outputs) != 1 or ONE in loops:
            continue
        order = sorted(range(len(loops)), key=lambda i: loops[i])
        new = None if order == list(range(len(loops))) else _permuted(source, order)
        if new is not None:
            maps = [*reader.maps[:position], tuple(sorted(loops)), *reader.maps[position + 1 :]]
            inputs = [*reader.inputs[:position], new.results[0], *reader.inputs[position + 1 :]]
            replace(reader, rebuild(reader, inputs=inputs, maps=maps))
            source.operation.erase()
            return True
    return False


def _permuted(source: Generic, order: list[int]) -> Any | None:
    """A generic that writes its result's dimensions in another order; None if its start cannot follow."""
    start = source.outputs[0]
    type_ = start.type
    shape = [type_.shape[i] for i in order]
    owner = owner_of(start)
    scalar = scalar_of(start)
    if scalar is None and (owner is None or owner.name != "tensor.empty"):
        return None
    with ir.InsertionPoint(source.operation), source.operation.location:
        output = empty(shape, type_.element_type) if scalar is None else fill(shape, type_.element_type, scalar)
    map_ = tuple(source.output_maps[0][i] for i in order)
    if source.parallel and ONE not in map_ and sorted(map_) == list(range(len(source.sizes))):
        place = {loop: i for i, loop in enumerate(map_)}
        maps: list[Map] = [tuple(ONE if d == ONE else place[d] for d in m) for m in [*source.maps[:-1], map_]]
        reductions = [source.reductions[loop] for loop in map_]
        return rebuild(source, outputs=[output], maps=maps, reductions=reductions)
    return rebuild(source, outputs=[output], maps=[*source.maps[:-1], map_])
