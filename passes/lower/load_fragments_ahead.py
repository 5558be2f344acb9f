"""load-fragments-ahead: the first fragments of the next k tile are loaded before the last products of this one.

Expects a kernel function after `distribute-copies`, with loops over k that carry accumulators, in constant steps, whose
products are unrolled. A step begins with waits, barriers, copies and the loads of its first fragments (the head),
goes on with products and further loads, and ends with products whose fragments are loaded, stores and barriers. Leaves
- before the loop, the head of the first step;
- in the loop, over all steps but the last: the products up to the last load of a fragment, the stores and barriers that
  followed, the head of the next step, and the last products. Fragments, and what else a head loads, are carried;
- after the loop, the last step without a head.
The assembler moves loads ahead of products, but no load over a barrier, so that the tensor cores would wait after each.
Waits, commits, copies and barriers keep their order; with a ring the wait is that for a stage, and a stage is released
before the next one is waited for. Where the number of steps is known at run time only, all that is in a branch for the
case that there are any. Loops without a barrier and loads before their products stay as they are, and so do loops over
tiles, and what this pass left: a second run changes nothing. Refuses loops whose step is not constant, and a head that
makes memory.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import constants, indexing
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.clone import clone
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.walk import body, in_block, named, operations, users
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.attributes import TILES

_PURE = (
    "memref.subview", "memref.dim", "gpu.thread_id", "gpu.block_id", "tile.unit_id", "affine.apply", "vector.extract",
    "vector.insert", "vector.broadcast", "vector.from_elements", "vector.bitcast", "vector.shape_cast",
)  # fmt: skip
"""Operations, beside those of arith, that are repeated where they are needed rather than carried."""
_BARRIERS = ("gpu.barrier", "tile.consumer_wait")
"""What stands before the first loads of a step that waits: with a ring, for the stage to be full."""
_LOADS = ("nvgpu.ldmatrix", "vector.load", "memref.load", "gpu.subgroup_mma_load_matrix")


@dataclass(frozen=True)
class LoadFragmentsAhead(Pass):
    """Load the first fragments of a k tile before the barrier's products."""

    name: ClassVar[str] = "load-fragments-ahead"

    def run(self, module: Any) -> None:
        for kernel in named(module, "gpu.func"):
            for loop in named(kernel, "scf.for"):
                if TILES not in loop.operation.attributes:
                    _rotate(loop)


def _rotate(loop: Any) -> None:
    step = _Step.of(loop)
    if step is None:
        return
    lower, upper, by = (constants.integer_of(value) for value in list(loop.operation.operands)[:3])
    if not by or by < 1:
        raise pass_error(loop, "a k loop whose step is not constant: its last one cannot be taken apart")
    rotated = _Rotated(loop, step, by)
    if lower is None or upper is None:
        rotated.build_open()
    elif lower < upper:
        rotated.build(lower, upper)


@dataclass(frozen=True)
class _Step:
    """The parts of a step."""

    head: list[Any]
    """What comes before the first product."""
    middle: list[Any]
    """Products and loads, up to the last load of a fragment."""
    tail: list[Any]
    """What follows, but the products."""
    last: list[Any]
    """The products that follow."""
    carried: list[Any]
    """Results of the head that are carried: those of loads, which others need."""
    repeated: list[Any]
    """What of the head others need besides: it is computed again."""

    @staticmethod
    def of(loop: Any) -> _Step | None:
        *inside, terminator = [op.operation for op in in_block(body(loop))]
        sums = [value for value in list(body(loop).arguments)[1:] if not _is_position(value)]
        products = _using(inside, sums)
        # Sums may be taken apart in front of the loads: that is no product yet, and belongs to the products.
        first = next((number for number, op in enumerate(inside) if op in products and op.name not in _PURE), 0)
        head = [op for op in inside[:first] if op not in products]
        rest = [op for op in inside[:first] if op in products] + inside[first:]
        others = [op for op in rest if op not in products]
        if not any(op.name in _BARRIERS for op in head) or not _feeding(head, products, inside):
            return None
        loads = _feeding(others, products, inside)
        end = max((number for number, op in enumerate(rest) if op in loads), default=-1) + 1
        tail, last = ([op for op in rest[end:] if (op in products) == multiplies] for multiplies in (False, True))
        carried, repeated = _needed(head, [*rest, terminator])
        return _Step(head, rest[:end], tail, last, carried, repeated) if last else None


def _is_position(value: Any) -> bool:
    """Whether what a loop carries says where it is: an index, or where the ring is."""
    return isinstance(value.type, ir.IndexType) or any(user.name.startswith("tile.") for user in users(value))


def _using(inside: list[Any], values: Iterable[Any]) -> set[Any]:
    """The operations that compute from some values, directly or not."""
    known, found = set(values), set[Any]()
    for op in inside:
        used = {value for each in [op, *operations(op)] for value in each.operation.operands}
        if used & known:
            found.add(op)
            known.update(op.results)
    return found


def _feeding(candidates: list[Any], products: set[Any], inside: list[Any]) -> set[Any]:
    """The loads among some operations whose values products take."""
    wanted: set[Any] = {value for op in products for value in op.operands}
    found: set[Any] = set()
    for op in reversed(inside):
        if op not in products and any(value in wanted for value in op.results):
            wanted.update(op.operands)
            if op.name in _LOADS:
                found.add(op)
    return found & set(candidates)


def _is_pure(op: Any) -> bool:
    return op.name.startswith("arith.") or op.name in _PURE


def _needed(head: list[Any], users: list[Any]) -> tuple[list[Any], list[Any]]:
    """What others need of the head: results that are carried, and operations that are repeated, in order."""
    wanted = {value for op in users for each in [op, *operations(op)] for value in each.operation.operands}
    found, repeated = list[Any](), list[Any]()
    for op in reversed(head):
        used = [value for value in op.results if value in wanted]
        if used and _is_pure(op):
            wanted.update(op.operands)
            repeated.insert(0, op)
        elif used:
            found += used
    for value in found:
        if isinstance(value.type, ir.MemRefType):
            raise pass_error(value.owner, "memory that is made in each step of a k loop cannot be carried to the next")
    return found, repeated


@dataclass
class _Rotated:
    """The new loop for an old one."""

    loop: Any
    step: _Step
    by: int
    """How far one step is from the next."""

    def build(self, lower: int, upper: int) -> None:
        """Replaces a loop over a known number of steps, at least one."""
        old = self.loop.operation
        with ir.InsertionPoint(old), old.location:
            last = range(lower, upper, self.by)[-1]
            self._replace(self._steps(constants.index(lower), constants.index(last), several=last > lower))

    def build_open(self) -> None:
        """Replaces a loop over a number of steps that is known at run time only."""
        old = self.loop.operation
        lower, upper, *inits = [value for number, value in enumerate(old.operands) if number != 2]
        arith, scf = dialect("arith"), dialect("scf")
        with ir.InsertionPoint(old), old.location:
            some = arith.CmpIOp(arith.CmpIPredicate.ult, lower, upper).result
            branch = scf.IfOp(some, [value.type for value in inits], has_else=True)
            with ir.InsertionPoint(branch.then_block):
                whole = indexing.div(indexing.sub(indexing.sub(upper, lower), 1), self.by)
                last = indexing.add(lower, indexing.mul(whole, self.by))
                scf.YieldOp(self._steps(lower, last, several=True))
            with ir.InsertionPoint(branch.else_block):
                scf.YieldOp(inits)
            self._replace(list(branch.results))

    def _steps(self, lower: Any, last: Any, several: bool) -> list[Any]:
        """All steps at the insertion point; what the old loop gives."""
        old = self.loop.operation
        inits, number = list(old.operands)[3:], len(old.results)
        state = [*inits, *self._head(lower, inits)]
        if several:
            new = dialect("scf").ForOp(lower, last, constants.index(self.by), state)
            with ir.InsertionPoint(new.body):
                variable, *carried = list(new.body.arguments)
                dialect("scf").YieldOp(self._step(variable, carried[:number], carried[number:], self.by))
            state = list(new.results)
        return self._step(last, state[:number], state[number:], 0)

    def _replace(self, results: list[Any]) -> None:
        for before, after in zip(list(self.loop.operation.results), results, strict=True):
            before.replace_all_uses_with(after)
        self.loop.operation.erase()

    def _head(self, variable: Any, carried: list[Any]) -> list[Any]:
        """The head of the step of `variable`; what is carried of it."""
        values = dict(zip(body(self.loop).arguments, [variable, *carried], strict=True))
        for op in self.step.head:
            clone(op, values)
        return [values[value] for value in self.step.carried]

    def _step(self, variable: Any, carried: list[Any], ahead: list[Any], by: int) -> list[Any]:
        """A step whose head is done, and the head of the next one, `by` further on, if there is one; what is carried
        to it."""
        values = dict(zip(body(self.loop).arguments, [variable, *carried], strict=True))
        values.update(zip(self.step.carried, ahead, strict=True))
        for op in self.step.repeated:
            clone(op, values)
        for op in [*self.step.middle, *self.step.tail]:
            clone(op, values)
        *_, terminator = [op.operation for op in in_block(body(self.loop))]
        following: list[Any] = []
        if by:
            indices = [values.get(value, value) for value in terminator.operands]
            following = self._head(dialect("arith").AddIOp(variable, constants.index(by)).result, indices)
        for op in self.step.last:
            clone(op, values)
        return [*(values.get(value, value) for value in terminator.operands), *following]
