"""launch-blocks: the parallel loop over blocks becomes a gpu.launch.

Expects an scf.forall mapped to `#gpu.block<x>`. Leaves a gpu.launch with one thread block for
each iteration, of `threads` threads along x. Upstream's gpu-kernel-outlining makes the kernel function of it, on which
`threads_of` reads that number. Refuses any other scf.forall.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import constants, planes, positions, windows
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.walk import body, in_block, is_within, named, operations, parents
from mlir_gemm.errors import PassError
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.attributes import WARPS
from mlir_gemm.spec.threads import LANES


@dataclass(frozen=True)
class LaunchBlocks(Pass):
    """Turn block loops into gpu.launch."""

    name: ClassVar[str] = "launch-blocks"
    threads: int = 128
    """Threads in a block."""

    def run(self, module: Any) -> None:
        if not 1 <= self.threads <= 1024 or self.threads % LANES:
            raise PassError(f"pass 'launch-blocks': threads={self.threads}; expected a multiple of {LANES} up to 1024")
        for forall in named(module, "scf.forall"):
            _launch(forall, self.threads)


def threads_of(kernel: Any) -> int:
    """Threads in a block of a kernel function. Raises PassError when it does not say, or has threads along y or z."""
    if "known_block_size" not in kernel.attributes:
        raise pass_error(kernel, "a kernel without known_block_size; the number of its threads must be known")
    along_x, *others = ir.DenseI32ArrayAttr(kernel.attributes["known_block_size"])
    if others != [1, 1] or along_x % LANES:
        size = "x".join(map(str, [along_x, *others]))
        raise pass_error(kernel, f"a block of {size} threads; expected whole warps of {LANES} threads along x only")
    return along_x


def _launch(forall: Any, threads: int) -> None:
    attributes = forall.attributes
    if "mapping" not in attributes or [str(m) for m in attributes["mapping"]] != ["#gpu.block<x>"]:
        raise pass_error(forall, "only an scf.forall mapped to #gpu.block<x> becomes a launch")
    if any(parent.operation.name in ("scf.forall", "gpu.launch") for parent in parents(forall)):
        raise pass_error(forall, "a block loop inside another cannot become a launch")
    lower, blocks, step = (ir.DenseI64ArrayAttr(attributes[f"static{name}"])[0] for name in _BOUNDS)
    dynamic = ir.ShapedType.get_dynamic_size()
    if (lower, step) != (0, 1) or (blocks < 1 and blocks != dynamic) or list(forall.operation.results):
        raise pass_error(forall, "only an scf.forall without results, from 0 in steps of 1, becomes a launch")
    if blocks == dynamic:
        blocks = forall.operation.operands[0]
    warps = constants.number_of(forall, WARPS, threads // LANES)
    if warps * LANES != threads:
        raise pass_error(forall, f"threads={threads} for tiles divided among {warps} warps; expected {warps * LANES}")
    with ir.InsertionPoint(forall), forall.location:
        launch = dialect("gpu").LaunchOp((blocks, 1, 1), (threads, 1, 1))
    target = body(launch)
    for operation in in_block(body(forall))[:-1]:
        target.append(operation)
    body(forall).arguments[0].replace_all_uses_with(target.arguments[0])
    with ir.InsertionPoint(target), forall.location:
        dialect("gpu").TerminatorOp()
    forall.operation.erase()
    _take_positions(launch, target)


def _take_positions(launch: Any, target: Any) -> None:
    """Positions that the kernel reads, and its views by windows and of planes, are its own: neither memory nor an
    argument."""
    found: dict[Any, Any] = {}
    for operation in list(operations(launch)):
        for number, value in enumerate(operation.operation.operands):
            computed = any(each(value) for each in _COMPUTED)
            if computed and not is_within(value.owner, launch):
                if value not in found:
                    with ir.InsertionPoint.at_block_begin(target):
                        found[value] = value.owner.operation.clone().results[0]
                operation.operation.operands[number] = found[value]


_COMPUTED = (positions.is_position, windows.is_windows, planes.is_planes)
_BOUNDS = ("LowerBound", "UpperBound", "Step")
