"""Runs the kernels of a module at stage `lower`: memory for the arguments, blocks one after the other, a report."""

from __future__ import annotations

import importlib
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mlir_gemm.dialect.arguments import argument_attributes
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.grid_exchange import WORDS
from mlir_gemm.dialect.locations import input_error
from mlir_gemm.dialect.sizes import NAME as SIZE
from mlir_gemm.dialect.sizes import argument_sizes, offset_of, strides_of, symbol_values, told
from mlir_gemm.dialect.stream_k import FLAGS, scratch_of
from mlir_gemm.dialect.walk import body, named
from mlir_gemm.errors import ArgumentError, InputError
from mlir_gemm.simulator.constants import dense_contents
from mlir_gemm.simulator.decode import HANDLERS, Decoder, Info
from mlir_gemm.simulator.elements import ELEMENTS, choose, is_array
from mlir_gemm.simulator.errors import SimulationError, unsupported
from mlir_gemm.simulator.grid import Declared, Grid, cluster_shape
from mlir_gemm.simulator.memory import Buffer, View, dense_strides, strided
from mlir_gemm.simulator.ops_words import ADDRESS, check_tags
from mlir_gemm.simulator.options import DEFAULT_STEPS, Options
from mlir_gemm.simulator.report import Finding, Report
from mlir_gemm.simulator.shadow import Shadow
from mlir_gemm.simulator.text import parsed
from mlir_gemm.simulator.warps import Block, Stop, Warp
from mlir_gemm.spec.attributes import NAME, OFFSET, ROLE, STRIDES

__all__ = ["Finding", "Options", "Report", "SimulationError", "simulate"]

_TABLES = (
    "arith", "affine", "memref", "vector", "shapes", "control", "gpu", "fragments", "nvgpu", "nvvm", "llvm",
    "mbarrier", "cluster", "tma", "wgmma", "amdgpu",
)  # fmt: skip
_SHARED = 3
"""The memory space of shared memory."""
_OUTPUTS = ("out", "result")
"""Roles of arguments whose contents before the run mean nothing."""


def simulate(module: Any, arrays: Sequence[Any], options: Options | None = None) -> Report:
    """Runs a module at stage `lower` (MLIR text or an ir.Module) on NumPy arrays, in the order of its host function.

    Arrays that the kernel writes are modified in place; bf16 and f8 are held in arrays of `ml_dtypes`. Raises
    SimulationError at an operation that is not known, ArgumentError for arrays that do not fit, InputError for text
    that is no such module.
    """
    load_handlers()
    options = options or Options()
    if isinstance(module, str):
        module = parsed(module)
    with module.context, np.errstate(all="ignore"):
        return _Simulation(module, list(arrays), options).run()


def load_handlers() -> None:
    """Fills the table of operations that are known, `decode.HANDLERS`."""
    for name in _TABLES:
        importlib.import_module(f"mlir_gemm.simulator.ops_{name}")


class _Simulation:
    def __init__(self, module: Any, arrays: list[Any], options: Options):
        self.module = module
        self.options = options
        self.report = Report(first=options.first)
        self.limit = options.max_steps or DEFAULT_STEPS
        self.arrays = arrays
        functions = [function for function in named(module, "func.func") if named(function, "gpu.launch_func")]
        if len(functions) != 1:
            raise InputError(f"{len(functions)} functions launch kernels; expected one (the output of stage 'lower')")
        self.function = functions[0]
        self.clock = 1
        self.scratch: list[Buffer] = []

    def run(self) -> Report:
        arguments = list(body(self.function).arguments)
        if len(arguments) != len(self.arrays):
            raise ArgumentError(f"{len(self.arrays)} arrays; the function takes {len(arguments)} arguments")
        self.roles = _roles(self.function, len(arguments))
        self.names = _names(self.function, len(arguments))
        self.views = [self._argument(number, argument) for number, argument in enumerate(arguments)]
        try:
            self._host()
        except Stop as stop:
            self.report.stopped = str(stop)
        for view, array in zip(self.views, self.arrays, strict=True):
            self._hand_back(view, array)
        return self.report

    def _hand_back(self, view: View, array: Any) -> None:
        """Copies what was written into the caller's array. What blocks that did not run would write stays as it was."""
        if not array.size:
            return
        content: Any = elements_of(view)
        bits = f"u{array.dtype.itemsize}"
        if self.options.blocks is not None and view.buffer.shadow is not None:
            content = choose(_written(view), content.view(bits), array.view(bits)).view(array.dtype)
        if not np.array_equal(content.view(bits), array.view(bits)):
            array[...] = content

    def _argument(self, number: int, argument: Any) -> View:
        """A buffer with the contents of an array."""
        array: Any = self.arrays[number]
        type_ = argument.type
        element = ELEMENTS.get(str(type_.element_type)) if isinstance(type_, ir.MemRefType) else None
        if element is None:
            raise unsupported(self.function, f"argument {number} of type {type_} is not simulated")
        name = self.names[number]
        shape = tuple(-1 if type_.is_dynamic_dim(axis) else size for axis, size in enumerate(type_.shape))
        fits = is_array(array) and array.dtype == element.storage and array.ndim == len(shape)
        if not fits or any(want not in (-1, size) for want, size in zip(shape, array.shape, strict=True)):
            given = f"{array.shape} {array.dtype}" if is_array(array) else type(array).__name__
            raise ArgumentError(f"argument {number} ({name}): {given}; expected a NumPy array for {type_}")
        strides, offset = _layout(type_, array.shape, *self._open_layout(argument))
        if min(strides, default=0) < 0 or offset < 0:
            raise unsupported(self.function, f"argument {number} of type {type_}; expected no negative strides")
        span = 1 + sum((size - 1) * step for size, step in zip(array.shape, strides, strict=True))
        buffer = Buffer(name, "global", (offset + span) * element.bytes if array.size else 0)
        view = View(buffer, offset * element.bytes, array.shape, strides, element)
        buffer.view = view
        if array.size and not (self.roles[number] in _OUTPUTS and self.options.checks):
            elements_of(view)[...] = array
        return view

    def _open_layout(self, argument: Any) -> tuple[list[int | None], int]:
        """The strides of an argument that `tile.strides` tells by the sizes of the arrays, None for the others; and the
        offset that `tile.offset` tells."""
        number: int = argument.arg_number
        marks = argument_attributes(self.function)[number]
        if STRIDES not in marks:
            return [None] * len(argument.type.shape), 0
        known = dict(self.options.sizes)
        for each, axis, size in argument_sizes(self.function):
            if len(size.symbols) == 1:
                known[size.symbols[0]] = self.arrays[each.arg_number].shape[axis] // size.number
        strides = strides_of(self.function, argument.type, marks)
        offset = _value(offset_of(self.function, argument.type, marks), known) if OFFSET in marks else 0
        return [_value(each, known) for each in strides], offset or 0

    def _host(self) -> None:
        """Evaluates the host function, whose only effect is to launch kernels."""
        host = Decoder(self.report, self.options, self.limit)
        block = Block(-1, (1, 1, 1), (1, 1, 1))
        warp = Warp(block, 0, 1)
        for argument, view in zip(body(self.function).arguments, self.views, strict=True):
            host.constant(argument, view)
        sizes = {**self.options.sizes, **symbol_values(self.function, [array.shape for array in self.arrays])}
        for operation in body(self.function).operations:
            name = operation.operation.name
            if name == "gpu.launch_func":
                self._launch(operation, [warp.slots[slot] for slot in host.all_slots(operation.operation.operands)])
            elif scratch_of(operation):
                slot = host.slot(operation.operation.results[0])
                warp.slots += host.template[len(warp.slots) :]
                warp.slots[slot] = self._scratch(operation)
            elif name == SIZE:
                host.constant(operation.operation.results[0], told(operation.operation).value(sizes))
                warp.slots += host.template[len(warp.slots) :]
            elif name != "func.return":
                if name not in HANDLERS:
                    raise unsupported(operation, "the simulator does not know this operation")
                step = HANDLERS[name](host, operation)
                warp.slots += host.template[len(warp.slots) :]
                if callable(step):
                    step(warp)

    def _scratch(self, alloc: Any) -> View:
        """Memory that the launch provides: flags are zero, and nobody has written the rest."""
        type_, kind = alloc.operation.results[0].type, scratch_of(alloc)
        element, sizes = ELEMENTS[str(type_.element_type)], tuple(type_.shape)
        buffer = Buffer(kind, "global", math.prod(sizes) * element.bytes)
        buffer.view = View(buffer, 0, sizes, dense_strides(sizes), element)
        self.scratch.append(buffer)
        if kind in (FLAGS, WORDS):
            buffer.data.fill(0)
            buffer.address = len(self.scratch) << ADDRESS
        return buffer.view

    def _launch(self, launch: Any, operands: list[Any]) -> None:
        if launch.asyncToken is not None or list(launch.asyncDependencies):
            raise unsupported(launch, "asynchronous launches are not simulated")
        grid = tuple(int(size) for size in operands[:3])
        size = tuple(int(size) for size in operands[3:6])
        if 0 in grid:
            return
        dynamic = launch.dynamicSharedMemorySize is not None
        shared = int(operands[6]) if dynamic else 0
        kernel = self._kernel(launch)
        if len(kernel.regions[0].blocks) != 1:
            raise unsupported(
                kernel, "a kernel of several basic blocks is not simulated; expected structured control flow"
            )
        decoder = Decoder(self.report, self.options, self.limit)
        decoder.globals = self._globals(kernel)
        decoder.constants = self._constants(kernel, decoder)
        decoder.memory = self.scratch
        for argument, value in zip(body(kernel).arguments, operands[6 + dynamic :], strict=True):
            number = is_array(value) and not isinstance(argument.type, ir.IndexType)
            decoder.constant(argument, value.flat[0] if number else value)  # the host is one thread
        code = decoder.code(body(kernel))
        cluster = cluster_shape(launch, kernel)
        if cluster is None:
            raise unsupported(launch, "with a cluster is not simulated; expected 'nvvm.cluster_dim' on the kernel")
        self._check_launch(launch, grid, size, cluster)
        probe = Block(0, grid, size)
        self.report.blocks, self.report.warps = math.prod(grid), probe.warp_count
        if self.options.checks:
            self._watch_arguments(probe.warp_count * math.prod(cluster))
        self.clock = Grid(launch, kernel, decoder, code, grid, size, cluster, shared, self.clock).run()
        self._finish(decoder)

    def _finish(self, decoder: Decoder) -> None:
        """What is known when the blocks have run."""
        if self.options.counters:
            for each in decoder.codes:
                for name, times in each.names.items():
                    self.report.counters.instructions[name] += times * each.executed
        if self.options.checks and self.report.blocks_run == self.report.blocks:
            self._check_outputs(decoder.info(self.function))
            self._check_flags(decoder.info(self.function))
            for buffer in self.scratch:
                check_tags(buffer, decoder.info(self.function))

    def _kernel(self, launch: Any) -> Any:
        wanted = str(launch.attributes["kernel"]).rpartition("@")[2]
        for kernel in named(self.module, "gpu.func"):
            if ir.StringAttr(kernel.attributes["sym_name"]).value == wanted:
                return kernel
        raise input_error(launch, f"the kernel {wanted} is not in the module")

    def _globals(self, kernel: Any) -> dict[str, Any]:
        """The memrefs in shared memory that the kernel's module declares."""
        found = dict[str, Any]()
        for declared in named(kernel.operation.parent, "memref.global"):
            space = ir.MemRefType(ir.TypeAttr(declared.attributes["type"]).value).memory_space
            if isinstance(space, ir.IntegerAttr) and space.value == _SHARED:
                found[ir.StringAttr(declared.attributes["sym_name"]).value] = Declared.of(declared)
        return found

    def _constants(self, kernel: Any, decoder: Decoder) -> dict[str, View]:
        """The constants in global memory that the kernel's module declares."""
        found: dict[str, View] = {}
        for declared in named(kernel.operation.parent, "memref.global"):
            type_ = ir.MemRefType(ir.TypeAttr(declared.attributes["type"]).value)
            value = declared.attributes.get("initial_value", None)
            if type_.memory_space is not None or not isinstance(value, ir.DenseElementsAttr):
                continue
            name, element = ir.StringAttr(declared.attributes["sym_name"]).value, decoder.element(declared, type_)
            contents = dense_contents(value, element.storage, declared)
            buffer = Buffer(name, "global", contents.nbytes)
            buffer.data[: contents.nbytes] = np.ascontiguousarray(contents).view(np.uint8).reshape(-1)
            sizes = tuple(type_.shape)
            buffer.view = found[name] = View(buffer, 0, sizes, dense_strides(sizes), element)
        return found

    def _check_launch(
        self, launch: Any, grid: tuple[int, ...], size: tuple[int, ...], cluster: tuple[int, ...]
    ) -> None:
        if min(*grid, *size) < 1:
            raise input_error(launch, f"a grid of {grid} blocks of {size} threads; expected at least one of each")
        if math.prod(size) > 1024:
            raise input_error(launch, f"{math.prod(size)} threads in a block; a block has at most 1024")
        if any(blocks % each for blocks, each in zip(grid, cluster, strict=True)):
            raise input_error(
                launch, f"a grid of {grid} blocks in clusters of {cluster}; expected a whole number of them"
            )
        for number in self.options.blocks or ():
            if not 0 <= number < math.prod(grid):
                raise InputError(f"block {number} was asked for; the grid has blocks 0 to {math.prod(grid) - 1}")

    def _watch_arguments(self, warps: int) -> None:
        """Shadow memory for the arguments that the kernel may write."""
        for role, view in zip(self.roles, self.views, strict=True):
            if role != "in" and view.buffer.size:
                view.buffer.shadow = Shadow(view.buffer.size, warps, role not in _OUTPUTS, between_blocks=True)
        for buffer in self.scratch:
            if not buffer.address:
                buffer.shadow = Shadow(buffer.size, warps, initialized=False, between_blocks=True)

    def _check_flags(self, info: Info) -> None:
        """Reports flags that are up when the launch ends."""
        for buffer in self.scratch:
            if buffer.name == FLAGS and buffer.data.any():
                assert buffer.view is not None
                address = buffer.view.describe(int(np.flatnonzero(buffer.data)[0]))
                message = f"{int((buffer.data != 0).sum())} flags are up at the end"
                self.report.add(
                    Finding("flag", info.operation, info.location, -1, -1, -1, address, message)
                )  # fmt: skip

    def _check_outputs(self, info: Info) -> None:
        """Reports results that were not written whole."""
        for role, view in zip(self.roles, self.views, strict=True):
            if role not in _OUTPUTS or view.buffer.shadow is None:
                continue
            missing = ~_written(view)
            if missing.any():
                first = [int(index) for index in np.argwhere(missing)[0]]
                address = view.base + sum(i * s for i, s in zip(first, view.strides, strict=True)) * view.element.bytes
                message = f"{int(missing.sum()) * view.element.bytes} bytes of the result were never written"
                self.report.add(
                    Finding(
                        "uninitialized-output", info.operation, info.location, -1, -1, -1,
                        view.describe(address), message,
                    )
                )  # fmt: skip


def elements_of(view: View) -> Any:
    """The elements of an argument as a NumPy array on its buffer."""
    item = view.element.bytes
    steps = tuple(item * stride for stride in view.strides)
    data = view.buffer.data[view.base :].view(view.element.storage)
    return strided(data, view.sizes, steps)


def _written(view: View) -> Any:
    """For each element of an argument that is watched whether it was written, or held something from the start."""
    shadow = view.buffer.shadow
    assert shadow is not None
    bytes_ = np.repeat(shadow.initialized, 1 << shadow.shift)[view.base :]
    steps = tuple(view.element.bytes * stride for stride in view.strides)
    return strided(bytes_, view.sizes, steps)


def _layout(type_: Any, shape: tuple[int, ...], told: Sequence[int | None], start: int) -> tuple[tuple[int, ...], int]:
    """Strides and offset of an argument in elements. Those that its type leaves open are what is told of them, or as in
    dense rows, from `start` on."""
    dynamic = ir.ShapedType.get_dynamic_stride_or_offset()
    declared, offset = type_.get_strides_and_offset()
    left = [had if want is None else want for want, had in zip(told, dense_strides(shape), strict=True)]
    strides = tuple(had if want == dynamic else want for want, had in zip(declared, left, strict=True))
    return strides, start if offset == dynamic else offset


def _attributes(function: Any, number: int, name: str) -> list[str]:
    entries: list[Any] = [None] * number
    if "arg_attrs" in function.operation.attributes:
        entries = [ir.DictAttr(entry) for entry in ir.ArrayAttr(function.operation.attributes["arg_attrs"])]
    return [ir.StringAttr(e[name]).value if e is not None and name in e else "" for e in entries]


def _roles(function: Any, number: int) -> list[str]:
    return _attributes(function, number, ROLE)


def _names(function: Any, number: int) -> list[str]:
    return [name or f"argument {place}" for place, name in enumerate(_attributes(function, number, NAME))]


def _value(size: Any, known: dict[str, int]) -> int | None:
    """A size for known symbols; None where they do not tell it."""
    try:
        return size.value(known)
    except InputError:
        return None
