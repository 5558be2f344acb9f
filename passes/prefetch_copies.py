"""prefetch-copies: the next k tile is loaded before the compute and stored after it (Khandelwal's delayed copies).

Expects a k loop with tile.copy into shared memory in front of the compute. Leaves
- in front of the loop, the copies of the first tile;
- in each step: tile.load of the next tile into registers and a barrier (in this order when `early`), the compute on the
  current tile, a second barrier if the next tile goes into the buffer that was just read (one stage), tile.store of the
  loaded values;
- behind the loop, a barrier and the compute on the last tile (the last step, peeled).
The loads' latency is hidden behind the compute. Refuses a k loop that does not count from 0 to a constant of at least
1, one that reads a buffer before its last copy, and copies that depend on what the loop carries. A second run changes
nothing: no copy is left in the loop.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import affine, constants, tile
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.clone import clone, clone_slice
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.walk import body, in_block, named
from mlir_gemm.passes.base import Pass
from mlir_gemm.passes.order_copies import check_copies_first, copies_of, rotates


@dataclass(frozen=True)
class PrefetchCopies(Pass):
    """Load the next k tile before computing, store it afterwards."""

    name: ClassVar[str] = "prefetch-copies"
    early: bool = True
    """Put the loads in front of the barrier, which holds them there. Behind it the assembler may spread them over the
    compute, which is better when it has registers to spare, or delay them to its end, which is worse."""

    def run(self, module: Any) -> None:
        for loop in named(module, "affine.for"):
            if affine.level_of(loop) == "k" and copies_of(loop):
                _prefetch(loop, self.early)


def _prefetch(loop: Any, early: bool) -> None:
    trips = affine.trip_count(loop)
    if not trips or not affine.starts_at_zero_by_one(loop):
        raise pass_error(
            loop, "a k loop that does not count from 0 in steps of 1 to a constant of at least 1 cannot be prefetched"
        )
    copies = copies_of(loop)
    check_copies_first(loop, copies)
    for copy in copies:
        if any(_depends_on_carried(value, body(loop)) for value in copy.operands):
            raise pass_error(copy, "a copy that depends on what the k loop carries cannot be made a step ahead")
    gpu = dialect("gpu")
    inits = list(loop.operation.operands)[len(loop.operation.operands) - len(loop.operation.results) :]
    with ir.InsertionPoint(loop), loop.location:
        for copy in copies:
            target, source, *offsets = _at_step(copy, loop, constants.index(0))
            tile.copy(target, source, offsets)
        carried = inits
        if trips > 1:
            steps = affine.make_for(trips - 1, "k", inits)
            with ir.InsertionPoint(body(steps)):
                _step(loop, steps, copies, early)
            carried = list(steps.operation.results)
        gpu.BarrierOp()
        last = _compute(loop, constants.index(trips - 1), carried)
    for old, new in zip(list(loop.operation.results), last, strict=True):
        old.replace_all_uses_with(new)
    loop.operation.erase()


def _depends_on_carried(value: Any, block: Any) -> bool:
    if hasattr(value.owner, "operations"):
        return value in list(block.arguments)[1:]
    owner = value.owner.operation
    return owner.block == block and any(_depends_on_carried(each, block) for each in owner.operands)


def _at_step(copy: Any, loop: Any, step: Any) -> list[Any]:
    """The operands of a copy as they are in another step of the loop."""
    return clone_slice(copy.operands, body(loop), {affine.induction_variable(loop): step})


def _step(loop: Any, steps: Any, copies: list[Any], early: bool) -> None:
    gpu = dialect("gpu")
    iv, *carried = list(body(steps).arguments)
    if not early:
        gpu.BarrierOp()
    following = affine.linear([(1, iv)], 1)
    at_next = [_at_step(copy, loop, following) for copy in copies]
    loaded = [_load(target.type, source, offsets) for target, source, *offsets in at_next]
    if early:
        gpu.BarrierOp()
    results = _compute(loop, iv, carried)
    if not all(rotates(copy, loop) for copy in copies):
        gpu.BarrierOp()
    origin = constants.index(0)
    for value, (target, *_) in zip(loaded, at_next, strict=True):
        tile.store(value, target, [origin] * len(target.type.shape))
    affine.yield_(results)


def _load(buffer_type: Any, source: Any, offsets: list[Any]) -> Any:
    return tile.load(source, offsets, ir.VectorType.get(buffer_type.shape, buffer_type.element_type))


def _compute(loop: Any, step: Any, carried: list[Any]) -> list[Any]:
    """Everything in the loop but its copies, for one step; returns what the step yields."""
    values = dict(zip(body(loop).arguments, [step, *carried], strict=True))
    *inside, terminator = in_block(body(loop))
    for operation in inside:
        if operation.operation.name != "tile.copy":
            clone(operation, values)
    return [values.get(value, value) for value in terminator.operation.operands]
