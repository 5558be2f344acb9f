"""The tables of a work in Markdown: its figures, ours as measured and as predicted, and whether the orders agree."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from textwrap import fill

import numpy as np

from mlir_gemm.bench import paper_portability, paper_space
from mlir_gemm.bench.contenders import name_of
from mlir_gemm.bench.figures import Entry, Results
from mlir_gemm.bench.paper_data import UNITS, Paper, Row, Table
from mlir_gemm.bench.paper_model import Prediction, counted, predict
from mlir_gemm.bench.problems import Problem
from mlir_gemm.tile_model.chips import target

PINS = "pins"
"""In the settings of results: the fields of ours by the name of a problem, in the order of the contenders."""
NOTHING = "-"


def pins_of(papers: Sequence[Paper]) -> dict[Problem, list[str]]:
    """What is to be measured: each problem once, with the fields of ours that stand beside its rows."""
    found: dict[Problem, list[str]] = {}
    for table in itertools.chain.from_iterable(each.table for each in papers):
        for row in table.row if not (table.counted or table.components) else ():
            problem = table.problem_of(row)
            if problem is not None and row.schedule is not None:
                found.setdefault(problem, []).append(row.schedule)
    return {problem: list(dict.fromkeys(several)) for problem, several in found.items()}


def markdown(
    papers: Sequence[Paper], results: Results | None, why: str, space: paper_space.Sample | None = None
) -> str:
    """All tables of some works. `results` are what was measured, `why` is why there are none, `space` is what was
    measured of Hofstra's space."""
    if results is None:
        measured = f"The column *measured* is empty: {why}."
    else:
        machine = results.machine
        measured = (
            f"Measured on {machine.get('device')}, {results.date[:10]}, launches back to back: `{results.command}`."
        )
    return "\n\n".join([wrapped(measured), *(section(each, results, True, space) for each in papers)])


def section(paper: Paper, results: Results | None, counters: bool, space: paper_space.Sample | None = None) -> str:
    """The tables of one work."""
    parts = [f"## {paper.author}: {paper.title}", f"{paper.kind}, {paper.year}. {paper.about}"]
    for table in paper.table:
        parts += _table(table, results, counters)
    if paper.key == paper_space.KEY:
        parts += paper_space.section(space)
    if paper.key == paper_portability.KEY:
        parts += paper_portability.section()
    return "\n\n".join(map(wrapped, parts))


def wrapped(text: str) -> str:
    """Text in lines of a page's width; titles and tables stay as they are."""
    if text.startswith(("#", "|")):
        return text
    paragraphs = [" ".join(each.split()) for each in text.split("\n\n")]
    return "\n\n".join(fill(each, 120, break_long_words=False, break_on_hyphens=False) for each in paragraphs)


def _table(table: Table, results: Results | None, counters: bool) -> list[str]:
    predictions = [predict(table, row) for row in table.row]
    gpu = target(table.chip).name if table.chip else ""
    ours = "ours, counted" if table.counted else f"predicted, {gpu}" if gpu else "predicted"
    lines = [f"| | the text, {table.unit} | {ours} | measured | ours |", "|---|---|---|---|---|"]
    rates: list[float | None] = []
    for row, prediction in zip(table.row, predictions, strict=True):
        rate = _measured(row, _entry(table, row, results), results)
        rates.append(rate)
        cells = [row.name, _number(row.value), _predicted(prediction), _rate(rate), _beside(row, prediction)]
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    parts = [f"### {table.name}", f"Source: {table.where}. {_reading(table)}", "\n".join(lines)]
    parts += [text for text in (_agreement(table, predictions, rates),) if text]
    refused = [(row, each) for row, each in zip(table.row, predictions, strict=True) if each and each.refused]
    parts += [f"Refused here, {row.name}: {each.refused.splitlines()[0]}." for row, each in refused]
    if counters and any(row.counters for row in table.row):
        parts.append(_counters(table))
    return [*parts, table.note] if table.note else parts


def _reading(table: Table) -> str:
    """What the figures are."""
    if table.unit == "TFLOP/s" or table.counted:
        return "Figures of ours are TFLOP/s." if not table.counted else ""
    return f"*{table.unit[0].upper()}{table.unit[1:]}*: {UNITS[table.unit]}. Figures of ours are TFLOP/s."


def _entry(table: Table, row: Row, results: Results | None) -> Entry | None:
    if results is None or table.counted or table.components:
        return None
    return next((entry for entry in results.entries if entry.problem == table.problem_of(row)), None)


def _measured(row: Row, entry: Entry | None, results: Results | None) -> float | None:
    """FLOP/s of what stands beside a row, launches back to back."""
    if row.elsewhere is not None:
        return row.elsewhere * 1e12
    if entry is None or results is None:
        return None
    if row.library:
        seconds = entry.library_seconds("sustained")
        return entry.problem.flops / seconds if seconds else None
    pins: Mapping[str, list[str]] = results.settings.get(PINS, {})
    several = pins.get(entry.problem.name, [])
    if row.schedule is None or row.schedule not in several:
        return None
    return entry.rate(name_of(several.index(row.schedule)), "sustained")


def _predicted(found: Prediction | None) -> str:
    if found is None:
        return NOTHING
    if found.count is not None:
        return f"{found.count:,}"
    if found.tflops is None:
        return "refused"
    return f"({found.tflops:.1f})" if found.refused else f"{found.tflops:.1f}"


def _beside(row: Row, found: Prediction | None) -> str:
    """What of ours stands beside a row."""
    if row.library:
        return "cuBLAS, as PyTorch and cuBLASLt call it"
    if row.count:
        return row.count
    if row.schedule is None:
        return f"nothing: {row.absent}"
    said = f"`{row.schedule}`" if row.schedule else "the model's choice"
    fields = dict(part.split("=", 1) for part in found.schedule.split(",")) if found and found.schedule else {}
    pinned = {part.split("=")[0] for part in row.schedule.split(",")}
    rest = [f"{name}={fields[name]}" for name in ("mma", "block", "warp") if name in fields and name not in pinned]
    said = f"{said} (`{','.join(rest)}`)" if rest else said
    return f"{said}, {row.layout}" if row.layout else said


def _number(value: float | None) -> str:
    return NOTHING if value is None else f"{value:,.10g}"


def _rate(rate: float | None) -> str:
    return NOTHING if rate is None else f"{rate / 1e12:.1f}"


def _counters(table: Table) -> str:
    """The profiler's figures, and below them what the model, ptxas and the simulator say of ours."""
    rows = [row for row in table.row if row.counters]
    ours = [counted(table, row) for row in rows]
    names = list(dict.fromkeys(name for row in rows for name in row.counters))
    more = list(dict.fromkeys(name for each in ours for name in each))
    lines = [f"| counters | {' | '.join(row.name for row in rows)} |", f"|---|{'---|' * len(rows)}"]
    for name in names:
        lines.append(f"| {name} | {' | '.join(_number(row.counters.get(name)) for row in rows)} |")
    for name in more:
        lines.append(f"| ... ours: {name} | {' | '.join(_count(each.get(name)) for each in ours)} |")
    return "\n".join(lines)


def _count(value: float | None) -> str:
    if value is None:
        return NOTHING
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.2f}"


def _agreement(table: Table, predictions: Sequence[Prediction | None], rates: Sequence[float | None]) -> str:
    """Whether ours is in the order of the text: the rank correlation, and the pairs that are not."""
    if table.counted:
        return ""
    sign = -1 if table.unit == "place" else 1
    theirs = [None if row.value is None else sign * row.value for row in table.row]
    said: list[str] = []
    columns = {"Predicted": [each.tflops if each else None for each in predictions], "Measured": rates}
    for title, ours in columns.items():
        known = [n for n, (a, b) in enumerate(zip(theirs, ours, strict=True)) if a is not None and b is not None]
        pairs = [(i, j) for i, j in itertools.combinations(known, 2) if theirs[i] != theirs[j]]
        if not pairs:
            continue
        wrong = [pair for pair in pairs if _order(theirs, *pair) * _order(ours, *pair) <= 0]
        rho = spearman([theirs[n] or 0 for n in known], [ours[n] or 0 for n in known])
        text = f"{title}: {len(pairs) - len(wrong)} of {len(pairs)} pairs are in the order of the text"
        text += f" (rank correlation {rho:.2f})" if len(known) > 2 and not math.isnan(rho) else ""
        named = "; ".join(f"{table.row[i].name} and {table.row[j].name}" for i, j in wrong)
        said.append(f"{text}; not: {named}." if named else f"{text}.")
    return " ".join(said)


def _order(values: Sequence[float | None], i: int, j: int) -> float:
    return (values[i] or 0) - (values[j] or 0)


def spearman(first: Sequence[float], second: Sequence[float]) -> float:
    """Spearman's rank correlation, equal values with the mean of their ranks; NaN where one side is all equal."""
    ranks = [_ranks(each) for each in (first, second)]
    if any(np.ptp(each) == 0 for each in ranks):
        return math.nan
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])


def _ranks(values: Sequence[float]) -> np.ndarray:
    given = np.asarray(values, dtype=np.float64)
    return np.array([(given < each).sum() + ((given == each).sum() + 1) / 2 for each in given])
