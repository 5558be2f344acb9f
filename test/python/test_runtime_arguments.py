"""What the runtime asks of its arguments, on a driver that is a stand-in."""

from __future__ import annotations

import types
from typing import Any

import numpy as np
import pytest
from runtime_fakes import TEXT, Compiler, DeviceLike, FakeTensor, K, M, Machine, N, aligned, operands

import mlir_gemm
from mlir_gemm.errors import ArgumentError

# Refusals. Each is tried on a fresh kernel and on one that has taken the short way before.


def _refused(machine: Machine, given: tuple[Any, ...], pattern: str, before: tuple[Any, ...] | None = None) -> None:
    made = mlir_gemm.compile(TEXT, chip="sm_80")
    if before is not None:
        made(*before)
    launches = len(machine.driver.launches)
    with pytest.raises(ArgumentError, match=pattern) as caught:
        made(*given)
    assert isinstance(caught.value, TypeError)
    assert len(machine.driver.launches) == launches


def test_the_number_of_arguments(compiler: Compiler, machine: Machine) -> None:
    a, b, c = operands()
    _refused(machine, (a, b), r"argument 2 \('C'\) is missing: 2 given, the kernel takes 3 arguments: A \(32x16 f16\)")
    _refused(machine, (a, b, c, c), r"argument 3: one too many; 4 given, the kernel takes 3")


@pytest.mark.parametrize("index", [0, 1, 2])
@pytest.mark.parametrize("value", [None, 3, [1.0], "text"])
def test_what_is_no_array(compiler: Compiler, machine: Machine, index: int, value: Any) -> None:
    given: list[Any] = list(operands())
    given[index] = value
    _refused(machine, tuple(given), rf"argument {index} \('{'ABC'[index]}'\): an? {type(value).__name__} given")


def _variants(wrap: Any) -> list[tuple[str, tuple[Any, ...], str]]:
    a, b, c = operands()
    skewed = aligned((K, N), "f2", offset=8)
    joined = aligned((M, N), "f4")
    inside = joined.view("f2").reshape(-1)[: K * N].reshape(K, N)
    return [
        ("shape", (a, wrap(aligned((K, N + 1), "f2")), c), r"argument 1 \('B'\): shape \(16, 49\) .* \(16, 48\)"),
        ("rank", (wrap(aligned((M * K,), "f2")), b, c), r"argument 0 \('A'\): shape \(512,\) given"),
        ("dtype", (a, wrap(aligned((K, N), "f4")), c), r"argument 1 \('B'\): float32 given.*float16 \(f16\)"),
        ("strides", (a, wrap(aligned((N, K), "f2").T), c), r"argument 1 \('B'\): strides \(1, 16\).*\(48, 1\)"),
        ("alignment", (a, wrap(skewed), c), r"argument 1 \('B'\): .*8 bytes past a multiple of 16"),
        (
            "overlap",
            (a, wrap(inside), wrap(joined)),
            r"argument 2 \('C'\): .*overlaps that of argument 1 \('B'\)",
        ),
    ]


def _wrapped(given: tuple[Any, ...], wrap: Any) -> tuple[Any, ...]:
    return tuple(wrap(x) if isinstance(x, np.ndarray) else x for x in given)


@pytest.mark.parametrize("name", ["shape", "rank", "dtype", "strides", "alignment", "overlap"])
@pytest.mark.parametrize("warm", [False, True])
@pytest.mark.parametrize("kind", ["torch", "interface", "numpy"])
def test_arrays_that_do_not_fit(
    compiler: Compiler, machine: Machine, torch: Any, kind: str, warm: bool, name: str
) -> None:
    wrap = {"torch": FakeTensor, "interface": DeviceLike, "numpy": lambda x: x}[kind]
    given, pattern = next((given, pattern) for found, given, pattern in _variants(wrap) if found == name)
    before = _wrapped(operands(), wrap) if warm else None
    if kind == "numpy" and name == "alignment":
        mlir_gemm.compile(TEXT, chip="sm_80")(*given)  # it is copied to memory that is aligned
        return
    _refused(machine, _wrapped(given, wrap), pattern, before)


@pytest.mark.parametrize("warm", [False, True])
def test_tensors_on_the_wrong_device(compiler: Compiler, machine: Machine, torch: Any, warm: bool) -> None:
    a, b, c = map(FakeTensor, operands())
    before = (a, b, c) if warm else None
    _refused(
        machine, (a, FakeTensor(b.array, where=-1), c), r"argument 1 \('B'\): .*on the CPU.*\.to\('cuda:0'\)", before
    )
    _refused(machine, (a, b, FakeTensor(c.array, where=1)), r"argument 2 \('C'\): .*on cuda:1.*runs on cuda:0", before)
    _refused(machine, (a, FakeTensor(b.array, negated=True), c), r"argument 1 \('B'\): .*pending negation", before)


def test_a_tensor_without_memory(compiler: Compiler, machine: Machine, torch: Any) -> None:
    a, b, c = map(FakeTensor, operands())
    empty = FakeTensor(b.array)
    empty.data_ptr = lambda: 0  # type: ignore[method-assign]
    _refused(machine, (a, empty, c), r"argument 1 \('B'\): it has no memory", before=(a, b, c))


def test_other_arrays_on_the_wrong_device(compiler: Compiler, machine: Machine) -> None:
    a, b, c = operands()
    machine.places = {b.ctypes.data: None}
    _refused(machine, (DeviceLike(a), DeviceLike(b), DeviceLike(c)), r"argument 1 \('B'\): its memory is on the CPU")
    machine.places = {b.ctypes.data: 1}
    _refused(machine, (DeviceLike(a), DeviceLike(b), DeviceLike(c)), r"argument 1 \('B'\): its memory is on cuda:1")
    exporter = types.SimpleNamespace(__dlpack__=None, __dlpack_device__=lambda: (1, 0))
    _refused(machine, (a, exporter, c), r"argument 1 \('B'\): its memory is on the CPU")


def test_auto_takes_the_gpu_of_the_first_array(compiler: Compiler, machine: Machine, torch: Any) -> None:
    made = mlir_gemm.compile(TEXT, chip="sm_80")
    made(*(FakeTensor(x, where=1) for x in operands()))
    assert "on cuda:1" in repr(made)


def test_arrays_that_may_not_be_written(compiler: Compiler, machine: Machine) -> None:
    a, b, c = operands()
    readonly = DeviceLike(c, data=(c.ctypes.data, True))
    _refused(machine, (DeviceLike(a), DeviceLike(b), readonly), r"argument 2 \('C'\): .*read-only")
    c.flags.writeable = False
    _refused(machine, (a, b, c), r"argument 2 \('C'\): .*read-only")
    swapped = a.astype(">f2")
    _refused(machine, (swapped, b, operands()[2]), r"argument 0 \('A'\): float16 with swapped bytes given")
    plain = np.ma.masked_array(a, mask=False)
    _refused(machine, (plain, b, operands()[2]), r"argument 0 \('A'\): an array with a mask")
    masked = DeviceLike(a, mask=DeviceLike(a))
    _refused(machine, (masked, DeviceLike(b), DeviceLike(operands()[2])), r"argument 0 \('A'\): an array with a mask")
