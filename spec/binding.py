"""The arguments that a caller passes, and the sizes that they tell: shapes only, no memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mlir_gemm.errors import ArgumentError
from mlir_gemm.spec.launch import Argument, Launch
from mlir_gemm.spec.sizes import Size, shown, symbols_of, value


def passed(launch: Launch) -> tuple[Argument, ...]:
    """The arguments that the caller passes, in order."""
    return tuple(argument for argument in launch.arguments if argument.role != "result")


def label(index: int, argument: Argument) -> str:
    """How a message names an argument."""
    return f"argument {index} ('{argument.name}')"


def said(argument: Argument, axis: int) -> str:
    """The program's own message about a size that does not agree, followed by ours."""
    return f"{argument.checks[axis]}: " if argument.checks and argument.checks[axis] else ""


def check_count(arrays: Sequence[Any], arguments: Sequence[Argument]) -> None:
    """Raises ArgumentError unless as many arrays are given as the function has arguments."""
    if len(arrays) == len(arguments):
        return
    wanted = ", ".join(map(_argument, arguments))
    plural = "" if len(arguments) == 1 else "s"
    message = f"{len(arrays)} given, the kernel takes {len(arguments)} argument{plural}: {wanted}"
    if len(arrays) > len(arguments):
        extra = f"argument {len(arguments)}: one too many; "
        raise ArgumentError(extra + message + " (results are returned, not passed)")
    raise ArgumentError(f"{label(len(arrays), arguments[len(arrays)])} is missing: {message}")


def in_order(arrays: Sequence[Any], by_name: Mapping[str, Any], arguments: Sequence[Argument]) -> tuple[Any, ...]:
    """The arrays of a call in the order of the arguments: those without a name are the first. Raises ArgumentError for
    a name that no argument has, or that has an array already; what is missing, `check_count` says."""
    names = [argument.name for argument in arguments]
    for name in by_name:
        if name not in names:
            raise ArgumentError(f"there is no argument '{name}'; the kernel takes {', '.join(names) or 'none'}")
        if names.index(name) < len(arrays):
            raise ArgumentError(f"{label(names.index(name), arguments[names.index(name)])} is given twice")
    missing = [name for name in names[len(arrays) :] if name not in by_name]
    if missing:
        raise ArgumentError(
            f"{label(names.index(missing[0]), arguments[names.index(missing[0])])} is missing: the kernel takes "
            f"{', '.join(names)}"
        )
    return (*arrays, *(by_name[name] for name in names[len(arrays) :]))


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
            if not isinstance(size, int) and given != (wanted := value(size, known)):
                first, first_axis, _ = places[symbols_of(size)[0]]
                raise ArgumentError(
                    f"{label(index, argument)}: {said(argument, axis)}its size {given} in dimension {axis} must be "
                    f"{wanted}, as follows from {label(first, arguments[first])} "
                    f"with {shapes[first][first_axis]} in dimension {first_axis}; the "
                    f"kernel takes ({_sizes(argument.shape)}) and ({_sizes(arguments[first].shape)})"
                )
            if axis < len(argument.least) and given < argument.least[axis]:
                raise ArgumentError(
                    f"{label(index, argument)}: its size {given} in dimension {axis} must be at least "
                    f"{argument.least[axis]}; the kernel takes ({_sizes(argument.shape)})"
                )
            if axis < len(argument.most) and 0 <= argument.most[axis] < given:
                raise ArgumentError(
                    f"{label(index, argument)}: its size {given} in dimension {axis} must be at most "
                    f"{argument.most[axis]}; the kernel takes ({_sizes(argument.shape)})"
                )
    negative = next((size for size in _sums(launch) if value(size, known) < 0), None)
    if negative is not None:
        known_sizes = ", ".join(f"{name} = {number}" for name, number in known.items())
        raise ArgumentError(f"a size of the program, {shown(negative)}, is negative for these arguments: {known_sizes}")
    return tuple(values)


def _sums(launch: Launch) -> list[Size]:
    """The sizes of arguments, results and buffers that may be sums or differences."""
    sizes = [size for argument in launch.arguments for size in argument.shape]
    sizes += [buffer.bytes for buffer in launch.buffers]
    return [size for size in dict.fromkeys(sizes) if isinstance(size, tuple)]


def _argument(argument: Argument) -> str:
    sizes = f"{_shown(argument.shape)} " if argument.shape else ""
    return f"{argument.name} ({sizes}{argument.dtype})"


def _shown(shape: tuple[Size, ...]) -> str:
    return "x".join(map(shown, shape))


def _sizes(shape: tuple[Size, ...]) -> str:
    return ", ".join(map(shown, shape)) + ("," if len(shape) == 1 else "")
