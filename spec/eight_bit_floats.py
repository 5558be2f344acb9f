"""The formats of 8-bit floats, read off the names that MLIR has for them.

`f8E4M3B11FNUZ` is 4 bits of exponent, 3 of mantissa, and a bias of 11. `FN` has no infinity (finite), and one NaN, all
ones; `FNUZ` has no negative zero either, whose bits are its NaN. Without a suffix a format is as IEEE 754 has them.
(MLIR's builtin types; llvm/ADT/APFloat.h.)
"""

from __future__ import annotations

import re
from dataclasses import dataclass

MLIR_NAMES = ("f8E3M4", "f8E4M3", "f8E4M3B11FNUZ", "f8E4M3FN", "f8E4M3FNUZ", "f8E5M2", "f8E5M2FNUZ")
"""MLIR's 8-bit types of numbers. (f8E8M0FNU holds powers of two only, and no zero.)"""
NAN_FOR_NEGATIVE_ZERO = 0x80
_NAME = re.compile(r"f8E(\d)M(\d)(?:B(\d+))?(FNUZ|FN)?")


@dataclass(frozen=True)
class EightBitFloat:
    """An 8-bit format: a sign, an exponent, a mantissa."""

    mantissa: int
    """Its bits."""
    bias: int
    largest: int
    """The bits of the largest finite number."""
    overflow: int
    """The bits of what a larger number becomes: infinity, or NaN where there is none."""
    nan: int

    @property
    def has_infinity(self) -> bool:
        """Whether larger numbers become infinity."""
        return self.overflow != self.nan

    @property
    def has_negative_zero(self) -> bool:
        """Whether zero has a sign."""
        return self.nan != NAN_FOR_NEGATIVE_ZERO

    @property
    def has_half_exponents(self) -> bool:
        """Whether its bits, at the places that f16 has for them, are an f16 of the same number but for a power of two:
        not where f16 has infinity and NaN, and the format has numbers."""
        return self.mantissa > 2 or self.has_infinity


def format_of(name: str) -> EightBitFloat | None:
    """The format of an element type by its MLIR name; None for anything but an 8-bit float of MLIR."""
    found = _NAME.fullmatch(name) if name in MLIR_NAMES else None
    if found is None:
        return None
    exponent, mantissa = int(found[1]), int(found[2])
    bias = (1 << (exponent - 1)) - 1
    if found[4] == "FNUZ":
        nan = NAN_FOR_NEGATIVE_ZERO
        return EightBitFloat(mantissa, int(found[3] or bias + 1), 0x7F, nan, nan)
    if found[4] == "FN":
        return EightBitFloat(mantissa, bias, 0x7E, 0x7F, 0x7F)
    infinity = ((1 << exponent) - 1) << mantissa
    return EightBitFloat(mantissa, bias, infinity - 1, infinity, infinity | 1 << (mantissa - 1))
