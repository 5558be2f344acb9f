"""The simulator as a device: kernels and programs called with arrays of the host, with the checks that the GPU gets."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

from mlir_gemm.errors import ArgumentError, FindingsError
from mlir_gemm.runtime import arguments, arrays
from mlir_gemm.simulator import sampling
from mlir_gemm.simulator.report import first_findings
from mlir_gemm.spec import binding
from mlir_gemm.spec.element_types import BY_NAME, NAMES, TYPE_STRINGS, TYPES, numpy_dtype
from mlir_gemm.spec.kernel_record import KernelRecord
from mlir_gemm.spec.launch import Argument, Launch
from mlir_gemm.spec.scalars import bits_of

LARGEST = 1 << 36
"""M N K beyond which a call is refused, 4096 each: it would take more than ten minutes on two cores."""
_DLPACK_CPU = 1
"""DLPack's number for memory of the host (dlpack.h, DLDeviceType)."""


class SimulatorLauncher:
    """Calls a kernel or a program on the simulator. Small problems run with all checks (`sampling.CHECKED`)."""

    short: Callable[[tuple[Any, ...], Any], Any] | None = None
    """There is no short way."""
    device = "simulator"

    def __init__(self, lowered: Callable[[], str], launch: Launch, kernels: Sequence[KernelRecord]) -> None:
        self._lowered = lowered
        self._launch = launch
        self._kernels = kernels
        self._passed = binding.passed(launch)
        self._results = tuple(argument for argument in launch.arguments if argument.role == "result")

    def __call__(self, given: tuple[Any, ...], stream: Any) -> Any:
        """Checks the arguments, simulates all blocks, and returns the results: None, an array, or a tuple of them.

        Raises ArgumentError for arrays that do not fit, and FindingsError when a check finds something.
        """
        binding.check_count(given, self._passed)
        program: Any = importlib.import_module("mlir_gemm.simulator.program")
        work = program.work(self._kernels, self._launch)
        if work > LARGEST:
            what = ", ".join(str(kernel.problem or kernel.name) for kernel in self._kernels)
            raise ArgumentError(
                f"{what} is too large to simulate whole; expected M N K of at most {LARGEST}, or a sample of "
                "its blocks (mlir-gemm run --device simulator)"
            )
        pairs = zip(given, self._passed, strict=True)
        host: list[Any] = []
        for index, (array, argument) in enumerate(pairs):
            with arguments.about(index, argument):
                host.append(on_host(array, argument))
        views = [arrays.view(array, "numpy", None, 0) for array in host]
        libraries = [arrays.library_of(host[n] if a.scalar else given[n]) for n, a in enumerate(self._passed)]
        arguments.check(views, self._passed, 0, libraries)
        made = [_unwritten(argument) for argument in self._results]
        memory = [*(_as(array, argument) for array, argument in zip(host, self._passed, strict=True)), *made]
        self._simulate(program, memory, checks=work <= sampling.CHECKED)
        first = next((array for array, each in zip(given, self._passed, strict=True) if not each.scalar), None)
        results = [array if first is None else like(first, array) for array in made]
        return None if not results else results[0] if len(results) == 1 else tuple(results)

    def _simulate(self, program: Any, memory: list[Any], checks: bool) -> None:
        options: Any = importlib.import_module("mlir_gemm.simulator.options").Options(checks=checks)
        report = program.simulate_launch(self._lowered(), self._launch, memory, options)
        if report.findings:
            raise FindingsError("the simulator found faults in the kernel", None, tuple(first_findings(report)))


def on_host(array: Any, argument: Argument) -> Any:
    """A NumPy array that shares the memory of a NumPy array, a CPU tensor, or anything on the host with DLPack."""
    if argument.scalar:
        numpy: Any = importlib.import_module("numpy")
        data = bits_of(argument, array).to_bytes(argument.item_bytes, "little")
        return numpy.frombuffer(data, numpy_dtype(argument.dtype)).reshape(())
    library = arrays.library_of(array)
    if library == "numpy":
        return array
    if library == "torch":
        if str(array.device) != "cpu":
            raise ArgumentError(f"its memory is on {array.device}, the simulator runs on the CPU; pass .cpu()")
        arrays.check_torch(array)
        return _of_torch(array.detach(), argument)
    if library == "other" and hasattr(array, "__dlpack_device__"):
        kind, _ = array.__dlpack_device__()
        if int(kind) == _DLPACK_CPU:
            return importlib.import_module("numpy").from_dlpack(array)
    if library is None:
        raise ArgumentError(f"a {type(array).__name__} given, which is not an array: expected NumPy or DLPack")
    raise ArgumentError("its memory is on a GPU, the simulator runs on the CPU; copy it to the host")


def _as(array: Any, argument: Argument) -> Any:
    """The same memory in the kernel's type: int8 for uint8."""
    return array.view(numpy_dtype(argument.dtype))


def _unwritten(argument: Argument) -> Any:
    """Memory for a result: NaN, so that an element that the kernel does not write shows."""
    numpy: Any = importlib.import_module("numpy")
    return numpy.full(argument.shape, numpy.nan if TYPES[argument.dtype].is_float else 0, numpy_dtype(argument.dtype))


def _of_torch(tensor: Any, argument: Argument) -> Any:
    """A NumPy array on the memory of a CPU tensor. PyTorch itself does not hand out the types beyond NumPy's own."""
    if str(tensor.dtype).removeprefix("torch.") != NAMES[argument.dtype] or argument.dtype in TYPE_STRINGS:
        return tensor.numpy()
    torch: Any = importlib.import_module("torch")
    return tensor.view(_same_size(torch, argument.item_bytes)).numpy().view(numpy_dtype(argument.dtype))


def _same_size(torch: Any, item_bytes: int) -> Any:
    return torch.uint8 if item_bytes == 1 else torch.int16


def like(first: Any, result: Any) -> Any:
    """A result in the library of the first argument."""
    if arrays.library_of(first) != "torch":
        return result
    torch: Any = importlib.import_module("torch")
    name = result.dtype.name
    if BY_NAME[name] in TYPE_STRINGS:
        return torch.from_numpy(result)
    plain = result.view("u1" if result.itemsize == 1 else "i2")
    return torch.from_numpy(plain).view(arrays.torch_dtype(torch, BY_NAME[name]))
