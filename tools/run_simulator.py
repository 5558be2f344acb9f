"""`mlir-gemm run` on the simulator: all of a small problem with every check, a sample of the blocks of a large one, or,
with --bisect, the IR after every stage."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Sequence
from typing import Any

from mlir_gemm.errors import Error, InputError
from mlir_gemm.pipeline.remade import as_before, intended_tiles
from mlir_gemm.pipeline.saved import computed_by
from mlir_gemm.progress import Progress
from mlir_gemm.runtime.kernel import Kernel
from mlir_gemm.runtime.simulated import LARGEST
from mlir_gemm.simulator import sampling
from mlir_gemm.simulator.bisect import LAST, bisect
from mlir_gemm.simulator.expected import TOLERANCE, Array, limits, reference, relative_error
from mlir_gemm.simulator.options import Options
from mlir_gemm.simulator.program import simulate_launch, work
from mlir_gemm.simulator.report import Report, first_findings
from mlir_gemm.simulator.sampling import Plan, Tile
from mlir_gemm.spec.launch import Argument
from mlir_gemm.tools.reference_tile import reference_tile
from mlir_gemm.tools.run_output import Checked, Rows, RunOutput


def run_simulated(
    kernel: Kernel,
    source: str,
    before: list[Array],
    output: RunOutput,
    *,
    checks: bool | None,
    blocks: list[int] | None,
    report: bool,
) -> bool:
    """Simulates a kernel on `before` and tells what came out; whether all is right and the checks found nothing."""
    plan = _plan(kernel, checks, blocks)
    lowered, saved = _lowered(kernel, source)
    output.rows([*saved, ("simulated", str(plan))], {"device": "simulator", "simulated": str(plan)})
    after = [array.copy() for array in before]
    start = time.perf_counter()
    with Progress("blocks") as progress:
        found = simulate_launch(
            lowered,
            kernel.launch,
            after,
            Options(checks=plan.checks, counters=report, blocks=plan.blocks, progress=progress),
        )
    seconds = time.perf_counter() - start
    computed = computed_by(source)
    if plan.blocks is None:
        errors = _whole(kernel, computed, before, after)
    else:
        tiles = kernel.ir("parallelize") if "parallelize" in kernel.stages else intended_tiles(source)
        errors = _sampled(
            kernel.launch.arguments, computed, before, after, sampling.tiles_of(tiles, before, plan.blocks)
        )
    verdict = "FAULTS" if found.findings or found.stopped else "no findings" if plan.checks else "off"
    more = [("checks", verdict), ("time", f"{seconds:.2f} s")]
    right = output.checked(errors, more, {"checks": verdict, "simulation_seconds": seconds})
    findings = first_findings(found)
    if findings:
        output.lines(findings, {"findings": findings})
    if report:
        output.lines([str(found.counters)], {"counters": str(found.counters)})
    return right and not found.findings and not found.stopped


def counted(kernel: Kernel, source: str, before: list[Array]) -> str:
    """What the simulator counts when it runs a kernel, or a sample of the blocks of a large one, as text."""
    found = counting(kernel, source, before)
    return f"{found.blocks_run} of {found.blocks} blocks, without the checks\n{found.counters}"


def counting(kernel: Kernel, source: str, before: list[Array]) -> Report:
    """The same as a report."""
    plan = _plan(kernel, False, None)
    lowered, _ = _lowered(kernel, source)
    with Progress("blocks") as progress:
        options = Options(checks=False, counters=True, blocks=plan.blocks, progress=progress)
        return simulate_launch(lowered, kernel.launch, [array.copy() for array in before], options)


def _lowered(kernel: Kernel, source: str) -> tuple[str, Rows]:
    """The IR that is simulated, and a line that says so where it is not the source's own."""
    if LAST in kernel.stages:
        return kernel.ir(LAST, locations=True), []
    about = f"'{kernel.stages[0]}'; made again up to '{LAST}', which is what the simulator runs"
    return as_before(source, LAST), [("saved after", about)]


def run_bisect(
    source: str,
    filename: str,
    schedule: Any,
    chip: str | None,
    arrays: Callable[[Sequence[Argument]], list[Array]],
    output: RunOutput,
) -> bool:
    """Runs the IR after every stage and tells which one is the first wrong one; whether all are right."""
    result = bisect(source, arrays, schedule=schedule, chip=chip, filename=filename)
    output.begin({})
    stages = [dataclasses.asdict(row) for row in result.rows]
    output.lines([str(result)], {"stages": stages, "first_wrong_stage": result.stage, "first_wrong_pass": result.pass_})
    return result.right


def _checked(name: str, error: float, limit: float) -> Checked:
    return Checked(name, error, limit, error <= limit)


def _plan(kernel: Kernel, checks: bool | None, blocks: list[int] | None) -> Plan:
    """What to run. Of a program, and of what is not a product, all blocks: there is no sample to check alone."""
    problem, launch = kernel.problem, kernel.launch
    if len(kernel.kernels) == 1 and problem is not None and not launch.is_program:
        return sampling.plan(problem, launch, checks, blocks)
    if blocks is not None:
        raise InputError("blocks can be chosen of one product only; this runs " + _what(kernel))
    amount = work(kernel.kernels, launch)
    if amount > LARGEST:
        raise InputError(f"{_what(kernel)}: too large to simulate whole; expected M N K of at most {LARGEST} in all")
    grid = sum(math.prod(step.grid) for step in launch.steps)
    return Plan(grid, None, amount <= sampling.CHECKED if checks is None else checks, False)


def _what(kernel: Kernel) -> str:
    return ", ".join(f"{each.name} ({each.problem or each.kind})" for each in kernel.kernels) or "nothing"


def _whole(kernel: Kernel, source: str, before: list[Array], after: list[Array]) -> list[Checked]:
    expected = reference(source, before)
    arguments = kernel.launch.arguments
    allowed = limits(arguments, kernel.kernels, source, before, expected)
    return [
        _checked(argument.name, relative_error(got, wanted), limit)
        for argument, got, wanted, limit in zip(arguments, after, expected, allowed, strict=True)
    ]


def _limit(argument: Argument) -> float:
    """Arguments that are only read must not change."""
    return 0.0 if argument.role == "in" else TOLERANCE[argument.dtype]


def _sampled(
    arguments: Sequence[Argument], source: str, before: list[Array], after: list[Array], tiles: Sequence[Tile]
) -> list[Checked]:
    """The tiles of the blocks that ran, and that nothing else changed."""
    errors: list[Checked] = []
    for number, argument in enumerate(arguments):
        mine = [tile for tile in tiles if tile.argument == number]
        if mine:
            worst = max(_tile_error(source, before, after, tile) for tile in mine)
            name = f"{argument.name}, {len(mine)} tile{'s' if len(mine) > 1 else ''}"
            errors.append(_checked(name, worst, _limit(argument)))
        kept = sampling.unchanged_outside(before[number], after[number], [tile.region for tile in mine])
        where = f"{argument.name} elsewhere" if mine else argument.name
        errors.append(Checked(where, 0.0 if kept else math.inf, 0.0, kept, kept=True))
    return errors


def _tile_error(source: str, before: list[Array], after: list[Array], tile: Tile) -> float:
    try:
        expected = reference_tile(source, before, tile.argument, tile.region)
    except Error:
        expected = reference(source, before)[tile.argument][tile.region]
    return relative_error(after[tile.argument][tile.region], expected)
