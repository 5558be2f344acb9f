"""persistent-tile-scheduler: a fixed number of thread blocks walk all tiles between them.

Expects an scf.forall over tiles, mapped to `#gpu.block<x>`, whose body is buffers of shared memory, index arithmetic
and one tile.warp_specialize. Leaves an scf.forall over `blocks` thread blocks, and in each role an scf.for over the
tiles `block`, `block + blocks`, ..., which carries the position in the ring from tile.enter to tile.leave: the producer
runs ahead into the next tile while the consumer finishes one. With `consumers=2` two consumers (tile.consumer_id)
ping-pong: they take the block's tiles alternately, so that one multiplies while the other finishes. Each moves its
position past the steps of the other, and waits until the other has seen its stages filled (tile.order_wait,
tile.order_arrive). Without ping-pong and with no more tiles than blocks nothing changes, nor does a second run change
anything. With `tiles=T` each block has T tiles in place of a fixed number of blocks, with `sequential` neighbours in
the order of the raster; the blocks of a cluster have neighbouring clusters of tiles. With `back` every other round
of blocks takes its tiles in the opposite order: where the first tiles have most steps of k, each block gets as many
steps so, all rounds together; numbers of tiles that are known at run time only stay in order. Refuses other operations
beside the roles, and blocks that are not whole clusters.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from mlir_gemm.dialect import constants, indexing, rings
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.clone import attributes_of, clone, clone_slice
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.tile_walks import Range, back_and_forth, blocks_for, range_of
from mlir_gemm.dialect.walk import body, in_block, is_within, named
from mlir_gemm.errors import PassError
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.attributes import CLUSTER, PING_PONG, TILES

_SHARED = ("memref.alloc", "tile.ring")
"""What a block does once, whatever tiles it gets."""


@dataclass(frozen=True)
class PersistentTileScheduler(Pass):
    """Let a fixed number of blocks walk all tiles."""

    name: ClassVar[str] = "persistent-tile-scheduler"
    blocks: int = 1
    """Thread blocks."""
    consumers: int = 1
    """Consumers that take a block's tiles alternately: 2 is ping-pong."""
    tiles: int = 0
    """Tiles of a block; 0 where the number of blocks is given."""
    sequential: bool = False
    """Whether the tiles of a block are neighbours, where their number is given."""
    back: bool = False
    """Whether every other round goes backwards."""

    def run(self, module: Any) -> None:
        if self.blocks < 1 or self.consumers not in (1, 2) or self.tiles < 0:
            raise PassError(f"pass '{self}': expected at least 1 block, and 1 or 2 consumers")
        for forall in named(module, "scf.forall"):
            roles = named(forall, "tile.warp_specialize")
            if not roles or is_walked(forall):
                continue
            cluster = constants.number_of(forall, CLUSTER, 1)
            if not self.tiles and self.blocks % cluster:
                raise pass_error(forall, f"{self.blocks} blocks do not make whole clusters of {cluster}")
            tiles = tiles_of(forall)
            several = self.tiles > 1 if self.tiles else not isinstance(tiles, int) or tiles > self.blocks
            if several or self.consumers > 1:
                _persist(forall, roles, tiles, self)


def is_walked(forall: Any) -> bool:
    """Whether the blocks of a loop walk tiles already."""
    return any(TILES in op.operation.attributes for op in named(forall, "scf.for"))


def tiles_of(forall: Any) -> Any:
    """How many tiles there are, a block for each: a number, or a value."""
    attributes = forall.operation.attributes
    lower, upper, step = (list(ir.DenseI64ArrayAttr(attributes[f"static{name}"])) for name in _BOUNDS)
    if (lower, step) != ([0], [1]):
        raise pass_error(forall, "only an scf.forall over one dimension, from 0 in steps of 1, is walked by blocks")
    return forall.operation.operands[0] if upper[0] == ir.ShapedType.get_dynamic_size() else upper[0]


_BOUNDS = ("LowerBound", "UpperBound", "Step")


def _persist(forall: Any, roles: list[Any], tiles: Any, options: PersistentTileScheduler) -> None:
    work = Work.of(forall, roles)
    role = work.role
    cluster = constants.number_of(forall, CLUSTER, 1)
    with ir.InsertionPoint(forall), forall.location:
        count = blocks_for(tiles, options.tiles, cluster) if options.tiles else _fewer(tiles, options.blocks)
    new = work.on_blocks(count)
    producer, consumer = (region.blocks[0] for region in role.regions)
    with role.location:
        block = body(new).arguments[0]
        each = Range(block, tiles, count)
        if options.sequential and options.tiles:
            with ir.InsertionPoint(role):
                each = range_of(block, tiles, count, options.tiles, True, cluster)
        elif options.back and isinstance(tiles, int):
            with ir.InsertionPoint(role):
                each = back_and_forth(block, tiles, count, cluster)
        walk = alternate = _Walk(work.number, each)
        if options.consumers > 1:
            steps, barriers = _steps_of(work, tiles), named(producer.owner, "tile.producer_acquire")[0].operands[0]
            new.operation.attributes[PING_PONG] = constants.integer(options.consumers)
            with ir.InsertionPoint(named(body(new).owner, "tile.ring")[0]):
                order = rings.order_barrier()
            alternate = replace(walk, steps=steps, stages=barriers.type.shape[1], barriers=order)
        _walk(consumer, work.place, alternate)  # first: it asks how many steps the producer's loop has
        _walk(producer, work.place, walk)
    work.erase_old()


@dataclass(frozen=True)
class Work:
    """What the blocks of a loop over tiles do: each has one tile."""

    forall: Any
    role: Any
    """The tile.warp_specialize."""
    once: list[Any]
    """What is done once, whatever tiles a block gets, the roles last or among it."""
    place: list[Any]
    """Index arithmetic that tells where a tile lies."""
    number: Any
    """The tile's number in it."""

    @staticmethod
    def of(forall: Any, roles: list[Any]) -> Work:
        """Takes the body of a loop apart. Refuses what cannot be repeated for each tile."""
        if len(roles) != 1 or roles[0].operation.parent != forall.operation:
            raise pass_error(
                forall, "blocks that walk tiles need one tile.warp_specialize, directly in the loop over blocks"
            )
        role = roles[0].operation
        inside = [op.operation for op in in_block(body(forall))][:-1]
        once = [op for op in inside if op.name in _SHARED or op == role]
        place = [op for op in inside if op not in once]
        for op in place:
            if op.regions or not op.name.startswith(("arith.", "affine.", "tile.unit_id", "tile.rank")):
                raise pass_error(op, f"'{op.name}' beside the roles of a block cannot be repeated for each tile")
        return Work(forall, role, once, place, body(forall).arguments[0])

    def on_blocks(self, count: Any) -> Any:
        """A loop over `count` blocks before the old one, with what is done once; the loop."""
        forall = self.forall
        with ir.InsertionPoint(forall), forall.location:
            new = dialect("scf").ForallOp([0], [count], [1], mapping=forall.operation.attributes["mapping"])
            for name, attribute in attributes_of(forall).items():
                if name.startswith("tile."):
                    new.operation.attributes[name] = attribute
        target = body(new)
        with ir.InsertionPoint(target), forall.location:
            dialect("scf").InParallelOp()
        end = in_block(target)[-1]
        for op in self.once:
            op.move_before(end)
        return new

    def erase_old(self) -> None:
        """Erases the old loop, once both roles have the code that computes the places of their tiles."""
        for op in reversed(self.place):
            op.erase()
        self.forall.operation.erase()


def _fewer(tiles: Any, blocks: int) -> Any:
    if isinstance(tiles, int):
        return min(tiles, blocks)
    return dialect("arith").MinUIOp(tiles, constants.index(blocks)).result


def _no_steps(number: Callable[[], Any]) -> Any:
    raise AssertionError(number)


@dataclass(frozen=True)
class _Walk:
    """Which tiles a role goes through."""

    number: Any
    """What stands for the tile's number in the work on one tile."""
    tiles: Range
    steps: Callable[[Callable[[], Any]], Any] = _no_steps
    """With ping-pong: the k steps of the tile of a number, which the other consumer takes between two tiles of one."""
    stages: int = 0
    """With ping-pong: of the ring."""
    barriers: Any = None
    """With ping-pong: those by which the consumers let each other go on."""


def _steps_of(work: Work, tiles: Any) -> Callable[[Callable[[], Any]], Any]:
    """What gives the k steps of the tile of a number, at the insertion point: a number, or a value. It computes the
    number only where the steps depend on it."""
    producer = work.role.regions[0].blocks[0]
    loops = [op.operation for op in in_block(producer) if op.operation.name == "scf.for"]
    if len(loops) != 1:
        raise pass_error(
            producer.owner, "a producer without one loop over k steps cannot serve two consumers alternately"
        )
    bounds = list(loops[0].operands)[:2]
    first, end = map(constants.integer_of, bounds)
    if first == 0 and end is not None:
        return lambda _: end
    if first == 0 and not _depends(bounds[1], work):
        return lambda _: bounds[1]

    def steps(number: Callable[[], Any]) -> Any:
        # The other consumer may have no tile any more: what is skipped then nobody reads.
        last = constants.index(tiles - 1) if isinstance(tiles, int) else indexing.sub(tiles, 1)
        values = {work.number: dialect("arith").MinUIOp(number(), last).result}
        for op in work.place:
            clone(op, values)
        begin, stop = clone_slice(bounds, producer, values)
        return stop if first == 0 else indexing.sub(stop, begin)

    return steps


def _depends(value: Any, work: Work) -> bool:
    """Whether a value is computed for each tile."""
    owner = value.owner
    if hasattr(owner, "operations"):
        return value == work.number
    return owner.operation in work.place or is_within(owner, work.role)


def _walk(block: Any, place: list[Any], walk: _Walk) -> None:
    """Puts a role's work on one tile into a loop over the role's tiles."""
    work = [op.operation for op in in_block(block)]
    with ir.InsertionPoint(work[0]):
        start, first, skip, each = rings.enter(), walk.tiles.first, None, None
        bounds = walk.tiles.end, walk.tiles.step
        upper, step = (constants.index(each) if isinstance(each, int) else each for each in bounds)
        if walk.stages:
            own_first = first
            skip = rings.Skip(rings.consumer_id(), walk.steps(lambda: walk.tiles.number(own_first)), walk.stages)
            start = skip.at_start(*start)
            first, each, step = indexing.add(first, indexing.mul(skip.consumer, step)), step, indexing.mul(step, 2)
            start = (*start, dialect("arith").ConstantOp(rings.i32(), 0).result)
        loop = dialect("scf").ForOp(first, upper, step, list(start))
    with ir.InsertionPoint(loop.body):
        number = walk.tiles.number(loop.induction_variable)
    end = into_loop(work, loop, place, {walk.number: number})
    if skip is not None:
        end.append(_in_order(work, loop, skip.consumer, walk.barriers))
    with ir.InsertionPoint(loop.body):
        if skip is not None:
            other = walk.steps(lambda: walk.tiles.number(indexing.add(loop.induction_variable, each)))
            end[:2] = replace(skip, steps=other).past(*end[:2])
        dialect("scf").YieldOp(end)
    with ir.InsertionPoint(block):
        rings.leave(*list(loop.results)[:2])


def into_loop(work: list[Any], loop: Any, place: list[Any], values: dict[Any, Any]) -> list[Any]:
    """Moves a role's work to the end of a loop over tiles that carries the position in the ring, after a copy of what
    tells where a tile lies, with `values` for what it is computed from. Gives the position at its end."""
    (enter,), (leave,) = ([op for op in work if op.name == name] for name in ("tile.enter", "tile.leave"))
    loop.operation.attributes[TILES] = ir.UnitAttr.get()
    with ir.InsertionPoint(loop.body):
        for op in place:
            clone(op, values)
    for op in work:
        loop.body.append(op)
    for old, new in values.items():
        for use in list(old.uses):
            if is_within(use.owner, loop):
                use.owner.operation.operands[use.operand_number] = new
    for result, carried in zip(enter.results, list(loop.body.arguments)[1:], strict=False):
        result.replace_all_uses_with(carried)
    end = list(leave.operands)
    work.remove(enter)
    work.remove(leave)
    enter.erase()
    leave.erase()
    return end


def _in_order(work: list[Any], loop: Any, consumer: Any, barriers: Any) -> Any:
    """Makes the work on a tile wait at the order barrier, and let the other consumer go on once it has seen all its
    stages filled: only then the other can tell by the phase whether a stage is its own. Gives the phase of the next
    wait."""
    phase = list(loop.body.arguments)[3]
    filled = next(op for op in work if op.name == "tile.consumer_wait")
    waits = [op for op in work if op.name == "tile.mma_wait" and ir.IntegerAttr(op.attributes["pending"]).value == 0]
    with ir.InsertionPoint(filled):
        rings.order_wait(barriers, consumer, phase)
    _arrive(work, waits[0], barriers, consumer)
    with ir.InsertionPoint(waits[0]):  # what alternates is a ring of one stage
        return rings.advanced(constants.index(0), phase, 1)[1]


def _arrive(work: list[Any], last_wait: Any, barriers: Any, consumer: Any) -> None:
    """Lets the other consumer go on in the last iteration of the loop over k, once the step before is done. Between the
    loop and the last wait, where it goes when the number of steps is not known, ptxas may find that accumulators are
    read while products are in flight, and serializes them (C7514)."""
    loops = [op for op in work if op.name == "scf.for" and named(op, "tile.consumer_wait")]
    bounds: list[Any] = [constants.integer_of(value) for value in list(loops[0].operands)[:3]] if loops else []
    if not bounds or None in bounds:
        with ir.InsertionPoint(last_wait):
            rings.order_arrive(barriers, consumer)
        return
    arith, scf = dialect("arith"), dialect("scf")
    with ir.InsertionPoint(named(loops[0], "tile.consumer_release")[0]), last_wait.location:
        last = constants.index(range(*bounds)[-1])
        branch = scf.IfOp(arith.CmpIOp(arith.CmpIPredicate.eq, body(loops[0]).arguments[0], last).result)
        with ir.InsertionPoint(branch.then_block):
            rings.order_arrive(barriers, consumer)
            scf.YieldOp([])
