"""Kernels that no GPU was named for, on a machine with several: each call runs where its arguments are."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from runtime_fakes import RETURNING, TEXT, Compiler, DeviceLike, FakeTensor, M, Machine, N, aligned, operands, product

import mlir_gemm
from mlir_gemm.errors import ArgumentError

CONTEXT = 0x1000


def _tensors(where: int) -> tuple[FakeTensor, FakeTensor, FakeTensor]:
    a, b, c = (FakeTensor(x, where) for x in operands())
    return a, b, c


def test_a_kernel_runs_where_its_arguments_are(compiler: Compiler, machine: Machine, torch: Any) -> None:
    torch.elsewhere = {1: 11, 2: 12}  # each GPU has its own current stream
    made = mlir_gemm.compile(TEXT, chip="sm_80")
    for where in (1, 0, 1, 0, 2, 2, 1):
        a, b, c = _tensors(where)
        expected = c.array + product(a.array, b.array)
        made(a, b, c)
        np.testing.assert_array_equal(c.array, expected)
        assert machine.driver.launches[-1] == {0: 5, 1: 11, 2: 12}[where]
        assert machine.driver.places[-1] == (CONTEXT + where, f"function of cuda:{where}")
        assert machine.driver.context == CONTEXT  # the caller's, that of GPU 0
    assert machine.loads == [1, 0, 2]  # once on each
    assert "on cuda:0 and cuda:1 and cuda:2" in repr(made)


def test_every_gpu_has_a_short_way(compiler: Compiler, machine: Machine, torch: Any) -> None:
    made = mlir_gemm.compile(TEXT, chip="sm_80")
    for where in (0, 1):
        made(*_tensors(where))
    made._launcher._run = None  # type: ignore[assignment]  # the long way would fail now
    for current in (0, 1, 7):
        for where in (0, 1):
            machine.driver.context = CONTEXT + current
            made(*_tensors(where), stream=6)
            assert machine.driver.places[-1] == (CONTEXT + where, f"function of cuda:{where}")
            assert machine.driver.context == CONTEXT + current


def test_results_are_where_the_arguments_are(compiler: Compiler, returning: Machine, torch: Any) -> None:
    compiler.launch = RETURNING
    made = mlir_gemm.compile(TEXT, chip="sm_80")
    for where in (0, 1, 0, 1):
        a, b, _ = _tensors(where)
        result = made(a, b)
        assert result.where == where
        np.testing.assert_array_equal(result.array, product(a.array, b.array))


@pytest.mark.parametrize("warm", [False, True])
def test_arguments_on_several_gpus_are_refused(compiler: Compiler, machine: Machine, torch: Any, warm: bool) -> None:
    made = mlir_gemm.compile(TEXT, chip="sm_80")
    if warm:
        made(*_tensors(0)), made(*_tensors(1))
    launches = len(machine.driver.launches)
    a, b, c = operands()
    for one, other in ((0, 1), (1, 0)):
        message = rf"argument 2 \('C'\): its memory is on cuda:{other}, the kernel runs on cuda:{one}; move it"
        with pytest.raises(ArgumentError, match=message):
            made(FakeTensor(a, one), FakeTensor(b, one), FakeTensor(c, other))
        with pytest.raises(ArgumentError, match=r"argument 2 \('C'\): its memory is on the CPU"):
            made(FakeTensor(a, one), FakeTensor(b, one), FakeTensor(c, -1))
    assert len(machine.driver.launches) == launches


def test_a_gpu_that_was_named_is_kept_to(compiler: Compiler, machine: Machine, torch: Any) -> None:
    made = mlir_gemm.compile(TEXT, chip="sm_80", device="cuda:1")
    made(*_tensors(1))
    with pytest.raises(ArgumentError, match=r"argument 0 \('A'\): its memory is on cuda:0, the kernel runs on cuda:1"):
        made(*_tensors(0))
    made(*operands())
    assert machine.loads == [1] and "on cuda:1:" in repr(made)


def test_arrays_of_other_libraries_run_where_they_are(compiler: Compiler, machine: Machine) -> None:
    made = mlir_gemm.compile(TEXT, chip="sm_80")
    made(*operands())  # NumPy's go to the first GPU, whatever ran before
    for where in (1, 0):
        a, b, c = operands()
        expected = c + product(a, b)
        machine.places.update(dict.fromkeys((x.ctypes.data for x in (a, b, c)), where))
        made(a, DeviceLike(b), DeviceLike(c))
        np.testing.assert_array_equal(c, expected)
    made(*operands())
    assert [context - CONTEXT for context, _ in machine.driver.places] == [0, 1, 0, 0]


def test_a_tensor_after_other_arrays(compiler: Compiler, machine: Machine, torch: Any) -> None:
    made = mlir_gemm.compile(TEXT, chip="sm_80")
    for _ in range(2):
        for where in (1, 0):
            a, b, c = _tensors(where)
            made(a.array, b, c)  # NumPy's is copied to where the tensors are
            assert machine.driver.places[-1][0] == CONTEXT + where


def test_threads_on_different_gpus(compiler: Compiler, machine: Machine, torch: Any) -> None:
    made = mlir_gemm.compile(TEXT, chip="sm_80")
    driver = machine.driver
    own = threading.local()
    type(driver).context = property(  # every thread has its own, as in CUDA
        lambda self: getattr(own, "context", 0), lambda self, context: setattr(own, "context", context)
    )
    wrong: list[str] = []

    def work(where: int) -> None:
        for _ in range(50):
            a, b, _ = _tensors(where)
            c = FakeTensor(aligned((M, N), "f4"), where)
            made(a, b, c)
            if not np.array_equal(c.array, product(a.array, b.array)):
                wrong.append(f"cuda:{where}")

    threads = [threading.Thread(target=work, args=(where,)) for where in (0, 1, 0, 1)]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        del type(driver).context
    assert wrong == [] and len(driver.places) == 200
    assert all(function == f"function of cuda:{context - CONTEXT}" for context, function in driver.places)
