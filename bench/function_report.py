"""The report of measured functions in Markdown, its summary, and its plots."""

from __future__ import annotations

import importlib
import io
from collections.abc import Mapping
from typing import Any

from mlir_gemm.bench.function_results import COMPILE, COPY, EAGER, OURS, REGIMES, WORSE, Entry, Results
from mlir_gemm.bench.functions import GROUPS
from mlir_gemm.bench.machine import described
from mlir_gemm.bench.summary import NONE, Worst, shown, table

LARGE = 32e6
"""Bytes from which rows must have the speed of a copy."""
_BARS = (1.0, 0.9)
"""Under which ratios are counted: that of a rival, and that of a copy."""
_READING = (
    "Microseconds, medians. A ratio is how many times as fast ours is as the faster of eager PyTorch and "
    "torch.compile, or as a copy that reads and writes as many bytes. *Cold*: single runs with the L2 cache "
    "overwritten before each. *Sustained*: bursts back to back. Errors are relative to float64, by Frobenius norm, "
    "ours and eager PyTorch's, of few rows over many inputs. `docs/benchmarks.md` says how it is measured."
)
_COLORS = {True: "#0072b2", False: "#d55e00"}
_DPI = 130


def of_group(results: Results, group: str) -> list[Entry]:
    """Its entries, in the order in which they were measured."""
    return [entry for entry in results.entries if entry.group == group]


def _worst(entries: list[Entry], regime: str, others: tuple[str, ...]) -> Worst | None:
    return Worst.of((entry.name, entry.ratio(regime, others)) for entry in entries)


def summary(results: Results) -> str:
    """A table: means and worst cases of each group."""
    rows: list[list[str]] = []
    for group in GROUPS:
        entries = of_group(results, group)
        large = [entry for entry in entries if entry.bytes >= LARGE]
        for what, own, others in (
            (group, entries, (EAGER, COMPILE)),
            (f"{group}, from 32 MB on, to a copy", large, (COPY,)),
        ):
            for regime in REGIMES:
                worst = _worst(own, regime, others)
                if worst:
                    below = [str(sum((entry.ratio(regime, others) or 1) < bar for entry in own)) for bar in _BARS]
                    least = f"{worst.least:.2f} ({worst.where})"
                    rows.append([what, regime, str(worst.count), f"{worst.mean:.3f}", least, *below])
    wrong = [entry.name for entry in results.entries if not entry.right]
    said = f"{len(results.entries)} measured, {len(wrong)} wrong, {len(results.refused)} refused"
    notes = [said, *_errors(results.entries), *([f"wrong: {', '.join(wrong)}"] if wrong else [])]
    head = ["group", "regime", "functions", "mean", "least", *(f"below {bar:g}" for bar in _BARS)]
    return "\n".join([table(head, rows), "", *notes])


def _errors(entries: list[Entry]) -> list[str]:
    """How many times eager PyTorch's error ours is at most, and where it is more than it should be."""
    known = sorted(((e.errors[OURS] / e.errors[EAGER], e.name) for e in entries if e.errors.get(EAGER)), reverse=True)
    more = [f"{ratio:.2f} ({name})" for ratio, name in known if ratio > WORSE]
    said = f"errors: at most {known[0][0]:.2f} times eager PyTorch's" if known else ""
    return [said + (f"; more than {WORSE} for {len(more)}: {', '.join(more)}" if more else "")] if known else []


def markdown(results: Results, plots: Mapping[str, str]) -> str:
    """The whole report; `plots` are file names beside it, by their titles."""
    parts = [f"# mlir-gemm bench: {results.machine.get('device', 'unknown device')}, {results.date}", _READING]
    parts += ["## Summary", summary(results)]
    parts += [f"![{title}]({name})" for title, name in plots.items()]
    for group, what in GROUPS.items():
        entries = of_group(results, group)
        if entries:
            parts += [f"## {group.capitalize()}: {what}", _group(entries)]
            absent = [f"- {entry.name}: {reason}" for entry in entries for reason in entry.absent]
            parts += ["### Not measured", "\n".join(absent)] if absent else []
    if results.refused:
        lines = [f"- {group}, {name}: {reason}" for group, name, reason in results.refused]
        parts += ["## Refused by our compiler", "\n".join(lines)]
    lines = [f"- command: `{results.command}`", *(f"- {name}: {value}" for name, value in results.settings.items())]
    parts += ["## Machine", "\n".join(described(results.machine)), "## Settings", "\n".join(lines)]
    return "\n\n".join(parts) + "\n"


def _group(entries: list[Entry]) -> str:
    head = ["function", "kernels", "ours", "eager", "compile", "to the better, cold", "to a copy, cold", "error"]
    return table(head, [_row(entry) for entry in entries])


def _row(entry: Entry) -> list[str]:
    times = [_microseconds(entry.seconds(name, "sustained")) for name in (OURS, EAGER, COMPILE)]
    ratios = [
        ", ".join(shown(entry.ratio(regime, others)) for regime in reversed(REGIMES))
        for others in ((EAGER, COMPILE), (COPY,))
    ]
    error = f"{'' if entry.right else 'WRONG '}{entry.errors[OURS]:.1e}, {entry.errors[EAGER]:.1e}"
    return [entry.name, str(entry.kernels), *times, *ratios, error]


def _microseconds(seconds: float | None) -> str:
    return NONE if seconds is None else f"{seconds * 1e6:.1f}"


def draw(results: Results) -> dict[str, tuple[str, bytes]]:
    """File name and PNG of each plot, by its title."""
    matplotlib: Any = importlib.import_module("matplotlib")
    matplotlib.use("Agg")
    plt: Any = importlib.import_module("matplotlib.pyplot")
    found: dict[str, tuple[str, bytes]] = {}
    makers = (
        ("Rows against the bytes that they move", "rows.png", of_group(results, "rows"), _rows),
        ("Blocks to the better of eager PyTorch and torch.compile", "blocks.png", of_group(results, "blocks"), _blocks),
    )
    for title, name, entries, make in makers:
        if entries:
            figure = make(entries, plt)
            figure.suptitle(f"{title} ({results.machine.get('device')}, {results.date})", fontsize=10)
            data = io.BytesIO()
            figure.savefig(data, dpi=_DPI, format="png")
            plt.close(figure)
            found[title] = (name, data.getvalue())
    return found


def _rows(entries: list[Entry], plt: Any) -> Any:
    """A dot for each function: its ratio to the better of PyTorch's, and to a copy, by the bytes that it moves."""
    figure, panels = plt.subplots(2, len(REGIMES), figsize=(11, 7), layout="constrained", sharex=True)
    for line, (said, others) in zip(panels, (("PyTorch", (EAGER, COMPILE)), ("a copy", (COPY,))), strict=True):
        for axes, regime in zip(line, REGIMES, strict=True):
            known = [(entry.bytes, ratio) for entry in entries if (ratio := entry.ratio(regime, others)) is not None]
            if known:
                axes.scatter(*zip(*known, strict=True), s=14, c=[_COLORS[ratio >= 1] for _, ratio in known])
            _scales(axes)
            axes.set_ylabel(f"{regime}: times as fast as {said}")
            axes.set_xlabel("bytes")
            axes.set_xscale("log")
    return figure


def _blocks(entries: list[Entry], plt: Any) -> Any:
    figure, panels = plt.subplots(1, len(REGIMES), figsize=(11, 1.5 + 0.3 * len(entries)), layout="constrained")
    for axes, regime in zip(panels, REGIMES, strict=True):
        known = sorted((ratio, entry.name) for entry in entries if (ratio := entry.ratio(regime)) is not None)
        axes.barh([name for _, name in known], [ratio for ratio, _ in known],
                  color=[_COLORS[ratio >= 1] for ratio, _ in known])  # fmt: skip
        axes.axvline(1, color="#888888", linewidth=0.8)
        axes.set_xlabel(f"{regime}: times as fast")
    return figure


def _plainly(value: float, _: int) -> str:
    return f"{value:g}"


def _scales(axes: Any) -> None:
    axes.set_yscale("log", base=2)
    axes.yaxis.set_major_formatter(_plainly)
    axes.axhline(1, color="#888888", linewidth=0.8)
    axes.grid(axis="y", alpha=0.3)
