"""All kernels of a run compiled and loaded ahead, by several processes: the GPU's time is for measuring.

Results are shared through two caches on disk: ours for the PTX, the driver's for the machine code.
"""

from __future__ import annotations

import multiprocessing
import os
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass

from mlir_gemm.bench.modules import module
from mlir_gemm.bench.problems import Problem
from mlir_gemm.errors import Error
from mlir_gemm.runtime import cache


@dataclass(frozen=True)
class Work:
    """One kernel to compile."""

    problem: Problem | str
    """A product, or the MLIR of anything else."""
    chip: str
    schedule: str
    """All fields to fix."""
    load: bool = True
    """Give it to the driver's compiler too."""
    debug_info: str | None = None
    """As for `mlir_gemm.compile`."""
    tuned: str = ""
    """The same."""
    entry: str = ""
    """The same."""


def prepare(works: Sequence[Work], jobs: int, progress: Callable[[int, int], None]) -> list[str]:
    """Compiles everything; for each the reason why it was refused, empty if it was not."""
    if jobs == 1:
        found: list[str] = []
        for work in works:
            found.append(compile_one(work))
            progress(len(found), len(works))
        return found
    reasons: dict[int, str] = {}
    with _pool(min(jobs, max(len(works), 1))) as pool:
        futures = {pool.submit(compile_one, work): number for number, work in enumerate(works)}
        for future in as_completed(futures):
            # LLVM ends the process at some faults, and the pool with it: what it takes along is tried again below.
            with suppress(BrokenProcessPool):
                reasons[futures[future]] = future.result()
                progress(len(reasons), len(works))
    for number in range(len(works)):
        if number not in reasons:
            reasons[number] = _alone(works[number])
            progress(len(reasons), len(works))
    return [reasons[number] for number in range(len(works))]


def _pool(jobs: int) -> ProcessPoolExecutor:
    # Not forked: a process that has used CUDA must not be.
    return ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"))


def _alone(work: Work) -> str:
    """Compiles in a process of its own."""
    with _pool(1) as pool:
        try:
            return pool.submit(compile_one, work).result()
        except BrokenProcessPool:
            return "internal error: the process that compiles ended"


def compile_one(work: Work) -> str:
    """Compiles into the cache, and loads; why it is refused, empty if it is not."""
    import mlir_gemm

    try:
        source = work.problem if isinstance(work.problem, str) else module(work.problem)
        kernel = mlir_gemm.compile(
            source, chip=work.chip, schedule=work.schedule or None, debug_info=work.debug_info, tuned=work.tuned,
            entry=work.entry,
        )  # fmt: skip
        if work.load:
            kernel.load(0)
    except Error as error:
        return error.message
    except Exception as error:  # a fault of the compiler, to be reported with its problem
        return f"internal error: {type(error).__name__}: {error}"
    return ""


def shared_cache() -> AbstractContextManager[object]:
    """A temporary cache on disk, if the user has turned theirs off: processes share kernels through it."""
    if cache.cache_directory() is not None:
        return nullcontext()
    return _TemporaryCache()


class _TemporaryCache(AbstractContextManager[object]):
    def __enter__(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._before = os.environ.get(cache.VARIABLE)
        os.environ[cache.VARIABLE] = self._folder.name

    def __exit__(self, *_: object) -> None:
        os.environ.pop(cache.VARIABLE, None)
        if self._before is not None:
            os.environ[cache.VARIABLE] = self._before
        self._folder.cleanup()
