"""How the scripts that measure whole spaces of schedules on a GPU tell a good schedule from a lucky one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "gpu"))

from space_report import by_places
from space_worker import level


def table(**places: list[float]) -> dict[str, Any]:
    return {"rows": [{"schedule": text, "places": us} for text, us in places.items()]}


def test_luck_in_one_place_is_no_merit() -> None:
    """Three schedules that take the same but for one place each: the best of one place is the luckiest, and the one
    that is picked by the other places is not."""
    found = by_places(table(chosen=[10, 10, 10], one=[8, 10, 10], two=[10, 8, 10]), "chosen")
    assert found["in one place"] == pytest.approx((10 / 8) ** (2 / 3))
    assert found["crossed"] == pytest.approx(1.0)


def test_a_schedule_that_is_better_everywhere_counts_in_full() -> None:
    found = by_places(table(chosen=[10, 11, 12], better=[5, 5.5, 6]), "chosen")
    assert found["in one place"] == found["crossed"] == pytest.approx(2.0)


def test_one_place_says_nothing_about_luck() -> None:
    assert by_places(table(chosen=[10]), "chosen") == {}


def test_what_the_chip_lost_between_rounds_is_taken_from_all() -> None:
    """Only what is fast is timed in the later rounds, in which the chip is warmer."""
    times = {"fast": [[1.0, 1.1, 1.2]], "slow": [[2.0, 2.2]], "slowest": [[4.0]]}
    assert level(times) == {"fast": [[1.0, 1.0, 1.0]], "slow": [[2.0, 2.0]], "slowest": [[4.0]]}
    assert times["fast"] == [[1.0, 1.1, 1.2]]
