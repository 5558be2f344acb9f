"""The tile dialect's operations of specialised kernels: a ring of stages that one role fills and another one empties.

A ring is S stages of shared memory and two barriers for each, in a memref of 2 x S i64 in shared memory: "full", in row
0, and "empty", in row 1. A position in it is a slot and a phase, which changes each time the slots start again. The
copies into a stage are made by the copy engine and are complete when the stage's full barrier is.
"""

# pyright: reportInvalidTypeForm=false, reportGeneralTypeIssues=false, reportCallIssue=false
# pyright: reportUnknownMemberType=false, reportUntypedBaseClass=false, reportUnknownVariableType=false
# The bindings build operations from annotations that no type checker knows.

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, TypeVar

from mlir_gemm.dialect import constants, rules, window_rules
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.memory import shared_buffer
from mlir_gemm.dialect.tile import Place, Tile, offsets_of, placed
from mlir_gemm.dialect.verifier import FLAG, between, verifier
from mlir_gemm.spec.l2_policy import PARTS

ext: Any = dialect("ext")

Value = TypeVar("Value", bound=Any)

PAD = r"pad(\d+)"
"""The layout of a buffer with this many elements after each row, as a regular expression."""
BARRIERS = "barriers"
"""The layout of a ring's barriers in shared memory."""
LOADED = "loaded"
"""On a tile.consumer_release: lanes have loaded from the stage. The copy engine does not wait for such loads by
itself."""
SWIZZLE = "swizzle128"
"""The layout of a ring's stages: what the copy engine writes with its 128-byte swizzle (`docs/special-kernels.md`)."""
PANELS = {SWIZZLE: 128, "swizzle64": 64, "swizzle32": 32}
"""Bytes of a row of a panel, by layout. The narrower ones are for operands whose rows are not a multiple of 128
bytes."""
PANEL_BYTES = PANELS[SWIZZLE]
"""Bytes of a row of the usual panel: results always have it, and operands if their rows are a multiple of it."""


MOST_BYTES = (1 << 20) - 1
"""What a barrier can count (PTX: the range of tx-count)."""
_RING, _ORDER = rules.barriers(2), rules.barriers(1, 2)
_SHARED = {"blocks": rules.BLOCKS, "cluster_group": rules.BLOCKS}
"""Of operations on a ring that several blocks of a cluster share."""


class Ring(Tile.Operation, name="ring"):
    """Initialises the barriers of a ring: a stage is empty once each of `consumers` warps has released it."""

    barriers: ext.Operand[Any]
    consumers: ir.IntegerAttr
    verify_invariants = verifier(_RING, rules.shared_ring("blocks"), consumers=rules.WARPS, **_SHARED)


class Enter(Tile.Operation, name="enter"):
    """The position in its ring at which a role starts."""

    slot: ext.Result[ir.IndexType]
    phase: ext.Result[Any]
    verify_invariants = verifier(rules.phases(lambda op: op.results[1]))


class Leave(Tile.Operation, name="leave"):
    """The position in its ring at which a role stops."""

    slot: ext.Operand[ir.IndexType]
    phase: ext.Operand[Any]
    verify_invariants = verifier(rules.phases(rules.operand(1)))


class Advance(Tile.Operation, name="advance"):
    """The position this many steps on, in a ring of `stages`: a step takes a stage, and the phase changes each time the
    slots start again."""

    slot: ext.Operand[ir.IndexType]
    phase: ext.Operand[Value]
    steps: ext.Operand[ir.IndexType]
    next_slot: ext.Result[ir.IndexType]
    next_phase: ext.Result[Value]
    stages: ir.IntegerAttr
    verify_invariants = verifier(rules.phases(rules.operand(1)), stages=rules.STAGES)


class ProducerAcquire(Tile.Operation, name="producer_acquire"):
    """Waits until a stage is empty, and announces the bytes that will be copied into it."""

    barriers: ext.Operand[Any]
    slot: ext.Operand[ir.IndexType]
    phase: ext.Operand[Any]
    bytes: ir.IntegerAttr
    verify_invariants = verifier(
        _RING, rules.phases(rules.operand(2)), bytes=between(rules.BOX_BYTES, MOST_BYTES, rules.BOX_BYTES)
    )


class TmaLoad(Tile.Operation, name="tma_load"):
    """A tile.copy by the copy engine, which counts on the full barrier of a stage. `source` is a memref, or the tensor
    map of one; with `pixels`, `window` and `corner` of windows of an image, where the first two say what its indices
    count through: a dimension of the image, how many there are, and how far apart."""

    target: ext.Operand[Any]
    source: ext.Operand[Any]
    barriers: ext.Operand[Any]
    slot: ext.Operand[ir.IndexType]
    offsets: Sequence[ext.Operand[ir.IndexType]]
    verify_invariants = verifier(
        rules.ranked(0, "target", 2, space=rules.IN_SHARED),
        rules.source,
        rules.barriers(2, at=2),
        rules.place(1, 4, rules.operand(0), whole=True),
        rules.shared_ring("multicast"),
        keep=between(0, PARTS),
        multicast=between(2, rules.MOST_BLOCKS),
        cluster_group=rules.BLOCKS,
        stride=rules.BLOCKS,
        pixels=window_rules.NUMBERS_EACH,
        window=window_rules.NUMBERS_EACH,
        corner=rules.NUMBERS,
        **rules.PLACE,
    )


class ConsumerWait(Tile.Operation, name="consumer_wait"):
    """Waits until everything announced for a stage has been copied."""

    barriers: ext.Operand[Any]
    slot: ext.Operand[ir.IndexType]
    phase: ext.Operand[Any]
    verify_invariants = verifier(_RING, rules.phases(rules.operand(2)))


class ConsumerRelease(Tile.Operation, name="consumer_release"):
    """Hands a stage back: this unit no longer reads it."""

    barriers: ext.Operand[Any]
    slot: ext.Operand[ir.IndexType]
    verify_invariants = verifier(_RING, rules.shared_ring("blocks"), loaded=FLAG, **_SHARED)


class MmaWait(Tile.Operation, name="mma_wait"):
    """An accumulator, once at most `pending` asynchronous products are in flight."""

    acc: ext.Operand[Value]
    result: ext.Result[Value]
    pending: ir.IntegerAttr
    verify_invariants = verifier(rules.tile(rules.operand(0), "acc", 2), pending=rules.PENDING)


class DsmemReduce(Tile.Operation, name="dsmem_reduce"):
    """The sum of a tile over the blocks of the cluster, in the order of their ranks beginning with its own. A block
    gets the columns of its rank. `scratch` is shared memory for the parts that the others send to each unit."""

    value: ext.Operand[Any]
    scratch: ext.Operand[Any]
    result: ext.Result[Any]
    verify_invariants = verifier(
        rules.tile(rules.operand(0), "value", 2),
        rules.ranked(1, "scratch", 4, space=rules.IN_SHARED),
        rules.tile(rules.result, "result", 2),
        rules.same_elements(rules.operand(0), rules.result, "value and result"),
        rules.same_elements(rules.operand(0), rules.operand(1), "value and scratch"),
        rules.columns,
        cluster_group=rules.BLOCKS,
    )


class OrderBarrier(Tile.Operation, name="order_barrier"):
    """Initialises the barriers by which two consumers ping-pong, one for each. An arrival needs each of `consumers`
    warps."""

    barriers: ext.Operand[Any]
    consumers: ir.IntegerAttr
    verify_invariants = verifier(_ORDER, consumers=rules.WARPS)


class OrderWait(Tile.Operation, name="order_wait"):
    """Waits until the other consumer has arrived; `phase` changes with every tile that this one takes. The first
    consumer need not wait for its first."""

    barriers: ext.Operand[Any]
    consumer: ext.Operand[ir.IndexType]
    phase: ext.Operand[Any]
    verify_invariants = verifier(_ORDER, rules.phases(rules.operand(2)))


class OrderArrive(Tile.Operation, name="order_arrive"):
    """Lets the other consumer go on: this one has seen all stages of its tile filled."""

    barriers: ext.Operand[Any]
    consumer: ext.Operand[ir.IndexType]
    verify_invariants = verifier(_ORDER)


class ConsumerId(Tile.Operation, name="consumer_id"):
    """Which of the consumers that take tiles alternately (ping-pong) this is."""

    result: ext.Result[ir.IndexType]
    verify_invariants = verifier()


class Rank(Tile.Operation, name="rank"):
    """Which block of its cluster this is: its number, divided by `stride` and modulo `count` where these are given. So
    it may be the row or the column of a block in its cluster, or which slice of the steps of k it has."""

    result: ext.Result[ir.IndexType]
    verify_invariants = verifier(stride=rules.BLOCKS, count=between(0, rules.MOST_BLOCKS))


class WarpSpecialize(Tile.Operation, name="warp_specialize", traits=[ir.NoTerminatorTrait]):
    """Two roles, which different warps of the block take: one fills the ring, the other computes."""

    producer: ext.Region
    consumer: ext.Region
    verify_invariants = verifier(rules.roles)


def swizzle_of(row: int) -> str | None:
    """The layout of a buffer with rows of this many bytes: the one of the widest panels that divide them, if any do."""
    return next((layout for layout, panel in PANELS.items() if row % panel == 0), None)


def i32() -> Any:
    """The type of a phase."""
    return ir.IntegerType.get_signless(32)


def i32_constant(value: int) -> Any:
    """An i32 constant at the insertion point."""
    return dialect("arith").ConstantOp(i32(), value).result


def make_barriers(stages: int) -> Any:
    """An allocation of a ring's barriers at the insertion point; the memref."""
    return shared_buffer([2, stages], ir.IntegerType.get_signless(64), BARRIERS)


def ring(barriers: Any, consumers: int) -> Any:
    """A tile.ring at the insertion point; the operation."""
    return Ring(barriers, constants.integer(consumers)).operation


def enter() -> tuple[Any, Any]:
    """A tile.enter at the insertion point; slot and phase."""
    slot, phase = Enter(ir.IndexType.get(), i32()).operation.results
    return slot, phase


def leave(slot: Any, phase: Any) -> Any:
    """A tile.leave at the insertion point; the operation."""
    return Leave(slot, phase).operation


def advanced(slot: Any, phase: Any, stages: int, steps: Any = 1) -> tuple[Any, Any]:
    """The position this many stages on, a number or an index value: a tile.advance at the insertion point."""
    count = constants.index(steps) if isinstance(steps, int) else steps
    types = ir.IndexType.get(), i32()
    further = Advance(slot, phase, count, *types, constants.integer(stages)).operation
    return further.results[0], further.results[1]


def producer_acquire(barriers: Any, slot: Any, phase: Any, bytes_: int) -> Any:
    """A tile.producer_acquire at the insertion point; the operation."""
    return ProducerAcquire(barriers, slot, phase, constants.integer(bytes_)).operation


def tma_load(target: Any, source: Any, barriers: Any, slot: Any, place: Place | Sequence[Any]) -> Any:
    """A tile.tma_load at the insertion point; the operation."""
    return placed(TmaLoad(target, source, barriers, slot, offsets_of(place)), place)


def consumer_wait(barriers: Any, slot: Any, phase: Any) -> Any:
    """A tile.consumer_wait at the insertion point; the operation."""
    return ConsumerWait(barriers, slot, phase).operation


def consumer_release(barriers: Any, slot: Any) -> Any:
    """A tile.consumer_release at the insertion point; the operation."""
    return ConsumerRelease(barriers, slot).operation


def mma_wait(acc: Any, pending: int) -> Any:
    """A tile.mma_wait at the insertion point; its value."""
    return MmaWait(acc, acc.type, constants.integer(pending)).result


def dsmem_reduce(value: Any, scratch: Any, columns: int, group: int = 1) -> Any:
    """A tile.dsmem_reduce at the insertion point, of which this block gets `columns`; its value. In a cluster of groups
    the blocks of the same place in each add up."""
    type_ = ir.VectorType.get([value.type.shape[0], columns], value.type.element_type)
    operation = DsmemReduce(value, scratch, type_).operation
    if group > 1:
        operation.attributes[CLUSTER_GROUP] = constants.integer(group)
    return operation.results[0]


def order_barrier() -> Any:
    """Initialises the barriers of two consumers that ping-pong, at the insertion point; the memref."""
    barriers = shared_buffer([1, 2], ir.IntegerType.get_signless(64), BARRIERS)
    OrderBarrier(barriers, constants.integer(1))
    return barriers


def order_wait(barriers: Any, consumer: Any, phase: Any) -> Any:
    """A tile.order_wait at the insertion point; the operation."""
    return OrderWait(barriers, consumer, phase).operation


def order_arrive(barriers: Any, consumer: Any) -> Any:
    """A tile.order_arrive at the insertion point; the operation."""
    return OrderArrive(barriers, consumer).operation


def consumer_id() -> Any:
    """A tile.consumer_id at the insertion point; its value."""
    return ConsumerId(ir.IndexType.get()).result


@dataclass(frozen=True)
class Skip:
    """How one of two consumers moves its position in the ring past the k steps of the other's tile."""

    consumer: Any
    """Which of the two it is."""
    steps: Any
    """k steps of a tile: a number, or an index value."""
    stages: int

    def at_start(self, slot: Any, phase: Any) -> tuple[Any, Any]:
        """Where the consumer starts: the second one after the first tile."""
        arith = dialect("arith")
        behind = self.past(slot, phase)
        first = arith.CmpIOp(arith.CmpIPredicate.eq, self.consumer, constants.index(0)).result
        slot, phase = (arith.SelectOp(first, here, there).result
                       for here, there in zip((slot, phase), behind, strict=True))  # fmt: skip
        return slot, phase

    def past(self, slot: Any, phase: Any) -> tuple[Any, Any]:
        """The position after the steps of one more tile."""
        return advanced(slot, phase, self.stages, self.steps)


CLUSTER_GROUP = "cluster_group"
"""Attribute of operations that concern only a group of this many blocks of the cluster, which has several."""


@dataclass(frozen=True)
class Axis:
    """Blocks of a cluster: `count` of them whose numbers are `stride` apart."""

    stride: int = 1
    count: int = 0
    """0 where they are all that there are."""

    @staticmethod
    def of(operation: Any) -> "Axis":
        """What the attributes of an operation say."""
        return Axis(constants.number_of(operation, STRIDE, 1), constants.number_of(operation, COUNT, 0))

    def meets(self, other: "Axis") -> bool:
        """Whether the place of a block along one tells something about its place along the other."""
        ends = [axis.stride * axis.count if axis.count else inf for axis in (self, other)]
        return self.stride < ends[1] and other.stride < ends[0]


STRIDE, COUNT = "stride", "count"


def rank(axis: Axis | int = 1) -> Any:
    """A tile.rank at the insertion point; its value: the place along an axis, or in a group of this many blocks with
    neighbouring numbers where there are several groups."""
    if isinstance(axis, int):
        axis = Axis(1, axis if axis > 1 else 0)
    operation = Rank(ir.IndexType.get()).operation
    for name, number, default in ((STRIDE, axis.stride, 1), (COUNT, axis.count, 0)):
        if number != default:
            operation.attributes[name] = constants.integer(number)
    return operation.results[0]


def part(group: int = 1) -> Any:
    """Which slice of the steps of k this block has, in a cluster of groups of `group` blocks: a tile.rank at the
    insertion point; its value."""
    return rank(Axis(group))


def cluster_group_of(operation: Any) -> int:
    """The blocks of a cluster group, which an operation carries where a cluster has several; else 1."""
    return constants.number_of(operation, CLUSTER_GROUP, 1)


def warp_specialize() -> Any:
    """A tile.warp_specialize with two empty blocks at the insertion point; the operation."""
    operation = WarpSpecialize().operation
    for region in operation.regions:
        region.blocks.append()
    return operation
