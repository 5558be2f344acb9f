"""Programs as one launch of a graph, on a driver that is a stand-in: when there is one, and what it holds."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from runtime_fakes import TEXT, Compiler, FakeTensor, aligned
from test_runtime_programs import PROGRAM, Programs, expected, inputs

import mlir_gemm
from mlir_gemm.runtime import graphs
from mlir_gemm.runtime.workspaces import Workspaces
from mlir_gemm.spec.launch import Argument, Launch

X, W, _ = PROGRAM.arguments
IN_PLACE = dataclasses.replace(PROGRAM, arguments=(X, W, Argument("r", PROGRAM.arguments[2].shape, "f32", "out")))
"""The same program into memory of the caller's: all addresses come back."""


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch, compiler: Compiler, torch: Any) -> Programs:
    compiler.launch = IN_PLACE
    return Programs(monkeypatch, IN_PLACE)


def called(made: Any, x: Any, w: Any, r: Any) -> None:
    r[...] = -1
    assert made(*map(FakeTensor, (x, w, r))) is None
    np.testing.assert_array_equal(r, expected(x, w))


def test_addresses_that_come_back_are_one_launch(programs: Programs, torch: Any) -> None:
    driver, made = programs.driver, mlir_gemm.compile(TEXT, chip="sm_80")
    x, w = inputs()
    r, other = aligned(IN_PLACE.arguments[2].shape, "f4"), aligned(IN_PLACE.arguments[2].shape, "f4")
    for call in range(9):
        called(made, x, w, r)
        x[...] += 1  # what memory holds is read anew
        assert len(driver.graph_launches) == max(0, call - graphs.SEEN_BEFORE)
    launched = len(driver.ran)
    called(made, x, w, other)
    assert len(driver.ran) == launched + 3, "other memory is other parameters"
    called(made, x, w, r)
    assert (len(driver.ran), len(driver.graph_launches)) == (launched + 3, 5)
    driver.captures = {torch.current: []}  # what the caller captures holds the kernels themselves
    made(*map(FakeTensor, (x, w, r)))
    assert len(driver.captures[torch.current]) == 3


def test_a_driver_that_makes_no_graph(programs: Programs) -> None:
    made, driver = mlir_gemm.compile(TEXT, chip="sm_80"), programs.driver
    driver.cuGraphInstantiate = lambda *_: (801, 0)
    (x, w), r = inputs(), aligned(IN_PLACE.arguments[2].shape, "f4")
    for _ in range(8):
        called(made, x, w, r)
    assert (len(driver.graphs), driver.graph_launches) == (1, []), "it is asked once"


def test_a_graph_that_the_driver_does_not_launch(programs: Programs) -> None:
    made, driver = mlir_gemm.compile(TEXT, chip="sm_80"), programs.driver
    (x, w), r = inputs(), aligned(IN_PLACE.arguments[2].shape, "f4")
    for _ in range(7):
        called(made, x, w, r)
    driver.status = 719
    with pytest.raises(mlir_gemm.DeviceError, match="launching the graph of 3 kernels on cuda:0 failed: CUDA_ERROR"):
        made(*map(FakeTensor, (x, w, r)))


def test_addresses_that_never_come_back_make_few_graphs(programs: Programs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graphs, "MOST_GRAPHS", 2)
    made, (x, w) = mlir_gemm.compile(TEXT, chip="sm_80"), inputs()
    results = [aligned(IN_PLACE.arguments[2].shape, "f4") for _ in range(3)]
    for _ in range(12):
        for r in results:
            called(made, x, w, r)
    assert len(programs.driver.graphs) == 3, "each once; then they must be seen four times as often"


@pytest.mark.parametrize(
    ("rows", "wish", "wanted"), [(64, "", True), (10**6, "", False), (10**6, "always", True), (64, "never", False)]
)
def test_graphs_are_for_short_kernels(monkeypatch: pytest.MonkeyPatch, rows: int, wish: str, wanted: bool) -> None:
    monkeypatch.setenv(graphs.VARIABLE, wish)
    launch = Launch((Argument("x", (rows, 64), "f32", "in"),), PROGRAM.steps)
    assert graphs.pays(launch, (), lambda: "sm_90a") is wanted
    assert not graphs.pays(dataclasses.replace(launch, steps=PROGRAM.steps[1:3]), (), lambda: "sm_90a")


def test_threads_on_one_stream_have_blocks_of_their_own(programs: Programs) -> None:
    blocks = Workspaces(programs.driver)
    one, two = blocks.take(300, 5), blocks.take(512, 5)
    assert one[0] != two[0] and one[1] == two[1] == 512
    blocks.give(one, 5)
    assert blocks.take(400, 5) == one
    blocks.give(one, 5)
    assert blocks.take(513, 5)[1] == 1024 and one[0] not in programs.driver.allocated
