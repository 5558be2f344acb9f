"""What measurements so far say of schedules that were not tried: the model's prediction, corrected by its error nearby.

A Gaussian process (Rasmussen and Williams, "Gaussian Processes for Machine Learning", 2006, equations 2.25 and 2.26)
whose mean is the predicted time: it learns the logarithm of measured by predicted. Two schedules have their error in
common as far as the same terms of the cost make up their predicted times, as their tiles are alike, and as they take
the same ways (main loop, cluster, division of k). Expected improvement is that of Jones, Schonlau and Welch (1998,
equation 15), in logarithms of time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import erf, log, log2, pi, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mlir_gemm.tuner.space import Trial

# Fitted by marginal likelihood to the model's errors in 1,736 kernels of 48 problems that were measured on an H200
# (sweeps of bench/results, half of their problems), then rounded; of the other half it explains as much. Each row is a
# standard deviation of the logarithm of the error, and how far it reaches.
TERMS = (0.16, 0.25)
"""By the parts that the terms of the cost are of the predicted time. Most of what errors have in common is here."""
TILE = (0.05, 4.0)
"""By the sizes of tiles, in powers of two."""
WAYS = (0.05, 1.0)
SMALL = (0.02, 0.4)
ALL = 0.05
"""What schedules have in common that are near in tile, ways and small fields."""
COMMON = 0.15
"""The error that all schedules of a product have in common."""
OWN = 0.02
"""What each schedule has of its own, and the noise of measuring."""
BELIEVED = 8
"""Measurements that it takes until their errors count as much as the assumed deviations."""
LOST = 0.5
"""The logarithm of how many times the predicted time a failed schedule counts as, beyond what others take."""

_TILE_FIELDS = ("block_m", "block_n", "block_k", "warp_m", "warp_n", "warp_k")
_WAYS_FIELDS = (
    "mma", "mainloop", "swap_ab", "ping_pong", "persistent", "stream_k", "split_k_cluster", "cluster_m", "cluster_n",
)  # fmt: skip
_SMALL_FIELDS = (
    "stages", "throttle", "interleave", "early", "early_trigger", "raster", "raster_group", "pad", "pad_b", "unroll_by",
    "tiles_per_block", "sequential_tiles", "layouts", "promote", "promote_a", "promote_b", "promote_c",
    "promote_result", "fragments_ahead",
)  # fmt: skip
_APART = sqrt(0.5)
"""The coordinate of a name among others, so that two names are 1 apart."""

Array = NDArray[np.float64]


class Expectation:
    """What is expected of each schedule of a space."""

    def __init__(self, trials: Sequence[Trial]) -> None:
        self._predicted: Array = np.log([trial.predicted for trial in trials])
        terms = sorted({term for trial in trials for term in trial.shares})
        self._terms: Array = np.array([[trial.shares.get(term, 0.0) for term in terms] for trial in trials])
        self._tile, self._ways, self._small = (
            _columns(trials, fields) for fields in (_TILE_FIELDS, _WAYS_FIELDS, _SMALL_FIELDS)
        )
        self._known: dict[int, Array] = {}

    def improvements(self, measured: Mapping[int, float | None], running: Sequence[int] = ()) -> Array:
        """For each schedule of the space the expected decrease of the logarithm of the least time, if it were tried
        next; 0 for those that were. `measured` has the values so far by place, None where one failed. Those that are
        `running` are expected to take what is expected of them, and nothing new is to be learned there."""
        if not measured and not running:
            return np.exp(self._predicted.min() - self._predicted)
        places = np.array([*measured, *running])
        across = np.array([self._covariances(place) for place in places])
        covariance = across[:, places] + OWN**2 * np.eye(len(places))
        deviation, least, mean = 1.0, float(self._predicted[places].min()), self._predicted
        if measured:
            errors = self._errors(measured)
            count = len(errors)
            solved = np.linalg.solve(covariance[:count, :count], errors)
            mean = mean + across[:count].T @ solved
            deviation = (BELIEVED + float(errors @ solved)) / (BELIEVED + count)
            least = min((log(value) for value in measured.values() if value), default=float(mean.min()))
        whole = TERMS[0] ** 2 + TILE[0] ** 2 + WAYS[0] ** 2 + SMALL[0] ** 2 + ALL**2 + COMMON**2
        explained = np.einsum("ij,ij->j", across, np.linalg.solve(covariance, across))
        variance = deviation * np.maximum(whole - explained, 1e-8)
        found = _expected(least - mean, np.sqrt(variance))
        found[places] = 0.0
        return found

    def _errors(self, measured: Mapping[int, float | None]) -> Array:
        """The logarithms of measured by predicted times."""
        logs = np.array([log(value) if value else np.nan for value in measured.values()])
        errors = logs - self._predicted[list(measured)]
        middle = 0.0 if np.isnan(errors).all() else float(np.nanmedian(errors))
        return np.where(np.isnan(errors), middle + LOST, errors)

    def _covariances(self, place: int) -> Array:
        """Of the error of one schedule with those of all."""
        if place not in self._known:
            tile, ways, small, terms = (
                np.square(points - points[place]).sum(axis=1) / (2 * reach**2)
                for points, (_, reach) in (
                    (self._tile, TILE), (self._ways, WAYS), (self._small, (0, 2 * SMALL[1])), (self._terms, TERMS),
                )
            )  # fmt: skip
            self._known[place] = (
                TERMS[0] ** 2 * np.exp(-terms) + TILE[0] ** 2 * np.exp(-tile) + WAYS[0] ** 2 * np.exp(-ways)
                + SMALL[0] ** 2 * np.exp(-4 * small) + ALL**2 * np.exp(-tile - ways - small) + COMMON**2
            )  # fmt: skip
        return self._known[place]


def _expected(gain: Array, deviation: Array) -> Array:
    z = gain / deviation
    below = 0.5 * (1 + np.array([erf(each / sqrt(2.0)) for each in z]))
    return gain * below + deviation * np.exp(-0.5 * z * z) / sqrt(2 * pi)


def _columns(trials: Sequence[Trial], fields: Sequence[str]) -> Array:
    """Coordinates of schedules: sizes by their logarithm, names as columns of their own."""
    columns: list[Sequence[float]] = [[0.0] * len(trials)]
    for name in fields:
        values: list[Any] = [trial.at[name] for trial in trials]
        if any(isinstance(value, str) for value in values):
            columns += [[_APART * (value == each) for value in values] for each in sorted(set(values))]
        elif max(values) <= 1:
            columns.append([float(value) for value in values])
        else:
            columns.append([log2(max(value, 1)) for value in values])
    return np.array(columns, dtype=np.float64).T
