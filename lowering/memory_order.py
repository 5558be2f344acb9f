"""The order of accesses to memory by warp tiles: what may be moved, and what would be a race between lanes."""

from __future__ import annotations

from typing import Any

from mlir_gemm.dialect import constants, tile
from mlir_gemm.dialect.accumulator_flow import is_elementwise
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.memory import in_shared
from mlir_gemm.dialect.stores import STORES
from mlir_gemm.dialect.walk import ancestor_in, in_block, operations, users


def root_of(memory: Any) -> Any:
    """The memref that a memref is a view of."""
    while not hasattr(memory.owner, "operations") and memory.owner.name in ("memref.subview", "memref.view"):
        memory = memory.owner.operation.operands[0]
    return memory


def check_order(accesses: list[Any]) -> None:
    """Refuses two accesses of warp tiles to the same memory, one of them a store, that may overlap without being of the
    same place: an element would go from one lane to another, in no order."""
    stores = [op for op in accesses if op.operation.name in STORES]
    for store in stores:
        for other in accesses:
            memory, own = tile.memory_of(other), tile.memory_of(store)
            if root_of(memory) != root_of(own) or other.operation == store.operation:
                continue
            both = other.operation.name in STORES and (tile.is_apart(store) or tile.is_apart(other))
            apart = both or _disjoint(store, other)
            if memory != own or not (apart or _same(store, other)):
                raise pass_error(
                    other,
                    f"this accesses memory that another '{store.operation.name}' writes at another place, so that "
                    "lanes would read what others write; give one of them its own memory",
                )


def _same(left: Any, right: Any) -> bool:
    """Whether two tiles lie at the same place of a memory."""
    one, two = tile.place_of(left), tile.place_of(right)
    return one.dims == two.dims and all(map(_equal, one.offsets, two.offsets))


def _disjoint(left: Any, right: Any) -> bool:
    """Whether two tiles lie at different constant indices of some dimension that neither runs along, or beside each
    other along one that both do."""
    one, two = tile.place_of(left), tile.place_of(right)
    pairs = list(zip(one.dims, two.dims, one.offsets, two.offsets, strict=True))
    numbers = [(constants.integer_of(a), constants.integer_of(b)) for i, j, a, b in pairs if i == j == -1]
    if any(a is not None and b is not None and a != b for a, b in numbers):
        return True
    for i, j, a, b in pairs:
        if i == j >= 0:
            (first, one_at), (second, two_at) = _apart_from(a), _apart_from(b)
            size = _extent(left, i) if one_at < two_at else _extent(right, i)
            if abs(one_at - two_at) >= size and _equal(first, second):
                return True
    return False


def _apart_from(offset: Any) -> tuple[Any, int]:
    """An offset as another value and a constant distance from it."""
    total = 0
    while not hasattr(offset.owner, "operations") and offset.owner.name == "arith.addi":
        distance = constants.integer_of(offset.owner.operation.operands[1])
        if distance is None:
            break
        offset, total = offset.owner.operation.operands[0], total + distance
    return offset, total


def _extent(access: Any, dim: int) -> int:
    """The size of an access's tile along a dimension."""
    op = access.operation
    return (op.operands[0] if op.name in STORES else op.results[0]).type.shape[dim]


def _equal(left: Any, right: Any, depth: int = 16) -> bool:
    """Whether two index values are the same value, or are computed alike."""
    if left == right:
        return True
    if not depth or hasattr(left.owner, "operations") or hasattr(right.owner, "operations"):
        return False
    one, two = left.owner.operation, right.owner.operation
    if one.name != two.name or not one.name.startswith("arith.") or len(one.operands) != len(two.operands):
        return False
    if one.name == "arith.constant":
        return one.attributes["value"] == two.attributes["value"]
    if one.name not in ("arith.addi", "arith.subi", "arith.muli", "arith.divui", "arith.remui"):
        return False
    return all(_equal(a, b, depth - 1) for a, b in zip(one.operands, two.operands, strict=True))


def sink_starts(kernel: Any, flow: dict[Any, None]) -> None:
    """Moves loads, and what is computed only from loads and constants, down to the first use, unless something between
    may write what is loaded: values that are used only after the k loop would otherwise take registers in it."""
    starts: dict[Any, None] = {}
    for operation in operations(kernel):
        op = operation.operation
        if not any(value in flow for value in op.results):
            continue
        inputs = [value for value in op.operands if value in flow]
        if op.name == "tile.load" and in_shared(tile.memory_of(op)):
            continue  # what is there is replaced by something else, after a barrier
        if op.name == "tile.load" or (is_elementwise(op) and inputs and all(_starts(v, starts) for v in inputs)):
            starts[op] = None
    for op in reversed(list(starts)):
        _sink(op)


def _starts(value: Any, starts: dict[Any, None]) -> bool:
    owner = value.owner
    return not hasattr(owner, "operations") and (
        owner.name in ("arith.constant", "vector.broadcast") or owner.operation in starts
    )


def _sink(op: Any) -> None:
    block = op.block
    targets = [ancestor_in(block, user) for result in op.results for user in users(result)]
    order = {other.operation: number for number, other in enumerate(in_block(block))}
    places = [order[target] for target in targets if target is not None]
    if not places or len(places) < len(targets):
        return
    between = in_block(block)[order[op] + 1 : min(places)]
    if op.name == "tile.load" and any(_may_write(other, op) for other in between):
        return
    if between:
        op.move_after(between[-1])


def _may_write(other: Any, load: Any) -> bool:
    """Whether an operation, or one in it, may write what a tile.load reads."""
    root = root_of(tile.memory_of(load))
    for op in [other, *operations(other)]:
        name = op.operation.name
        if name in (*STORES, "tile.copy", "tile.copy_async", "memref.store", "vector.store", "memref.copy"):
            written = op.operation.operands[0 if name in ("tile.copy", "tile.copy_async") else 1]
            if root_of(written) == root:
                return True
        elif name.startswith(("func.", "memref.atomic", "gpu.subgroup", "nvgpu.", "llvm.", "linalg.")):
            return True
    return False
