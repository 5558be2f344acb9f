"""Programs: a module whose function runs several kernels, each in a module of its own beside it.

The function `main` holds memref.alloc for intermediate buffers, memref.get_global for constants and a tile.run for each
launch, in order. A module whose function is itself one kernel is not a program: it is called flat here.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from mlir_gemm.dialect import stream_k
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.locations import input_error
from mlir_gemm.dialect.walk import body, in_block
from mlir_gemm.errors import Error, InputError
from mlir_gemm.spec.attributes import KIND, NOTE
from mlir_gemm.spec.workspace import Buffer

RUN = "tile.run"
_IDLE = ("func.return", "memref.alloc", "memref.dealloc", "memref.get_global", "arith.constant",
         "memref.dim", "tile.size", "arith.muli", "arith.divui")  # fmt: skip
"""Operations of a function that has nothing to run."""


def nested_kernels(module: Any) -> list[tuple[str, Any]]:
    """The name and the module of each kernel of a program, in order; none for a flat module."""
    found: list[tuple[str, Any]] = []
    for operation in in_block(body(module)):
        if operation.operation.name != "builtin.module":
            continue
        if "sym_name" not in operation.operation.attributes:
            raise input_error(operation, "a module inside the module has no name; a kernel's module needs one")
        found.append((ir.StringAttr(operation.operation.attributes["sym_name"]).value, operation))
    return found


def outer_function(module: Any) -> Any:
    """The one function with a body that stands in the module itself. Raises InputError if there is none or more."""
    functions = [
        operation
        for operation in in_block(body(module))
        if operation.operation.name == "func.func" and len(operation.regions[0].blocks)
    ]
    if not functions:
        raise InputError("the module has no function with a body")
    if len(functions) > 1:
        raise input_error(functions[1], "the module has more than one function; expected one")
    return functions[0]


def name_of(module: Any) -> str:
    """The name of that function."""
    return ir.StringAttr(outer_function(module).attributes["sym_name"]).value


def is_program(module: Any) -> bool:
    """Whether a module that has been imported runs other than exactly one kernel."""
    if nested_kernels(module):
        return True
    return all(operation.operation.name in _IDLE for operation in in_block(body(outer_function(module))))


def runs_of(function: Any) -> list[tuple[str, list[Any]]]:
    """What a program's function runs, in order: the kernel's name and the buffers that it gets."""
    found: list[tuple[str, list[Any]]] = []
    for operation in in_block(body(function)):
        name = operation.operation.name
        if name == RUN:
            kernel = ir.StringAttr(operation.operation.attributes["kernel"]).value
            found.append((kernel, [buffer_of(operand) for operand in operation.operation.operands]))
        elif name not in _IDLE and len(operation.operation.operands) != 1:
            raise input_error(operation, f"'{name}' in a program; expected buffers and {RUN}")
    return found


def buffer_of(value: Any) -> Any:
    """The buffer of an operand of tile.run: an argument, or the result of memref.alloc or memref.get_global. Views of
    it and its address are looked through: a kernel gets the buffer from its start."""
    while not is_argument(value):
        owner = value.owner.operation
        if owner.name in ("memref.alloc", "memref.get_global"):
            break
        if len(owner.operands) != 1:
            raise input_error(owner, f"'{owner.name}' makes a buffer of a program; expected memref.alloc")
        value = owner.operands[0]
    return value


def is_argument(value: Any) -> bool:
    """Whether a value is an argument of a block, not the result of an operation."""
    return hasattr(value.owner, "operations")


def kind_of(function: Any) -> str:
    """The kind of a kernel, by its function."""
    return _string(function, KIND) or "product"


def name_file(module: Any, filename: str) -> None:
    """Names the source's file in what `import` noted of kernels: MLIR's parser sees only text and calls it `-`."""
    for each in (module, *(inner for _, inner in nested_kernels(module))):
        note = note_of(each)
        named = re.sub(r"(?<!\S)-:(?=\d+:\d)", lambda _: f"{filename}:", note)
        if named != note:
            each.operation.attributes[NOTE] = ir.StringAttr.get(named)


@contextmanager
def in_kernel(name: str) -> Generator[None]:
    """Adds to errors the name of a program's kernel, if it has one."""
    try:
        yield
    except Error as error:
        note = f"in the kernel '{name}'"
        if name and note not in error.notes:
            error.notes = (*error.notes, note)
        raise


def note_of(module: Any) -> str:
    """What `import` noted of a kernel; empty for nothing."""
    return _string(module, NOTE)


def _string(operation: Any, name: str) -> str:
    """A string attribute; empty where there is none."""
    attributes = operation.operation.attributes
    if name not in attributes:
        return ""
    if not isinstance(attributes[name], ir.StringAttr):
        raise input_error(operation, f"'{name}' is {attributes[name]}; expected a string")
    return attributes[name].value


def scratch_of(function: Any) -> list[Buffer]:
    """The memory that the launch of a kernel provides beside the arguments of its function."""
    return [
        Buffer(None, stream_k.bytes_of(each.type), stream_k.scratch_of(each.owner))
        for each in stream_k.scratch_in(function)
    ]
