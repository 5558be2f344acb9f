"""What a kernel asks of its arguments, checked before anything is launched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlir_gemm.errors import ArgumentError
from mlir_gemm.pipeline.launch import Argument, Launch
from mlir_gemm.runtime.arrays import ITEM_BYTES, NAMES, View

ALIGNMENT = 16
"""Bytes: kernels move 128 bits in one access."""
WRITTEN = ("out", "inout")


def passed(launch: Launch) -> tuple[Argument, ...]:
    """The arguments that the caller passes, in order."""
    return tuple(argument for argument in launch.arguments if argument.role != "result")


def size_bytes(argument: Argument) -> int:
    """Bytes of an argument's memory."""
    size = ITEM_BYTES[argument.dtype]
    for extent in argument.shape:
        size *= extent
    return size


def label(index: int, argument: Argument) -> str:
    """How a message names an argument."""
    return f"argument {index} ('{argument.name}')"


def check_count(arrays: Sequence[Any], arguments: Sequence[Argument]) -> None:
    """Raises ArgumentError unless as many arrays are given as the function has arguments."""
    if len(arrays) == len(arguments):
        return
    wanted = ", ".join(f"{argument.name} ({_shown(argument.shape)} {argument.dtype})" for argument in arguments)
    plural = "" if len(arguments) == 1 else "s"
    message = f"{len(arrays)} given, the kernel takes {len(arguments)} argument{plural}: {wanted}"
    if len(arrays) > len(arguments):
        extra = f"argument {len(arguments)}: one too many; "
        raise ArgumentError(extra + message + " (results are returned, not passed)")
    raise ArgumentError(f"{label(len(arrays), arguments[len(arrays)])} is missing: {message}")


def check(views: Sequence[View], arguments: Sequence[Argument], ordinal: int) -> None:
    """Raises ArgumentError for the first argument that the kernel on GPU `ordinal` cannot take."""
    for index, (view, argument) in enumerate(zip(views, arguments, strict=True)):
        problem = _problem(view, argument, ordinal)
        if problem:
            raise ArgumentError(f"{label(index, argument)}: {problem}")
    first = overlap([view.pointer for view in views], written_pairs(arguments))
    if first:
        written, other = first
        raise ArgumentError(
            f"{label(written, arguments[written])}: it is written, and its memory overlaps that of "
            f"{label(other, arguments[other])}; give it memory of its own"
        )


def written_pairs(arguments: Sequence[Argument]) -> tuple[tuple[int, int, int, int], ...]:
    """Each pair of arguments of which the first is written: (index, bytes, other index, its bytes)."""
    sizes = [size_bytes(argument) for argument in arguments]
    return tuple(
        (index, sizes[index], other, sizes[other])
        for index, argument in enumerate(arguments)
        if argument.role in WRITTEN
        for other in range(len(arguments))
        if other != index
    )


def overlap(pointers: Sequence[int], pairs: Sequence[tuple[int, int, int, int]]) -> tuple[int, int] | None:
    """The first of the pairs whose memory overlaps."""
    for index, size, other, other_size in pairs:
        if pointers[index] < pointers[other] + other_size and pointers[other] < pointers[index] + size:
            return index, other
    return None


def well_placed(pointers: Sequence[int], pairs: Sequence[tuple[int, int, int, int]]) -> bool:
    """Whether memory of the right size at these addresses can be launched on: there, aligned, and not overlapping."""
    bits = 0
    for pointer in pointers:
        bits |= pointer
    return not bits % ALIGNMENT and 0 not in pointers and overlap(pointers, pairs) is None


def dense(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides, in elements, of dense row-major memory."""
    strides: list[int] = []
    step = 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))


def _problem(view: View, argument: Argument, ordinal: int) -> str | None:
    on_host = view.library == "numpy"
    if view.ordinal is None and not on_host:
        hint = f"; move it with .to('cuda:{ordinal}')" if view.library == "torch" else ""
        return f"its memory is on the CPU, the kernel runs on cuda:{ordinal}{hint}"
    if view.ordinal is not None and view.ordinal != ordinal:
        return f"its memory is on cuda:{view.ordinal}, the kernel runs on cuda:{ordinal}"
    if view.dtype != argument.dtype:
        given = NAMES.get(view.dtype, view.dtype)
        return f"{given} given, the kernel takes {NAMES[argument.dtype]} ({argument.dtype})"
    if view.shape != argument.shape:
        return f"shape {view.shape} given, the kernel takes {argument.shape}"
    wanted = dense(argument.shape)
    if view.strides is not None and any(
        extent > 1 and given != stride
        for extent, given, stride in zip(argument.shape, view.strides, wanted, strict=True)
    ):
        copy = {"torch": "; pass .contiguous()", "numpy": "; pass numpy.ascontiguousarray of it"}.get(view.library, "")
        return f"strides {view.strides} given (in elements), the kernel takes dense row-major memory, {wanted}{copy}"
    if argument.role in WRITTEN and not view.writable:
        return "the kernel writes it, and the array given is read-only"
    if on_host:
        return None  # it is copied, to memory that is aligned
    if not view.pointer:
        return "it has no memory (its address is 0)"
    if view.pointer % ALIGNMENT:
        return (
            f"its memory starts at {view.pointer:#x}, {view.pointer % ALIGNMENT} bytes past a multiple of {ALIGNMENT}; "
            f"the kernel needs {ALIGNMENT}-byte alignment: pass a copy"
        )
    return None


def _shown(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape))
