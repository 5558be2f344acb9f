"""What a kernel asks of its arguments, checked before anything is launched."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Sequence

from mlir_gemm.errors import ArgumentError, Error
from mlir_gemm.runtime.arrays import View
from mlir_gemm.spec.binding import label, said
from mlir_gemm.spec.element_types import NAMES, UNSIGNED_BYTE, accepts
from mlir_gemm.spec.launch import Argument, dense

ALIGNMENT = 16
"""Bytes: kernels move 128 bits in one access."""
WRITTEN = ("out", "inout")
_COPIES = {
    "torch": "; pass .contiguous()",
    "numpy": "; pass numpy.ascontiguousarray of it",
    "cupy": "; pass cupy.ascontiguousarray of it",
}
"""How a library makes a dense copy."""


@contextlib.contextmanager
def about(index: int, argument: Argument) -> Generator[None]:
    """Names the argument in an ArgumentError, and makes one of whatever the library of an array raises."""
    try:
        yield
    except ArgumentError as problem:
        raise ArgumentError(f"{label(index, argument)}: {problem.message}") from None
    except Error:
        raise
    except Exception as problem:
        reason = " ".join(str(problem).split()) or type(problem).__name__
        raise ArgumentError(f"{label(index, argument)}: its memory cannot be read: {reason}") from None


def check(
    views: Sequence[View],
    arguments: Sequence[Argument],
    ordinal: int,
    libraries: Sequence[str | None] | None = None,
    places: Sequence[int] | None = None,
) -> None:
    """Raises ArgumentError for the first argument that the kernel on GPU `ordinal` cannot take. `libraries` are those
    of the caller's arrays, where a view comes from another library; `places` are the positions of the arguments among
    all that the caller gives, where some are numbers."""
    given = libraries if libraries is not None else [view.library for view in views]
    at = places if places is not None else range(len(views))
    for index, (view, argument, library) in enumerate(zip(views, arguments, given, strict=True)):
        problem = _problem(view, argument, ordinal, _COPIES.get(library or "", ""))
        if problem:
            raise ArgumentError(f"{label(at[index], argument)}: {problem}")
    found = overlaps([view.pointer for view in views], written_pairs(arguments))
    first = next(((a, b) for a, b in found if not interleaved(views, arguments, a, b)), None)
    if first:
        written, other = first
        raise ArgumentError(
            f"{label(at[written], arguments[written])}: it is written, and its memory overlaps that of "
            f"{label(at[other], arguments[other])}; give it memory of its own"
        )


def written_pairs(arguments: Sequence[Argument]) -> tuple[tuple[int, int, int, int], ...]:
    """Each pair of arguments whose first is written: (index, bytes, other index, its bytes), gaps included."""
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


def _problem(view: View, argument: Argument, ordinal: int, copy: str) -> str | None:
    on_host = view.library == "numpy"
    if view.ordinal is None and not on_host:
        hint = f"; move it with .to('cuda:{ordinal}')" if view.library == "torch" else ""
        return f"its memory is on the CPU, the kernel runs on cuda:{ordinal}{hint}"
    if view.ordinal is not None and view.ordinal != ordinal:
        hint = f"; move it with .to('cuda:{ordinal}')" if view.library == "torch" else ""
        return f"its memory is on cuda:{view.ordinal}, the kernel runs on cuda:{ordinal}{hint}"
    if not accepts(argument.dtype, view.dtype):
        given = NAMES.get(view.dtype, view.dtype)
        wanted = NAMES[argument.dtype] + (f" or {NAMES[UNSIGNED_BYTE]}" if argument.dtype == "i8" else "")
        return f"{given} given, the kernel takes {wanted} ({argument.dtype})"
    if view.shape != argument.shape:
        differ = [axis for axis, pair in enumerate(zip(view.shape, argument.shape, strict=False)) if pair[0] != pair[1]]
        program = said(argument, differ[0]) if differ and len(view.shape) == len(argument.shape) else ""
        return f"{program}shape {view.shape} given, the kernel takes {argument.shape}"
    given_strides = view.strides if view.strides is not None else dense(view.shape)
    if not strides_fit(argument, given_strides):
        if argument.strides is not None:
            return f"strides {given_strides} given (in elements), the kernel takes {argument.strides}"
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
