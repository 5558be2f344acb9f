"""What the model chooses for one product on several chips, of any vendor, as a table with a column for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from mlir_gemm.errors import Error
from mlir_gemm.parts.block import threads
from mlir_gemm.parts.resources import occupancy
from mlir_gemm.parts.wording import shown_tile, shown_time
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.target import Target
from mlir_gemm.tile_model.decisions import Decisions, decide
from mlir_gemm.tile_model.rewriting import Refuses
from mlir_gemm.tile_model.rules import violations
from mlir_gemm.tile_model.select import estimate

NONE = "-"
"""In the column of a chip that cannot compute the product."""


class Column(NamedTuple):
    """What is decided for one chip, or why nothing is."""

    chip: Target
    decisions: Decisions | None
    why: str = ""


def columns(
    problem: Problem,
    chips: Sequence[Target],
    pinned: Mapping[str, Any] | None = None,
    refuses: Refuses = lambda _: "",
    divisible: bool = True,
) -> list[Column]:
    """What the stage `select` decides for a product on each chip. The arguments are those of `decide`."""
    found: list[Column] = []
    for chip in {each.chip: each for each in chips}.values():
        try:
            found.append(Column(chip, decide(problem, chip, pinned, refuses, divisible)))
        except Error as error:
            found.append(Column(chip, None, error.message.splitlines()[0]))
    return found


def share(first: Column, other: Column) -> tuple[str, str]:
    """How fast the schedule of one chip is on another, by the speed of the best there, as predicted; and why it is
    nothing: what it breaks there."""
    if first.decisions is None or other.decisions is None:
        return NONE, ""
    given, there = first.decisions.choice, other.decisions.choice
    if given.problem != there.problem:
        return NONE, "another product: operands are laid out, divided or swapped on one of the two only"
    broken = violations(given.problem, given.schedule, other.chip)
    if broken:
        return "illegal", broken[0]
    return f"{there.cost.total / estimate(given.problem, given.schedule, other.chip).total:.2f}", ""


def beside(
    problem: Problem,
    chips: Sequence[Target],
    pinned: Mapping[str, Any] | None = None,
    refuses: Refuses = lambda _: "",
    divisible: bool = True,
) -> str:
    """The table, as lines of text; the first chip's schedule is tried on the others. All in it is predicted: from each
    chip's row, with the constants of the costs that were fitted to the H200."""
    found = columns(problem, chips, pinned, refuses, divisible)
    shares = [share(found[0], each) for each in found]
    lines = [("", [each.chip.chip for each in found]), ("figures of", [each.chip.name for each in found])]
    facts = [_facts(each) for each in found]
    names = list(dict.fromkeys(name for each in facts for name in each))
    lines += [(name, [each.get(name, NONE) for each in facts]) for name in names]
    lines.append((f"speed of {found[0].chip.chip}'s schedule", [text for text, _ in shares]))
    width = [max(len(values[place]) for _, values in lines) for place in range(len(found))]
    longest = max(len(name) for name, _ in lines)
    rows = [
        f"  {name:<{longest}}  " + "  ".join(f"{value:<{size}}" for value, size in zip(values, width, strict=True))
        for name, values in lines
    ]
    notes = [
        f"  {each.chip.chip}: {each.why or reason}"
        for each, (_, reason) in zip(found, shares, strict=True)
        if each.why or reason
    ]
    return "\n".join(line.rstrip() for line in ("chips beside each other, predicted", *rows, *notes))


def _facts(column: Column) -> dict[str, str]:
    """What is said of a chip's choice, by the names of the lines."""
    if column.decisions is None:
        return {}
    choice = column.decisions.choice
    schedule, taken = choice.schedule, occupancy(choice.problem, choice.schedule, column.chip)
    return {
        "done first": ", ".join(column.decisions.rewrites) or "nothing",
        "time": shown_time(choice.cost.total),
        "TFLOP/s": f"{choice.cost.tflops(choice.problem):.1f}",
        "mma": schedule.mma,
        "instruction": shown_tile(schedule.instruction),
        "main loop": schedule.mainloop,
        "stages": str(schedule.stages),
        "block": shown_tile(schedule.block),
        "warp": shown_tile(schedule.warp),
        "threads": str(threads(schedule)),
        "registers, about": str(taken.registers),
        "shared memory": str(taken.smem),
        "  of at most": str(column.chip.smem_block),
        "blocks on an SM": str(taken.blocks),
        "  limited by": taken.limit,
    }
