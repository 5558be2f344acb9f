"""register-prefetch: the next k tile is loaded before the compute and stored after it (Khandelwal's delayed copies).

Expects a k loop that fills shared memory before the compute: by tile.copy, or by block-wide tile.store of tiles
computed from tile.load. Leaves
- before the loop, what fills the buffers of the first step;
- in each step: tile.load of the next tile into registers and a barrier (in this order when `early`), the compute on the
  current tile, a second barrier if the next tile goes into the buffer that was just read (one stage), the arithmetic on
  the loaded values, if any, and tile.store of them;
- after the loop, a barrier and the compute on the last tile (the last step, peeled).
The loads run while the products are computed. Refuses a k loop that does not count from 0 to a constant of at least
1, one that reads a buffer before all are filled, and copies that depend on what the loop carries. A second run changes
nothing: nothing that fills a buffer stands before a compute any more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import affine, constants
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.copies.fills import (
    Fill,
    at_step,
    check_filled_first,
    check_guarded,
    check_independent,
    compute,
    fills_of,
    load_ahead,
    rotates,
    store_loaded,
)
from mlir_gemm.dialect.copies.pipelined_steps import steps_before_the_last
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.walk import body, in_block, named
from mlir_gemm.passes.base import Pass


@dataclass(frozen=True)
class RegisterPrefetch(Pass):
    """Load the next k tile before computing, store it afterwards."""

    name: ClassVar[str] = "register-prefetch"
    early: bool = True
    """Put the loads before the barrier, which holds them there. After it the assembler may spread them over the
    compute, which is better when it has registers to spare, or delay them to its end, which is worse."""

    def run(self, module: Any) -> None:
        for loop in named(module, "affine.for"):
            if affine.level_of(loop) != "k" or any(op.operation.name == "gpu.barrier" for op in in_block(body(loop))):
                continue
            fills = fills_of(loop)
            if fills:
                _prefetch(loop, fills, self.early)


def _prefetch(loop: Any, fills: list[Fill], early: bool) -> None:
    trips = affine.bound_of(loop)
    if trips is None or (isinstance(trips, int) and not trips):
        raise pass_error(loop, "a k loop that does not count from 0 in steps of 1 to at least 1 cannot be prefetched")
    check_filled_first(loop, fills)
    check_independent(loop, fills)
    if not isinstance(trips, int):
        check_guarded(loop, fills)
    iv, *carried = list(body(loop).arguments)
    results = list(loop.operation.operands)[len(loop.operation.operands) - len(loop.operation.results) :]
    with ir.InsertionPoint(loop), loop.location:
        first = {iv: constants.index(0)}
        for fill in fills:
            for member in fill.members:
                at_step(member, loop, first)
        before = steps_before_the_last(loop, trips)
        if not isinstance(before, int) or before:
            steps = affine.make_for(before, "k", results)
            with ir.InsertionPoint(body(steps)):
                _step(loop, steps, fills, early)
            results = list(steps.operation.results)
        dialect("gpu").BarrierOp()
        number = constants.index(before) if isinstance(before, int) else before
        last = compute(loop, fills, dict(zip([iv, *carried], [number, *results], strict=True)))
    for old, new in zip(list(loop.operation.results), last, strict=True):
        old.replace_all_uses_with(new)
    loop.operation.erase()


def _step(loop: Any, steps: Any, fills: list[Fill], early: bool) -> None:
    gpu = dialect("gpu")
    current = list(body(steps).arguments)
    if not early:
        gpu.BarrierOp()
    values = {affine.induction_variable(loop): affine.linear([(1, current[0])], 1)}
    loaded = [load_ahead(fill, loop, values) for fill in fills]
    if early:
        gpu.BarrierOp()
    results = compute(loop, fills, dict(zip(body(loop).arguments, current, strict=True)))
    if not all(rotates(fill, loop) for fill in fills):
        gpu.BarrierOp()
    for fill, tile_ in zip(fills, loaded, strict=True):
        store_loaded(fill, loop, values, tile_)
    affine.yield_(results)
