"""The errors that mlir-gemm raises. All derive from `Error`.

A message names the value given, the rule it breaks and what would be right. Errors that stem from a place in
the user's input carry it in `location`, and print as `file:line:col: error: ...`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Location:
    """A place in the user's input: a file name (`-` for text that came from no file), a line and a column from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class Error(Exception):
    """Base of every error that mlir-gemm raises on purpose."""

    def __init__(self, message: str, location: Location | None = None, notes: tuple[str, ...] = ()):
        super().__init__(message)
        self.message = message
        self.location = location
        self.notes = notes

    def __str__(self) -> str:
        where = f"{self.location}: " if self.location else ""
        return "\n".join([f"{where}error: {self.message}", *(f"  note: {note}" for note in self.notes)])


class InputError(Error):
    """The module given cannot be compiled: malformed, or holding something that is not supported."""


class ScheduleError(Error):
    """A schedule is misspelt, or illegal for this problem and chip."""


class TargetError(Error):
    """The chip named does not exist, or lacks what the schedule needs."""


class PassError(Error):
    """A pass met IR that it does not handle, or was given wrong options."""


class BindingsError(Error):
    """No usable MLIR Python bindings are installed."""


class DeviceError(Error):
    """No usable GPU, or the driver refused to load or launch the kernel."""


class ArgumentError(Error, TypeError):
    """An argument of a kernel call has the wrong shape, type, strides, device or alignment. Nothing was launched."""


class FindingsError(Error):
    """The simulator ran a kernel, and its checks found faults; the notes are its report. Results are not returned."""
