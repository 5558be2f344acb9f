"""Writes docs/papers.md and docs/papers-tuned.md: the tables of the five works beside ours, as `mlir-gemm bench
--paper all` prints them.

    python docs/make/papers.py            # writes the pages; needs ptxas (the test extra)

Figures that were measured are those of the newest bench/results/*-papers*.json, and of *-hofstra-space.json.
"""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

from mlir_gemm.bench.figures import Entry, Results, read
from mlir_gemm.bench.paper_data import PAPERS, paper
from mlir_gemm.bench.paper_report import PINS, markdown
from mlir_gemm.bench.paper_space import FILES, Sample, sample

ROOT = Path(__file__).resolve().parents[2]
PAGES = {
    "papers.md": ("papers_introduction.txt", ("khandelwal", "faingnaert")),
    "papers-tuned.md": ("papers_tuned_introduction.txt", ("hofstra", "rise", "lift", "published")),
}
"""The pages, what stands at the beginning of each, and the works that it has."""


def newest() -> Results | None:
    """What was measured last; None where nothing was. Problems that the last run leaves out are those of earlier ones
    on the same GPU."""
    runs = [read(str(path)) for path in (ROOT / "bench/results").glob("*-papers*.json*")]
    runs.sort(key=lambda run: run.date, reverse=True)
    same = [run for run in runs if run.machine.get("device") == runs[0].machine.get("device")]
    entries: dict[str, Entry] = {}
    pins: dict[str, list[str]] = {}
    commands: list[str] = []
    for run in same:
        mine = {each.problem.name: each for each in run.entries if each.problem.name not in entries}
        entries |= mine
        pins |= {name: run.settings[PINS][name] for name in mine}
        commands += [run.command] if mine else []
    if not same:
        return None
    last = same[0]
    settings = last.settings | {PINS: pins}
    return dataclasses.replace(
        last, entries=list(entries.values()), settings=settings, command="`, `".join(commands[::-1])
    )


def space() -> Sample | None:
    """The part of Hofstra's space that was measured last."""
    found = sorted((ROOT / "bench/results").glob(FILES))
    return sample(found[-1]) if found else None


def page(name: str) -> str:
    """A whole page."""
    introduction, keys = PAGES[name]
    papers, measured = [paper(key) for key in keys], newest()
    text = markdown(papers, measured, "nothing was measured for it yet", space())
    return f"{(Path(__file__).parent / introduction).read_text()}\n{text}\n"


def main() -> int:
    assert sorted(key for _, keys in PAGES.values() for key in keys) == sorted(PAPERS)
    for name in PAGES:
        (ROOT / "docs" / name).write_text(page(name))
    return 0


if __name__ == "__main__":
    sys.exit(main())
