"""`compile` and what it returns: a kernel that is called with arrays."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from mlir_gemm.dialect.parse_guard import GUARD
from mlir_gemm.errors import ArgumentError, DeviceError, InputError, ScheduleError
from mlir_gemm.runtime import device as gpus
from mlir_gemm.runtime.array_types import Array
from mlir_gemm.runtime.auto import AutoLauncher
from mlir_gemm.runtime.complex_arrays import with_complex
from mlir_gemm.runtime.device import LoadedKernel
from mlir_gemm.runtime.dynamic import DynamicLauncher
from mlir_gemm.runtime.launcher import DECLINED, GpuLauncher
from mlir_gemm.runtime.line_info import wanted
from mlir_gemm.runtime.own_chip import default_chip
from mlir_gemm.runtime.request import Request, Variant, check_runs
from mlir_gemm.runtime.sources import read_source
from mlir_gemm.runtime.strided import StridedLauncher, with_strides
from mlir_gemm.runtime.tuned_files import database
from mlir_gemm.spec import binding
from mlir_gemm.spec.attributes import CHIP
from mlir_gemm.spec.kernel_record import KernelRecord, first_product
from mlir_gemm.spec.launch import Launch
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.tile_model.chips import chip_name

if TYPE_CHECKING:
    from mlir_gemm.pipeline.compilation import Compilation
    from mlir_gemm.runtime.host_launcher import HostLauncher
    from mlir_gemm.runtime.simulated import SimulatorLauncher
    from mlir_gemm.runtime.variants import GivenVariant, SavedVariant, Variants

    OneLauncher: TypeAlias = GpuLauncher | SimulatorLauncher | HostLauncher
    Launcher: TypeAlias = OneLauncher | DynamicLauncher | StridedLauncher


class Kernel:
    """A compiled function: one kernel, or a program of several. Calling it runs it; made by `compile`.

    `kernel(*arrays, stream=None)` takes the source function's arguments in their order, or by their names in the source
    (`kernel(a, bias=b)`). Memref arguments are read and written in place; tensor results are returned (None, one array,
    or a tuple), in the library of the first argument; an argument that is a number takes a number. Arrays may be
    PyTorch or CuPy arrays, or anything with DLPack or `__cuda_array_interface__` on the GPU, aligned to 16 bytes, dense
    and row-major or, for a memref with a layout, with its strides (any strides for `?`); NumPy arrays are copied to the
    GPU and back. For `memref<..., strided<[...], offset: o>>` the array given starts at element [0, ..., 0], which lies
    `o` elements after the address that the kernel gets; that address must be aligned. An i8 argument may be int8 or
    uint8; bf16 and the 8-bit floats are NumPy types by the package `ml_dtypes`.

    Sizes that the source leaves open (`?`) are read from the arrays of each call; arrays must agree on sizes that the
    function requires to be equal. Such a kernel has several variants, of which a call takes the one that the model
    predicts to be fastest. A variant is compiled (or found in the cache) when first needed: `precompile` does that
    ahead. `ptx`, `kernels`, `launch` and `ir` are those of the variant for typical sizes; `at` gives the kernel for
    certain sizes.

    Everything runs on the caller's current stream (PyTorch's or CuPy's; else the default one), or on `stream`: a handle
    or a stream of these. The kernels of a program run in order, with their intermediate results in memory of each call;
    constants are copied to the GPU once. The call returns once all is launched, with NumPy arrays once it has run.

    `kernels` tells of each kernel; `problem` and `schedule` are those of the first product, None where there is none.
    Raises ArgumentError, with nothing launched, for arrays that do not fit, and for a tensor that needs a gradient, in
    grad mode: the kernel has no derivative. Raises DeviceError where `device` asks for a GPU and there is none.

    On the simulator the arrays are of the host (NumPy, PyTorch on the CPU, or DLPack), and the call returns once every
    block has been simulated; it raises FindingsError when the checks, which are on for small problems, find a fault.
    """

    def __init__(
        self,
        variant: Variant,
        launcher: Launcher,
        launch: Launch | None = None,
        records: tuple[KernelRecord, ...] | None = None,
        variants: Variants | SavedVariant | GivenVariant | None = None,
        device: str | int = "auto",
    ) -> None:
        self._variant, self._device = variant, device
        self._launch = variant.artifact.launch if launch is None else launch
        self._launcher = with_complex(launcher, self._launch)
        self._records = variant.artifact.kernels if records is None else records
        self._variants = variants

    def __call__(self, *arrays: Array, stream: Any = None, **by_name: Array) -> Any:
        if by_name:
            return self(*binding.in_order(arrays, by_name, binding.passed(self._launch)), stream=stream)
        launcher = self._launcher
        short = launcher.short
        if short is not None:
            outcome = short(arrays, stream)
            if outcome is not DECLINED:
                return outcome
        return launcher(arrays, stream)

    def __reduce__(self) -> tuple[Any, ...]:
        """What was compiled and how it is launched; a GPU, and variants for other sizes, are found when needed."""
        return _made, (self._variant, self._device, self._launch, self._records)

    def __repr__(self) -> str:
        where = f"for {self.chip} on {self._launcher.device}"
        where += f", {', '.join(self.symbols)} at run time" if self.symbols else ""
        if len(self.kernels) == 1 and self.problem is not None:
            return f"<mlir_gemm.Kernel {self.problem} {where}: {self.schedule}>"
        what = ", ".join(f"{kernel.name} ({kernel.problem or kernel.kind})" for kernel in self.kernels)
        return f"<mlir_gemm.Kernel of {len(self.kernels)} kernels {where}: {what or 'nothing to run'}>"

    @property
    def ptx(self) -> str:
        """The code of all kernels, as PTX."""
        return self._variant.artifact.ptx

    @property
    def code(self) -> bytes:
        """The code of all kernels where it is not PTX: SPIR-V, or AMDGPU assembly as text."""
        return self._variant.artifact.code

    @property
    def launcher(self) -> Any:
        """What runs it: for callers that launch it themselves on another device than a GPU of NVIDIA's."""
        return self._launcher

    @property
    def chip(self) -> str:
        """What it was compiled for, such as `sm_90`."""
        return self._variant.artifact.chip

    @property
    def kernels(self) -> tuple[KernelRecord, ...]:
        """What is known of each kernel: name, kind, problem, schedule, the step where it runs first, and a note."""
        return self._records

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
        return self._launch

    @property
    def stages(self) -> tuple[str, ...]:
        """Names of the compiler's stages, in order; of text that was saved after a stage, from that one on."""
        return self._variant.artifact.stages

    def ir(self, stage: str, locations: bool = False) -> str:
        """The IR after a stage, as text, with the places in the source of its operations if `locations`. A kernel that
        came from the cache is compiled again for it."""
        if stage not in self.stages:
            raise InputError(f"there is no stage '{stage}'; the stages are {', '.join(self.stages)}")
        return self._variant.ir(stage, locations)

    @property
    def symbols(self) -> tuple[str, ...]:
        """Names of the sizes that are known at run time only, in the order in which the arguments have them; none where
        all sizes are in the source. Entries of the shapes in `launch.arguments` are such names."""
        return self._launch.symbols

    @property
    def variants(self) -> dict[str, tuple[KernelRecord, ...]]:
        """What is known of the kernels of each variant that has been compiled, by what it is made for: `s0~512, s0%8`
        is for sizes s0 around 2048 that are multiples of 8. Empty where all sizes are in the source."""
        return {} if self._variants is None else self._variants.made_so_far()

    def at(self, **sizes: int) -> Kernel:
        """The kernel for these sizes by their symbols, `kernel.at(s0=37)`: what a call with such arrays runs. All sizes
        are numbers in it. Raises ArgumentError unless every symbol has a size from 0."""
        if self._variants is None:
            _check_sizes(sizes, self.symbols)
            return self
        values = _check_sizes(sizes, self.symbols)
        variant = self._variants.at(values)
        launcher = self._launcher
        assert isinstance(launcher, DynamicLauncher)
        launch, records = variant.artifact.launch.at(values), self._variants.records(variant, values)
        return Kernel(variant, launcher.at(values), launch, records, device=self._device)

    def load(self, ordinal: int) -> LoadedKernel:
        """The kernel in the memory of a GPU, for callers that launch it themselves. Sizes must be numbers (`at`)."""
        if self.symbols:
            raise ArgumentError(f"{', '.join(self.symbols)}: sizes are needed to load a kernel; see `at`")
        whole = self._variant.artifact.launch
        loaded = gpus.load(self.ptx, whole, ordinal)
        return loaded.at(self._launch) if whole.symbols else loaded

    def precompile(self, *sizes: Mapping[str, int]) -> None:
        """Compiles the variants that calls with these sizes will take: `kernel.precompile({"s0": 1}, {"s0": 4096})`."""
        for each in sizes:
            self.at(**each)


def compile(
    source: Any,
    chip: str | int | None = None,
    device: str | int = "auto",
    schedule: Schedule | str | Mapping[str, Any] | None = None,
    *,
    entry: str = "",
    sizes: Mapping[str, int] | None = None,
    divisors: Mapping[str, int] | None = None,
    debug_info: str | None = None,
    tuned: str = "",
) -> Kernel:
    """Compiles a module to something callable, one kernel or several, or finds it in the cache. Needs no GPU.

    Args:
        source: a path of MLIR text or bytecode, MLIR text, MLIR bytecode as bytes, or a module of the MLIR bindings.
        chip: what to compile for, such as `sm_90a`, `90` or `h200`; None takes the one that the source names (text
            saved after a stage does), else that of the GPU, else `sm_80`.
        device: where the kernel will run: `gpu` (the one that holds the arrays of the call, `cuda:0` where all are
            NumPy's), a number or `cuda:N`, `simulator`, which runs it on the CPU and watches it, `vulkan`, `opencl`,
            `vulkan:N` or `opencl:N`, a device by its number, or by letters of its name, as in `opencl:arc` (the chip is
            `vulkan` or `opencl` then if none is given), or `auto`, which is `gpu` where there is one, else
            `simulator`, with a warning the first time.
        schedule: fields to fix, as a Schedule, as text (`block=128x128x64,stages=2`) or as a dict, whose values may be
            such texts too; None leaves all of them to the model. In a program they are fixed for every product.
        sizes: typical values of sizes that the source leaves open, by their symbols (`s0`, ...; `Kernel.symbols`). With
            these or with `divisors` there is one variant, for these sizes, and none is compiled by a call.
        divisors: what such sizes are always multiples of, by symbol. A call with others raises ArgumentError.
        entry: the function to compile, of a module with several that no other calls.
        debug_info: `line` for code that names the lines of the source, for profilers, else `none`; None for what the
            environment variable MLIR_GEMM_DEBUG_INFO says. The instructions are the same.
        tuned: a file of schedules that `mlir-gemm tune` found, `off` for none, or empty for what the environment
            variable MLIR_GEMM_TUNED says, else the user's own file. They are for products of which nothing is fixed.

    Raises:
        InputError: the source cannot be read or compiled.
        ScheduleError: the schedule is misspelt, or illegal for this problem and chip.
        TargetError: no such chip.
        DeviceError: `device` names nothing that this version runs on.
    """
    _, ordinal = _device(device)
    text, filename = read_source(source)
    if chip is not None:
        name: str | None = chip_name(chip)
    else:
        own = str(device).partition(":")[0]
        name = None if CHIP in text else own if own in _ON_HOST else default_chip(ordinal or 0)
    hints, given = tuple((sizes or {}).items()), tuple((divisors or {}).items())
    fields, simulated = _schedule_fields(schedule), device == "simulator"
    asked = Request(
        text, filename, name, fields, hints, given, entry,
        lines=wanted(debug_info), simulated=simulated, compiler=_compile_module,
        tuned=None if fields else database(tuned),
    )  # fmt: skip
    first = Variant(asked)
    symbols = first.artifact.launch.symbols
    _check_sizes({name: 1 for name, _ in (*hints, *given)} | dict.fromkeys(symbols, 1), symbols)
    return _made(first, device, first.artifact.launch, first.artifact.kernels)


def _made(first: Variant, device: str | int, launch: Launch, records: tuple[KernelRecord, ...]) -> Kernel:
    """The kernel of what was compiled, to be launched so."""
    make_launcher, ordinal = _device(device)
    if not launch.symbols:
        launcher = with_strides(make_launcher(first, launch, records, ordinal), first, launch, make_launcher)
        return Kernel(first, launcher, launch, records, device=device)
    from mlir_gemm.runtime.variants import GivenVariant, SavedVariant, Variants  # late: few have need of the model

    divisors = first.artifact.divisors
    variants: Variants | SavedVariant | GivenVariant
    variants = Variants(first) if divisors is None else SavedVariant(first, divisors)
    if first.request.hints or first.request.divisors:
        variants = GivenVariant(first)

    def launcher_at(values: tuple[int, ...], ordinal: int | None) -> Any:
        variant = variants.at(values)
        return make_launcher(variant, variant.artifact.launch.at(values), variants.records(variant, values), ordinal)

    return Kernel(first, DynamicLauncher(launch, launcher_at, ordinal, device), variants=variants, device=device)


def _compile_module(source: str, **asked: Any) -> Compilation:
    GUARD.before_bindings()
    from mlir_gemm.pipeline.driver import compile_module  # late: it imports the MLIR bindings

    return compile_module(source, **asked)


def _check_sizes(sizes: Mapping[str, int], symbols: tuple[str, ...]) -> tuple[int, ...]:
    """The sizes in the order of the symbols."""
    known = ", ".join(symbols) or "none: all its sizes are in the source"
    for name in (*sizes, *symbols):
        if name not in symbols or name not in sizes:
            what = "is not one of its sizes" if name in sizes else "has no value"
            raise ArgumentError(f"'{name}' {what}; the kernel's sizes known at run time only: {known}")
        if sizes[name] < 0:
            raise ArgumentError(f"{name}={sizes[name]}: a size starts at 0")
    return tuple(int(sizes[name]) for name in symbols)


MakeLauncher: TypeAlias = "Callable[[Variant, Launch, tuple[KernelRecord, ...], int | None], OneLauncher]"
"""Takes what was compiled, how it is launched, with what its kernels compute, and the number of the GPU if the user
gave one."""


def _on_gpu(variant: Variant, launch: Launch, kernels: tuple[KernelRecord, ...], ordinal: int | None) -> GpuLauncher:
    check_runs(variant.artifact.chip)
    return GpuLauncher(variant.artifact.ptx, launch, ordinal, variant.artifact.launch, kernels)


def _on_simulator(
    variant: Variant, launch: Launch, kernels: tuple[KernelRecord, ...], _: int | None
) -> SimulatorLauncher:
    from mlir_gemm.runtime.simulated import SimulatorLauncher  # late: it imports NumPy

    return SimulatorLauncher(variant.simulated, launch, kernels)


def _on_either(
    variant: Variant, launch: Launch, kernels: tuple[KernelRecord, ...], ordinal: int | None
) -> GpuLauncher | SimulatorLauncher:
    if ordinal is not None:  # a call of other sizes has decided
        return _on_gpu(variant, launch, kernels, ordinal)
    check_runs(variant.artifact.chip)
    compiled, simulator = variant.artifact, lambda: _on_simulator(variant, launch, kernels, None)
    return AutoLauncher(compiled.ptx, launch, compiled.launch, simulator, kernels)


def _on_vulkan(variant: Variant, launch: Launch, _: tuple[KernelRecord, ...], ordinal: int | None) -> HostLauncher:
    from mlir_gemm.runtime.vulkan_launcher import VulkanLauncher  # late: it imports NumPy

    return VulkanLauncher(variant.artifact.code, launch, ordinal or 0, variant.artifact.chip)


def _on_opencl(variant: Variant, launch: Launch, _: tuple[KernelRecord, ...], ordinal: int | None) -> HostLauncher:
    from mlir_gemm.runtime.opencl_launcher import OpenclLauncher  # late: it imports NumPy

    return OpenclLauncher(variant.artifact.code, launch, ordinal or 0, variant.artifact.chip)


_ON_HOST: dict[str, MakeLauncher] = {"vulkan": _on_vulkan, "opencl": _on_opencl}
"""Devices that take and give arrays of the host; each has a chip of its name."""
_DEVICES: dict[str, MakeLauncher] = {"auto": _on_either, "gpu": _on_gpu, "simulator": _on_simulator, **_ON_HOST}
"""What runs a kernel, by the name a user gives."""


def _device(device: str | int) -> tuple[MakeLauncher, int | None]:
    """What will run the kernel, and the number of the GPU if the user gave one."""
    if isinstance(device, str) and device in _DEVICES:
        return _DEVICES[device], None
    word, _, which = str(device).partition(":")
    if word in _ON_HOST and which:
        return _ON_HOST[word], int(which) if which.isdecimal() else _number_of(word, which)
    number = str(device).removeprefix("cuda:")
    if not isinstance(device, bool) and number.isdecimal():
        return _on_gpu, int(number)
    names = ", ".join(f"'{name}'" for name in _DEVICES)
    raise DeviceError(f"device={device!r} is not known; expected {names}, a number, 'cuda:N', 'vulkan:N' or 'opencl:N'")


def _number_of(word: str, name: str) -> int:
    """The number of a device by letters of its name. Raises DeviceError where there is none."""
    found: int = importlib.import_module(f"mlir_gemm.runtime.{word}_device").number_of(name)
    return found


def _schedule_fields(schedule: Schedule | str | Mapping[str, Any] | None) -> dict[str, Any] | None:
    if isinstance(schedule, Schedule):
        return dataclasses.asdict(schedule)
    if isinstance(schedule, str):
        return Schedule.parse(schedule) or None
    if schedule is None:
        return None
    if isinstance(schedule, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        return Schedule.check_fields(schedule) or None
    raise ScheduleError(f"schedule={schedule!r}: expected a Schedule, text such as 'stages=2', or a dict")
