"""Writes docs/papers.md: the tables of the five works beside ours, as `mlir-gemm bench --paper all` prints them.

    python docs/make/papers.py            # writes the page; needs ptxas (the test extra)

Figures that were measured are those of the newest bench/results/*-papers.json, where there is one.
"""

from __future__ import annotations

import sys
from pathlib import Path

from mlir_gemm.bench.figures import Results, read
from mlir_gemm.bench.paper_data import PAPERS, paper
from mlir_gemm.bench.paper_report import markdown

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/papers.md"
INTRODUCTION = Path(__file__).parent / "papers_introduction.txt"


def newest() -> Results | None:
    """What was measured last; None where nothing was."""
    found = sorted((ROOT / "bench/results").glob("*-papers.json*"))
    return read(str(found[-1])) if found else None


def page() -> str:
    """The whole page."""
    papers = [paper(key) for key in PAPERS]
    return f"{INTRODUCTION.read_text()}\n{markdown(papers, newest(), 'nothing was measured for it yet')}\n"


def main() -> int:
    PAGE.write_text(page())
    return 0


if __name__ == "__main__":
    sys.exit(main())
