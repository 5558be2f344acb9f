"""Results and their scripts are kept for what the documentation or a test says of them; others go."""

from __future__ import annotations

import fnmatch
import itertools
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RESULTS = sorted(path.name for path in (ROOT / "bench" / "results").iterdir())
TEXTS = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "test" / "python").glob("*.py")]


def patterns(text: str) -> set[str]:
    """What a text says of files: names, `...-` with the end of a name, and either with `{a,b}` or `*` in it."""
    found: set[str] = set()
    for name in re.findall(r"(?:\.\.\.-|\d{4}-\d\d-\d\d-)[\w.*{},-]+\.(?:json|txt)[\w.*]*", text):
        parts = [part.split(",") for part in re.split(r"[{}]", name)]
        found.update("".join(choice) for choice in itertools.product(*parts))
    return {name.rstrip(".").replace("...-", "*-") for name in found}


def test_every_result_is_mentioned():
    """A script is, where its result is."""
    known = set[str]().union(*(patterns(text.read_text()) for text in TEXTS))
    named = {name for name in RESULTS if any(fnmatch.fnmatch(name, pattern) for pattern in known)}
    stems = {name.partition(".")[0] for name in named}
    scripts = {name for name in RESULTS if name.endswith(".py.txt") and name.partition(".")[0] in stems}
    assert sorted(set(RESULTS) - named - scripts) == []
