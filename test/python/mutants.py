"""What the fuzzer compiles: all modules at hand, changed at random by bytes, lines and tokens."""

from __future__ import annotations

import functools
import io
import random
import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
BYTECODE = 10
"""One in so many mutants is of bytecode."""
SAVED = 5
"""One in so many is of IR saved after a stage."""
SAVED_FROM = {"linear_bias_f16.mlir:0": "sm_90a", "mlp_relu.mlir:0": "sm_80"}
"""What such IR is of: one kernel for wgmma, and a program of two for mma_sync."""

_TOKEN = re.compile(
    rb'"(?:\\.|[^"\\\n])*"|[%@#!^][\w$.:-]+|x(?=[\d?fib])|0x[\dA-Fa-f]+|\d+(?:\.\d+(?:e[+-]?\d+)?)?|[A-Za-z_][\w$.]*|->|==|::|\s+|.',
    re.DOTALL,
)
"""Sizes are tokens of their own, so that one can be changed wherever it stands: most such modules are still valid."""

_TYPES = (
    b"f16",
    b"bf16",
    b"f32",
    b"f64",
    b"i8",
    b"i32",
    b"i64",
    b"i1",
    b"index",
    b"f8E4M3FN",
    b"f8E5M2",
    b"ui8",
    b"none",
)
_UNUSUAL = (
    *_TYPES, b"0", b"1", b"-1", b"2", b"3", b"7", b"65", b"1000000", b"2147483647", b"2147483648", b"4294967296",
    b"9223372036854775807", b"9223372036854775808", b"-9223372036854775808", b"18446744073709551616", b"0x7FFFFFFF",
    b"1.0", b"1e400", b"?", b"tensor<", b"memref<", b"vector<", b"complex<f32>", b"()", b"[]", b"{}", b"<>", b"-> ()",
    b"dense<0>", b"array<i64>", b"array<i64: 1, 0>", b"affine_map<(d0) -> (d0)>", b"affine_map<() -> ()>", b"unit",
    b"true", b"loc(unknown)", b"%0", b"@f", b"^bb0", b"#map", b"strided<[?, 1], offset: ?>", b"sparse", b"x",
)  # fmt: skip
"""What stands in no module at hand, or seldom."""


@dataclass(frozen=True)
class Seed:
    """A module to start from, and what is done with it: passes, or the stages of the compiler where none are named."""

    name: str
    text: bytes
    passes: tuple[str, ...] = ()
    stage: str = ""
    """The stage that it was saved after, if any."""


@dataclass(frozen=True)
class Mutant:
    """A module that was changed."""

    number: int
    seed: Seed
    how: str
    data: bytes

    @property
    def is_bytecode(self) -> bool:
        """Whether it was made of bytecode."""
        return self.how.startswith("bytecode")


@functools.cache
def seeds() -> tuple[Seed, ...]:
    """All modules at hand: those of the tests, parts of files between lines `// -----` on their own, the examples."""
    found: list[Seed] = []
    for folder in ("test/modules", "examples", "test/passes", "test/kernels"):
        for path in sorted((ROOT / folder).glob("*.mlir")):
            text = path.read_bytes()
            passes = _passes(text.decode()) if folder in ("test/passes", "test/kernels") else ()
            for number, part in enumerate(re.split(rb"^// -----.*\n", text, flags=re.MULTILINE)):
                plain = re.sub(rb"^ *//.*\n", b"", part, flags=re.MULTILINE)
                if plain.strip():
                    found.append(Seed(f"{path.name}:{number}", plain, passes))
    return tuple(found)


def _passes(text: str) -> tuple[str, ...]:
    """The passes that a test of passes runs, by its first line that runs some on the whole file."""
    for line in re.findall(r"// RUN: (?:not )?mlir-gemm opt (.*?)(?:2>&1)? *\|", text):
        words = [word for word in shlex.split(line) if word not in ("%s", "--split-input-file", "-")]
        if words and not any(word.startswith("-") for word in words):
            return tuple(words)
    return ()


@functools.cache
def _tokens() -> tuple[bytes, ...]:
    """Tokens of all seeds, each as often as it is written."""
    return tuple(token for seed in seeds() for token in _TOKEN.findall(seed.text) if not token.isspace())


@functools.cache
def _lines() -> tuple[bytes, ...]:
    return tuple(line for seed in seeds() for line in seed.text.splitlines(keepends=True))


@functools.cache
def _bytecode(number: int) -> bytes:
    """The bytecode of a seed; empty for one that does not parse."""
    from mlir_gemm.dialect.context import new_context
    from mlir_gemm.dialect.parse import parse_module
    from mlir_gemm.errors import Error

    written = io.BytesIO()
    try:
        module = parse_module(seeds()[number].text.decode(), "-", new_context())
        module.operation.write_bytecode(written)
    except (Error, UnicodeDecodeError):
        return b""
    return written.getvalue()


@functools.cache
def _saved() -> tuple[Seed, ...]:
    """IR after each stage."""
    from mlir_gemm.pipeline.driver import compile_module

    found: list[Seed] = []
    for source, chip in SAVED_FROM.items():
        text = next(seed.text for seed in seeds() if seed.name == source).decode()
        done = compile_module(text, chip=chip, until="nvvm", keep=("all",))
        found += [Seed(f"{source} after {stage}", done.ir(stage).encode(), stage=stage) for stage in done.timings]
    return tuple(found)


def by_bytes(data: bytes, rng: random.Random) -> bytes:
    """Changes one byte, or removes, repeats or moves a few."""
    start = rng.randrange(len(data) + 1)
    end = min(len(data), start + rng.choice((1, 1, 1, 2, 4, 16, 64)))
    return data[:start] + rng.choice((
        lambda: b"",
        lambda: 2 * data[start:end],
        lambda: bytes([rng.randrange(256)]),
        lambda: bytes([rng.randrange(256)]) + data[start:end],
        lambda: bytes(byte ^ (1 << rng.randrange(8)) for byte in data[start : start + 1]) + data[start + 1 : end],
        lambda: rng.choice(b"<>[]{}()\"%#@!^:,=-+*?0x\n").to_bytes(1, "big") + data[start + 1 : end],
    ))() + data[end:]  # fmt: skip


def by_lines(data: bytes, rng: random.Random) -> bytes:
    """Removes, repeats, or exchanges a line, or takes one of another module."""
    lines = data.splitlines(keepends=True) or [b"\n"]
    at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    match rng.randrange(5):
        case 0:
            del lines[at]
        case 1:
            lines.insert(other, lines[at])
        case 2:
            lines[at], lines[other] = lines[other], lines[at]
        case 3:
            lines.insert(at, rng.choice(_lines()))
        case _:
            lines[at] = rng.choice(_lines())
    return b"".join(lines)


def by_tokens(data: bytes, rng: random.Random) -> bytes:
    """Removes, repeats or exchanges tokens, or replaces one, mostly by one of its kind, here or wherever it stands."""
    tokens = _TOKEN.findall(data) or [b" "]
    solid = [number for number, token in enumerate(tokens) if not token.isspace()] or [0]
    telling = [number for number in solid if _kind_of(tokens[number])] or solid
    at, other = rng.choice(solid), rng.choice(solid)
    match rng.randrange(9):
        case 0:
            del tokens[at]
        case 1:
            tokens.insert(other, tokens[at])
        case 2:
            tokens[at], tokens[other] = tokens[other], tokens[at]
        case 3:
            tokens.insert(at, rng.choice(_tokens() + _UNUSUAL))
        case 4:
            tokens[at] = rng.choice(_UNUSUAL)
        case 5:
            at = rng.choice(telling)
            tokens[at] = _another(tokens[at], rng)
        case _:
            old = tokens[rng.choice(telling)]
            new = _another(old, rng)
            tokens = [new if token == old else token for token in tokens]
    return b"".join(tokens)


def _kind_of(token: bytes) -> str:
    """What a token can be replaced by, so that the module may still be valid; empty if by nothing."""
    if token.isdigit():
        return "number"
    if token in _TYPES:
        return "type"
    if token[:1] in (b"%", b"@", b"#", b'"'):
        return token[:1].decode()
    return "operation" if re.fullmatch(rb"\w+\.[\w.]+", token) else ""


@functools.cache
def _of_kind(kind: str) -> tuple[bytes, ...]:
    return tuple({token: None for token in (*_tokens(), *_UNUSUAL) if _kind_of(token) == kind})


def _another(token: bytes, rng: random.Random) -> bytes:
    if rng.randrange(8) == 0 or not _kind_of(token):
        return rng.choice(_UNUSUAL)
    return rng.choice(_of_kind(_kind_of(token)))


MUTATORS: dict[str, Callable[[bytes, random.Random], bytes]] = {
    "bytes": by_bytes, "lines": by_lines, "tokens": by_tokens,
}  # fmt: skip


def mutant(number: int) -> Mutant:
    """The mutant with this number."""
    rng = random.Random(number)
    plain = [at for at, seed in enumerate(seeds()) if not seed.passes]
    which = rng.choice(plain) if rng.randrange(2) else rng.randrange(len(seeds()))
    seed, how = seeds()[which], rng.choice(("bytes", "lines", "tokens", "tokens"))
    if number % SAVED == 1:
        seed = rng.choice(_saved())
    if number % BYTECODE == 0:
        data, how, change = _bytecode(which), "bytecode", by_bytes
    else:
        data, change = seed.text, MUTATORS[how]
    for _ in range(rng.choice((1, 1, 1, 2, 3, 5))):
        data = change(data, rng)
    if how == "bytecode":
        data = b"ML\xefR" + data[4:]
    return Mutant(number, seed, how, data)
