"""Programs: functions that run kernels, which stand in modules of their own beside them, on buffers.

tile.run takes addresses (`memref.extract_aligned_pointer_as_index`), because its operands must all have one type: the
dialect's definition cannot say that each may have its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlir_gemm.dialect import tile
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.walk import body, in_block

_ADDRESS = "memref.extract_aligned_pointer_as_index"


def run(kernel: str, buffers: Sequence[Any]) -> Any:
    """Runs a kernel on buffers, at the insertion point; the tile.run."""
    index = ir.IndexType.get()
    addresses = [ir.Operation.create(_ADDRESS, results=[index], operands=[buffer]).result for buffer in buffers]
    return tile.run(kernel, addresses)


def buffers_of(run_: Any) -> list[Any]:
    """The buffers that a tile.run is for, in the order of its kernel's arguments."""
    return [address.owner.operands[0] if _is_address(address) else address for address in run_.operation.operands]


def set_buffers(run_: Any, buffers: Sequence[Any]) -> None:
    """Replaces a tile.run by one on other buffers."""
    op = run_.operation
    with ir.InsertionPoint(op), op.location:
        run(kernel_of(op), buffers)
    drop(op)


def drop(run_: Any) -> None:
    """Removes a tile.run, and the addresses that nothing else needs."""
    op = run_.operation
    old = [address.owner for address in op.operands if _is_address(address)]
    op.erase()
    for each in dict.fromkeys(old):
        if not any(True for _ in each.results[0].uses):
            each.erase()


def move_before(value: Any, place: Any) -> None:
    """Moves what makes a buffer in front of an operation of its block that comes to use it."""
    owner = value.owner
    if hasattr(owner, "operations") or owner.operation.is_before_in_block(place):
        return
    for operand in owner.operation.operands:
        move_before(operand, place)
    owner.operation.move_before(place)


def kernel_of(run_: Any) -> str:
    """The name of the kernel that a tile.run runs."""
    return ir.StringAttr(run_.operation.attributes["kernel"]).value


def runs_of(function: Any) -> list[Any]:
    """The tile.runs of a function, in order."""
    return [op for op in in_block(body(function)) if op.operation.name == "tile.run"]


def kernel_modules(module: Any) -> dict[str, Any]:
    """The modules of kernels in a program, by name."""
    modules = [op for op in in_block(body(module)) if op.operation.name == "builtin.module"]
    return {ir.StringAttr(op.operation.attributes["sym_name"]).value: op for op in modules}


def function_of(kernel_module: Any) -> Any:
    """The function of a kernel's module. Raises PassError if there is not exactly one with a body."""
    functions = [
        op for op in in_block(body(kernel_module)) if op.operation.name == "func.func" and len(op.regions[0].blocks)
    ]
    if len(functions) != 1:
        raise pass_error(kernel_module, f"a kernel's module holds {len(functions)} functions with a body; expected one")
    return functions[0]


def _is_address(value: Any) -> bool:
    return getattr(value.owner, "name", "") == _ADDRESS
