"""throttle-epilogue: arithmetic on accumulators works on few numbers at a time, so that it takes no issue slots from
products.

While one warpgroup multiplies, another finishes its tile. ptxas orders the arithmetic of its numbers so that many
instructions are ready at any time. Each one that the scheduler issues back to back takes a clock from the products
(docs/history/performance.md). With two numbers in flight at a time an instruction takes 5 clocks, and the products lose
nothing.

Expects kernel functions after `mma-to-wgmma` and `expand-math`. Leaves the arithmetic of an epilogue in an order that
ptxas must keep: a number waits for the result of the one `chains` numbers before it. It is made to depend on that
result without changing: the result is ANDed with a mask that is always 0, which ptxas cannot know, and XORed
into the number.

Where `consumers` warpgroups take tiles in a loop, the epilogue of a block's last tile stays as it was, in a branch of
its own, because nobody multiplies then. Nothing changes where a number has fewer than `least` operations, and in blocks
that do not wait for products of a warpgroup. Refuses nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import indexing
from mlir_gemm.dialect.accumulator_flow import is_elementwise
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.clone import clone
from mlir_gemm.dialect.walk import in_block, named, users
from mlir_gemm.errors import PassError
from mlir_gemm.lowering import assembly
from mlir_gemm.passes.base import Pass
from mlir_gemm.passes.lower.sink_positions import WAIT

_CONVERSIONS = ("arith.truncf", "arith.extf", "arith.bitcast", "arith.fptosi", "arith.fptoui", "arith.trunci")


@dataclass(frozen=True)
class ThrottleEpilogue(Pass):
    """Let arithmetic on accumulators work on few numbers at a time."""

    name: ClassVar[str] = "throttle-epilogue"
    chains: int = 2
    """Numbers of a thread that are in flight at a time, in whole pieces of an accumulator, which have two."""
    least: int = 3
    """Operations on a number from which on it is paced."""
    consumers: int = 1
    """Consumers that take tiles alternately: 2 is ping-pong."""

    def run(self, module: Any) -> None:
        if self.chains < 1:
            raise PassError(f"pass 'throttle-epilogue': chains={self.chains}; expected at least 1")
        for kernel in named(module, "gpu.func"):
            for block in dict.fromkeys(wait.operation.block for wait in named(kernel, WAIT)):
                pieces = _pieces(block, self.least)
                if pieces:
                    _pace(_split(block, self.consumers) if self.consumers > 1 else block, pieces, self.chains)


@dataclass
class _Piece:
    """A vector of an accumulator's numbers, and the arithmetic on it."""

    root: Any
    work: list[Any]
    """In the order of the block."""

    @property
    def type(self) -> Any:
        return self.root.results[0].type

    @property
    def result(self) -> Any:
        """The result of the work."""
        return self.work[-1].results[0]


def _pieces(block: Any, least: int) -> list[_Piece]:
    """The pieces of accumulators in a block on which there is enough to do."""
    place = _places(block)
    found = [_Piece(op, _work_on(op, place)) for op in place if _is_piece(op)]
    return [piece for piece in found if len(piece.work) >= least]


def _places(block: Any) -> dict[Any, int]:
    return {op.operation: number for number, op in enumerate(in_block(block))}


def _split(block: Any, turns: int) -> Any:
    """Moves everything from the first piece of an accumulator on into a branch for tiles that another tile follows,
    with a copy for the last tile; returns the first branch, or the block itself where that is not possible."""
    loop = block.owner.operation
    ops = list(_places(block))
    first = next(number for number, op in enumerate(ops) if _is_piece(op))
    kept = _needed(ops[-1], set(ops[first:-1]))
    inside = [op for op in ops[first:-1] if op not in kept]
    if loop.name != "scf.for" or not all(op.name.startswith(("arith.", "affine.")) for op in kept):
        return block
    arith, scf = dialect("arith"), dialect("scf")
    with ir.InsertionPoint(ops[-1]), ops[first].location:
        _, upper, step = list(loop.operands)[:3]
        following = arith.AddIOp(block.arguments[0], indexing.div(step, turns)).result
        more = arith.CmpIOp(arith.CmpIPredicate.ult, following, upper).result
        branch = scf.IfOp(more, has_else=True)
        values = dict[Any, Any]()
        with ir.InsertionPoint(branch.else_block):
            for op in inside:
                clone(op, values)
            scf.YieldOp([])
        for op in inside:
            branch.then_block.append(op)
        with ir.InsertionPoint(branch.then_block):
            scf.YieldOp([])
    return branch.then_block


def _needed(terminator: Any, among: set[Any]) -> set[Any]:
    """The operations among some that the next iteration needs the results of, directly or not."""
    found, pending = set[Any](), list(terminator.operands)
    while pending:
        op: Any = getattr(pending.pop().owner, "operation", None)
        if op in among and op not in found:
            found.add(op)
            pending += list(op.operands)
    return found


def _pace(block: Any, pieces: list[_Piece], chains: int) -> None:
    place = _places(block)
    done = list[_Piece]()
    mask: Any = None
    end = -1  # the place in the block, as it was, after which the pieces done now end
    for piece in pieces:
        behind = max([end, *(place[op] for op in piece.work)])
        members = set(piece.work)
        others = [user for op in piece.work for user in users(op.results[0]) if user not in members]
        if any(place.get(user, len(place)) <= behind for user in others):
            continue
        distance: int = max(chains // ir.VectorType(piece.type).shape[0], 1)
        if done:
            _move(piece, done[-1].work[-1], place, end)
            before = done[-distance].result if len(done) >= distance else None
            if before is not None and before.type == piece.type:
                mask = mask or _no_bits(done[0])
                _tie(piece, before, mask)
        done.append(piece)
        end = behind


def _is_piece(op: Any) -> bool:
    """Whether an operation makes a vector of f32 of numbers of an accumulator."""
    return (
        op.name == "vector.from_elements"
        and str(ir.VectorType(op.results[0].type).element_type) == "f32"
        and all(getattr(value.owner, "name", "") == "llvm.extractvalue" for value in op.operands)
    )


def _work_on(root: Any, place: dict[Any, int]) -> list[Any]:
    """The arithmetic in the root's block on its numbers, up to conversions, in order."""
    found, pending = set[Any](), users(root.results[0])
    type_ = root.results[0].type
    while pending:
        op = pending.pop()
        plain = is_elementwise(op) and op.name not in _CONVERSIONS and len(op.results) == 1
        if op not in found and op in place and plain and op.results[0].type == type_:
            found.add(op)
            pending += users(op.results[0])
    return sorted(found, key=lambda op: place[op])


def _move(piece: _Piece, anchor: Any, place: dict[Any, int], end: int) -> None:
    """Moves what stands before the anchor, which was at the place `end`, after it."""
    for op in piece.work:
        if place[op] <= end:
            op.move_after(anchor)
            anchor = op


def _no_bits(piece: _Piece) -> Any:
    """A word that is 0, before the work on a piece."""
    first = piece.work[0]
    i32 = ir.IntegerType.get_signless(32)
    with ir.InsertionPoint(first), first.location:
        word = dialect("arith").BitcastOp(i32, piece.root.operands[0]).result
        shape = list(ir.VectorType(piece.type).shape)
        return dialect("vector").BroadcastOp(ir.VectorType.get(shape, i32), assembly.no_bits(word)).result


def _tie(piece: _Piece, before: Any, mask: Any) -> None:
    """Lets the work on a piece wait for `before`, numbers of the same type."""
    arith = dialect("arith")
    first = piece.work[0]
    root = piece.root.results[0]
    members = set(piece.work)
    with ir.InsertionPoint(first), first.location:
        bits, other = (arith.BitcastOp(mask.type, value).result for value in (root, before))
        mixed = arith.XOrIOp(bits, arith.AndIOp(other, mask).result).result
        tied = arith.BitcastOp(piece.type, mixed).result
    for op in members:
        for number, operand in enumerate(op.operands):
            if operand == root:
                op.operands[number] = tied
