"""Runs and times loaded kernels through the driver: for a check, in bursts that are one graph, cold, with energy."""

from __future__ import annotations

import ctypes
import importlib
import statistics
from collections.abc import Callable, Sequence
from typing import Any

from mlir_gemm.errors import DeviceError
from mlir_gemm.runtime.device import Gpu, LoadedKernel
from mlir_gemm.runtime.parameters import Parameters
from mlir_gemm.runtime.status import checked
from mlir_gemm.simulator.expected import Array
from mlir_gemm.simulator.random_inputs import unwritten
from mlir_gemm.spec.launch import Argument
from mlir_gemm.spec.scalars import bits_of

FEWEST_RUNS = 3
FLUSH_BYTES = 256 << 20
"""That overwrite L2."""


class Runner:
    """One kernel with its parameters, in the memory that all share."""

    def __init__(self, loaded: LoadedKernel, parameters: Parameters, workspace: Any) -> None:
        self.loaded, self.parameters, self.workspace = loaded, parameters, workspace
        self.graphs: dict[int, Any] = {}
        self.seconds = 0.0
        """Of one run, about; 0 while it was not timed."""

    def start(self, stream: int) -> None:
        self.loaded.start(self.parameters, stream)


class Timing:
    """What runs kernels of one module: their arguments' memory, a stream, and the energy counter where it is asked.
    The GPU's context must be current."""

    def __init__(self, gpu: Gpu, arguments: Sequence[Argument], *, energy: bool) -> None:
        self.energy = _Energy(gpu) if energy else None
        self._gpu, self._arguments = gpu, arguments
        driver = gpu.driver
        own = driver.CUstream_flags.CU_STREAM_NON_BLOCKING
        self._stream = checked(driver, driver.cuStreamCreate(int(own)), "creating a stream")
        self._at = int(self._stream)
        self._memory = [gpu.allocate(each.shift_bytes + each.span_bytes, self._at) for each in arguments]
        flags = int(driver.CUevent_flags.CU_EVENT_DEFAULT)
        self._events = [checked(driver, driver.cuEventCreate(flags), "creating an event") for _ in range(2)]
        self._flush: Any = None
        self._values: list[int] = []

    def runner(self, loaded: LoadedKernel, before: Sequence[Array]) -> Runner:
        """A loaded kernel, ready to run; numbers that are arguments are those of `before`."""
        parameters = Parameters(loaded.launch, loaded.constants)
        parameters.write(
            [
                bits_of(argument, array) if argument.scalar else int(buffer.handle)
                for buffer, argument, array in zip(self._memory, self._arguments, before, strict=True)
            ]
        )
        workspace = None
        if loaded.launch.workspace_bytes:
            workspace = self._gpu.allocate(loaded.launch.workspace_bytes, self._at)
            parameters.place(int(workspace.handle))
        return Runner(loaded, parameters, workspace)

    def once(self, kernel: Runner, before: Sequence[Array]) -> list[Array]:
        """All arguments after one run that began with these."""
        gpu = self._gpu
        starts = [
            int(buffer.handle) + argument.shift_bytes
            for buffer, argument in zip(self._memory, self._arguments, strict=True)
        ]
        for array, start, argument in zip(before, starts, self._arguments, strict=True):
            if argument.span_bytes:
                gpu.upload(start, array.ctypes.data, argument.span_bytes, self._at)
        gpu.synchronize(self._at)
        kernel.start(self._at)
        gpu.synchronize(self._at)
        after = [unwritten(argument) for argument in self._arguments]
        for array, start, argument in zip(after, starts, self._arguments, strict=True):
            if argument.span_bytes:
                gpu.download(array.ctypes.data, start, argument.span_bytes, self._at)
        gpu.synchronize(self._at)
        return after

    def sustained(
        self, kernel: Runner, wanted: float, most: int, rounded: Callable[[float], int] = round
    ) -> tuple[float, float]:
        """Seconds, and joules where they are counted, of one run, of a burst of about `wanted` seconds: one graph of
        `most` runs at the most, again and again if that is too short. Half a burst before it is not timed. Where no
        energy is counted L2 is overwritten first: what others left there makes a kernel up to 1.5 times as fast."""
        if not kernel.seconds:
            kernel.start(self._at)
            kernel.seconds = self._timed(lambda: [kernel.start(self._at) for _ in range(FEWEST_RUNS)]) / FEWEST_RUNS
        runs = wanted / kernel.seconds
        length = min(most, max(FEWEST_RUNS, round(runs)))
        times = max(1, rounded(runs / length)) if self.energy else 1
        burst = self._graph(kernel, length)
        if not self.energy:
            self._overwrite()
            burst()
        before = self._energy_now()
        seconds = self._timed(lambda: [burst() for _ in range(times)]) / (length * times)
        joules = (self._energy_now() - before) / (length * times)
        kernel.seconds = seconds
        return seconds, joules

    def cold(self, kernel: Runner, runs: int) -> float:
        """Seconds of one run after L2 was overwritten, the median of some."""
        found: list[float] = []
        for _ in range(runs):
            self._overwrite()
            found.append(self._timed(lambda: kernel.start(self._at)))
        return statistics.median(found)

    def _overwrite(self) -> None:
        if self._flush is None:
            self._flush = self._gpu.allocate(FLUSH_BYTES, self._at)
        cleared = self._gpu.driver.cuMemsetD8Async(int(self._flush.handle), 0, FLUSH_BYTES, self._at)
        checked(self._gpu.driver, cleared, "overwriting L2")

    def _energy_now(self) -> float:
        if self.energy is None:
            return 0.0
        self._gpu.synchronize(self._at)
        return self.energy.joules()

    def _timed(self, run: Callable[[], object]) -> float:
        driver, (start, end) = self._gpu.driver, self._events
        checked(driver, driver.cuEventRecord(start, self._stream), "recording an event")
        run()
        checked(driver, driver.cuEventRecord(end, self._stream), "recording an event")
        self._gpu.synchronize(self._at)
        return checked(driver, driver.cuEventElapsedTime(start, end), "reading an event") / 1e3

    def _graph(self, kernel: Runner, length: int) -> Callable[[], object]:
        """What launches a kernel so many times: a graph, so that the shortest ones do not wait for the host."""
        driver = self._gpu.driver
        if length not in kernel.graphs:
            for _, graph in kernel.graphs.values():
                driver.cuGraphExecDestroy(graph)
            kernel.graphs.clear()
            mode = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
            checked(driver, driver.cuStreamBeginCapture(self._stream, mode), "capturing launches")
            try:
                for _ in range(length):
                    kernel.start(self._at)
            finally:
                made = checked(driver, driver.cuStreamEndCapture(self._stream), "capturing launches")
            graph = checked(driver, driver.cuGraphInstantiate(made, 0), "making a graph of launches")
            driver.cuGraphDestroy(made)
            kernel.graphs[length] = length, graph
        graph = kernel.graphs[length][1]
        return lambda: checked(driver, driver.cuGraphLaunch(graph, self._stream), "launching a graph")


class _Energy:
    """The energy counter of a GPU: NVML, the library behind nvidia-smi (since Volta)."""

    def __init__(self, gpu: Gpu) -> None:
        core: Any = importlib.import_module("cuda.core")
        uuid = str(core.Device(gpu.ordinal).uuid)
        try:
            self._nvml: Any = ctypes.CDLL("libnvidia-ml.so.1")
        except OSError:
            raise DeviceError("the energy counter needs NVML, and libnvidia-ml.so.1 does not load") from None
        self._handle = ctypes.c_void_p()
        name = (uuid if uuid.startswith("GPU-") else f"GPU-{uuid}").encode()
        if self._nvml.nvmlInit_v2() or self._nvml.nvmlDeviceGetHandleByUUID(name, ctypes.byref(self._handle)):
            raise DeviceError(f"NVML knows no {gpu} by its number {uuid}")
        self.joules()

    def joules(self) -> float:
        """All that was used since the driver was loaded."""
        value = ctypes.c_ulonglong()
        status = self._nvml.nvmlDeviceGetTotalEnergyConsumption(self._handle, ctypes.byref(value))
        if status:
            raise DeviceError(f"this GPU counts no energy (NVML's status {status})")
        return value.value / 1e3
