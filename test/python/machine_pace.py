"""How fast this machine is just now: limits of time are for a known one, and grow where this one is slower."""

from __future__ import annotations

import time

REFERENCE = 0.010
"""Processor seconds that the loop below takes on the machine for which limits are written."""


def slower() -> float:
    """How many times as long as there a fixed loop takes here now; at least 1."""

    def once() -> float:
        start, total = time.process_time(), 0
        for number in range(300_000):
            total += number * number % 7
        return time.process_time() - start

    return max(1.0, min(once() for _ in range(3)) / REFERENCE)
