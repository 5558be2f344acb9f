"""What a person at a terminal sees in addition to what a pipe gets: colours, and a line that sums up.

Colours are escape sequences around words of the same text. There are none where the stream is not a terminal, where
NO_COLOR is set (https://no-color.org), and where TERM is `dumb`.
"""

from __future__ import annotations

import os
import re
import sys
from typing import Any

_BAD, _GOOD, _NOTE, _NAME = "1;31", "32", "36", "2"
_WORDS = (
    (re.compile(r"\b(?:WRONG|FAULTS|CHANGED)\b|^right: no\b|(?<![\w-])error:(?= )", re.M), _BAD),
    (re.compile(r"\bno findings\b|^right: yes\b|\bok\b(?=  )", re.M), _GOOD),
    (re.compile(r"^ *note:", re.M), _NOTE),
    (re.compile(r"^[a-z][\w ,]*:(?= )", re.M), _NAME),
)
"""What is coloured: verdicts, the words that messages start with, and the names in front of a table's rows."""


def is_terminal(stream: Any) -> bool:
    """Whether somebody reads a stream at a terminal."""
    try:
        return bool(stream.isatty())
    except (AttributeError, ValueError):  # no stream, or a closed one
        return False


def has_colours(stream: Any) -> bool:
    """Whether what is written to a stream may have colours."""
    return is_terminal(stream) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def coloured(text: str, stream: Any) -> str:
    """A text for a stream: with colours if it may have them."""
    if not has_colours(stream):
        return text
    for words, colour in _WORDS:
        text = words.sub(rf"\033[{colour}m\g<0>\033[0m", text)
    return text


def say(text: str, stream: Any = None) -> None:
    """Prints a text, to stdout if nothing else is said."""
    stream = sys.stdout if stream is None else stream
    print(coloured(text, stream), file=stream, flush=True)


def sum_up(text: str, stream: Any = None) -> None:
    """Prints a line that says how it went, at a terminal only."""
    stream = sys.stdout if stream is None else stream
    if is_terminal(stream):
        say(text, stream)
