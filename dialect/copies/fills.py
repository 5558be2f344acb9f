"""How a k loop fills its staging buffers: by tile.copy, or by a chain of loads and arithmetic that ends in
tile.store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mlir_gemm.dialect import affine, constants, tile
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.clone import clone, clone_slice
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.walk import body, computed_from, defined_within, in_block, operations, users
from mlir_gemm.spec.attributes import SCOPE


@dataclass(frozen=True)
class Fill:
    """What fills one staging buffer in a step of a k loop."""

    operation: Any
    """The tile.copy, or the tile.store of a computed tile."""
    chain: tuple[Any, ...]
    """What computes the tile that is stored, in order; loads among it. Nothing for a copy."""

    @property
    def target(self) -> Any:
        """The buffer, or the stage of it."""
        return self.operation.operands[0] if self.is_copy else self.operation.operands[1]

    @property
    def is_copy(self) -> bool:
        """Whether the tile is stored as it was loaded."""
        return self.operation.name == "tile.copy"

    @property
    def members(self) -> tuple[Any, ...]:
        """All its operations, in order."""
        return (*self.chain, self.operation)


def fills_of(loop: Any) -> list[Fill]:
    """The fills directly in a loop, in order. Raises PassError for a computed tile that is used for more than that."""
    fills: list[Fill] = []
    for op in (each.operation for each in in_block(body(loop))):
        if op.name == "tile.copy":
            fills.append(Fill(op, ()))
        elif op.name == "tile.store" and SCOPE not in op.attributes and op.operands[1].type.memory_space is not None:
            fills.append(Fill(op, tuple(_chain(op, body(loop)))))
    members = {member for fill in fills for member in fill.members}
    for member in members:
        strangers = [user for result in member.results for user in users(result) if user not in members]
        if strangers:
            raise pass_error(strangers[0], "this uses a tile that is computed to be staged; expected only its store")
    return fills


def _chain(store: Any, block: Any) -> list[Any]:
    """The operations in a block that compute the stored tile, except values that are the same everywhere in it."""
    found: set[Any] = set()
    pending = [store.operands[0]]
    while pending:
        value = pending.pop()
        if not isinstance(value.type, ir.VectorType) or hasattr(value.owner, "operations"):
            continue
        op = value.owner.operation
        takes_tiles = any(isinstance(operand.type, ir.VectorType) for operand in op.operands)
        if op in found or op.block != block or not (takes_tiles or op.name == "tile.load"):
            continue
        if op.name == "tile.load" and op.operands[0].type.memory_space is not None:
            raise pass_error(op, "a staged tile that is computed from shared memory; expected global memory")
        found.add(op)
        pending += op.operands
    return [op.operation for op in in_block(block) if op.operation in found]


def check_filled_first(loop: Any, fills: list[Fill]) -> None:
    """Raises PassError if something in the loop uses a staging buffer before all of them are filled."""
    targets = {fill.target for fill in fills}
    own = {member for fill in fills for member in fill.members}
    inside = [op.operation for op in in_block(body(loop))]
    for operation in inside[: inside.index(fills[-1].operation)]:
        used = {value for each in [operation, *operations(operation)] for value in each.operation.operands}
        if operation not in own and used & targets:
            raise pass_error(operation, f"this uses a staging buffer before the last {_name(fills[-1])} of the step")


def _name(fill: Fill) -> str:
    return fill.operation.name


def check_independent(loop: Any, fills: list[Fill]) -> None:
    """Raises PassError if a fill depends on what the loop carries: it could not be made ahead of its step."""
    for fill in fills:
        for member in fill.members:
            carried = list(body(loop).arguments)[1:]
            if any(computed_from(value, each) for value in member.operands for each in carried):
                raise pass_error(member, "a copy that depends on what the k loop carries cannot be made a step ahead")


def check_guarded(loop: Any, fills: list[Fill]) -> None:
    """Raises PassError if a fill could not be made for a step that a loop of unknown length may not have: it reads
    memory without asking whether the step's tile lies within it."""
    iv = affine.induction_variable(loop)
    for fill in fills:
        for member in fill.members:
            if member.name not in ("tile.copy", "tile.load"):
                continue
            for offset in tile.place_of(member).known:
                if affine.linear_of(offset).coefficient(iv):
                    raise pass_error(
                        member, "a copy that is known to be in bounds, in a loop of as many steps as are known at run "
                        "time only, cannot be made for steps that there may not be"
                    )  # fmt: skip


def rotates(fill: Fill, loop: Any) -> bool:
    """Whether a fill's target changes from step to step: a stage of a larger buffer, at an offset made in the loop."""
    owner = fill.target.owner
    if getattr(owner, "name", "") != "memref.subview":
        return False
    _, *offsets = owner.operands
    return any(defined_within(offset, loop) for offset in offsets)


def at_step(operation: Any, loop: Any, values: dict[Any, Any]) -> Any:
    """A clone at the insertion point of an operation of the loop, and of what it is computed from, for another step.

    `values` says what stands for the values of that step, its number among them; the clones' results are added.
    """
    clone_slice(operation.operands, body(loop), values)
    return clone(operation, values)


def copy_at_step(fill: Fill, loop: Any, values: dict[Any, Any]) -> tuple[Any, Any, tile.Place]:
    """Target, source and place of a tile.copy as they are in another step."""
    target, source, *offsets = clone_slice(fill.operation.operands, body(loop), values)
    place = tile.place_of(fill.operation)
    return target, source, tile.Place(tuple(offsets), place.dims, place.in_bounds)


def compute(loop: Any, fills: list[Fill], values: dict[Any, Any]) -> list[Any]:
    """Everything in the loop but its fills, at the insertion point; returns what the step yields.

    `values` says what stands for the loop's arguments, and perhaps for more.
    """
    own = {member for fill in fills for member in fill.members}
    *inside, terminator = in_block(body(loop))
    for operation in inside:
        if operation.operation not in own and not _known(operation, values):
            clone(operation, values)
    return [values.get(value, value) for value in terminator.operation.operands]


def _known(operation: Any, values: dict[Any, Any]) -> bool:
    results = list(operation.operation.results)
    return bool(results) and all(result in values for result in results)


def load_ahead(fill: Fill, loop: Any, values: dict[Any, Any]) -> Any:
    """Loads what a fill needs for the step that `values` stands for. For a copy: the tile and where it goes."""
    if fill.is_copy:
        target, source, place = copy_at_step(fill, loop, values)
        return tile.load(source, place, ir.VectorType.get(target.type.shape, target.type.element_type)), target
    for member in fill.chain:
        if member.name == "tile.load" and member.results[0] not in values:
            at_step(member, loop, values)
    return None


def store_loaded(fill: Fill, loop: Any, values: dict[Any, Any], loaded: Any) -> None:
    """Stores what was loaded, after the arithmetic on it."""
    if loaded is not None:
        tile_, target = loaded
        rank = len(target.type.shape)
        tile.store(tile_, target, tile.Place.at([constants.index(0)] * rank, rank, in_bounds=True))
        return
    for member in fill.members:
        if not member.results or member.results[0] not in values:
            at_step(member, loop, values)
