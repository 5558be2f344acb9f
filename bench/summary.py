"""What results say: geometric means, the worst cases, and tables in Markdown."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mlir_gemm.bench.contenders import LT_BEST, LT_FIRST, OURS, PRODUCT
from mlir_gemm.bench.figures import CONTENDERS, REGIMES, Entry, Results
from mlir_gemm.bench.problems import GROUPS, Problem
from mlir_gemm.bench.timing import Spread

NONE = "-"
TITLES = {
    OURS: "ours", "torch": "torch", LT_FIRST: "Lt first", LT_BEST: "Lt best", "compile": "torch.compile",
    "triton": "Triton", PRODUCT: "product alone",
}  # fmt: skip
_BRIEF = (
    "mma",
    "mainloop",
    "block",
    "warp",
    "stages",
    "cluster",
    "persistent",
    "split_k_cluster",
    "raster",
    "raster_group",
    "layout",
)
"""Fields of a schedule that tell most."""


@dataclass(frozen=True)
class Worst:
    """Ratios of several problems: their geometric mean, and the smallest with its problem."""

    mean: float
    least: float
    where: str
    count: int

    @staticmethod
    def of(ratios: Iterable[tuple[str, float | None]]) -> Worst | None:
        """Of those that are there; None where there are none."""
        known = [(name, ratio) for name, ratio in ratios if ratio is not None]
        if not known:
            return None
        where, least = min(known, key=lambda pair: pair[1])
        return Worst(geometric_mean([ratio for _, ratio in known]), least, where, len(known))


def geometric_mean(values: Sequence[float]) -> float:
    """Of positive numbers, at least one."""
    return math.exp(sum(map(math.log, values)) / len(values))


def ratios(entries: Iterable[Entry], regime: str, other: str = "") -> Worst | None:
    """How many times as fast ours is as the vendor's library, or as another contender."""
    return Worst.of((entry.problem.name, entry.ratio(regime, other)) for entry in entries)


def group_names(results: Results) -> list[str]:
    """The groups in the results, in the order of the list of problems."""
    present = dict.fromkeys(entry.problem.group for entry in results.entries)
    present |= dict.fromkeys(problem.group for problem, _, _ in results.refused)
    return [*(name for name in GROUPS if name in present), *(name for name in present if name not in GROUPS)]


def of_group(results: Results, group: str) -> list[Entry]:
    """Its entries, in the order in which they were measured."""
    return [entry for entry in results.entries if entry.problem.group == group]


def counted(entries: Iterable[Entry]) -> list[Entry]:
    """Without the products that stand beside the epilogues for comparison: they have no epilogue, and the same problems
    are in other groups."""
    return [e for e in entries if not (e.problem.group == "epilogues" and e.problem.epilogue == "none")]


def summary(results: Results) -> str:
    """One row a group and one for all: the table that answers how fast ours is."""
    heads = ["group", "problems"]
    heads += [f"{regime}: {what}" for regime in REGIMES for what in ("mean", "least", "where")]
    heads += ["cold: to Lt best, mean", "wrong", "without ours"]
    groups = group_names(results)
    rows = [_summary_row(name, counted(of_group(results, name)), results, {name}) for name in groups]
    if len(groups) > 1:
        rows.append(_summary_row("all", counted(results.entries), results, set(groups)))
    return table(heads, rows)


def _summary_row(name: str, entries: Sequence[Entry], results: Results, groups: set[str]) -> list[str]:
    row = [name, str(sum(OURS in entry.figures for entry in entries))]
    for regime in REGIMES:
        found = ratios(entries, regime)
        row += [NONE] * 3 if found is None else [f"{found.mean:.3f}", f"{found.least:.3f}", found.where]
    best = ratios(entries, "cold", LT_BEST)
    wrong = sum(bool(entry.wrong) for entry in results.entries if entry.problem.group in groups)
    missing = sum(problem.group in groups for problem in without_ours(results))
    return [*row, f"{best.mean:.3f}" if best else NONE, str(wrong), str(missing)]


def without_ours(results: Results) -> set[Problem]:
    """The problems that ours was not measured on, whether it did not compile or did not run: they are in no mean."""
    measured = {entry.problem for entry in results.entries if OURS in entry.figures}
    asked = {entry.problem for entry in results.entries} | {problem for problem, _, _ in results.refused}
    return asked - measured


def by_kind(results: Results) -> str:
    """Geometric means by operand type and layout; empty where there is only one of both."""
    entries = counted(results.entries)
    kinds = list(dict.fromkeys((e.problem.dtype, e.problem.out, e.problem.layout) for e in entries))
    if len(kinds) < 2:
        return ""
    rows: list[list[str]] = []
    for dtype, out, layout in kinds:
        own = [e for e in entries if (e.problem.dtype, e.problem.out, e.problem.layout) == (dtype, out, layout)]
        row = [f"{dtype} into {out}", layout, str(len(own))]
        for regime in REGIMES:
            found = ratios(own, regime)
            row += [NONE] * 2 if found is None else [f"{found.mean:.3f}", f"{found.least:.3f}"]
        rows.append(row)
    return table(["types", "layout", "problems", "cold: mean", "least", "sustained: mean", "least"], rows)


def against_others(results: Results) -> str:
    """Geometric means against those that are not the vendor's library as it is used; empty where nobody was there."""
    rows: list[list[str]] = []
    for name in (LT_BEST, "compile", "triton", PRODUCT):
        for group in group_names(results):
            found = [ratios(counted(of_group(results, group)), regime, name) for regime in REGIMES]
            if any(found):
                row = [TITLES[name], group, str(max(each.count for each in found if each))]
                for each in found:
                    row += [NONE] * 3 if each is None else [f"{each.mean:.3f}", f"{each.least:.3f}", each.where]
                rows.append(row)
    heads = ["ours to", "group", "problems"]
    heads += [f"{regime}: {what}" for regime in REGIMES for what in ("mean", "least", "where")]
    return table(heads, rows) if rows else ""


def epilogue_costs(results: Results) -> str:
    """How much longer ours takes with an epilogue than without, in percent; empty where nothing can be compared."""
    plain = {dataclasses.replace(e.problem, group=""): e for e in results.entries if e.problem.epilogue == "none"}
    rows: list[list[str]] = []
    for entry in results.entries:
        alone = plain.get(dataclasses.replace(entry.problem, group="", epilogue="none"))
        if alone is None or entry.problem.epilogue == "none":
            continue
        row = [entry.problem.name]
        for regime in REGIMES:
            own, without = entry.seconds(OURS, regime), alone.seconds(OURS, regime)
            row.append(f"{100 * (own / without - 1):+.1f} %" if own and without else NONE)
        rows.append(row)
    return table(["problem", *REGIMES], rows) if rows else ""


def group_table(entries: Sequence[Entry], regime: str) -> str:
    """Every problem of a group: TFLOP/s of everyone, with half of the distance of the quartiles of ours and of the
    fastest of the vendor's, and the ratios."""
    present = [name for name in CONTENDERS if any(name in entry.figures for entry in entries)]
    further = list(dict.fromkeys(name for entry in entries for name in entry.schedules if name != OURS))
    names = [name for name in (OURS, *further, *present[1:]) if name in (*present, *further)]
    heads = ["problem", *(TITLES.get(name, name) for name in names), "ratio", "to Lt best"]
    heads += ["host us", "error"]
    rows = [_entry_row(entry, names, regime) for entry in entries]
    return table(heads, rows)


def _entry_row(entry: Entry, names: Sequence[str], regime: str) -> list[str]:
    row = [entry.problem.name]
    for name in names:
        rate = entry.rate(name, regime)
        if rate is None:
            row.append(NONE)
            continue
        figures = entry.figures[name]
        spread = figures.cold if regime == "cold" else figures.sustained
        wrong = " WRONG" if figures.right is False else ""
        row.append(f"{rate / 1e12:.{1 if rate < 1e14 else 0}f}{shown_spread(spread)}{wrong}")
    row += [shown(entry.ratio(regime)), shown(entry.ratio(regime, LT_BEST))]
    ours = entry.figures.get(OURS)
    row.append(f"{ours.host_seconds * 1e6:.1f}" if ours else NONE)
    row.append(f"{ours.error:.1e}" if ours and ours.error is not None else NONE)
    return row


def shown(ratio: float | None) -> str:
    """A ratio with three places."""
    return NONE if ratio is None else f"{ratio:.3f}"


def shown_spread(spread: Spread | None) -> str:
    """Half of the distance of the quartiles in percent of the median, where it is more than nothing."""
    if spread is None or spread.count < 2:
        return ""
    half = 50 * (spread.high - spread.low) / spread.median
    return f" ±{half:.1f} %" if half >= 0.05 else ""


def schedules_table(entries: Sequence[Entry]) -> str:
    """How ours computed each problem."""
    rows = [
        [entry.problem.name, name, str(entry.figures[name].kernels), brief(entry.figures[name].schedule)]
        for entry in entries
        for name in entry.schedules
    ]
    return table(["problem", "", "kernels", "schedule"], rows) if rows else ""


def brief(schedule: str) -> str:
    """The fields of a schedule that tell most, in their order there."""
    fields = [field for field in schedule.split(",") if field.partition("=")[0] in _BRIEF]
    return ", ".join(fields)


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table with aligned columns: the first to the left, numbers to the right."""
    cells = [list(heads), *[list(row) for row in rows]]
    columns = list(zip(*cells, strict=True))
    widths = [max(map(len, column)) for column in columns]
    right = [i > 0 and all(map(_is_number, column[1:])) for i, column in enumerate(columns)]

    def line(row: Sequence[str]) -> str:
        parts = zip(row, widths, right, strict=True)
        return f"| {' | '.join(cell.rjust(width) if r else cell.ljust(width) for cell, width, r in parts)} |"

    rule = "|".join("-" * (width + 1) + (":" if r else "-") for width, r in zip(widths, right, strict=True))
    return "\n".join([line(cells[0]), f"|{rule}|", *map(line, cells[1:])])


def _is_number(text: str) -> bool:
    return text == NONE or text.replace(".", "", 1).replace("e-", "", 1).isdigit() or " ±" in text
