"""From MLIR's locations and diagnostics to the project's errors."""

from __future__ import annotations

import os
import re
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from mlir_gemm.errors import Error, InputError, Location, PassError
from mlir_gemm.spec import former_names

_UNREGISTERED = re.compile(r"unregistered operation '([^']+)' found in dialect")
_FILE_LINE_COLUMN = re.compile(r'"((?:[^"\\]|\\.)*)":(\d+):(\d+)')


def location_of(location: Any) -> Location | None:
    """The first place in a file that an MLIR location (or an operation's, or a value's) names, if any."""
    location = getattr(location, "location", location)
    found = _FILE_LINE_COLUMN.search(str(location))
    return Location(found[1], int(found[2]), int(found[3])) if found else None


def pass_error(operation: Any, message: str) -> PassError:
    """A PassError at the place of `operation` in the user's file."""
    return PassError(message, location_of(operation))


def input_error(operation: Any, message: str) -> InputError:
    """An InputError at the place of `operation` in the user's file."""
    return InputError(message, location_of(operation))


def from_mlir(error: Any, what: str) -> InputError:
    """An InputError that carries the diagnostics of an MLIRError, for text that MLIR itself refused."""
    diagnostics = list(error.error_diagnostics)
    if not diagnostics:
        return InputError(f"{what}: {error.message}")
    first = diagnostics[0]
    others = [*diagnostics[1:4], *list(first.notes)[:3]]
    notes = [f"{location_of(other) or ''} {_first_line(other.message)}".strip() for other in others]
    foreign = _FOREIGN.search(first.message)
    if foreign:
        notes = [advice(foreign[1])]
    unknown = _UNREGISTERED.match(first.message)
    if unknown and unknown[1] in former_names.OPERATIONS:
        notes = [f"'{unknown[1]}' is now called '{former_names.OPERATIONS[unknown[1]]}'"]
    return InputError(_first_line(first.message), location_of(first), tuple(notes))


_FOREIGN = re.compile(r"not found for custom op '([\w.]+)'")
_CUT = "cut the program there: compile what comes before and after it, and run this step in PyTorch between them"
_ADVICE = {
    "tm_tensor.scan": f"scans (cumsum, cumprod) are not compiled; {_CUT}",
    "tm_tensor.sort": f"sorts (sort, topk, argsort) are not compiled; {_CUT}",
    "tm_tensor.scatter": "writing to places that the data name is understood as torch-mlir writes index_put; "
    f"rows at a position can be written by slice_scatter (tensor.insert_slice). Else {_CUT}",
    "tm_tensor.attention": "write attention as its products and a softmax: export with the decomposition of "
    "scaled_dot_product_attention",
    "stablehlo": "convert it first: stablehlo-opt --stablehlo-legalize-to-linalg --canonicalize FILE",
    "mhlo": "convert it first: mlir-hlo-opt --hlo-legalize-to-linalg FILE",
    "torch": "export with output_type='linalg-on-tensors'",
    "onnx": "convert it first: onnx-mlir --EmitONNXIR, then torch-mlir's or IREE's import of ONNX to linalg",
}
"""What to do about operations of dialects that are not read, by operation or dialect."""


def advice(operation: str) -> str:
    """What to do about an operation of a dialect that is not read."""
    dialect = operation.partition(".")[0]
    found = _ADVICE.get(operation) or _ADVICE.get(dialect)
    return found or f"the dialect '{dialect}' is not read; expected linalg, tosa, tensor, memref, arith, math; {_CUT}"


def _first_line(message: str) -> str:
    """MLIR appends whole operations to some messages; one line is enough for a person."""
    return message.strip().splitlines()[0] if message.strip() else message


_BARRIER = re.compile(r"nvvm\.barrier id = (%[\w#]+) number_of_threads = (%[\w#]+)(?= loc\()")


def readable(text: str) -> str:
    """MLIR text that was printed with locations, so that it can be read. The parser takes the location after an
    nvvm.barrier for the name of a reduction, which the generic form has no room for."""
    return _BARRIER.sub(
        r'"nvvm.barrier"(\1, \2) <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (i32, i32) -> ()', text
    )


@contextmanager
def relabelled(filename: str) -> Generator[None]:
    """Errors raised inside name `filename` where MLIR's parser, which sees only text, wrote `-`."""
    try:
        yield
    except Error as error:
        if error.location is not None and error.location.file == "-":
            error.location = replace(error.location, file=filename)
        error.notes = tuple(re.sub(r"^-:(?=\d)", f"{filename}:", note) for note in error.notes)
        raise


@contextmanager
def lacking(what: str) -> Generator[None]:
    """Turns what fails unexpectedly inside into a PassError that says so of `what`.

    Passes rely on the attributes and the shape of what passes before them leave, and check only what those can leave in
    several ways. In IR by hand, anything may be missing. MLIR_GEMM_DEBUG=1 shows what failed.
    """
    try:
        yield
    except (Error, MemoryError):
        raise
    except Exception as error:
        if os.environ.get("MLIR_GEMM_DEBUG") == "1":
            raise
        reason = str(error).strip().partition("\n")[0]
        raise PassError(
            f"{what} lacks something, or holds something, that no pass before would leave so "
            f"({type(error).__name__}: {reason})",
            notes=("set MLIR_GEMM_DEBUG=1 for the place in the compiler where it is missed",),
        ) from error
