"""What stands beside the tables of a work without a GPU: the model's predictions for the work's GPU, registers by the
model and by ptxas, what the simulator counts, and what the machine code executes.

The simulator runs one block with few k steps, as the steps of a loop and the blocks of a grid are alike: with 4 and 6
steps, and from both what a step adds.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from mlir_gemm.bench.modules import module
from mlir_gemm.bench.paper_code import executed
from mlir_gemm.bench.paper_data import Row, Table
from mlir_gemm.bench.problems import Problem
from mlir_gemm.errors import Error
from mlir_gemm.parts.block import threads
from mlir_gemm.parts.grid import blocks
from mlir_gemm.parts.registers import registers
from mlir_gemm.pipeline import assembler
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.runtime.kernel import compile
from mlir_gemm.simulator.bisect import LAST
from mlir_gemm.simulator.counters import Counters
from mlir_gemm.simulator.options import Options
from mlir_gemm.simulator.program import simulate_launch
from mlir_gemm.spec.problem import Problem as Product
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tile_model.decisions import Decisions, decide
from mlir_gemm.tile_model.rules import violations
from mlir_gemm.tile_model.select import estimate

FEW, MORE = 4, 6
"""K steps that are simulated."""
LANES = 32
KINDS = ("HMMA", "LDSM", "LD", "LDG", "LDGSTS", "STS", "IMAD", "IADD3", "MOVM")
"""Instructions of the machine code that tables have, by what NVIDIA's disassembler calls them: products, fragments from
shared memory, loads in place, loads and copies for shared memory, stores there, arithmetic of addresses (two), and
transpositions of fragments."""


@dataclass(frozen=True)
class Prediction:
    """What the model says of a row of a table."""

    tflops: float | None = None
    refused: str = ""
    """Why there is no such kernel here; `tflops` is then what it would be, where the rule that refuses is of
    resources."""
    schedule: str = ""
    """All fields; empty where it is refused."""
    count: int | None = None
    """Of a row that counts."""


def predict(table: Table, row: Row) -> Prediction | None:
    """The model's prediction for the table's GPU; None where there is nothing to predict."""
    problem = table.problem_of(row)
    if not table.chip or problem is None or (row.schedule is None and not row.count):
        return None
    chip = target(table.chip)
    fields = row.schedule or ""
    try:
        choice = _decided(problem, table.chip, fields, table.components).choice
    except Error as error:
        return Prediction(_regardless(problem, fields, chip), error.message)
    if row.count:
        rejected = len(choice.rejected) if row.count == "proposed schedules" else 0
        return Prediction(count=choice.considered + rejected)
    return Prediction(choice.cost.tflops(choice.problem), schedule=str(choice.schedule))


@functools.cache
def _decided(problem: Problem, chip: str, fields: str, components: int = 0) -> Decisions:
    whole, pinned = product(problem, components), Schedule.parse(fields)
    if components:
        try:
            return decide(whole, target(chip), pinned)
        except Error:  # an mma that takes no components: they are laid out in front
            whole = replace(whole, composite=0)
    return decide(whole, target(chip), pinned)


def product(problem: Problem, components: int = 0) -> Product:
    """A problem as the model takes it; sizes are whole vectors. Elements of several components, such as complex
    numbers, are a product of real numbers that makes those of B in registers (docs/algebra.md)."""
    times = max(1, components)
    return Product(
        problem.m, times * problem.n, times * problem.k, a=problem.element, b=problem.element,
        acc=problem.accumulator, out=problem.out, reads_c=False, composite=components,
        a_order="mk" if problem.layout[0] == "N" else "km", b_order="kn" if problem.layout[1] == "N" else "nk",
    )  # fmt: skip


def _regardless(problem: Problem, fields: str, chip: Target) -> float | None:
    """What a schedule would reach that needs more registers than there are; None for what is refused otherwise."""
    whole = product(problem)
    try:
        schedule = Schedule.make(Schedule.parse(fields))
        said = violations(whole, schedule, chip)
        if len(said) != 1 or "registers a thread" not in said[0]:
            return None
        return estimate(whole, schedule, chip).tflops(whole)
    except Error:
        return None


def counted(table: Table, row: Row) -> Mapping[str, float]:
    """What the model, ptxas and the simulator count of ours beside a row with counters; empty where there is none."""
    found = predict(table, row)
    if found is None or table.problem is None or not row.counters:
        return {}
    chip, whole = target(table.chip), product(table.problem)
    if not found.schedule:
        schedule = Schedule.make(Schedule.parse(row.schedule or ""))
        return _of_model(whole, schedule, chip)
    schedule = Schedule.make(Schedule.parse(found.schedule))
    figures = _of_model(whole, schedule, chip) | _of_ptxas(table.problem, found.schedule, chip)
    figures |= _of_simulator(table.problem, found.schedule, table.chip)
    return figures | _of_machine_code(table.problem, found.schedule, chip, int(figures["threads"]) // LANES)


def _of_model(whole: Product, schedule: Schedule, chip: Target) -> dict[str, float]:
    return {
        "threads": blocks(whole, schedule) * threads(schedule),
        "registers a thread, model": registers(whole, schedule, chip),
    }


@functools.cache
def _ptx(problem: Problem, fields: str, chip: str) -> str:
    return compile_module(module(problem), chip=chip, schedule=Schedule.parse(fields)).ptx or ""


def _of_ptxas(problem: Problem, fields: str, chip: Target) -> dict[str, float]:
    usage = assembler.usage(_ptx(problem, fields, chip.chip), chip.arch)
    if usage is None:
        return {}
    return {"registers a thread, ptxas": usage.registers, "bytes spilled, ptxas": usage.spill_bytes}


def _of_machine_code(problem: Problem, fields: str, chip: Target, warps: int) -> dict[str, float]:
    """What the warps of the whole grid execute. Empty without nvdisasm."""
    found = executed(_ptx(problem, fields, chip.chip), chip.arch, problem, warps)
    if not found:
        return {}
    kinds = {f"of these {name}": float(found[name]) for name in KINDS if name in found}
    return {"instructions of the machine code": sum(found.values()), **kinds}


def _of_simulator(problem: Problem, fields: str, chip: str) -> dict[str, float]:
    """What the whole product's kernel executes and moves."""
    schedule = Schedule.make(Schedule.parse(fields))
    m, n, k = schedule.block
    few, more = (_counters(replace(problem, m=m, n=n, k=steps * k), fields, chip) for steps in (FEW, MORE))
    steps = problem.k // k - FEW
    grid = blocks(product(problem), schedule)
    return {
        name: grid * (least + steps * (_figures(more)[name] - least) / (MORE - FEW))
        for name, least in _figures(few).items()
    }


def _figures(counters: Counters) -> dict[str, float]:
    return {
        "bank conflicts": counters.bank_conflicts,
        "shared memory, passes": sum(each.transactions for each in counters.shared.values()),
        "global memory, GB": counters.sectors * 32 / 1e9,
        "products of fragments": counters.tensor_operations,
        "instructions of the IR": sum(counters.instructions.values()),
    }


@functools.cache
def _counters(problem: Problem, fields: str, chip: str) -> Counters:
    kernel = compile(module(problem), chip=chip, schedule=fields, device="simulator")
    rng = np.random.default_rng(0)
    shapes = (
        (problem.m, problem.k, np.float16),
        (problem.k, problem.n, np.float16),
        (problem.m, problem.n, np.float32),
    )
    arrays = [rng.standard_normal((rows, columns)).astype(kind) for rows, columns, kind in shapes]
    return simulate_launch(kernel.ir(LAST), kernel.launch, arrays, Options(checks=False, counters=True)).counters
