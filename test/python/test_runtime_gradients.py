"""No gradient is lost, and no tensor is read whose memory does not hold its values: such arguments are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from runtime_fakes import TEXT, Compiler, FakeTensor, Machine, operands, product

import mlir_gemm
from mlir_gemm.errors import ArgumentError
from mlir_gemm.runtime.simulated import SimulatorLauncher

GRADIENT = r"argument 1 \('B'\): it needs a gradient.*torch\.no_grad\(\).*\.detach\(\).*torch\.autograd\.Function"
PENDING = r"argument 1 \('B'\): a tensor with a pending negation or conjugate"


def _kernel(warm: bool) -> mlir_gemm.Kernel:
    """A kernel; `warm` if it has taken the short way before."""
    made = mlir_gemm.compile(TEXT, chip="sm_80")
    if warm:
        for _ in range(2):
            made(*map(FakeTensor, operands()))
    return made


@pytest.mark.parametrize("warm", [False, True])
def test_an_argument_that_needs_a_gradient_is_refused(
    compiler: Compiler, machine: Machine, torch: Any, warm: bool
) -> None:
    made = _kernel(warm)
    launches = len(machine.driver.launches)
    a, b, c = operands()
    given = FakeTensor(a), FakeTensor(b, requires_grad=True), FakeTensor(c)
    for stream in (None, 3):
        with pytest.raises(ArgumentError, match=GRADIENT):
            made(*given, stream=stream)
    assert len(machine.driver.launches) == launches
    torch.grad_mode = False  # torch.no_grad(), torch.inference_mode(), and forward of a torch.autograd.Function
    expected = c + product(a, b)
    made(*given)
    np.testing.assert_array_equal(c, expected)


def test_weights_without_grad_mode_take_the_short_way(compiler: Compiler, machine: Machine, torch: Any) -> None:
    made = _kernel(warm=True)
    torch.grad_mode = False
    made._launcher._run = None  # type: ignore[assignment]  # the long way would fail
    a, b, c = operands()
    made(FakeTensor(a), FakeTensor(b, requires_grad=True), FakeTensor(c))


@pytest.mark.parametrize("warm", [False, True])
def test_a_tangent_of_forward_mode_is_refused(compiler: Compiler, machine: Machine, torch: Any, warm: bool) -> None:
    made = _kernel(warm)
    a, b, c = operands()
    given = FakeTensor(a), FakeTensor(b, tangent=FakeTensor(b)), FakeTensor(c)
    torch.autograd.forward_ad._current_level = 0
    with pytest.raises(ArgumentError, match=GRADIENT):
        made(*given)
    made(FakeTensor(a), FakeTensor(b), FakeTensor(c))
    torch.autograd.forward_ad._current_level = -1
    made(*given)


@pytest.mark.parametrize("grad_mode", [False, True])
@pytest.mark.parametrize("warm", [False, True])
def test_negated_and_conjugated_tensors_are_refused(
    compiler: Compiler, machine: Machine, torch: Any, warm: bool, grad_mode: bool
) -> None:
    made = _kernel(warm)
    torch.grad_mode = grad_mode
    a, b, c = operands()
    conjugated = FakeTensor(b.astype("f8"))  # complex, so of another type
    conjugated.is_conj = lambda: True  # type: ignore[method-assign]
    for wrong in (FakeTensor(b, negated=True), conjugated):
        with pytest.raises(ArgumentError, match=PENDING):
            made(FakeTensor(a), wrong, FakeTensor(c))


class Unwilling:
    """An array that raises when its memory is asked for, as PyTorch's tensors with a gradient do."""

    shape = (16, 48)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        raise RuntimeError("Can't get __cuda_array_interface__ on\nVariable that requires grad")


class UnwillingExporter:
    shape = (16, 48)

    def __init__(self, kind: int) -> None:
        self.kind = kind

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.kind, 0

    def __dlpack__(self, **_: Any) -> Any:
        raise BufferError("Can't export tensors that require gradient")


def test_arrays_that_do_not_show_their_memory(compiler: Compiler, machine: Machine, torch: Any) -> None:
    a, _, c = operands()
    for device, wrong, reason in [
        ("auto", Unwilling(), "Can't get __cuda_array_interface__ on Variable that requires grad"),
        ("auto", UnwillingExporter(2), "Can't export tensors that require gradient"),
        ("simulator", UnwillingExporter(1), "Can't export tensors that require gradient"),
    ]:
        with pytest.raises(ArgumentError, match=rf"argument 1 \('B'\): its memory cannot be read: {reason}"):
            mlir_gemm.compile(TEXT, chip="sm_80", device=device)(a, wrong, c)


class HostTensor(FakeTensor):
    """A tensor of the CPU."""

    device = "cpu"

    def detach(self) -> FakeTensor:
        return self

    def numpy(self) -> Any:
        assert not self.negated
        return self.array


def test_the_simulator_refuses_the_same(compiler: Compiler, torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SimulatorLauncher, "_simulate", lambda *_, **__: None)
    made = mlir_gemm.compile(TEXT, chip="sm_80", device="simulator")
    a, b, c = operands()
    weight, negated = HostTensor(b, -1, requires_grad=True), HostTensor(b, -1, negated=True)
    with pytest.raises(ArgumentError, match=GRADIENT):
        made(HostTensor(a, -1), weight, HostTensor(c, -1))
    torch.grad_mode = False
    assert made(HostTensor(a, -1), weight, HostTensor(c, -1)) is None
    with pytest.raises(ArgumentError, match=PENDING):
        made(HostTensor(a, -1), negated, HostTensor(c, -1))
