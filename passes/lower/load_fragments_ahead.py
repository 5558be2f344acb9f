"""load-fragments-ahead: the first fragments of the next k tile are loaded before the last products of this one.

Expects a kernel function after `distribute-copies`, with loops over k that carry accumulators, of constant bounds,
whose products are unrolled. A step begins with waits, barriers, copies and the loads of its first fragments (the head),
goes on with products and further loads, and ends with products whose fragments are loaded, stores and barriers. Leaves
- before the loop, the head of the first step;
- in the loop, over all steps but the last: the products up to the last load of a fragment, the stores and barriers that
  followed, the head of the next step, and the last products. Fragments, and what else a head loads, are carried;
- after the loop, the last step without a head.
The assembler moves loads ahead of products, but no load over a barrier, so that the tensor cores would wait after each.
Waits, commits, copies and barriers keep their order. Loops without a barrier and loads before their products stay as
they are, and so does what this pass left: a second run changes nothing. Refuses loops whose bounds are not constant,
and a head that makes memory.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.clone import clone
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.walk import body, in_block, named, operations
from mlir_gemm.passes.base import Pass

_PURE = (
    "memref.subview", "memref.dim", "gpu.thread_id", "gpu.block_id", "tile.unit_id", "affine.apply", "vector.extract",
    "vector.insert", "vector.broadcast", "vector.from_elements", "vector.bitcast", "vector.shape_cast",
)  # fmt: skip
"""Operations, beside those of arith, that are repeated where they are needed rather than carried."""
_LOADS = ("nvgpu.ldmatrix", "vector.load", "memref.load", "gpu.subgroup_mma_load_matrix")


@dataclass(frozen=True)
class LoadFragmentsAhead(Pass):
    """Load the first fragments of a k tile before the barrier's products."""

    name: ClassVar[str] = "load-fragments-ahead"

    def run(self, module: Any) -> None:
        for kernel in named(module, "gpu.func"):
            for loop in named(kernel, "scf.for"):
                _rotate(loop)


def _rotate(loop: Any) -> None:
    step = _Step.of(loop)
    if step is None:
        return
    bounds = [constants.integer_of(value) for value in list(loop.operation.operands)[:3]]
    if None in bounds:
        raise pass_error(loop, "a k loop whose bounds are not constant: its last step cannot be taken apart")
    lower, upper, by = (bound or 0 for bound in bounds)
    trips = len(range(lower, upper, by))
    if trips:
        _Rotated(loop, step).build(lower, trips, by)


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
        sums = [value for value in list(body(loop).arguments)[1:] if not isinstance(value.type, ir.IndexType)]
        products = _using(inside, sums)
        # Sums may be taken apart in front of the loads: that is no product yet, and belongs to the products.
        first = next((number for number, op in enumerate(inside) if op in products and op.name not in _PURE), 0)
        head = [op for op in inside[:first] if op not in products]
        rest = [op for op in inside[:first] if op in products] + inside[first:]
        others = [op for op in rest if op not in products]
        if not any(op.name == "gpu.barrier" for op in head) or not _feeding(head, products, inside):
            return None
        loads = _feeding(others, products, inside)
        end = max((number for number, op in enumerate(rest) if op in loads), default=-1) + 1
        tail, last = ([op for op in rest[end:] if (op in products) == multiplies] for multiplies in (False, True))
        carried, repeated = _needed(head, [*rest, terminator])
        return _Step(head, rest[:end], tail, last, carried, repeated) if last else None


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

    def build(self, lower: int, trips: int, by: int) -> None:
        """Replaces the old loop."""
        old = self.loop.operation
        inits, number = list(old.operands)[3:], len(old.results)
        with ir.InsertionPoint(old), old.location:
            ahead = self._head(constants.index(lower), inits)
            state = [*inits, *ahead]
            if trips > 1:
                bounds = [constants.index(each) for each in (lower, lower + (trips - 1) * by, by)]
                new = dialect("scf").ForOp(*bounds, state)
                with ir.InsertionPoint(new.body):
                    variable, *carried = list(new.body.arguments)
                    dialect("scf").YieldOp(self._step(variable, carried[:number], carried[number:], by))
                state = list(new.results)
            last = constants.index(lower + (trips - 1) * by)
            results = self._step(last, state[:number], state[number:], 0)
        for before, after in zip(list(old.results), results, strict=True):
            before.replace_all_uses_with(after)
        old.erase()

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
