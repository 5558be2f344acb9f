"""Who is measured on a problem: ours, PyTorch, cuBLASLt, torch.compile and Triton, each as something to run."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import mlir_gemm
from mlir_gemm.bench import cublaslt, triton_matmul
from mlir_gemm.bench.modules import module
from mlir_gemm.bench.operands import Operands, apply
from mlir_gemm.bench.problems import Problem
from mlir_gemm.bench.timing import Timer

OURS = "ours"
RIVALS = {
    "torch": "PyTorch without compilation: torch.mm (cuBLAS), and eager operations after it",
    "cublaslt": "cuBLASLt: its heuristic's first choice, and the fastest of its first eight",
    "compile": "torch.compile, for epilogues",
    "triton": "a Triton product, the fastest of eight tiles",
}
LT_FIRST, LT_BEST, PRODUCT = "cublaslt", "cublaslt_best", "product"
"""Names in the results beside OURS and those of RIVALS: PRODUCT is `torch.mm` without the epilogue."""
PRECISIONS = {"tf32": "tf32", "fp8": "f8"}
"""What a type asks of ours beside its element type: the library's kernels for it round, or add up, in the same way."""
PICK_ROUNDS = 5
"""Cold rounds by which the fastest algorithm or tile is picked, before it is measured with the others."""


@dataclass(frozen=True)
class Contender:
    """One way to compute a problem."""

    name: str
    run: Callable[[], Any]
    """Returns its result, or None where it has written `Operands.out`."""
    note: str = ""
    schedule: str = ""
    kernels: int = 0
    """Of ours: how many run one after another."""
    also: str = ""
    """The figures go by this name too."""
    same: bool = True
    """Whether it computes the whole problem, so that its result can be checked."""


class AbsentError(Exception):
    """A contender that does not take part in a problem, and why."""


def schedule_text(problem: Problem, schedule: str) -> str:
    """The fields to fix: the user's, and what the problem's type asks for."""
    fields = [field for field in schedule.split(",") if field]
    if problem.dtype in PRECISIONS and not any(field.partition("=")[0].strip() == "precision" for field in fields):
        fields.append(f"precision={PRECISIONS[problem.dtype]}")
    return ",".join(fields)


def name_of(number: int) -> str:
    """The name of our kernel with the schedule of this number, from 0."""
    return OURS if number == 0 else f"{OURS}_{number + 1}"


def ours(number: int, operands: Operands, chip: str, schedule: str, debug_info: str | None = None) -> Contender:
    """The kernel under a schedule (empty: the model's choice). Raises Error."""
    text = schedule_text(operands.problem, schedule)
    kernel = mlir_gemm.compile(module(operands.problem), chip=chip, schedule=text or None, debug_info=debug_info)
    arguments = (*operands.inputs, operands.out)
    return Contender(
        name_of(number),
        lambda: kernel(*arguments),
        schedule=str(kernel.schedule or ""),
        kernels=len(kernel.launch.steps),
    )


def rivals(wanted: Sequence[str], operands: Operands, timer: Timer, library: Any, torch: Any) -> list[Contender | str]:
    """The other contenders that were asked for; for one that cannot take part, a text that says why."""
    makers: dict[str, Callable[[], list[Contender]]] = {
        "torch": lambda: _torch(operands, torch),
        "cublaslt": lambda: _cublaslt(operands, timer, library),
        "compile": lambda: _compiled(operands, torch),
        "triton": lambda: _triton(operands, timer),
    }
    found: list[Contender | str] = []
    for name in wanted:
        try:
            made = makers[name]()
            for each in made:
                each.run()
            torch.cuda.synchronize()
            found += made
        except Exception as problem:  # whatever another library does not support must not end the measurement
            found.append(f"{name}: {_first_line(problem)}")
    return found


def _first_line(problem: Exception) -> str:
    text = str(problem).strip().splitlines()
    return (text[0] if text else type(problem).__name__)[:200]


def product_of(operands: Operands, torch: Any) -> Callable[[], Any]:
    """PyTorch's product without the epilogue; None is returned where it has written `out`."""
    problem = operands.problem
    a, b = operands.matrices
    if problem.dtype == "fp8":
        one = torch.ones((), device=a.device)
        return lambda: torch._scaled_mm(a, b, one, one, out_dtype=operands.out.dtype, use_fast_accum=True)
    if problem.dtype == "s8":
        return lambda: torch._int_mm(a, b)
    if operands.out.dtype != a.dtype:
        return lambda: torch.mm(a, b, out_dtype=operands.out.dtype)
    out = operands.out

    def run() -> None:
        torch.mm(a, b, out=out)

    return run


def _torch(operands: Operands, torch: Any) -> list[Contender]:
    problem = operands.problem
    product = product_of(operands, torch)
    if problem.epilogue == "none":
        return [Contender("torch", product)]
    alone = Contender(PRODUCT, product, note="without the epilogue", same=False)
    return [Contender("torch", lambda: _eager(operands, torch)), alone]


def _eager(operands: Operands, torch: Any) -> Any:
    """As one writes it: `addmm`, which cuBLASLt fuses, for a bias, and further operations on the result."""
    a, b = operands.matrices
    steps = operands.problem.steps
    fused = steps[0] == "bias" and operands.out.dtype == a.dtype
    value = torch.addmm(operands.bias, a, b) if fused else torch.mm(a, b)
    return apply(steps[1:] if fused else steps, value, operands.bias, operands.factor, torch)


def _cublaslt(operands: Operands, timer: Timer, library: Any) -> list[Contender]:
    """The heuristic's first choice and the fastest of all that it proposed, which may be the same."""
    if isinstance(library, Exception):
        raise library
    usable: list[cublaslt.Algorithm] = []
    for algorithm in library.algorithms(operands):
        try:
            algorithm.run()
        except cublaslt.UnsupportedError:
            continue
        usable.append(algorithm)
    if not usable:
        raise AbsentError("none of the algorithms that its heuristic proposes runs")
    best = usable[_fastest([algorithm.run for algorithm in usable], timer)]
    note = f"place {best.rank + 1} of {len(usable)} in the heuristic's order"
    if best is usable[0]:
        return [Contender(LT_FIRST, best.run, note, also=LT_BEST)]
    return [Contender(LT_FIRST, usable[0].run), Contender(LT_BEST, best.run, note)]


def _compiled(operands: Operands, torch: Any) -> list[Contender]:
    if operands.problem.epilogue == "none":
        return []
    steps = operands.problem.steps
    # Each problem is a program of its own: without the reset the ninth would be refused by the limit on recompilation.
    torch._dynamo.reset()

    def whole(a: Any, b: Any, bias: Any, factor: Any) -> Any:
        return apply(steps, torch.mm(a, b), bias, factor, torch)

    function = torch.compile(whole, dynamic=False)
    a, b = operands.matrices
    return [Contender("compile", lambda: function(a, b, operands.bias, operands.factor))]


def _triton(operands: Operands, timer: Timer) -> list[Contender]:
    problem = operands.problem
    if importlib.util.find_spec("triton") is None:
        raise AbsentError("not installed")
    if problem.epilogue != "none" or problem.dtype == "f64":
        raise AbsentError("this kernel has neither epilogues nor f64")
    runs: list[Any] = []
    tiles: list[triton_matmul.Tile] = []
    reason = ""
    for tile in triton_matmul.TILES:
        run = triton_matmul.launcher(operands, tile)
        try:
            run()
        except Exception as problem:  # too much shared memory, or a type that it cannot multiply in this layout
            reason = _first_line(problem)
            continue
        runs.append(run)
        tiles.append(tile)
    if not runs:
        raise AbsentError(f"none of its tiles runs: {reason}")
    best = _fastest(runs, timer)
    return [Contender("triton", runs[best], str(tiles[best]))]


def _fastest(runs: list[Callable[[], Any]], timer: Timer) -> int:
    if len(runs) == 1:
        return 0
    medians = [spread.median for spread in timer.cold(runs, rounds=PICK_ROUNDS)]
    return medians.index(min(medians))
