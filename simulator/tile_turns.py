"""Parts of a program that run in turn, each until it waits: the roles of a block, the blocks of a cluster.

A step is a plain function, so a part that waits keeps its place on a thread of its own. Only one runs at a time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import numpy as np

from mlir_gemm.simulator.errors import SimulationError


class _Cancelled(BaseException):
    """Ends a part whose run was given up."""


class _Part:
    """One part, and what it waits for."""

    def __init__(self, name: str, work: Callable[[], None]):
        self.name = name
        self.done = False
        self.error: BaseException | None = None
        self.ready: Callable[[], bool] | None = None
        self.what = ""
        self._cancelled = False
        self._mine, self._theirs = threading.Semaphore(0), threading.Semaphore(0)
        self._thread = threading.Thread(target=self._run, args=(work,), daemon=True)

    def go(self) -> None:
        """Lets the part run until it waits or ends."""
        self.ready = None
        if self._thread.ident is None:
            self._thread.start()
        else:
            self._mine.release()
        self._theirs.acquire()

    def pause(self, ready: Callable[[], bool], what: str) -> None:
        """Called by the part itself: waits."""
        self.ready, self.what = ready, what
        self._theirs.release()
        self._mine.acquire()
        if self._cancelled:
            raise _Cancelled

    def cancel(self) -> None:
        """Ends the part where it waits."""
        if self._thread.ident is not None and not self.done:
            self._cancelled = True
            self.go()

    def _run(self, work: Callable[[], None]) -> None:
        try:
            with np.errstate(all="ignore"):
                work()
        except _Cancelled:
            pass
        except BaseException as error:
            self.error = error
        self.done = True
        self._theirs.release()


class Turns:
    """Who runs, and who waits for what."""

    def __init__(self) -> None:
        self._parts: list[_Part] = []
        self._current: _Part | None = None

    def together(self, works: Sequence[tuple[str, Callable[[], None]]]) -> None:
        """Runs parts, by name, until all have ended. Raises what one of them raises, and SimulationError where all
        wait."""
        parts = [_Part(name, work) for name, work in works]
        self._parts += parts
        if self._current is not None:
            self.wait(lambda: all(part.done for part in parts), "its parts")
            return
        try:
            self._schedule()
        finally:
            rest, self._parts = self._parts, []
            for part in rest:
                part.cancel()

    def wait(self, ready: Callable[[], bool], what: str) -> None:
        """Lets others run until something is so. Raises SimulationError where nobody else is."""
        if ready():
            return
        part = self._current
        if part is None:
            raise SimulationError(f"deadlock: it waits for {what}, and nothing else runs")
        part.pause(ready, what)

    def _schedule(self) -> None:
        while live := [part for part in self._parts if not part.done]:
            moved = False
            for part in live:
                if part.ready is not None and not part.ready():
                    continue
                moved, self._current = True, part
                part.go()
                self._current = None
                if part.error is not None:
                    raise part.error
            if not moved:
                told = "; ".join(f"{part.name} waits for {part.what}" for part in live if part.what != "its parts")
                raise SimulationError(f"deadlock: {told}")
