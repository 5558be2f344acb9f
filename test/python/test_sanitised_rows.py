"""What the script that runs kernels of rows under compute-sanitizer makes of racecheck's text, without a GPU."""

from __future__ import annotations

import re
import sys
from pathlib import Path

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
42 of 42 right
========= RACECHECK SUMMARY: 2 hazards displayed (0 errors, 2 warnings)
"""


def test_each_kernel_is_named_after_its_case():
    entries = {entry(name): name for name in CASES}
    assert len(entries) == len(CASES)
    assert all(name_of(each) == name for each, name in entries.items())
    assert name_of("rows_kernel") == "rows_kernel"


def test_a_race_is_told_by_its_case():
    result = outcome(FAILED, said())
    assert not result["clean"] and result["kernels"] == [READ_AGAIN, TWO_ROWS]
    assert result["races"] == [
        {"kernel": READ_AGAIN, "severity": "Warning", "accesses": ["Write +0x280", "Read +0x2a0"], "hazards": 48},
        {"kernel": TWO_ROWS, "severity": "Warning", "accesses": ["Write +0x220", "Read +0x2e0"], "hazards": 96},
    ]
    assert result["said"] == said()


def test_nothing_found_is_clean():
    text = (
        f"{len(CASES)} of {len(CASES)} right\n========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)"
    )
    assert outcome(0, text)["clean"] and not outcome(FAILED, text)["clean"]
