"""The predicted cost of a schedule, by the formula of the operation that multiplies."""

from __future__ import annotations

from mlir_gemm.parts.prediction import Prediction
from mlir_gemm.parts.registry import mma_of
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target


def estimate(problem: Problem, schedule: Schedule, target: Target) -> Prediction:
    """The predicted cost of a legal schedule. On an illegal one the figures mean nothing. Tiles that reach over an edge
    count whole."""
    return mma_of(schedule).family.estimate(problem, schedule, target)
