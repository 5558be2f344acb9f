"""Writes docs/papers.md and docs/papers-tuned.md: the tables of the five works beside ours, as `mlir-gemm bench
--paper all` prints them.

    python docs/make/papers.py            # writes the pages; needs ptxas (the test extra)

Figures that were measured are those of the newest bench/results/*-papers.json, where there is one.
"""

from __future__ import annotations

import sys
from pathlib import Path

from mlir_gemm.bench.figures import Results, read
from mlir_gemm.bench.paper_data import PAPERS, paper
from mlir_gemm.bench.paper_report import markdown

ROOT = Path(__file__).resolve().parents[2]
PAGES = {
    "papers.md": ("papers_introduction.txt", ("khandelwal", "faingnaert")),
    "papers-tuned.md": ("papers_tuned_introduction.txt", ("hofstra", "rise", "lift")),
}
"""The pages, what stands at the beginning of each, and the works that it has."""


def newest() -> Results | None:
    """What was measured last; None where nothing was."""
    found = sorted((ROOT / "bench/results").glob("*-papers.json*"))
    return read(str(found[-1])) if found else None


def page(name: str) -> str:
    """A whole page."""
    introduction, keys = PAGES[name]
    papers, measured = [paper(key) for key in keys], newest()
    text = markdown(papers, measured, "nothing was measured for it yet")
    return f"{(Path(__file__).parent / introduction).read_text()}\n{text}\n"


def main() -> int:
    assert sorted(key for _, keys in PAGES.values() for key in keys) == sorted(PAPERS)
    for name in PAGES:
        (ROOT / "docs" / name).write_text(page(name))
    return 0


if __name__ == "__main__":
    sys.exit(main())
