"""Functions of integers as arithmetic: exact, for every width."""

from __future__ import annotations

from mlir_gemm.dialect.bindings import ir
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


def ipowi(x: Number, n: Number) -> Number:
    """x^n modulo two to the width, by squares; of negative n, 1 over that, rounded towards zero (of 0 any number)."""
    result, square = x.like(1), x
    for bit in range(x.element.width - 1):
        result = select((n.shifted_right(bit) & 1).equals(1), result * square, result)
        square = square * square
    unit = select((n & 1).equals(1), x, 1)  # of 1 and -1
    inverse = select(x.equals(1) | x.equals(-1), unit, 0)
    return select(n < 0, inverse, result)


def addui_extended(x: Number, y: Number) -> list[Number]:
    """The sum modulo two to the width, and whether it is larger."""
    total = x + y
    return [total, total.below(x)]


def mului_extended(x: Number, y: Number) -> list[Number]:
    """The lower and the upper half of the product of numbers without a sign."""
    width = x.element.width
    if width > 32:
        return [x * y, _upper_half(x, y)]
    return _halves(x, y, "ExtUIOp")


def mulsi_extended(x: Number, y: Number) -> list[Number]:
    """The lower and the upper half of the product of numbers with a sign."""
    if x.element.width > 32:
        upper = _upper_half(x, y) - select(x < 0, y, 0) - select(y < 0, x, 0)
        return [x * y, upper]
    return _halves(x, y, "ExtSIOp")


def _halves(x: Number, y: Number, extension: str) -> list[Number]:
    wide = ir.IntegerType.get_signless(64)
    product = x.converted(extension, wide) * y.converted(extension, wide)
    return [each.converted("TruncIOp", x.element) for each in (product, product.shifted_right(x.element.width))]


def _upper_half(x: Number, y: Number) -> Number:
    """Of the product of 64 by 64 bits without a sign, by halves of 32 bits."""
    half = 0xFFFFFFFF
    (x0, x1), (y0, y1) = ((each & half, each.shifted_right(32)) for each in (x, y))
    middle = x1 * y0 + (x0 * y0).shifted_right(32)
    rest = x0 * y1 + (middle & half)
    return x1 * y1 + middle.shifted_right(32) + rest.shifted_right(32)


def _mask(width: int, step: int) -> int:
    """Ones in every other group of `step` bits, the lowest among them, as a signed number."""
    bits = sum(((1 << step) - 1) << first for first in range(0, width, 2 * step))
    return bits - (1 << width) if bits >> (width - 1) else bits
