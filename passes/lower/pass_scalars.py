"""pass-scalars: a kernel takes numbers by value that its function has as memory of one element.

Expects a kernel after `lower`, whose function is launched with arguments that are marked `tile.scalar`, or that a
program around runs with such arguments of its own. Leaves a load of the number in front of the launch, for whoever
calls the function to do, and the number as a parameter of the kernel in the place of its address; an i1 is passed as
i8. Refuses kernels that do more with such memory than load it, and kernels that a program runs with a number once and
with memory another time. A module without such arguments is left alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.arguments import argument_attributes
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.outlining import programs
from mlir_gemm.dialect.walk import body, in_block, named, users
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.attributes import SCALAR

_BIT, _BYTE = 1, 8


@dataclass(frozen=True)
class PassScalars(Pass):
    """Pass numbers by value."""

    name: ClassVar[str] = "pass-scalars"

    def run(self, module: Any) -> None:
        for launch in named(module, "gpu.launch_func"):
            function = next(_functions_around(launch))
            scalars = scalar_arguments(function)
            for position, value in enumerate(launch.kernelOperands):
                if value in scalars:
                    _pass(launch.operation, position, value)


def _functions_around(op: Any) -> Any:
    parent = op.operation.parent
    while parent is not None:
        if parent.operation.name == "func.func":
            yield parent.operation
        parent = parent.operation.parent


def scalar_arguments(function: Any) -> list[Any]:
    """The arguments of a kernel's function that are numbers: as it says itself, or as the program says that runs it."""
    arguments = list(body(function).arguments)
    marked = [argument for argument, each in zip(arguments, argument_attributes(function), strict=True)
              if SCALAR in each]  # fmt: skip
    inner = function.parent
    outer = inner.operation.parent if inner is not None else None
    if marked or inner is None or outer is None:
        return marked
    name = ir.StringAttr(inner.operation.attributes["sym_name"]).value
    given = [
        scalars
        for main in in_block(body(outer)) if main.operation.name == "func.func" and len(main.regions[0].blocks)
        for scalars in _given(main, name)
    ]  # fmt: skip
    if any(each != given[0] for each in given):
        raise pass_error(function, f"the program runs '{name}' with a number once, and with memory another time")
    return [argument for argument, is_scalar in zip(arguments, given[0], strict=False) if is_scalar] if given else []


def _given(main: Any, name: str) -> list[list[bool]]:
    """For each run of a kernel, which of its arguments are numbers of the program."""
    marked = [argument for argument, each in zip(body(main).arguments, argument_attributes(main), strict=True)
              if SCALAR in each]  # fmt: skip
    runs = [run for run in programs.runs_of(main) if programs.kernel_of(run) == name]
    return [[buffer in marked for buffer in programs.buffers_of(run)] for run in runs]


def _pass(launch: Any, position: int, memory: Any) -> None:
    """Passes one number."""
    view = launch.opview
    first = len(launch.operands) - len(view.kernelOperands)
    kernel = _kernel_of(launch)
    parameter = body(kernel).arguments[position]
    loads = users(parameter)
    for user in loads:
        if user.name != "memref.load":
            raise pass_error(user, f"'{user.name}' on a number that the kernel takes by value; expected loads of it")
    element = memory.type.element_type
    is_bit = isinstance(element, ir.IntegerType) and element.width == _BIT
    passed = ir.IntegerType.get_signless(_BYTE) if is_bit else element
    arith = dialect("arith")
    with ir.InsertionPoint(launch), launch.location:
        number = dialect("memref").LoadOp(memory, []).result
        launch.operands[first + position] = arith.ExtUIOp(passed, number).result if is_bit else number
    parameter.set_type(passed)
    found: Any = parameter
    if is_bit:
        with ir.InsertionPoint.at_block_begin(body(kernel)), kernel.location:
            found = arith.TruncIOp(element, parameter).result
    for load in loads:
        load.results[0].replace_all_uses_with(found)
        load.erase()
    types = [argument.type for argument in body(kernel).arguments]
    kernel.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(types, []))


def _kernel_of(launch: Any) -> Any:
    """The kernel that is launched."""
    name = str(launch.attributes["kernel"]).rpartition("@")[2]
    module = next(parent for parent in _parents(launch) if parent.name == "builtin.module")
    for kernel in named(module, "gpu.func"):
        if ir.StringAttr(kernel.attributes["sym_name"]).value == name:
            return kernel.operation
    raise pass_error(launch, f"the module launches '{name}', which is none of its kernels")


def _parents(op: Any) -> Any:
    parent = op.parent
    while parent is not None:
        yield parent.operation
        parent = parent.operation.parent
