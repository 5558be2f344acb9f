"""Kernels in SPIR-V on an OpenCL device: a program, buffers that are kept, and one queue."""

from __future__ import annotations

import contextlib
import importlib
import warnings
from collections.abc import Generator, Mapping
from typing import Any

from mlir_gemm.errors import DeviceError
from mlir_gemm.pipeline import spirv_words
from mlir_gemm.runtime.host_launcher import failed_check, memory_of
from mlir_gemm.runtime.opencl_device import OpenclDevice, api, said
from mlir_gemm.spec.launch import Launch, Step

_MOST_ELEMENTS = (1 << 31) - 1
"""Of a buffer: indices have 32 bits, with a sign."""
_WORD = 4
"""Bytes of what a kernel reports."""
_ROUNDED = "-cl-fp32-correctly-rounded-divide-sqrt"


def check(device: OpenclDevice, code: bytes, launch: Launch) -> None:
    """Raises DeviceError, which names all that is missing as OpenCL's documentation does, where a device cannot run
    this."""
    problems = device.missing(spirv_words.version(code), spirv_words.capabilities(code)) if code else []
    limits, shared = device.limits, spirv_words.workgroup_bytes(code)
    for step in launch.steps:
        local = shared.get(step.entry, 0)
        if local > limits.local_mem_size:
            problems.append(
                f"{local} bytes of local memory ({step.entry}): CL_DEVICE_LOCAL_MEM_SIZE is {limits.local_mem_size}"
            )
        threads = step.block[0] * step.block[1] * step.block[2]
        if threads > limits.max_work_group_size:
            problems.append(
                f"workgroups of {threads} ({step.entry}): CL_DEVICE_MAX_WORK_GROUP_SIZE is {limits.max_work_group_size}"
            )
        for axis, name in enumerate("xyz"):
            if step.block[axis] > limits.max_work_item_sizes[axis]:
                problems.append(
                    f"workgroups of {step.block[axis]} along {name} ({step.entry}): CL_DEVICE_MAX_WORK_ITEM_SIZES is "
                    f"{limits.max_work_item_sizes[axis]}"
                )
        taken = 8 * (len(step.parameters) + bool(step.asserts))
        if taken > limits.max_parameter_size:
            problems.append(
                f"{taken} bytes of parameters ({step.entry}): CL_DEVICE_MAX_PARAMETER_SIZE is "
                f"{limits.max_parameter_size}"
            )
    sizes = memory_of(launch)
    largest = max([0, *sizes])
    if largest > limits.max_mem_alloc_size:
        problems.append(f"a buffer of {largest} bytes: CL_DEVICE_MAX_MEM_ALLOC_SIZE is {limits.max_mem_alloc_size}")
    if sum(sizes) > limits.global_mem_size:
        problems.append(f"{sum(sizes)} bytes of buffers: CL_DEVICE_GLOBAL_MEM_SIZE is {limits.global_mem_size}")
    longest = max([0, *(size // each.item_bytes for each, size in zip(launch.arguments, sizes, strict=False))])
    if longest > _MOST_ELEMENTS:
        problems.append(f"an argument of {longest} elements: indices have 32 bits, so that {_MOST_ELEMENTS} are most")
    if problems:
        raise DeviceError(f"{device} cannot run this kernel: {'; '.join(problems)}")


class OpenclKernels:
    """What was compiled, on a device: a kernel for each step, and the buffers of its calls."""

    def __init__(self, device: OpenclDevice, code: bytes, launch: Launch) -> None:
        """Raises DeviceError where the device lacks what the kernels need; then nothing ran."""
        check(device, code, launch)
        cl = api()
        self.device, self.launch = device, launch
        try:
            program = _built(device, code) if launch.steps else None
            self._memory = [self.buffer(each.span_bytes + each.shift_bytes) for each in launch.arguments]
            self._memory += self._workspace()
            for constant in launch.constants:
                self._memory.append(self.buffer(len(constant.data)))
                self._fill(self._memory[-1], constant.data)
            self._steps = [
                _Step(self, step, cl.Kernel(program, step.entry)) for step in launch.steps if not step.is_empty
            ]
        except cl.Error as error:
            raise DeviceError(f"{device} cannot run this kernel: {said(error)}") from None

    def buffer(self, size: int) -> Any:
        """Memory of so many bytes, or a few more."""
        cl = api()
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.ALLOC_HOST_PTR
        return cl.Buffer(self.device.context, flags, max(16, size))

    def _fill(self, buffer: Any, data: bytes) -> None:
        cl = api()
        if data:
            cl.enqueue_copy(self.device.queue, buffer, data, is_blocking=True)

    def _workspace(self) -> list[Any]:
        """A buffer for each intermediate one. Those with the same place share it, as they are never in use together."""
        sizes: dict[tuple[bool, int], int] = {}
        for each in self.launch.buffers:
            place = each.zeroed, each.offset or 0
            assert isinstance(each.bytes, int)
            sizes[place] = max(sizes.get(place, 0), each.bytes)
        made = {place: self.buffer(size) for place, size in sizes.items()}
        for place, buffer in made.items():
            if place[0]:
                self._fill(buffer, bytes(max(16, sizes[place])))
        return [made[each.zeroed, each.offset or 0] for each in self.launch.buffers]

    @contextlib.contextmanager
    def mapped(self, number: int) -> Generator[Any, None, None]:
        """The bytes of an argument's buffer, which the host may read and write meanwhile."""
        cl, numpy = api(), importlib.import_module("numpy")
        buffer = self._memory[number]
        flags = cl.map_flags.READ | cl.map_flags.WRITE
        data, _ = cl.enqueue_map_buffer(self.device.queue, buffer, flags, 0, (buffer.size,), numpy.uint8)
        try:
            yield data
        finally:
            data.base.release(self.device.queue)

    def written(self, number: int) -> contextlib.AbstractContextManager[Any]:
        """The bytes of an argument after a run."""
        return self.mapped(number)

    def memory(self, number: int) -> Any:
        """The buffer of a number, as in `Step.parameters`; None where it is a number, passed by value."""
        launch = self.launch
        if number < len(launch.arguments) and launch.arguments[number].scalar:
            return None
        return self._memory[number] if number < len(self._memory) else None

    def run(self, numbers: Mapping[int, int], repeat: int = 1, fetch: bool = True) -> None:
        """Runs all steps in order, and waits for them; the arguments' memory holds what they read. `numbers` are the
        bits of the arguments that are numbers, by place. With `repeat` all of it is done so many times. The host can
        read what was written (`written`) with and without `fetch`, since mapping fetches it. Raises DeviceError where
        the driver refuses."""
        cl = api()
        with self.device.lock:
            try:
                for step in self._steps:
                    step.give(numbers)
                    step.forget()
                for _ in range(repeat):
                    for step in self._steps:
                        step.start()
                self.device.queue.finish()
                reported = [step.reported() for step in self._steps]
            except cl.Error as error:
                raise DeviceError(f"running on {self.device} failed: {said(error)}") from None
        for step, number in zip(self._steps, reported, strict=True):
            failed_check(self.device, step.step, number)


class _Step:
    """One step: its kernel, with its buffers bound."""

    def __init__(self, kernels: OpenclKernels, step: Step, kernel: Any) -> None:
        self.step, self._kernel, self._queue = step, kernel, kernels.device.queue
        _check_built(kernels.device, step, kernel)
        self._given: list[tuple[int, int, Any]] = []
        """Parameters that are numbers of the caller: which one, which argument, and the type that holds its bits."""
        launch, numpy = kernels.launch, importlib.import_module("numpy")
        for place, number in enumerate(step.parameters):
            assert isinstance(number, int)  # there are no tensor maps on these chips, and sizes are bound
            memory = kernels.memory(number)
            if memory is not None:
                kernel.set_arg(place, memory)
            elif number < len(launch.arguments):
                self._given.append((place, number, getattr(numpy, f"uint{8 * launch.arguments[number].item_bytes}")))
            else:
                size = launch.values[number - len(launch.arguments) - len(launch.buffers) - len(launch.constants)]
                kernel.set_arg(place, numpy.uint32(size))
        self._told = kernels.buffer(_WORD) if step.asserts else None
        if self._told is not None:
            kernel.set_arg(len(step.parameters), self._told)
        groups = zip(step.grid, step.block, strict=True)
        self._threads = tuple(int(count) * int(size) for count, size in groups)

    def give(self, numbers: Mapping[int, int]) -> None:
        """Sets the parameters that are numbers of the caller."""
        for place, number, type_ in self._given:
            self._kernel.set_arg(place, type_(numbers[number]))

    def forget(self) -> None:
        """Lets `reported` be 0."""
        if self._told is not None:
            api().enqueue_copy(self._queue, self._told, bytes(_WORD), is_blocking=True)

    def reported(self) -> int:
        """The number of the message of an assertion that failed in the last run, from 1; 0 for none."""
        data = bytearray(_WORD)
        if self._told is not None:
            api().enqueue_copy(self._queue, data, self._told, is_blocking=True)
        return int.from_bytes(data, "little")

    def start(self) -> None:
        """Puts the kernel into the queue."""
        api().enqueue_nd_range_kernel(self._queue, self._kernel, self._threads, tuple(self.step.block))


def _built(device: OpenclDevice, code: bytes) -> Any:
    """The program. Raises DeviceError, with what the driver says, where it does not take the code."""
    cl = api()
    config = device.limits.single_fp_config
    exact = config & int(cl.device_fp_config.CORRECTLY_ROUNDED_DIVIDE_SQRT)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what compilers print
            return cl.Program(device.context, code).build([_ROUNDED] if exact else [], devices=[device.handle])
    except cl.Error as error:
        raise DeviceError(f"{device} does not take this module of SPIR-V: {said(error)}") from None


def _check_built(device: OpenclDevice, step: Step, kernel: Any) -> None:
    """Raises DeviceError where what the driver made of a kernel needs more than the device has: registers, and local
    memory of its own beside what the code declares."""
    info, limits = api().kernel_work_group_info, device.limits
    threads = step.block[0] * step.block[1] * step.block[2]
    most = kernel.get_work_group_info(info.WORK_GROUP_SIZE, device.handle)
    local = kernel.get_work_group_info(info.LOCAL_MEM_SIZE, device.handle)
    problems: list[str] = []
    if threads > most:
        problems.append(f"workgroups of {threads} ({step.entry}): CL_KERNEL_WORK_GROUP_SIZE is {most}")
    if local > limits.local_mem_size:
        problems.append(
            f"{local} bytes of local memory ({step.entry}): CL_DEVICE_LOCAL_MEM_SIZE is {limits.local_mem_size}"
        )
    if problems:
        raise DeviceError(f"{device} cannot run this kernel: {'; '.join(problems)}")
