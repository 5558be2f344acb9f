"""Elementary functions of f64 that need more care than those of f32, beyond those of `approximations`.

The largest errors, in units of the last place, by `test/python/test_math_f64.py` against numbers of 40 digits:

| | ulp | | ulp | | ulp |
|---|---|---|---|---|---|
| exp2, expm1 | 1.5 | atan, atan2 | 1.5 | sinh, cosh | 1.5 |
| log2, log10 | 0.6 | asin, acos | 2.5 | asinh, acosh, atanh | 2.5 |
| log1p | 1.5 | tan | 0.6 | cbrt | 0.6 |
| sin, cos | 1.0 | powf, fpowi | 1.5 | erfc | 3.0 |

Angles of any size are reduced exactly. arith.remf is exact. Where a rounding would be magnified, by the exponent of a
power or by what is left of an angle, numbers are sums of two (`pairs`). The coefficients are Chebyshev fits of our own,
at 50 digits, highest power first; the error stands beside each.
"""

from __future__ import annotations

from mlir_gemm.dialect.functions import approximations as base
from mlir_gemm.dialect.functions.angles import quarter_turns
from mlir_gemm.dialect.functions.approximations import polynomial
from mlir_gemm.dialect.functions.number import INFINITY, NAN, Number, absolute, fma, select, square_root, with_sign
from mlir_gemm.dialect.functions.pairs import Pair, added, divided, exact_product, exact_sum, multiplied, quick_sum

ATAN = (0.016285756855134323, -0.03457056198134207, 0.045515932206228675, -0.05230454270649343, 0.058789289978346364,
        -0.06666424885738241, 0.07692296375032141, -0.09090908753500877, 0.11111111105155447, -0.14285714285659828,
        0.19999999999999804, -0.3333333333333333)  # fmt: skip
"""(atan(x)/x - 1) / x^2 in x^2, for |x| <= tan(pi/8): 2^-58.2."""
SIN = (-7.586543634101805e-13, 1.6058529011960855e-10, -2.5052106215978872e-08, 2.7557319219291695e-06,
       -0.00019841269841265003, 0.008333333333333331, -0.16666666666666666)  # fmt: skip
"""(sin(x)/x - 1) / x^2 in x^2, for |x| <= pi/4: 2^-57.1, of which the last coefficient's rounding is most."""
COS = (-1.13824087527288e-11, 2.0876143159885212e-09, -2.7557317256795893e-07, 2.480158729873686e-05,
       -0.0013888888888887378, 0.041666666666666664)  # fmt: skip
"""(cos(x) - 1 + x^2/2) / x^4 in x^2, for |x| <= pi/4: 2^-59.5."""
SINH = (2.8445264169895616e-15, 7.646625361656656e-13, 1.6059048396350562e-10, 2.505210836405804e-08,
        2.755731922404034e-06, 0.00019841269841269773, 0.008333333333333333, 0.16666666666666666)  # fmt: skip
"""(sinh(x)/x - 1) / x^2 in x^2, for |x| <= 1: 2^-56.8, of which the last coefficient's rounding is most."""
LOG = (0.11723066329286316, 0.11706247071506982, 0.13334804293413852, 0.153845949698723, 0.18181818335324104,
       0.22222222221656188, 0.28571428571429364, 0.4)  # fmt: skip
"""((log((1 + s)/(1 - s)) - 2 s) / s^3 - 2/3) / s^2 in s^2, for |s| <= 3 - 2 sqrt(2): 2^-66.4."""
ERFC = (1.5986093958696034e-09, -9.657059960355411e-09, -1.722164698485446e-08, 1.0325703213719335e-07,
        7.378117568618755e-08, -8.194907257298113e-07, 2.943872368687271e-07, 5.706468849233111e-06,
        -1.1222270765018649e-05, -2.4398040215702936e-05, 0.00015062174088354387, -0.00019925697186660404,
        -0.0007577732999271042, 0.00503197001993323, -0.016197734056599043, 0.03716751553362447, -0.06633036581228542,
        0.09373283499854561, -0.10103906603630276, 0.06809705425468811, 0.015379652102619738, -0.13962111684056247,
        1.2329951186255526)  # fmt: skip
"""erfc(x) exp(x^2) (1 + 2x) in (x - 4) / (x + 4), for 0.45 <= x <= 28: 2^-54.2."""
ERFC_NEAR, ERFC_END = 0.45, 28.0
"""erfc is 1 - erf up to the first, and 0 from the second on."""
TWO_THIRDS = Pair(0.6666666666666666, 3.700743415417188e-17)
LN2 = Pair(0.6931471805599453, 2.3190468138462996e-17)
LN2_PARTS = (0.6931471803691238, 1.9082149292705877e-10)
"""The logarithm of two as a sum of two, of which the first has 32 bits."""
LOG2_E = Pair(1.4426950408889634, 2.0355273740931033e-17)
LOG10_E = Pair(0.4342944819032518, 1.098319650216765e-17)
PI = Pair(3.141592653589793, 1.2246467991473532e-16)
TAN_PI_8, TAN_3_PI_8 = 0.41421356237309503, 2.414213562373095
LARGE = 2.0**28
"""From here on x^2 + 1 is x^2."""


def exp2(x: Number) -> Number:
    x = base.clamped(x, -1080.0, 1025.0)
    whole, exponent = base.nearest(x, 1.0)
    power = exact_product(x - whole, LN2.high)
    rest = base.exp_tail(power.high)
    return base.scaled(fma(fma(x - whole, LN2.low, power.low), rest + 1.0, rest) + 1.0, exponent)


def log2(x: Number) -> Number:
    return base.of_positive(x, x, multiplied(_log(x), LOG2_E).high)


def log10(x: Number) -> Number:
    return base.of_positive(x, x, multiplied(_log(x), LOG10_E).high)


def _log(x: Number) -> Pair:
    """The logarithm of a positive finite number, with a relative error of 2^-63."""
    f, exponent = base.split(x)
    below = f + 2.0
    s = f / below
    s = quick_sum(s, (fma(-s, below, f) - s * (f - (below - 2.0))) / below)
    square = multiplied(s, s)
    inner = quick_sum(TWO_THIRDS.high, square.high * polynomial(square.high, LOG))
    tail = multiplied(multiplied(square, s), Pair(inner.high, inner.low + TWO_THIRDS.low))
    whole = exact_sum(exponent * LN2_PARTS[0], s.high * 2.0)
    return added(quick_sum(whole.high, whole.low + fma(exponent, LN2_PARTS[1], s.low * 2.0)), tail)


def sin(x: Number) -> Number:
    return select(x.equals(0.0), x, _circular(x, 0))


def cos(x: Number) -> Number:
    return _circular(x, 1)


def _circular(x: Number, quarter: int) -> Number:
    """sin(x + quarter pi/2)."""
    number, rest = quarter_turns(x, 64)
    number = number + quarter
    sine, cosine = _sine(rest), _cosine(rest)
    result = select((number & 1).equals(0), sine.high + sine.low, cosine.high + cosine.low)
    result = select((number & 2).equals(0), result, -result)
    return select(absolute(x) < INFINITY, result, NAN)


def tan(x: Number) -> Number:
    number, rest = quarter_turns(x, 64)
    sine, cosine = _sine(rest), _cosine(rest)
    odd = (number & 1).equals(1)
    above = Pair(select(odd, -cosine.high, sine.high), select(odd, -cosine.low, sine.low))
    below = Pair(select(odd, sine.high, cosine.high), select(odd, sine.low, cosine.low))
    result = select(absolute(x) < INFINITY, divided(above, below), NAN)
    return select(x.equals(0.0), x, result)


def _sine(x: Pair) -> Pair:
    square = x.high * x.high
    return quick_sum(x.high, fma(x.high * square, polynomial(square, SIN), fma(square * -0.5, x.low, x.low)))


def _cosine(x: Pair) -> Pair:
    square = exact_product(x.high, x.high)
    first = quick_sum(x.high.like(1.0), square.high * -0.5)
    tail = fma(square.high * square.high, polynomial(square.high, COS), square.low * -0.5)
    return quick_sum(first.high, first.low + (tail - x.high * x.low))


def atan(x: Number) -> Number:
    return with_sign(_angle(absolute(x), x.like(1.0)), x)


def atan2(y: Number, x: Number) -> Number:
    """The angle of (x, y), with C's values for zeros and infinities."""
    up, across = absolute(y), absolute(x)
    large = (up > 2.0**1000) | (across > 2.0**1000)  # half of the sum of two such numbers is finite
    up, across = select(large, up * 2.0**-60, up), select(large, across * 2.0**-60, across)
    angle = _angle(up, across)
    negative = with_sign(x.like(1.0), x) < 0.0
    angle = select(negative, PI.high - (angle - PI.low), angle)
    broken = x.differs(x) | y.differs(y)
    return select(broken, NAN, with_sign(angle, y))


def _angle(up: Number, across: Number) -> Number:
    """atan(up / across) of numbers that are not negative: pi/8 times 0, 2 or 4 and a small angle."""
    flat, steep = up <= across * TAN_PI_8, up >= across * TAN_3_PI_8
    equal = up.equals(across)
    above = select(flat, up, select(steep, -across, up - across))
    below = select(flat, across, select(steep, up, up + across))
    tangent = select(equal, 0.0, above / below)
    zero = equal & up.equals(0.0)
    flat = (flat & up.differs(across)) | zero
    steep = steep & up.differs(across)
    high = select(flat, 0.0, select(steep, up.like(PI.high / 2), PI.high / 4))
    low = select(flat, 0.0, select(steep, up.like(PI.low / 2), PI.low / 4))
    square = tangent * tangent
    small = quick_sum(tangent, tangent * (square * polynomial(square, ATAN)))
    whole = exact_sum(high, small.high)
    return select(flat, small.high, whole.high + (whole.low + (small.low + low)))


def asin(x: Number) -> Number:
    size = absolute(x)
    return with_sign(atan2(size, square_root((1.0 - size) * (size + 1.0))), x)


def acos(x: Number) -> Number:
    return atan2(square_root((1.0 - x) * (x + 1.0)), x)


def _half_exp(x: Number) -> Number:
    """exp(x) / 2, which is finite where its sum with a small number is."""
    rest, exponent = base.reduced_exp(base.clamped(x, -746.0, 712.0))
    return base.scaled(rest + 1.0, exponent - 1)


def sinh(x: Number) -> Number:
    size = absolute(x)
    square, half = size * size, _half_exp(size)
    near = fma(size * square, polynomial(square, SINH), size)
    return with_sign(select(size < 1.0, near, half - 0.25 / half), x)


def cosh(x: Number) -> Number:
    half = _half_exp(absolute(x))
    return half + 0.25 / half


def asinh(x: Number) -> Number:
    size = absolute(x)
    square = size * size
    near = base.log1p(size + square / (square_root(square + 1.0) + 1.0))
    return with_sign(select(size < LARGE, near, _log_of_twice(size)), x)


def acosh(x: Number) -> Number:
    less = x - 1.0
    result = select(x < LARGE, base.log1p(less + square_root(less * (x + 1.0))), _log_of_twice(x))
    return select(x < 1.0, NAN, result)


def _log_of_twice(x: Number) -> Number:
    return base.log(x) + LN2.high


def atanh(x: Number) -> Number:
    size = absolute(x)
    return with_sign(base.log1p(size * 2.0 / (1.0 - size)) * 0.5, x)


def cbrt(x: Number) -> Number:
    """By the logarithm, and a step of Newton's with the exact error."""
    size = absolute(x)
    tiny = size < 2.0**-900
    size = select(tiny, size * 2.0**300, size)
    root = base.exp(base.log(size) * (1.0 / 3.0))
    square = exact_product(root, root)
    cube = exact_product(square.high, root)
    better = root + (((size - cube.high) - cube.low) - square.low * root) / (square.high * 3.0)
    better = select((size > 0.0) & (size < INFINITY), better, size)
    return with_sign(select(tiny, better * 2.0**-100, better), x)


def erfc(x: Number) -> Number:
    size = absolute(x)
    held = select(size < ERFC_END, size, ERFC_END)
    square = exact_product(held, held)
    rest, exponent = base.reduced_exp(-square.high)
    rest = fma(-square.low, rest + 1.0, rest)
    factor = polynomial((held - 4.0) / (held + 4.0), ERFC) / fma(held, 2.0, 1.0)
    tail = base.scaled((rest + 1.0) * factor, exponent)
    result = select(x < 0.0, 2.0 - tail, tail)
    result = select(size < ERFC_NEAR, 1.0 - base.erf(x), result)
    return select(x.differs(x), x, result)


def power(x: Number, y: Pair, odd: Number | None = None) -> Number:
    """x^y as C's pow defines it. `odd` says whether y is odd, where y itself may be too large to tell."""
    size = absolute(x)
    logarithm = _log(size)
    high = base.of_positive(size, size, logarithm.high)
    product = exact_product(y.high, high)
    low = fma(y.high, logarithm.low, fma(high, y.low, product.low))
    low = select((absolute(product.high) < 800.0) & (size > 0.0), low, 0.0)
    rest, exponent = base.reduced_exp(base.clamped(product.high, -760.0, 760.0))
    result = base.scaled(fma(low, rest + 1.0, rest) + 1.0, exponent)
    return base.signed_power(x, y.high, result, odd)
