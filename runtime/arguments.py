"""What a kernel asks of its arguments, checked before anything is launched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlir_gemm.errors import ArgumentError
from mlir_gemm.pipeline.element_types import NAMES, UNSIGNED_BYTE, accepts
from mlir_gemm.pipeline.launch import Argument, Launch, dense
from mlir_gemm.pipeline.sizes import Size, shown, symbols_of, value
from mlir_gemm.runtime.arrays import View

ALIGNMENT = 16
"""Bytes: kernels move 128 bits in one access."""
WRITTEN = ("out", "inout")


def passed(launch: Launch) -> tuple[Argument, ...]:
    """The arguments that the caller passes, in order."""
    return tuple(argument for argument in launch.arguments if argument.role != "result")


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


def bind(shapes: Sequence[Sequence[int]], launch: Launch) -> tuple[int, ...]:
    """The values of the launch's symbols, in their order, for arguments of these shapes: the first argument with a size
    gives it its value. Raises ArgumentError for shapes of another rank, and where sizes that must agree do not."""
    arguments = passed(launch)
    for index, (shape, argument) in enumerate(zip(shapes, arguments, strict=True)):
        if len(shape) != len(argument.shape):
            given = tuple(shape)
            raise ArgumentError(
                f"{label(index, argument)}: shape {given} given, the kernel takes ({_sizes(argument.shape)})"
            )
    values: list[int] = []
    for index, axis, factor in launch.binding:
        extent = int(shapes[index][axis])
        if extent % factor:
            raise ArgumentError(
                f"{label(index, arguments[index])}: its size {extent} in dimension {axis} must be a multiple of "
                f"{factor}; the kernel takes ({_sizes(arguments[index].shape)})"
            )
        values.append(extent // factor)
    known = dict(zip(launch.symbols, values, strict=True))
    places = dict(zip(launch.symbols, launch.binding, strict=True))
    for index, (shape, argument) in enumerate(zip(shapes, arguments, strict=True)):
        for axis, (size, given) in enumerate(zip(argument.shape, shape, strict=True)):
            if isinstance(size, int) or given == (wanted := value(size, known)):
                continue
            first, first_axis, _ = places[symbols_of(size)[0]]
            raise ArgumentError(
                f"{label(index, argument)}: its size {given} in dimension {axis} must be {wanted}, as follows from "
                f"{label(first, arguments[first])} with {shapes[first][first_axis]} in dimension {first_axis}; the "
                f"kernel takes ({_sizes(argument.shape)}) and ({_sizes(arguments[first].shape)})"
            )
    return tuple(values)


def check(views: Sequence[View], arguments: Sequence[Argument], ordinal: int) -> None:
    """Raises ArgumentError for the first argument that the kernel on GPU `ordinal` cannot take."""
    for index, (view, argument) in enumerate(zip(views, arguments, strict=True)):
        problem = _problem(view, argument, ordinal)
        if problem:
            raise ArgumentError(f"{label(index, argument)}: {problem}")
    found = overlaps([view.pointer for view in views], written_pairs(arguments))
    first = next(((a, b) for a, b in found if not interleaved(views, arguments, a, b)), None)
    if first:
        written, other = first
        raise ArgumentError(
            f"{label(written, arguments[written])}: it is written, and its memory overlaps that of "
            f"{label(other, arguments[other])}; give it memory of its own"
        )


def written_pairs(arguments: Sequence[Argument]) -> tuple[tuple[int, int, int, int], ...]:
    """Each pair of arguments of which the first is written: (index, bytes, other index, its bytes), gaps included."""
    sizes = [argument.span_bytes for argument in arguments]
    return tuple(
        (index, sizes[index], other, sizes[other])
        for index, argument in enumerate(arguments)
        if argument.role in WRITTEN
        for other in range(len(arguments))
        if other != index and sizes[index] and sizes[other]
    )


def overlaps(pointers: Sequence[int], pairs: Sequence[tuple[int, int, int, int]]) -> list[tuple[int, int]]:
    """The pairs whose memory overlaps, from the first to the last byte of each."""
    return [
        (index, other)
        for index, size, other, other_size in pairs
        if pointers[index] < pointers[other] + other_size and pointers[other] < pointers[index] + size
    ]


def interleaved(views: Sequence[View], arguments: Sequence[Argument], first: int, second: int) -> bool:
    """Whether two arguments lie beside each other in the rows of one matrix, so that each has only gaps where the other
    has elements: both have rows at the same distance, and their rows do not meet."""
    one, two = arguments[first], arguments[second]
    pitches = {_row_pitch(one), _row_pitch(two)}
    if len(pitches) != 1 or None in pitches:
        return False
    pitch = pitches.pop()
    assert pitch is not None
    apart = (views[second].pointer - views[first].pointer) % pitch
    return _row_bytes(one) <= apart and apart + _row_bytes(two) <= pitch


def _row_bytes(argument: Argument) -> int:
    return argument.item_bytes * argument.shape[-1]


def _row_pitch(argument: Argument) -> int | None:
    """Bytes from row to row, of which all other distances are multiples; None where there are no such rows."""
    strides = (
        [] if argument.strides is None else [s for n, s in zip(argument.shape, argument.strides, strict=True) if n > 1]
    )
    if len(strides) < 2 or strides[-1] != 1 or argument.shape[-1] == 1:
        return None
    pitch = strides[-2]
    if pitch < argument.shape[-1] or any(stride % pitch for stride in strides[:-1]):
        return None
    return pitch * argument.item_bytes


def well_placed(pointers: Sequence[int], bases: Sequence[int], pairs: Sequence[tuple[int, int, int, int]]) -> bool:
    """Whether arrays at these addresses, given to the kernel as `bases`, can be launched on: there, aligned, and not
    overlapping."""
    bits = 0
    for base in bases:
        bits |= base
    return not bits % ALIGNMENT and 0 not in pointers and not overlaps(pointers, pairs)


def strides_fit(argument: Argument, given: Sequence[float]) -> bool:
    """Whether an array with these strides lies as the kernel takes it. Strides along a dimension of size 1 are free."""
    if 0 in argument.shape:
        return True
    wanted = argument.strides if argument.strides is not None else dense(argument.shape)
    return all(
        extent == 1 or stride == expected
        for extent, stride, expected in zip(argument.shape, given, wanted, strict=True)
    )


def _problem(view: View, argument: Argument, ordinal: int) -> str | None:
    on_host = view.library == "numpy"
    if view.ordinal is None and not on_host:
        hint = f"; move it with .to('cuda:{ordinal}')" if view.library == "torch" else ""
        return f"its memory is on the CPU, the kernel runs on cuda:{ordinal}{hint}"
    if view.ordinal is not None and view.ordinal != ordinal:
        return f"its memory is on cuda:{view.ordinal}, the kernel runs on cuda:{ordinal}"
    if not accepts(argument.dtype, view.dtype):
        given = NAMES.get(view.dtype, view.dtype)
        wanted = NAMES[argument.dtype] + (f" or {NAMES[UNSIGNED_BYTE]}" if argument.dtype == "i8" else "")
        return f"{given} given, the kernel takes {wanted} ({argument.dtype})"
    if view.shape != argument.shape:
        return f"shape {view.shape} given, the kernel takes {argument.shape}"
    given_strides = view.strides if view.strides is not None else dense(view.shape)
    if not strides_fit(argument, given_strides):
        if argument.strides is not None:
            return f"strides {given_strides} given (in elements), the kernel takes {argument.strides}"
        copy = {"torch": "; pass .contiguous()", "numpy": "; pass numpy.ascontiguousarray of it"}.get(view.library, "")
        return (
            f"strides {view.strides} given (in elements), the kernel takes dense row-major memory, "
            f"{dense(argument.shape)}{copy}"
        )
    if argument.role in WRITTEN and not view.writable:
        return "the kernel writes it, and the array given is read-only"
    if on_host or 0 in argument.shape:
        return None  # it is copied, to memory that is aligned; or there is nothing to read or write
    if not view.pointer:
        return "it has no memory (its address is 0)"
    base = view.pointer - argument.shift_bytes
    if base % ALIGNMENT:
        before = f", less the offset of {argument.offset} elements that the kernel adds," if argument.offset else ""
        return (
            f"its memory starts at {view.pointer:#x}{before} {base % ALIGNMENT} bytes past a multiple of {ALIGNMENT}; "
            f"the kernel needs {ALIGNMENT}-byte alignment: pass a copy"
        )
    return None


def _shown(shape: tuple[Size, ...]) -> str:
    return "x".join(map(shown, shape))


def _sizes(shape: tuple[Size, ...]) -> str:
    return ", ".join(map(shown, shape)) + ("," if len(shape) == 1 else "")
