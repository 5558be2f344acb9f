"""A few hundred mutants of all modules at hand, always the same ones: each compiles or is refused."""

from __future__ import annotations

from pathlib import Path

from fuzz_modules import campaign
from mutants import mutant, seeds

COUNT = 600


def test_mutants_compile_or_are_refused(tmp_path: Path):
    result = campaign(range(COUNT), jobs=1, save=tmp_path)
    assert result.faults == {}, f"the modules are in {tmp_path}"
    assert result.counts.total() == COUNT
    assert result.counts["compiled"] > COUNT // 50


def test_a_mutant_follows_from_its_number():
    assert len(seeds()) > 400
    assert [mutant(number).data for number in (2, 3, 4)] == [mutant(number).data for number in (2, 3, 4)]
    assert {"bytes", "lines", "tokens"} <= {mutant(number).how for number in range(2, 40)}
