"""What the script that runs kernels of rows under compute-sanitizer makes of racecheck's text, without a GPU."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "gpu"))

from check_sanitised_rows import CASES, FAILED, case_of, name_of, outcome

READ_AGAIN, TWO_ROWS = "... of a cluster, read again", "a cluster, two rows"


def entry(name: str) -> str:
    found = re.search(r"@(\w+)", case_of(name).text)
    assert found
    return f"{found[1]}_kernel"


def said() -> str:
    """What racecheck wrote on an H100 (driver 580.159), but for the kernels' names."""
    return f"""========= COMPUTE-SANITIZER
========= Warning: Race reported between Write access at {entry(READ_AGAIN)}+0x280
=========     and Read access at {entry(READ_AGAIN)}+0x2a0 [48 hazards]
=========\x20
========= Warning: Race reported between Write access at {entry(TWO_ROWS)}+0x220
=========     and Read access at {entry(TWO_ROWS)}+0x2e0 [96 hazards]
=========\x20
40 of 40 right
========= RACECHECK SUMMARY: 2 hazards displayed (0 errors, 2 warnings)
"""


def test_each_kernel_is_named_after_its_case():
    entries = {entry(name): name for name in CASES}
    assert len(entries) == len(CASES)
    assert all(name_of(each) == name for each, name in entries.items())
    assert name_of("rows_kernel") == "rows_kernel"


def test_a_lone_mbarrier_of_one_thread_is_no_race():
    result = outcome(FAILED, said())
    assert result["clean"] and result["kernels"] == [READ_AGAIN, TWO_ROWS]
    assert result["races"] == [
        {"kernel": READ_AGAIN, "severity": "Warning", "accesses": ["Write +0x280", "Read +0x2a0"], "hazards": 48,
         "unfounded": True},
        {"kernel": TWO_ROWS, "severity": "Warning", "accesses": ["Write +0x220", "Read +0x2e0"], "hazards": 96,
         "unfounded": True},
    ]  # fmt: skip
    assert result["said"] == said()


@pytest.mark.parametrize("old, new", [
    ("Warning", "Error"), ("[48 hazards]", "[96 hazards]"), ("and Read", "and Write"), ("40 of", "39 of"),
    ("2 hazards displayed", "3 hazards displayed"), (entry(TWO_ROWS), entry("in shared memory")),
    (entry(TWO_ROWS), "rows_kernel"),
    (f"{entry(READ_AGAIN)}+0x2a0 [48", f"{entry('a cluster of 2')}+0x2a0 [80"),
], ids=["error", "other bytes", "two writes", "wrong result", "more than shown", "no mbarrier", "nobody's",
        "another kernel"])  # fmt: skip
def test_any_other_race_counts(old: str, new: str):
    assert old in said()
    assert not outcome(FAILED, said().replace(old, new))["clean"]


def test_two_mbarriers_of_one_thread_are_not_taken_for_one():
    text = said().replace(entry(READ_AGAIN), entry("a cluster of 2")).replace("[48", "[80")
    assert [race["unfounded"] for race in outcome(FAILED, text)["races"]] == [False, True]
