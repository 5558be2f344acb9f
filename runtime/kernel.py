"""`compile` and what it returns: a kernel that is called with arrays."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from mlir_gemm.errors import DeviceError, InputError, ScheduleError
from mlir_gemm.pipeline.kernel_record import KernelRecord, first_product
from mlir_gemm.pipeline.launch import Launch
from mlir_gemm.pipeline.problem import Problem
from mlir_gemm.pipeline.schedule import Schedule
from mlir_gemm.runtime import cache
from mlir_gemm.runtime.device import default_chip
from mlir_gemm.runtime.launcher import DECLINED, GpuLauncher

if TYPE_CHECKING:
    from mlir_gemm.pipeline.compilation import Compilation
    from mlir_gemm.simulator.device import SimulatorLauncher

_CHIP_ATTRIBUTE = "tile.chip"
"""Text that the compiler saved after a stage names its chip with this; it can be finished for no other."""


@dataclasses.dataclass(frozen=True)
class Request:
    """Everything that the compiler is asked."""

    source: str
    filename: str
    chip: str | None
    """None for the one that the source names."""
    schedule: Mapping[str, Any] | None

    def compile(self) -> Compilation:
        """Runs the compiler."""
        return _compile_module(self.source, filename=self.filename, chip=self.chip, schedule=self.schedule)


class Kernel:
    """A compiled function: one kernel, or a program of several. Calling it runs it; made by `compile`.

    `kernel(*arrays, stream=None)` takes the source function's arguments in their order. Memref arguments are read and
    written in place; tensor results are returned (None, one array, or a tuple), in the library of the first argument.
    Arrays may be PyTorch or CuPy arrays, or anything with DLPack or `__cuda_array_interface__` on the GPU, aligned to
    16 bytes, dense and row-major or, for a memref with a layout, of its strides; NumPy arrays are copied to the GPU and
    back. For `memref<..., strided<[...], offset: o>>` the array given starts at element [0, ..., 0], which lies `o`
    elements behind the address that the kernel gets; that address must be aligned. An i8 argument may be int8 or uint8;
    bf16 and the 8-bit floating-point types are NumPy types by the package `ml_dtypes`.

    Everything runs on the caller's current stream (PyTorch's or CuPy's; else the default stream), or on `stream`: a
    handle, or a stream of any of these libraries. The kernels of a program run in order; their intermediate results lie
    in memory that is allocated for each call, and constants are copied to the GPU once. The call returns once all is
    launched, and with NumPy arrays once it has run.

    `kernels` tells of each kernel; `problem` and `schedule` are those of the first product, None where there is none.

    Raises ArgumentError, with nothing launched, for arrays that do not fit, and DeviceError where there is no GPU.

    On the simulator the arrays are of the host (NumPy, PyTorch on the CPU, or DLPack), and the call returns once every
    block has been simulated; it raises FindingsError when the checks, which are on for small problems, find a fault.
    """

    def __init__(
        self,
        artifact: cache.Artifact,
        request: Request,
        launcher: GpuLauncher | SimulatorLauncher,
        compilation: Compilation | None = None,
    ) -> None:
        self._artifact = artifact
        self._request = request
        self._launcher = launcher
        self._compilation = compilation

    def __call__(self, *arrays: Any, stream: Any = None) -> Any:
        launcher = self._launcher
        short = launcher.short
        if short is not None:
            outcome = short(arrays, stream)
            if outcome is not DECLINED:
                return outcome
        return launcher(arrays, stream)

    def __repr__(self) -> str:
        where = f"for {self.chip} on {self._launcher.device}"
        if len(self.kernels) == 1 and self.problem is not None:
            return f"<mlir_gemm.Kernel {self.problem} {where}: {self.schedule}>"
        what = ", ".join(f"{kernel.name} ({kernel.problem or kernel.kind})" for kernel in self.kernels)
        return f"<mlir_gemm.Kernel of {len(self.kernels)} kernels {where}: {what or 'nothing to run'}>"

    @property
    def ptx(self) -> str:
        """The code of all kernels, as PTX."""
        return self._artifact.ptx

    @property
    def chip(self) -> str:
        """What it was compiled for, such as `sm_90`."""
        return self._artifact.chip

    @property
    def kernels(self) -> tuple[KernelRecord, ...]:
        """What is known of each kernel: name, kind, problem, schedule, the step where it runs first, and a note."""
        return self._artifact.kernels

    @property
    def schedule(self) -> Schedule | None:
        """How the first product is computed; None where there is no product."""
        first = first_product(self.kernels)
        return first.schedule if first else None

    @property
    def problem(self) -> Problem | None:
        """What the first product computes; None where there is no product."""
        first = first_product(self.kernels)
        return first.problem if first else None

    @property
    def launch(self) -> Launch:
        """How it is launched: arguments, and steps with entry, grid, block and shared memory. Of one kernel, these are
        fields of the launch itself too."""
        return self._artifact.launch

    @property
    def stages(self) -> tuple[str, ...]:
        """Names of the compiler's stages, in order."""
        return self._artifact.stages

    def ir(self, stage: str, locations: bool = False) -> str:
        """The IR after a stage, as text, with the places in the source of its operations if `locations`. A kernel that
        came from the cache is compiled again for it."""
        if stage not in self.stages:
            raise InputError(f"there is no stage '{stage}'; the stages are {', '.join(self.stages)}")
        if self._compilation is None:
            self._compilation = self._request.compile()
        return self._compilation.ir(stage, locations)


def compile(
    source: Any,
    chip: str | None = None,
    device: str | int = "auto",
    schedule: Schedule | str | Mapping[str, Any] | None = None,
) -> Kernel:
    """Compiles a module to something callable, one kernel or several, or finds it in the cache. Needs no GPU.

    Args:
        source: a path, MLIR text, or a module of the MLIR bindings.
        chip: what to compile for, such as `sm_90`; None takes the one that the source names (text saved after a stage
            does), else that of the GPU, else `sm_80`.
        device: where the kernel will run: `auto` (the GPU that holds the first call's arrays), `gpu` (the same), a
            number or `cuda:N`, or `simulator`, which runs it on the CPU and watches it.
        schedule: fields to fix, as a Schedule, as text (`block=128x128x64,stages=2`) or as a dict; None leaves all of
            them to the model. In a program they are fixed for every product.

    Raises:
        InputError: the source cannot be read or compiled.
        ScheduleError: the schedule is misspelt, or illegal for this problem and chip.
        TargetError: no such chip.
        DeviceError: `device` names nothing that this version runs on.
    """
    make_launcher, ordinal = _device(device)
    text, filename = _read_source(source)
    if chip is None and _CHIP_ATTRIBUTE not in text:
        chip = default_chip(ordinal or 0)
    request = Request(text, filename, chip, _schedule_fields(schedule))
    entry = cache.key(request.source, request.filename, request.chip, request.schedule)
    artifact = cache.find(entry)
    compilation = None
    if artifact is None:
        compilation = request.compile()
        artifact = _artifact(compilation)
        cache.keep(entry, artifact)

    def lowered() -> str:
        return kernel.ir("lower", locations=True)

    kernel = Kernel(artifact, request, make_launcher(artifact, ordinal, lowered), compilation)
    return kernel


def _artifact(compilation: Compilation) -> cache.Artifact:
    ptx, launch = compilation.ptx, compilation.launch
    assert ptx is not None and launch is not None  # it went to the end
    return cache.Artifact(compilation.target.chip, ptx, compilation.kernels, launch, tuple(compilation.stages))


def _compile_module(source: str, *, filename: str, chip: str | None, schedule: Mapping[str, Any] | None) -> Compilation:
    from mlir_gemm.pipeline.driver import compile_module  # late: it imports the MLIR bindings

    return compile_module(source, filename=filename, chip=chip, schedule=schedule)


MakeLauncher: TypeAlias = "Callable[[cache.Artifact, int | None, Callable[[], str]], GpuLauncher | SimulatorLauncher]"
"""Takes what was compiled, the number of the GPU if the user gave one, and what gives the IR after `lower`."""


def _on_gpu(artifact: cache.Artifact, ordinal: int | None, _: Callable[[], str]) -> GpuLauncher:
    return GpuLauncher(artifact.ptx, artifact.launch, ordinal)


def _on_simulator(artifact: cache.Artifact, _: int | None, lowered: Callable[[], str]) -> SimulatorLauncher:
    from mlir_gemm.simulator.device import SimulatorLauncher  # late: it imports NumPy

    return SimulatorLauncher(lowered, artifact.launch, artifact.kernels)


_DEVICES: dict[str, MakeLauncher] = {"auto": _on_gpu, "gpu": _on_gpu, "simulator": _on_simulator}
"""What runs a kernel, by the name a user gives."""


def _device(device: str | int) -> tuple[MakeLauncher, int | None]:
    """What will run the kernel, and the number of the GPU if the user gave one."""
    if isinstance(device, str) and device in _DEVICES:
        return _DEVICES[device], None
    number = str(device).removeprefix("cuda:")
    if not isinstance(device, bool) and number.isdecimal():
        return _on_gpu, int(number)
    names = ", ".join(f"'{name}'" for name in _DEVICES)
    raise DeviceError(f"device={device!r} is not known; expected {names}, a number or 'cuda:N'")


def _schedule_fields(schedule: Schedule | str | Mapping[str, Any] | None) -> dict[str, Any] | None:
    if isinstance(schedule, Schedule):
        return dataclasses.asdict(schedule)
    if isinstance(schedule, str):
        return Schedule.parse(schedule) or None
    if schedule is None:
        return None
    if not isinstance(schedule, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ScheduleError(f"schedule={schedule!r}: expected a Schedule, text such as 'stages=2', or a dict")
    return Schedule.check_fields(schedule) or None


def _read_source(source: Any) -> tuple[str, str]:
    """The module's text, and the file it came from (`-` for none)."""
    if isinstance(source, str):
        if _is_path(source):
            return _read_file(source)
        if any(mark in source for mark in ("\n", "{", "module", "func")):
            return source, "-"
        shown = source if len(source) <= 80 else f"{source[:77]}..."
        raise InputError(f"'{shown}' is neither a file nor MLIR text")
    if isinstance(source, os.PathLike):
        return _read_file(os.fspath(cast("os.PathLike[str]", source)))
    operation = getattr(source, "operation", None)
    if operation is not None:
        return operation.get_asm(enable_debug_info=True), "-"
    raise InputError(f"a {type(source).__name__} is nothing to compile; expected a path, MLIR text or a module")


def _is_path(text: str) -> bool:
    if "\n" in text:
        return False
    if text.endswith(".mlir"):
        return True
    try:
        return os.path.exists(text)
    except ValueError:  # a zero byte
        return False


def _read_file(path: str | bytes) -> tuple[str, str]:
    shown = os.fsdecode(path)
    try:
        content = Path(shown).read_bytes()
    except (OSError, ValueError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) and problem.strerror else str(problem)
        raise InputError(f"cannot read '{shown}': {reason}") from None
    if content.startswith(b"ML\xefR"):
        raise InputError(f"'{shown}' is MLIR bytecode; expected MLIR text (mlir-opt prints it)")
    try:
        text = content.decode()
    except UnicodeDecodeError as problem:
        raise InputError(f"'{shown}' is not MLIR text: it is not UTF-8 at byte {problem.start}") from None
    if "\0" in text:
        raise InputError(f"'{shown}' is not MLIR text: it holds a zero byte at {text.index(chr(0))}")
    return text, shown
