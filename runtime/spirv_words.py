"""What a module of SPIR-V says of itself in its first words."""

from __future__ import annotations

import struct

MAGIC = b"\x03\x02\x23\x07"
"""How a module begins, in little-endian words."""
SHADER, KERNEL = 1, 6
"""The capabilities of code for Vulkan and for OpenCL."""
_CAPABILITY = 17
"""The number of OpCapability."""


def version(code: bytes) -> tuple[int, int]:
    """The version of SPIR-V that a module is in."""
    (word,) = struct.unpack_from("<I", code, 4)
    return word >> 16 & 0xFF, word >> 8 & 0xFF


def capabilities(code: bytes) -> list[int]:
    """The capabilities that a module declares, by the numbers that the specification of SPIR-V gives them; none of what
    is no SPIR-V."""
    if not code.startswith(MAGIC):
        return []
    place, found = 5, list[int]()
    while 4 * place + 8 <= len(code):
        word, number = struct.unpack_from("<II", code, 4 * place)
        if word & 0xFFFF != _CAPABILITY:
            break
        found.append(number)
        place += word >> 16
    return found
