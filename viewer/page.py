"""The page: everything that is known of a compilation, in one HTML file that needs no network.

The text of all passes is packed: each line once in a table, the rest numbers, compressed; the browser unpacks it.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from jinja2 import Environment, select_autoescape
from markupsafe import Markup

from mlir_gemm.parts.prediction import Prediction
from mlir_gemm.parts.wording import shown_value
from mlir_gemm.pipeline.registry import about
from mlir_gemm.spec.kernel_record import KernelRecord
from mlir_gemm.spec.passes import UPSTREAM, PassSpec
from mlir_gemm.spec.target import Target
from mlir_gemm.tile_model.decisions import Decisions
from mlir_gemm.tile_model.explain import occupancy_lines, operand_lines, rejected_lines, why_lost
from mlir_gemm.viewer import drawings
from mlir_gemm.viewer.trace import Snapshot
from mlir_gemm.viewer.words import made_of, sentences

HERE = Path(__file__).resolve().parent
SHOWN = 12
"""Candidates of a ranking that are shown."""
Rows = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Candidate:
    """A row of the ranking."""

    schedule: str
    time: str
    tflops: str
    lost: str
    share: float
    """Its time as a part of the longest one's."""
    bars: Markup


@dataclass
class KernelPage:
    """What the page says of one kernel, beside its passes."""

    name: str
    kind: str
    about: Rows = ()
    """Problem, schedule, launch, registers, as names and values."""
    sentences: list[str] = field(default_factory=list[str])
    parts: list[tuple[str, str, str]] = field(default_factory=list[tuple[str, str, str]])
    pictures: list[tuple[str, Markup]] = field(default_factory=list[tuple[str, Markup]])
    facts: list[str] = field(default_factory=list[str])
    ranking: list[Candidate] = field(default_factory=list[Candidate])
    considered: int = 0
    terms: Markup = field(default_factory=Markup)
    rejected: list[str] = field(default_factory=list[str])
    rewrites: list[str] = field(default_factory=list[str])


def kernel_page(record: KernelRecord, target: Target, about: Rows, decisions: Decisions | None) -> KernelPage:
    """What is known of a kernel. `decisions` is what the model had to decide, if that is known."""
    page = KernelPage(record.name, record.kind, about)
    if record.rows is not None and record.row_problem is not None:
        rows, length = record.row_problem.rows, record.row_problem.length * record.row_problem.lines
        svg = drawings.rows_of(rows, length, record.rows.tile, record.rows.transposed)
        page.pictures = [("All rows, and the tile of one block", Markup(svg))]
    if record.problem is None or record.schedule is None:
        return page
    page.sentences = list(sentences(record.problem, record.schedule))
    page.parts = made_of(record.schedule)
    page.pictures = [
        (caption, Markup(svg)) for caption, svg in drawings.of_product(record.problem, record.schedule, target)
    ]
    if decisions is not None and decisions.choice.schedule == record.schedule:
        _add_choice(page, decisions)
    return page


def _add_choice(page: KernelPage, decisions: Decisions) -> None:
    choice = decisions.choice
    page.considered = choice.considered
    page.facts = [line.strip() for line in (*occupancy_lines(choice)[1:], *operand_lines(choice)[1:])]
    page.terms = Markup(_bars(choice.cost))
    page.rewrites = [*(line for each in decisions.rewrites.values() for line in each.why()), *decisions.missed]
    page.rejected = rejected_lines(choice)
    shown = choice.ranking[:SHOWN]
    longest = max(candidate.cost.total for candidate in shown)
    names = choice.schedule.__dataclass_fields__
    fields = [name for name in names if len({each.schedule.value(name) for each in shown}) > 1]
    page.ranking = [
        Candidate(
            ", ".join(f"{name}={shown_value(schedule.value(name))}" for name in fields) or str(schedule),
            f"{cost.total * 1e6:.2f} us",
            f"{cost.tflops(choice.problem):.0f}",
            why_lost(candidate, choice),
            cost.total / longest,
            Markup(_bars(cost)),
        )
        for candidate in shown
        for schedule, cost in [candidate]
    ]


def _bars(cost: Prediction) -> str:
    terms = [(words, float(getattr(cost, term)), True) for term, words in cost.OVERLAPPING.items()]
    terms += [(words, float(getattr(cost, term)), False) for term, words in cost.ADDITIVE.items()]
    return drawings.bars([term for term in terms if term[1] > 0], cost.total)


def render(
    title: str,
    about: Rows,
    kernels: Sequence[KernelPage],
    snapshots: Sequence[Snapshot],
    stages: Mapping[str, float],
    counters: str = "",
    note: str = "",
) -> str:
    """The page as HTML."""
    environment = Environment(autoescape=select_autoescape(default=True), trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string((HERE / "page.html").read_text())
    slowest = max(stages.values(), default=1.0) or 1.0
    return template.render(
        title=title, about=about, kernels=kernels, counters=counters, note=note,
        stages=[(name, 1e3 * seconds, seconds / slowest) for name, seconds in stages.items()],
        total=1e3 * sum(stages.values()),
        style=Markup((HERE / "page.css").read_text()), script=Markup((HERE / "page.js").read_text()),
        data=packed(snapshots),
    )  # fmt: skip


def packed(snapshots: Sequence[Snapshot]) -> str:
    """The snapshots as compressed JSON in base64."""
    table: dict[str, int] = {}
    passes: list[dict[str, object]] = []
    for each in snapshots:
        file, what = _what(each)
        passes.append({
            "kernel": each.kernel, "stage": each.stage, "pass": _pass_name(each.spec), "options": _options(each.spec),
            "what": what, "file": file, "ms": round(1e3 * each.seconds, 3), "changed": each.changed,
            "lines": [table.setdefault(line, len(table)) for line in each.lines],
            "ops": each.operations, "parents": each.parents,
        })  # fmt: skip
    text = json.dumps({"table": list(table), "passes": passes}, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def _pass_name(spec: PassSpec | None) -> str:
    if spec is None:
        return ""
    return "MLIR: " + str(spec) if spec.name == UPSTREAM else spec.name


def _options(spec: PassSpec | None) -> str:
    return "" if spec is None or spec.name == UPSTREAM else str(spec).removeprefix(spec.name)


def _what(snapshot: Snapshot) -> tuple[str, str]:
    """The file of a pass, and what it does."""
    if snapshot.spec is None:
        return "", "What was given." if snapshot.stage == "source" else "What LLVM makes of it."
    file, said = about(snapshot.spec.name)
    return file, said[:1].upper() + said[1:] if said else "Passes of MLIR itself."
