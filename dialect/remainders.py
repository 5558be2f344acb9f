"""Products of f64 by the remainders of integers: Ozaki's second scheme (Ozaki, Uchino, Imamura, arXiv 2504.08009).

Each row of A and each column of B is multiplied by a power of two and rounded to integers a and b of `bits` bits at
most. The sum C = sum over k of a b is an integer below a quarter of M = p_1 p_2 ... p_N, whose factors have no common
divisor. So it follows from its remainders by the p_t, and these from products of the remainders of a and b, which are
8-bit integers, by the Chinese remainder theorem: C = sum of w_t C_t modulo M, where w_t is 1 modulo p_t and 0 modulo
all others.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, log2, prod
from typing import Any

from mlir_gemm.dialect.bindings import dialect, ir

MODULI = (255, 253, 251, 247, 241, 239, 233, 229, 227, 223, 217, 211, 199, 197, 193, 191)
"""Odd numbers up to 255 without a common divisor, the largest ones first: their remainders are 8-bit integers. Without
256: the remainder is then the last byte of a sum in f64, and a store of that byte alone, in the block of the addition,
wrote others on an H200 (driver 580.159.04)."""
DEEPEST = (1 << 17) - 1
"""Elements of k whose products of 8-bit integers fit an i32."""
WANTED = 102
"""Bits of the integers of A and of B together: 51 each lose less than the sums of f64 do."""
MOST = 51
"""Bits that an integer may have, for `_ROUND`."""
_ROUND = 1.5 * 2**52
"""Added to an f64 of up to 2^51, this leaves the nearest integer in its last bits."""
_ONCE = 1 << 14
"""Elements of k up to which one estimate of a quotient in f32 is at most one off."""
_TINY = -960
"""The least exponent of a row's largest element that is told apart from others."""


@dataclass(frozen=True)
class Scheme:
    """The moduli of a product, and the bits of its integers."""

    moduli: tuple[int, ...]
    bits: tuple[int, int]
    """Of A's and of B's."""
    depth: int

    @property
    def whole(self) -> int:
        """The product of the moduli."""
        return prod(self.moduli)

    @property
    def weights(self) -> list[int]:
        """For each modulus, the number below `whole` that is 1 modulo it, and 0 modulo the others."""
        rest = [self.whole // each for each in self.moduli]
        return [part * pow(part, -1, each) for part, each in zip(rest, self.moduli, strict=True)]

    def shares(self, number: int) -> tuple[int, int, int]:
        """A weight, or `whole`, as a sum of three numbers: sums of the first, of the second and of the third of each,
        by as many remainders as there are, are exact in f64."""
        spare = 53 - 8 - len(self.moduli).bit_length()
        first = 1 << (self.whole.bit_length() - spare)
        second = max(first >> spare, 1)
        high, rest = number // first * first, number % first
        return high, rest // second * second, rest % second


def scheme_of(depth: int) -> Scheme | None:
    """As few moduli as keep `WANTED` bits for sums of `depth` terms; None where those would not fit."""
    if depth > DEEPEST:
        return None
    for count in range(2, len(MODULI) + 1):
        together = floor(sum(map(log2, MODULI[:count])) - 2 - log2(depth))
        if together >= WANTED or count == len(MODULI):
            kept = min(together, 2 * MOST)
            return Scheme(MODULI[:count], (kept - kept // 2, kept // 2), depth)
    return None


def _f64(number: float) -> Any:
    type_ = ir.F64Type.get()
    return dialect("arith").ConstantOp(type_, ir.FloatAttr.get(type_, number)).result


def _integer(width: int, number: int) -> Any:
    type_ = ir.IntegerType.get_signless(width)
    return dialect("arith").ConstantOp(type_, ir.IntegerAttr.get(type_, number)).result


def exponent_of(largest: Any) -> Any:
    """Of the largest magnitude of a row: the power of two at or below it, at least 2^-960, as an f64; NaN where it is
    infinite or NaN. At the insertion point."""
    arith = dialect("arith")
    cut = arith.MaxNumFOp(largest, _f64(2.0**_TINY)).result
    bits = arith.BitcastOp(ir.IntegerType.get_signless(64), cut).result
    power = arith.AndIOp(bits, _integer(64, 0x7FF << 52)).result
    found = arith.BitcastOp(ir.F64Type.get(), power).result  # infinite where `largest` is infinite
    ends = arith.CmpFOp(arith.CmpFPredicate.ULE, largest, _f64(1.7976931348623157e308)).result
    known = arith.CmpFOp(arith.CmpFPredicate.ORD, largest, largest).result
    return arith.SelectOp(arith.AndIOp(ends, known).result, found, _f64(float("nan"))).result


def rounded(value: Any, power: Any, bits: int) -> Any:
    """An element of a row whose largest has this power of two, as an integer of so many bits, an f64."""
    arith = dialect("arith")
    wide, first = ir.IntegerType.get_signless(64), (bits - 1) // 2
    # 2^first / power, by its bits; in two steps, as 2^(bits - 1) / power may be too large.
    inverse = arith.SubIOp(_integer(64, 2046 << 52), arith.BitcastOp(wide, power).result).result
    known = arith.AddIOp(inverse, _integer(64, first << 52)).result
    scale = arith.BitcastOp(ir.F64Type.get(), known).result
    scaled = arith.MulFOp(arith.MulFOp(value, scale).result, _f64(2.0 ** (bits - 1 - first))).result
    return dialect("math").RoundEvenOp(scaled).result


def last_bits(value: Any) -> Any:
    """The last 32 bits of the integer that is nearest to an f64, an i32 at the insertion point."""
    return _last(dialect("arith").AddFOp(value, _f64(_ROUND)).result)


def _last(raised: Any) -> Any:
    arith = dialect("arith")
    bits = arith.BitcastOp(ir.IntegerType.get_signless(64), raised).result
    return arith.TruncIOp(ir.IntegerType.get_signless(32), bits).result


def remainder(value: Any, last: Any, modulus: int) -> Any:
    """The remainder of an integer that is an f64, with its last bits, as an i8 around zero: what is left of it is less
    than 2^31, so the last bits of the quotient tell it."""
    arith = dialect("arith")
    quotient = _last(_fma(value, _f64(1.0 / modulus), _f64(_ROUND)))
    rest = arith.SubIOp(last, arith.MulIOp(quotient, _integer(32, modulus)).result).result
    return arith.TruncIOp(ir.IntegerType.get_signless(8), rest).result


def _fma(x: Any, y: Any, z: Any) -> Any:
    return dialect("math").FmaOp(x, y, z).result


def reduced(total: Any, modulus: int, depth: int) -> Any:
    """The remainder of a sum of `depth` products, an i32, as an i8 around zero."""
    arith = dialect("arith")
    narrow = ir.IntegerType.get_signless(8)
    rest = _estimated(total, modulus)
    if depth > _ONCE:
        return arith.TruncIOp(narrow, _estimated(rest, modulus)).result
    half, whole = _integer(32, modulus // 2), _integer(32, modulus)
    above = arith.CmpIOp(arith.CmpIPredicate.sgt, rest, half).result
    rest = arith.SelectOp(above, arith.SubIOp(rest, whole).result, rest).result
    below = arith.CmpIOp(arith.CmpIPredicate.slt, rest, _integer(32, -(modulus // 2))).result
    rest = arith.SelectOp(below, arith.AddIOp(rest, whole).result, rest).result
    return arith.TruncIOp(narrow, rest).result


def _estimated(total: Any, modulus: int) -> Any:
    """An i32 less the multiple of a modulus that f32 takes for the nearest."""
    arith = dialect("arith")
    f32, i32 = ir.F32Type.get(), ir.IntegerType.get_signless(32)
    inverse = arith.ConstantOp(f32, ir.FloatAttr.get(f32, 1.0 / modulus)).result
    quotient = arith.MulFOp(arith.SIToFPOp(f32, total).result, inverse).result
    nearest = arith.FPToSIOp(i32, dialect("math").RoundEvenOp(quotient).result).result
    return arith.SubIOp(total, arith.MulIOp(nearest, _integer(32, modulus)).result).result


def combined(remainders: list[Any], powers: tuple[Any, Any], scheme: Scheme) -> Any:
    """The element of the product that has these remainders, i8, where the largest elements of its row and column have
    these powers of two: the exact sum of the products of integers, rounded once."""
    arith = dialect("arith")
    numbers = [_number(each) for each in remainders]
    shares = list(zip(*map(scheme.shares, scheme.weights), strict=True))
    high, middle, low = (_weighted(numbers, each) for each in shares)
    times = dialect("math").RoundEvenOp(arith.MulFOp(high, _f64(1.0 / scheme.whole)).result).result
    high, middle, low = (
        _fma(times, _f64(-float(share)), each)
        for share, each in zip(scheme.shares(scheme.whole), (high, middle, low), strict=True)
    )
    total, rest = _two_sum(high, middle)
    total = arith.AddFOp(total, arith.AddFOp(rest, low).result).result
    # The power of the largest element stands for 2^(bits - 1): see `rounded`.
    value = arith.MulFOp(total, _f64(2.0 ** -(sum(scheme.bits) - 2))).result
    smaller = arith.MinimumFOp(*powers).result
    larger = arith.MaximumFOp(*powers).result
    return arith.MulFOp(arith.MulFOp(value, smaller).result, larger).result


def _number(rest: Any) -> Any:
    """An i8 as an f64: its bits with the sign turned are the last ones of 2^52 plus a number, which takes an addition;
    the conversion takes many times as long."""
    arith, wide = dialect("arith"), ir.IntegerType.get_signless(64)
    turned = arith.XOrIOp(rest, _integer(8, -128)).result
    bits = arith.OrIOp(arith.ExtUIOp(wide, turned).result, _integer(64, 0x433 << 52)).result
    return arith.SubFOp(arith.BitcastOp(ir.F64Type.get(), bits).result, _f64(2.0**52 + 128)).result


def _weighted(numbers: list[Any], weights: tuple[int, ...]) -> Any:
    found = dialect("arith").MulFOp(numbers[0], _f64(float(weights[0]))).result
    for number, weight in zip(numbers[1:], weights[1:], strict=True):
        found = _fma(number, _f64(float(weight)), found)
    return found


def _two_sum(x: Any, y: Any) -> tuple[Any, Any]:
    """A sum, and what its rounding left out (Knuth)."""
    arith = dialect("arith")
    total = arith.AddFOp(x, y).result
    part = arith.SubFOp(total, x).result
    first = arith.SubFOp(x, arith.SubFOp(total, part).result).result
    return total, arith.AddFOp(first, arith.SubFOp(y, part).result).result
