"""The report of a run in Markdown, and where its plots go."""

from __future__ import annotations

from collections.abc import Mapping

from mlir_gemm.bench.figures import REGIMES, Entry, Results
from mlir_gemm.bench.machine import described
from mlir_gemm.bench.problems import GROUPS
from mlir_gemm.bench.summary import (
    against_others,
    by_kind,
    epilogue_costs,
    group_names,
    group_table,
    of_group,
    schedules_table,
    summary,
)

_READING = (
    "TFLOP/s of the product alone, whatever follows it; medians, with half of the distance of the quartiles. "
    "A ratio is how many times as fast ours is as the faster of torch.mm (cuBLAS) and the first choice of cuBLASLt's "
    "heuristic: above 1, ours is faster. *Cold*: single runs with the L2 cache overwritten before each. *Sustained*: "
    "bursts back to back. `docs/benchmarks.md` says how it is measured."
)


def markdown(results: Results, plots: Mapping[str, str]) -> str:
    """The whole report; `plots` are file names beside it, by their titles."""
    parts = [f"# mlir-gemm bench: {results.machine.get('device', 'unknown device')}, {results.date}", _READING]
    parts += ["## Summary", summary(results)]
    parts += [f"![{title}]({name})" for title, name in plots.items()]
    further = {
        "Types and layouts": by_kind(results),
        "Other rivals": against_others(results),
        "What an epilogue adds to the time of our product": epilogue_costs(results),
    }
    for title, text in further.items():
        parts += [f"## {title}", text] if text else []
    for group in group_names(results):
        parts += _group(group, of_group(results, group))
    parts += _refused(results) + _machine(results)
    return "\n\n".join(parts) + "\n"


def _group(group: str, entries: list[Entry]) -> list[str]:
    if not entries:
        return []
    parts = [f"## {group.capitalize()}: {GROUPS.get(group, 'problems from the command line')}"]
    for regime in REGIMES:
        parts += [f"### {regime.capitalize()}", group_table(entries, regime)]
    schedules = schedules_table(entries)
    parts += ["### Schedules", schedules] if schedules else []
    absent = [f"- {entry.problem.name}: {reason}" for entry in entries for reason in entry.absent]
    return [*parts, "### Not measured", "\n".join(absent)] if absent else parts


def _refused(results: Results) -> list[str]:
    if not results.refused:
        return []
    lines = [
        f"- {problem.group}, {problem.name}{f' ({schedule})' if schedule else ''}: {reason}"
        for problem, schedule, reason in results.refused
    ]
    return ["## Refused by our compiler", "\n".join(lines)]


def _machine(results: Results) -> list[str]:
    lines = described(results.machine)
    settings = [f"- {name}: {value}" for name, value in results.settings.items()]
    states = [entry.state for entry in results.entries if entry.state]
    if states:
        clocks = [state["sm_mhz"] for state in states]
        powers = [state["power_w"] for state in states]
        held = sorted({reason for state in states for reason in state["held_down_by"]})
        lines += [
            f"- clock while sustained: {min(c[0] for c in clocks)} to {max(c[2] for c in clocks)} MHz",
            f"- power while sustained: {min(p[0] for p in powers)} to {max(p[2] for p in powers)} W",
            f"- highest temperature: {max(state['temperature'] for state in states)} C",
            f"- clock held down by: {', '.join(held) or 'nothing'}",
        ]
    return ["## Machine", "\n".join(lines), "## Settings", "\n".join([f"- command: `{results.command}`", *settings])]
