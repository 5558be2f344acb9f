"""`mlir-gemm run`: compiles, runs on random inputs, checks against NumPy in float64 and measures.

Where there is no GPU the simulator runs the kernel, and checks more than the numbers (`run_simulator`).

Outputs hold NaN before the run, so that an element that the kernel does not write counts as wrong.
"""

from __future__ import annotations

import argparse
import itertools
import math
import statistics
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mlir_gemm.errors import InputError
from mlir_gemm.pipeline.entry_function import one_function
from mlir_gemm.pipeline.saved import computed_by, divisors_in, promises_in
from mlir_gemm.runtime import device
from mlir_gemm.runtime.auto import why_no_gpu
from mlir_gemm.runtime.kernel import Kernel, compile
from mlir_gemm.runtime.own_chip import default_chip
from mlir_gemm.runtime.parameters import Parameters
from mlir_gemm.simulator.expected import Array, limits, reference, relative_error
from mlir_gemm.simulator.random_inputs import random_arrays, unwritten
from mlir_gemm.spec.attributes import CHIP
from mlir_gemm.spec.kernel_record import products_of
from mlir_gemm.spec.launch import Argument, Launch
from mlir_gemm.spec.scalars import bits_of
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.tools import run_counters
from mlir_gemm.tools.files import STDIO, read_input
from mlir_gemm.tools.json_output import kernel_data
from mlir_gemm.tools.report import kernel_rows, launch_rows
from mlir_gemm.tools.run_output import Checked, Rows, RunOutput, shown
from mlir_gemm.tools.terminal import say
from mlir_gemm.usage import ON_HOST, UsageError

CHECK_FAILED = 3  # exit status
WARM_UPS, MEASUREMENTS = 3, 20
STREAM = 0


def run(arguments: argparse.Namespace) -> int:
    output = RunOutput(as_json=arguments.json)
    source = read_input(arguments.input)
    computed = one_function(source, arguments.input, arguments.entry)
    schedule = Schedule.parse(arguments.schedule) if arguments.schedule else None
    if arguments.bisect:
        return _bisect(arguments, computed, schedule, output)
    on_simulator = _on_simulator(arguments)
    if arguments.device == "gpu":
        device.open_gpu(0)  # refuses at once where there is none
    where = "simulator" if on_simulator else arguments.device
    whole = source if arguments.input == STDIO else Path(arguments.input)
    kernel = compile(
        whole, chip=arguments.chip, device=where, schedule=schedule, entry=arguments.entry,
        debug_info=arguments.debug_info, tuned=arguments.tuned,
    )  # fmt: skip
    if any(each.problem is not None and each.problem.sparse for each in kernel.kernels):
        raise InputError("a module with a 2:4 sparse argument, for which random numbers are no metadata: expected one "
                         "without; from Python, `einsum` and calls of kernels take what `sparse24` gives")  # fmt: skip
    statuses: list[int] = []
    for sizes in _chosen_sizes(kernel.symbols, arguments.sizes, arguments.seed, divisors_in(computed)):
        output.begin(sizes)
        statuses.append(_run_once(arguments, kernel.at(**sizes), computed, on_simulator, output))
        if arguments.counters:
            run_counters.show(arguments, source, kernel.at(**sizes), sizes, output, on_gpu=not on_simulator)
        output.end(right=not statuses[-1])
    output.finish()
    return max(statuses)


def _run_once(arguments: argparse.Namespace, kernel: Kernel, source: str, on_simulator: bool, output: RunOutput) -> int:
    """Runs a kernel all of whose sizes are numbers."""
    output.rows(*_compiled(kernel))
    before = random_arrays(kernel.launch.arguments, arguments.seed, promises_in(source))
    if on_simulator:
        return _simulate(arguments, kernel, source, before, output)
    where = str(arguments.device).partition(":")[0]
    if where in ON_HOST:
        from mlir_gemm.tools.run_host import run_on_device  # late: a run on other devices does not need it

        after, seconds = run_on_device(kernel, before)
    else:
        loaded = kernel.load(0)
        with loaded.gpu.active():
            after, seconds = _run_on(loaded, before)
    computed = computed_by(source)
    expected = reference(computed, before)
    allowed = limits(kernel.launch.arguments, kernel.kernels, computed, before, expected)
    where = where if where in ON_HOST else "gpu"
    correct = output.checked(_errors(kernel.launch.arguments, after, expected, allowed), [], {"device": where})
    flops = sum(problem.flops for problem in products_of(kernel.kernels).values())
    rate = [("rate", f"{flops / seconds / 1e12:.1f} TFLOP/s")] if flops else []
    flops_a_second = {"flops_per_second": flops / seconds} if flops else {}
    output.rows([("time", f"{1e6 * seconds:.1f} us"), *rate], {"seconds": seconds, **flops_a_second})
    return 0 if correct else CHECK_FAILED


def _chosen_sizes(
    symbols: Sequence[str], given: list[dict[str, int]] | None, seed: int, divisors: Mapping[str, int]
) -> list[dict[str, int]]:
    """The sizes to run with, by symbol: as given, else small ones with different divisors, beyond those that the module
    relies on."""
    for sizes in given or ():
        if set(sizes) != set(symbols):
            names = ", ".join(symbols) or "none"
            raise UsageError(f"--sizes {shown(sizes)}: the sizes of this module that are known at run time: {names}")
    if given:
        return given
    random = np.random.default_rng(seed)
    steps = (1, 16, 1) if symbols else (1,)

    def small(step: int) -> int:
        return step * int(random.integers(1, max(2, 200 // step)))

    return [{name: small(math.lcm(step, divisors.get(name, 1))) for name in symbols} for step in steps]


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
    if arguments.device != "auto" or asked:
        return arguments.device == "simulator" or bool(asked)
    why = why_no_gpu()
    if why:
        say(f"note: {why}; --device auto takes the simulator then", sys.stderr)
    return bool(why)


def _simulate(
    arguments: argparse.Namespace, kernel: Kernel, source: str, before: list[Array], output: RunOutput
) -> int:
    from mlir_gemm.tools.run_simulator import run_simulated  # late: a run on a GPU does not need it

    correct = run_simulated(
        kernel, source, before, output, checks=arguments.check, blocks=arguments.blocks, report=arguments.report
    )
    return 0 if correct else CHECK_FAILED


def _bisect(arguments: argparse.Namespace, source: str, schedule: dict[str, Any] | None, output: RunOutput) -> int:
    from mlir_gemm.tools.run_simulator import run_bisect

    if arguments.device == "gpu":
        raise UsageError("--bisect runs the stages on the CPU, not on --device gpu")

    def arrays(of: Sequence[Argument]) -> list[Array]:
        symbols = Launch(tuple(of), ()).symbols
        sizes = _chosen_sizes(symbols, arguments.sizes, arguments.seed, divisors_in(source))[0]
        bound = Launch(tuple(of), ()).at([sizes[name] for name in symbols])
        return random_arrays(bound.arguments, arguments.seed, promises_in(source))

    chip = arguments.chip
    if chip is None and CHIP not in source:
        chip = default_chip(0)
    filename = "-" if arguments.input == STDIO else arguments.input
    right = run_bisect(source, filename, schedule, chip, arrays, output)
    output.end(right=right)
    output.finish()
    return 0 if right else CHECK_FAILED


def _compiled(kernel: Kernel) -> tuple[Rows, dict[str, Any]]:
    """What was compiled, as rows of a table and as data."""
    lines = len(kernel.ptx.splitlines())
    code = ("ptx", f"{lines} lines") if kernel.ptx or not kernel.code else ("code", f"{len(kernel.code)} bytes")
    data: dict[str, Any] = {
        "chip": kernel.chip,
        "kernels": [kernel_data(each) for each in kernel.kernels],
        "launch": kernel.launch.to_json(),
        "ptx_lines": lines,
    }
    return [*_about(kernel), *launch_rows(kernel.launch), code], data


def _about(kernel: Kernel) -> Rows:
    if not kernel.launch.is_program and kernel.problem is not None:
        return [("problem", str(kernel.problem)), ("chip", kernel.chip), ("schedule", str(kernel.schedule))]
    rows = [("chip", kernel.chip), ("kernels", str(len(kernel.kernels)))]
    return [*rows, *(row for each in kernel.kernels for row in kernel_rows(each, kernel.launch))]


def _run_on(loaded: device.LoadedKernel, before: Sequence[Array]) -> tuple[list[Array], float]:
    """All arguments after one run, and the median time in seconds of the runs that follow."""
    gpu, launch = loaded.gpu, loaded.launch
    memory = [gpu.allocate(argument.shift_bytes + argument.span_bytes, STREAM) for argument in launch.arguments]
    workspace = gpu.allocate(launch.workspace_bytes, STREAM) if launch.workspace_bytes else None
    starts = [
        int(buffer.handle) + argument.shift_bytes for buffer, argument in zip(memory, launch.arguments, strict=True)
    ]
    for array, start, argument in zip(before, starts, launch.arguments, strict=True):
        if argument.span_bytes:
            gpu.upload(start, array.ctypes.data, argument.span_bytes, STREAM)
    parameters = Parameters(launch, loaded.constants)
    parameters.write(
        [
            bits_of(argument, array) if argument.scalar else int(buffer.handle)
            for buffer, argument, array in zip(memory, launch.arguments, before, strict=True)
        ]
    )
    if workspace is not None:
        parameters.place(int(workspace.handle))
    loaded.start(parameters, STREAM)
    gpu.synchronize(STREAM)

    after = [unwritten(argument) for argument in launch.arguments]
    for array, start, argument in zip(after, starts, launch.arguments, strict=True):
        if argument.span_bytes:
            gpu.download(array.ctypes.data, start, argument.span_bytes, STREAM)
    gpu.synchronize(STREAM)
    return after, _median_seconds(loaded, parameters)


def _median_seconds(loaded: device.LoadedKernel, parameters: Parameters) -> float:
    driver = loaded.gpu.driver
    flags = int(driver.CUevent_flags.CU_EVENT_DEFAULT)
    ticks = [device.checked(driver, driver.cuEventCreate(flags), "creating an event") for _ in range(MEASUREMENTS + 1)]
    for _ in range(WARM_UPS):
        loaded.start(parameters, STREAM)
    for tick in ticks[:-1]:
        device.checked(driver, driver.cuEventRecord(tick, STREAM), "recording an event")
        loaded.start(parameters, STREAM)
    device.checked(driver, driver.cuEventRecord(ticks[-1], STREAM), "recording an event")
    loaded.gpu.synchronize(STREAM)
    times = [
        device.checked(driver, driver.cuEventElapsedTime(start, end), "reading an event")
        for start, end in itertools.pairwise(ticks)
    ]
    for tick in ticks:
        driver.cuEventDestroy(tick)
    return statistics.median(times) / 1e3


def _errors(
    arguments: Sequence[Argument], actual: Sequence[Array], expected: Sequence[Array], allowed: Sequence[float]
) -> list[Checked]:
    """The error of each argument. Arguments that are only read must not change."""
    found: list[Checked] = []
    for argument, got, wanted, limit in zip(arguments, actual, expected, allowed, strict=True):
        error = relative_error(got, wanted)
        found.append(Checked(argument.name, error, limit, error <= limit))
    return found
