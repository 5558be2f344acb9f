"""Plots of results as PNG: speed against size, ratio to the vendor's library, and the roofline. Needs matplotlib."""

from __future__ import annotations

import importlib
import importlib.util
import io
from typing import Any

from mlir_gemm.bench.contenders import LT_BEST, LT_FIRST, OURS
from mlir_gemm.bench.figures import REGIMES, Entry, Results
from mlir_gemm.bench.summary import TITLES, counted, geometric_mean, group_names, of_group
from mlir_gemm.spec.element_types import ELEMENT_BYTES

_COLORS = {
    OURS: "#0072b2", "torch": "#d55e00", LT_FIRST: "#e69f00", LT_BEST: "#999999", "triton": "#009e73",
    "compile": "#cc79a7",
}  # fmt: skip
"""Okabe and Ito's: told apart by readers with any colour vision."""
_MARKS = {
    "large": "o", "medium": "s", "skinny": "^", "ragged": "D", "deep": "v", "further": "p", "types": "P",
    "epilogues": "X",
}  # fmt: skip
_OTHER_MARK = "*"
_DENSE_F16 = {"sm_80": 2048, "sm_90": 4096, "sm_100": 8192}
"""FLOP in one clock of one SM of the tensor cores, dense, f16 (NVIDIA's white papers); others get no line."""
_RATIO_MARKS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.3, 1.5, 1.75, 2, 2.5, 3, 4, 5, 7, 10, 20)
_DPI = 130


def available() -> bool:
    """Whether matplotlib is installed."""
    return importlib.util.find_spec("matplotlib") is not None


def draw(results: Results) -> dict[str, tuple[str, bytes]]:
    """File name and PNG of each plot, by its title. Nothing where nothing of ours was measured."""
    if not any(OURS in entry.figures for entry in results.entries):
        return {}
    matplotlib: Any = importlib.import_module("matplotlib")
    matplotlib.use("Agg")
    plt: Any = importlib.import_module("matplotlib.pyplot")
    plt.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "axes.axisbelow": True})
    found: dict[str, tuple[str, bytes]] = {}
    for title, name, figure in (
        ("Ratio to cuBLAS", "ratio.png", _ratio(results, plt)),
        ("Speed against size", "speed.png", _speed(results, plt)),
        ("Roofline", "roofline.png", _roofline(results, plt)),
    ):
        if figure is None:
            continue
        data = io.BytesIO()
        figure.savefig(data, dpi=_DPI, format="png")
        plt.close(figure)
        found[title] = (name, data.getvalue())
    return found


def _source(results: Results) -> str:
    return f"{results.machine.get('device')}, {results.date}"


def _ratio(results: Results, plt: Any) -> Any:
    """A dot for each problem, from the slowest to the fastest of its group; a panel for each regime."""
    figure, panels = plt.subplots(len(REGIMES), 1, figsize=(10, 7), layout="constrained")
    figure.suptitle(f"Ours to the faster of torch.mm and cuBLASLt's first choice ({_source(results)})")
    for axes, regime in zip(panels, REGIMES, strict=True):
        ticks: list[str] = []
        for group in group_names(results):
            known = [(entry.ratio(regime), entry.problem.name) for entry in counted(of_group(results, group))]
            ratios = sorted((ratio, name) for ratio, name in known if ratio is not None)
            if not ratios:
                continue
            # Every group is as wide as the next, however many problems it has.
            left, values = len(ticks), [ratio for ratio, _ in ratios]
            places = [left + 0.1 + 0.8 * (i + 0.5) / len(values) for i in range(len(values))]
            axes.scatter(places, values, s=14, c=[_COLORS[OURS if value >= 1 else "torch"] for value in values])
            mean = geometric_mean(values)
            axes.hlines(mean, left + 0.1, left + 0.9, color="black", linewidth=1.2)
            axes.annotate(f"{mean:.2f}", (left + 0.1, mean), xytext=(0, 3), textcoords="offset points")
            where = ratios[0][1].replace(" ", "\n", 1)
            ticks.append(f"{group} ({len(values)})\nleast {values[0]:.2f}:\n{where}")
        axes.axhline(1, color="#888888", linewidth=0.8)
        axes.set_yscale("log")
        low, high = axes.get_ylim()
        marks = [mark for mark in _RATIO_MARKS if low <= mark <= high]
        axes.set_yticks(marks, [f"{mark:g}" for mark in marks])
        axes.set_yticks([], minor=True)
        axes.set_ylabel(f"{regime}: times as fast")
        axes.set_xticks([place + 0.5 for place in range(len(ticks))], ticks, fontsize=7)
        axes.grid(axis="y", alpha=0.3)
    return figure


def _speed(results: Results, plt: Any) -> Any:
    """TFLOP/s against size: a panel for each kind of operands; lines over the aligned cubes, crosses for others."""
    plain = [entry for entry in results.entries if entry.problem.epilogue == "none" and OURS in entry.figures]
    cubes = [entry for entry in plain if entry.problem.m == entry.problem.n == entry.problem.k]
    kinds = list(dict.fromkeys((e.problem.dtype, e.problem.out, e.problem.layout) for e in cubes))
    kinds = [kind for kind in kinds if len({e.problem.m for e in _of_kind(cubes, kind)}) > 1]
    if not kinds:
        return None
    columns = min(3, len(kinds))
    rows = -(-len(kinds) // columns)
    size = (4.2 * columns + 1, 3 * rows + 0.8)
    figure, panels = plt.subplots(rows, columns, figsize=size, squeeze=False, sharey=True, layout="constrained")
    figure.suptitle(f"M = N = K, cold; crosses: not a multiple of 64 ({_source(results)})")
    for axes, kind in zip(panels.flat, kinds, strict=False):
        own = sorted({e.problem.m: e for e in _of_kind(cubes, kind)}.values(), key=lambda entry: entry.problem.m)
        for name, color in _COLORS.items():
            _line(axes, [e for e in own if e.problem.m % 64 == 0], name, "o-", {"color": color, "label": TITLES[name]})
            _line(axes, [e for e in own if e.problem.m % 64], name, "x", {"color": color})
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_formatter(plt.FuncFormatter(_plainly))
        axes.set_title(f"{kind[0]} into {kind[1]}, {kind[2]}", fontsize=9)
        axes.set_xlabel("M = N = K")
        axes.grid(alpha=0.3)
    for axes in panels.flat[len(kinds) :]:
        axes.axis("off")
    for axes in panels[:, 0]:
        axes.set_ylabel("TFLOP/s")
    panels[0, 0].legend(fontsize=7)
    return figure


def _plainly(value: float, _: int) -> str:
    return f"{value:g}"


def _line(axes: Any, entries: list[Entry], name: str, style: str, options: dict[str, Any]) -> None:
    rates = [(entry.problem.m, entry.rate(name, "cold")) for entry in entries]
    known = [(size, rate / 1e12) for size, rate in rates if rate is not None]
    if known:
        axes.plot(*zip(*known, strict=True), style, markersize=4, linewidth=1.2, **options)


def _of_kind(entries: list[Entry], kind: tuple[str, str, str]) -> list[Entry]:
    return [e for e in entries if (e.problem.dtype, e.problem.out, e.problem.layout) == kind]


def _roofline(results: Results, plt: Any) -> Any:
    """TFLOP/s against FLOP for each byte that must be moved, for operands of two bytes; memory's line is a measured
    copy, the tensor cores' line their rate at the highest clock."""
    entries = [e for e in results.entries if OURS in e.figures and ELEMENT_BYTES[e.problem.element] == 2]
    if not entries:
        return None
    figure, axes = plt.subplots(figsize=(9, 5.5), layout="constrained")
    intensities = [e.problem.flops / e.problem.bytes for e in entries]
    low, high = min(intensities) / 1.5, max(intensities) * 1.5
    for group in dict.fromkeys(e.problem.group for e in entries):
        own, mark = [e for e in entries if e.problem.group == group], _MARKS.get(group, _OTHER_MARK)
        for name in ("torch", OURS):
            rates = [(e.problem.flops / e.problem.bytes, e.rate(name, "cold")) for e in own]
            known = [(x, rate / 1e12) for x, rate in rates if rate is not None]
            if known:
                label = f"{TITLES[name]}, {group}"
                axes.scatter(*zip(*known, strict=True), s=18, marker=mark, c=_COLORS[name], alpha=0.7, label=label)
    _ceilings(results, axes, (low, high))
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("FLOP for each byte that must be moved")
    axes.set_ylabel("TFLOP/s, cold")
    axes.set_title(f"Operands of 2 bytes ({_source(results)})")
    axes.grid(alpha=0.3, which="both")
    axes.legend(fontsize=7, ncols=2, loc="best")
    return figure


def _ceilings(results: Results, axes: Any, span: tuple[float, float]) -> None:
    machine = results.machine
    copy, clock, chip = machine.get("copy_bytes_s"), machine.get("max_sm_mhz"), str(machine.get("chip", ""))
    dense = _DENSE_F16.get(chip.rstrip("af"))
    top = dense * int(machine["sms"]) * clock * 1e6 / 1e12 if dense and clock else None
    if copy:
        ends = [x if top is None else min(x, top * 1e12 / copy) for x in span]
        axes.plot(ends, [x * copy / 1e12 for x in ends], color="black", linewidth=1)
        axes.annotate(
            f"{copy / 1e12:.2f} TB/s",
            (ends[0], ends[0] * copy / 1e12),
            fontsize=7,
            va="bottom",
            xytext=(6, 0),
            textcoords="offset points",
        )
    if top is not None:
        start = span[0] if not copy else max(span[0], top * 1e12 / copy)
        axes.plot([start, span[1]], [top, top], color="black", linewidth=1)
        axes.annotate(f"{top:.0f} TFLOP/s at {clock} MHz", (start, top), fontsize=7, va="bottom")
