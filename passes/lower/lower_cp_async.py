"""lower-cp-async: tile.commit and tile.await become nvgpu operations.

Expects them in a kernel function, each tile.await after some tile.commit on every way to it. Leaves
nvgpu.device_async_create_group and nvgpu.device_async_wait. The wait counts groups from the last one back, whatever
token it is given: any group made before will do. Refuses tile.await with no tile.commit before it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.walk import named, parents
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.attributes import COMMIT

_OUTERMOST = ("builtin.module", "gpu.module", "gpu.func")


@dataclass(frozen=True)
class LowerCpAsync(Pass):
    """Lower commits and waits of asynchronous copies."""

    name: ClassVar[str] = "lower-cp-async"

    def run(self, module: Any) -> None:
        for kernel in named(module, "gpu.func"):
            groups: list[Any] = []
            for operation in named(kernel, "tile.commit", "tile.await"):
                with ir.InsertionPoint(operation), operation.location:
                    if operation.operation.name == "tile.commit":
                        groups.append(_group())
                    else:
                        _wait(operation, groups)
                operation.operation.erase()


def _group() -> Any:
    """A group without operands: the hardware knows its copies. It carries an attribute because without either, MLIR's
    parser would take the next line for its operands."""
    group = dialect("nvgpu").DeviceAsyncCreateGroupOp([])
    group.operation.attributes[COMMIT] = ir.UnitAttr.get()
    return group


def _wait(await_: Any, groups: list[Any]) -> None:
    inside = [op for op in (await_, *parents(await_)) if op.operation.name not in _OUTERMOST]
    blocks = [op.operation.block for op in inside]
    before = [group for group in groups if any(group.operation.block == block for block in blocks)]
    if not before:
        raise pass_error(await_, "tile.await with no tile.commit before it; there is nothing to wait for")
    pending = ir.IntegerAttr(await_.operation.attributes["pending"]).value
    dialect("nvgpu").DeviceAsyncWaitOp(before[-1].operation.results[0], numGroups=pending)
