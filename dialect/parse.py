"""From text to a module: a context with the tile dialect, and parsing that refuses what would crash MLIR's parser.

Rules refuse what is known to crash it, and say what to write instead. Whatever they let through is read in a helper
process first (`parse_guard`).
"""

from __future__ import annotations

import json
import re
import signal
import threading
import time
from typing import Any

from mlir_gemm.dialect import foreign
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.locations import advice, from_mlir
from mlir_gemm.dialect.parse_guard import GUARD, allowed_seconds
from mlir_gemm.dialect.parse_protocol import (
    BYTECODE_MAGIC,
    DIED,
    ENDED,
    LATE,
    NO_MEMORY,
    READ_BYTECODE,
    READ_TEXT,
    REFUSED,
)
from mlir_gemm.dialect.reading import MARK
from mlir_gemm.errors import InputError, Location

COMPILER = threading.RLock()
"""Held by whoever works on modules: registering the dialect's classes changes state that all contexts share."""

DEEPEST = 200
"""Levels of brackets that are read. MLIR's parser is recursive and takes the process down near 10,000."""

_BRACKETS = re.compile(r'"[^"\\\n]*(?:\\.[^"\\\n]*)*"|//[^\n]*|->|>=|(?P<open>[(\[{<])|(?P<close>[)\]}>])')
"""Strings are weights too, of megabytes: runs of plain characters are taken at once."""


_RANK_0 = re.compile(r"permutation(?<!\wpermutation)\s*=\s*(?:\[\s*\]|array<\s*i64\s*>)")
"""A linalg.transpose without dimensions: its verifier in MLIR takes the process down."""


def parse_module(source: str | bytes, filename: str, context: Any, *, own: bool = False) -> Any:
    """MLIR text, or bytecode, as a verified module in `context`; hold on to it: what is in it dies with it.

    `own` is for text that this process printed itself, which is not read in the helper first.
    Raises InputError with the place of what is wrong.
    """
    text = source if isinstance(source, str) else text_of(source, filename)
    if foreign.is_foreign(text):
        text = foreign.in_generic_form(text)
        context.allow_unregistered_dialects = True  # what else there is of such dialects, `check-module` refuses
    if not own:
        _check_readable(text, filename, context)
    try:
        with context:
            return ir.Module.parse(text)
    except ir.MLIRError as error:
        raise _unregistered(from_mlir(error, "this is not a valid MLIR module"), text) from None


def text_of(bytecode: bytes, filename: str) -> str:
    """The module in bytecode as text, without its locations. Only the helper process reads bytecode.
    Raises InputError."""
    if not bytecode.startswith(BYTECODE_MAGIC):
        what = f"this is not MLIR bytecode, which starts with the bytes {BYTECODE_MAGIC!r}"
        raise InputError(what, Location(filename, 1, 1))
    fate, said = GUARD.ask(READ_BYTECODE, bytecode)
    if fate == DIED:
        raise InputError(f"this bytecode is damaged: reading it {how_it_ends(said)}", Location(filename, 1, 1))
    if fate == LATE:
        raise _too_slow(filename, bytecode)
    if fate == REFUSED:
        raise InputError(f"this is not valid MLIR bytecode: {_refused(said).message}", Location(filename, 1, 1))
    return said.decode()


_REMEMBERED = 1 << 26
_readable: dict[str, None] = {}
"""The texts that were read or printed last, up to this many characters. Whoever asked for them mostly holds on to them
too."""


def remember(text: str) -> str:
    """The text, which is known to be good from here on: this process has printed it, or the helper has read it."""
    with COMPILER:
        _readable[text] = None
        while sum(map(len, _readable)) > _REMEMBERED:
            del _readable[next(iter(_readable))]
    return text


def is_known(text: str) -> bool:
    """Whether a text is known to be good."""
    return text in _readable


def _check_readable(text: str, filename: str, context: Any) -> None:
    """Raises InputError for text that MLIR's parser or verifier does not survive."""
    _check_rules(text, filename)
    if is_known(text):
        return
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        what = f"character {text[error.start]!a} is half of a pair, and no text"
        raise InputError(what, _place(filename, text, error.start)) from None
    fate, said = GUARD.ask(READ_TEXT, data, context)
    if fate == DIED:
        raise _fatal(text, filename, said)
    if fate == LATE:
        raise _too_slow(filename, data)
    if fate == REFUSED:
        refused = _refused(said)
        refused.location = refused.location or _mention(filename, text, refused.message)
        raise refused
    remember(text)


_OPERATION = re.compile(r'"([a-z]\w*\.[\w.]+)"\s*\(')
_TYPE = re.compile(r'`!"(\w+)"<.*> ?` type created with unregistered dialect')


def _unregistered(refused: InputError, text: str) -> InputError:
    """What MLIR says of a dialect that it does not know names neither the operation nor what to do."""
    place = refused.location
    found = _TYPE.match(refused.message)
    if found:
        what, name = f"a type of the dialect '{found[1]}', which is not read", f"{found[1]}."
    elif refused.message.startswith("operation being parsed with an unregistered dialect") and place:
        before = "\n".join([*text.splitlines()[: place.line - 1], text.splitlines()[place.line - 1][: place.column]])
        names = _OPERATION.findall(before)
        if not names:
            return refused
        what, name = f"'{names[-1]}' is not understood", names[-1]
    else:
        return refused
    return InputError(what, place, (advice(name), "`mlir-gemm opt` takes it with --allow-unregistered-dialect"))


def _refused(said: bytes) -> InputError:
    message, place, notes = json.loads(said)
    return InputError(message, place and Location(*place), tuple(notes))


def _check_rules(text: str, filename: str) -> None:
    if "\0" in text:
        # MLIR's parser would take it for the end of the file and ignore the rest.
        raise InputError(
            "byte 0x00 is no text; expected MLIR in its text form", _place(filename, text, text.index("\0"))
        )
    if text.startswith(MARK):
        raise InputError(
            "this is the reading form, which cannot be parsed; `--emit STAGE` writes the IR itself",
            Location(filename, 1, 1),
        )
    _check_nesting(filename, text)
    empty = _RANK_0.search(text) if "permutation" in text else None  # the pattern takes 0.8 s for 31 MB of weights
    if empty is not None:
        raise InputError("a transpose of no dimensions; leave it out", _place(filename, text, empty.start()))


def _fatal(text: str, filename: str, said: bytes) -> InputError:
    ends = how_it_ends(said)
    if len(text) > _LONGEST_PROBED:
        return InputError(f"reading this module {ends}", Location(filename, 1, 1))
    last = _last_character(text)
    if last is None:
        what = f"MLIR reads this module, but checking or printing it {ends}; look for what is nested deeply, for "
        what += "attributes that repeat others, and for operations on nothing, as on no dimensions"
        return InputError(what, Location(filename, 1, 1))
    what = f"reading on from here {ends}; MLIR's parser does not expect what stands here"
    return InputError(what, _place(filename, text, last))


def how_it_ends(said: bytes) -> str:
    """In words, how the helper says that a child of it died."""
    number = int(said.partition(b"\n")[0])
    if number == NO_MEMORY:
        return "takes more memory than a module can need"
    return "ends the process" if number == ENDED else f"crashes ({signal.Signals(number).name})"


def _too_slow(filename: str, data: bytes) -> InputError:
    return InputError(
        f"reading, checking and printing this module takes MLIR more than {allowed_seconds(len(data)):.0f} s",
        Location(filename, 1, 1),
    )


_CUT = "\n\x01"
"""What no token starts with: whoever parses stops here, before anything is verified."""
_PROBES_SECONDS, _LONGEST_PROBED = 5.0, 1 << 20
"""How long looking for the place may take, and how long a text is for which nobody looks."""


def _last_character(text: str) -> int | None:
    """Where MLIR's parser crashes: the end of the shortest prefix of the text that crashes it.
    None if it parses all of the text, so that the verifier, or the printer, crashes."""
    deadline = time.monotonic() + _PROBES_SECONDS
    survived, fatal = 0, len(text)
    if not _is_fatal(text, deadline):
        return None
    while fatal - survived > 1 and time.monotonic() < deadline:
        middle = (survived + fatal) // 2
        if _is_fatal(text[:middle], deadline):
            fatal = middle
        else:
            survived = middle
    return fatal - 1


def _is_fatal(text: str, deadline: float) -> bool:
    fate, _ = GUARD.ask(READ_TEXT, (text + _CUT).encode(), seconds=max(1.0, deadline - time.monotonic()))
    return fate == DIED


def _check_nesting(filename: str, text: str) -> None:
    depth = 0
    for bracket in _BRACKETS.finditer(text) if sum(map(text.count, "([{<")) > DEEPEST else ():
        depth += bracket["open"] is not None
        depth -= bracket["close"] is not None
        if depth > DEEPEST:
            where = _place(filename, text, bracket.start())
            raise InputError(f"brackets are nested more than {DEEPEST} levels deep", where)


def _mention(filename: str, text: str, message: str) -> Location | None:
    """Where the type that a message quotes is first written. MLIR has no place for what it builds itself while parsing,
    such as the body of a linalg.matmul on elements that it does not know."""
    quoted = re.search(r"got '([^']+)'", message)
    found = re.search(rf"(?<![a-wyz]){re.escape(quoted[1])}(?!\w)", text) if quoted else None
    return _place(filename, text, found.start()) if found else None


def _place(filename: str, text: str, position: int) -> Location:
    before = text[:position]
    return Location(filename, before.count("\n") + 1, position - before.rfind("\n"))
