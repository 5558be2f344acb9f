"""What measures schedules on a GPU: kernels that fault or hang, a GPU that disappears, compiling beside it. A process
stands in for the one with the GPU: there is none here."""

# ruff: noqa: F401 - fixtures are imported

from __future__ import annotations

import os
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest
from command_line import no_cache_on_disk
from test_tuner import SMALL_PROBLEM, Table, search, space

from mlir_gemm.bench.modules import module
from mlir_gemm.bench.problems import Problem as Case
from mlir_gemm.errors import Error
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.tile_model import tuned
from mlir_gemm.tuner.compiling import Compilers
from mlir_gemm.tuner.gpu import OnGpu, Wanted
from mlir_gemm.tuner.measuring import DONE, FAILED, Outcome
from mlir_gemm.tuner.study import Budget
from mlir_gemm.tuner.worker import Setup


def _fake(pipe: Connection, setup: Setup) -> None:
    """Takes 1 us for each stage; hangs with one stage more than asked, ends with two, faults with three."""
    pipe.send(("ready", None))
    while True:
        try:
            kind, (schedule, file), *_ = pipe.recv()
        except EOFError:
            return
        stages = int(Schedule.parse(schedule)["stages"])
        if kind == "compare":
            pipe.send(("answer", (1e-6, 2e-6)))
            continue
        assert tuned.read(file)[0]["schedule"] == schedule
        if stages == 3:
            time.sleep(600)
        if stages == 4:
            os._exit(7)
        if stages == 5:
            pipe.send(("fault", "CUDA_ERROR_ILLEGAL_ADDRESS"))
            return
        pipe.send(("answer", Outcome(DONE, 1e-6 * stages)))


def _no_start(pipe: Connection, setup: Setup) -> None:
    pipe.send(("fault", "no memory"))


def on_gpu(serve: Any = _fake, **more: Any) -> OnGpu:
    setup = Setup(module(Case("x", 1, 512, 768, "f16", "f16")), "sm_90a", loads=False)
    return OnGpu(setup, Wanted(SMALL_PROBLEM, "sm_90a", "H200"), Compilers(2), owned=True, serve=serve, **more)


def test_what_hangs_ends_or_faults_costs_a_trial():
    measurer = on_gpu(limit=2)
    try:
        assert measurer.measure("stages=2", "", 0.0).value == 2e-6
        hangs = measurer.measure("stages=3", "stages=2", 2e-6)
        assert (hangs.state, hangs.reason) == (FAILED, "hangs: it did not end within 2 s")
        ends = measurer.measure("stages=4", "stages=2", 2e-6)
        assert (ends.state, ends.reason) == (FAILED, "faults: the process that measured ended (exit status 7)")
        faults = measurer.measure("stages=5", "stages=2", 2e-6)
        assert (faults.state, faults.reason) == (FAILED, "faults: CUDA_ERROR_ILLEGAL_ADDRESS")
        assert measurer.measure("stages=1", "stages=2", 2e-6).state == DONE
        assert measurer.compare("stages=1", "stages=2") == (1e-6, 2e-6)
    finally:
        measurer.close()


def _gone(pipe: Connection, setup: Setup) -> None:
    """Measures one schedule; then the GPU is gone, and no process starts again."""
    marker = Path(os.environ["MLIR_GEMM_TEST_GONE"])
    if marker.exists():
        pipe.send(("fault", "CUDA_ERROR_NO_DEVICE"))
        return
    pipe.send(("ready", None))
    pipe.recv()
    pipe.send(("answer", Outcome(DONE, 1e-6)))
    pipe.recv()
    marker.write_text("")
    os._exit(1)


def test_a_gpu_that_disappears_is_an_error_and_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MLIR_GEMM_TEST_GONE", str(tmp_path / "gone"))
    measurer = on_gpu(_gone)
    monkeypatch.setattr(measurer, "prepare", lambda schedules: {})
    try:
        with pytest.raises(Error, match="CUDA_ERROR_NO_DEVICE"):
            search(tmp_path, measurer, "model").run(Budget(trials=9))
    finally:
        measurer.close()
    told = search(tmp_path, Table(space()), "model").trials()
    assert [trial.value for trial in told if trial.state.name == "COMPLETE"] == [1e-6]
    again = Table(space())
    assert search(tmp_path, again, "model").run(Budget(trials=9)).tried == 9
    assert 0 not in again.tried


def test_a_process_that_cannot_start_is_an_error():
    measurer = on_gpu(_no_start)
    with pytest.raises(Error, match="could not start: no memory"):
        measurer.measure("stages=2", "", 0.0)
    measurer.close()


def test_compiles_side_by_side_and_says_what_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MLIR_GEMM_CACHE", str(tmp_path))
    measurer = on_gpu()
    try:
        refused = measurer.prepare([space().trials[0].schedule, "stages=99"])
        assert list(refused) == ["stages=99"]
    finally:
        measurer.close()
    assert len(list(tmp_path.glob("*.json"))) == 1
