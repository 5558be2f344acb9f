"""What a prediction is, whichever mma multiplies: seconds in all, and named terms that explain them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from mlir_gemm.spec.problem import Problem


@dataclass(frozen=True, slots=True)
class Prediction:
    """Predicted seconds. A subclass has a field for each term; the additive ones give the total, the overlapping ones
    are what the first additive one consists of."""

    OVERLAPPING: ClassVar[Mapping[str, str]] = {}
    """Terms that take place at the same time, with the words that `explain` prints."""
    ADDITIVE: ClassVar[Mapping[str, str]] = {}

    total: float = field(kw_only=True)

    @property
    def on_gpu(self) -> float:
        """Seconds without what launches from the host add, which is the same for all schedules and hides how short
        kernels differ: in a graph, or after other work, nobody waits for the host."""
        return self.total

    def tflops(self, problem: Problem) -> float:
        """TFLOP/s of the whole product at this cost."""
        return problem.flops / self.total * 1e-12

    def largest_increase(self, best: Prediction) -> tuple[str, float]:
        """The words of the term in which this exceeds `best` most, and by how many seconds; one of the overlapping
        terms where it is what they make together. Predictions of different mmas have no terms in common."""
        if type(self) is not type(best):
            return "another mma", self.total - best.total
        first = next(iter(self.ADDITIVE))
        term, more = self._increase(best, self.ADDITIVE)
        if term != first:
            return self.ADDITIVE[term], more
        part, most = self._increase(best, self.OVERLAPPING)
        return (self.OVERLAPPING[part], most) if most > 0 else (self.ADDITIVE[term], more)

    def _increase(self, best: Prediction, terms: Mapping[str, str]) -> tuple[str, float]:
        increases: dict[str, float] = {term: getattr(self, term) - getattr(best, term) for term in terms}
        term = max(increases, key=lambda name: increases[name])
        return term, increases[term]
