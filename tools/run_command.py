"""`mlir-gemm run`: compiles, runs on random inputs, checks against NumPy in float64 and measures.

Where there is no GPU the simulator runs the kernel, and checks more than the numbers (`run_simulator`).

Outputs hold NaN before the run, so that an element that the kernel does not write counts as wrong.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mlir_gemm.pipeline.launch import Argument
from mlir_gemm.pipeline.schedule import Schedule
from mlir_gemm.runtime import device, launcher
from mlir_gemm.runtime.arrays import NAMES
from mlir_gemm.runtime.info import describe_devices
from mlir_gemm.runtime.kernel import Kernel, compile
from mlir_gemm.tools.files import STDIO, read_input
from mlir_gemm.tools.reference import TOLERANCE, Array, reference, relative_error
from mlir_gemm.tools.report import launch_rows, table
from mlir_gemm.tools.usage import UsageError

CHECK_FAILED = 3  # exit status
WARM_UPS, MEASUREMENTS = 3, 20
STREAM = 0


def run(arguments: argparse.Namespace) -> int:
    source = read_input(arguments.input)
    schedule = Schedule.parse(arguments.schedule) if arguments.schedule else None
    if arguments.bisect:
        return _bisect(arguments, source, schedule)
    on_simulator = _on_simulator(arguments)
    if arguments.device == "gpu":
        device.open_gpu(0)  # refuses at once where there is none
    where = "simulator" if on_simulator else arguments.device
    kernel = compile(source if arguments.input == STDIO else Path(arguments.input), device=where, schedule=schedule)
    print(table(_compiled(kernel)))
    before = random_arrays(kernel.launch.arguments, arguments.seed)
    if on_simulator:
        return _simulate(arguments, kernel, source, before)
    loaded = device.load(kernel.ptx, kernel.launch, 0)
    with loaded.gpu.active():
        after, seconds = _run_on(loaded, before)
    results = sum(argument.role == "result" for argument in kernel.launch.arguments)
    correct = _check(kernel.launch.arguments, after, reference(source, before[: len(before) - results]))
    rate = kernel.problem.flops / seconds / 1e12
    print(table([("time", f"{1e6 * seconds:.1f} us"), ("rate", f"{rate:.1f} TFLOP/s")]))
    return 0 if correct else CHECK_FAILED


def _on_simulator(arguments: argparse.Namespace) -> bool:
    """Whether the simulator runs the kernel: when asked for, or for what only it can do, or where there is no GPU."""
    asked = [
        option
        for option, given in (
            ("--check", arguments.check is not None),
            ("--report", arguments.report),
            ("--blocks", arguments.blocks is not None),
        )
        if given
    ]
    if arguments.device == "gpu" and asked:
        raise UsageError(f"{asked[0]} is for the simulator, not for --device gpu")
    return arguments.device == "simulator" or bool(asked) or (arguments.device == "auto" and not describe_devices())


def _simulate(arguments: argparse.Namespace, kernel: Kernel, source: str, before: list[Array]) -> int:
    from mlir_gemm.tools.run_simulator import run_simulated  # late: a run on a GPU does not need it

    correct = run_simulated(
        kernel, source, before, checks=arguments.check, blocks=arguments.blocks, report=arguments.report
    )
    return 0 if correct else CHECK_FAILED


def _bisect(arguments: argparse.Namespace, source: str, schedule: dict[str, Any] | None) -> int:
    from mlir_gemm.tools.run_simulator import run_bisect

    if arguments.device == "gpu":
        raise UsageError("--bisect runs the stages on the CPU, not on --device gpu")

    def arrays(of: Sequence[Argument]) -> list[Array]:
        return random_arrays(of, arguments.seed)

    chip = None if "tile.chip" in source else device.default_chip(0)
    filename = "-" if arguments.input == STDIO else arguments.input
    return 0 if run_bisect(source, filename, schedule, chip, arrays) else CHECK_FAILED


def random_arrays(arguments: Sequence[Argument], seed: int) -> list[Array]:
    """An array for each argument: normal random numbers where it is read, NaN where it is only written."""
    random = np.random.default_rng(seed)
    return [_random_array(argument, random) for argument in arguments]


def _random_array(argument: Argument, random: np.random.Generator) -> Array:
    dtype = np.dtype(NAMES[argument.dtype])
    if argument.role in ("in", "inout"):
        return random.standard_normal(argument.shape, dtype=np.float32).astype(dtype)
    return np.full(argument.shape, np.nan, dtype)


def _compiled(kernel: Kernel) -> list[tuple[str, str]]:
    return [
        ("problem", str(kernel.problem)),
        ("chip", kernel.chip),
        ("schedule", str(kernel.schedule)),
        *launch_rows(kernel.launch),
        ("ptx", f"{len(kernel.ptx.splitlines())} lines"),
    ]


def _run_on(loaded: device.LoadedKernel, before: Sequence[Array]) -> tuple[list[Array], float]:
    """All arguments after one launch, and the median time in seconds of the launches that follow."""
    gpu = loaded.gpu
    memory = [gpu.allocate(array.nbytes, STREAM) for array in before]
    for array, buffer in zip(before, memory, strict=True):
        gpu.upload(int(buffer.handle), array.ctypes.data, array.nbytes, STREAM)
    parameters = launcher.Parameters(loaded.launch)
    parameters.write([int(buffer.handle) for buffer in memory])
    loaded.start(parameters.address, STREAM)
    gpu.synchronize(STREAM)

    after = [np.empty_like(array) for array in before]
    for array, buffer in zip(after, memory, strict=True):
        gpu.download(array.ctypes.data, int(buffer.handle), array.nbytes, STREAM)
    gpu.synchronize(STREAM)
    return after, _median_seconds(loaded, parameters)


def _median_seconds(loaded: device.LoadedKernel, parameters: launcher.Parameters) -> float:
    driver = loaded.gpu.driver
    flags = int(driver.CUevent_flags.CU_EVENT_DEFAULT)
    ticks = [device.checked(driver, driver.cuEventCreate(flags), "creating an event") for _ in range(MEASUREMENTS + 1)]
    for _ in range(WARM_UPS):
        loaded.start(parameters.address, STREAM)
    for tick in ticks[:-1]:
        device.checked(driver, driver.cuEventRecord(tick, STREAM), "recording an event")
        loaded.start(parameters.address, STREAM)
    device.checked(driver, driver.cuEventRecord(ticks[-1], STREAM), "recording an event")
    loaded.gpu.synchronize(STREAM)
    times = [
        device.checked(driver, driver.cuEventElapsedTime(start, end), "reading an event")
        for start, end in itertools.pairwise(ticks)
    ]
    for tick in ticks:
        driver.cuEventDestroy(tick)
    return statistics.median(times) / 1e3


def _check(arguments: Sequence[Argument], actual: Sequence[Array], expected: Sequence[Array]) -> bool:
    """Prints the error of each argument; whether all are right. Arguments that are only read must not change."""
    rows: list[tuple[str, str]] = []
    correct = True
    for argument, got, wanted in zip(arguments, actual, expected, strict=True):
        limit = 0.0 if argument.role == "in" else TOLERANCE[argument.dtype]
        error = relative_error(got, wanted)
        right = error <= limit
        correct = correct and right
        verdict = "" if right else "  WRONG"
        rows.append((f"error {argument.name}", f"{error:.2e} (at most {limit:.0e}){verdict}"))
    print(table(rows))
    return correct
