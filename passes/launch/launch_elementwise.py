"""launch-elementwise: a parallel loop over elements becomes a gpu.launch with a thread for each iteration.

Expects, in a function marked `tile.kind = "elementwise"`, an scf.forall without mapping (`elementwise-loops`).
Leaves a gpu.launch of blocks of up to `threads` threads along x: the last loop is the fastest, so that neighbouring
threads take neighbouring iterations of it; iterations beyond the last one do nothing. Numbers of iterations below 2^31
are divided in 32 bits, which is several times cheaper, larger ones, and those not known before a call, in 64. Refuses
any other scf.forall in such a function.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import constants, indexing
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.walk import body, in_block, named
from mlir_gemm.errors import PassError
from mlir_gemm.passes.base import Pass
from mlir_gemm.passes.tile.elementwise_loops import is_elementwise_kernel
from mlir_gemm.spec.threads import LANES

LARGEST_GRID = 2**31 - 1
"""Blocks that a grid may have along x."""


@dataclass(frozen=True)
class LaunchElementwise(Pass):
    """Give each iteration of an elementwise kernel a thread."""

    name: ClassVar[str] = "launch-elementwise"
    threads: int = 256
    """Most threads in a block."""
    exact: bool = False
    """Let each block have all of these threads, as one beside which others are launched."""
    processors: int = 1
    """Multiprocessors that there should be blocks for: where there are too few, blocks are made smaller."""

    def run(self, module: Any) -> None:
        if not 1 <= self.threads <= 1024 or self.threads % LANES:
            raise PassError(
                f"pass 'launch-elementwise': threads={self.threads}; expected a multiple of {LANES} up to 1024"
            )
        for function in named(module, "func.func"):
            if is_elementwise_kernel(function):
                for forall in named(function, "scf.forall"):
                    _launch(forall, self.threads, self.threads if self.exact else LANES, self.processors)


def _launch(forall: Any, most: int, least: int, processors: int) -> None:
    attributes = forall.attributes
    lower, sizes, step = (list(ir.DenseI64ArrayAttr(attributes[f"static{name}"])) for name in _BOUNDS)
    dynamic, values = ir.ShapedType.get_dynamic_size(), iter(list(forall.operation.operands))
    plain = set(lower) <= {0} and set(step) <= {1}
    if "mapping" in attributes or list(forall.operation.results) or not plain:
        raise pass_error(
            forall, "only an scf.forall without mapping and results, from 0 in steps of 1, becomes threads"
        )
    sizes: list[Any] = [next(values) if size == dynamic else size for size in sizes]
    gpu, scf = dialect("gpu"), dialect("scf")
    with ir.InsertionPoint(forall), forall.location:
        total = indexing.product(sizes)
        threads = most
        if isinstance(total, int):
            threads = min(most, max(least, total // max(processors, 1) // LANES * LANES))
        blocks = indexing.ceildiv(total, threads)
        if isinstance(blocks, int) and not 0 < blocks <= LARGEST_GRID:
            raise pass_error(forall, f"{total} iterations; expected 1 to {LARGEST_GRID * most}")
        launch = gpu.LaunchOp((blocks, 1, 1), (threads, 1, 1))
    target = body(launch)
    with forall.location:
        with ir.InsertionPoint(target):
            number = _number(total, threads, target.arguments[0], target.arguments[3])
            inside = target
            if not isinstance(total, int) or total % threads:
                arith = dialect("arith")
                known = arith.CmpIOp(arith.CmpIPredicate.ult, number, _like(number, total)).result
                inside = scf.IfOp(known).then_block
        with ir.InsertionPoint(inside):
            positions = _positions(number, sizes)
        for operation in in_block(body(forall))[:-1]:
            inside.append(operation)
        for argument, position in zip(body(forall).arguments, positions, strict=True):
            argument.replace_all_uses_with(position)
        with ir.InsertionPoint(target):
            gpu.TerminatorOp()
        if inside != target:
            with ir.InsertionPoint(inside):
                scf.YieldOp([])
    forall.operation.erase()


def _number(total: Any, threads: int, block: Any, thread: Any) -> Any:
    """The number of the iteration: an i32 if all numbers fit, else an index."""
    if not isinstance(total, int) or total + threads >= 1 << 31:
        return indexing.add(indexing.mul(block, threads), thread)
    arith, narrow = dialect("arith"), ir.IntegerType.get_signless(32)
    block, thread = (arith.IndexCastUIOp(narrow, value).result for value in (block, thread))
    return arith.AddIOp(arith.MulIOp(block, _like(block, threads)).result, thread).result


def _like(value: Any, number: Any) -> Any:
    if not isinstance(number, int):
        return number
    if isinstance(value.type, ir.IndexType):
        return constants.index(number)
    return dialect("arith").ConstantOp(value.type, ir.IntegerAttr.get(value.type, number)).result


def _positions(number: Any, sizes: list[Any]) -> list[Any]:
    """The position in each loop, as an index, of an iteration by its number."""
    arith = dialect("arith")
    found: list[Any] = []
    for place in reversed(range(len(sizes))):
        position = number
        if place:
            position = arith.RemUIOp(number, _like(number, sizes[place])).result
            number = arith.DivUIOp(number, _like(number, sizes[place])).result
        if not isinstance(position.type, ir.IndexType):
            position = arith.IndexCastUIOp(ir.IndexType.get(), position).result
        found.append(position)
    return found[::-1]


_BOUNDS = ("LowerBound", "UpperBound", "Step")
