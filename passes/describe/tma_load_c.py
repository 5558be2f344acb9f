"""tma-load-c: what the epilogue adds comes to shared memory by the copy engine (TMA) while the products are computed.

Expects, in the consumer of a tile.warp_specialize, tile.load of warpgroups' tiles from global memory that are used
after the products. Leaves for each a buffer of its own for every warpgroup, in panels (`swizzle128`, `swizzle64` or
`swizzle32`), and a ring of one stage for each warpgroup: before a tile's first wait one thread of the warpgroup
announces the bytes of all (tile.producer_acquire) and starts the copies (tile.tma_load); where the first load stood,
the warpgroup waits (tile.consumer_wait), and loads from the buffers. A loop over tiles carries the phase, and at the
end of a tile the buffers are handed back (tile.consumer_release). So C passes no registers, and no lane computes
addresses for it. Loads whose place is known after the products only, and is no index arithmetic, stay as they are, as
do those of elements other than 16 or 32 bits, of rows that no panels divide, of memory that the copy engine cannot read
or whose rows run down the tile, and all of a kernel whose products take A through registers: its lanes have other rows.
A second run changes nothing. Refuses a loop over blocks that does not say among how many warps its tiles are divided,
and roles without a ring.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

from mlir_gemm.dialect import constants, indexing, rings, tile
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.clone import attributes_of
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.memory import in_shared, shared_buffer, subview
from mlir_gemm.dialect.rings import swizzle_of
from mlir_gemm.dialect.walk import ancestor_in, body, in_block, is_within, named, users
from mlir_gemm.lowering.wgmma import through_registers
from mlir_gemm.passes.base import Pass
from mlir_gemm.passes.describe.create_tensor_maps import cannot_describe
from mlir_gemm.passes.parallelize.prefetch_c import bring, can_stand
from mlir_gemm.spec.attributes import SCOPE, TILES, WARPS
from mlir_gemm.spec.threads import UNITS, WARPGROUP

WIDTHS = (16, 32)
"""Bits of the elements that are copied so."""
_STARTS = ("tile.order_wait", "tile.consumer_wait", "memref.subview")
"""What a consumer does before its first product: the copies come before it."""


@dataclass(frozen=True)
class TmaLoadC(Pass):
    """Copy what the epilogue adds by the copy engine."""

    name: ClassVar[str] = "tma-load-c"

    def run(self, module: Any) -> None:
        for forall in named(module, "scf.forall"):
            for roles in named(forall, "tile.warp_specialize"):
                _stage(forall, roles.operation)


def _stage(forall: Any, roles: Any) -> None:
    consumer = roles.regions[1].blocks[0]
    products = [op.operation for op in named(roles, "tile.mma") if ancestor_in(consumer, op) is not None]
    if not products or any(through_registers(product) for product in products):
        return
    block = _block_of_tile(consumer)
    inside = [op.operation for op in in_block(block)]
    ends = [inside.index(end) for product in products if (end := ancestor_in(block, product)) is not None]
    if not ends:
        return
    first = min(ends)
    while first and inside[first - 1].name in _STARTS:
        first -= 1
    behind = [op for op in inside if op.name == "tile.load" and _can_stage(op) and _first_use(op, inside) > max(ends)]
    loads = [op for op in behind if all(can_stand(value, inside[first]) for value in op.operands)]
    if not loads:
        return
    for load in loads:
        if inside.index(load) < max(ends):
            load.move_before(inside[_first_use(load, inside)])
    if WARPS not in forall.operation.attributes:
        raise pass_error(forall, f"blocks without '{WARPS}', by which distribute-warps says how many warps there are")
    _Copies(forall, roles, block, loads).build(inside[first])


def _block_of_tile(consumer: Any) -> Any:
    """What a consumer does for a tile: the body of its loop over tiles, where it has one."""
    loops = [op.operation for op in in_block(consumer) if op.operation.name == "scf.for" and TILES in op.attributes]
    return body(loops[0]) if loops else consumer


def _first_use(load: Any, inside: list[Any]) -> int:
    """Where among the operations of its block what is loaded is needed first."""
    return min((inside.index(ancestor_in(load.block, user)) for user in users(load.results[0])), default=-1)


def _can_stage(load: Any) -> bool:
    memory, type_, place = load.operands[0], load.results[0].type, tile.place_of(load)
    return (
        SCOPE in load.attributes
        and ir.StringAttr(load.attributes[SCOPE]).value == "warpgroup"
        and isinstance(memory.type, ir.MemRefType)
        and not in_shared(memory)
        and type_.element_type.width in WIDTHS
        and memory.type.element_type == type_.element_type
        and [dim for dim in place.dims if dim >= 0] == [0, 1]
        and place.dims[-1] == 1
        and swizzle_of(type_.shape[1] * type_.element_type.width // 8) is not None
        and not cannot_describe(memory)
    )


@dataclass
class _Copies:
    """The copies for some loads of a consumer."""

    forall: Any
    roles: Any
    block: Any
    """What the consumer does for a tile."""
    loads: list[Any]

    def build(self, first: Any) -> None:
        """Copies before `first`, and loads from the buffers."""
        outer = body(self.forall)
        units = constants.number_of(self.forall, WARPS, 0) // UNITS["warpgroup"] - 1
        with ir.InsertionPoint(in_block(outer)[0]), self.roles.location:
            unit = tile.unit_id("warpgroup")
            buffers = [_buffer(units, load.results[0].type) for load in self.loads]
        ring = self._ring()
        with ir.InsertionPoint.after(ring.operands[0].owner), ring.location:
            barriers = rings.make_barriers(units)
        with ir.InsertionPoint(ring), ring.location:
            rings.ring(barriers, UNITS["warpgroup"])
        loop = self.block.owner.operation
        walked = TILES in loop.attributes
        phase = self._carried(loop, barriers, unit) if walked else None
        for load in self.loads:
            for value in load.operands:
                bring(value, first)
        with ir.InsertionPoint(first), first.location:
            phase = rings.i32_constant(0) if phase is None else phase
            views = [self._view(buffer, unit) for buffer in buffers]
            self._start(barriers, unit, phase, views)
        with ir.InsertionPoint(self.loads[0]), self.loads[0].location:
            rings.consumer_wait(barriers, unit, phase)
        for load, view in zip(self.loads, views, strict=True):
            self._replace(load, view)

    def _ring(self) -> Any:
        """The ring of the operands."""
        found = [op.operation for op in named(self.forall, "tile.ring")]
        if not found or is_within(found[0], self.roles):
            raise pass_error(self.roles, "roles without a tile.ring before them, beside which C has one")
        return found[0]

    def _view(self, buffer: Any, unit: Any) -> Any:
        zero = constants.index(0)
        return subview(buffer, [unit, zero, zero], list(buffer.type.shape)[1:])

    def _start(self, barriers: Any, unit: Any, phase: Any, views: list[Any]) -> None:
        """One thread of the warpgroup announces and starts the copies."""
        scf = dialect("scf")
        branch = scf.IfOp(indexing.equal(indexing.rem(indexing.thread(), WARPGROUP), 0))
        with ir.InsertionPoint(branch.then_block):
            rings.producer_acquire(barriers, unit, phase, sum(map(_bytes, views)))
            for load, view in zip(self.loads, views, strict=True):
                rings.tma_load(view, load.operands[0], barriers, unit, tile.place_of(load))
            scf.YieldOp([])

    def _replace(self, load: Any, view: Any) -> None:
        with ir.InsertionPoint(load), load.location:
            zero = constants.index(0)
            place = tile.Place((zero, zero), (0, 1), (True, True))
            new = tile.load(view, place, load.results[0].type)
        new.owner.operation.attributes[SCOPE] = load.attributes[SCOPE]
        load.results[0].replace_all_uses_with(new)
        load.erase()

    def _carried(self, loop: Any, barriers: Any, unit: Any) -> Any:
        """The phase of a loop's tiles, which it carries from now on; at the end of each the buffers are handed back."""
        old = loop
        with ir.InsertionPoint(old), old.location:
            start = rings.i32_constant(0)
            new = dialect("scf").ForOp(*list(old.operands)[:3], [*list(old.operands)[3:], start])
        for name, attribute in attributes_of(old).items():
            new.operation.attributes[name] = attribute
        inner = body(new)
        *arguments, phase = list(inner.arguments)
        for operation in in_block(self.block):
            inner.append(operation)
        for before, after in zip(list(self.block.arguments), arguments, strict=True):
            before.replace_all_uses_with(after)
        for before, after in zip(list(old.results), list(new.results), strict=False):
            before.replace_all_uses_with(after)
        end = in_block(inner)[-1].operation
        with ir.InsertionPoint(end), end.location:
            rings.consumer_release(barriers, unit).attributes[rings.LOADED] = ir.UnitAttr.get()
            following = rings.advanced(constants.index(0), phase, 1)[1]
            dialect("scf").YieldOp([*list(end.operands), following])
        end.erase()
        old.erase()
        self.block = inner
        return phase


def _buffer(units: int, type_: Any) -> Any:
    rows, columns = type_.shape
    layout = swizzle_of(columns * type_.element_type.width // 8)
    return shared_buffer([units, rows, columns], type_.element_type, layout or "")


def _bytes(view: Any) -> int:
    return prod(view.type.shape) * view.type.element_type.width // 8
