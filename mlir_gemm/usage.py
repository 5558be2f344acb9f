"""Values on the command line: how they are read, and the error for those that make no sense together."""

from __future__ import annotations

import argparse
from collections.abc import Sequence


class UsageError(Exception):
    """The command line is wrong, whatever the input file holds."""


def matrix_sizes(text: str) -> tuple[int, int, int]:
    """M, N and K from `M,N,K` (an argparse type)."""
    try:
        m, n, k = (int(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not M,N,K, as in 4096,4096,4096") from None
    if min(m, n, k) < 1:
        raise argparse.ArgumentTypeError(f"'{text}': sizes start at 1")
    return m, n, k


def block_numbers(text: str) -> list[int]:
    """Linear block numbers from `0,5,7` (an argparse type)."""
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a list of blocks, as in 0,5,7") from None
    if min(numbers) < 0:
        raise argparse.ArgumentTypeError(f"'{text}': blocks are numbered from 0")
    return numbers


def sizes(text: str) -> dict[str, int]:
    """Sizes by their symbols from `s0=37,s1=64` (an argparse type)."""
    found: dict[str, int] = {}
    for part in text.split(","):
        name, equals, number = (each.strip() for each in part.partition("="))
        if not (name.isidentifier() and equals and number.isdecimal()):
            raise argparse.ArgumentTypeError(f"'{text}' is not a list of sizes, as in s0=37,s1=64")
        if name in found:
            raise argparse.ArgumentTypeError(f"'{text}' gives {name} twice")
        found[name] = int(number)
    return found


def count(text: str) -> int:
    """A number of things, from 1 (an argparse type)."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not an integer from 1")
    return int(text)


def seed(text: str) -> int:
    """A seed of NumPy's generators (an argparse type)."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"'{text}' is not an integer from 0")
    return int(text)


RUN_DEVICES = ("auto", "gpu", "simulator", "vulkan", "opencl")
ON_HOST = RUN_DEVICES[3:]
"""Devices that take and give arrays of the host, of which there may be several."""


def run_device(text: str) -> str:
    """Where to run: one of `RUN_DEVICES`, or `vulkan:1` or `opencl:arc`, a device by its number or letters of its name
    (an argparse type)."""
    word, colon, which = text.partition(":")
    if word not in RUN_DEVICES or (colon and (word not in ON_HOST or not which)):
        known = ", ".join(RUN_DEVICES)
        raise argparse.ArgumentTypeError(f"'{text}' is no device to run on; expected {known}, vulkan:N or opencl:N")
    return text


def stage(name: str, stages: Sequence[str], option: str, others: Sequence[str] = ()) -> str:
    """`name` if it is a stage or one of `others`, else a UsageError that lists them."""
    if name in stages or name in others:
        return name
    raise UsageError(f"{option} {name}: expected {', '.join([*others, *stages])}")
