"""Coroutines: parts of a program that run one at a time, each until it waits, such as the roles of a block and the
blocks of a cluster.

A step is a plain function, so a coroutine that waits keeps its place on a thread of its own. Only one runs at a time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import numpy as np

from mlir_gemm.simulator.errors import SimulationError


class _Cancelled(BaseException):
    """Ends a coroutine whose run was given up."""


class _Coroutine:
    """One coroutine, and what it waits for."""

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
        """Lets the coroutine run until it waits or ends."""
        self.ready = None
        if self._thread.ident is None:
            self._thread.start()
        else:
            self._mine.release()
        self._theirs.acquire()

    def pause(self, ready: Callable[[], bool], what: str) -> None:
        """Called by the coroutine itself: waits."""
        self.ready, self.what = ready, what
        self._theirs.release()
        self._mine.acquire()
        if self._cancelled:
            raise _Cancelled

    def cancel(self) -> None:
        """Ends the coroutine where it waits."""
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


class Coroutines:
    """Who runs, and who waits for what."""

    def __init__(self) -> None:
        self._running: list[_Coroutine] = []
        self._current: _Coroutine | None = None

    def together(self, works: Sequence[tuple[str, Callable[[], None]]]) -> None:
        """Runs coroutines, by name, until all have ended. Raises what one of them raises, and SimulationError where all
        wait."""
        started = [_Coroutine(name, work) for name, work in works]
        self._running += started
        if self._current is not None:
            self.wait(lambda: all(each.done for each in started), "what it started")
            return
        try:
            self._schedule()
        finally:
            rest, self._running = self._running, []
            for each in rest:
                each.cancel()

    def wait(self, ready: Callable[[], bool], what: str) -> None:
        """Lets others run until something is so. Raises SimulationError where nobody else is."""
        if ready():
            return
        current = self._current
        if current is None:
            raise SimulationError(f"deadlock: it waits for {what}, and nothing else runs")
        current.pause(ready, what)

    def _schedule(self) -> None:
        while live := [each for each in self._running if not each.done]:
            moved = False
            for each in live:
                if each.ready is not None and not each.ready():
                    continue
                moved, self._current = True, each
                each.go()
                self._current = None
                if each.error is not None:
                    raise each.error
            if not moved:
                told = "; ".join(
                    f"{each.name} waits for {each.what}" for each in live if each.what != "what it started"
                )
                raise SimulationError(f"deadlock: {told}")
