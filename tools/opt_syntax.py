"""`mlir-gemm opt` as people know it from mlir-opt: passes as options, pipelines, and what is expected to be refused."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from mlir_gemm.errors import Error
from mlir_gemm.usage import UsageError

PIPELINE = "--pass-pipeline"


def in_our_words(given: Sequence[str], flags: Collection[str], valued: Collection[str]) -> list[str]:
    """The arguments of `opt` with `--NAME`, `--NAME=OPTIONS` and `--pass-pipeline=...` written as `NAME`,
    `NAME{OPTIONS}` and the passes of the pipeline, after the options of the command: `flags`, and those with values.
    Raises UsageError for a pipeline whose brackets do not match."""
    options, names = list[str](), list[str]()
    rest = iter(given)
    for argument in rest:
        name, equals, value = argument.partition("=")
        if name == PIPELINE:
            names += pipeline_passes(value if equals else next(rest, ""))
        elif name in valued:
            options += [argument] if equals else [argument, *([value] if (value := next(rest, "")) else [])]
        elif name not in flags and argument.startswith("--") and len(argument) > 2:
            names.append(f"{name[2:]}{{{value}}}" if equals else name[2:])
        elif argument.startswith("-") and len(argument) > 1:
            options.append(argument)
        else:
            names.append(argument)
    return [*options, "--", *names] if names else options


def pipeline_passes(text: str) -> list[str]:
    """The passes of a pipeline such as `builtin.module(tile-loops{block=64,64,32},func.func(cse))`, in order. Raises
    UsageError for brackets that do not match."""
    inside = re.fullmatch(r"\s*builtin\.module\s*\((.*)\)\s*", text, re.DOTALL)
    wanted = text if inside is None else inside[1]
    passes, start, open_ = list[str](), 0, list[str]()
    for place, character in enumerate(wanted):
        if character in "({[":
            open_.append({"(": ")", "{": "}", "[": "]"}[character])
        elif character in ")}]":
            if not open_ or open_.pop() != character:
                raise UsageError(f"{PIPELINE}: '{character}' closes nothing in '{text}'")
        elif character == "," and not open_:
            passes.append(wanted[start:place])
            start = place + 1
    if open_:
        raise UsageError(f"{PIPELINE}: '{open_[-1]}' is missing in '{text}'")
    return [each for each in (each.strip() for each in [*passes, wanted[start:]]) if each]


def input_and_passes(names: Sequence[str], *, waiting: bool) -> tuple[str, list[str]]:
    """The input, `-` for stdin, and the passes. The input is the first name that is that of a file, or else looks like
    one. Raises UsageError where nothing is named and nobody writes to stdin (`waiting`)."""
    if not names and waiting:
        raise UsageError("name an INPUT and passes, or --list")
    for is_input in (_is_file, _looks_like_a_file):
        for place, name in enumerate(names):
            if is_input(name):
                return name, [*names[:place], *names[place + 1 :]]
    return "-", list(names)


def _is_file(name: str) -> bool:
    return name in ("", "-") or ("{" not in name and os.path.exists(name))


def _looks_like_a_file(name: str) -> bool:
    before = re.split(r"[{(]", name)[0]
    return os.sep in before or before.endswith((".mlir", ".mlirbc"))


@dataclass(frozen=True)
class Expected:
    """What a comment says will be refused: `// expected-error @+1 {{text}}`."""

    line: int
    """0 for any."""
    text: str
    where: int
    """The line of the comment."""


_EXPECTED = re.compile(
    r"//\s*expected-error(-re)?\s*(?:@(?:([+-]\d+)|(above|below|unknown)))?\s*\{\{(.*?)\}\}", re.DOTALL
)


def expected_in(text: str) -> Iterator[Expected]:
    """What the comments of a text expect. Raises UsageError for patterns, which are not read."""
    for found in _EXPECTED.finditer(text):
        here = text.count("\n", 0, found.start()) + 1
        if found[1]:
            raise UsageError(f"line {here}: expected-error-re is not read; write a part of the message")
        line = here + int(found[2] or {"above": -1, "below": 1}.get(found[3] or "", 0))
        yield Expected(0 if found[3] == "unknown" else line, found[4], here)


def differences(text: str, refused: Error | None, filename: str) -> list[str]:
    """What differs between what the comments of a text expect and what came, as messages; none where nothing does."""
    wanted, found = list(expected_in(text)), list[str]()
    if refused is not None:
        line = refused.location.line if refused.location is not None else 0
        fitting = [each for each in wanted if each.text in refused.message and each.line in (0, line)]
        if fitting:
            wanted.remove(fitting[0])
        else:
            found.append(f"{filename}:{line}: error: unexpected error: {refused.message}")
    for each in wanted:
        found.append(f"{filename}:{each.where}: error: expected error '{each.text}' was not produced")
    return found
