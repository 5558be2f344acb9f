"""The short way for PyTorch tensors from a call to its launches.

It makes the checks of the long way (`launcher`) with as few reads as they need, and declines whatever is not obviously
right, which then takes the long way. A call costs the host about 2 us beyond the driver's own launch, where `torch.mm`
costs about 9. Whether PyTorch would differentiate by a tensor is one read for each (30 ns).

Parameters are packed once for each thread: `cuLaunchKernel` reads an array of pointers to slots, and a call writes the
slots. Each thread has its own (`threading.local`, 40 ns), so that threads never wait for each other. What was written
stays: a call with the same addresses as the last one of its thread neither checks nor writes them again. That is safe
because alignment and overlap follow from the addresses alone, the sizes being fixed; all else is checked each time.
What is more than one kernel on its arguments is launched by `program_launches`.
"""

from __future__ import annotations

import functools
import operator
import threading
from collections.abc import Callable
from typing import Any

from mlir_gemm.errors import ArgumentError
from mlir_gemm.runtime import arguments, device
from mlir_gemm.runtime.arguments import strides_fit
from mlir_gemm.runtime.arrays import forward_mode
from mlir_gemm.runtime.parameters import Parameters
from mlir_gemm.runtime.program_launches import ProgramLaunches, Streams
from mlir_gemm.spec import binding
from mlir_gemm.spec.element_types import NAMES, UNSIGNED_BYTE
from mlir_gemm.spec.launch import Argument, Launch
from mlir_gemm.spec.scalars import bits_of

DECLINED: Any = object()
"""What the short way returns for a call that must go the long way. Nothing has happened then."""


def shortest(launcher: Any, arrays: tuple[Any, ...], stream: Any) -> Any:
    """A launcher's result: by its short way where there is one for these arrays, else by the long one.
    `Kernel.__call__` has these lines inlined."""
    short = launcher.short
    outcome = DECLINED if short is None else short(arrays, stream)
    return launcher(arrays, stream) if outcome is DECLINED else outcome


def torch_path(
    launch: Launch, loaded: device.LoadedKernel, torch: Any, as_graph: bool = False
) -> Callable[[tuple[Any, ...], Any], Any]:
    """The short way for PyTorch tensors: a function from a call's tensors and stream to its results.

    It returns DECLINED, with nothing done, for anything that is not obviously right. `as_graph`: kernels of a program
    are launched as one graph where addresses repeat.
    """
    given = binding.passed(launch)
    numbers = [(place, functools.partial(bits_of, argument)) for place, argument in enumerate(given) if argument.scalar]
    places = [place for place, argument in enumerate(given) if not argument.scalar]
    passed = tuple(given[place] for place in places)
    pairs = arguments.written_pairs(passed)
    expected = tuple(_expected(argument, torch) for argument in passed)
    shifts = [argument.shift_bytes for argument in passed] if any(each.offset for each in passed) else None
    made = tuple(
        (index, argument.shape, getattr(torch, NAMES[argument.dtype]))
        for index, argument in enumerate(launch.arguments)
        if argument.role == "result"
    )
    plain = {torch.Tensor, torch.nn.Parameter}  # a subclass may keep its memory elsewhere
    all_count = len(given)
    count, gpu, ordinal, context = len(passed), loaded.gpu, loaded.gpu.ordinal, loaded.gpu.context
    records, forward = torch.is_grad_enabled, forward_mode(torch)
    place = torch.device("cuda", ordinal)
    empty = torch.empty
    current_stream = _raw_stream(torch)
    driver = gpu.driver
    streams = Streams(driver)
    launch_kernel, launch_overlapped = driver.cuLaunchKernel, driver.cuLaunchKernelEx
    current_context = driver.cuCtxGetCurrent
    workspace_bytes, byte = launch.workspace_bytes, torch.uint8 if launch.workspace_bytes else None
    steps = [(number, function) for number, function in enumerate(loaded.functions) if function is not None]
    program, first, function, overlapped = None, 0, None, None
    grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes = (0,) * 7
    if len(steps) != 1 or workspace_bytes:

        def workspace() -> Any:
            return empty(workspace_bytes, dtype=byte, device=place)  # PyTorch orders its reuse on this stream

        program = ProgramLaunches(loaded, streams, workspace, as_graph)
    else:
        ((first, function),) = steps
        overlapped = loaded.configurations[first]
        grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes = loaded.shape(first)
    encoders, flags = loaded.encoders, loaded.flags
    moving = Parameters(launch, loaded.constants).has_moving_maps
    threads = threading.local()

    def call(tensors: tuple[Any, ...], stream: Any) -> Any:
        if len(tensors) != all_count or forward._current_level >= 0:
            return DECLINED
        if int(current_context()[1]) != context:
            with gpu.active():
                return call(tensors, stream)
        if stream is None:
            handle = current_stream(ordinal)
        elif made or workspace_bytes:
            return DECLINED  # memory for a stream that is not PyTorch's current one takes more care
        else:
            handle = device.stream_handle(stream)
        try:
            parameters: Parameters = threads.parameters
        except AttributeError:
            parameters = threads.parameters = Parameters(launch, loaded.constants)
        pointers: list[int] = []
        if numbers:
            try:
                for number, bits in numbers:
                    parameters.slots[number] = bits(tensors[number])
            except ArgumentError:
                return DECLINED
            tensors = tuple([tensors[number] for number in places])
        try:
            for tensor, (size, dtype, other, argument) in zip(tensors, expected, strict=True):
                if (
                    type(tensor) not in plain
                    or (tensor.dtype is not dtype and tensor.dtype is not other)
                    or tensor.shape != size
                    or not (tensor.is_contiguous() if argument is None else strides_fit(argument, tensor.stride()))
                    or tensor.get_device() != ordinal
                    or tensor.is_neg()
                    or (tensor.requires_grad and records())
                ):
                    return DECLINED
                pointers.append(tensor.data_ptr())
        except Exception:  # a tensor without storage; the long way says which
            return DECLINED
        if pointers != parameters.written:
            bases = pointers if shifts is None else list(map(operator.sub, pointers, shifts))
            if not arguments.well_placed(pointers, bases, pairs):
                return DECLINED
            parameters.written = None
            if numbers:
                for number, base in zip(places, bases, strict=True):
                    parameters.slots[number] = base
            else:
                parameters.slots[:count] = bases
            if encoders:
                parameters.write_maps(encoders)
            parameters.written = pointers
        outcome = None
        if made:
            tensors_made: list[Any] = []
            for index, size, dtype in made:
                tensor = empty(size, dtype=dtype, device=place)
                parameters.slots[index] = tensor.data_ptr()
                tensors_made.append(tensor)
            outcome = outcome_of(tensors_made)
        if program is not None:
            program.start(parameters, handle)
            return outcome
        if flags is not None:
            parameters.place_flags(flags.at(handle))
        if moving:
            parameters.write_moving_maps(encoders)
        address = parameters.addresses[first]
        if overlapped is None:
            (status,) = launch_kernel(
                function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, streams[handle], address, 0
            )
        else:
            (status,) = launch_overlapped(overlapped[handle], function, address, 0)
        if status:
            loaded.refuse(first, status)
        return outcome

    return call


def _raw_stream(torch: Any) -> Callable[[int], int]:
    """PyTorch's current stream as a handle, without making a stream object where it has a way for that."""
    raw = getattr(torch._C, "_cuda_getCurrentRawStream", None)
    if raw is not None:
        return raw
    handle = operator.attrgetter("cuda_stream")
    return lambda ordinal: handle(torch.cuda.current_stream(ordinal))


def _expected(argument: Argument, torch: Any) -> tuple[Any, Any, Any, Argument | None]:
    """What a tensor must have: shape, type, another type that will do, and the argument itself if it is strided."""
    dtype = getattr(torch, NAMES[argument.dtype])
    other = getattr(torch, NAMES[UNSIGNED_BYTE]) if argument.dtype == "i8" else dtype
    return torch.Size(argument.shape), dtype, other, None if argument.strides is None else argument


def outcome_of(arrays_made: list[Any]) -> Any:
    """What a call returns for the results it has made: None, an array, or a tuple of them."""
    if not arrays_made:
        return None
    return arrays_made[0] if len(arrays_made) == 1 else tuple(arrays_made)
