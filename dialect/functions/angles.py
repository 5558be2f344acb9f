"""Quarter turns of an angle: x = n pi/2 + r with r from -pi/4 to pi/4, for every finite x.

Up to a limit n pi/2 is subtracted in parts (Cody and Waite). Beyond it x times 2/pi is computed in integers, modulo 4,
from the bits of 2/pi that matter at the exponent of x (Payne and Hanek, "Radian reduction for trigonometric functions",
1983): 192 bits, so that of r at least 64 are left where x is as close to a multiple of pi/2 as an f64 can be, and 128
for f32. Only threads that have such an angle compute that,
so each element of a vector has a branch of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.functions.number import Number, absolute, fma, select
from mlir_gemm.dialect.functions.pairs import Pair, exact_sum, multiplied, quick_sum

TWO_OVER_PI = int(
    "a2f9836e4e441529fc2757d1f534ddc0db6295993c439041fe5163abdebbc561b7246e3a424dd2e006492eea09d1921cfe1deb1cb129a73ee8"
    "8235f52ebb4484e99c7026b45f7e413991d639835339f49c845f8bbdf9283b1ff897ffde05980fef2f118b5a0a6d1f6d367ecf27cb09b74f46"
    "3f669e5fea2d7527bac7ebe5f17b3d0739f78a5292ea6bfb5fb11f8d5d0856033046fc7b6babf0cfbc209af4361d",
    16,
)
"""2/pi in fixed point: its first 1280 bits."""
HALF_PI = Pair(1.5707963267948966, 6.123233995736766e-17)
HALF_PI_PARTS = (1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21)
"""The same as a sum of three, of which the first two have 33 bits: up to 2^19 times each is an f64."""
LIMIT = {32: 2.0**30, 64: 2.0**19}
"""The largest angle whose multiple of pi/2 is subtracted in parts, by the bits of the type that the angle comes from:
two parts are enough for f32."""
_NEAREST = 6755399441055744.0, 0x4338000000000000
"""1.5 times 2^52, and its bits: added to a number, its last bit is worth one."""
_HALF = 0xFFFFFFFF


def quarter_turns(x: Number, bits: int) -> tuple[Number, Pair]:
    """For a single f64, converted from a type of `bits` bits, the nearest number of quarter turns, modulo 4, as i32,
    and the remainder; anything for infinity and NaN."""
    shifted = fma(x, 0.6366197723675814, _NEAREST[0])
    whole, number = shifted - _NEAREST[0], shifted.bits() - _NEAREST[1]
    number = number.converted("TruncIOp", ir.IntegerType.get_signless(32))
    if bits == 32:
        rest = fma(whole, -HALF_PI.low, fma(whole, -HALF_PI.high, x))
        near = [number, rest]
    else:
        first = fma(whole, -HALF_PI_PARTS[0], x)  # exact, as is the product that follows
        second = exact_sum(first, whole * -HALF_PI_PARTS[1])
        pair = quick_sum(second.high, fma(whole, -HALF_PI_PARTS[2], second.low))
        near = [number, pair.high, pair.low]
    found = _where(absolute(x) > LIMIT[bits], near, lambda: _far(x, bits))
    return found[0], Pair(found[1], found[2] if len(found) > 2 else 0.0)


def _where(condition: Number, otherwise: list[Number], compute: Callable[[], list[Number]]) -> list[Number]:
    """What `compute` gives where the condition holds, which only runs then."""
    scf = dialect("scf")
    branch = scf.IfOp(condition.value, [each.type for each in otherwise], has_else=True)
    with ir.InsertionPoint(branch.then_block):
        scf.YieldOp([each.value for each in compute()])
    with ir.InsertionPoint(branch.else_block):
        scf.YieldOp([each.value for each in otherwise])
    return [Number(result) for result in branch.results]


def _far(x: Number, bits: int) -> list[Number]:
    """Quarter turns and the two parts of the rest, by Payne and Hanek, for |x| of 2^19 and more, or, of numbers that
    stand for f32, 2^30; of those the second part is left out."""
    form = _FORMS[bits]
    whole = x.bits()
    start = whole.shifted_right(52) & 0x7FF  # the first bit of 2/pi that makes no multiple of 4
    start = start - (1077 - form.dropped - form.zeros)
    mantissa = ((whole & ((1 << 52) - 1)) | (1 << 52)).shifted_right(form.dropped)
    words = _product(mantissa, _window(start, form), 1 if form.dropped else 2)
    number = (words[0].shifted_right(61) + 1).shifted_right(1).converted("TruncIOp", ir.IntegerType.get_signless(32))
    fraction = [(word << 2) | after.shifted_right(62) for word, after in pairwise(words)]
    if form.dropped:
        found = [fraction[0].converted("SIToFPOp", ir.F64Type.get()) * (HALF_PI.high * 2.0**-64)]
    else:
        angle = multiplied(_fraction(fraction[0], fraction[1], words[-1] << 2), HALF_PI)
        found = [angle.high, angle.low]
    negative = x < 0.0
    return [select(negative, 0 - number, number), *(select(negative, -each, each) for each in found)]


@dataclass(frozen=True)
class _Form:
    """What is needed of numbers of a type, as f64."""

    largest: int
    """The largest exponent of a number."""
    dropped: int
    """Bits of the mantissa that are zero."""
    words: int
    """Words of 64 bits of 2/pi that are multiplied: for the bits of a number, for what the nearest multiple of pi/2
    takes off, and for what is to be left."""
    zeros: int
    """Written before the bits of 2/pi, so that those of the smallest angles start at a place that is not negative."""


_FORMS = {32: _Form(largest=127, dropped=29, words=2, zeros=0), 64: _Form(largest=1023, dropped=0, words=3, zeros=40)}


def _window(start: Number, form: _Form) -> list[Number]:
    """Some words of 2/pi, after some zeros, from bit `start` on, as integers of 32 bits, the lowest first.

    The words are constants: which are needed is chosen by halving, so that no table is read."""
    needed = form.words + 1
    count = (form.largest - 54 + form.dropped + form.zeros) // 64 + needed
    bits = TWO_OVER_PI >> (1280 + form.zeros - 64 * count)
    words: list[Any] = [_signed(bits >> (64 * (count - 1 - number))) for number in range(count)]
    index, shift = start.shifted_right(6), start & 63
    step = 1 << (count - needed).bit_length()
    while step > 1:
        step //= 2
        further = (index & step).differs(0)
        words = [
            select(further, start.like(words[number + step]), words[number])
            if number + step < len(words) else start.like(words[number])
            for number in range(min(len(words), needed + step - 1))
        ]  # fmt: skip
    found = [
        (words[number] << shift) | words[number + 1].shifted_right(1).shifted_right(63 - shift)
        for number in reversed(range(form.words))
    ]
    return [half for word in found for half in (word & _HALF, word.shifted_right(32))]


def _signed(word: int) -> int:
    word &= (1 << 64) - 1
    return word - (1 << 64) if word >> 63 else word


def _product(mantissa: Number, window: list[Number], factors: int) -> list[Number]:
    """The product with a mantissa of several 32-bit words, modulo two to the bits of the window, as 64-bit words, the
    highest first. No step exceeds 64 bits."""
    digits: list[Any] = [0] * len(window)
    parts = (mantissa,) if factors == 1 else (mantissa & _HALF, mantissa.shifted_right(32))
    for place, factor in enumerate(parts):
        carry: Any = 0
        for number in range(len(window) - place):
            total = factor * window[number]
            for each in (digits[number + place], carry):
                total = total + each if isinstance(each, Number) else total
            digits[number + place], carry = total & _HALF, total.shifted_right(32)
    return [(digits[number + 1] << 32) | digits[number] for number in reversed(range(0, len(window), 2))]


def _fraction(top: Number, middle: Number, low: Number) -> Pair:
    """A fraction of 192 bits, of which the first is the sign, as a pair."""
    f64 = ir.F64Type.get()

    def part(bits: Number, exponent: int) -> Number:
        return bits.converted("SIToFPOp", f64) * 2.0**exponent

    first = exact_sum(part(top >> 32, -32), part(top & _HALF, -64))
    second = quick_sum(part(middle.shifted_right(32), -96), part(middle & _HALF, -128))
    total = exact_sum(first.high, second.high)
    rest = total.low + (first.low + (second.low + part(low.shifted_right(32), -160)))
    return quick_sum(total.high, rest)
