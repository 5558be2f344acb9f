"""What measurements so far say of schedules that were not tried: the model's prediction, corrected by its error nearby.

A Gaussian process over the coordinates of the space (Rasmussen and Williams, "Gaussian Processes for Machine
Learning", 2006, equations 2.25 and 2.26) whose mean is the predicted time: it learns the logarithm of measured by
predicted. Expected improvement is that of Jones, Schonlau and Welch (1998, equation 15), in logarithms of time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import erf, log, pi, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mlir_gemm.tuner.space import Space

NOISE = 0.01
"""Of a measured time, as a part of it."""
LEAST_SPREAD = 0.03
"""The least standard deviation of the model's error that is assumed: few measurements may agree by chance."""
REACH = 1.0
"""How far an error reaches, in standard deviations of the coordinates and for each of them alike."""
LOST = 0.5
"""The logarithm of how many times the predicted time a failed schedule counts as."""

Array = NDArray[np.float64]
_SQRT_2 = sqrt(2.0)


class Expectation:
    """What is expected of each schedule of a space."""

    def __init__(self, space: Space) -> None:
        self._points = _points(space)
        self._predicted: Array = np.log([trial.predicted for trial in space.trials])

    def improvements(self, measured: Mapping[int, float | None], running: Sequence[int] = ()) -> Array:
        """For each schedule of the space the expected decrease of the logarithm of the least time, if it were tried
        next; 0 for those that were. `measured` has the values so far by place, None where one failed. Those that are
        `running` are assumed to take what is expected of them."""
        count = len(self._predicted)
        known = {place: value for place, value in measured.items() if value is not None}
        if not known:
            return np.exp(self._predicted.min() - self._predicted)
        places = np.array(list(measured))
        logs = np.array([log(value) if value else np.nan for value in measured.values()])
        errors = logs - self._predicted[places]
        middle = float(np.nanmedian(errors))
        errors = np.where(np.isnan(errors), middle + LOST, errors)
        places = np.concatenate([places, np.array(running, dtype=places.dtype)])
        errors = np.concatenate([errors, np.full(len(running), middle)])
        spread = max(LEAST_SPREAD, float(np.std(errors)))
        covariance = spread**2 * self._near(places, places) + NOISE**2 * np.eye(len(places))
        across = spread**2 * self._near(np.arange(count), places)
        solved = np.linalg.solve(covariance, np.column_stack([errors - middle, across.T]))
        mean = self._predicted + middle + across @ solved[:, 0]
        variance = np.maximum(spread**2 - np.einsum("ij,ji->i", across, solved[:, 1:]), 1e-12)
        least = log(min(known.values()))
        found = _expected(least - mean, np.sqrt(variance))
        found[places] = 0.0
        return found

    def _near(self, some: Any, others: Any) -> Array:
        difference = self._points[some][:, None, :] - self._points[others][None, :, :]
        return np.exp(-0.5 * np.einsum("ijk,ijk->ij", difference, difference) / (REACH**2 * self._points.shape[1]))


def _expected(gain: Array, deviation: Array) -> Array:
    z = gain / deviation
    below = 0.5 * (1 + np.array([erf(each / _SQRT_2) for each in z]))
    return gain * below + deviation * np.exp(-0.5 * z * z) / sqrt(2 * pi)


def _points(space: Space) -> Array:
    """Coordinates as numbers with deviation 1: sizes by their logarithm, names as columns of their own."""
    columns: list[Sequence[float]] = [[0.0] * len(space.trials)]
    for name, values in space.axes.items():
        if any(isinstance(value, str) for value in values):
            columns += [[float(trial.at[name] == value) for trial in space.trials] for value in values]
        else:
            columns.append([log(1 + float(trial.at[name])) for trial in space.trials])
    points = np.array(columns, dtype=np.float64).T
    deviation = points.std(axis=0)
    return (points - points.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)
