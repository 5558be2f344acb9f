"""Runs a program at stage `lower` on the CPU: its kernels one after another, on memory laid out as on a GPU.

Intermediate buffers lie in one workspace, at the offsets that the runtime uses, and hold NaN when they come into use.
So a wrong plan of the workspace shows as a wrong result, and a kernel that leaves out an element as NaN.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mlir_gemm.errors import ArgumentError
from mlir_gemm.pipeline.launch_info import arguments_of, numbered_runs
from mlir_gemm.pipeline.program import is_program, nested_kernels, outer_function
from mlir_gemm.simulator.kernel import simulate
from mlir_gemm.simulator.memory import POISON
from mlir_gemm.simulator.options import Options
from mlir_gemm.simulator.report import Report
from mlir_gemm.simulator.text import parsed
from mlir_gemm.spec.binding import bind, passed
from mlir_gemm.spec.element_types import numpy_dtype, spread
from mlir_gemm.spec.kernel_record import KernelRecord
from mlir_gemm.spec.launch import Argument, Launch, dense
from mlir_gemm.spec.sizes import value

Bytes = Any
"""A NumPy array of uint8."""


def work(kernels: Sequence[KernelRecord], launch: Launch) -> int:
    """How much there is to simulate: M N K of every product, and for other kernels their threads."""
    total = 0
    flops = {kernel.step: sum(each.flops for each in kernel.products.values()) for kernel in kernels}
    for number, step in enumerate(launch.steps):
        total += flops.get(number, 0) // 2 or int(np.prod(step.grid)) * int(np.prod(step.block))
    return total


def simulate_launch(text: str, launch: Launch, arrays: Sequence[Any], options: Options | None = None) -> Report:
    """Runs a module at stage `lower`, a kernel or a program, on NumPy arrays for the launch's arguments, which are
    modified in place where they are written. Sizes that are symbols, in the launch too, are those of the arrays. Of a
    program it returns one report for all steps, and stops after the first that did not run to its end."""
    options = options or Options()
    module = parsed(text)
    if not is_program(module):
        return simulate(module, arrays, options)
    kernels = dict(nested_kernels(module))
    with module.context:
        symbolic = Launch(arguments_of(outer_function(module)), ())
    shapes = [array.shape for array in arrays[: len(passed(symbolic))]]
    sizes = dict(zip(symbolic.symbols, bind(shapes, symbolic), strict=True))
    memory = _Memory(launch.at([sizes[name] for name in launch.symbols]), arrays)
    whole, runs = Report(), numbered_runs(module)
    blocks = options.blocks if len(runs) == 1 else None  # those of one kernel can be chosen
    for name, numbers in runs:
        with module.context:
            function = outer_function(kernels[name])
            seen = [_bound(argument, sizes) for argument in arguments_of(function)]
        views = [memory.view(number, argument) for number, argument in zip(numbers, seen, strict=True)]
        _add(whole, simulate(kernels[name], views, replace(options, blocks=blocks, sizes=sizes)), name)
        if whole.stopped:
            break
    memory.hand_back(arrays)
    return whole


class _Memory:
    """The memory of a program by number, as bytes."""

    def __init__(self, launch: Launch, arrays: Sequence[Any]) -> None:
        if len(arrays) != len(launch.arguments):
            raise ArgumentError(f"{len(arrays)} arrays; the program takes {len(launch.arguments)} arguments")
        self._launch = launch
        self._workspace = np.full(launch.workspace_bytes, POISON, np.uint8)
        self._used: set[int] = set()
        self._bytes: list[Bytes] = []
        for argument, array in zip(launch.arguments, arrays, strict=True):
            held = np.full(argument.shift_bytes + argument.span_bytes, POISON, np.uint8)
            self._bytes.append(held)
            if array.size:
                _elements(argument, held)[...] = array
        for buffer in launch.buffers:
            self._bytes.append(self._workspace[buffer.offset or 0 :][: buffer.bytes])
        self._bytes += [np.frombuffer(constant.data, np.uint8).copy() for constant in launch.constants]

    def view(self, number: int, seen: Argument) -> Any:
        """A memory as a kernel sees it: an array of the kernel's own type, from the start of the memory."""
        held = self._bytes[number]
        first = len(self._launch.arguments)
        if first <= number < first + len(self._launch.buffers) and number not in self._used:
            self._used.add(number)
            held[...] = POISON
        if 0 in seen.shape:
            return np.empty(seen.shape, numpy_dtype(seen.dtype))
        if seen.shift_bytes + seen.span_bytes > len(held):
            size = "x".join(map(str, seen.shape))
            raise ArgumentError(f"a kernel sees {len(held)} bytes of memory as {size} {seen.dtype}, which is more")
        return _elements(seen, held)

    def hand_back(self, arrays: Sequence[Any]) -> None:
        """Copies what was written to the caller's arrays."""
        for argument, array, held in zip(self._launch.arguments, arrays, self._bytes, strict=False):
            if argument.role != "in" and array.size:
                array[...] = _elements(argument, held)


def _bound(argument: Argument, sizes: Mapping[str, int]) -> Argument:
    """A kernel's argument with numbers for its symbols, which are those of the whole program."""
    strides = argument.strides
    return replace(
        argument,
        shape=tuple(value(size, sizes) for size in argument.shape),
        strides=None if strides is None else tuple(value(stride, sizes) for stride in strides),
        offset=value(argument.offset, sizes),
    )


def _elements(argument: Argument, held: Bytes) -> Any:
    """The elements of an argument in its memory."""
    dtype = numpy_dtype(argument.dtype)
    strides = argument.strides if argument.strides is not None else dense(argument.shape)
    end = argument.shift_bytes + argument.span_bytes
    data = held[argument.shift_bytes : end].view(dtype)
    return spread(data, argument.shape, strides)


def _add(whole: Report, part: Report, name: str) -> None:
    """Adds what one step gave to the report of all. Its findings tell the kernel."""
    whole.findings += [
        replace(finding, message=f"{finding.message} (in the kernel '{name}')") for finding in part.findings
    ]
    whole.counts.update(part.counts)
    whole.blocks_run += part.blocks_run
    whole.blocks += part.blocks
    whole.warps = max(whole.warps, part.warps)
    whole.steps += part.steps
    whole.stopped = f"{part.stopped} (in the kernel '{name}')" if part.stopped else ""
    mine, other = whole.counters, part.counters
    for field in ("instructions", "bytes"):
        counted: Counter[str] = getattr(mine, field)
        counted.update(getattr(other, field))
    mine.shared.update({f"{name} {key}": access for key, access in other.shared.items()})
    mine.global_.update({f"{name} {key}": access for key, access in other.global_.items()})
    mine.tensor_operations += other.tensor_operations
    mine.flops += other.flops
