"""The error of the simulator itself: it met something that it cannot execute. What it finds wrong is a Finding."""

from __future__ import annotations

from typing import Any

from mlir_gemm.dialect.locations import location_of
from mlir_gemm.errors import Error


class SimulationError(Error):
    """The simulator does not know an operation, a type or a form of one: nothing is ever skipped."""


def unsupported(operation: Any, message: str) -> SimulationError:
    """A SimulationError at the place of `operation`, which it names."""
    return SimulationError(f"'{operation.operation.name}': {message}", location_of(operation))
