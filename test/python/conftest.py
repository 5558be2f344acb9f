"""Fixtures that several files of tests use. Stand-ins are imported where they are needed: most tests need none.

Tests run in several processes: one thread of linear algebra in each, or they spend their time waiting for cores.

Each process holds all tests and the modules of the compiler, a million objects that live to the end. Looking for cycles
among them took 3 s while tests were collected, and a twentieth of the time of the tests: collection waits until all
tests are there, and leaves alone what was there then.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from runtime_fakes import Machine

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ["MLIR_GEMM_TUNED"] = "off"  # whatever this user has tuned
gc.disable()


def pytest_collection_finish() -> None:
    """All tests are known: from here on there is garbage."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    gc.enable()


@pytest.fixture
def compiler(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Any]:
    """A `Compiler` in the place of the real one, the test module's own if it has one; an empty cache."""
    from runtime_fakes import Compiler

    from mlir_gemm.runtime import cache, kernel

    fake = getattr(request.module, "Compiler", Compiler)()
    monkeypatch.setattr(kernel, "_compile_module", fake)
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "cache"))
    cache.forget()
    yield fake
    cache.forget()


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    """GPUs that run the product in place."""
    from runtime_fakes import IN_PLACE, Machine

    return Machine(monkeypatch, IN_PLACE)


@pytest.fixture
def returning(monkeypatch: pytest.MonkeyPatch) -> Machine:
    """GPUs that run the product that returns its result."""
    from runtime_fakes import RETURNING, Machine

    return Machine(monkeypatch, RETURNING)


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A stand-in of PyTorch, in its place."""
    from runtime_fakes import fake_torch

    module = fake_torch()
    monkeypatch.setitem(sys.modules, "torch", module)
    return module
