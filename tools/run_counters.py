"""`mlir-gemm run --counters`: what the GPU counts when it runs a module, asked of Nsight Compute, and what the
simulator counts of the same kernels.

Nsight Compute (`ncu`) runs this command once more, without `--counters`, and watches the first launch of each kernel.
"""

from __future__ import annotations

import argparse
import csv
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from mlir_gemm.errors import Error
from mlir_gemm.pipeline.saved import computed_by, promises_in
from mlir_gemm.runtime.kernel import Kernel, compile
from mlir_gemm.simulator.random_inputs import random_arrays
from mlir_gemm.simulator.report import Report
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.tools.files import STDIO
from mlir_gemm.tools.run_output import RunOutput, shown
from mlir_gemm.tools.run_simulator import counting

PROGRAM = "ncu"
INSTALLED = ("/usr/local/cuda/bin", "/usr/local/cuda-*/bin", "/opt/nvidia/nsight-compute/*")
"""Where NVIDIA's installers put it, which is often not on the PATH; the last in order is the newest."""
LIMIT = 600
"""Seconds that Nsight Compute gets: it runs each kernel some ten times over."""
METRICS = {
    "time, ns": "gpu__time_duration.sum",
    "registers a thread": "launch__registers_per_thread",
    "occupancy, %": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "compute throughput, %": "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "memory throughput, %": "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
    "tensor pipe active, %": "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
    "L1 throughput, %": "l1tex__throughput.avg.pct_of_peak_sustained_active",
    "L1 hit rate, %": "l1tex__t_sector_hit_rate.pct",
    "L2 throughput, %": "lts__throughput.avg.pct_of_peak_sustained_elapsed",
    "L2 hit rate, %": "lts__t_sector_hit_rate.pct",
    "bank conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
    "passes over shared memory": "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "bytes through L2": "lts__t_bytes.sum",
    "bytes read from memory": "dram__bytes_read.sum",
    "bytes written to memory": "dram__bytes_write.sum",
    "instructions": "smsp__inst_executed.sum",
    "tensor instructions": "sm__inst_executed_pipe_tensor.sum",
}
"""What is asked of Nsight Compute, by what it is called here: "Metrics Reference" in its documentation. All of them,
and the stalls below, are in its list for Hopper (`ncu --query-metrics --chips gh100`), but for `launch__`, which every
chip has. Tensor pipe and bank conflicts include those of wgmma."""
STALLS = (
    "barrier", "long_scoreboard", "short_scoreboard", "math_pipe_throttle", "mio_throttle", "lg_throttle", "gmma",
    "membar", "wait", "no_instruction", "not_selected", "branch_resolving", "dispatch_stall", "drain", "imc_miss",
    "sleeping",
)  # fmt: skip
"""The reasons of a warp to wait, without those of textures."""
_STALL = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
SHOWN_STALLS = 4
"""The reasons to wait that are printed: the largest. JSON has all."""


def show(
    arguments: argparse.Namespace,
    source: str,
    kernel: Kernel,
    sizes: Mapping[str, int],
    output: RunOutput,
    *,
    on_gpu: bool,
) -> None:
    """Prints the counters of a run that is over. Where Nsight Compute cannot count, it says why, and the simulator's
    stand alone."""
    if on_gpu:
        try:
            _of_gpu(arguments, source, kernel, sizes, output)
        except Error as error:
            output.rows([("counters", f"none of the GPU: {error.message}")], {"gpu_counters": None})
    else:
        output.rows([("counters", "none of a GPU: the simulator ran it")], {"gpu_counters": None})
    try:
        _of_simulator(arguments, source, sizes, output)
    except Error as error:
        output.rows([("simulator", f"counts nothing: {error.message}")], {"simulator_counters": None})


def _of_gpu(
    arguments: argparse.Namespace, source: str, kernel: Kernel, sizes: Mapping[str, int], output: RunOutput
) -> None:
    found = profiled(_again(arguments, sizes), source, [step.entry for step in kernel.launch.steps])
    for name, metrics in found:
        rows = [(each, f"{value:,.10g}") for each, value in metrics.items() if not each.startswith("stall: ")]
        stalls = sorted(((value, each) for each, value in metrics.items() if each.startswith("stall: ")), reverse=True)
        rows += [(each, f"{value:.2f} cycles an instruction") for value, each in stalls[:SHOWN_STALLS]]
        output.rows([("GPU, kernel", name), *rows], {})
    output.rows([], {"gpu_counters": [{"kernel": name, **metrics} for name, metrics in found]})


def _again(arguments: argparse.Namespace, sizes: Mapping[str, int]) -> list[str]:
    """The options of the run that Nsight Compute watches; INPUT is a file that `profiled` writes."""
    given = [f"--seed={arguments.seed}", "--device=gpu"]
    for option in ("chip", "entry", "schedule", "tuned"):
        value = getattr(arguments, option)
        given += [f"--{option}={value}"] if value else []
    return [*given, f"--sizes={shown(sizes).replace(' ', '')}"] if sizes else given


def profiled(options: Sequence[str], source: str, entries: Sequence[str]) -> list[tuple[str, dict[str, float]]]:
    """What Nsight Compute counts of each kernel's first launch. Raises Error where it is not installed, may not count,
    or says nothing of these kernels."""
    program = found_program()
    names = "|".join(re.escape(entry) for entry in dict.fromkeys(entries))
    wanted = [*METRICS.values(), *(_STALL.format(reason) for reason in STALLS)]
    with tempfile.TemporaryDirectory(prefix="mlir-gemm-counters-") as folder:
        module, log = Path(folder, "module.mlir"), Path(folder, "counters.csv")
        module.write_text(source)
        command = [
            program, "--csv", "--page", "raw", "--print-units", "base", "--log-file", str(log),
            "--kernel-name-base", "function", "--kernel-name", f"regex:^({names})$",
            "--launch-count", str(len(entries)), "--metrics", ",".join(wanted),
            sys.executable, "-m", "mlir_gemm.tools.main", "run", str(module), *options,
        ]  # fmt: skip
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=LIMIT, check=False, env=os.environ | {"LC_ALL": "C"}
            )
        except subprocess.TimeoutExpired:
            raise Error(f"{PROGRAM} did not end within {LIMIT} s") from None
        text = log.read_text() if log.exists() else ""
    found = list(parsed(text))
    if not found:
        raise Error(_why(text + done.stdout + done.stderr, done.returncode))
    return found


def found_program() -> str:
    """Nsight Compute: on the PATH, in CUDA_HOME, or where NVIDIA's installers put it. Raises Error where it is not."""
    home = os.environ.get("CUDA_HOME")
    newest = [
        str(found)
        for pattern in INSTALLED
        for found in sorted(Path("/").glob(pattern.lstrip("/")), key=_version, reverse=True)
    ]
    places = [None, *([str(Path(home, "bin"))] if home else []), *newest]
    program = next((found for place in places if (found := shutil.which(PROGRAM, path=place))), None)
    if program is None:
        raise Error(
            f"Nsight Compute ({PROGRAM}) is not on the PATH, nor in {', '.join(INSTALLED)}; it comes with NVIDIA's "
            "CUDA toolkit (nsight-compute)"
        )
    return program


def _version(path: Path) -> list[int]:
    """The numbers in a path's name, which order `2024.3.2` before `2025.1.0`."""
    return [int(number) for number in re.findall(r"\d+", str(path))]


def parsed(text: str) -> Iterator[tuple[str, dict[str, float]]]:
    """Name and figures of each launch in the CSV of Nsight Compute's raw page: a line of names, one of units, and one
    for each launch. Numbers are those of the locale C: elsewhere a comma may be a point. What is no number (`n/a`, on
    chips that do not have a metric) is left out."""
    lines = [line for line in text.splitlines() if line.startswith('"')]
    rows = csv.DictReader(lines)
    next(rows, None)  # the units
    ours = METRICS | {f"stall: {reason.replace('_', ' ')}": _STALL.format(reason) for reason in STALLS}
    for row in rows:
        figures: dict[str, float] = {}
        for name, metric in ours.items():
            try:
                figures[name] = float((row.get(metric) or "").replace(",", ""))
            except ValueError:
                continue
        yield row.get("Kernel Name", "?"), figures


def _why(said: str, status: int) -> str:
    """What to tell the user where nothing was counted."""
    if "ERR_NVGPUCTRPERM" in said:
        return (
            f"{PROGRAM} may not read the GPU's counters (ERR_NVGPUCTRPERM): run it as root (in a container with "
            "--cap-add=SYS_ADMIN), or let the administrator load the driver with NVreg_RestrictProfilingToAdminUsers=0"
        )
    lines = [line for line in said.splitlines() if line.startswith("==ERROR==")] or said.strip().splitlines()[-1:]
    return f"{PROGRAM} counted nothing (exit status {status}): {' '.join(lines)[:300] or 'it says no more'}"


def _of_simulator(arguments: argparse.Namespace, source: str, sizes: Mapping[str, int], output: RunOutput) -> None:
    """The counters of the whole grid, from the blocks that were simulated."""
    kernel = compile(
        source if arguments.input == STDIO else Path(arguments.input), chip=arguments.chip, device="simulator",
        schedule=Schedule.parse(arguments.schedule) if arguments.schedule else None, entry=arguments.entry,
        tuned=arguments.tuned,
    ).at(**sizes)  # fmt: skip
    arrays = random_arrays(kernel.launch.arguments, arguments.seed, promises_in(computed_by(source)))
    report = counting(kernel, source, arrays)
    figures = scaled(report)
    about = f"{report.blocks_run} of {report.blocks} blocks, scaled to all"
    rows = [(name, f"{value:,.0f}") for name, value in figures.items()]
    output.rows([("simulator", about), *rows], {"simulator_counters": figures})


def scaled(report: Report) -> dict[str, float]:
    """What the simulator counted, for the whole grid."""
    counters, times = report.counters, report.blocks / max(1, report.blocks_run)
    figures = {
        "bank conflicts": counters.bank_conflicts,
        "passes over shared memory": sum(each.transactions for each in counters.shared.values()),
        "bytes of global memory": 32 * counters.sectors,
        "tensor operations": counters.tensor_operations,
        "instructions of the IR": sum(counters.instructions.values()),
    }
    return {name: times * value for name, value in figures.items()}
