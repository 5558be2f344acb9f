"""What a module of SPIR-V says of itself in its first words."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence

MAGIC = b"\x03\x02\x23\x07"
"""How a module begins, in little-endian words."""
SHADER, KERNEL = 1, 6
"""The capabilities of code for Vulkan and for OpenCL."""
HEADER = 5
"""Words before the first operation."""
_CAPABILITY = 17
"""The number of OpCapability."""
_ENTRY, _MODE, _INTEGER, _FLOAT, _VECTOR, _ARRAY, _STRUCT, _POINTER = 15, 16, 21, 22, 23, 28, 30, 32
_CONSTANT, _FUNCTION, _VARIABLE = 43, 54, 59
"""The numbers of the operations that tell of entry points and memory."""
_WORKGROUP = 4
"""The storage class of shared memory."""
_LOCAL_SIZE = 17
"""The execution mode that is a workgroup's size."""


def version(code: bytes) -> tuple[int, int]:
    """The version of SPIR-V that a module is in."""
    (word,) = struct.unpack_from("<I", code, 4)
    return word >> 16 & 0xFF, word >> 8 & 0xFF


def capabilities(code: bytes) -> list[int]:
    """The capabilities that a module declares, by the numbers that the specification of SPIR-V gives them; none of what
    is no SPIR-V."""
    if not code.startswith(MAGIC):
        return []
    place, found = HEADER, list[int]()
    while 4 * place + 8 <= len(code):
        word, number = struct.unpack_from("<II", code, 4 * place)
        if word & 0xFFFF != _CAPABILITY:
            break
        found.append(number)
        place += word >> 16
    return found


def workgroup_bytes(code: bytes) -> dict[str, int]:
    """The bytes of shared memory (variables of the storage class Workgroup) that each entry point of a module uses."""
    sizes, pointed, shared = dict[int, int](), dict[int, int](), dict[int, int]()
    values, entries, used = dict[int, int](), dict[int, str](), dict[int, set[int]]()
    function = 0
    for op, words in instructions(code):
        if op == _ENTRY:
            entries[words[1]] = _text(words[2:])
        elif op in (_INTEGER, _FLOAT):
            sizes[words[0]] = words[1] // 8
        elif op == _CONSTANT:
            values[words[1]] = words[2]
        elif op == _VECTOR:
            sizes[words[0]] = sizes[words[1]] * words[2]
        elif op == _ARRAY:
            sizes[words[0]] = sizes[words[1]] * values[words[2]]
        elif op == _STRUCT:
            sizes[words[0]] = sum(sizes.get(each, 0) for each in words[1:])
        elif op == _POINTER:
            pointed[words[0]] = words[2]
        elif op == _VARIABLE and words[2] == _WORKGROUP:
            shared[words[1]] = sizes[pointed[words[0]]]
        elif op == _FUNCTION:
            function = words[1]
        elif function:
            used.setdefault(function, set()).update(each for each in words if each in shared)
    return {name: sum(shared[each] for each in used.get(number, ())) for number, name in entries.items()}


def workgroup_sizes(code: bytes) -> dict[str, tuple[int, ...]]:
    """The workgroup (x, y, z) that each entry point of a module is made for."""
    entries, sizes = dict[int, str](), dict[str, tuple[int, ...]]()
    for op, words in instructions(code):
        if op == _ENTRY:
            entries[words[1]] = _text(words[2:])
        elif op == _MODE and words[1] == _LOCAL_SIZE:
            sizes[entries[words[0]]] = words[2:]
    return sizes


def _text(words: Sequence[int]) -> str:
    return struct.pack(f"<{len(words)}I", *words).split(b"\0")[0].decode()


def instructions(code: bytes) -> Iterator[tuple[int, tuple[int, ...]]]:
    """The operations of a module, by number, with the words that follow; none of what is no SPIR-V."""
    if not code.startswith(MAGIC):
        return
    words = struct.unpack(f"<{len(code) // 4}I", code[: len(code) // 4 * 4])
    place = HEADER
    while place < len(words) and words[place] >> 16:
        count = words[place] >> 16
        yield words[place] & 0xFFFF, words[place + 1 : place + count]
        place += count
