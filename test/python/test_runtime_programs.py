"""Calls of programs on a driver that is a stand-in: order, workspace, constants, the short way, strided arguments."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from runtime_fakes import (
    TEXT,
    Compiler,
    DeviceLike,
    FakeDriver,
    FakeGpu,
    FakeTensor,
    Machine,
    aligned,
    memory,
)

import mlir_gemm
from mlir_gemm.errors import ArgumentError, DeviceError
from mlir_gemm.runtime import device
from mlir_gemm.spec.launch import Argument, Buffer, Constant, Launch, Step

M, N, K = 4, 8, 16
BIAS = np.arange(N, dtype=np.float32)
ONE = (1, 1, 1)
X, W = Argument("x", (M, K), "f32", "in"), Argument("w", (K, N), "f32", "in")
R = Argument("result0", (M, N), "f32", "result")
PROGRAM = Launch(
    arguments=(X, W, R),
    steps=(
        Step("scale", ONE, ONE, ONE, 0, (0, 3)),
        Step("multiply", ONE, ONE, ONE, 0, (3, 1, 4)),
        Step("nothing", (0, 1, 1), ONE, ONE, 0, (0,)),
        Step("bias", ONE, ONE, ONE, 0, (4, 5, 2)),
    ),
    buffers=(Buffer(0, 4 * M * K), Buffer(256, 4 * M * N)),
    constants=(Constant("constant_0", (N,), "f32", BIAS.tobytes()),),
    workspace_bytes=512,
)


def expected(x: Any, w: Any) -> Any:
    return (2 * x) @ w + BIAS


def scale(x: int, t: int) -> None:
    memory(t, (M, K), "f4")[...] = 2 * memory(x, (M, K), "f4")


def multiply(t: int, w: int, u: int) -> None:
    memory(u, (M, N), "f4")[...] = memory(t, (M, K), "f4") @ memory(w, (K, N), "f4")


def bias(u: int, constant: int, r: int) -> None:
    memory(r, (M, N), "f4")[...] = memory(u, (M, N), "f4") + memory(constant, (N,), "f4")


KERNELS: dict[str, Callable[..., None]] = {"scale": scale, "multiply": multiply, "bias": bias}


class Driver(FakeDriver):
    """Runs functions of Python on the addresses that the parameters point to."""

    def __init__(self, launch: Launch) -> None:
        super().__init__(launch)
        self.ran: list[tuple[str, int]] = []
        self.fails = ""

    def cuLaunchKernel(self, function: Any, *shape_and_rest: int) -> tuple[int]:  # noqa: N802
        *_, stream, parameters, _ = shape_and_rest
        if function == self.fails:
            return (701,)
        step = next(step for step in self.launch.steps if step.entry == function)
        slots = (ctypes.c_void_p * len(step.parameters)).from_address(parameters)
        values = [ctypes.c_uint64.from_address(slot or 0).value for slot in slots]
        self.perform(stream, lambda: KERNELS[function](*values))
        self.ran.append((function, stream))
        return (0,)


class Programs(Machine):
    """A machine that loads programs as the runtime does, constants included."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, launch: Launch) -> None:
        super().__init__(monkeypatch, launch)
        self.driver = Driver(launch)
        self.loaded = 0

    def load(self, ptx: str, launch: Launch, ordinal: int) -> device.LoadedKernel:
        self.loaded += 1
        gpu = FakeGpu(ordinal, self.driver, 0x1000)
        gpu.places = self.places
        addresses, owner = device._upload(gpu, launch.constants)
        functions = tuple(None if step.is_empty else step.entry for step in launch.steps)
        return device.LoadedKernel(gpu, functions, launch, addresses, owner)


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch, compiler: Compiler) -> Programs:
    compiler.launch = PROGRAM
    return Programs(monkeypatch, PROGRAM)


def inputs(seed: int = 0) -> tuple[Any, Any]:
    random = np.random.default_rng(seed)
    x, w = aligned((M, K), "f4"), aligned((K, N), "f4")
    x[...], w[...] = random.integers(-3, 4, x.shape), random.integers(-3, 4, w.shape)
    return x, w


def test_numpy_arrays_go_through_all_steps(programs: Programs) -> None:
    x, w = inputs()
    made = mlir_gemm.compile(TEXT, chip="sm_80")
    for stream in (0, 7):
        np.testing.assert_array_equal(made(x, w, stream=stream), expected(x, w))
    assert programs.driver.ran == [(name, stream) for stream in (0, 7) for name in ("scale", "multiply", "bias")]
    assert programs.loaded == 1


def test_arrays_of_unknown_libraries(programs: Programs) -> None:
    x, w = inputs()
    result = mlir_gemm.compile(TEXT, chip="sm_80")(DeviceLike(x), DeviceLike(w))
    got = memory(result.__cuda_array_interface__["data"][0], (M, N), "f4")
    np.testing.assert_array_equal(got, expected(x, w))


def test_tensors_take_the_short_way_with_a_workspace_of_their_stream(programs: Programs, torch: Any) -> None:
    sizes: list[int] = []
    kept: list[Any] = []  # what a capture has taken lives as long as its graph
    empty = torch.empty

    def counting(shape: Any, dtype: Any, device: Any) -> Any:
        sizes.append(int(np.prod(shape)))
        kept.append(empty(shape, dtype, device))
        return kept[-1]

    torch.empty = counting
    made = mlir_gemm.compile(TEXT, chip="sm_80")
    for call in range(6):
        x, w = inputs(call)
        torch.current = 5 + call % 2
        programs.driver.captures = {5: [], 6: []} if call == 5 else {}
        if call == 1:
            assert made._launcher.short is not None
            made._launcher._run = None  # type: ignore[assignment]  # the long way would fail now
        result = made(FakeTensor(x), FakeTensor(w))
        for work in programs.driver.captures.get(6, []):
            work()
        np.testing.assert_array_equal(result.array, expected(x, w))
    order = [5, 6, 5, 6, 5, 6]
    assert programs.driver.ran == [(name, stream) for stream in order for name in ("scale", "multiply", "bias")]
    assert sizes == [M * N, 512, *[M * N] * 4, M * N, 512], "the long way and a capture have memory of their own"
    assert len(programs.driver.allocated) == 2
    programs.driver.captures, programs.driver.fails = {}, "multiply"
    with pytest.raises(DeviceError, match="launching 'multiply'"):
        made(FakeTensor(x), FakeTensor(w))


def test_constants_are_uploaded_once_for_a_kernel_and_device(programs: Programs) -> None:
    uploads: list[int] = []
    upload = programs.driver.cuMemcpyHtoDAsync
    programs.driver.cuMemcpyHtoDAsync = lambda *all_: (uploads.append(all_[2]), upload(*all_))[1]  # type: ignore
    made = mlir_gemm.compile(TEXT, chip="sm_80")
    x, w = (DeviceLike(array) for array in inputs())
    for _ in range(3):
        made(x, w)
    assert uploads == [BIAS.nbytes]


def test_nothing_to_run(monkeypatch: pytest.MonkeyPatch, compiler: Compiler) -> None:
    compiler.launch = Launch((Argument("x", (0, K), "f32", "in"), Argument("result0", (0, N), "f32", "result")), ())
    machine = Programs(monkeypatch, compiler.launch)
    made = mlir_gemm.compile(TEXT, chip="sm_80")
    assert made(np.zeros((0, K), np.float32)).shape == (0, N)
    assert made(DeviceLike(np.zeros((0, K), np.float32), data=(0, False))).shape == (0, N)
    assert machine.driver.ran == []


# Strides and offsets.

STRIDED = Launch.of_kernel(
    "double",
    ONE,
    ONE,
    ONE,
    0,
    (
        Argument("a", (3, 1, 4), "f32", "in", (8, 100, 1), 4),
        Argument("d", (3, 4), "f32", "out", (8, 1), 0),
    ),
    (0, 1),
)


def double(a: int, d: int) -> None:
    given, taken = memory(a + 16, (20,), "f4"), memory(d, (20,), "f4")
    for row in range(3):
        taken[8 * row : 8 * row + 4] = 2 * given[8 * row : 8 * row + 4]


@pytest.fixture
def strided(monkeypatch: pytest.MonkeyPatch, compiler: Compiler) -> Programs:
    monkeypatch.setitem(KERNELS, "double", double)
    compiler.launch = STRIDED
    return Programs(monkeypatch, STRIDED)


def rows() -> tuple[Any, Any, Any]:
    """A matrix with a gap in each row, as both arguments; what is in the gaps must stay."""
    a, d = aligned((3, 8), "f4"), aligned((3, 8), "f4")
    a[...], d[...] = np.arange(24).reshape(3, 8), -1
    return a, d, 2 * a[:, 4:]


@pytest.mark.parametrize("wrap", [DeviceLike, lambda array: array])
def test_the_address_passed_is_that_of_the_first_element_less_the_offset(strided: Programs, wrap: Any) -> None:
    a, d, wanted = rows()
    mlir_gemm.compile(TEXT, chip="sm_80")(wrap(a[:, None, 4:]), wrap(d[:, :4]))
    np.testing.assert_array_equal(d[:, :4], wanted)
    assert (d[:, 4:] == -1).all()


def test_strided_tensors_take_the_short_way(strided: Programs, torch: Any) -> None:
    a, d, wanted = rows()
    made = mlir_gemm.compile(TEXT, chip="sm_80")
    for call in range(3):
        d[...] = -1
        made(FakeTensor(a[:, None, 4:]), FakeTensor(d[:, :4]))
        np.testing.assert_array_equal(d[:, :4], wanted)
        if call == 0:
            made._launcher._run = None  # type: ignore[assignment]
    with pytest.raises(ArgumentError, match=r"argument 1 \('d'\): strides \(4, 1\) given .* takes \(8, 1\)"):
        made(FakeTensor(a[:, None, 4:]), FakeTensor(aligned((3, 4), "f4")))


def test_the_base_must_be_aligned(strided: Programs) -> None:
    a, d, _ = rows()
    with pytest.raises(ArgumentError, match=r"argument 0 \('a'\): .*less the offset of 4 elements.* 8 bytes past"):
        mlir_gemm.compile(TEXT, chip="sm_80")(DeviceLike(a[:, None, 2:6]), DeviceLike(d[:, :4]))


def test_arguments_in_one_anothers_gaps_do_not_overlap(strided: Programs) -> None:
    made = mlir_gemm.compile(TEXT, chip="sm_80")
    a, _, wanted = rows()
    made(DeviceLike(a[:, None, 4:]), DeviceLike(a[:, :4]))
    np.testing.assert_array_equal(a[:, :4], wanted)
    joined = aligned((3, 8), "f4")
    with pytest.raises(ArgumentError, match=r"overlaps that of argument 0 \('a'\)"):
        made(DeviceLike(joined[:, None, :4]), DeviceLike(joined[:, :4]))
