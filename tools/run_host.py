"""`mlir-gemm run --device vulkan` and `opencl`: one run that is checked, then runs that are timed."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence

from mlir_gemm.runtime.host_launcher import HostKernels, HostLauncher, numbers_in, run_on
from mlir_gemm.runtime.kernel import Kernel
from mlir_gemm.simulator.expected import Array

MEASUREMENTS, TOGETHER = 5, 4


def run_on_device(kernel: Kernel, before: Sequence[Array]) -> tuple[list[Array], float]:
    """All arguments after one run, and the time in seconds of a run among several of one submission, which is the
    median of a few. Raises DeviceError where the device cannot run it."""
    launcher = kernel.launcher
    assert isinstance(launcher, HostLauncher)
    after = [array.copy() for array in before]
    run_on(launcher.kernels, after)
    return after, seconds_of(launcher.kernels, before)


def seconds_of(kernels: HostKernels, arrays: Sequence[Array], together: int = TOGETHER) -> float:
    """The time of a run in seconds, without what a submission costs: the difference of submissions with one and with
    several runs, each the median of a few, divided among them."""
    numbers = numbers_in(arrays, kernels.launch)
    times = {count: [_timed(kernels, numbers, count) for _ in range(MEASUREMENTS)] for count in (1, 1 + together)}
    few, many = (statistics.median(times[count]) for count in (1, 1 + together))
    return max(many - few, 1e-9) / together


def _timed(kernels: HostKernels, numbers: dict[int, int], count: int) -> float:
    start = time.perf_counter()
    kernels.run(numbers, repeat=count, fetch=False)
    return time.perf_counter() - start
