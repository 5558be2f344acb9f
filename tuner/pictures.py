"""Pictures of a study as PNG: all variants and where the model's choice and the best lie, the way there, and what each
parameter does. Needs matplotlib.

Figures are speeds (or what else the objective asks for): more is better, in all of them.
"""

from __future__ import annotations

import importlib
import importlib.util
import io
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mlir_gemm.tuner.portability import Matrix
from mlir_gemm.tuner.samplers import Points
from mlir_gemm.tuner.tried import Known

DPI = 110
PANELS, AXES = 9, 8
"""Most parameters that get a panel, and an axis of the parallel coordinates."""
LINES = 600
"""Most lines of the parallel coordinates: the best, and others evenly over the rest."""
BLUE, ORANGE, GREEN, GREY = "#0072b2", "#d55e00", "#009e73", "#b0b0b0"
LINES_OF = (BLUE, ORANGE, GREEN, "#cc79a7", "#e69f00", "#56b4e9", "#666666")
"""Okabe and Ito's: told apart by readers with any colour vision."""
MAP = "viridis"


def available() -> bool:
    """Whether matplotlib is installed."""
    return importlib.util.find_spec("matplotlib") is not None


def draw(known: Known, portable: Matrix | None) -> dict[str, tuple[str, bytes]]:
    """File name and PNG of each picture, by its title; those for which nothing is known are left out."""
    matplotlib: Any = importlib.import_module("matplotlib")
    matplotlib.use("Agg")
    plt: Any = importlib.import_module("matplotlib.pyplot")
    found: dict[str, tuple[str, bytes]] = {}
    pictures: list[tuple[str, str, Callable[[], Any]]] = [
        ("All variants", "distribution", lambda: distribution(known, plt)),
        ("The best so far", "best-so-far", lambda: best_so_far(known, plt)),
        ("Predicted and measured", "prediction", lambda: prediction(known, plt)),
        ("Importance of the parameters", "importance", lambda: importance(known, plt)),
        ("Each parameter", "parameters", lambda: parameters(known, plt)),
        ("Two parameters", "maps", lambda: maps(known, plt)),
        ("Parallel coordinates", "parallel", lambda: parallel(known, plt)),
        ("What was illegal", "illegal", lambda: illegal(known, plt)),
        ("Portability", "portability", lambda: portability(portable, plt) if portable else None),
    ]
    with plt.rc_context({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "axes.axisbelow": True}):
        for title, name, picture in pictures:
            figure = picture()
            if figure is not None:
                data = io.BytesIO()
                figure.savefig(data, dpi=DPI, format="png")
                plt.close(figure)
                found[title] = (f"{name}.png", data.getvalue())
    return found


def _kind(known: Known) -> str:
    """Where the values of pictures of parameters come from."""
    return "measured" if known.shown_is_measured else "predicted"


def _marks(known: Known, predicted: bool) -> list[tuple[str, float, str]]:
    """The model's choice and the best, as name, merit and colour; those with a value."""
    trials = known.space.trials
    values = {place: trial.predicted for place, trial in enumerate(trials)} if predicted else known.values
    places = {"the model's choice": (0, ORANGE), "the best found": (known.space.places.get(known.best, 0), GREEN)}
    return [(name, known.merit(values[at]), colour) for name, (at, colour) in places.items() if at in values]


def distribution(known: Known, plt: Any) -> Any:
    """How many variants reach how much: all of the space as predicted, and those that were tried as measured."""
    panels: list[tuple[str, list[float], str]] = []
    if known.objective in ("time", "cold"):
        every = [known.merit(trial.predicted) for trial in known.space.trials]
        panels.append((f"{len(every)} legal variants, predicted", every, GREY))
    if known.measured or not panels:
        tried = [known.merit(value) for value in known.values.values()]
        panels.append((f"{len(tried)} tried, measured", tried, BLUE))
    figure, several = plt.subplots(
        len(panels), 1, figsize=(7, 0.8 + 2.2 * len(panels)), layout="constrained", sharex=True, squeeze=False
    )
    for axes, (title, merits, colour) in zip(several[:, 0], panels, strict=True):
        axes.hist(merits, bins=40, color=colour)
        axes.set(ylabel="variants", title=title)
        for name, merit, mark in _marks(known, colour == GREY):
            axes.axvline(merit, color=mark, linestyle="-" if mark == GREEN else "--", label=f"{name}: {merit:.4g}")
        axes.set_ylim(0, 1.25 * axes.get_ylim()[1])  # room for the legend
        axes.legend(frameon=False, loc="upper left", ncols=2)
    several[-1, 0].set_xlabel(known.unit)
    return figure


def best_so_far(known: Known, plt: Any) -> Any:
    """The best after each trial, a line for each sampler; failed trials count."""
    if not known.runs:
        return None
    figure, axes = plt.subplots(figsize=(7, 3.4), layout="constrained")
    for colour, (sampler, run) in zip(LINES_OF * len(known.runs), known.runs.items(), strict=False):
        merits = [known.merit(each.value) if each.value else 0.0 for each in run]
        best = np.maximum.accumulate(merits)
        axes.step(range(1, len(run) + 1), best, where="post", color=colour, label=sampler)
        axes.plot(range(1, len(run) + 1), merits, ".", color=colour, alpha=0.35, markersize=3)
    shown = [merit for run in known.runs.values() for each in run if each.value for merit in [known.merit(each.value)]]
    if shown:
        axes.set_ylim(0.95 * min(shown), 1.02 * max(shown))
    kind = "measured" if known.measured else "predicted times"
    axes.set(xlabel="trials", ylabel=known.unit, title=f"The best so far, each trial as a dot ({kind})")
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    return figure


def prediction(known: Known, plt: Any) -> Any:
    """Each schedule that was measured: predicted and measured."""
    if not known.measured or known.objective not in ("time", "cold") or not known.values:
        return None
    figure, axes = plt.subplots(figsize=(4.6, 4.2), layout="constrained")
    pairs = [(known.merit(known.space.trials[place].predicted), known.merit(v)) for place, v in known.values.items()]
    axes.plot(*zip(*pairs, strict=True), ".", color=BLUE, alpha=0.6)
    ends = [min(map(min, pairs)), max(map(max, pairs))]
    axes.plot(ends, ends, color=GREY, linewidth=0.8)
    axes.set(xlabel=f"predicted, {known.unit}", ylabel=f"measured, {known.unit}")
    return figure


def importance(known: Known, plt: Any) -> Any:
    """The part of each parameter in how the values differ."""
    parts = {name: part for name, part in known.importance.items() if part >= 0.005}
    if not parts:
        return None
    figure, axes = plt.subplots(figsize=(6, 0.9 + 0.26 * len(parts)), layout="constrained")
    names = list(parts)[::-1]
    axes.barh(names, [parts[name] for name in names], color=BLUE)
    axes.set(xlabel="importance (Optuna's PED-ANOVA)", title=f"{len(known.shown)} variants, {_kind(known)}")
    return figure


def _chosen(known: Known, most: int) -> list[str]:
    """The most important parameters."""
    return list(known.importance)[:most]


def _merits(known: Known) -> tuple[list[int], list[float]]:
    places = sorted(known.shown)
    return places, [known.merit(known.shown[place]) for place in places]


def parameters(known: Known, plt: Any) -> Any:
    """A panel for each of the most important parameters: a dot for each variant at its value."""
    names = _chosen(known, PANELS)
    if not names:
        return None
    places, merits = _merits(known)
    columns = min(3, len(names))
    rows = -(-len(names) // columns)
    figure, panels = plt.subplots(
        rows, columns, figsize=(3.2 * columns, 2.3 * rows), layout="constrained", sharey=True, squeeze=False
    )
    rng = np.random.default_rng(0)
    for axes in panels.flat[len(names) :]:
        axes.set_visible(False)
    for axes, name in zip(panels.flat, names, strict=False):
        values = known.space.axes[name]
        at = [values.index(known.space.trials[place].at[name]) for place in places]
        axes.plot(np.array(at) + rng.uniform(-0.28, 0.28, len(at)), merits, ".", color=BLUE, alpha=0.25, markersize=3)
        best = [max((m for a, m in zip(at, merits, strict=True) if a == n), default=np.nan) for n in range(len(values))]
        axes.plot(range(len(values)), best, "_", color=ORANGE, markersize=12, markeredgewidth=2)
        axes.set_xticks(range(len(values)), [str(value) for value in values], rotation=_rotation(values))
        axes.set_title(name)
    for axes in panels[:, 0]:
        axes.set_ylabel(known.unit)
    figure.suptitle(f"Variants by parameter, {_kind(known)}; the best of each value as a bar")
    return figure


def _rotation(values: Sequence[object]) -> int:
    return 90 if sum(len(str(value)) + 1 for value in values) > 26 else 0


def maps(known: Known, plt: Any) -> Any:
    """The best that there is at each two values, for pairs of the most important parameters."""
    names = _chosen(known, 4)
    pairs = [(a, b) for n, a in enumerate(names) for b in names[n + 1 :]]
    if not pairs:
        return None
    places, merits = _merits(known)
    columns = min(3, len(pairs))
    rows = -(-len(pairs) // columns)
    figure, panels = plt.subplots(
        rows, columns, figsize=(3.4 * columns + 0.6, 2.9 * rows), layout="constrained", squeeze=False
    )
    shown: Any = None
    for axes in panels.flat[len(pairs) :]:
        axes.set_visible(False)
    for axes, (first, second) in zip(panels.flat, pairs, strict=False):
        across, up = known.space.axes[first], known.space.axes[second]
        grid = np.full((len(up), len(across)), np.nan)
        for place, merit in zip(places, merits, strict=True):
            at = known.space.trials[place].at
            cell = up.index(at[second]), across.index(at[first])
            grid[cell] = np.nanmax([grid[cell], merit])
        shown = axes.imshow(
            grid, origin="lower", aspect="auto", cmap=MAP, vmin=min(merits), vmax=max(merits), interpolation="nearest"
        )
        axes.set_xticks(range(len(across)), [str(value) for value in across], rotation=_rotation(across))
        axes.set_yticks(range(len(up)), [str(value) for value in up])
        axes.set(xlabel=first, ylabel=second)
    figure.colorbar(shown, ax=panels, label=f"the best, {known.unit}, {_kind(known)}")
    return figure


def parallel(known: Known, plt: Any) -> Any:
    """A line for each variant over the most important parameters, the best ones on top."""
    names = sorted(_chosen(known, AXES), key=list(known.space.axes).index)
    if len(names) < 2:
        return None
    places, merits = _merits(known)
    order: Any = np.argsort(merits)
    if len(order) > LINES:
        best = order[-LINES // 3 :]
        rest = order[: -LINES // 3]
        order = np.concatenate([rest[:: -(-len(rest) // (2 * LINES // 3))], best])
    points = Points(known.space)
    figure, axes = plt.subplots(figsize=(10, 4.2), layout="constrained")
    colours = plt.get_cmap(MAP)
    low, high = min(merits), max(merits)
    rng = np.random.default_rng(0)
    for number in map(int, order):
        given = points.parameters(places[number])
        ends = {name: max(1, len(known.space.axes[name]) - 1) for name in names}
        heights = [_rank(known, name, given[name]) / ends[name] + rng.uniform(-0.015, 0.015) for name in names]
        share = (merits[number] - low) / (high - low or 1)
        axes.plot(range(len(names)), heights, color=colours(share), alpha=0.15 + 0.6 * share**3, linewidth=0.8)
    for at, name in enumerate(names):
        values = known.space.axes[name]
        axes.axvline(at, color="black", linewidth=0.8)
        for rank, value in enumerate(values):
            axes.annotate(
                str(value), (at, rank / max(1, len(values) - 1)), xytext=(3, 0), textcoords="offset points", fontsize=7,
                va="center", bbox={"facecolor": "white", "alpha": 0.75, "pad": 0.6, "edgecolor": "none"},
            )  # fmt: skip
    axes.set_xticks(range(len(names)), names)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.set_xlim(-0.1, len(names) - 0.6)
    axes.set_title(f"{len(order)} of {len(places)} variants, {_kind(known)}; the best are bright")
    scale = plt.cm.ScalarMappable(plt.Normalize(low, high), MAP)
    figure.colorbar(scale, ax=axes, label=known.unit)
    return figure


def _rank(known: Known, name: str, value: Any) -> int:
    """The place of a parameter's value among all of them; numbers are given as that place already."""
    return known.space.axes[name].index(value) if isinstance(value, str) else int(value)


def illegal(known: Known, plt: Any) -> Any:
    """How many proposals each rule refuses, and what failed when it was tried."""
    counts = {rule: each.count for rule, each in known.space.illegal.items()}
    bars = [(name, count, GREY) for name, count in counts.items()]
    bars += [(f"failed: {name}", count, ORANGE) for name, count in known.failed.items()]
    if not bars:
        return None
    bars.sort(key=lambda bar: bar[1])
    figure, axes = plt.subplots(figsize=(7, 0.9 + 0.26 * len(bars)), layout="constrained")
    drawn = axes.barh([bar[0] for bar in bars], [bar[1] for bar in bars], color=[bar[2] for bar in bars])
    axes.bar_label(drawn, padding=3)
    axes.set_xscale("symlog", linthresh=1)
    axes.set(xlabel="variants", title=f"{sum(counts.values())} proposals that a rule refuses")
    return figure


def portability(found: Matrix, plt: Any) -> Any:
    """Speeds of each device's best variant on each device, by that of the best there; `*` marks what was measured."""
    size = len(found.names)
    shares = np.array([[np.nan if cell.share is None else cell.share for cell in row] for row in found.cells])
    figure, axes = plt.subplots(figsize=(2.6 + 0.72 * size, 1.6 + 0.5 * size), layout="constrained")
    shown = axes.imshow(np.ma.masked_invalid(shares), cmap=MAP, vmin=0, vmax=1, aspect="auto")
    for n, row in enumerate(found.cells):
        for m, cell in enumerate(row):
            text = "illegal" if cell.share is None else f"{cell.share:.2f}{'*' if cell.measured else ''}"
            bright = cell.share is None or cell.share > 0.6
            axes.text(m, n, text, ha="center", va="center", fontsize=8, color="black" if bright else "white")
    axes.set_xticks(range(size), found.names, rotation=40, ha="right")
    axes.set_yticks(range(size), [f"best for {name}" for name in found.names])
    axes.set_xlabel("run on")
    kinds = "* measured, else predicted" if any(cell.measured for row in found.cells for cell in row) else "predicted"
    axes.set_title(f"Speed by that of the best there ({kinds})")
    figure.colorbar(shown, ax=axes)
    return figure
