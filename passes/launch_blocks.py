"""launch-blocks: the parallel loop over blocks becomes a gpu.launch.

Expects an scf.forall mapped to `#gpu.block<x>` with a constant bound. Leaves a gpu.launch with one thread block for each
iteration, of `threads` threads along x. Upstream's gpu-kernel-outlining makes the kernel function of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.walk import body, in_block, named
from mlir_gemm.passes.base import Pass


@dataclass(frozen=True)
class LaunchBlocks(Pass):
    """Turn block loops into gpu.launch."""

    name: ClassVar[str] = "launch-blocks"
    threads: int = 128
    """Threads in a block."""

    def run(self, module: Any) -> None:
        for forall in named(module, "scf.forall"):
            _launch(forall, self.threads)


def _launch(forall: Any, threads: int) -> None:
    if [str(m) for m in forall.attributes["mapping"]] != ["#gpu.block<x>"]:
        raise pass_error(forall, "only an scf.forall mapped to #gpu.block<x> becomes a launch")
    blocks = ir.DenseI64ArrayAttr(forall.attributes["staticUpperBound"])[0]
    with ir.InsertionPoint(forall), forall.location:
        launch = dialect("gpu").LaunchOp((blocks, 1, 1), (threads, 1, 1))
    target = body(launch)
    for operation in in_block(body(forall))[:-1]:
        target.append(operation)
    body(forall).arguments[0].replace_all_uses_with(target.arguments[0])
    with ir.InsertionPoint(target), forall.location:
        dialect("gpu").TerminatorOp()
    forall.operation.erase()
