"""Reads the launch information from the IR: from gpu.launch_func, before gpu-module-to-binary consumes the kernel, and
for a program also from the function that runs its kernels."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from mlir_gemm.dialect import constants, im2col, windows
from mlir_gemm.dialect.arguments import argument_attributes
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.constant_data import ConstantData
from mlir_gemm.dialect.linalg.source import is_row_major
from mlir_gemm.dialect.locations import input_error
from mlir_gemm.dialect.sizes import offset_of, sizes_of, strides_of
from mlir_gemm.dialect.stream_k import scratch_in
from mlir_gemm.dialect.walk import body, in_block, named
from mlir_gemm.errors import InputError
from mlir_gemm.pipeline.call_marks import marks_of, number_of
from mlir_gemm.pipeline.launch_sizes import TENSOR_MAP, attributes_of, expression, extents, size_of
from mlir_gemm.pipeline.program import is_argument, is_program, nested_kernels, outer_function, runs_of, scratch_of
from mlir_gemm.spec.attributes import ASSERTS, CLUSTER_DIM, COOPERATIVE, DEPENDENT_LAUNCH, NAME, ROLE, STRIDES
from mlir_gemm.spec.element_types import ITEM_BYTES
from mlir_gemm.spec.launch import Argument, Buffer, Constant, Launch, Step, dense
from mlir_gemm.spec.sizes import product
from mlir_gemm.spec.tensor_map import DATA_TYPES, TensorMap
from mlir_gemm.spec.workspace import placed

"""On a kernel: the blocks of a cluster, which the code asks for itself."""
_VIEWS = ("memref.reinterpret_cast", "memref.cast")
"""Operations whose result has the address of their operand, to which its own offset is added."""


def launch_of(module: Any) -> Launch:
    """The launch of a module, one kernel or a program. Raises InputError when it cannot be told from the IR."""
    if is_program(module):
        return _launch_of_program(module)
    with module.context:
        function = outer_function(module)
        arguments, scratch = arguments_of(function), scratch_of(function)
        first = len(arguments)
        step = _within(_step(module), range(first), range(first, first + len(scratch)))
        buffers, size, zeroed = placed(scratch, [step.memory], first)
        return Launch(arguments, (step,), buffers, (), size, zeroed)


def _launch_of_program(module: Any) -> Launch:
    """The launches of a program, whose kernels are all past `launch`. Raises InputError when they cannot be told."""
    with module.context:
        function = outer_function(module)
        memory = _Memory(module, function)
        kernels = {name: _step(kernel) for name, kernel in nested_kernels(module)}
        entries = [step.entry for step in kernels.values()]
        if len(set(entries)) < len(entries):
            raise InputError(f"two kernels of the program have the same entry: {', '.join(entries)}")
        runs = _checked_runs(function, kernels)
        steps = tuple(
            _within(kernels[name], memory.numbers(buffers), memory.scratch_numbers(place))
            for place, (name, buffers) in enumerate(runs)
        )
        buffers, size, zeroed = memory.plan(steps)
        return Launch(arguments_of(function), steps, buffers, memory.constants(), size, zeroed)


def numbered_runs(module: Any) -> list[tuple[str, list[int]]]:
    """What a program runs, in order: the kernel's name, and the numbers of memory (as in Step) that its function's
    arguments are."""
    with module.context:
        function = outer_function(module)
        memory = _Memory(module, function)
        return [(name, memory.numbers(buffers)) for name, buffers in runs_of(function)]


def first_steps(module: Any) -> dict[str, int]:
    """The number of the step in which each kernel of a program runs first."""
    steps: dict[str, int] = {}
    with module.context:
        for number, (name, _) in enumerate(runs_of(outer_function(module))):
            steps.setdefault(name, number)
    return steps


def arguments_of(function: Any) -> tuple[Argument, ...]:
    """The arguments of a function after `import`, its results among them."""
    found: list[Argument] = []
    results = 0
    for argument, attributes in zip(body(function).arguments, argument_attributes(function), strict=True):
        role = ir.StringAttr(attributes[ROLE]).value if ROLE in attributes else "inout"
        name = ir.StringAttr(attributes[NAME]).value if NAME in attributes else f"arg{argument.arg_number}"
        if role == "result":
            name, results = f"result{results}", results + 1
        made = dataclasses.replace(_argument(function, argument, name, role), **marks_of(attributes))
        if role == "result" and (made.strides is not None or made.offset):
            raise input_error(
                function, f"{name} has the type {argument.type}; a result must be dense, row-major memory"
            )
        found.append(made)
    return tuple(found)


def _argument(function: Any, argument: Any, name: str, role: str) -> Argument:
    type_ = argument.type
    if not isinstance(type_, ir.MemRefType):
        raise input_error(function, f"argument '{name}' has the type {type_}; expected a memref or a tensor")
    element = str(type_.element_type)
    if element not in ITEM_BYTES:
        types = ", ".join(ITEM_BYTES)
        raise input_error(function, f"argument '{name}' has elements of type {element}; expected one of {types}")
    if not type_.has_static_shape:
        return _dynamic_argument(function, argument, name, role)
    shape = tuple(type_.shape)
    strides, offset = (dense(shape), 0) if is_row_major(type_) else type_.get_strides_and_offset()
    dynamic = ir.ShapedType.get_dynamic_stride_or_offset()
    if not type_.has_static_shape or dynamic in (*strides, offset):
        raise input_error(function, f"argument '{name}' has the type {type_}; its sizes and strides must be static")
    if min(strides, default=0) < 0 or offset < 0:
        raise input_error(function, f"argument '{name}' has the type {type_}; strides and offset must not be negative")
    plain = all(given == step for given, step, n in zip(strides, dense(shape), shape, strict=True) if n > 1)
    return Argument(name, shape, element, role, None if plain else tuple(strides), offset)


def _dynamic_argument(function: Any, argument: Any, name: str, role: str) -> Argument:
    """An argument, or a memref.alloc, whose sizes are known at run time only: `tile.symbols` says what they are."""
    type_ = argument.type
    attributes = attributes_of(function, argument)
    shape, strides = (of(function, type_, attributes) for of in (sizes_of, strides_of))
    offset = size_of(offset_of(function, type_, attributes))
    plain = STRIDES not in attributes and (is_row_major(type_) or type_.get_strides_and_offset()[0] == [])
    steps = None if plain else tuple(size_of(stride) for stride in strides)
    return Argument(name, tuple(map(size_of, shape)), str(type_.element_type), role, steps, offset)


def _step(module: Any) -> Step:
    """The launch of the one kernel in a module; its parameters are numbers of its function's arguments."""
    launches = named(module, "gpu.launch_func")
    if len(launches) != 1:
        raise input_error(module.operation, f"the module launches {len(launches)} kernels; expected one")
    launch = launches[0]
    kernel = _kernel_of(module, launch)
    arguments = list(body(outer_function(module)).arguments)
    sizes = [expression(launch, value) for value in _sizes(launch)]
    shared = launch.dynamicSharedMemorySize
    return Step(
        entry=str(launch.attributes["kernel"]).rpartition("@")[2],
        grid=(sizes[0], sizes[1], sizes[2]),
        block=(sizes[3], sizes[4], sizes[5]),
        cluster=_cluster(launch, kernel),
        shared_bytes=_constant(launch, shared) if shared is not None else 0,
        parameters=tuple(_parameter(launch, value, arguments) for value in launch.kernelOperands),
        dependent_launch=DEPENDENT_LAUNCH in kernel.attributes,
        cooperative=COOPERATIVE in kernel.attributes,
        asserts=tuple(ir.StringAttr(each).value for each in ir.ArrayAttr(kernel.attributes[ASSERTS]))
        if ASSERTS in kernel.attributes
        else (),
    )


def _kernel_of(module: Any, launch: Any) -> Any:
    """The kernel that is launched: a gpu.func, which is an llvm.func once it is lowered that far."""
    name = str(launch.attributes["kernel"]).rpartition("@")[2]
    for holder in in_block(body(module)):
        for function in in_block(body(holder)) if holder.operation.name == "gpu.module" else ():
            attributes = function.operation.attributes
            if "sym_name" in attributes and ir.StringAttr(attributes["sym_name"]).value == name:
                return function.operation
    raise input_error(launch, f"the module launches '{name}', which is none of its kernels")


def _cluster(launch: Any, kernel: Any) -> tuple[int, int, int]:
    """Blocks of a cluster, in each dimension."""
    if CLUSTER_DIM not in kernel.attributes:
        return 1, 1, 1
    sizes = list(ir.DenseI32ArrayAttr(kernel.attributes[CLUSTER_DIM]))  # three at most: its dialect sees to that
    if not sizes or min(sizes) < 1:
        raise input_error(
            launch, f"{CLUSTER_DIM} is {sizes}; expected one to three sizes from 1, as array<i32: 2, 1, 1>"
        )
    x, y, z = (*sizes, 1, 1)[:3]
    return x, y, z


def _within(step: Step, memory: Sequence[int], scratch: Sequence[int] = ()) -> Step:
    """A kernel's launch where its function's arguments, and its scratch, are these numbers of memory."""
    numbers = [*memory, *reversed(scratch)]

    def parameter(each: Any) -> Any:
        if isinstance(each, TensorMap):
            return dataclasses.replace(each, memory=numbers[each.memory])
        return numbers[each] if isinstance(each, int) else each

    return dataclasses.replace(step, parameters=tuple(map(parameter, step.parameters)))


def _checked_runs(function: Any, kernels: dict[str, Step]) -> list[tuple[str, list[Any]]]:
    runs = runs_of(function)
    for name, buffers in runs:
        if name not in kernels:
            raise input_error(
                function, f"the program runs '{name}', which is none of its kernels: {', '.join(kernels)}"
            )
        most = max((each for each in kernels[name].memory if isinstance(each, int)), default=-1)
        if most >= len(buffers):
            raise input_error(function, f"the program runs '{name}' on {len(buffers)} buffers; it takes more")
    return runs


class _Memory:
    """The memory of a program by number: arguments, then buffers, then constants."""

    def __init__(self, module: Any, function: Any) -> None:
        self.arguments = list(body(function).arguments)
        self.allocs = [each.operation.results[0] for each in named(function, "memref.alloc")]
        globals_ = {
            ir.StringAttr(each.attributes["sym_name"]).value: each
            for each in body(module).operations
            if each.operation.name == "memref.global"
        }
        self.gets: list[tuple[Any, str]] = [
            (each.operation.results[0], ir.FlatSymbolRefAttr(each.attributes["name"]).value)
            for each in named(function, "memref.get_global")
        ]
        self.names = list(dict.fromkeys(name for _, name in self.gets))
        for name in self.names:
            if name not in globals_:
                raise input_error(function, f"the constant '{name}' is not in the module")
        kernels = {name: scratch_of(outer_function(kernel)) for name, kernel in nested_kernels(module)}
        self._scratch = [kernels.get(name, ()) for name, _ in runs_of(function)]
        self._declared = [(name, globals_[name]) for name in self.names]
        self._reader = ConstantData(module)

    def constants(self) -> tuple[Constant, ...]:
        """The constants with their data."""
        return tuple(_constant_of(name, declared, self._reader) for name, declared in self._declared)

    def numbers(self, buffers: Sequence[Any]) -> list[int]:
        """The numbers of some buffers."""
        return [self._number(buffer) for buffer in buffers]

    def _number(self, value: Any) -> int:
        if is_argument(value):
            return self.arguments.index(value)
        if value in self.allocs:
            return len(self.arguments) + self.allocs.index(value)
        name = next(name for got, name in self.gets if got == value)
        scratch = sum(map(len, self._scratch))
        return len(self.arguments) + len(self.allocs) + scratch + self.names.index(name)

    def scratch_numbers(self, run: int) -> range:
        """The numbers of what the kernel of a run needs beside its buffers: each run has its own."""
        first = len(self.arguments) + len(self.allocs) + sum(map(len, self._scratch[:run]))
        return range(first, first + len(self._scratch[run]))

    def plan(self, steps: Sequence[Step]) -> tuple[tuple[Buffer, ...], int, int]:
        """The intermediate buffers, with places where sizes are numbers, and the sizes of the memory that they lie
        in."""
        buffers = [Buffer(None, _argument(alloc.owner, alloc, "buffer", "inout").span) for alloc in self.allocs]
        buffers += [buffer for each in self._scratch for buffer in each]
        if not all(isinstance(buffer.bytes, int) for buffer in buffers):
            return tuple(buffers), 0, 0
        return placed(buffers, [step.memory for step in steps], len(self.arguments))


def _constant_of(name: str, declared: Any, reader: ConstantData) -> Constant:
    type_ = ir.MemRefType(ir.TypeAttr(declared.attributes["type"]).value)
    element = str(type_.element_type)
    if element not in ITEM_BYTES:
        raise input_error(declared, f"the constant '{name}' has elements of type {element}")
    return Constant(name, tuple(type_.shape), element, reader.of(declared))


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


def _parameter(launch: Any, value: Any, arguments: list[Any]) -> Any:
    """A kernel's parameter: the number of an argument, a tensor map of one, or a size."""
    if isinstance(value.type, ir.IndexType):
        return expression(launch, value)
    if isinstance(value.type, ir.IntegerType | ir.FloatType):
        return number_of(launch, value, arguments)
    if getattr(value.owner, "name", "") == TENSOR_MAP:
        return _tensor_map(launch, value.owner.operation, arguments)
    return _position(launch, value, arguments)


def _position(launch: Any, value: Any, arguments: list[Any]) -> int:
    """The number of the argument whose address a memref has, its own offset apart; of scratch -1, -2, ..."""
    while getattr(value.owner, "name", "") in _VIEWS:
        value = value.owner.operands[0]
    known = [*arguments, *reversed(scratch_in(launch.operation.parent))]
    if value not in known:
        raise input_error(launch, "the kernel takes a buffer that is not an argument of the function; a temporary "
                          "buffer is left (accumulate=off needs a result in the accumulator's type)")  # fmt: skip
    return known.index(value) if value in arguments else known.index(value) - len(known)


def _tensor_map(launch: Any, operation: Any, arguments: list[Any]) -> TensorMap:
    memory = operation.operands[0]
    seen = im2col.of(memory) if windows.is_windows(memory) else None
    image: tuple[Any, ...] = windows.image_of(memory).shape if seen else ()
    memory = windows.source_of(memory) if seen else memory
    type_ = memory.type
    element = str(type_.element_type)
    if isinstance(seen, str):
        raise input_error(operation, f"{TENSOR_MAP} of {seen}")
    if element not in DATA_TYPES:
        raise input_error(operation, f"{TENSOR_MAP} of {type_}: expected elements of one of {', '.join(DATA_TYPES)}")
    if windows.OPEN in image:
        image = (extents(launch, memory)[0][0], *image[1:])
    sizes, strides, offset = extents(launch, memory) if seen is None else (image, dense(image), 0)
    if strides and strides[-1] != 1 and sizes[-1] != 1:
        raise input_error(operation, f"{TENSOR_MAP} of {type_}: the elements of the last dimension must be neighbours")
    item = ITEM_BYTES[element]
    rounded = operation.attributes.get("element", None)
    box = list(ir.DenseI64ArrayAttr(operation.attributes["box"]))
    found = TensorMap(
        memory=_position(launch, memory, arguments),
        dtype=element if rounded is None else ir.StringAttr(rounded).value,
        sizes=sizes,
        strides_bytes=tuple(product([stride, item]) for stride in strides[:-1]),
        box=tuple(box if seen is None else [box[0], *[1] * (len(sizes) - 2), box[1]]),
        swizzle=ir.StringAttr(operation.attributes["swizzle"]).value,
        element_offset=offset,
        lower=seen.lower if seen else (),
        upper=seen.upper if seen else (),
        steps=seen.steps if seen else (),
    )
    problem = found.problem()
    if problem:
        raise input_error(operation, f"{TENSOR_MAP} of {type_}: {problem}")
    return dataclasses.replace(found, strides_bytes=found.strides)
