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
from mlir_gemm.tuner.space import FACTOR, SWITCHES
from mlir_gemm.tuner.tried import Known

DPI = 110
PANELS, AXES = 9, 8
"""Most parameters that get a panel, and an axis of the parallel coordinates."""
LINES = 600
"""Most lines of the parallel coordinates: the best, and others evenly over the rest."""
BLUE, ORANGE, GREEN, GREY, PALE = "#0072b2", "#d55e00", "#009e73", "#b0b0b0", "#ececec"
LINES_OF = (BLUE, ORANGE, GREEN, "#cc79a7", "#e69f00", "#56b4e9", "#666666")
"""Okabe and Ito's: told apart by readers with any colour vision."""
MAP, LOST = "viridis", "YlOrRd"
"""Of speeds, and of what is lost."""


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
        ("What is lost elsewhere", "lost", lambda: lost(portable, plt) if portable else None),
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


def _marked(known: Known) -> list[tuple[str, int, str]]:
    """The model's choice and the best, as name, place and colour."""
    return [("the model's choice", 0, ORANGE), ("the best found", known.space.places.get(known.best, 0), GREEN)]


def _marks(known: Known, predicted: bool) -> list[tuple[str, float, str]]:
    """The same with their merits, as name, merit and colour; those with a value."""
    trials = known.space.trials
    values = {place: trial.predicted for place, trial in enumerate(trials)} if predicted else known.values
    return [(name, known.merit(values[at]), colour) for name, at, colour in _marked(known) if at in values]


def _texts(name: str, values: Sequence[object]) -> list[str]:
    """Values of a parameter as a schedule has them."""
    words = ("off", "on", "ahead") if name in SWITCHES else ()
    return [words[value] if words and isinstance(value, int) else str(value) for value in values]


def distribution(known: Known, plt: Any) -> Any:
    """How many variants reach how much: all of the space as predicted, and those that were tried as measured."""
    panels: list[tuple[str, list[float], str]] = []
    if known.objective in ("time", "cold"):
        every = [known.merit(trial.predicted) for trial in known.space.trials]
        title = f"{len(every)} legal variants, predicted: all up to {FACTOR:g} times the time of the model's choice"
        panels.append((title, every, GREY))
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
        if axes.get_legend_handles_labels()[0]:
            axes.legend(frameon=False, loc="upper left", ncols=2)
    several[-1, 0].set_xlabel(known.unit)
    return figure


def best_so_far(known: Known, plt: Any) -> Any:
    """The best after each trial, a line for each sampler; failed trials count. Where times are predicted the model's
    choice, which is each sampler's first trial, is the best of all from the start: it is left out."""
    runs = {sampler: list(enumerate(run, 1))[0 if known.measured else 1 :] for sampler, run in known.runs.items()}
    runs = {sampler: run for sampler, run in runs.items() if run}
    if not runs:
        return None
    figure, axes = plt.subplots(figsize=(8.4, 3.4), layout="constrained")
    shown: list[float] = []
    for number, (colour, (sampler, run)) in enumerate(zip(LINES_OF * len(runs), runs.items(), strict=False)):
        trials = [(trial, known.merit(each.value)) for trial, each in run if each.value]
        shown += [merit for _, merit in trials]
        if not trials:
            continue
        at, merits = zip(*trials, strict=True)
        best: Any = np.maximum.accumulate(merits)
        label = f"{sampler}: {max(merits):.4g} after {at[merits.index(max(merits))]}"
        width = 1.6 + 1.2 * (len(runs) - 1 - number)  # lines on top of each other stay visible
        axes.step([*at, run[-1][0]], [*best, best[-1]], where="post", color=colour, label=label, linewidth=width)
        axes.plot(at, merits, ".", color=colour, alpha=0.45, markersize=4)
    if shown:
        axes.set_ylim(0.95 * min(shown), 1.02 * max(shown))
    kind = "measured" if known.measured else "predicted times, without the model's choice"
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
    for name, place, colour in _marked(known):
        if place in known.values:
            at = known.merit(known.space.trials[place].predicted), known.merit(known.values[place])
            axes.plot(*at, "o", color=colour, label=name, markersize=7, markerfacecolor="none", markeredgewidth=2)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=False, loc="upper left")
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
    axes.margins(y=0.01)
    axes.set(
        xlabel="importance (Optuna's PED-ANOVA)",
        title=f"What sets the best tenth of {len(known.shown)} variants apart, {_kind(known)}",
    )
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
        axes.set_xticks(range(len(values)), _texts(name, values), rotation=_rotation(values))
        axes.set_xlim(-0.5, len(values) - 0.5)
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
        axes.set_facecolor(PALE)
        for size, (name, place, colour) in zip((13, 7), _marked(known), strict=True):
            at = known.space.trials[place].at
            axes.plot(
                across.index(at[first]), up.index(at[second]), "o", label=name, markersize=size, markeredgewidth=2,
                markerfacecolor="none", markeredgecolor=colour,
            )  # fmt: skip
        axes.set_xticks(range(len(across)), _texts(first, across), rotation=_rotation(across))
        axes.set_yticks(range(len(up)), _texts(second, up))
        axes.set(xlabel=first, ylabel=second)
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, frameon=False, loc="outside upper center", ncols=2)
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
    figure, axes = plt.subplots(figsize=(10, 4.4), layout="constrained")
    colours = plt.get_cmap(MAP)
    low, high = min(merits), max(merits)
    rng = np.random.default_rng(0)

    def heights(place: int) -> Any:
        """Where a variant crosses the axes, from 0 to 1."""
        at, axes_of = known.space.trials[place].at, known.space.axes
        return np.array([axes_of[name].index(at[name]) / max(1, len(axes_of[name]) - 1) for name in names])

    for number in map(int, order):
        drawn = heights(places[number]) + rng.uniform(-0.015, 0.015, len(names))
        share = (merits[number] - low) / (high - low or 1)
        axes.plot(range(len(names)), drawn, color=colours(share), alpha=0.15 + 0.6 * share**3, linewidth=0.8)
    for (name, place, colour), line in zip(_marked(known), ("-", "--"), strict=True):
        axes.plot(range(len(names)), heights(place), line, color=colour, linewidth=1.8, label=name)
    axes.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.08), ncols=2)
    for at, name in enumerate(names):
        values = known.space.axes[name]
        axes.axvline(at, color="black", linewidth=0.8)
        for rank, text in enumerate(_texts(name, values)):
            axes.annotate(
                text, (at, rank / max(1, len(values) - 1)), xytext=(3, 0), textcoords="offset points", fontsize=7,
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
    """The speed of each device's best variant on each device, in the colour of its part of the best there; `*` marks
    what was measured."""
    title = f"TFLOP/s of each device's best schedule on each device ({_kinds(found)})"
    shares = [[np.nan if cell.share is None else cell.share for cell in row] for row in found.cells]
    texts = [[_digits(cell.tflops) + "*" * cell.measured for cell in row] for row in found.cells]
    return _matrix(found, plt, title, shares, texts, "part of the best there", MAP)


def lost(found: Matrix, plt: Any) -> Any:
    """What is lost by running one device's best variant on another, in percent of the best there."""
    title = f"Lost by running one device's best schedule on another, % of the best there ({_kinds(found)})"
    losses = [[np.nan if cell.share is None else 1 - cell.share for cell in row] for row in found.cells]
    texts = [[f"{100 * (1 - (cell.share or 0)):.0f}" + "*" * cell.measured for cell in row] for row in found.cells]
    return _matrix(found, plt, title, losses, texts, "part that is lost", LOST)


def _kinds(found: Matrix) -> str:
    return "* measured, else predicted" if any(cell.measured for row in found.cells for cell in row) else "predicted"


def _digits(value: float) -> str:
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def _matrix(
    found: Matrix, plt: Any, title: str, values: Any, texts: Sequence[Sequence[str]], label: str, colours: str
) -> Any:
    """A cell for each variant and device; grey where it is not legal."""
    size = len(found.names)
    figure, axes = plt.subplots(figsize=(3.2 + 0.66 * size, 1.8 + 0.42 * size), layout="constrained")
    axes.set_facecolor(PALE)
    shown = axes.imshow(np.ma.masked_invalid(values), cmap=colours, vmin=0, vmax=1, aspect="auto")
    for n, row in enumerate(found.cells):
        for m, cell in enumerate(row):
            if cell.share is not None:
                red, green, blue, _ = shown.cmap(shown.norm(values[n][m]))
                dark = 0.3 * red + 0.6 * green + 0.1 * blue < 0.5
                axes.text(m, n, texts[n][m], ha="center", va="center", color="white" if dark else "black")
    axes.set_xticks(range(size), found.names, rotation=40, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(size), [f"best for {name}" for name in found.names])
    axes.set_xlabel("run on (grey: not legal there)")
    axes.set_title(title)
    figure.colorbar(shown, ax=axes, label=label)
    return figure
