"""Where a kernel runs: `auto` is a GPU where there is one, else the simulator, in Python and on the command line."""

# ruff: noqa: F401, F811 - fixtures are imported

from __future__ import annotations

import sys
import types
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import no_cache_on_disk, run_main, small
from dynamic_products import ROWS
from runtime_fakes import TEXT, Compiler, Machine, operands, product

import mlir_gemm
from mlir_gemm.errors import ArgumentError, DeviceError
from mlir_gemm.runtime import auto, device


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent() -> Any:
        raise DeviceError("no driver")

    monkeypatch.setattr(device, "find_driver", absent)
    auto._say.cache_clear()


def test_auto_is_the_simulator_where_there_is_no_gpu_and_says_so_once(no_gpu: None):
    kernels = [mlir_gemm.compile(ROWS, chip="sm_80") for _ in range(2)]
    b = np.ones((16, 24), np.float16)
    with pytest.warns(RuntimeWarning, match="^no driver; with device='auto' kernels run on the simulator") as caught:
        for kernel in kernels:
            for rows in (3, 5):
                a = np.full((rows, 16), rows, np.float16)
                assert np.array_equal(kernel(a, b), np.full((rows, 24), 16 * rows))
    assert len(caught) == 1
    one = kernels[0].at(s0=3)
    assert "on auto" in repr(one) or "on simulator" in repr(one)
    with pytest.raises(DeviceError, match="no driver"):
        mlir_gemm.compile(ROWS, chip="sm_80", device="gpu")(np.ones((3, 16), np.float16), b)


def test_auto_is_the_gpu_where_there_is_one(compiler: Compiler, machine: Machine):
    made = mlir_gemm.compile(TEXT, chip="sm_80")
    assert "on auto" in repr(made)
    a, b, c = operands()
    expected = c + product(a, b)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made(a, b, c)
    assert np.array_equal(c, expected) and machine.driver.launches
    assert "on cuda:0" in repr(made)


def test_a_machine_that_shows_no_gpu_has_none(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(device, "find_driver", lambda: types.SimpleNamespace(cuDeviceGetCount=lambda: (0, 0)))
    assert "CUDA_VISIBLE_DEVICES" in auto.why_no_gpu()


def test_run_takes_the_simulator_where_there_is_no_gpu_and_says_so(
    no_gpu: None, small: Path, capsys: pytest.CaptureFixture[str]
):
    status, out, err = run_main(capsys, "run", small, "--no-check", "--blocks", "0")
    assert (status, err) == (0, "")  # asked for what only the simulator can do
    small.write_text(small.read_text().replace("256", "32"))
    status, out, err = run_main(capsys, "run", small)
    assert status == 0 and "simulated:" in out
    assert err == "note: no driver; --device auto takes the simulator then\n"
    assert run_main(capsys, "run", small, "--device", "simulator")[2] == ""


class Tensor:
    """What the simulator asks of a CPU tensor."""

    device, dtype, layout, requires_grad = "cpu", "torch.float16", "torch.strided", False

    def __init__(self, array: Any) -> None:
        self.array = array

    def is_neg(self) -> bool:
        return False

    is_conj = is_neg

    def detach(self) -> Tensor:
        return self

    def numpy(self) -> Any:
        return self.array


TORCH = types.SimpleNamespace(
    Tensor=Tensor,
    from_numpy=Tensor,
    is_grad_enabled=lambda: False,
    autograd=types.SimpleNamespace(forward_ad=types.SimpleNamespace()),
)


def test_a_tensor_that_is_not_dense_is_told_what_pytorch_has_for_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "torch", TORCH)
    kernel = mlir_gemm.compile(ROWS, chip="sm_80", device="simulator").at(s0=16)
    a, b = np.ones((16, 16), np.float16), np.ones((24, 16), np.float16).T
    with pytest.raises(ArgumentError, match=r"argument 1 \('b'\): strides \(1, 16\).*; pass \.contiguous\(\)$"):
        kernel(Tensor(a), Tensor(b))
    with pytest.raises(ArgumentError, match=r"pass numpy\.ascontiguousarray of it$"):
        kernel(a, b)
