"""Compiles many kernels side by side, in processes that stay for the next ones."""

from __future__ import annotations

import multiprocessing
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

from mlir_gemm.bench.preparing import Work, compile_one, prepare


class Compilers:
    """Processes that compile into the cache on disk, where whoever measures finds the kernels."""

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        self._pool: ProcessPoolExecutor | None = None

    def compile(self, works: Sequence[Work]) -> list[str]:
        """For each kernel why it was refused; empty if it was not."""
        if self._pool is None:  # not forked: a process that has used CUDA must not be
            self._pool = ProcessPoolExecutor(self.jobs, multiprocessing.get_context("spawn"))
        try:
            return list(self._pool.map(compile_one, works))
        except BrokenProcessPool:  # LLVM ends the process at some faults: once more, so that it is known which
            self._pool = None
            return prepare(works, max(2, self.jobs), _silent)

    def close(self) -> None:
        """Ends the processes."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None


def _silent(done: int, total: int) -> None:
    pass
