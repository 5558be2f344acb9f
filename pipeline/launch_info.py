"""Reading the launch information off the IR: off gpu.launch_func, before gpu-module-to-binary consumes the kernel."""

from __future__ import annotations

from typing import Any

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.locations import input_error
from mlir_gemm.dialect.walk import body, named
from mlir_gemm.errors import InputError
from mlir_gemm.passes.check_input import the_function
from mlir_gemm.passes.protect_inputs import argument_attributes
from mlir_gemm.pipeline.annotations import NAME
from mlir_gemm.pipeline.launch import Argument, Launch


def launch_of(module: Any) -> Launch:
    """The launch of the one kernel of a module. Raises InputError when it cannot be told from the IR."""
    with module.context:
        launches = named(module, "gpu.launch_func")
        if len(launches) != 1:
            raise InputError(f"the module launches {len(launches)} kernels; expected one")
        launch = launches[0]
        function = the_function(module)
        arguments = list(body(function).arguments)
        sizes = [_constant(launch, value) for value in _sizes(launch)]
        shared = launch.dynamicSharedMemorySize
        return Launch(
            entry=str(launch.attributes["kernel"]).rpartition("@")[2],
            grid=(sizes[0], sizes[1], sizes[2]),
            block=(sizes[3], sizes[4], sizes[5]),
            cluster=(1, 1, 1),
            shared_bytes=_constant(launch, shared) if shared is not None else 0,
            arguments=arguments_of(function),
            parameters=tuple(_position(launch, value, arguments) for value in launch.kernelOperands),
        )


def _sizes(launch: Any) -> list[Any]:
    return [
        launch.gridSizeX, launch.gridSizeY, launch.gridSizeZ,
        launch.blockSizeX, launch.blockSizeY, launch.blockSizeZ,
    ]  # fmt: skip


def _constant(launch: Any, value: Any) -> int:
    number = constants.integer_of(value)
    if number is None:
        raise input_error(launch, "a launch whose sizes are not constants; sizes must be static")
    return number


def _position(launch: Any, value: Any, arguments: list[Any]) -> int:
    if value not in arguments:
        raise input_error(launch, "the kernel takes a buffer that is not an argument of the function; a temporary "
                          "buffer is left (accumulate=off needs a result in the accumulator's type)")  # fmt: skip
    return arguments.index(value)


def arguments_of(function: Any) -> tuple[Argument, ...]:
    """The arguments of a function after `import`, its results among them."""
    found: list[Argument] = []
    results = 0
    for argument, attributes in zip(body(function).arguments, argument_attributes(function), strict=True):
        role = ir.StringAttr(attributes["tile.role"]).value if "tile.role" in attributes else "inout"
        name = ir.StringAttr(attributes[NAME]).value if NAME in attributes else f"arg{argument.arg_number}"
        if role == "result":
            name, results = f"result{results}", results + 1
        found.append(Argument(name, tuple(argument.type.shape), str(argument.type.element_type), role))
    return tuple(found)
