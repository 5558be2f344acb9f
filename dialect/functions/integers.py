"""Functions of integers as arithmetic: exact, for every width."""

from __future__ import annotations

from mlir_gemm.dialect.functions.number import Number, select


def absi(x: Number) -> Number:
    """The magnitude; of the least number, which has none, itself."""
    return select(x < 0, 0 - x, x)


def ctpop(x: Number) -> Number:
    """How many bits are set: pairs of bits are added up, then pairs of these sums, and so on."""
    width, step = x.element.width, 1
    while step < width:
        mask = _mask(width, step)
        x = (x & mask) + (x.shifted_right(step) & mask)
        step *= 2
    return x


def ctlz(x: Number) -> Number:
    """How many zeros stand above the highest bit that is set; the width where none is."""
    width, step = x.element.width, 1
    while step < width:
        x = x | x.shifted_right(step)
        step *= 2
    return width - ctpop(x)


def cttz(x: Number) -> Number:
    """How many zeros stand below the lowest bit that is set; the width where none is."""
    return ctpop((-1 - x) & (x - 1))


def _mask(width: int, step: int) -> int:
    """Ones in every other group of `step` bits, the lowest among them, as a signed number."""
    bits = sum(((1 << step) - 1) << first for first in range(0, width, 2 * step))
    return bits - (1 << width) if bits >> (width - 1) else bits
