"""A line of progress on stderr, where that is a terminal."""

from __future__ import annotations

import sys
import time

EVERY = 0.1
"""Seconds between two updates."""
WIDTH = 30


class Progress:
    """`progress(done, all)` draws a bar; leaving the `with` block wipes it."""

    def __init__(self, what: str) -> None:
        self.what = what
        self._shown = sys.stderr.isatty()
        self._start = self._last = time.monotonic()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self._write("")

    def __call__(self, done: int, total: int) -> None:
        """Shows that `done` of `total` are done."""
        now = time.monotonic()
        if now - self._last < EVERY and done < total:
            return
        self._last = now
        bar = "#" * (WIDTH * done // max(total, 1))
        left = (now - self._start) * (total - done) / max(done, 1)
        self._write(f"[{bar:<{WIDTH}}] {done}/{total} {self.what}, about {left:.0f} s left")

    def _write(self, text: str) -> None:
        if self._shown:
            sys.stderr.write(f"\r\x1b[K{text}")
            sys.stderr.flush()
