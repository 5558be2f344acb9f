"""What a search asks of whoever measures, and the predicted times that stand in where there is no GPU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from mlir_gemm.tuner.space import Space

OBJECTIVES = {
    "time": "seconds of a run, launches back to back",
    "cold": "seconds of a run after L2 has been overwritten",
    "energy": "joules of a run, launches back to back (NVML)",
    "compromise": "the geometric mean of time and energy",
}
"""What may be minimised, by name."""
DONE, PRUNED, FAILED = "done", "pruned", "failed"


@dataclass(frozen=True)
class Outcome:
    """What came of one schedule."""

    state: str
    """`done`, `pruned` (slow in its first repetitions) or `failed`."""
    value: float = 0.0
    """Of the objective; of a failed one 0."""
    reason: str = ""
    """Why it failed: it does not compile, is wrong, faults or hangs."""
    error: float = 0.0
    """The largest relative error of a result against float64, as a part of what is allowed."""


class Measurer(Protocol):
    """Compiles and measures schedules of one product."""

    measured: bool
    """Whether values are measured, rather than predicted."""

    def prepare(self, schedules: Sequence[str]) -> Mapping[str, str]:
        """Compiles schedules, side by side; why some are refused, by schedule."""
        ...

    def measure(self, schedule: str, best: str, best_value: float) -> Outcome:
        """Checks and measures a schedule beside the best so far, in turn; that one's value was `best_value`. Both are
        empty and 0 for the first."""
        ...

    def compare(self, schedule: str, other: str) -> tuple[float, float]:
        """The values of two schedules, measured once more in turn."""
        ...

    def close(self) -> None:
        """Ends what was started."""
        ...


class Predicted:
    """The model's predicted time in place of a measurement: nothing is compiled."""

    measured = False

    def __init__(self, space: Space) -> None:
        self._seconds = {trial.schedule: trial.predicted for trial in space.trials}

    def prepare(self, schedules: Sequence[str]) -> Mapping[str, str]:
        return {}

    def measure(self, schedule: str, best: str, best_value: float) -> Outcome:
        seconds = self._seconds[schedule]
        return Outcome(PRUNED if best and seconds > SLOW * best_value else DONE, seconds)

    def compare(self, schedule: str, other: str) -> tuple[float, float]:
        return self._seconds[schedule], self._seconds[other]

    def close(self) -> None:
        pass


SLOW = 1.3
"""How many times the best a schedule may take in its first repetitions, to be measured further."""
