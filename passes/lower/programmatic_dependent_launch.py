"""programmatic-dependent-launch: a kernel starts while the one before it in the stream still runs.

Expects kernel functions whose ring is lowered: barriers are initialised, and a gpu.barrier follows; or without a
barrier. Leaves nvvm.griddepcontrol `launch_dependents` at the start, which lets the next kernel start as soon as there
is room, and `wait` after the barrier, or at the start too: until then nothing that another kernel writes, or reads, is
touched. With `early=false` the next kernel starts when this one ends: many small blocks would all wait on the first SMs
that are free, and then work there alone. The kernel carries `tile.dependent_launch`, by which the launch asks for it
(programmatic dependent launch). A second run changes nothing. Refuses kernels that touch global memory before the
barrier.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.walk import body, in_block, named, operations
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.attributes import DEPENDENT_LAUNCH

_TOUCHING = ("tile.load", "tile.store", "memref.load", "memref.store", "vector.load", "vector.store")


@dataclass(frozen=True)
class ProgrammaticDependentLaunch(Pass):
    """Start kernels early."""

    name: ClassVar[str] = "programmatic-dependent-launch"
    early: bool = True
    """Let the next kernel start as soon as all blocks of this one have."""
    at_start: bool = False
    """Wait at the start, in a kernel with barriers too: it has no rings to set up before the first of them."""

    def run(self, module: Any) -> None:
        for kernel in named(module, "gpu.func"):
            if DEPENDENT_LAUNCH in kernel.attributes:
                continue
            inside = [op.operation for op in in_block(body(kernel))]
            barriers = [op for op in inside if op.name == "gpu.barrier" and not self.at_start]
            ahead = inside[: inside.index(barriers[0])] if barriers else []
            for op in [each.operation for first in ahead for each in (first, *operations(first))]:
                if op.name in _TOUCHING:
                    raise pass_error(op, f"'{op.name}' in front of the first barrier; the kernel cannot start early")
            nvvm = dialect("nvvm")
            if self.early:
                with ir.InsertionPoint(inside[0]), kernel.location:
                    nvvm.GriddepcontrolOp(nvvm.GridDepActionKind.launch_dependents)
            with ir.InsertionPoint.after(barriers[0]) if barriers else ir.InsertionPoint(inside[0]), kernel.location:
                nvvm.GriddepcontrolOp(nvvm.GridDepActionKind.wait)
            kernel.attributes[DEPENDENT_LAUNCH] = ir.UnitAttr.get()
